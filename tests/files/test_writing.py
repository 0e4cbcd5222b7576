"""Files that are written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.files.writing import checksum_of, replacing, write_file


def test_a_file_is_replaced_when_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    write_file(path, b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        assert [part.name for part in tmp_path.iterdir() if not part.name.startswith(".")] == ["rows"], "it is hidden"
    assert path.read_bytes() == b"new" and file.checksum == checksum_of(path)


def test_an_error_leaves_the_old_file_and_nothing_of_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    write_file(path, b"old")
    with pytest.raises(OSError, match="no space"), replacing(path) as file:
        file.write(b"ne")
        raise OSError("no space")
    assert [file.name for file in tmp_path.iterdir()] == ["rows"] and path.read_bytes() == b"old"
