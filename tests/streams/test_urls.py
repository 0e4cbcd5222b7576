"""Files at URLs are read where they are, and what is said when they cannot be read."""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import EnvironmentProblem, StreamError
from workbench.streams.ingest import Arriving, ingest
from workbench.streams.live.sources import open_live


class Store(fsspec.AbstractFileSystem):
    """An object store that counts what is asked of it, and can fail."""

    protocol = "counted"
    objects: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[int]] = []
    fails_at = 1 << 62
    gives_parts = True

    def info(self, path: str, **how: object) -> dict[str, object]:
        name = self._strip_protocol(path).lstrip("/")
        if name not in self.objects:
            raise FileNotFoundError(name)
        return {"name": name, "size": len(self.objects[name]), "type": "file"}

    def _open(self, path: str, mode: str = "rb", **how: object) -> Any:
        return _Object(self.objects[self._strip_protocol(path).lstrip("/")])


class _Object(io.BytesIO):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.size = len(data) if Store.gives_parts else None

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None and size >= 0, "the whole object is asked for"
        if self.tell() + size > Store.fails_at:
            raise RuntimeError("the connection was reset")
        data = super().read(size)
        Store.asked.append(len(data))
        return data


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> type[Store]:
    fsspec.register_implementation("counted", Store, clobber=True)
    for name, value in {"objects": {}, "asked": [], "fails_at": 1 << 62, "gives_parts": True}.items():
        monkeypatch.setattr(Store, name, value)
    return Store


ROWS = 30_000


def _written(kind: str) -> bytes:
    data = io.BytesIO()
    numbers = pa.array(range(ROWS))
    if kind == "t.parquet":
        table = pa.table({"id": numbers, "text": pa.array([f"{number:0200}" for number in range(ROWS)])})
        pq.write_table(table, data, row_group_size=3_000, compression="none", use_dictionary=False)
        return data.getvalue()
    is_csv = kind.startswith("t.csv")
    form = "{0},a{0:0200}" if is_csv else '{{"id":{0},"text":"a{0:0200}"}}'
    lines = [form.format(number) for number in range(ROWS)]
    text = ("id,text\n" * is_csv + "\n".join(lines)).encode()
    if kind.endswith(".zst"):
        return bytes(pa.compress(text, codec="zstd", asbytes=True))
    return gzip.compress(text, 1) if kind.endswith(".gz") else text


KINDS = ("t.parquet", "t.csv", "t.csv.gz", "t.csv.zst", "t.jsonl", "t.jsonl.gz")


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_is_read_in_parts_and_not_copied(
    kind: str, store: type[Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.objects[kind] = _written(kind)
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    log = ingest("t", f"counted://{kind}", tmp_path / "t")
    assert log.rows == ROWS and log.read(ROWS - 1, ROWS)["id"].to_pylist() == [ROWS - 1]
    assert sum(store.asked) < len(store.objects[kind]) + (3 << 20)  # the beginning is looked at twice
    assert max(store.asked) < len(store.objects[kind]) / 2 or len(store.objects[kind]) < 1 << 20


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_that_cannot_be_read_to_its_end_is_no_stream(kind: str, store: type[Store], tmp_path: Path) -> None:
    store.objects[kind] = _written(kind)
    store.fails_at = int(len(store.objects[kind]) * 0.9)
    with pytest.raises(StreamError, match=f"{kind} cannot be read: the connection was reset"):
        ingest("t", f"counted://{kind}", tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_a_server_that_gives_no_parts_has_its_parquet_copied(store: type[Store], tmp_path: Path) -> None:
    store.objects["t.parquet"], store.gives_parts = _written("t.parquet"), False
    assert ingest("t", "counted://t.parquet", tmp_path / "t").rows == ROWS


def test_how_much_of_a_source_is_read(store: type[Store], tmp_path: Path) -> None:
    for kind in ("t.parquet", "t.csv.gz", "t.jsonl"):
        (tmp_path / kind).write_bytes(_written(kind))
        seen: list[Arriving] = []
        ingest("t", tmp_path / kind, tmp_path / f"log-{kind}", progress=seen.append)
        shares = [one.share for one in seen]
        assert seen[-1].rows == ROWS and shares == sorted(shares)
        assert shares[0] > 0 and 0.9 < shares[-1] <= 1, kind


@pytest.fixture
def bucket() -> str:
    memory = fsspec.filesystem("memory")
    for name, first in (("b", 3), ("a", 0)):
        with memory.open(f"/trades/part-{name}.parquet", "wb") as file:
            pq.write_table(pa.table({"id": [first, first + 1, first + 2]}), file)
    memory.pipe("/trades/fees.csv", b"id,fee\n1,2.5\n")
    return "memory://trades"


def test_a_file_and_several_in_the_order_of_their_names(bucket: str, tmp_path: Path) -> None:
    assert ingest("f", f"{bucket}/fees.csv", tmp_path / "f").read(0, 9).to_pylist() == [{"id": 1, "fee": 2.5}]
    many = f"{bucket}/part-*.parquet"
    assert open_live(many) is None  # a pattern of paths would be live
    assert ingest("t", many, tmp_path / "t").read(0, 9)["id"].to_pylist() == [*range(6)]
    path = tmp_path / "t.csv"
    path.write_text("n\n7\n")
    assert ingest("p", path.as_uri(), tmp_path / "p").read(0, 9)["n"].to_pylist() == [7]


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("memory://trades/none.parquet", StreamError, "none.parquet cannot be read"),
        ("memory://trades/none-*.parquet", StreamError, "no file matches"),
        ("memory://trades/*", StreamError, "matches 3 files, fees.csv among them"),
        ("nothing://trades/a.parquet", EnvironmentProblem, "nothing"),
    ],
)
def test_what_cannot_be_read(bucket: str, tmp_path: Path, url: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ingest("s", url, tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_without_fsspec_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(EnvironmentProblem, match=r"read by fsspec\n.*argus-workbench\[urls\]"):
        ingest("s", "s3://bucket/a.parquet", tmp_path / "s")


def test_a_scheme_that_is_misspelled_is_told(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"did you mean kafka\?"):
        ingest("s", "kafak://localhost:9092/x", tmp_path / "s")
