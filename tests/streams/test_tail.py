"""The tail of a log: rows, offsets and current rows enter it in one step, and updates of tables go through it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.files.writing import checksum_of
from workbench.streams import tail as tail_module
from workbench.streams.arriving import are_in_files, as_told, files_with, told_of, without_rows
from workbench.streams.corrections.declared import EVENT, WEIGHT, corrections_of
from workbench.streams.corrections.update import update
from workbench.streams.ingest import ingest
from workbench.streams.log import StreamLog, logged_files, open_log
from workbench.streams.source import QuarantinedRow
from workbench.streams.tail import TAIL, Tail

ZIPS = pa.table({"zip": ["1", "2", "3"], "n": [1, 2, 3]})


def table(folder: Path, key: list[str] | None) -> StreamLog:
    corrections = corrections_of(None, key, None, table=True)
    return ingest("zips", ZIPS, folder / "zips", corrections=corrections, growing=True).growing(durable=True)


def rows(log: StreamLog, start: int = 3) -> list[tuple[object, ...]]:
    marks = [name for name in (EVENT,) if name in log.schema.names]
    return [(r.pop(WEIGHT, 1), *r.values()) for r in log.read(start, log.rows).drop_columns(marks).to_pylist()]


def test_rows_before_and_after(tmp_path: Path) -> None:
    log = table(tmp_path, None)
    assert log.rows == 3
    update(log, [{"zip": "4", "n": 4}, {"zip": "5", "n": None}], None)
    update(log, pa.table({"N": [6], "ZIP": ["6"]}), None)
    expected = [*ZIPS.to_pylist(), {"zip": "4", "n": 4}, {"zip": "5", "n": None}, {"zip": "6", "n": 6}]
    for either in (log, open_log(log.folder)):
        assert either.rows == 6
        for start in range(7):
            for stop in range(start, 8):
                assert either.read(start, stop).to_pylist() == expected[start:stop]


def test_rows_are_replaced_and_deleted_by_key(tmp_path: Path) -> None:
    log = table(tmp_path, ["zip"])
    update(log, [{"zip": "1", "n": 9}, {"zip": "4", "n": 4}], [{"zip": "2"}])
    assert rows(log) == [(-1, "2", 2), (-1, "1", 1), (1, "1", 9), (1, "4", 4)]
    again = open_log(log.folder)
    update(again, None, [{"zip": "1"}])
    assert rows(again, 7) == [(-1, "1", 9)]
    assert rows(log, 7) == [(-1, "1", 9)]


@pytest.mark.parametrize(
    ("changed", "delete", "message"),
    [
        ([{"zip": "7", "n": 7}, {"zip": None, "n": 1}], None, "row 2: a column of the key is NULL: zip"),
        ([{"zip": "7", "n": 7}], [{"zip": "9"}], "row 1: it takes back a row that is not there"),
        ([{"zip": "7", "n": "many"}], None, "row 1: n: 'many' is no integer"),
        ([{"zip": "7"}], None, "have no column n"),
        (None, [{"zip": "1", "m": 2}], "an unknown column m"),
    ],
)
def test_an_update_that_fails_changes_nothing(tmp_path: Path, changed: object, delete: object, message: str) -> None:
    log = table(tmp_path, ["zip"])
    with pytest.raises(StreamError, match=message):
        update(log, changed, delete)
    assert log.rows == 3
    update(log, [{"zip": "7", "n": 7}], None)
    assert rows(log) == [(1, "7", 7)]


def test_without_a_key_nothing_can_be_deleted(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="table zips has no key"):
        update(table(tmp_path, None), None, [{"zip": "1"}])


def test_offsets_and_rows_are_one_step(tmp_path: Path) -> None:
    log = table(tmp_path, None)
    assert log.tail is not None
    with log.tail.transaction():
        log.tail.append(ZIPS.cast(log.schema), [QuarantinedRow(7, "x", "why")], {"p0": "8"})
    with pytest.raises(ZeroDivisionError), log.tail.transaction():
        log.tail.append(ZIPS.cast(log.schema), [QuarantinedRow(9, "y", "why")], {"p0": "10"})
        raise ZeroDivisionError
    again = open_log(log.folder)
    assert again.tail is not None
    assert (again.rows, again.tail.offsets, again.misfits) == (6, {"p0": "8"}, 1)
    assert again.quarantined == (QuarantinedRow(7, "x", "why"),)


def test_damage_is_seen_when_rows_are_read(tmp_path: Path) -> None:
    log = table(tmp_path, None)
    update(log, ZIPS, None)
    with sqlite3.connect(log.folder / TAIL) as database:
        database.execute("UPDATE parts SET content = zeroblob(length(content))")
    with pytest.raises(StreamError, match="is damaged: its rows from 3 on"):
        log.read(0, 6)
    assert log.read(0, 3).num_rows == 3


@pytest.mark.parametrize("fields", ["1", "1\t1\t1", "1\tone", "", "\\N", None, 5, b"\xff"])
def test_a_current_row_that_is_damaged_is_no_other_row(tmp_path: Path, fields: object) -> None:
    """Also where the row beside it has as many fields too many."""
    log = table(tmp_path, ["zip"])
    with sqlite3.connect(log.folder / TAIL) as database:
        database.execute("UPDATE current SET fields = ? WHERE key = '1'", [fields])
        database.execute("UPDATE current SET fields = '2\t2\t2' WHERE key = '2'")
    with pytest.raises(StreamError, match="the current rows of a stream are damaged"):
        update(log, None, [{"zip": "1"}, {"zip": "2"}])
    assert log.rows == 3


def test_offsets_are_those_of_the_last_transaction_whoever_wrote_it(tmp_path: Path) -> None:
    tail, empty = Tail(tmp_path / "tail.sqlite", 0), ZIPS.schema.empty_table()
    with tail.transaction():
        tail.append(empty, offsets={"a": "1"})
        assert tail.offsets == {"a": "1"}
    assert tail.offsets == {"a": "1"} and tail.offsets is tail.offsets, "it is read once"
    with pytest.raises(ZeroDivisionError), tail.transaction():
        tail.append(empty, offsets={"a": "2", "b": "3"})
        assert tail.offsets == {"a": "2", "b": "3"}
        raise ZeroDivisionError
    assert tail.offsets == {"a": "1"}
    other = Tail(tmp_path / "tail.sqlite", 0)
    with other.transaction():
        other.append(empty, offsets={"a": "4"})
    assert tail.offsets == other.offsets == {"a": "4"}
    tail.replace_offsets({"a": "5"})
    assert tail.offsets == {"a": "5"}


@pytest.fixture
def few_rows_are_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_module, "FILED_ROWS", 3)


@pytest.mark.usefixtures("few_rows_are_a_file")
def test_many_rows_that_come_together_are_a_file_that_tasks_read(tmp_path: Path) -> None:
    """Beside parts that are in no file; a task has the rows of files alone, and nothing else of the log."""
    chance, log, expected = Random(3), table(tmp_path, None), ZIPS.to_pylist()
    for at in range(20):
        some = [{"zip": f"{at}", "n": n} for n in range(chance.choice([1, 2, 3, 7]))]
        update(log, pa.Table.from_pylist(some), None)
        expected += some
    by_tasks = 0
    for either in (log, open_log(log.folder)):
        for _ in range(80):
            start = chance.randrange(len(expected))
            positions = range(start, chance.randint(start, len(expected)))
            assert either.read(positions.start, positions.stop).to_pylist() == expected[start : positions.stop]
            if are_in_files(either, positions):
                told = as_told(without_rows(either), json.loads(json.dumps(told_of(either, positions))))
                assert told.table().to_pylist() == expected[start : positions.stop]
                by_tasks += len(positions) > 3
    assert by_tasks > 3
    assert len([*log.folder.glob("later-*.parquet")]) == len(files_with(log, range(3, log.rows))) > 3
    (file, *_) = files_with(log, range(3, log.rows))
    assert logged_files(log.folder)[file.path.name] == file.checksum == checksum_of(file.path)
    file.path.unlink()
    with pytest.raises(StreamError, match=f"its stored rows cannot be read from {file.path}"):
        log.read(0, log.rows)


@pytest.mark.usefixtures("few_rows_are_a_file")
def test_a_file_whose_transaction_is_undone_goes(tmp_path: Path) -> None:
    log = table(tmp_path, None)
    assert log.tail is not None
    with pytest.raises(ZeroDivisionError), log.tail.transaction():
        log.tail.append(ZIPS.cast(log.schema))
        raise ZeroDivisionError
    assert not [*log.folder.glob("later-*")]
    update(log, ZIPS, None)
    (log.folder / "later-of-a-process-that-ended.parquet").touch()
    assert [path.name for path in log.left_over(log.folder.iterdir())] == ["later-of-a-process-that-ended.parquet"]
