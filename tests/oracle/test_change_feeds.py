"""Random histories of a table as change feeds in every form; DuckDB applies the same statements and is the truth.

A few batches of each form here; with ``ARGUS_LONG=all`` there are 100 of each, or ``ARGUS_BATCHES``. In between the
session is closed and opened again, or the process that follows the feed is killed.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import random
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import fastavro
import pyarrow as pa
import pytest
from long import LONG
from oracle.bags import difference, frame_rows, rows
from servers import Broker, Registry

from workbench import Session
from workbench.engine.spark.in_process import InProcess

BATCHES = int(os.environ.get("ARGUS_BATCHES", "100" if LONG else "3"))
PROJECT = Path(__file__).resolve().parents[2]
EPOCH = dt.datetime(1970, 1, 1)
MOST_ROWS = 25
"""Of the table; keys come again."""
Row = dict[str, Any]
Step = tuple[str, Row | None, Row | None]
"""What happens (``c``, ``u``, ``d``, ``t``), to which row, and the row after it."""
COLUMNS = {"id": "BIGINT", "v": "VARCHAR", "n": "DECIMAL(9, 2)", "day": "DATE", "ts": "TIMESTAMP", "flag": "BOOLEAN"}
DECLARED = {"n": "decimal(9,2)", "day": "date", "ts": "timestamp us"}
QUERIES = {
    "rows": "SELECT id, v, n, day, ts, flag FROM t",
    "groups": "SELECT v, COUNT(*) AS c, SUM(n) AS s, MIN(day) AS d, MAX(ts) AS m FROM t GROUP BY v",
    "pairs": "SELECT a.id AS x, b.id AS y FROM t a JOIN t b ON a.v = b.v AND a.id < b.id",
}


@dataclass
class History:
    """A table that changes at random; DuckDB has it, too.

    Attributes:
        seed: of the changes.
        truncates, moves: whether the table is emptied, and keys change.
        rows: that there are.
    """

    seed: int
    truncates: bool = True
    moves: bool = True
    rows: dict[int, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self.duckdb = duckdb.connect()
        columns = ", ".join(f'"{name}" {type_}' for name, type_ in COLUMNS.items())
        self.duckdb.execute(f"CREATE TABLE t ({columns})")

    def transaction(self) -> list[Step]:
        """Some changes, one after the other."""
        return [self._step() for _ in range(self._random.randint(1, 9))]

    def answer(self, sql: str) -> list[tuple[object, ...]]:
        """What DuckDB says."""
        return rows(self.duckdb.execute(sql).fetchall())

    def insert(self, row: Row) -> Step:
        """A row comes."""
        return self._put("c", None, row)

    def _step(self) -> Step:
        chosen = self._random.random()
        if chosen < 0.02 and self.truncates:
            self.duckdb.execute("DELETE FROM t")
            self.rows.clear()
            return "t", None, None
        if (chosen < 0.45 and len(self.rows) < MOST_ROWS) or not self.rows:
            id_ = next(id_ for _ in iter(int, 1) if (id_ := self._random.randrange(40)) not in self.rows)
            return self._put("c", None, {"id": id_, **self._values()})
        old = self._random.choice([*self.rows.values()])
        if chosen < 0.6:
            self._delete(old)
            return "d", old, None
        new = {**old, **{name: value for name, value in self._values().items() if self._random.random() < 0.5}}
        if self.moves and self._random.random() < 0.1:
            new["id"] = 100 + self._random.randrange(10_000)
        self._delete(old)
        return self._put("u", old, new)

    def _values(self) -> Row:
        draw, micros = self._random, self._random.randrange(-(10**15), 2 * 10**15)
        values = {
            "v": draw.choice(["a", "b", "é", "", "x\ty", "null", "__deleted"]),
            "n": Decimal(draw.randrange(-(10**9) + 1, 10**9)).scaleb(-2),
            "day": dt.date(1970, 1, 1) + dt.timedelta(days=draw.randrange(-30_000, 60_000)),
            "ts": EPOCH + dt.timedelta(microseconds=micros),
            "flag": draw.random() < 0.5,
        }
        return {name: None if draw.random() < 0.2 else value for name, value in values.items()}

    def _put(self, op: str, old: Row | None, new: Row) -> Step:
        self.rows[new["id"]] = new
        self.duckdb.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(COLUMNS))})", [new[name] for name in COLUMNS])
        return op, old, new

    def _delete(self, old: Row) -> None:
        del self.rows[old["id"]]
        self.duckdb.execute("DELETE FROM t WHERE id = ?", [old["id"]])


def microseconds(moment: dt.datetime) -> int:
    return (moment - EPOCH) // dt.timedelta(microseconds=1)


def in_base64(number: Decimal, scale: int = 2) -> str:
    whole = int(number.scaleb(scale))
    return b64encode(whole.to_bytes((whole.bit_length() // 8) + 1, signed=True)).decode()


CONNECT: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "id": ("int64", "", int),
    "v": ("string", "", str),
    "n": ("bytes", "org.apache.kafka.connect.data.Decimal", in_base64),
    "day": ("int32", "io.debezium.time.Date", lambda day: (day - EPOCH.date()).days),
    "ts": ("int64", "io.debezium.time.MicroTimestamp", microseconds),
    "flag": ("boolean", "", bool),
}
"""Of each column the type of Kafka Connect, its name, and how Debezium writes a value."""
MYSQL = CONNECT | {"flag": ("int16", "", int)}
"""MySQL's BOOLEAN is a TINYINT."""


