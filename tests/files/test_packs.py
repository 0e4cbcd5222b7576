"""Packs: small files of a batch are one, which is read in parts, collected as a whole, and compacted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage.indexes.key_index import Key, KeyRanges, candidates, key_hashes
from workbench.engine.storage.segments import Segment, check_segments, write_segments
from workbench.errors import EngineError
from workbench.files import store as stores
from workbench.files.journal import Journal
from workbench.files.mapped import MappedFiles
from workbench.files.packs import PACKING, bytes_checksum, file_of, length_of
from workbench.files.shared import share_folder, unshare_folder
from workbench.files.store import FolderStore
from workbench.limits import SESSION_LIMITS, Limits

ROWS = 40


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    PACKING.begin(str(tmp_path))
    yield tmp_path
    PACKING.end(str(tmp_path))


def written(folder: Path, first: int = 0) -> Segment:
    (segment,) = write_segments(pa.table({"k": range(first, first + ROWS)}), folder)
    return segment


def values(mapped: MappedFiles, segment: Segment) -> list[int]:
    return list(mapped.batch(segment.path).column("k").to_pylist())


def test_a_look_for_removed_files_keeps_parts_that_are_not_written_yet(state: Path) -> None:
    segment = written(state / "a")
    mapped = MappedFiles()
    rows = mapped.batch(segment.path)
    mapped.look()
    assert mapped.batch(segment.path) is rows


def test_parts_are_read_before_and_after_they_are_written(state: Path) -> None:
    segments = [written(state / name, first) for first, name in enumerate("abc")]
    assert not any(state.iterdir()) and len({segment.file for segment in segments}) == 1
    for _ in ("waiting", "written"):
        for first, segment in enumerate(segments):
            assert values(MappedFiles(), segment) == list(range(first, first + ROWS))
            assert bytes_checksum(segment.path) == segment.checksum and segment.bytes == length_of(segment.path)
        check_segments(segments)
        PACKING.seal()
    assert [str(path) for path in state.rglob("*.arrow")] == [segments[0].file]
    assert written(state / "a").file != segments[0].file, "a pack is written once"


def test_what_is_dropped_is_never_written(state: Path) -> None:
    dropped = written(state / "a")
    PACKING.drop(str(state))
    PACKING.seal()
    assert not any(state.iterdir())
    with pytest.raises(FileNotFoundError):
        MappedFiles().batch(dropped.path)


def test_only_folders_of_a_collected_one_have_packs(state: Path) -> None:
    assert "@" in written(state / "a").path
    assert "@" not in written(state / "aside" / "a").path
    with PACKING.collecting():
        assert file_of(written(state / "aside" / "a").path).startswith(str(state / "aside" / "packs"))


def test_a_damaged_part_is_told_from_the_others(state: Path) -> None:
    first, second = written(state / "a"), written(state / "b", 7)
    PACKING.seal()
    data = bytearray(Path(first.file).read_bytes())
    data[-200] ^= 1
    Path(first.file).write_bytes(data)
    check_segments([first])
    with pytest.raises(EngineError, match="is damaged"):
        check_segments([second])


class Gated(FolderStore):
    """A store that takes files when it may, but for those of a folder that is broken."""

    may, broken = threading.Event(), ""

    def put(self, name: str, data: Any) -> None:
        assert Gated.may.wait(120)
        if self.folder.name == Gated.broken:
            raise OSError("the store is full")
        super().put(name, data)


@pytest.fixture
def gated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """The states of two sessions, each with a store of its name."""
    monkeypatch.setattr(stores, "FolderStore", Gated)
    monkeypatch.setattr(Gated, "may", threading.Event())
    folders = {name: tmp_path / "here" / name for name in ("one", "other")}
    for name, folder in folders.items():
        folder.mkdir(parents=True)
        share_folder(folder, f"file://{tmp_path}/{name}", Journal(FolderStore(tmp_path / name), folder))
        SESSION_LIMITS.set(str(folder), Limits(bytes_per_part=0))
        PACKING.begin(str(folder))
    yield folders
    for folder in folders.values():
        PACKING.end(str(folder))
        SESSION_LIMITS.forget(str(folder))
        unshare_folder(folder)


def test_work_goes_on_while_a_store_takes_files_and_a_seal_waits_for_it(gated: dict[str, Path], tmp_path: Path) -> None:
    def written_file() -> Segment:
        (segment,) = write_segments(pa.table({"k": range(ROWS)}), gated["one"] / "a", Limits(bytes_per_part=0))
        return segment

    files = [written_file().file for _ in range(3)]
    assert not list((tmp_path / "one").rglob("*.arrow"))
    Path(files[0]).unlink()  # merged with others at once
    sealing = threading.Thread(target=PACKING.seal, args=(str(gated["one"]),))
    sealing.start()
    sealing.join(0.1)
    assert sealing.is_alive()
    Gated.may.set()
    sealing.join(120)
    assert {path.name for path in (tmp_path / "one").rglob("*.arrow")} == {Path(file).name for file in files}


def test_a_store_that_takes_nothing_is_told_to_its_session_alone_until_it_drops_it(
    gated: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Gated, "broken", "other")
    Gated.may.set()
    for folder in gated.values():
        written(folder / "a")
    PACKING.seal(str(gated["one"]))
    for _ in range(2):
        with pytest.raises(OSError, match="the store is full"):
            PACKING.seal(str(gated["other"]))
    PACKING.drop(str(gated["other"]))
    PACKING.seal(str(gated["other"]))


def test_indexes_of_parts_are_no_files(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(rows_indexed_in_memory=0))
    hashes, _ = key_hashes([pa.array([3])])
    found = [
        [rows.tolist() for _, rows in candidates(written(state / "a", first).path, Key(("k",)), KeyRanges(hashes), 9)]
        for first in (0, 2)
    ]
    assert found == [[[3]], [[1]]] and not any(state.iterdir())


def test_much_that_waits_is_written(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(bytes_per_pack=1000))
    assert len({written(state / "a").file for _ in range(6)}) > 1
    assert any(state.rglob("*.arrow"))


def test_limits_are_those_of_the_session_that_a_file_is_of(state: Path) -> None:
    folders = [state / name for name in ("small", "large")]
    try:
        for folder, most in zip(folders, (1, 10**6), strict=True):
            SESSION_LIMITS.set(str(folder), Limits(bytes_per_pack=most, bytes_read_in_process=most))
            PACKING.begin(str(folder))
        segments = {folder: [written(folder / "a", first) for first in range(5)] for folder in folders}
        PACKING.seal()
        assert [len({one.file for one in segments[folder]}) for folder in folders] == [5, 1]
        mapped = MappedFiles()
        for one in [*segments[folders[1]], *segments[folders[0]]]:
            mapped.batch(one.path)
        assert len(mapped) == 2, "the last file of one session, and the only one of the other"
    finally:
        for folder in folders:
            PACKING.end(str(folder))
            SESSION_LIMITS.forget(str(folder))


def test_parts_in_memory_are_bounded(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = [written(state / "a", first) for first in range(9)]
    PACKING.seal()
    segments += [written(state / "a", first) for first in range(9)]
    PACKING.seal()
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(bytes_read_in_process=9 * segments[0].bytes))
    mapped = MappedFiles()
    for _ in range(2):
        for segment in segments:
            mapped.batch(segment.path)
        assert len(mapped) == 1


def test_a_batch_writes_one_file_and_what_is_not_needed_goes() -> None:
    rows = pa.table({"id": range(400), "g": [i % 7 for i in range(400)]})
    files: list[int] = []
    # No state after an earlier batch needs files of its own.
    with Session(InProcess(), limits=Limits(states_kept=0)) as session:
        session.add_stream("t", rows, history=40, batch=1)
        for number in range(2, 8):
            session.register(f"SELECT g % {number} AS k, COUNT(*) AS n FROM t GROUP BY g % {number}", f"q{number}")
        for _ in range(40):
            before = set((session.path / "state").rglob("*.arrow"))
            session.run(1)
            after = set((session.path / "state").rglob("*.arrow"))
            assert len(after - before) == 1
            files.append(len(after))
        assert {str(path) for path in after} == session.parts.store.state.engine.files
        session.parts.jobs.limits = Limits(
            bytes_empty_in_packs=0, percent_needed_in_packs=99, batches_between_compactions=1, states_kept=0
        )
        session.run(1)
        assert len([*(session.path / "state").rglob("*.arrow")]) < files[-1]
        session.run(5)
        for number in range(2, 8):
            counted = sorted(map(tuple, session.query(f"q{number}").result().to_numpy().tolist()))
            assert counted == [(k, sum(i % 7 % number == k for i in range(86))) for k in range(min(number, 7))]
        assert session.check().whole
