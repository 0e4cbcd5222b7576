"""A replay hands out every row once, in order, whatever the batch sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.streams.ingest import ingest
from workbench.streams.log import CHUNK_ROWS, StreamLog
from workbench.streams.stream import Stream, replayed, static_table


@pytest.fixture
def log(tmp_path: Path) -> StreamLog:
    return ingest("Fed", pa.table({"n": [*range(10)]}), tmp_path / "log")


def batches(stream: Stream) -> list[list[int]]:
    taken = []
    while stream.waiting:
        stream, table = stream.next()
        taken.append(table["n"].to_pylist())
    return taken


@pytest.mark.parametrize(
    ("history", "batch"), [(0, 3), (4, 3), (4, 6), (9, 1), (10, 3), (99, 3), (None, None), (0, 10)]
)
def test_history_and_batches_are_all_rows_once_and_in_order(log: StreamLog, history: Any, batch: Any) -> None:
    stream = replayed(log, history, batch)
    old = [number for table in stream.history_rows.tables() for number in table["n"].to_pylist()]
    new = batches(stream)
    assert len(old) == min(history or 0, 10)
    assert old + [number for rows in new for number in rows] == list(range(10))
    assert all(len(rows) == stream.batch for rows in new[:-1])


def test_after_the_end_batches_are_empty_and_have_the_columns(log: StreamLog) -> None:
    end, last = replayed(log, 8, 5).next()
    assert (end.waiting, last["n"].to_pylist()) == (0, [8, 9])
    again, nothing = end.next()
    assert again == end
    assert nothing.equals(log.schema.empty_table())


def test_a_batch_can_be_taken_again_and_of_any_size(log: StreamLog) -> None:
    stream = replayed(log, 2, 3)
    after, first = stream.next()
    assert stream.next() == (after, first)
    assert stream.next(1)[1]["n"].to_pylist() == [2]
    assert stream.next(0) == (stream, log.schema.empty_table())
    assert not stream.next(100)[0].waiting


def test_a_table_is_all_history(log: StreamLog) -> None:
    stream = static_table(log)
    assert not stream.waiting
    assert [table["n"].to_pylist() for table in stream.history_rows.tables()] == [list(range(10))]


def test_an_empty_stream_is_finished_at_once(tmp_path: Path) -> None:
    stream = replayed(ingest("x", pa.table({"n": pa.array([], pa.int8())}), tmp_path / "log"), 5, 5)
    assert (stream.waiting, stream.history, list(stream.history_rows.tables())) == (0, 0, [])


def test_history_comes_in_tables_of_bounded_size(tmp_path: Path) -> None:
    rows = 2 * CHUNK_ROWS + 5
    log = ingest("x", pa.table({"n": range(rows)}), tmp_path / "log")
    tables = list(replayed(log, rows - 1, 1).history_rows.tables())
    assert [table.num_rows for table in tables] == [CHUNK_ROWS, CHUNK_ROWS, 4]
    assert pa.concat_tables(tables)["n"].to_pylist() == list(range(rows - 1))


@pytest.mark.parametrize(("history", "batch"), [(-1, 1), (0, 0), (0, -3), (1.5, 1), (True, 1), (0, "3")])
def test_numbers_of_rows_that_make_no_sense_are_refused(log: StreamLog, history: Any, batch: Any) -> None:
    with pytest.raises(StreamError, match="stream Fed") as raised:
        replayed(log, history, batch)
    assert "whole number" in str(raised.value.hint)


def test_a_negative_batch_is_refused(log: StreamLog) -> None:
    with pytest.raises(StreamError):
        replayed(log).next(-1)


def test_statistics_are_of_rows_from_everywhere(tmp_path: Path) -> None:
    """A thousand rows that follow each other have a few of a hundred days; the last group of the log is a small one."""
    rows = 2 * CHUNK_ROWS + 1_000
    days = pa.array([number * 100 // rows for number in range(rows)])
    last = pa.array([number >= 2 * CHUNK_ROWS for number in range(rows)])
    stream = static_table(ingest("x", pa.table({"day": days, "last": last}), tmp_path / "log"))
    statistics = stream.statistics()
    assert statistics.rows == rows
    assert statistics.columns["day"].distinct == pytest.approx(100, rel=0.02)
    assert statistics.columns["last"].common[-1] == (True, pytest.approx(1_000 / rows, rel=0.05))


@pytest.mark.parametrize(("arrived", "counted"), [(9, 9), (100, 100), (149, 100), (150, 150), (224, 150), (225, 225)])
def test_statistics_are_taken_anew_when_there_is_half_as_much_more(tmp_path: Path, arrived: int, counted: int) -> None:
    log = ingest("x", pa.table({"n": range(300)}), tmp_path / "log")
    stream = replayed(log, min(arrived, 100), 1)
    while stream.position < arrived:
        stream, _ = stream.next(arrived - stream.position)
    assert stream.counted_rows == counted


def test_a_stream_without_rows_has_statistics(log: StreamLog) -> None:
    assert replayed(log, 0, 1).statistics().rows == 0
