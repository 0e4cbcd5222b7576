"""A file of a folder that is read in parts: it is opened once, and gives what it gives when it is read at once."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from workbench.sql.algebra.types import DOUBLE
from workbench.streams.live import file_rows, folder
from workbench.streams.live.file_rows import FileRows
from workbench.streams.live.folder import FolderReader
from workbench.streams.live.reader import Fetched

ROWS = 3_000
SEED = int(os.environ.get("ARGUS_SEED", Random().randrange(10**6)))


def csv(ids: Sequence[int]) -> str:
    """Rows, of which some have a field too many, a line break in a value or a blank line before them."""
    lines = [
        f"{n},x,x" if n % 701 == 0 else f'{n},"a\nb"' if n % 97 == 0 else f"\n{n},c" if n % 331 == 0 else f"{n},t{n}"
        for n in ids
    ]
    return "".join(f"{line}\n" for line in lines)


def json_lines(ids: Sequence[int]) -> str:
    """Objects, of which some are none, have another member, or stand after a blank line."""
    lines = [
        "{" if n % 701 == 0 else f"\n{json.dumps({'id': n})}" if n % 97 == 0 else json.dumps({"id": n, "name": f"t{n}"})
        for n in ids
    ]
    return "".join(f"{line}\n" for line in lines)


def write(folder: Path, kind: str, ids: Sequence[int], mode: str = "w") -> None:
    header = "id,name\n" if mode == "w" else ""
    match kind:
        case "csv":
            with (folder / "a.csv").open(mode) as file:
                file.write(header + csv(ids))
        case "csv.gz":
            with gzip.open(folder / "a.csv.gz", mode + "t") as packed:
                packed.write(header + csv(ids))
        case _:
            with (folder / "a.jsonl").open(mode) as file:
                file.write(json_lines(ids))


def told(fetched: Sequence[Fetched]) -> tuple[list[tuple[object, ...]], list[tuple[int, str]]]:
    rows = [tuple(row.values()) for one in fetched for row in one.rows.select(["id", "name"]).to_pylist()]
    return rows, [(entry.line, entry.reason) for one in fetched for entry in one.quarantined]


def in_parts(reader: FolderReader, offsets: dict[str, str], most: int) -> list[Fetched]:
    found = list[Fetched]()
    while not found or found[-1].rows.num_rows:
        found.append(reader.fetch(offsets, most))
        offsets |= found[-1].offsets
    return found


@pytest.mark.parametrize("most", [1, 7, 700, ROWS - 3])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl"])
def test_parts_are_the_whole_and_the_file_is_opened_once(
    tmp_path: Path, kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = range(1, ROWS // 10 if most == 1 else ROWS)
    write(tmp_path, kind, ids)
    pattern, opened = f"{tmp_path}/*.{kind}", list[object]()
    whole = FolderReader(pattern)
    expected = told([whole.fetch({}, ROWS)])
    reader = FolderReader(pattern)
    for name in ("open_source", "open_json_lines"):
        once = getattr(file_rows, name)
        monkeypatch.setattr(file_rows, name, lambda *a, once=once, **k: (opened.append(a), once(*a, **k))[1])
    assert told(in_parts(reader, {}, most)) == expected and len(opened) == 1
    reader.close()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_rows_are_given_again_where_they_are_asked_for_again(tmp_path: Path, kind: str) -> None:
    write(tmp_path, kind, range(1, ROWS))
    reader = FolderReader(f"{tmp_path}/*.{kind}")
    first = reader.fetch({}, 1_000)
    second = reader.fetch(first.offsets, 500)
    assert told([reader.fetch(first.offsets, 500)]) == told([second])  # the batch failed, and is tried again
    assert told([reader.fetch({}, 1_000)]) == told([first])
    reader.close()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_file_that_grows_while_it_is_half_read(tmp_path: Path, kind: str) -> None:
    write(tmp_path, kind, range(1, ROWS))
    reader, offsets = FolderReader(f"{tmp_path}/*.{kind}"), dict[str, str]()
    found = [reader.fetch(offsets, 1_000)]
    offsets |= found[-1].offsets
    write(tmp_path, kind, range(ROWS, ROWS + 500), "a")
    found += in_parts(reader, offsets, 700)
    alone = FolderReader(f"{tmp_path}/*.{kind}")
    assert told(found) == told([alone.fetch({}, 2 * ROWS)])
    for opened in (reader, alone):
        opened.close()


def test_a_stream_that_is_widened_reads_on(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"id": {n}{".5" * (n > 2_000)}, "name": "x"}}\n' for n in range(ROWS)))
    reader, offsets = FolderReader(f"{tmp_path}/*.jsonl"), dict[str, str]()
    found = [reader.fetch(offsets, 1_500)]
    offsets |= found[-1].offsets
    reader.widen([("id", DOUBLE)])
    found += in_parts(reader, offsets, 500)
    assert [row[0] for row in told(found)[0]] == [n + 0.5 * (n > 2_000) for n in range(ROWS)]
    reader.close()


def test_a_half_read_file_that_is_gone_is_said(tmp_path: Path) -> None:
    write(tmp_path, "csv", range(1, ROWS))
    reader = FolderReader(f"{tmp_path}/*.csv")
    first = reader.fetch({}, 1_000)
    (tmp_path / "a.csv").unlink()
    then = reader.fetch(first.offsets, 1_000)
    assert "is gone" in then.problem and not then.rows.num_rows
    reader.close()


HOW = {
    "plain": ("utf-8", "", "\n"),
    "with a mark": ("utf-8-sig", "", "\n"),
    "below a title": ("utf-8", "Export of März 2026\n\n", "\n"),
    "of Windows": ("cp1252", "", "\r\n"),
}


@pytest.mark.parametrize("how", HOW)
def test_what_was_read_of_a_csv_file_that_grows_is_not_parsed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    encoding, title, end = HOW[how]
    random, opened = Random(SEED), list[bool]()

    def watched(*given: object) -> FileRows:
        rows = FileRows(*given)  # type: ignore[arg-type]
        opened.append(rows.source.goes_on)
        return rows

    monkeypatch.setattr(folder, "FileRows", watched)
    folders = [tmp_path / name for name in ("parts", "whole")]
    for each in folders:
        each.mkdir()
    text = (title + "id,name\n" + csv(range(ROWS))).replace("t7", "tä").replace("\n", end)
    records = re.split(rf"(?<={end})(?=\d+,|$)", text)  # a value has letters behind its line break
    file, offsets, found = folders[0] / "a.csv", dict[str, str](), list[Fetched]()
    written = 400
    file.write_bytes("".join(records[:written]).encode(encoding))
    reader = FolderReader(str(folders[0] / "*.csv"))
    while found := [*found, *in_parts(reader, offsets, random.choice([150, ROWS]))]:
        if written >= len(records):
            break
        written += random.choice([1, 3, 400, 1_500])
        file.write_bytes("".join(records[:written]).encode(encoding))
    assert opened == [False, *[True] * (len(opened) - 1)], SEED
    (folders[1] / "a.csv").write_bytes(text.encode(encoding))
    at_once = FolderReader(str(folders[1] / "*.csv")).fetch({}, 2 * ROWS)
    assert told(found) == told([at_once]), SEED


def test_a_value_that_goes_on_is_read_from_where_it_begins(tmp_path: Path) -> None:
    file, offsets = tmp_path / "a.csv", dict[str, str]()
    file.write_text('id,name\n1,a\n2,"b\n')
    reader = FolderReader(str(tmp_path / "*.csv"))
    first = in_parts(reader, offsets, 9)
    file.write_text('id,name\n1,a\n2,"b\nc"\n3,d\n')
    assert told([*first, *in_parts(reader, offsets, 9)])[0][-1] == ("3", "d")
