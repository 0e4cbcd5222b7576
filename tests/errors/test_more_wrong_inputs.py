"""What an analyst with new data typed wrongly: each error says what is wrong, where, and what to try."""

from __future__ import annotations

import io
import re
import sqlite3
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workbench import Session
from workbench.arrow.types import to_column_type
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.in_process import InProcess
from workbench.errors import EngineError, MagicError, SqlError, SqlWarning, StreamError, WorkbenchError
from workbench.notebook.commands.add import as_typed
from workbench.notebook.commands.registry import find_command
from workbench.notebook.commands.sinks import find_target
from workbench.notebook.named_source import find_source
from workbench.sql.algebra.types import DOUBLE, INSTANT, INTEGER, STRING, parse_type
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema
from workbench.streams.live.polled_query import PolledQuery

TRIPS = (
    ("id", INTEGER),
    ("at", INSTANT),
    ("bike", STRING),
    ("start", to_column_type("struct<station:struct<id:string>,km:double>")),
    ("fares", to_column_type("array<struct<code:string>>")),
)
SCHEMA = Schema({"Trips": TRIPS, "Ships": (("mmsi", INTEGER), ("sog", DOUBLE), ("ts", INSTANT))})
WRONG = {
    "SELECT x.start.station.id FROM Trips t": ("unknown column x.start.station.id", "x is no table in FROM"),
    "SELECT tripps.start.km FROM Trips": ("unknown column tripps.start.km", "did you mean Trips?"),
    "SELECT fares[1].code.name FROM Trips": ("is no struct, but string", "write fares[1].code"),
    "SELECT start.km.x FROM Trips": ("is no struct, but double", "it has no fields: write start.km"),
    "WITH a AS (SELECT bike FROM Trips), SELECT * FROM a": ("a comma before SELECT", "leave the comma out"),
    "SELECT v FROM Trips LATERAL VIEW EXPLODE(fares) x AS f, LATERAL (SELECT f.code AS v) l": (
        "unexpected (",
        "stand before all LATERAL VIEW",
    ),
    "SELECT * FROM Trips JOIN Ships USING (bike)": (
        "unknown column bike",
        "the right side lacks it: it has mmsi, sog, ts",
    ),
    "SELECT * FROM Ships JOIN Trips USING (ids)": (
        "unknown column ids",
        "the left side lacks it: it has mmsi, sog, ts",
    ),
    "SELECT TIME_BUCKET_GAPFILL('hourly', ts) AS h, COUNT(*) FROM Ships GROUP BY h": (
        "a time bucket without a constant width",
        "as in INTERVAL '15 minutes'",
    ),
    "SELECT mmsi, SESSION_WINDOW(ts, '1 hour').begins FROM Ships GROUP BY mmsi, SESSION_WINDOW(ts, '1 hour')": (
        "a window has no begins",
        "it has start and end",
    ),
    "SELECT id FROM Trips ASOF JOIN Ships MATCH_CONDITION (at >= ts) ON id = mmsi": (
        "unexpected MATCH_CONDITION",
        "the comparison of times stands in ON",
    ),
    "SELECT bike, COUNT(*) AS n FROM Trips GROUP BY bike WHERE n > 1": (
        "WHERE stands before GROUP BY",
        "HAVING is the condition of groups",
    ),
    "SELECT id::money FROM Trips": ("there is no type money", ""),
    "SELECT TO_DATE(bike, 'DD/MM/YYYY') FROM Trips": ("the element", "write 'dd/MM/yyyy'"),
    "SELECT CONVERT_TIMEZONE('CET', at) FROM Trips": ("there is no time zone CET", "databases differ in what CET is"),
    "SELECT id FROM Trips WHERE bike IN 'a', 'b'": ("a list stands in parentheses", "IN ('a', …)"),
    "SELECT id FROM Trips LIMIT 3 BY bike": (
        "LIMIT … BY is not supported",
        "ORDER BY b) <= 3 has the first",
    ),
    "SELECT ROUND(bike, 2) FROM Trips": ("a number is needed, not string", "CAST(… AS DOUBLE)"),
    "SELECT mmsi FROM Ships WHERE sog > 100%": ("the text ends after %", "100 percent is 100 / 100"),
    "SELECT mmsi FROM Ships WHERE sog > 50% AND mmsi > 1": ("unexpected AND", "50 percent is 50 / 100"),
    "SELECT id FROM Trips WHERE bike LIKE B%": ("the text ends after %", "LIKE '%a%'"),
    "WITH a AS (SELECT 1) b AS (SELECT 2) SELECT * FROM a": ("unexpected SELECT", "is a comma missing before b?"),
    "SELECT id FROM Trips WHERE NOT IN ('a')": ("nothing is compared before IN", "as in WHERE x IN"),
    "SELECT id FROM Trips WHERE id > 1 AND IN ('a')": ("nothing is compared before IN", "as in AND id IN"),
    "SELECT id FROM Trips WHERE at > '2026-02-30'": ("is not a timestamp", "no such day: 2026-02 has the days 1 to 28"),
    "SELECT id FROM Trips WHERE at > '2026-13-01'": ("is not a timestamp", "there is no month 13"),
    "SELECT SUM(id) OVER (ORDER BY bike RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM Trips": (
        "an INTERVAL stands in RANGE over a date or a timestamp",
        "ORDER BY one column of times",
    ),
    "SELECT GROUP_CONCAT(bike SEPARATOR ',') FROM Trips": ("expected )", "STRING_AGG(bike, ',')"),
    "SELECT t.id FROM Trips t, Ships s WHERE t.id = s.mmsi(+)": ("(+) is not supported", "LEFT JOIN"),
    "SELECT RANK() OVER (ORDER BY id) AS r FROM Trips HAVING r < 3": ("HAVING without GROUP BY", "use QUALIFY"),
    "SELECT MODE(bike, 2) FROM Trips": ("this argument of MODE", "MODE takes one value"),
    "SELECT bike, COUNT FROM Trips GROUP BY bike": ("unknown column COUNT", "also around one argument: COUNT("),
    "SELECT bike, SUM id FROM Trips GROUP BY bike": ("unknown column SUM", "SUM(…)"),
    "SELECT id FROM Trips WHERE ROW_NUMBER = 1": ("unknown column ROW_NUMBER", "ROW_NUMBER(…)"),
    "SELECT km FROM Trips": ("unknown column km", "did you mean start.km?"),
    "SELECT id FROM Trips WHERE 3 < id < 5": ("boolean cannot be compared", "write 3 < a AND a < 5"),
    "SELECT id FROM Trips WHERE id IS 3": ("this IS test is not supported", "for a value write ="),
    "SELECT at + '1 day' FROM Trips": ("needs numbers", "write INTERVAL '1' DAY"),
    "# trips\nSELECT id FROM Trips": ("unexpected #", "a comment begins with --"),
    "SELECT id FROM Trips WHERE bike CONTAINS 'a'": ("unexpected CONTAINS", "write bike LIKE '%a%'"),
    "SELECT id FROM Trips WHERE bike STARTS WITH 'a'": ("unexpected STARTS", "write bike LIKE 'a%'"),
    "SELECT id FROM Trips WHERE bike LIKE %a%": ("the text ends after %", "LIKE '%a%'"),
    "SELECT t.id FROM Trips t JOIN Ships s t.id = s.mmsi": ("unexpected t", "is ON missing before t?"),
    "SELECT CAST(id AS INT FROM Trips": ("a parenthesis is not closed", "write ) where it ends"),
    "SELECT CAST(id, INT) FROM Trips": ("unexpected INT", "write CAST(id AS INT)"),
    "SELECT SUBSTR(bike, 1, 2, 3) FROM Trips": (
        "a fourth argument of SUBSTR is not supported",
        "write SUBSTR(s, 2, 3)",
    ),
    "SELECT ms FROM Trips": ("unknown column ms", "there are id, at, bike"),
    "SELECT TIME_BUCKET_GAPFILL(INTERVAL 1 HOUR, sog) AS h FROM Ships GROUP BY h": ("date or timestamp", "to a date"),
    "SELECT DATE_FORMAT(at, '%Y-%b') FROM Trips": ("the element Y", "write 'yyyy-MMM'"),
}