def connect_row(row: Row | None, types: dict[str, Any] = CONNECT) -> Row | None:
    if row is None:
        return None
    return {name: None if row[name] is None else write(row[name]) for name, (_, _, write) in types.items()}


def schema_part(types: dict[str, Any]) -> Row:
    fields = []
    for name, (type_, named, _) in types.items():
        more = {"parameters": {"scale": "2"}} if named.endswith("Decimal") else {}
        fields.append({"field": name, "type": type_, "optional": True, **({"name": named} if named else {}), **more})
    rows = [{"field": part, "type": "struct", "fields": fields} for part in ("before", "after")]
    return {"type": "struct", "fields": [*rows, {"field": "op", "type": "string"}]}


NOISE: list[Row] = [
    {"ts_ms": 1},
    {"status": "BEGIN", "id": "1", "ts_ms": 1},
    {"op": "m", "message": {"prefix": "p", "content": "eA=="}},
    {"ddl": "ALTER TABLE t", "source": {}, "databaseName": "d"},
]


@dataclass(frozen=True)
class Form:
    """A form of change feeds.

    Attributes:
        how: the arguments of ``add_stream``.
        messages: of a change: the key and the value of each message.
        moves, truncates: whether keys change, and the table is emptied.
        options: of the address.
    """

    how: dict[str, Any]
    messages: Callable[[Step], list[tuple[object, object]]]
    moves: bool = True
    truncates: bool = True
    options: str = ""


def envelopes(types: dict[str, Any], before: str, part: bool = False, toast: bool = False) -> Callable[[Step], Any]:
    """Debezium's envelopes; ``before`` is ``all`` of the row, its ``key``, or ``none``."""
    schema = schema_part(types)

    def messages(step: Step) -> list[tuple[object, object]]:
        op, old, new = step
        was, after = connect_row(old, types), connect_row(new, types)
        if was is not None and before != "all":
            was = {name: value if name == "id" else None for name, value in was.items()}
            was = None if before == "none" and op == "u" and old and new and old["id"] == new["id"] else was
        if toast and op == "u" and old and new and after and old["v"] == new["v"] and new["v"] is not None:
            after["v"] = "__debezium_unavailable_value"
        value: Row = {"op": op, "before": was, "after": after, "source": {"lsn": 1}, "ts_ms": 1, "transaction": None}
        if op == "t":
            value = {"op": "t", "source": {}, "ts_ms": 1}
        key = {"id": (old or new or {}).get("id")}
        tombstone: list[tuple[object, object]] = [(key, None)] if op == "d" else []
        noise: list[tuple[object, object]] = [(None, random.choice(NOISE))] if random.random() < 0.1 else []
        return [(key, {"schema": schema, "payload": value} if part else value), *tombstone, *noise]

    return messages


def plain_row(row: Row) -> Row:
    return json.loads(json.dumps({name: value for name, value in row.items() if name != "id"}, default=str))


def upserts(step: Step) -> list[tuple[object, object]]:
    """Rows and tombstones by the key of the message."""
    _, old, new = step
    gone: list[tuple[object, object]] = [(old["id"], None)] if old and (new is None or new["id"] != old["id"]) else []
    return [*gone, *([(new["id"], plain_row(new))] if new else [])]


