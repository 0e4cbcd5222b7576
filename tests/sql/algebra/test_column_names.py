"""Columns may be called anything: what is asked of hostile names is answered as if they were plain ones.

A session has rows under names that CSV files can have, DuckDB the same rows under plain names; every query is asked of
both, and everything that shows columns is looked at.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from workbench.errors import StreamError
from workbench.notebook.assist.completion import complete
from workbench.notebook.context import NotebookContext
from workbench.session.session import Session
from workbench.sql.algebra.column_names import display_name, quoted, stored_name
from workbench.streams.ingest import ingest
from workbench.streams.log import open_log

HOSTILE = (
    "a.b", "tick`tock", "it's", 'say "x"', "two\nlines", "tab\there", "größe", "İstanbul", "ΑΣ", "😀", "a b", "2001",
    "1:a", "a + b", "upper(a)", "_member", "_batch", "_weight", "_row_1", "_key_12345678", "_by x", "_0", "c1",
    "amount", "amount_2", "sum_a_a9b435ea",
    "count", "batch", "weight", "slice", "select", "a,b", "a\\b", "${x}", "{0}", "a$2e$b",
    "--x", "l", "x" * 300,
)  # fmt: skip
PLAIN = tuple(f"p{i}" for i in range(len(HOSTILE)))
ROWS = 12


def sql_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def queries(names: tuple[str, ...], now: str = "now()", stream: str = "s") -> dict[str, str]:
    """Queries of every kind; each kind has every name somewhere."""
    columns = [sql_name(name) for name in names]
    some = {f"at{i}": columns[i * 7 % len(columns)] for i in range(8)}
    every, third = ", ".join(columns), [", ".join(columns[i::3]) for i in range(3)]
    both = ", ".join(f"{'xy'[i % 2]}.{c} AS o{i}" for i, c in enumerate(columns))
    same = " AND ".join(f"x.{c} = y.{c}" for c in columns[:20])
    three = ", ".join(f"{'xyz'[i % 3]}.{c} AS o{i}" for i, c in enumerate(columns))
    totals = ", ".join(f"SUM({c}) AS s{i}" for i, c in enumerate(columns))
    a, b = some["at1"], some["at2"]
    return {
        "chosen": f"SELECT {every} FROM {stream} WHERE " + " OR ".join(f"{c} > {i}" for i, c in enumerate(columns)),
        "all_of_it": f"SELECT * FROM {stream} WHERE {a} + {b} > 10",
        "pairs": f"SELECT {both} FROM {stream} x JOIN {stream} y ON {same}",
        "triples": f"SELECT {three} FROM {stream} x JOIN {stream} y ON x.{a} = y.{a} JOIN {stream} z ON y.{b} = z.{b}",
        "totals": f"SELECT {totals} FROM {stream}",
        "groups": f"SELECT {third[0]}, COUNT(*) AS n FROM {stream} GROUP BY {third[0]}",
        "having": f"SELECT {a} FROM {stream} GROUP BY {a} HAVING MAX({b}) > 5",
        "of_groups": f"SELECT g.{a}, SUM(g.n) AS t FROM (SELECT {a}, {b}, COUNT(*) AS n FROM {stream}"
        f" GROUP BY {a}, {b}) g GROUP BY g.{a}",
        "with_groups": f"SELECT x.{b}, g.{a} FROM (SELECT DISTINCT {a} FROM {stream}) g"
        f" JOIN {stream} x ON x.{a} = g.{a}",
        "distinct": f"SELECT DISTINCT {third[1]} FROM {stream}",
        "united": f"SELECT {third[2]} FROM {stream} UNION SELECT {third[2]} FROM {stream}",
        "common": f"SELECT {a}, {b} FROM {stream} INTERSECT SELECT {b}, {a} FROM {stream}",
        "less": f"SELECT {third[0]} FROM {stream} EXCEPT ALL SELECT {third[0]} FROM {stream} WHERE {a} > 3",
        "windowed": f"SELECT {a}, COUNT(*) AS n FROM {stream} WHERE {columns[0]} > {now} - 5 GROUP BY {a}",
        "viewed": f"CREATE VIEW seen AS SELECT {every} FROM {stream} WHERE {a} > 2; SELECT {third[1]} FROM seen",
        "of_view": f"SELECT {b}, SUM({a}) AS t FROM seen GROUP BY {b}",
    }  # fmt: skip


def values(column: int) -> list[int]:
    return [(row * (column + 3) + column) % 9 if column else row for row in range(ROWS)]


def written(folder: Path, names: tuple[str, ...]) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*map(values, range(len(names))), strict=True))
    return path


@pytest.fixture(scope="module")
def session(spark, tmp_path_factory) -> Iterator[Session]:
    """Rows under hostile names, all queries registered, two batches run."""
    path = written(tmp_path_factory.mktemp("rows"), HOSTILE)
    with Session(spark=spark, path=tmp_path_factory.mktemp("hostile") / "session") as made:
        made.add_stream("s", str(path), history=4, batch=3, time=HOSTILE[0])
        first = queries(HOSTILE)
        late = {"of_view": first.pop("of_view")}
        made.register_many(first)
        made.run(1)
        made.register_many(late)
        made.run(1)
        yield made


def expected(name: str, rows: int) -> list[tuple[object, ...]]:
    """The answer of a query over a number of rows, by DuckDB under plain names."""
    with duckdb.connect() as database:
        database.register("s", pa.table({name: values(i)[:rows] for i, name in enumerate(PLAIN)}))
        asked = queries(PLAIN, f"(SELECT MAX({PLAIN[0]}) FROM s)")
        for sql in (asked["viewed"].split(";")[0], asked[name].split(";")[-1].replace("`", '"')):
            database.execute(sql.replace("`", '"'))
        return sorted(tuple(map(str, row)) for row in database.fetchall())


def bag(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(str(value) for value in row) for row in frame.itertuples(index=False))


@pytest.mark.parametrize("name", queries(PLAIN))
def test_answers_and_changes_are_those_of_plain_names(session: Session, name: str) -> None:
    query, answer = session.query(name), expected(name, 10)
    assert bag(query.result()) == answer != []
    assert len(query.head(5)) == min(5, len(answer)) and query.count() == len(answer)
    totals: Counter[tuple[object, ...]] = Counter()
    for _, weight, *row in query.changes().itertuples(index=False):
        totals[tuple(map(str, row))] += weight
    assert sorted(totals.elements()) == answer


def test_answers_have_the_names_that_were_asked_for(session: Session) -> None:
    chosen = session.query("chosen")
    assert list(chosen.result().columns) == list(HOSTILE)
    numbered = (f"{name}_2" if name in ("batch", "weight") else name for name in HOSTILE)
    assert list(chosen.changes().columns) == ["batch", "weight", *numbered]
    assert [name for name, _ in session.streams["s"].columns] == [name.lower() for name in HOSTILE]


def test_answers_leave_the_session_whole(session: Session, tmp_path: Path) -> None:
    chosen = session.query("chosen")
    assert chosen.dataframe().columns == list(HOSTILE)
    chosen.save(tmp_path / "rows.parquet")
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column_names == list(HOSTILE)
    chosen.save(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == list(HOSTILE)
    assert sorted(map(tuple, rows[1:])) == bag(chosen.result())


def test_what_shows_columns_shows_the_analysts_names(session: Session) -> None:
    network = session.network
    assert "`a.b`" in network.to_text()
    assert "$2e$b" not in network.to_text().replace("`a$2e$b", "")
    for node in network.nodes:
        assert set(network.columns(node.id)).isdisjoint(map(stored_name, ("1:a", "_batch", "2001")))
    for name in session.queries:
        assert network.to_dot(name)
        assert str(session.query(name).explain())
    assert session.catalog("SELECT * FROM simple_columns").shape[0] > 100
    session.preview(queries(HOSTILE)["pairs"], "again")


def test_completion_offers_names_as_sql_needs_them(session: Session) -> None:
    class Context:
        text_until_cursor = "SELECT "
        full_text = "%%argus q\nSELECT  FROM s"
        cursor_line = 1

    context = NotebookContext({}, lambda: session)
    context.use(session)
    offered = [c.text for c in complete(context, Context())["completions"]]  # type: ignore[arg-type]
    assert {"`a.b`", "`tick``tock`", "amount", "`two\nlines`"} <= set(offered)


def test_sessions_with_such_names_are_opened_again(session: Session, tmp_path: Path, spark) -> None:
    with Session.open(session.save(tmp_path / "copy"), spark=spark) as again:
        again.run(1)
        for name in again.queries:
            assert bag(again.query(name).result()) == expected(name, ROWS), name


def test_names_that_differ_in_case_alone_are_refused(spark) -> None:
    with Session(spark=spark) as session, pytest.raises(Exception, match="have the same name, as case does not count"):
        session.add_stream("twice", pa.table({"Größe": [1], "gRÖSSE".replace("SS", "ß"): [2]}))


def test_logs_of_before_there_were_stored_names_are_refused(tmp_path: Path) -> None:
    ingest("s", pa.table({"a.b": [1], "c": [2]}), tmp_path / "log")
    assert [name for name, _ in open_log(tmp_path / "log").columns] == ["a$2e$b", "c"]
    manifest = tmp_path / "log" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("a$2e$b", "a.b"))
    with pytest.raises(StreamError, match="another version"):
        open_log(tmp_path / "log")


@pytest.mark.parametrize("name", HOSTILE)
def test_stored_names_are_safe_and_come_back(name: str) -> None:
    stored = stored_name(name)
    assert stored[0] not in "_0123456789" and stored.isascii() and stored == stored.lower()
    assert all(c.isalnum() or c in "_$" for c in stored)
    assert display_name(stored) == name.lower()
    assert quoted(name) == name or quoted(name)[0] == quoted(name)[-1] == "`"


def test_different_names_are_stored_differently() -> None:
    assert len({stored_name(name) for name in HOSTILE}) == len(HOSTILE)
