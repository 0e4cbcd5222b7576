"""What a worker has of a store: within its bytes, by least recent use, and never other bytes than were written."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from zlib import crc32

import pytest

from workbench.files.cache import CHECKSUMS, LocalCache
from workbench.files.packs import bytes_of, check_cached, local_extent
from workbench.files.shared import all_stored, present, share_here
from workbench.files.writing import checksum_of

LATE_SECONDS = "workbench.files.shared._SHARING.late_seconds"


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a store, which a worker of some driver has with a cache of 1,000 bytes."""
    (disk := tmp_path / "disk").mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(disk))
    store = tmp_path / "store"
    monkeypatch.setattr(LATE_SECONDS, 0.0)
    share_here(f'["/driver/{tmp_path.name}", "file://{store}", 1000]')
    return store


def named(worker: Path, name: str) -> str:
    return f"/driver/{worker.parent.name}/{name}"


def test_files_that_were_not_used_the_longest_go(worker: Path) -> None:
    (worker / "state").mkdir(parents=True)
    for at in range(12):
        (worker / "state" / f"{at}.arrow").write_bytes(bytes(100))
    here = [present(named(worker, f"state/{at}.arrow")) for at in range(9)]
    for at, file in enumerate(here):
        os.utime(file, (at, at))
    os.utime(here[0], (99, 99))  # it was used again
    assert all(map(os.path.exists, here))
    late = [present(named(worker, f"state/{at}.arrow")) for at in (9, 10, 11)]
    assert [os.path.exists(file) for file in here] == [True, False, False, *[True] * 6]
    assert all(map(os.path.exists, late))
    assert present(named(worker, "state/1.arrow")) == here[1] and os.path.exists(here[1]), "it is fetched again"


def test_a_file_that_is_shown_late_is_awaited(worker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = worker / "state" / "a.arrow"
    threading.Timer(0.2, lambda: (file.parent.mkdir(parents=True), file.write_bytes(b"late"))).start()
    assert Path(present(named(worker, "state/a.arrow"))).read_bytes() == b"late"
    of_no_store = worker.parent / "b.arrow"
    threading.Timer(0.2, lambda: of_no_store.write_bytes(b"late")).start()
    assert present(str(of_no_store)) == str(of_no_store) and of_no_store.read_bytes() == b"late"
    monkeypatch.setattr(LATE_SECONDS, 0.1)
    for path in (named(worker, "state/c.arrow"), str(worker.parent / "c.arrow")):
        with pytest.raises(FileNotFoundError):
            present(path)


def test_what_a_worker_writes_counts_and_is_stored_first(worker: Path) -> None:
    local = present(named(worker, "state/7.index"))  # an index is never stored, nor fetched
    for at in range(12):
        file = Path(local).with_name(f"{at}.arrow")
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(bytes(100))
        all_stored([named(worker, f"state/{at}.arrow")])
    assert sum(file.stat().st_size for file in Path(local).parent.iterdir()) <= 1_000
    assert sorted(file.name for file in (worker / "state").iterdir()) == sorted(f"{at}.arrow" for at in range(12))


def test_other_bytes_are_fetched_again_or_refused(worker: Path) -> None:
    (worker / "state").mkdir(parents=True)
    (worker / "state" / "a.arrow").write_bytes(b"as it was written")
    path = named(worker, "state/a.arrow")
    CHECKSUMS.tell(path, checksum_of(worker / "state" / "a.arrow"))
    Path(present(path)).write_bytes(b"what a disk has made of it")
    check_cached(path)
    assert bytes_of(path).to_pybytes() == b"as it was written"
    CHECKSUMS.tell(f"{path}@3+2", 12_345)
    with pytest.raises(OSError, match=r"a\.arrow@3\+2 is damaged: its bytes are not those that were written"):
        check_cached(f"{path}@3+2")


def test_a_use_is_written_down_once_a_minute(tmp_path: Path) -> None:
    (file := tmp_path / "a").write_bytes(b"")
    cache = LocalCache(str(tmp_path), 1_000)
    os.utime(file, (1, 1))
    cache.use(str(file))
    assert file.stat().st_mtime > 1
    os.utime(file, (1, 1))
    cache.use(str(file))
    assert file.stat().st_mtime == 1


def test_a_large_part_of_a_pack_is_fetched_alone_and_small_ones_with_their_neighbours(worker: Path) -> None:
    place, data = worker / "state" / "packs" / "7.arrow", os.urandom(3_500_000)
    place.parent.mkdir(parents=True)
    place.write_bytes(data)
    pack = named(worker, "state/packs/7.arrow")
    share_here(f'["/driver/{worker.parent.name}", "file://{worker}", 100000000]')
    parts = [(64, 1_000), (2_000, 1_000), (1_048_000, 1_000), (700_032, 2_000_000), (3_400_000, 100_000)]
    for first, size in parts:
        path = f"{pack}@{first}+{size}"
        CHECKSUMS.tell(path, crc32(data[first : first + size]))
        check_cached(path)
        assert bytes_of(path).to_pybytes() == data[first : first + size]
    folder = Path(local_extent(path).file).parent
    names = {"7.0+1048576.arrow", "7.0+2097152.arrow", "7.700032+2000000.arrow", "7.3145728+1048576.arrow"}
    assert {file.name for file in folder.iterdir()} == names
    (folder / "7.700032+2000000.arrow").write_bytes(b"what a disk has made of it")
    check_cached(f"{pack}@700032+2000000")
    assert bytes_of(f"{pack}@700032+2000000").to_pybytes() == data[700_032:2_700_032]