def flattened(step: Step) -> list[tuple[object, object]]:
    """Rows that ``ExtractNewRecordState`` has rewritten, and tombstones."""
    op, old, new = step
    if op == "t":
        return [(None, {**dict.fromkeys(COLUMNS), "__deleted": "false", "__op": "t"})]
    moved = old is not None and new is not None and old["id"] != new["id"]
    found: list[tuple[object, object]] = []
    if old is not None and (new is None or moved):
        found = [(old["id"], {**(connect_row(old) or {}), "__deleted": "true", "__op": "d"}), (old["id"], None)]
    if new is not None:
        found.append((new["id"], {**(connect_row(new) or {}), "__deleted": "false", "__op": "c" if moved else op}))
    return found


AVRO_DECIMAL: Row = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
AVRO_ROW: Row = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "v", "type": ["null", "string"]},
        {"name": "n", "type": ["null", AVRO_DECIMAL]},
        {"name": "day", "type": ["null", {"type": "int", "connect.name": "io.debezium.time.Date"}]},
        {"name": "ts", "type": ["null", {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}]},
        {"name": "flag", "type": ["null", "boolean"]},
    ],
}
AVRO: Row = {
    "type": "record",
    "name": "Envelope",
    "fields": [
        {"name": "before", "type": ["null", AVRO_ROW]},
        {"name": "after", "type": ["null", "Value"]},
        {"name": "op", "type": "string"},
    ],
}
PARSED = fastavro.parse_schema(json.loads(json.dumps(AVRO)))


def avro(step: Step) -> list[tuple[object, object]]:
    """Envelopes in Avro, with the number of the schema."""

    def written(row: Row | None) -> Row | None:
        return None if row is None else {**(connect_row(row) or {}), "n": row["n"]}

    op, old, new = step
    file = io.BytesIO()
    fastavro.schemaless_writer(file, PARSED, {"op": op, "before": written(old), "after": written(new)})
    return [(None, b"\0\0\0\0\1" + file.getvalue()), *([(None, None)] if op == "d" else [])]


BY_KEY: dict[str, Any] = {"changes": "debezium", "key": ["id"]}
FORMS = {
    "postgres": Form({**BY_KEY, "columns": DECLARED}, envelopes(CONNECT, "all")),
    "postgres without before": Form({**BY_KEY, "columns": DECLARED}, envelopes(CONNECT, "none", toast=True)),
    "postgres without a key": Form({"changes": "debezium", "columns": DECLARED}, envelopes(CONNECT, "all")),
    "postgres with schema parts": Form(BY_KEY, envelopes(CONNECT, "all", part=True, toast=True)),
    "mysql": Form({**BY_KEY, "columns": DECLARED}, envelopes(MYSQL, "all")),
    "mysql, the key before": Form(BY_KEY, envelopes(MYSQL, "key", part=True)),
    "avro": Form(BY_KEY, avro, options="registry"),
    "avro without a key": Form({"changes": "debezium"}, avro, options="registry"),
    "upserts": Form(
        {"changes": "upsert", "key": ["id"], "columns": {**DECLARED, "ts": "timestamp"}},
        upserts,
        truncates=False,
        options="key=id",
    ),
    "flattened": Form({**BY_KEY, "columns": {**DECLARED, "flag": "boolean"}}, flattened, options="key=id"),
    "flattened upserts": Form(
        {"changes": "upsert", "key": ["id"], "columns": {**DECLARED, "flag": "boolean"}}, flattened, options="key=id"
    ),
    "delta": Form({"changes": "cdf", "key": ["id"]}, lambda step: []),
    "delta without a key": Form({"changes": "cdf"}, lambda step: []),
}


FEW = ("postgres without before", "mysql, the key before", "avro", "flattened upserts", "delta")
"""Those of each run."""


class Topic:
    """A topic that gets the messages of changes."""

    def __init__(self, broker: Broker, registry: Registry, form: Form, name: str) -> None:
        self._broker, self._form, self._name = broker, form, name.replace(" ", "-").replace(",", "")
        options = f"registry={registry.url}" if form.options == "registry" else form.options
        self.source = broker.url(self._name, options)

    def write(self, steps: Sequence[Step]) -> None:
        for step in steps:
            for key, value in self._form.messages(step):
                self._broker.put(self._name, value, key=key)


