"""Schemas that drift, over every way in: records go on, what is new is kept with them, and the stream says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from servers import Broker
from streams.odd_sources import Files, Generated, Lines, OddSource, Polled, Reading, Row, Topic

from workbench.sql.algebra.column_names import stored_name
from workbench.streams.added_columns import AddedColumn
from workbench.streams.live.puller import Puller
from workbench.streams.log import StreamLog

PLAIN: Row = {"id": 0, "n": 1, "s": "a"}
NESTED: Row = {**PLAIN, "p": {"x": 1}, "l": [{"x": 1}]}


class CsvFiles(Files):
    def write(self, file: Path, *rows: Row) -> None:
        pd.DataFrame([*rows]).to_csv(file, index=False)


class Tables(Generated):
    def put(self, record: Any) -> None:
        super().put(pa.Table.from_pylist([record]))


class Frames(Generated):
    def put(self, record: Any) -> None:
        super().put(pd.DataFrame([record]))


class PolledTable(Polled):
    def put(self, record: Any) -> None:
        self.execute("DROP TABLE t")
        self.execute(f"CREATE TABLE t ({', '.join(record)})")
        self.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(record))})", *record.values())


class Envelopes(Generated):
    def put(self, record: Any) -> None:
        super().put({"op": "c", "before": None, "after": record})


@pytest.fixture(scope="module")
def broker() -> Broker:
    return Broker()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Puller.want, "__defaults__", (0.02,))


WAYS: dict[str, tuple[Callable[[Path, Any], OddSource], Row]] = {
    "csv": (lambda folder, broker: CsvFiles(folder, "csv"), PLAIN),
    "jsonl": (lambda folder, broker: Files(folder, "jsonl"), NESTED),
    "parquet": (lambda folder, broker: Files(folder, "parquet"), NESTED),
    "topic": (lambda folder, broker: Topic(broker, folder.name), NESTED),
    "socket": (lambda folder, broker: Lines(), NESTED),
    "dicts": (lambda folder, broker: Generated(), NESTED),
    "tables": (lambda folder, broker: Tables(), NESTED),
    "frames": (lambda folder, broker: Frames(), PLAIN),
    "polled": (lambda folder, broker: PolledTable(folder), PLAIN),
    "upserts": (lambda folder, broker: Generated(changes="upsert", key=["id"]), NESTED),
    "envelopes": (lambda folder, broker: Envelopes(changes="debezium", key=["id"]), NESTED),
    "envelopes without a key": (lambda folder, broker: Envelopes(changes="debezium"), NESTED),
}

Change = Callable[[Row], Row]
DRIFTS: dict[str, tuple[Change, Row | None, str]] = {
    "new": (lambda row: row | {"note": "x"}, {"note": "x"}, "new: note (string), since then, 2 rows"),
    "a number": (lambda row: row | {"fee": 1.25}, {"fee": "1.25"}, "new: fee (double), since then, 2 rows"),
    "in other letters": (lambda row: {n.upper() if n == "s" else n: v for n, v in row.items()}, {"s": "a"}, ""),
    "gone": (lambda row: {n: v for n, v in row.items() if n != "s"}, {"s": None}, "gone: s, NULL"),
    "the same number": (lambda row: row | {"n": 2.0}, {"n": 2}, ""),
    "a fraction": (lambda row: row | {"n": 2.5}, None, "n: "),
    "a text": (lambda row: row | {"n": "many"}, None, "n: "),
    "no values": (lambda row: row | {"n": None}, {"n": None}, ""),
    "in another order": (lambda row: dict(reversed(row.items())), {"s": "a"}, ""),
}  # fmt: skip
WITHIN: dict[str, tuple[Change, Row | None, str]] = {
    "a field": (lambda row: row | {"p": {"x": 1, "y": "b"}}, {"p.y": "b"}, "new: p.y (string), since"),
    "a field of elements": (lambda row: row | {"l": [{"x": 1}, {"x": 2, "y": 7}]}, {"l.y": "[null, 7]"}, "new: l.y"),
    "a field less": (lambda row: row | {"p": {}}, {"s": "a"}, ""),
    "an object": (lambda row: row | {"q": {"z": [1.5]}}, {"q": '{"z": [1.5]}'}, "new: q (struct"),
}  # fmt: skip
NOT_THERE = {("tables", "a field less"), ("parquet", "a field less")}
"""Arrow has no struct without fields."""


def columns(log: StreamLog, *names: str, declared: str = "string") -> list[Row]:
    """The rows of a log, as its stream would have them with more columns."""
    own = dict(log.source_columns)
    stored = [*map(stored_name, names)]
    log = replace(log, added=tuple(AddedColumn(name, declared) for name in names if stored_name(name) not in own))
    rows = log.read(0, log.rows, ["id", *stored]).rename_columns(["id", *names])
    found: list[Row] = rows.to_pylist()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_drift(tmp_path: Path, broker: Broker, way: str) -> None:
    """After each drift, half of which comes after the session was opened again, the source gives rows as before."""
    made, plain = WAYS[way]
    source = made(tmp_path, broker)
    source.good = lambda number: source.put(plain | {"id": number})  # type: ignore[method-assign]
    reading, last, quarantined, notes = Reading(tmp_path, source), 0, 0, list[str]()
    reading.take_in()
    for drift, (change, expected, said) in (DRIFTS | (WITHIN if plain is NESTED else {})).items():
        if (way, drift) in NOT_THERE:
            continue
        # A record may lack what is NULL: it is said of ten.
        first, count = last + 1, 10 if drift == "gone" else 2
        for last in range(first, first + count):
            source.put(change(plain | {"id": last}))
            if way == "polled" or last == first + count // 2 - 1:
                take_in_until(reading, last, quarantined + last - first)
            if last == first + count // 2 - 1:
                reading.reopen()
        take_in_until(reading, last, quarantined + count - 1)
        source.good(last := last + 1)
        take_in_until(reading, last, quarantined + count)
        assert not reading.problem, (drift, reading.problem)
        new = [found for found in (one.text("then") for one in reading.log.drifts) if found not in notes]
        if expected is None:
            quarantined += count
            assert all(said in reason for reason in reading.reasons[-count:]), (drift, reading.reasons)
            assert not {*range(first, last)} & {*reading.ids} and not new, drift
        else:
            rows = [row for row in columns(reading.log, *expected) if first <= row["id"] < last]  # type: ignore[operator]
            assert rows == [{"id": number, **expected} for number in range(first, last)], (drift, reading.reasons)
            assert len(new) == bool(said) and (not said or new[0].startswith(said)), (drift, new)
        assert len(reading.reasons) == quarantined, (drift, reading.reasons)
        notes += new
    reading.close()
    source.close()


def take_in_until(reading: Reading, last: int, quarantined: int) -> None:
    reading.until(lambda: last in reading.ids or len(reading.reasons) > quarantined, 10)
