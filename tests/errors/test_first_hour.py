"""What a stranger typed wrongly in the first hour, by kinds: what is wrong, where, and what to try."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import MagicError, SqlError, WorkbenchError
from workbench.notebook.commands.registry import find_command
from workbench.notebook.context import NotebookContext
from workbench.notebook.extension import install
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema
from workbench.streams.files.csv_layout import CsvOptions, layout_of

COLUMNS = (("id", INTEGER), ("at", TIMESTAMP), ("kg", DOUBLE), ("farm", STRING), ("ok", BOOLEAN))
SCHEMA = Schema({"Milk": COLUMNS}, times={"Milk": "at"})
WRONG = {
    "SELECT farm FROM Milk HAVING COUNT(*) > 2 GROUP BY farm": ("GROUP BY", "move GROUP BY … before HAVING"),
    "SELECT DISTINCT ON farm farm, kg FROM Milk": ("ON", "write ON (farm) and then"),
    "SELECT AVG(kg) OVER PARTITION BY farm FROM Milk": ("PARTITION BY", "OVER (PARTITION BY …)"),
    "SELECT LAG(kg) OVER ORDER BY at FROM Milk": ("FROM Milk", "OVER (ORDER BY …)"),
    "SELECT SAFE_DIVIDE(kg) FROM Milk": ("SAFE_DIVIDE(kg)", "it takes 2, as in SAFE_DIVIDE(x, y)"),
    "SELECT DATEDIFF(month, at) FROM Milk": ("month", "TIMESTAMPDIFF(MONTH, from, to)"),
    "SELECT at.hour FROM Milk": ("at.hour", "EXTRACT(HOUR FROM at)"),
    "SELECT COUNT_IF(kg) FROM Milk": ("COUNT_IF(kg)", "write a test, as x > 0"),
    "SELECT ROUND(kg, '1') FROM Milk": ("ROUND(kg, '1')", "as in ROUND(x, 2)"),
    "SELECT farm, SUM(kg) FILTER WHERE ok FROM Milk GROUP BY farm": ("FROM Milk", "FILTER (WHERE …)"),
    "SELECT farm FROM Milk WHERE farm ~ '^1'": ("~ '^1'", "write farm RLIKE '^1'"),
    "SELECT CAST(kg TO INT) FROM Milk": ("TO", "write AS in the place of TO"),
    "SELECT farm FROM Milk WHERE kg IS NOT": ("IS NOT", "write IS NOT NULL"),
    "SELECT SUM(kg) / COUNT(*) * FROM Milk": ("FROM Milk", "a value is missing behind *"),
    "SELECT CONCAT(farm kg) FROM Milk": ("kg)", "is a comma missing before kg?"),
    "SELECT SUBSTRING(farm FROM 2 FOR) FROM Milk": ("FOR)", "stands in quotes"),
    "SELECT farm FROM Milk LIMIT 5, 10": (", 10", "LIMIT n OFFSET 5"),
    "SELECT farm FROM Milk WHERE kg > ALL (1, 2)": ("ALL (1, 2)", "GREATEST"),
    "SELECT AVG(farm) FROM Milk": ("AVG(farm)", "--type COLUMN=double"),
}


@pytest.mark.parametrize("sql", WRONG)
def test_a_wrong_text(sql: str) -> None:
    place, hint = WRONG[sql]
    with pytest.raises(SqlError) as refused:
        bind(sql, "spark", SCHEMA)
    error = refused.value
    assert error.position is not None and sql[error.position :].startswith(place) and hint in str(error.hint)


def test_the_order_of_distinct_on() -> None:
    wrong = "SELECT DISTINCT ON (farm) farm, kg FROM Milk ORDER BY kg"
    with pytest.raises(SqlError, match="does not begin with the columns of DISTINCT ON") as refused:
        bind(wrong, "postgres", SCHEMA)
    assert "ORDER BY farm, …" in str(refused.value.hint)
    bind(wrong, "duckdb", SCHEMA)
    for order in ("farm, kg", "farm DESC", "1, 2"):
        bind(f"SELECT DISTINCT ON (farm) farm, kg FROM Milk ORDER BY {order}", "postgres", SCHEMA)
    bind("SELECT DISTINCT ON (farm, ok) farm, kg FROM Milk ORDER BY ok, farm, kg", "postgres", SCHEMA)
    bind("SELECT DISTINCT ON (farm, ok) farm, kg FROM Milk ORDER BY ok", "postgres", SCHEMA)
    bind("SELECT DISTINCT ON (farm) farm, kg FROM (SELECT * FROM Milk ORDER BY kg) q", "postgres", SCHEMA)


def test_oracle_has_having_before_group_by() -> None:
    bind("SELECT farm FROM Milk HAVING COUNT(*) > 2 GROUP BY farm", "oracle", SCHEMA)


@pytest.mark.parametrize("words", ["cascade", "CASCADE", "restrict", "query"])
def test_a_word_that_is_no_second_name(words: str) -> None:
    with pytest.raises(MagicError) as refused:
        find_command("suspend").parse(f"best {words}")
    assert refused.value.hint == "%argus suspend best; %argus help suspend"


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("stream S in.csv --delimiter ;", "--sep"),
        ("stream S in.csv --dtype a=int", "--type"),
        ("stream S in.csv --overwrite", "--replace"),
        ("table S in.csv --charset utf-16", "--encoding"),
        ("results best --plot", "--chart"),
        ("results best --top 5", "--limit"),
        ("sink best --remove", "--stop"),
    ],
)
def test_an_option_that_is_called_otherwise_elsewhere(line: str, option: str) -> None:
    name, _, rest = line.partition(" ")
    with pytest.raises(MagicError) as refused:
        find_command(name).parse(rest)
    assert refused.value.hint == f"did you mean {option}?"


@pytest.mark.parametrize(("sep", "text"), [(";", "a,b\n1,2\n3,4\n"), (",", "a;b\n1;2\n3;4\n"), ("|", "a\tb\n1\t2\n")])
def test_a_separator_that_separates_nothing(sep: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(text)
    with pytest.warns(UserWarning, match="leave sep out"):
        layout_of(tmp_path / "in.csv", CsvOptions(sep=sep))
    (tmp_path / "one.csv").write_text("a\n1\n2\n")
    assert not layout_of(tmp_path / "one.csv", CsvOptions(sep=sep)).notes


def test_what_was_called_wrongly_in_python() -> None:
    with Session() as session:
        rows = pd.DataFrame({"farm": ["a", "b"], "kg": [1, 2]})
        session.add_table("Farms", rows, key=["farm"])
        best = session.register("SELECT farm FROM Farms", "best")
        wrong = {
            "did you mean history? it is add_stream(": lambda: session.add_stream("S", rows, hist=1),
            "give a list: ['farm']": lambda: session.add_table("T", rows, key="farm"),
            "names and SQL types: {'fee'": lambda: session.add_stream("S", rows, columns={"kg": int}),
            "delete=[{'farm': 'a'}]": lambda: session.update_table("Farms", delete=["a"]),
            "session.drop('best')": lambda: best.drop(),
            "%argus snapshot in a cell": lambda: session.snapshot("x.html"),
        }
        for hint, call in wrong.items():
            with pytest.raises(WorkbenchError) as refused:
                call()
            assert hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        ("page.csv", b"<!DOCTYPE html><html><body>Login, please</body></html>\n", "is a page", "asks to log in"),
        ("feed.csv", b"\xef\xbb\xbf<?xml version='1.0'?>\n<a b=','/>\n", "is a page", "read_xml"),
        ("picture.csv", b"\x89PNG\r\n\x1a\nabc,def\n", "is a picture", "are read"),
        ("photo.txt", b"\xff\xd8\xff\xe0abc,def\n", "is a picture", "are read"),
        ("letter.csv", b"{\\rtf1 a,b\n", "is a document of a word processor", "are read"),
    ],
)
def test_a_file_that_is_called_as_a_text_and_is_none(
    name: str, content: bytes, message: str, hint: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with Session(InProcess()) as session, pytest.raises(WorkbenchError, match=message) as refused:
        session.add_stream("S", str(tmp_path / name))
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("table S in.csv --time day", "there is no option --time", "%argus stream NAME SOURCE --time COLUMN"),
        ('stream S in.csv --where "a > 1"', "there is no option --where", "CREATE VIEW v AS SELECT"),
        ("stream S in.csv -t day", "-t is not", "--time"),
        ("stream S in.csv --type a=int day=text", "day=text is not", "--type a=int --type day=text"),
        ("stream S in.csv --key a day", "day is not", "--key a --key day"),
        ("diff q 1 to 2", "K is a whole number", "%argus diff q 1 2"),
        ("stop q", "has no command stop", "%argus drop NAME"),
        ("streams S2 in.csv", "S2 is not understood", "%argus stream S2 in.csv adds one"),
        ("plan q --format png", "there is no option --format", "%argus help plan"),
        ("notify q --when n > 3", "there is no option --when", "%argus notify NAME kg > 3"),
        ("drop slow, best", "there is no query, stream or table slow", ""),
        ("explain q why", "why is not understood", "%argus why q"),
        ("sink q to parquet out/", "is not understood", "%argus sink q out/"),
        ("set rate 5", "has no command set", "%argus play --speed 10"),
        ("help results --sort", "there is no option --sort", "%argus help results"),
        ("results a,b", "there is no query a,b", ""),
        ("results q --columns n", "there is no option --columns", "SELECT a, b FROM"),
        ("results q sorted", "there is no query q", ""),
        ("results q --sort n asc", "there is no query asc", "without --desc"),
        ("priority q high", "N is a whole number", "%argus priority weekly_report 1"),
        ("run until end", "N is a whole number", "%argus play --speed max"),
        ("stream S in.csv --every 5", "there is no option --every", "did you mean --batch?"),
        ("best SELECT a FROM S", "has no command best", "%%argus best, and the SQL in the lines below"),
        ("cell best SELECT a FROM S", "SELECT is not understood", "the SQL stands in the lines below"),
        ("stream S=in.csv", "stand apart", "%argus stream S in.csv"),
        ("stream S in.csv --format day=%d.%m.%Y", "there is no option --format", '--type "day=date d.M.yyyy"'),
        ("stream S s3:/bucket/x.csv", "neither a file nor an address", "did you mean s3://bucket/x.csv?"),
        ("stream S https://", "https:// names no file", "as in https://host/"),
        (
            "stream S in.csv --key a --changes debezim",
            "--changes debezim is no form of changes",
            "did you mean debezium",
        ),
    ],
)
def test_a_line_of_a_command(
    line: str, message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a,day\n1,31.12.2026\n")
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(history_length=0)
    install(shell, NotebookContext(shell.user_ns, lambda: Session(InProcess())))
    try:
        with pytest.raises(WorkbenchError) as refused:
            shell.run_line_magic("argus", line)
    finally:
        InteractiveShell.clear_instance()
    assert message in refused.value.message and hint in str(refused.value.hint)


def test_a_variable_of_the_notebook_is_no_stream() -> None:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(history_length=0)
    install(shell, NotebookContext(shell.user_ns, lambda: Session(InProcess())))
    shell.user_ns["sales"] = pd.DataFrame({"id": [1, 2]})
    try:
        with pytest.raises(SqlError, match="unknown stream sales") as refused:
            shell.run_cell_magic("argus", "q", "SELECT id FROM sales")
        with pytest.raises(MagicError, match="is no file") as of_part:
            shell.run_line_magic("argus", "stream S sales[sales.id>1]")
    finally:
        InteractiveShell.clear_instance()
    assert str(refused.value.hint).endswith("%argus stream sales sales adds its rows")
    assert str(of_part.value.hint).endswith("rows = sales[sales.id>1]")
