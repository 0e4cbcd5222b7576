"""A file of a folder that is read in parts: it is opened once, and gives what it gives when it is read at once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from workbench.sql.algebra.types import DOUBLE
from workbench.streams.live import file_rows
from workbench.streams.live.folder import FolderReader
from workbench.streams.live.reader import Fetched

ROWS = 3_000


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
