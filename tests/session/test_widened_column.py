"""Columns that are made wider: what was quarantined comes in, and every answer is DuckDB's over the rows so far.

The matrix is ways in x changes of type; each runs all queries, is opened again halfway, and goes back.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal as D
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from long import some
from servers import Broker

from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session
from workbench.streams.files import json_lines
from workbench.streams.live import iterator
from workbench.streams.live.polled_query import PolledQuery

Row = dict[str, Any]

FIRST, ROWS = 6, 30
Change = tuple[list[Any], list[Any], str | None, str]
"""Values at first, values of which some do not fit, the type that is asked for, and that of the column then."""
CHANGES: dict[str, Change] = {
    "fractions": ([1, 2, None], [2.5, 7, 2], None, "double"),
    "money": ([1, 2, None], [2.25, 7, 2], "decimal(12,2)", "decimal(12,2)"),
    "more digits": ([D("1.5"), D("2.0"), None], [D("22.75"), D("2.00"), D("1.5")], None, "decimal(18,2)"),
    "times": ([dt.date(2026, 1, 1), None], [dt.datetime(2026, 1, 1, 10), dt.datetime(2026, 1, 2)], None, "timestamp"),
    "texts": ([1, 2, None], ["x7", 2], "string", "string"),
}


def values(change: str) -> list[Any]:
    first, later, *_ = CHANGES[change]
    return [first[at % len(first)] if at < FIRST else later[at % len(later)] for at in range(ROWS)]


def records(change: str) -> list[Row]:
    return [{"id": at, "g": at % 4, "v": value} for at, value in enumerate(values(change))]


def tables(change: str) -> Iterator[pa.Table]:
    """Each of one value, so that each has a type of its own."""
    first, *_ = CHANGES[change]
    narrow = pa.array(first).type
    for row in records(change):
        fits = row["v"] is None or type(row["v"]) is type(first[0])
        array = pa.array([row["v"]], narrow) if fits and row["id"] < FIRST else pa.array([row["v"]])
        yield pa.table({"id": [row["id"]], "g": [row["g"]], "v": array})


class Way:
    """A source that gives some rows now, and others later."""

    def __init__(self, name: str, change: str, folder: Path, broker: Broker) -> None:
        self.name, self.change, self._folder, self._broker = name, change, folder, broker
        self._records, self._tables = records(change), [*tables(change)]
        folder.mkdir()

    @property
    def is_live(self) -> bool:
        return not self.name.endswith("file")

    def source(self) -> Any:
        match self.name:
            case "csv" | "jsonl" | "parquet":
                return str(self._folder / f"*.{self.name}")
            case "topic":
                return self._broker.url(f"wide-{self.change.replace(' ', '-')}", "fetch.wait.max.ms=10")
            case "polled":
                path = self._folder / "shop.db"
                return PolledQuery(lambda: sqlite3.connect(path), "SELECT * FROM t", by="id")
            case "records":
                return iter(self._records)
            case "tables":
                return iter(self._tables)
            case "frames":
                return (table.to_pandas() for table in self._tables)
        return self._folder / f"all.{self.name.split()[0]}"

    def give(self, first: int, after: int) -> None:
        some, kind = self._records[first:after], self.name.split()[0]
        path = self._folder / (f"{first:03d}.{kind}" if self.is_live else f"all.{kind}")
        match kind:
            case "csv":
                lines = (",".join("" if value is None else str(value) for value in row.values()) for row in some)
                path.write_text("id,g,v\n" + "\n".join(lines) + "\n")
            case "jsonl":
                path.write_text("".join(json.dumps(row, default=str) + "\n" for row in some))
            case "parquet":
                for at in range(first, after):
                    file = path.with_name(f"{at:03d}.parquet")
                    pq.write_table(self._tables[at], file)
                    os.utime(file, (at + 1, at + 1))
            case "topic":
                for row in some:
                    self._broker.put(f"wide-{self.change.replace(' ', '-')}", row)
            case "polled":
                with closing(sqlite3.connect(self._folder / "shop.db")) as database, database:
                    database.execute("CREATE TABLE IF NOT EXISTS t (id, g, v)")
                    database.executemany("INSERT INTO t VALUES (:id, :g, :v)", some)
        if path.exists():
            os.utime(path, (first + 1, first + 1))


QUERIES = {
    "star": "SELECT * FROM T",
    "rows": "SELECT id, v FROM T WHERE v IS NOT NULL",
    "groups": "SELECT v, COUNT(*) AS n FROM T GROUP BY v",
    "ends": "SELECT g, MIN(v) AS low, MAX(v) AS high, COUNT(v) AS n FROM T GROUP BY g",
    "joined": "SELECT a.id AS a, b.id AS b FROM T a JOIN T b ON a.v = b.v WHERE a.id < b.id",
    "distinct": "SELECT DISTINCT v FROM rows",
    "last": "SELECT id, v, LAG(v) OVER (PARTITION BY g ORDER BY id) AS before FROM T",
    "others": "SELECT g, COUNT(*) AS n FROM T GROUP BY g",
    "filtered": "SELECT id FROM T WHERE v >= {bound}",
}
SUMS = {
    "sums": "SELECT g, SUM(v) AS s FROM T GROUP BY g",
    "averages": "SELECT g, AVG(v) AS a FROM T GROUP BY g",
    "twice": "SELECT g, SUM(v + v) AS w FROM T GROUP BY g",
}
DUCK = {"decimal": "DECIMAL", "double": "DOUBLE", "timestamp": "TIMESTAMP", "string": "VARCHAR"}
BOUNDS = {"times": "DATE '2026-01-02'", "texts": "2"}


def queries(change: str) -> dict[str, str]:
    texts = QUERIES | (SUMS if change not in ("times", "texts") else {})
    if change == "more digits":  # Spark would compute what these have
        texts = {name: sql for name, sql in texts.items() if name not in ("twice", "averages")}
    if change == "texts":  # a text is no number
        texts = {name: sql for name, sql in texts.items() if name != "filtered"}
    return {name: sql.format(bound=BOUNDS.get(change, "2")) for name, sql in texts.items()}


def plain(value: Any) -> Any:
    if value is None or value is pd.NA or value != value:
        return None
    if isinstance(value, D | float) and not isinstance(value, bool):
        return round(float(value), 5)  # averages of decimals have six digits
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


def sorted_rows(found: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(map(plain, row)) for row in found), key=repr)


def answers(session: Session, names: Any) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted_rows(session.queries[name].result().itertuples(index=False)) for name in names}


def expected(rows: list[Row], type_: str, texts: dict[str, str]) -> dict[str, list[tuple[Any, ...]]]:
    """DuckDB's answers over rows of the source, whose column has the type."""
    with duckdb.connect() as database:
        name, _, precision = type_.partition("(")
        database.execute(f"CREATE TABLE T (id BIGINT, g BIGINT, v {DUCK[name]}{'(' + precision if precision else ''})")
        for row in rows:
            database.execute("INSERT INTO T VALUES (?, ?, ?)", [*row.values()])
        database.execute(f"CREATE VIEW rows AS {QUERIES['rows']}")
        return {name: sorted_rows(database.sql(sql).fetchall()) for name, sql in texts.items()}


