"""Columns that are made wider: what was quarantined comes in, and every answer is DuckDB's over the rows so far.

The matrix is ways in x changes of type; each runs all queries, is opened again halfway, and goes back.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import sqlite3
import time
from collections import Counter
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
from workbench.errors import StreamError
from workbench.session.methods import streams
from workbench.session.session import Session
from workbench.streams.corrections.declared import corrections_of
from workbench.streams.files import json_lines
from workbench.streams.ingest import ingest
from workbench.streams.live import iterator
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog
from workbench.streams.retried_rows import keep_types, retry, waiting_for_column
from workbench.streams.source import OpenedSource
from workbench.streams.widened_columns import WidenedColumn

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


@pytest.mark.slow
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
        {"id": 4, "g": 0, "v": wide},
        {"id": 4, "g": 0, "v": 4},  # as before the one that waits
        {"id": 5, "g": 1, "v": 5},
        {"id": 5, "g": 1, "v": wide},
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


def envelopes_by_key(changes: list[Row]) -> Iterator[Row]:
    """Those of a database that tells of old rows nothing but the key."""
    for envelope in envelopes(changes):
        if envelope["op"] != "d" or envelope["before"]:
            yield envelope | {"before": envelope["before"] and {"id": envelope["before"]["id"]}}


CORRECTED: dict[str, tuple[Any, dict[str, Any]]] = {
    "upserts": (iter, {"changes": "upsert", "key": ["id"]}),
    "envelopes": (envelopes, {"changes": "debezium", "key": ["id"]}),
    "envelopes of keys": (envelopes_by_key, {"changes": "debezium", "key": ["id"]}),
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
        emitted = Counter((row["_event"], row["id"], row["v"]) for row in logged(session.streams["T"].log))
        assert "key" not in how or max(emitted.values()) == 1, "a row that stays is emitted"
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


def logged(log: StreamLog) -> list[Row]:
    return log.read(0, log.rows).to_pylist()


def random_changes(chosen: random.Random) -> list[Row]:
    """Of few keys; those that are there are deleted."""
    changes, there = [{"id": 0, "g": 0, "v": 1}], {0}
    for _ in range(chosen.randrange(3, 25)):
        key = chosen.randrange(4)
        gone = key in there and chosen.random() < 0.25
        changes.append({"id": key} if gone else {"id": key, "g": 0, "v": chosen.choice([1, 2, 2.5, 3.5])})
        there ^= {key} if gone or key not in there else set()
    return changes


@pytest.mark.parametrize("seed", some(range(500), 25))
def test_random_changes_of_rows_by_key(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    made, how = chosen.choice([one for one in CORRECTED.values() if "key" in one[1]])
    changes = random_changes(chosen)
    corrections = corrections_of(how["changes"], how["key"], None)
    assert corrections is not None
    if chosen.choice([True, False]):
        reader = iterator.IteratorReader(iter([*made(changes)]))
        reader.declare(corrections.asked)
        source = OpenedSource(reader.schema, iter(()))
        log = ingest("T", source, tmp_path / "T", corrections=corrections).growing(durable=False)
        while not take_in(log, reader, chosen.randrange(1, 9)):
            pass
    else:
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made(changes)))
        log = ingest("T", tmp_path / "rows.jsonl", tmp_path / "T", corrections=corrections)
    waiting = waiting_for_column(log, "v")
    keep_types(log)
    wide = log.with_widened([WidenedColumn("v", "double")]).growing(durable=False)
    retry(wide, waiting, is_table=False)
    there = Counter[tuple[int, float]]()
    for row in logged(wide):
        there[row["id"], row["v"]] += row["_weight"]
    assert {row for row, copies in there.items() if copies} == {(r["id"], r["v"]) for r in applied(changes).values()}
    assert {*there.values()} <= {0, 1}


@pytest.mark.parametrize("form", ["iterator", "file"])
def test_a_key_that_is_another_one(in_process: InProcess, tmp_path: Path, form: str) -> None:
    """What goes by its old key alone is not there, since it waits; it is gone also when it could come in."""
    old, new = {"id": 10, "g": 0, "v": 2.5}, {"id": 11, "g": 1, "v": 3}
    first = steps()[:6]
    made = [*envelopes([*first, old]), {"op": "u", "before": {"id": 10}, "after": new}]
    with Session(in_process) as session:
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
        source = tmp_path / "rows.jsonl" if form == "file" else iter(made)
        session.add_stream("T", source, batch=4, changes="debezium", key=["id"])
        session.register_many({"star": QUERIES["star"]})
        while session.run(1):
            pass
        assert [row["id"] for row in logged(session.streams["T"].log)] == [*range(6), 11]
        session.widen_column("T", "v", "double")
        assert answers(session, ["star"]) == expected([*first, new], "double", {"star": QUERIES["star"]})


def fractions(rows: int = 12) -> Iterator[Row]:
    for at in range(rows):
        yield {"id": at, "g": at % 2, "v": at if at < FIRST else at + 0.5}


def test_sinks_get_the_difference_with_the_types_that_columns_have_now(in_process: InProcess, tmp_path: Path) -> None:
    got = list[tuple[int, list[list[object]]]]()
    with Session(in_process) as session:
        session.add_stream("T", fractions(), batch=20)
        session.register("SELECT COUNT(*) AS n, SUM(v) AS v FROM T", name="q")
        session.add_sink("q", lambda batch, changes: got.append((batch, changes.to_numpy().tolist())), name="calls")
        session.add_sink("q", tmp_path / "out", name="folder")
        session.run(1)
        wait_for(lambda: len(got) == 2)
        session.widen_column("T", "v", "decimal(9,1)")
        wait_for(lambda: len(got) == 3 and not session.sinks["folder"].behind)
        # The rows of a change are in no order.
        assert sorted(got[-1][1]) == [[-1, 6, D("15.0")], [1, 12, D("69.0")]] and [1, 6, 15] in got[1][1]
        files = sorted((tmp_path / "out").rglob("*.parquet"))
        assert {row["v"] for row in pq.read_table(files[-1]).to_pylist()} == {D("69.0"), D("15.0")}
        assert not any(sink.problem for sink in session.sinks.values())


def wait_for(there: Any, seconds: float = 20) -> None:
    ends = time.monotonic() + seconds
    while not there() and time.monotonic() < ends:
        time.sleep(0.01)
    assert there()


def test_what_queries_keep(in_process: InProcess, tmp_path: Path) -> None:
    with Session(in_process, tmp_path / "session") as session:
        session.add_stream("T", fractions(), batch=8)
        session.register("SELECT COUNT(*) AS n, SUM(v) AS v FROM T", name="off", results="off")
        session.register("SELECT COUNT(*) AS n, SUM(v) AS v FROM T", name="waits")
        session.register("CREATE VIEW w AS SELECT v FROM T WHERE id > 2; SELECT MAX(v) AS m FROM w", name="viewed")
        session.register("SELECT v AS x FROM w", name="over")
        session.run(1)
        session.suspend("waits")
        session.run(1)
        session.prioritize("viewed", 3)
        handles, order = {**session.queries}, [*session.queries]
        told = session.widen_column("T", "v")
        assert told.queries == ("off", "waits", "viewed", "over") and [*session.queries] == order
        assert all(session.queries[name] is handle and handle.status == "active" for name, handle in handles.items())
        assert (handles["waits"].suspended, handles["waits"].batch, handles["viewed"].priority) == (1, 1, 3)
        session.resume("waits")
        assert answers(session, ["off", "waits", "viewed"]) == {
            "off": [(12, 69.0)], "waits": [(12, 69.0)], "viewed": [(11.5,)]
        }  # fmt: skip
        changes = handles["over"].changes()
        assert changes.weight.sum() == 9 and changes.batch.tolist() == sorted(changes.batch) and 2 in [*changes.batch]
        with pytest.raises(StreamError, match="query off cannot read T then: SUM and AVG need numbers"):
            session.widen_column("T", "v", "string")
        assert answers(session, ["off"]) == {"off": [(12, 69.0)]}


def test_a_process_that_ends_before_the_rows_come_in(
    in_process: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    with Session(in_process, tmp_path / "session") as session:
        session.add_stream("T", fractions(), batch=20)
        session.register("SELECT COUNT(*) AS n, SUM(v) AS v FROM T", name="q")
        session.run(1)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(streams, "retry", ends)
            session.widen_column("T", "v")
    with Session.open(tmp_path / "session", in_process) as session:
        assert answers(session, ["q"]) == {"q": [(6, 15.0)]} and session.streams["T"].quarantined_rows == 6
        assert session.widen_column("T", "v", "double").taken == 6
        assert answers(session, ["q"]) == {"q": [(12, 69.0)]}


def test_what_is_refused(in_process: InProcess, tmp_path: Path) -> None:
    rows = ({"id": at, "at": at, "v": at if at < 5 else "many", "w": [at]} for at in range(9))
    with Session(in_process) as session:
        session.add_stream("T", rows, batch=20, time="at")
        session.run(1)
        session.add_column("T", "note", "string")
        session.register("SELECT MAX(v) AS m FROM T", name="first")
        session.register("SELECT m FROM first", name="second")
        for args, message in (
            (("T", "other"), "T has no column other"),
            (("T", "w.x"), "w.x is a field of w, and a field is not widened"),
            (("T", "note", "double"), "note was added to the stream"),
            (("T", "v"), "T.v is integer, and no other type has many, many"),
            (("T", "id"), "what type is T.id to have"),
            (("T", "v", "date"), "T.v has 0, which is no date"),
            (("T", "v", "texts"), "column v"),
            (("T", "at", "double"), "T.at has the event times"),
            (("T", "w", "string"), "T.w is array<integer>, which is not made string"),
        ):
            with pytest.raises(StreamError, match=message):
                session.widen_column(*args)
        session.register("SELECT MIN(v) AS m FROM T", name="first")
        with pytest.raises(StreamError, match="query second would mean another thing by now"):
            session.widen_column("T", "v", "string")
        session.drop("second")
        told = session.widen_column("T", "v", "string")
        assert (told.taken, told.waits, told.queries) == (4, False, ("first",))
        assert str(session.widen_column("T", "v", "string")).endswith("no quarantined row was taken in")


def test_times_of_events_and_rows_that_wait(in_process: InProcess, tmp_path: Path) -> None:
    """The column with event times; and a replayed stream, whose rows come after those that have not arrived."""
    days = [dt.date(2026, 1, 1 + at) if at < 5 else dt.datetime(2026, 1, 1 + at, 12) for at in range(10)]
    with Session(in_process) as session:
        session.add_stream("T", ({"id": at, "day": day} for at, day in enumerate(days)), batch=3, time="day")
        session.register("SELECT COUNT(*) AS n, MAX(day) AS d FROM T WHERE day > now() - INTERVAL 3 DAYS", name="last")
        while session.run(1):
            pass
        assert session.widen_column("T", "day").taken == 5
        assert answers(session, ["last"]) == {"last": [(3, dt.datetime(2026, 1, 10, 12))]}
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in fractions()))
    with Session(in_process) as session:
        session.add_stream("T", tmp_path / "t.jsonl", history=2, batch=2)
        session.register("SELECT COUNT(*) AS n, SUM(v) AS v FROM T", name="q")
        session.run(1)
        told = session.widen_column("T", "v")
        assert (told.taken, told.waits) == (6, True) and "6 quarantined rows wait behind the others" in str(told)
        assert answers(session, ["q"]) == {"q": [(4, 6.0)]} and not session.sources
        while session.run(1):
            pass
        assert answers(session, ["q"]) == {"q": [(12, 69.0)]}


def test_a_table_with_a_key(in_process: InProcess, tmp_path: Path) -> None:
    """Its updates come after what was quarantined when it was added, also one that changed nothing."""
    rows = [*({"k": str(at), "n": at} for at in range(6)), *({"k": str(at), "n": at + 0.5} for at in range(4))]
    (tmp_path / "t.csv").write_text("k,n\n" + "".join(f"{row['k']},{row['n']}\n" for row in rows))
    with Session(in_process) as session:
        session.add_table("Z", tmp_path / "t.csv", columns={"n": "integer", "k": "string"}, key=["k"])
        session.register("SELECT k, n FROM Z", name="q")
        session.update_table("Z", [{"k": "0", "n": 0}, {"k": "1", "n": 9}], delete=[{"k": "2"}])
        told = session.widen_column("Z", "n", "decimal(9,1)")
        assert told.taken == 1 and "a later row of its key" in told.left[0]
        session.update_table("Z", [{"k": "5", "n": 5.5}])
        assert answers(session, ["q"]) == {"q": [("0", 0.0), ("1", 9.0), ("3", 3.5), ("4", 4.0), ("5", 5.5)]}


def test_times_within_structs_of_rows_that_waited(in_process: InProcess, tmp_path: Path) -> None:
    """They are read as those of the rows before, and texts stay texts."""
    days = ["31.12.2025", "01.01.2026", "02.01.2026"]
    rows = [
        json.dumps({"v": v, "s": {"days": [day], "text": text}})
        for v, day, text in zip((1, 2, 2.5), days, ("x", "x", days[-1]), strict=True)
    ]
    (tmp_path / "1.jsonl").write_text("\n".join(rows[:2]))
    with Session(in_process) as session:
        session.add_stream("t", str(tmp_path / "*.jsonl"))
        session.run(10)
        (tmp_path / "2.jsonl").write_text(rows[2])
        session.run(10)
        found = session.register("SELECT v, s.days[0] AS day, s.text FROM t", name="q")
        assert len(found.result()) == 2
        session.widen_column("t", "v", "double")
        session.run(10)
        assert sorted(map(tuple, found.result().astype(str).to_numpy())) == [
            *(("1.0", "2025-12-31", "x"), ("2.0", "2026-01-01", "x"), ("2.5", "2026-01-02", days[-1])),
        ]


def test_a_row_of_a_query_that_is_compared_waits_for_a_wider_column(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as shop, Session(InProcess(), tmp_path / "s") as session:
        shop.execute("CREATE TABLE t (id TEXT, v NUMERIC)")
        shop.executemany("INSERT INTO t VALUES (?, ?)", [("a", 1), ("b", 2)])
        shop.commit()
        session.add_stream("T", PolledQuery(lambda: sqlite3.connect(path), "SELECT * FROM t", every=0), key=["id"])
        answer = session.register("SELECT COUNT(*) AS n, SUM(v) AS v FROM T", name="q")
        shop.execute("INSERT INTO t VALUES ('c', 2.5)")
        shop.execute("UPDATE t SET v = 4 WHERE id = 'a'")
        shop.commit()
        session.run(3)
        assert answer.result().to_numpy().tolist() == [[2, 6]]
        assert session.widen_column("T", "v").taken == 1
        session.run(3)
        assert answer.result().to_numpy().tolist() == [[3, 8.5]] and not session.streams["T"].quarantined
        shop.execute("DELETE FROM t WHERE id = 'c'")
        shop.commit()
        session.run(3)
        assert answer.result().to_numpy().tolist() == [[2, 6]]