class DeltaTable:
    """A Delta table that is changed by a merge for each transaction."""

    def __init__(self, folder: Path) -> None:
        self._deltalake = pytest.importorskip("deltalake")
        self.source = str(folder / "t")
        self._schema = pa.schema(
            [
                ("id", pa.int64()),
                ("v", pa.string()),
                ("n", pa.decimal128(9, 2)),
                ("day", pa.date32()),
                ("ts", pa.timestamp("us")),
                ("flag", pa.bool_()),
            ]
        )
        feed = {"delta.enableChangeDataFeed": "true"}
        self._deltalake.write_deltalake(self.source, self._rows([]), configuration=feed)

    def write(self, steps: Sequence[Step]) -> None:
        table = self._deltalake.DeltaTable(self.source)
        changed: dict[int, Row | None] = {}
        for op, old, new in steps:
            if op == "t":
                changed.clear()
                table.delete()
            changed |= {old["id"]: None} if old else {}
            changed |= {new["id"]: new} if new else {}
        gone = [id_ for id_, row in changed.items() if row is None]
        rows = [row for row in changed.values() if row is not None]
        if gone:
            table.delete(f"id IN ({', '.join(map(str, gone))})")
        if rows:
            merge = table.merge(self._rows(rows), "s.id = t.id", source_alias="s", target_alias="t")
            merge.when_matched_update_all().when_not_matched_insert_all().execute()

    def _rows(self, rows: list[Row]) -> pa.Table:
        return pa.Table.from_pylist(rows, schema=self._schema)


FIRST: Row = {"id": 0, "v": "first", "n": Decimal("1.50"), "day": dt.date(2022, 1, 8), "ts": EPOCH, "flag": True}
"""A row without NULL, which says what columns there are."""
FOLLOWER = """
import sys
from workbench import Session
from workbench.engine.spark.in_process import InProcess

session = Session.open(sys.argv[1], InProcess())
print("open", flush=True)
while True:
    session.run(1)
"""
"""A process that follows a feed until it is killed."""


def killed(folder: Path, wait: float) -> None:
    """Follow the feed in a process, and kill it."""
    run = subprocess.Popen(
        [sys.executable, "-c", FOLLOWER, str(folder)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None and run.stdout.readline() == "open\n"
    time.sleep(wait)
    run.kill()
    run.wait()
    run.stdout.close()


@contextmanager
def registry_of(schema: Row) -> Iterator[Registry]:
    registry = Registry()
    registry.register("t-value", schema)
    yield registry
    registry.close()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", FORMS if LONG else FEW)
def test_a_history(tmp_path: Path, broker: Broker, name: str) -> None:
    form, draw = FORMS[name], random.Random(name)
    random.seed(name)
    history = History(draw.randrange(10**9), form.truncates, form.moves)
    batches = kills = opened = 0
    with registry_of(AVRO) as registry:
        feed = DeltaTable(tmp_path) if name.startswith("delta") else Topic(broker, registry, form, name)
        feed.write([history.insert(FIRST)])
        session = Session(InProcess(), path=tmp_path / "s")
        session.add_stream("t", feed.source, batch=100_000, **form.how)
        for query, sql in QUERIES.items():
            session.register(sql, name=query)
        for _ in range(BATCHES):
            chance = draw.random()
            feed.write(history.transaction())
            if LONG and chance < 0.05:
                session.close()
                killed(tmp_path / "s", draw.uniform(0.0, 0.6))
                session, kills = Session.open(tmp_path / "s", InProcess()), kills + 1
                feed.write(history.transaction())
            elif chance < 0.3:
                session.close()
                session, opened = Session.open(tmp_path / "s", InProcess()), opened + 1
            before = session.batch
            while session.run(1):
                pass
            batches += session.batch - before
            for query, sql in QUERIES.items():
                missing, too_many = difference(frame_rows(session.query(query).result()), history.answer(sql))
                assert not missing and not too_many, (query, batches, session.streams["t"].quarantined)
        assert not session.streams["t"].quarantined
        session.close()
    print(f"{name}: {batches} batches, {opened} times opened again, {kills} kills, 0 wrong")


@pytest.fixture(scope="module")
def broker() -> Broker:
    return Broker()
