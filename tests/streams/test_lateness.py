"""Rows that come later than a stream allows: found the same way however they are replayed, quarantined and counted."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.sql.algebra.types import DATE, INTEGER, TIMESTAMP, DataType
from workbench.streams import readers
from workbench.streams.ingest import ingest
from workbench.streams.lateness import lateness_of
from workbench.streams.log import open_log
from workbench.streams.stream import replayed

DAY = dt.date(2002, 1, 1)
LEAST, MOST = -(2**63), 2**63 - 1


def days(*numbers: int | None) -> pa.Table:
    values = [None if n is None else DAY + dt.timedelta(days=n) for n in numbers]
    return pa.table({"id": range(len(values)), "D": pa.array(values, pa.date32())})


@pytest.mark.parametrize(
    ("given", "type_", "allowed", "text"),
    [
        ("2 days", DATE, 2, "2 days"),
        ("1 week", DATE, 7, "7 days"),
        (dt.timedelta(days=1), DATE, 1, "1 day"),
        ("0 days", DATE, 0, "0 seconds"),
        ("2d", DATE, 2, "2 days"),
        ("90m", TIMESTAMP, 5_400_000_000, "1 hour 30 minutes"),
        ("1 hour 30 minutes", TIMESTAMP, 5_400_000_000, "1 hour 30 minutes"),
        (dt.timedelta(microseconds=1), TIMESTAMP, 1, "0:00:00.000001"),
        (5, INTEGER, 5, "5"),
        ("5000", INTEGER, 5_000, "5,000"),
    ],
)
def test_lengths_of_time(given: Any, type_: DataType, allowed: int, text: str) -> None:
    found = lateness_of(given, "T", type_)
    assert (found.time, found.allowed, str(found)) == ("t", allowed, text)


@pytest.mark.parametrize(
    ("given", "type_"),
    [
        ("soon", DATE), ("", DATE), ("36 hours", DATE), (dt.timedelta(-1), DATE), (2, DATE), (True, INTEGER),
        (-1, INTEGER), ("2 days", INTEGER), (dt.timedelta(1), INTEGER), (2.5, TIMESTAMP), ("2 fortnights", TIMESTAMP),
    ],
)  # fmt: skip
def test_what_is_no_length_is_refused(given: Any, type_: DataType) -> None:
    with pytest.raises(StreamError, match="lateness is"):
        lateness_of(given, "t", type_)


def test_lateness_needs_event_times(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="lateness without event times"):
        ingest("f", days(1), tmp_path / "log", lateness="1 day")
    assert not (tmp_path / "log").exists()


def test_a_row_is_late_behind_the_latest_before_it(tmp_path: Path) -> None:
    table = days(5, 3, 2, None, 2, 9, 7, 6, 6, 5, 9, None, 4)
    log = ingest("f", table, tmp_path / "log", time="d", lateness="2 days")
    assert log.late.tolist() == [2, 4, 7, 8, 9, 12]
    assert log.rows == 13
    assert log.on_time(0, 99)["id"].to_pylist() == [0, 1, 3, 5, 6, 10, 11]
    assert log.on_time(3, 8)["id"].to_pylist() == [3, 5, 6]
    assert [(e.line, e.row, e.text, e.reason) for e in log.quarantined][:1] == [
        (3, 2, "2,2002-01-03", "d: 2002-01-03 is more than 2 days late")
    ]
    again = open_log(log.folder)
    assert again == log
    assert again.late.tolist() == log.late.tolist()


def test_after_an_event_time_in_the_future_all_others_are_late(tmp_path: Path) -> None:
    """The clock has the latest time that came, so a source with a clock that is wrong is said to be ahead."""
    log = ingest("f", days(1, 2, 900, 3, 4), tmp_path / "log", time="d", lateness="2 days")
    assert log.on_time(0, 99)["id"].to_pylist() == [0, 1, 2] and log.late.tolist() == [3, 4]


@pytest.mark.parametrize("allowed", [0, 3, MOST])
def test_numbers_at_the_ends_of_their_range(tmp_path: Path, allowed: int) -> None:
    times = [LEAST, None, LEAST + 2, LEAST, MOST, MOST - 3, MOST - 4, 0, LEAST]
    table = pa.table({"t": pa.array(times, pa.int64())})
    log = ingest("f", table, tmp_path / "log", time="t", lateness=allowed)
    expected = [
        i for i, t in enumerate(times)
        if t is not None and any(b is not None and b - t > allowed for b in times[:i])
    ]  # fmt: skip
    assert log.late.tolist() == expected


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_batches_and_chunks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    chosen = random.Random(3)
    table = days(*(i // 3 - chosen.choice([0, 0, 1, 2, 5]) for i in range(200)))
    monkeypatch.setattr(readers, "CHUNK_ROWS", batch)  # rows of a chunk
    log = ingest("f", table, tmp_path / "log", time="d", lateness="2 days")
    latest, on_time = DAY - dt.timedelta(999), []
    for id_, day in zip(table["id"].to_pylist(), table["D"].to_pylist(), strict=True):
        if day >= latest - dt.timedelta(2):
            on_time.append(id_)
        latest = max(latest, day)
    assert 10 < 200 - len(on_time) < 190
    stream = replayed(log, 30, batch, "d")
    found = [i for part in stream.history_rows.tables() for i in part["id"].to_pylist()]
    late = stream.late_rows
    assert late == 30 - len(found)
    while stream.waiting:
        after, rows = stream.next()
        new = after.late_rows - stream.late_rows
        assert new == after.position - stream.position - rows.num_rows
        late += new
        found += rows["id"].to_pylist()
        stream = after
    assert found == on_time
    assert late == 200 - len(on_time)


def test_only_what_has_arrived_is_told(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,d\n1,2002-01-09\nx,2002-01-09\n2,2002-01-01\n3,2002-01-09\n4,2002-01-02\n")
    log = ingest(
        "f", tmp_path / "f.csv", tmp_path / "log", columns={"id": "int", "d": "date"}, time="d", lateness="1 day"
    )
    first = replayed(log, 1, 2, "d")
    assert (first.late_rows, first.quarantined_rows, [e.line for e in first.quarantined]) == (0, 1, [3])
    then = first.next()[0]
    assert (then.late_rows, then.quarantined_rows, [e.line for e in then.quarantined]) == (1, 2, [3, 4])
    assert str(then.lateness) == "1 day"
