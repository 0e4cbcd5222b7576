"""Stores: a file is there whole or not at all, and of several writers of a name one is first."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from servers import object_store

from workbench.files.store import FolderStore, ObjectStore, Store, store_at


@pytest.fixture(scope="module", params=["folder", "objects"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("store")
    if request.param == "folder":
        yield FolderStore(folder)
    else:
        with object_store(folder) as address:
            yield ObjectStore(f"{address}/session")


def test_what_is_put_is_there(store: Store) -> None:
    data = os.urandom(7_000_000)
    store.put("packs/a.arrow", data)
    store.put("packs/b.arrow", memoryview(b"b"))
    store.put("packs/empty", b"")
    assert store.get("packs/a.arrow") == data and store.get("packs/empty") == b""
    assert store.get("packs/a.arrow", 5) == data[5:] and store.get("packs/a.arrow", 5, 100) == data[5:105]
    there = {each.name: each for each in store.names("packs")}
    assert {name: each.bytes for name, each in there.items()} == {
        "packs/a.arrow": len(data), "packs/b.arrow": 1, "packs/empty": 0,
    }  # fmt: skip
    assert {each.name for each in store.names()} >= there.keys() and [*store.names("elsewhere")] == []
    assert there["packs/a.arrow"].written > 1_700_000_000
    store.remove(["packs/a.arrow", "packs/b.arrow", "packs/was never there"])
    store.remove([])
    assert [each.name for each in store.names("packs")] == ["packs/empty"]
    for ask in (lambda: store.get("packs/a.arrow"), lambda: store.get("packs/a.arrow", 1, 2)):
        with pytest.raises(FileNotFoundError):
            ask()


def test_one_of_several_writers_is_first(store: Store) -> None:
    start = threading.Barrier(4)

    def race(writer: int, number: int) -> bool:
        start.wait()
        return store.put_first(f"commits/{number}", b"by %d" % writer)

    with ThreadPoolExecutor(4) as pool:
        for number in range(3):
            (first,) = [writer for writer, won in enumerate(pool.map(race, range(4), [number] * 4)) if won]
            assert store.get(f"commits/{number}") == b"by %d" % first
            assert store.put_first(f"commits/{number}", b"by %d" % first)  # its answer was lost
            assert not store.put_first(f"commits/{number}", b"by nobody")
    assert len([*store.names("commits")]) == 3


def test_a_store_that_is_not_there_says_so(tmp_path: Path) -> None:
    pytest.importorskip("obstore")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ENDPOINT_URL", "ALLOW_HTTP", "REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
            patch.delenv(f"AWS_{name}", raising=False)
        with pytest.raises(ValueError, match="is no object store that obstore knows"):
            ObjectStore("nothing://bucket")


def test_a_store_is_asked_by_who_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An analyst who has set her credentials tries again."""
    pytest.importorskip("obstore")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    with pytest.raises(OSError, match="does not give or take"):
        store_at("s3://argus/again").put("a", b"a")
    monkeypatch.undo()
    with object_store(tmp_path) as address:
        store_at(f"{address}/again").put("a", b"a")
        assert store_at(f"{address}/again").get("a") == b"a"
