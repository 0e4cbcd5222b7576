"""Where batches by event time end, and which of them are refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.streams.batch_spans import boundary_after, first_from
from workbench.streams.ingest import ingest
from workbench.streams.stream import Stream, replayed

HOUR = dt.timedelta(hours=1)


def at(*minutes: int | None) -> pa.Array:
    """Times by their minutes after midnight."""
    begin = dt.datetime(2020, 5, 1)
    return pa.array([None if m is None else begin + dt.timedelta(minutes=m) for m in minutes], pa.timestamp("us"))


def stream(folder: Path, moments: pa.Array, batch: object = "1h") -> Stream:
    log = ingest("s", pa.table({"n": [*range(len(moments))], "ts": moments}), folder / "log")
    return replayed(log, 0, batch, "ts")


def batches(given: Stream) -> list[list[int]]:
    taken = []
    while given.waiting:
        given, table = given.next()
        taken.append(table["n"].to_pylist())
    return taken


def test_batches_end_at_full_hours_and_pass_over_empty_ones(tmp_path: Path) -> None:
    assert batches(stream(tmp_path, at(5, 59, 60, 61, 119, 600))) == [[0, 1], [2, 3, 4], [5]]


def test_a_row_comes_with_those_before_it_where_it_is_early_or_has_no_time(tmp_path: Path) -> None:
    assert batches(stream(tmp_path, at(None, 70, None, 5, 130, 20, None))) == [[0, 1, 2, 3], [4, 5, 6]]
    assert batches(stream(tmp_path / "none", at(None, None))) == [[0, 1]]


def test_many_rows_are_looked_at_in_turn(tmp_path: Path) -> None:
    few = stream(tmp_path, at(*[1] * 40_000, *[None] * 40_000, 61))
    assert few.boundary() == boundary_after(few.log, 0, "ts", HOUR)
    assert [len(rows) for rows in batches(few)] == [80_000, 1]
    assert first_from(few.log, 0, "ts", 0) == 0


@pytest.mark.parametrize("batch", ["soon", "0s", "-1h", dt.timedelta(0), ""])
def test_what_is_no_length_of_time(tmp_path: Path, batch: object) -> None:
    with pytest.raises(StreamError, match=r"stream s: batch is .*\n.*'1h', '30 minutes'"):
        stream(tmp_path, at(1), batch)


def test_a_stream_without_times_cannot_be_cut_by_them(tmp_path: Path) -> None:
    log = ingest("s", pa.table({"n": [1, 2]}), tmp_path / "log")
    with pytest.raises(StreamError, match="has no event times"):
        replayed(log, 0, "1h")
    with pytest.raises(StreamError, match="has numbers as event times in n"):
        replayed(log, 0, "1h", "n").next()
    with pytest.raises(StreamError, match="its source is live"):
        live = ingest("s", pa.table({"n": pa.array([], pa.int64())}), tmp_path / "live").growing(durable=False)
        replayed(live, 0, "1h", "n")


def test_a_batch_of_rows_may_follow(tmp_path: Path) -> None:
    by_time = stream(tmp_path, at(5, 65, 70, 80), HOUR)
    assert by_time.batch_text == "1 hour"
    by_rows = by_time.next()[0].in_batches_of(2)
    assert (by_rows.batch_text, batches(by_rows)) == ("2", [[1, 2], [3]])
    assert batches(by_rows.in_batches_of("12 hours")) == [[1, 2, 3]]
