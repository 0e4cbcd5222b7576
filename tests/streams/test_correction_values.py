"""Values of every type through every form of corrections: a change takes back the row that was put there, to the bit;
what differs in a sign, in NULL or in a character that has a meaning within stored texts is another row."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from workbench.streams.corrections.current_rows import CurrentRows
from workbench.streams.corrections.declared import (
    CHANGE_TYPE,
    EVENT,
    TAKES_IF_THERE,
    WEIGHT,
    Corrections,
    corrections_of,
)
from workbench.streams.corrections.update import update
from workbench.streams.files.envelopes import MEMBERS
from workbench.streams.ingest import ingest
from workbench.streams.live.iterator import IteratorReader
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog, log_schema
from workbench.streams.source import OpenedSource

TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bigint": (pa.int64(), [2**63 - 1, -(2**63), 0, 2**53 + 1]),
    "double": (pa.float64(), [math.nan, -0.0, 0.0, math.inf, -math.inf, 5e-324, 0.1 + 0.2, 1e16, 1e22]),
    "decimal": (pa.decimal128(38, 7), [Decimal("1E-7"), Decimal("-" + "9" * 31), Decimal(0), Decimal("1.5")]),
    "fraction": (pa.decimal128(38, 38), [Decimal("1E-38"), Decimal("-0.5"), Decimal(0)]),
    "boolean": (pa.bool_(), [True, False]),
    "string": (pa.string(), ["", "\\N", "\\", "\t", "\\t", "\\s", "a\tb", "a\0b", "\n", "é😀", "1", "null", '"']),
    "date": (pa.date32(), [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31)]),
    "timestamp": (
        pa.timestamp("us"),
        [dt.datetime(1, 1, 1), dt.datetime.max, dt.datetime(1969, 12, 31, 23, 59, 59, 1)],
    ),
    "binary": (pa.binary(), [b"", b"\0\t\\N", b"\xff"]),
    "array": (pa.list_(pa.string()), [[], [None], ["\t"], ["\\t"], [""]]),
    "struct": (pa.struct([("a", pa.float64())]), [{"a": 0.0}, {"a": 1e22}, {"a": math.nan}, {"a": None}]),
    "map": (pa.map_(pa.string(), pa.int64()), [[], [("\t", 1)], [("\\t", 2**63 - 1)]]),
}
Change = tuple[int, int | None, int]
"""A key, the place of a value among those of its type (``None``: NULL), and the weight of the row."""


def random_changes(values: int) -> list[Change]:
    chosen = random.Random(values)
    places = [None, *range(values)]
    return [(chosen.randrange(3), chosen.choice(places), chosen.choice([1, 1, -1])) for _ in range(8 * len(places))]


def logged(changes: Sequence[Change], keyed: bool) -> list[Change]:
    """What the log has after changes, of which some cannot be made."""
    log, rows, copies = list[Change](), dict[int, int | None](), Counter[Any]()
    for key, value, weight in changes:
        if not keyed and copies[key, value] + weight >= 0:
            copies[key, value] += weight
            log.append((key, value, weight))
        elif keyed and not (weight > 0 and key in rows and rows[key] == value):
            log += [(key, rows.pop(key), -1)] if key in rows else []
            if weight > 0:
                rows[key] = value
                log.append((key, value, 1))
    return log


def table(name: str, changes: Sequence[Change], without: Sequence[int] = ()) -> pa.Table:
    """The rows of changes; of those with some weights nothing but the key."""
    type_, values = TYPES[name]
    found = [None if place is None or weight in without else values[place] for _, place, weight in changes]
    there = [None if weight in without else 1 for *_, weight in changes]
    return pa.table({"id": [key for key, *_ in changes], "v": pa.array(found, type_), "there": there})


def upserts(name: str, changes: Sequence[Change]) -> pa.Table:
    members = [1 if weight < 0 else 3 for *_, weight in changes]
    return table(name, changes, [-1]).append_column(MEMBERS, pa.array(members, pa.int64()))


def feed(name: str, changes: Sequence[Change], keyed: bool) -> pa.Table:
    kinds = pa.array(["insert" if weight > 0 else "delete" for *_, weight in changes])
    return table(name, changes, [-1] if keyed else ()).append_column("_change_type", kinds)


def envelopes(name: str, changes: Sequence[Change], keyed: bool) -> pa.Table:
    comes = pa.array([weight < 0 for *_, weight in changes])
    before, after = (table(name, changes, [-1] if keyed else ()).to_struct_array().combine_chunks() for _ in "ba")
    none, op = pa.scalar(None, before.type), pa.array(["c" if weight > 0 else "d" for *_, weight in changes])
    taken = pa.compute.if_else(comes, before, none)
    return pa.table({"op": op, "before": taken, "after": pa.compute.if_else(comes, none, after)})


FORMS: dict[str, tuple[Callable[[str, Sequence[Change]], pa.Table], dict[str, Any]]] = {
    "upsert": (upserts, {"changes": "upsert", "key": "id"}),
    "feed-by-key": (lambda name, changes: feed(name, changes, True), {"changes": "cdf", "key": "id"}),
    "feed": (lambda name, changes: feed(name, changes, False), {"changes": "cdf"}),
    "envelopes-by-key": (lambda name, changes: envelopes(name, changes, True), {"changes": "debezium", "key": "id"}),
    "envelopes": (lambda name, changes: envelopes(name, changes, False), {"changes": "debezium"}),
    "weights": (
        lambda name, changes: table(name, changes).append_column("w", pa.array([weight for *_, weight in changes])),
        {"weight": "w"},
    ),
}


def declared(how: dict[str, Any]) -> Corrections:
    found = corrections_of(**{"changes": None, "key": None, "weight": None} | how)
    assert found is not None
    return found


def bits(value: object) -> str:
    return value.hex() if isinstance(value, float) else repr(value)


def stored(log: StreamLog, folder: Path, name: str) -> list[Change]:
    """The rows of a log, whose values are compared by their bits with those of the type, stored without corrections."""
    places = [None, *range(len(TYPES[name][1]))]
    own = ingest("v", table(name, [(0, place, 1) for place in places]), folder / "values").read(0, len(places))
    known = dict(zip(map(bits, own["v"].to_pylist()), places, strict=True))
    assert len(known) == len(places)
    rows = log.read(0, log.rows).to_pylist()
    return [(row["id"], known[bits(row["v"])], row["_weight"]) for row in rows]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("form", FORMS)
def test_rows_that_are_taken_back_are_those_that_were_put(tmp_path: Path, form: str, name: str) -> None:
    source, how = FORMS[form]
    changes = random_changes(len(TYPES[name][1]))
    chunks = source(name, changes).to_reader(max_chunksize=7)  # most rows are taken back through the disk
    log = ingest("s", chunks, tmp_path / "s", corrections=declared(how))
    assert stored(log, tmp_path, name) == logged(changes, "key" in how)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("form", FORMS)
def test_a_live_source_of_tables(tmp_path: Path, form: str, name: str) -> None:
    """Tables have their types, also where the values of the first ones would do with less."""
    source, how = FORMS[form]
    changes = [(0, None, 1), *random_changes(len(TYPES[name][1]))]
    given = source(name, changes)
    tables = [given.slice(0, 1), given.slice(1, 20), *given.slice(21).to_batches(max_chunksize=50)]
    reader = IteratorReader(iter(tables))
    opened = OpenedSource(reader.schema, iter(()))
    log = ingest("s", opened, tmp_path / "s", corrections=declared(how)).growing(durable=False)
    while not take_in(log, reader, 30):
        pass
    assert stored(log, tmp_path, name) == logged(changes, "key" in how)
    assert {entry.reason[:13] for entry in log.quarantined} <= {"it takes back"}


@pytest.mark.parametrize("name", TYPES)
def test_tables_that_are_updated(tmp_path: Path, name: str) -> None:
    changes = [(0, None, 1), *((key, value, 1) for key, value, _ in random_changes(len(TYPES[name][1]))), (0, None, -1)]
    how = corrections_of(None, "id", None, table=True)
    log = ingest("t", table(name, changes[:1]), tmp_path / "t", corrections=how, growing=True).growing(durable=False)
    update(log, table(name, changes[1:-1]), None)
    update(log, None, [{"id": 0}])
    assert stored(log, tmp_path, name) == logged(changes, True)


def test_what_confirms_a_row_emits_nothing_and_is_remembered() -> None:
    """Also that there is none, and after the column of the key has another type."""
    corrections = declared({"changes": "upsert", "key": "id"})
    columns, weights = ["id", "v", WEIGHT, EVENT], [1, 1, 1, TAKES_IF_THERE, 1, 1]
    with closing(sqlite3.connect(":memory:")) as database:
        current = CurrentRows(database, pa.schema([("id", pa.int64()), ("v", pa.string())]), corrections)
        current.confirms = True
        given = pa.table([[1, 1, 2, 3, 2, 1], ["a", "a", "a", "a", "b", None], weights, [*range(1, 7)]], columns)
        emitted, rejected = current.change(given, {})
        assert emitted[WEIGHT].to_pylist() == [1, 1, -1, 1, -1, 1] and not rejected
        later = CurrentRows(database, pa.schema([("id", pa.float64()), ("v", pa.string())]), corrections)
        keys = later.keys_of(pa.table({"id": [1.0, 2.0, 3.0]})).to_pylist()
        assert later.confirmed(keys).tolist() == [2, -1, 4]


@pytest.mark.parametrize("name", TYPES)
def test_keys_of_every_type(tmp_path: Path, name: str) -> None:
    """Each finds its own row; but 0.0 and -0.0 are one key."""
    number = len(TYPES[name][1])
    puts = [(turn * number + at, at, 1) for turn in range(2) for at in range(number)]
    log = ingest("s", table(name, puts), tmp_path / "s", corrections=declared({"changes": "upsert", "key": ["v"]}))
    taken = [1, 0, 2, number + 1, *range(3, number)] if name == "double" else [*range(number)]
    assert [key for key, _, weight in stored(log, tmp_path, name) if weight < 0] == taken


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("key", [None, "id"])
def test_current_rows_that_version_0_2_kept_as_json(tmp_path: Path, key: str | None, name: str) -> None:
    """They are converted when the first change comes, and leave as they were."""
    places = [None, *range(len(TYPES[name][1]))]
    plain = ingest("p", table(name, [(at, at and at - 1, 1) for at in range(len(places))]), tmp_path / "p")
    rows = plain.read(0, len(places))
    in_json = {"decimal": pa.string(), "fraction": pa.string(), "timestamp": pa.int64(), "date": pa.int32()}
    values = rows["v"].cast(in_json.get(name, rows["v"].type)).to_pylist()
    texts = [json.dumps([at, value, 1], separators=(",", ":"), ensure_ascii=False) for at, value in enumerate(values)]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE current (key TEXT PRIMARY KEY, row TEXT, copies INTEGER NOT NULL) WITHOUT ROWID")
        entries = [
            (f"[{at}]" if key else text, text if key else None, 1 if key else 2) for at, text in enumerate(texts)
        ]
        database.executemany("INSERT INTO current VALUES (?, ?, ?)", entries)
        deletes = pa.array(["delete"] * 2 * len(places))
        twice = pa.concat_tables([rows, rows]).append_column(CHANGE_TYPE, deletes)
        current = CurrentRows(database, log_schema(plain.columns), declared({"changes": "cdf", "key": key}))
        taken, rejected = current.apply(twice, np.arange(twice.num_rows))
        assert len(rejected) == (len(places) if key else 0)
        assert [*map(bits, taken["v"].to_pylist())] == [*map(bits, rows["v"].to_pylist())] * (1 if key else 2)
        assert database.execute("SELECT count(*) FROM current").fetchone() == (0,)
        # A version that knows the old relation alone fails instead of taking all rows for new ones.
        with pytest.raises(sqlite3.OperationalError, match="no such column: row"):
            database.execute("SELECT key, row, copies FROM current")
