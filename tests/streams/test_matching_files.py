"""Which files of a folder a pattern matches: as ``glob`` finds them, but for hidden ones and those not whole yet."""

from __future__ import annotations

import os
from glob import glob
from pathlib import Path

import pytest

from workbench.streams.live.file_notes import matching_files

NAMES = (
    "a.csv",
    "b.CSV",
    "c.csv.gz",
    "d.parquet",
    "e [1].csv",
    "é.csv",
    ".h.csv",
    "_i.csv",
    "@j.csv",
    "k",
    "l.jsonl",
    "m.csv.part",
)
PATTERNS = ("*", "*.csv", "[a-c]*", "?.csv", "*[[]1].csv", "a.csv", "nothing", "*.csv*", "[!a]*.csv", "*.part", "**")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for at, name in enumerate(NAMES):
        (tmp_path / name).write_text("a\n" * at)
        os.utime(tmp_path / name, (1_000 - at // 2, 1_000 - at // 2))
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "broken.csv").symlink_to(tmp_path / "gone")
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_glob_finds_in_the_order_of_times(folder: Path, pattern: str) -> None:
    found = matching_files(f"{folder}/{pattern}")
    there = {folder / name for name in glob(pattern, root_dir=folder) if not name.startswith((".", "_"))}
    expected = {file for file in there if pattern.endswith(".part") or file.suffix != ".part"}
    assert {each.path for each in found.values()} == expected
    names = [each.name for each in found.values() if each.name != "broken.csv" and each.name != "folder.csv"]
    assert names == sorted(names, key=lambda name: (os.stat(folder / name).st_mtime_ns, name))
    for place, each in found.items():
        assert place == ("./" if each.name.startswith("@") else "") + each.name
        about = os.lstat(each.path) if each.name == "broken.csv" else os.stat(each.path)
        is_folder = each.name == "folder.csv"
        assert each.stamp == ("0 0 " if is_folder else f"{about.st_size} {about.st_mtime_ns} ")


def test_a_folder_has_its_files_of_rows_and_one_that_is_gone_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_rows = {"a.csv", "c.csv.gz", "d.parquet", "e [1].csv", "é.csv", "@j.csv", "l.jsonl"}
    assert {each.name for each in matching_files(str(folder)).values()} == {
        *of_rows,
        *("folder.csv", "link.csv", "broken.csv"),
    }
    monkeypatch.chdir(folder)
    assert [str(each.path) for each in matching_files("a.*").values()] == ["a.csv"]
    with pytest.raises(FileNotFoundError):
        matching_files(f"{folder}/gone/*.csv")