@pytest.mark.parametrize(("sql", "said"), WRONG.items())
def test_a_wrong_text(sql: str, said: tuple[str, str]) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, "spark", SCHEMA)
    assert said[0] in caught.value.message and said[1] in str(caught.value.hint)


def test_a_format_of_another_language_is_told() -> None:
    with pytest.warns(SqlWarning, match="%H is a percent sign and the element H in spark"):
        bind("SELECT DATE_FORMAT(ts, '%H:%M') FROM Ships", "spark", SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind("SELECT DATE_FORMAT(ts, 'HH:mm') FROM Ships", "spark", SCHEMA)


def error_of(act: Any, *given: Any, **options: Any) -> str:
    with pytest.raises(WorkbenchError) as caught:
        act(*given, **options)
    return str(caught.value)


def test_files_of_other_kinds(tmp_path: Path) -> None:
    with Session(InProcess()) as session:
        for name, tried in {"c.db": "pandas.read_sql", "c.7z": "unpack it", "c.pdf": "are read"}.items():
            (tmp_path / name).write_bytes(b"%other")
            assert tried in error_of(session.add_stream, "X", tmp_path / name)
        (tmp_path / "trips.jsonl").write_text('{"user": {"since": "01/02/2024"}}')
        columns = {"user.since": "date d/M/yyyy"}
        assert "TO_DATE(user.since, 'd.M.yyyy')" in error_of(
            session.add_stream, "X", tmp_path / "trips.jsonl", columns=columns
        )
        assert "column a of the list" in error_of(session.add_stream, "X", [{"b": 1, "a": 1}, {"b": 2, "a": [2]}])


def test_a_polled_query_that_cannot_be_polled(tmp_path: Path) -> None:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(tmp_path / "shop.db")

    with connect() as database:
        database.execute("CREATE TABLE claims (no INTEGER)")
        database.execute("INSERT INTO claims VALUES (1)")
    with Session(InProcess()) as session:
        own = PolledQuery(connect, "SELECT * FROM claims", by="number")
        assert "it has no" in error_of(session.add_stream, "C", own)
        once = PolledQuery(connect(), "SELECT * FROM claims", by="no")
        assert "a function that opens a connection" in error_of(session.add_stream, "C", once)
        assert "there are none yet" in error_of(session.retry, "C")


def test_an_option_is_called_as_it_is_typed() -> None:
    def add(**options: Any) -> None:
        with Session(InProcess()) as session, as_typed():
            session.add_stream("X", pd.DataFrame({"a": [1]}), **options)

    assert "--changes upsert: a row replaces" in error_of(add, key=["a"])
    assert "--key id names the columns" in error_of(add, changes="upsert")
    assert "which column has them: --time …" in error_of(add, lateness="2 hours")


def test_a_folder_without_a_file_is_no_defect(tmp_path: Path) -> None:
    with Session(InProcess()) as session, pytest.raises(StreamError, match="no file matches") as refused, as_typed():
        session.add_stream("X", str(tmp_path / "*" / "*.parquet"), time="at")
    assert refused.value.hint is not None and "--type id=integer for each" in refused.value.hint


def test_an_address_that_names_nothing() -> None:
    with Session(InProcess()) as session:
        session.add_stream("T", pd.DataFrame({"a": [1]}), history=1)
        session.register("SELECT a FROM T", name="q")
        assert "as in delta:out/fees" in error_of(session.add_sink, "q", "delta:")
        assert "a sink needs a target" in error_of(session.add_sink, "q", "")
        assert "a PolledQuery follows one" in error_of(session.add_stream, "X", "sqlite:///claims.db")
        given = {"references": ["a"]}
        assert "references nothing that is named" in error_of(session.add_stream, "X", [{"a": 1}], **given)


def test_a_folder_that_is_called_as_a_file_is_no_target(tmp_path: Path) -> None:
    """It would be a folder of Parquet with the name of something else."""
    with Session(InProcess()) as session:
        session.add_stream("T", pd.DataFrame({"a": [1]}), history=1)
        session.register("SELECT a FROM T", name="q")
        said = error_of(session.add_sink, "q", str(tmp_path / "fees.csv"))
        assert "a sink is a folder" in said and "query.save(" in said and not (tmp_path / "fees.csv").exists()
        assert "a function of Python" in error_of(session.add_sink, "q", str(tmp_path / "fees.DB"))
        (tmp_path / "old.csv").mkdir()
        session.add_sink("q", str(tmp_path / "old.csv"))
        session.add_sink("q", str(tmp_path / "v1.2"), name="other")


def test_a_folder_below_a_file_is_no_target(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("x")
    with pytest.raises(MagicError, match="rows is a file"):
        find_target(str(tmp_path / "rows" / "out"), {})


def test_a_word_too_many_says_both_readings() -> None:
    with pytest.raises(MagicError) as caught:
        find_command("suspend").parse("big small")
    each = "one at a time: %argus suspend big, then %argus suspend small"
    assert caught.value.hint == f'{each}; "big small" in quotes is one name; %argus help suspend'


def test_why_not_of_a_row_that_is_there_says_so() -> None:
    with Session(InProcess()) as session:
        session.add_stream("T", pd.DataFrame({"a": [1, 2]}), history=2)
        query = session.register("SELECT a FROM T", name="q")
        assert str(query.why_not("a = 1")).startswith("1 row of q has a = 1: nothing is missing; %argus why q")


def test_what_was_asked_for_wrongly_in_python(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "there is a file of that name" in error_of(Session, InProcess(), path=tmp_path / "file")
    with Session(InProcess()) as session:
        session.add_stream("T", [{"a": 1, "at": "2024-05-06 07:08:09"}], columns={"at": "timestamp"}, time="at")
        query = session.register("SELECT a FROM T", name="q")
        assert "register('SELECT …', 'big')" in error_of(session.register, "big", "SELECT a FROM T")
        assert "did you mean streams?" in error_of(getattr, session, "stream")
        assert "did you mean columns?" in error_of(getattr, query, "colums")
        assert not hasattr(session, "stream") and not hasattr(session, "__dask_graph__")
        assert "as in '2024-05-06 07:30'" in error_of(query.result, at="tomorrow")
        assert "the text has its values in itself" in error_of(session.ask, "SELECT a FROM T", {"a": 3})
        assert "in Python write it into the text" in error_of(session.ask, "SELECT a FROM T WHERE a > :a")
        assert "%argus stream T --widen a=TYPE, in Python widen_column(" in error_of(session.widen_column, "T", "a")
        text = error_of(session.widen_column, "T", "a", "date")
        assert "string has all: %argus stream T --widen a=string, in Python widen_column(" in text


def test_what_the_system_says_has_no_number(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught, translate_errors("save it"):
        (tmp_path / "no" / "rows.csv").write_text("x")
    assert caught.value.message == f"could not save it: No such file or directory: {tmp_path / 'no' / 'rows.csv'}"


@pytest.mark.parametrize(
    ("line", "hint"),
    [("q --results sometimes", "as in --results off"), ("q --output 3x", "as in --output answer")],
)
def test_a_wrong_value_of_the_cell_shows_a_right_one(line: str, hint: str) -> None:
    with pytest.raises(MagicError) as caught:
        find_command("%%argus").parse(line)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT values FROM Lab WHERE values IS NOT NULL",
        "SELECT v.code FROM Lab LATERAL VIEW EXPLODE(values) e AS v",
        "SELECT SIZE(values) AS n, values[0].code AS c FROM (VALUES (1), (2)) t, Lab",
    ],
)
def test_a_column_may_be_called_values(sql: str) -> None:
    bind(sql, "spark", Schema({"Lab": (("values", to_column_type("array<struct<code:string>>")),)}))


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_a_column_may_be_called_map(dialect: str) -> None:
    sql = "SELECT map, e.MAP AS m, COUNT(*) AS n FROM e WHERE map = 'x' GROUP BY map HAVING MAX(map) > 'a' ORDER BY map"
    bind(sql, dialect, Schema({"e": (("map", STRING),)}))
    bind("SELECT map {'k': map}, MAP(['k'], [map])['k'] FROM e", "duckdb", Schema({"e": (("map", STRING),)}))


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_two_texts_without_a_comma_are_told(dialect: str) -> None:
    between = "" if dialect == "spark" else "\n"
    with pytest.warns(SqlWarning, match=r"without a comma between them are one, 'ab'(.|\n)*\^\^\^(.|\n)*write a comma"):
        bind(f"SELECT id FROM Trips WHERE bike IN ('a' {between}'b')", dialect, SCHEMA)
    if between:  # on one line their databases refuse it
        with pytest.raises(SqlError, match=r"a text follows a text(.|\n)*write a comma"):
            bind("SELECT id FROM Trips WHERE bike IN ('a' 'b')", dialect, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind("SELECT POSITION('a' IN 'bab') AS p FROM Trips WHERE bike IN ('a', 'b')", dialect, SCHEMA)


def test_a_dialect_that_is_not_read_is_not_recommended() -> None:
    with pytest.raises(SqlError, match=r"unknown dialect mysqll\nhint: bigquery, .* are read"):
        bind("SELECT id FROM Trips", "mysqll", SCHEMA)


def test_a_name_that_is_not_there_is_told_by_all_that_is_read_by_names() -> None:
    with Session(InProcess()) as session:
        session.add_stream("Trades", pd.DataFrame({"id": [1]}))
        session.register("SELECT id FROM Trades", "ids")
        assert session.streams["trades"] is not None and "TRADES" in session.streams and "x" not in session.streams
        assert session.queries.get("id") is None
        for read, said in {
            lambda: session.streams["Traeds"]: "there is no stream or table Traeds\nhint: did you mean Trades?",
            lambda: session.queries["idds"]: "there is no query idds\nhint: did you mean ids?",
            lambda: session.sinks["out"]: "there is no sink out\nhint: there are none yet",
            lambda: session.functions["f"]: "there is no function f\nhint: there are none yet",
            lambda: session.sources["Trades"]: "there is no live source Trades\nhint: there are none yet",
            lambda: session.tables: "a Session has no tables\nhint: did you mean streams?",
            lambda: session.streams["Trades"].quarantine: "a Stream has no quarantine\nhint: did you mean quarantined?",
            lambda: session.save(""): "path is empty\nhint: give a name, as in 'fraud'",
            lambda: session.streams.Trades: (
                "there is no attribute Trades\nhint: a stream or table stands in brackets: ['Trades']"
            ),
            lambda: (
                session.query("ids").plot
            ): "a Query has no plot\nhint: its answer is a DataFrame, which has it: result().plot",
            lambda: Session("kept"): (
                "spark is 'kept'\nhint: it is a session of Spark; a folder is given by its name, Session(path='fraud')"
            ),
            lambda: session.add_sink("ids", "mailto:ann@example.org"): (
                "there is no sink of the kind mailto:\n"
                "hint: there are kafka://, postgresql://, http://, s3://, delta:FOLDER, a folder (Parquet), and a "
                "callable"
            ),
            lambda: session.add_stream("R", "lookup+https://x.org/{cur}", columns={"cur": "string"}): (
                "of= is missing, which says whose keys are asked for\n"
                "hint: a stream and its column, as in of=trades.currency"
            ),
            lambda: session.add_stream("R", "poll+http://127.0.0.1:9/x.json", columns={"id": "integer"}): (
                "poll+http://127.0.0.1:9/x.json cannot be read: Connection refused\nhint: it is asked again"
            ),
            lambda: find_command(
                "query"
            ): "%argus has no command query\nhint: %%argus NAME, and the SQL in the lines below",
            lambda: session.query("ids").results(): "a Query has no results\nhint: did you mean result?",
        }.items():
            with pytest.raises(WorkbenchError) as told:
                read()
            assert str(told.value) == said


def test_a_file_that_is_not_there_is_compared_without_its_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("due.csv", "loans.csv", "loans.parquet"):
        (tmp_path / name).write_text("a\n1\n")
    with Session(InProcess()) as session:
        for typed, said in {
            "x.csv": f"paths are seen from {tmp_path}",
            "loan.csv": "did you mean loans.csv?",
            "loan.parquet": "did you mean loans.parquet?",
            "loans.json": "did you mean loans.parquet?",
            "data/loans.csv": "did you mean loans.csv?",
            "data/loan.csv": "there is no folder data",
            "data/x.csv": "there is no folder data",
        }.items():
            with pytest.raises(WorkbenchError, match=f"there is no file {typed}\nhint: {re.escape(said)}"):
                session.add_stream("Loans", typed)


def test_an_address_without_its_slashes_is_told() -> None:
    for typed in ("kafka:/localhost/trades", "kafka:localhost/trades"):
        with pytest.raises(
            MagicError, match=r"neither a file nor an address\nhint: did you mean kafka://localhost/trades"
        ):
            find_source(typed, {})


def test_what_is_true_and_what_is_false_are_both_declared() -> None:
    with pytest.raises(SqlError, match=r"unknown type boolean ja\nhint: .* boolean yes/no"):
        parse_type("boolean ja")


def test_an_argument_that_a_method_does_not_take_is_told_with_those_that_it_takes() -> None:
    with Session(InProcess()) as session:
        with pytest.raises(
            WorkbenchError, match=r"^run\(\) got an unexpected .* 'ten'\nhint: it is run\(batches=1, "
        ) as told:
            session.run(ten=3)
        assert isinstance(told.value, TypeError)


def test_a_unit_that_becomes_a_name_is_told() -> None:
    with pytest.warns(SqlWarning, match=r"HOUR is taken for the name(.|\n)*INTERVAL '1' HOUR"):
        bind("SELECT id - 1 HOUR FROM Trips", "spark", SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind("SELECT id - 1 AS HOUR, id + 1 AS days, id hours FROM Trips", "spark", SCHEMA)


def test_an_open_file_is_given_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with Session(InProcess()) as session, open(tmp_path / "rows.csv") as file:
        assert f"give its path: {str(tmp_path / 'rows.csv')!r}" in error_of(session.add_stream, "s", file)
        assert "pandas.read_csv" in error_of(session.add_stream, "s", io.StringIO("a\n1\n"))


def test_a_column_by_a_place_that_is_not_there() -> None:
    with Session(InProcess()) as session:
        session.add_stream("T", pd.DataFrame({"a": [1, 2]}), history=2)
        query = session.register("SELECT a, a + 1 AS b FROM T", name="q")
        assert query.columns[-1][0] == "b"
        with pytest.raises(IndexError, match="there are 0 a, 1 b"):
            query.columns[2]


def test_what_is_suspended_is_named() -> None:
    with pytest.raises(MagicError, match="one name at a time"):
        find_command("suspend").parse("all queries")
    with pytest.raises(MagicError) as caught:
        find_command("suspend").parse("big queries")
    assert caught.value.hint == "%argus suspend big; %argus help suspend"


def test_a_sink_whose_ending_is_misspelled(tmp_path: Path) -> None:
    with Session(InProcess()) as session:
        session.add_stream("T", pd.DataFrame({"a": [1, 2]}), history=2)
        session.register("SELECT a FROM T", name="q")
        assert "called as a file" in error_of(session.add_sink, "q", str(tmp_path / "out.xslx"))
