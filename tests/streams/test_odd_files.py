"""No file stops a folder that grows: one that cannot be read is quarantined and said, and no row is there twice."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streams.odd_sources import Files, Reading
from streams.test_odd_inputs import LINES, goes_on

from workbench.sql.algebra.types import decimal
from workbench.streams.files import json_lines
from workbench.streams.files.json_records import as_record
from workbench.streams.live.sources import open_live
from workbench.streams.log import open_log
from workbench.streams.stream import replayed

ENDINGS = ("parquet", "csv", "jsonl")


def empty(file: Path) -> None:
    file.touch()


def folder(file: Path) -> None:
    file.mkdir()


def broken_link(file: Path) -> None:
    file.symlink_to("nowhere")


def own_link(file: Path) -> None:
    file.symlink_to(file)


def no_file(file: Path) -> None:
    os.mkfifo(file)


def half(file: Path) -> None:
    pq.write_table(pa.table({"id": range(1_000), "s": ["a"] * 1_000}), file)
    os.truncate(file, file.stat().st_size // 2)


ODD: list[tuple[str, object, str]] = [
    *((ending, kind, reason) for ending in ENDINGS for kind, reason in (
        (empty, "is empty"), (folder, "is a folder"), (broken_link, "a link to what is not there"),
        (own_link, "a link to what is not there"), (no_file, "is no file"),
    )),
    ("parquet", half, "is cut short or damaged"),
    ("parquet", b"no Parquet", "is not a Parquet file"),
    ("parquet", lambda file: pq.write_table(pa.table({"id": ["x"], "s": ["a"]}), file), "id: 'x' is no integer"),
    ("csv", b"it,other\n9,a\n", "has none of the columns of the files before: it, other"),
    ("csv", b"\xff\xfe\n9,a\n", "cannot be read as CSV"),
    ("csv", b"x" * 10_000_000, "cannot be read as CSV"),
]  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_that_cannot_be_read(tmp_path: Path, ending: str) -> None:
    odd = [(record, reason) for end, record, reason in ODD if end == ending]
    goes_on(Files(tmp_path, ending), tmp_path, odd, problem="(and ")


def test_lines_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_JSON_LINE", 1_000_000)
    endless = (b'{"id": 9, "s": "' + b"x" * 10_000_000, "its line has more than 1,000,000 bytes")
    goes_on(Files(tmp_path, "jsonl"), tmp_path, [*LINES.values(), endless])


def test_a_value_of_csv_without_an_end(tmp_path: Path) -> None:
    source, reading = reading_of(tmp_path, "csv", 1)
    source.put(b'id,s\n2,a\n9,"' + b"x" * 9_000_000)
    reading.take_in()
    assert reading.ids[:2] == [0, 1] and "quote is not closed" in reading.reasons[0]
    ends(source, reading, reading.ids, quarantined=1)


def reading_of(tmp_path: Path, ending: str, *rows: int) -> tuple[Files, Reading]:
    """A reading that has read a file of one row, and then one of some rows."""
    source = Files(tmp_path, ending)
    reading = Reading(tmp_path, source)
    source.put(lambda file: source.write(file, *({"id": n, "s": "a"} for n in rows)))
    reading.take_in()
    assert reading.ids == [0, *rows]
    return source, reading


def ends(source: Files, reading: Reading, ids: list[int], problem: str = "", quarantined: int = 0) -> None:
    """What is read by now, and stays so: in this process, in another one, and with another file."""
    for _ in range(2):
        for _ in range(2):
            reading.take_in()
            assert reading.ids == ids, (reading.reasons, reading.problem)
            assert (problem in reading.problem) if problem else not reading.problem, reading.problem
            assert len(reading.reasons) == quarantined, reading.reasons
        reading.reopen()
    source.files = 90
    source.good(90)
    reading.take_in()
    assert reading.ids == [*ids, 90]
    reading.close()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_in_the_place_of_another(tmp_path: Path, ending: str) -> None:
    source, reading = reading_of(tmp_path, ending, 1, 2)
    source.write(source.path(), {"id": 7, "s": "a"}, {"id": 8, "s": "a"}, {"id": 9, "s": "a"})
    ends(source, reading, [0, 1, 2], "was replaced or changed after 2 of its rows were read", 1)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_the_same_size_in_the_place_of_another(tmp_path: Path, ending: str) -> None:
    source, reading = reading_of(tmp_path, ending, 1, 2)
    source.write(source.path(), {"id": 1, "s": "a"}, {"id": 3, "s": "a"})
    ends(source, reading, [0, 1, 2], "was replaced or changed", 1)


@pytest.mark.parametrize("name", ["app.log", "app.log.1"])
def test_a_log_begins_anew_under_its_name(tmp_path: Path, name: str) -> None:
    """It was cut after it was copied, or was renamed to a name that the pattern has, or has not."""
    file = tmp_path / "app.log"
    file.write_text("a\nb\n")
    reader = open_live(str(tmp_path / ("app.lo?" if name == "app.log" else "app.log*")))
    assert reader is not None
    before = reader.fetch({}, 9)
    file.rename(tmp_path / "app.log.1")
    for text in ("c\n", "d\ne\nf\n"):
        file.write_text(text)
        after = reader.fetch(before.offsets, 9)
        assert after.rows.column("line").to_pylist() == text.split() and not after.quarantined


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_is_put_back(tmp_path: Path, ending: str) -> None:
    source, reading = reading_of(tmp_path, ending, 1, 2)
    file, kept = source.path(), tmp_path / "kept"
    shutil.copy2(file, kept)
    file.write_bytes(b"")
    reading.take_in()
    assert "was replaced or changed" in reading.problem
    shutil.copy2(kept, file)
    ends(source, reading, [0, 1, 2], quarantined=1)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_is_touched_or_called_otherwise(tmp_path: Path, ending: str) -> None:
    source, reading = reading_of(tmp_path, ending, 1, 2)
    os.utime(source.path(), (77, 77))
    reading.take_in()
    source.path().rename(source.path(50))
    reading.take_in()
    source.path(50).rename(source.path(51))
    source.write(source.path(50), {"id": 5, "s": "a"})
    ends(source, reading, [0, 1, 2, 5])


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_that_are_rotated(tmp_path: Path, ending: str) -> None:
    source, reading = reading_of(tmp_path, ending, 1, 2)
    for _ in range(3):
        for number in range(source.files, 0, -1):
            source.path(number).rename(source.path(number + 1))
        source.files += 1
        source.write(source.path(1), {"id": source.files + 10, "s": "a"})
        reading.take_in()
    ends(source, reading, [0, 1, 2, 13, 14, 15])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_is_removed(tmp_path: Path, ending: str) -> None:
    source, reading = reading_of(tmp_path, ending, 1, 2)
    source.path().unlink()
    ends(source, reading, [0, 1, 2])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_which_half_was_read(tmp_path: Path, ending: str) -> None:
    source = Files(tmp_path, ending)
    reading = Reading(tmp_path, source)
    reading.take_in()
    source.put(lambda file: source.write(file, *({"id": n, "s": "a"} for n in range(1, 6))))
    reading.take_in(most=2)
    source.path().rename(source.path(8))
    reading.take_in(most=1)
    assert reading.ids == [0, 1, 2, 3]
    source.path(8).rename(tmp_path / "away")
    reading.take_in()
    assert "is gone: its rows from 4 on were not read" in reading.problem
    (tmp_path / "away").rename(source.path(8))
    ends(source, reading, [0, 1, 2, 3, 4, 5], quarantined=1)


def test_a_file_whose_name_is_like_a_mark(tmp_path: Path) -> None:
    source, reading = reading_of(tmp_path, "csv", 1)
    for number, name in enumerate(("#1", "@1", "@source", "all"), 2):
        source.write(source.folder / f"{name}.csv", {"id": number, "s": "a"})
        os.utime(source.folder / f"{name}.csv", (number, number))
    ends(source, reading, [0, 1, 2, 3, 4, 5])


def test_lines_that_are_added_to_a_file(tmp_path: Path) -> None:
    for ending in ("csv", "jsonl"):
        (tmp_path / ending).mkdir()
        source, reading = reading_of(tmp_path / ending, ending, 1, 2)
        mark = replayed(reading.log, 0, 10).quarantine_mark
        with source.path().open("a") as file:
            file.write("4,a,more\n3,a\n" if ending == "csv" else '{"id": 4\n{"id": 3, "s": "a"}\n')
        ends(source, reading, [0, 1, 2, 3], quarantined=1)
        count, (entry,) = replayed(open_log(reading.log.folder), 0, 10).quarantined_since(mark)
        assert (count, entry.reason) == (1, open_log(reading.log.folder).quarantined[-1].reason)


def test_half_a_line_that_is_completed(tmp_path: Path) -> None:
    source, reading = reading_of(tmp_path, "jsonl", 1)
    with source.path().open("a") as file:
        file.write('{"id": 2, "s"')
    reading.take_in()
    assert reading.ids == [0, 1] and len(reading.reasons) == 1
    with source.path().open("a") as file:
        file.write(': "a"}\n{"id": "x"}\n')
    ends(source, reading, [0, 1, 2], quarantined=2)


@pytest.mark.parametrize(("first", "then"), [(empty, "csv"), (half, "parquet"), (broken_link, "jsonl")])
def test_a_file_that_is_whole_later(tmp_path: Path, first: Callable[[Path], None], then: str) -> None:
    source, reading = reading_of(tmp_path, then, 1)
    source.put(first)
    reading.take_in()
    assert len(reading.reasons) == 1 and reading.problem
    source.path().unlink()
    source.write(source.path(), {"id": 2, "s": "a"})
    ends(source, reading, [0, 1, 2], quarantined=1)


@pytest.mark.slow
def test_gzip_that_is_cut(tmp_path: Path) -> None:
    source = Files(tmp_path, "jsonl.gz")
    source.write = lambda file, *rows: file.write_bytes(  # type: ignore[method-assign]
        gzip.compress(b"".join(b'{"id": %d, "s": "a"}\n' % row["id"] for row in rows))
    )
    reading = Reading(tmp_path, source)
    whole = gzip.compress(b"".join(b'{"id": %d, "s": "a"}\n' % n for n in range(1, 90_000)))
    source.put(whole[: len(whole) // 2])
    source.good(100_000)
    reading.take_in()
    assert reading.ids[0] == 0 and reading.ids[-1] == 100_000 and "end-of-stream" in reading.problem
    source.files = 1
    source.put(whole)
    reading.take_in()
    assert sorted(reading.ids) == [*range(90_000), 100_000] and not reading.problem
    reading.close()


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, reading = reading_of(tmp_path, "csv", 1)
    source.put({"id": 2, "s": "a"})
    whole = source.folder.rename(tmp_path / "away")
    reading.take_in()
    assert "No such file or directory" in reading.problem
    whole.rename(source.folder)

    def refused(file: Path, *more: object) -> object:
        raise PermissionError(13, "Permission denied", str(file))

    with monkeypatch.context() as patch:
        patch.setattr("workbench.streams.live.file_notes.checksum_of_next", refused)
        reading.take_in()
        assert "Permission denied" in reading.problem and reading.ids == [0, 1]
    source.path().touch()
    ends(source, reading, [0, 1, 2], quarantined=1)


def test_a_problem_that_is_over_is_said_until_it_is_read(tmp_path: Path) -> None:
    source, reading = reading_of(tmp_path, "csv", 1)
    whole = source.folder.rename(tmp_path / "away")
    for _ in range(2):
        reading.take_in()
        assert "No such file" in reading.problem and not reading.earlier
    whole.rename(source.folder)
    for _ in range(2):
        reading.take_in()
        assert not reading.problem and "No such file" in reading.earlier and reading.earlier.startswith("until ")
    reading.forget()
    assert not reading.earlier
    ends(source, reading, [0, 1])


def test_decimals_that_were_declared(tmp_path: Path) -> None:
    """Each file has as many digits as its writer gave it."""
    for number, digits in enumerate(("1.5", "123.456"), 1):
        column = pa.array([Decimal(digits)])
        pq.write_table(pa.table({"id": [number], "v": column}), tmp_path / f"{number}.parquet")
        os.utime(tmp_path / f"{number}.parquet", (number, number))
    reader = open_live(str(tmp_path / "*.parquet"))
    assert reader is not None
    reader.widen([("v", decimal(20, 6))])
    fetched = reader.fetch({}, 10)
    assert fetched.rows["v"].to_pylist() == [Decimal("1.5"), Decimal("123.456")] and not fetched.problem


@pytest.mark.parametrize("line", [b'{"a": "b', b'{"a": "b\x01"}', b'{"a": 1', b'{"a" 1}', b"[", b'{"a": \\}'])
def test_a_line_that_is_cut_says_where(line: bytes) -> None:
    said = as_record(line)
    assert isinstance(said, str) and re.fullmatch(r"it is no JSON: (?!.*at at).* at its character \d+", said)
