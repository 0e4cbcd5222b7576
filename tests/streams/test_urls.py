"""Files at URLs, in a file system in memory, and what is said when they cannot be read."""

from __future__ import annotations

import sys
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import EnvironmentProblem, StreamError
from workbench.streams.ingest import ingest
from workbench.streams.live.sources import open_live


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