@pytest.fixture(scope="module")
def broker() -> Broker:
    return Broker()


@pytest.fixture(autouse=True)
def first_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the types are those of the first rows."""
    monkeypatch.setattr(iterator, "LOOKED_AT", 1)
    monkeypatch.setattr(json_lines, "SAMPLE_LINES", FIRST)


CELLS = [
    *(("csv", "fractions"), ("parquet", "more digits"), ("records", "times"), ("jsonl file", "texts")),
    *((way, change) for way in ("parquet", "records", "tables", "frames") for change in CHANGES),
    *(
        (way, change)
        for way in ("csv", "jsonl", "topic", "polled", "jsonl file")  # in which decimals and times are texts
        for change in ("fractions", "money", "texts")
    ),
]


@pytest.mark.parametrize(("way", "change"), some(CELLS, 4))
def test_every_answer_is_that_of_duckdb(
    in_process: InProcess, tmp_path: Path, broker: Broker, way: str, change: str
) -> None:
    source, texts = Way(way, change, tmp_path / "in", broker), queries(change)
    _, _, asked, type_ = CHANGES[change]
    source.give(0, FIRST if source.is_live else ROWS)
    with Session(in_process, tmp_path / "session") as session:
        narrow = session.add_stream("T", source.source(), batch=5)
        before = dict(narrow.columns)["v"]
        registered = session.register_many(texts)
        session.run(1)
        if source.is_live:
            source.give(FIRST, ROWS // 2)
            session.run(2)
        held = answers(session, texts)
        waiting = session.streams["T"].quarantined_rows
        assert waiting, "nothing did not fit"
        told = session.widen_column("T", "v", asked)
        assert (told.before, told.type, told.taken) == (str(before), type_, waiting), (
            str(told),
            session.streams["T"].quarantined,
        )
        assert {"star", "rows"} <= {*told.queries} and not {"others"} & {*told.queries}
        assert not session.streams["T"].quarantined_rows and all(
            query.status == "active" for query in registered.values()
        )
        if source.is_live:
            there = records(change)[: session.streams["T"].position]
            assert answers(session, texts) == expected(there, type_, texts) != held
        session.save(tmp_path / "saved")
    with Session.open(tmp_path / "saved", in_process) as session:
        if way in ("polled", "records", "tables", "frames"):
            session.attach("T", source.source())
        if source.is_live:
            source.give(ROWS // 2, ROWS)
        while session.run(1):
            pass
        assert session.streams["T"].rows == ROWS, [*session.streams["T"].quarantined]
        assert str(dict(session.streams["T"].columns)["v"]) == type_
        last = expected(records(change), type_, texts)
        assert answers(session, texts) == last
        session.register("SELECT g, COUNT(v) AS n, MAX(v) AS m FROM T GROUP BY g", name="new")
        assert answers(session, ["new"]) == expected(
            records(change), type_, {"new": "SELECT g, COUNT(v) AS n, MAX(v) AS m FROM T GROUP BY g"}
        )
        session.seek(1)
        while session.run(1):
            pass
        assert answers(session, texts) == last


def steps() -> list[Row]:
    """Changes of rows by their key in which a fraction comes first, in between and last, and is deleted."""
    wide, narrow = 2.5, 7
    return [
        *({"id": at, "g": at % 2, "v": at} for at in range(6)),
        {"id": 0, "g": 0, "v": wide},  # stays
        {"id": 1, "g": 1, "v": wide},
        {"id": 1, "g": 1, "v": narrow},  # replaces one that waits
        {"id": 2, "g": 0, "v": wide},
        {"id": 2},  # deletes one that waits
        {"id": 7, "g": 1, "v": wide},  # a key that is new
        {"id": 8, "g": 0, "v": wide},
        {"id": 8},  # deletes one that was never there
        {"id": 9, "g": 0, "v": wide},
        {"id": 9},
        {"id": 9, "g": 1, "v": 3},  # and comes again
        {"id": 3, "g": 1, "v": wide},
        {"id": 3, "g": 1, "v": wide + 1},
        {"id": 4, "g": 0, "v": 4},
    ]


def applied(changes: list[Row], first: dict[int, Row] | None = None) -> dict[int, Row]:
    now = dict(first or {})
    for row in changes:
        if "v" in row:
            now[row["id"]] = row
        else:
            now.pop(row["id"], None)
    return now


def envelopes(changes: list[Row]) -> Iterator[Row]:
    now = dict[int, Row]()
    for row in changes:
        before = now.get(row["id"])
        if "v" in row:
            yield {"op": "u" if before else "c", "before": before, "after": row}
        else:
            yield {"op": "d", "before": before, "after": None}
        now = applied([row], now)


def feed_of_changes(changes: list[Row]) -> Iterator[Row]:
    now = dict[int, Row]()
    for row in changes:
        before = now.get(row["id"])
        if before is not None:
            yield before | {"_change_type": "update_preimage" if "v" in row else "delete"}
        if "v" in row:
            yield row | {"_change_type": "insert" if before is None else "update_postimage"}
        now = applied([row], now)


def weighted(changes: list[Row]) -> Iterator[Row]:
    for row in feed_of_changes(changes):
        kind = row.pop("_change_type")
        yield row | {"w": -1 if kind in ("update_preimage", "delete") else 1}


CORRECTED: dict[str, tuple[Any, dict[str, Any]]] = {
    "upserts": (iter, {"changes": "upsert", "key": ["id"]}),
    "envelopes": (envelopes, {"changes": "debezium", "key": ["id"]}),
    "envelopes without a key": (envelopes, {"changes": "debezium"}),
    "feed": (feed_of_changes, {"changes": "cdf", "key": ["id"]}),
    "feed without a key": (feed_of_changes, {"changes": "cdf"}),
    "weights": (weighted, {"weight": "w"}),
}


@pytest.mark.parametrize(
    ("way", "form"), some([("feed", "iterator"), ("envelopes", "file"), *product(CORRECTED, ["iterator", "file"])], 2)
)
def test_rows_that_are_corrected(in_process: InProcess, tmp_path: Path, way: str, form: str) -> None:
    """Each change of a key counts in its place, whenever it was taken in; a file is copied when its stream is added."""
    made, how = CORRECTED[way]
    texts = {name: QUERIES[name] for name in ("star", "groups", "ends", "joined")}
    with Session(in_process, tmp_path / "session") as session:
        if form == "file":
            (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made(steps())))
        session.add_stream("T", tmp_path / "rows.jsonl" if form == "file" else made(steps()), batch=4, **how)
        session.register_many(texts)
        while session.run(1):
            pass
        told = session.widen_column("T", "v")
        assert told.type == "double" and told.taken, told
        now = [*applied(steps()).values()]
        assert answers(session, texts) == expected(now, "double", texts), [*session.streams["T"].quarantined]
        assert all("later row of its key" in reason or "takes back" in reason for reason in told.left), told
        session.seek(1)
        while session.run(1):
            pass
        assert answers(session, texts) == expected(now, "double", texts)
    with Session.open(tmp_path / "session", in_process) as session:
        if form == "iterator":
            more = [{"id": 0, "g": 0, "v": 0.25}, {"id": 7}, {"id": 6, "g": 0, "v": 1}]
            session.attach("T", made([*steps(), *more]))
            while session.run(1):
                pass
            now = [*applied([*steps(), *more]).values()]
        assert answers(session, texts) == expected(now, "double", texts)
