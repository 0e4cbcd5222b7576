"""What sinks ask of a store, which is paid by requests and bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from workbench.errors import SessionError
from workbench.files.store import FolderStore
from workbench.session.sinks import delta
from workbench.session.sinks.delta import DeltaTarget
from workbench.session.sinks.folder import FolderTarget


def changes(columns: int, rows: int) -> pa.Table:
    values = {f"c{number:0100}": pa.array(range(rows)) for number in range(columns)}
    return pa.table({"weight": pa.repeat(1, rows), **values})


@pytest.mark.parametrize(("columns", "rows"), [(2, 200_000), (2, 1), (600, 2_000)], ids=["long", "short", "wide"])
def test_of_the_last_file_of_a_folder_the_end_is_read(
    columns: int, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, read, got = FolderTarget(tmp_path / "out"), FolderStore.get, list[int]()
    first.begin("one", [])
    first.write("q", 7, changes(columns, rows))
    (file,) = (tmp_path / "out").glob("*.parquet")

    def counted(store: FolderStore, *asked: Any) -> bytes:
        got.append(len(data := read(store, *asked)))
        return data

    monkeypatch.setattr(FolderStore, "get", counted)
    assert FolderTarget(tmp_path / "out").begin("one", []) == 7
    assert len(got) <= 2 and sum(got) <= min(file.stat().st_size, 66_000) + 400_000 * (columns > 100)
    assert file.stat().st_size > 300_000 or rows == 1
    with pytest.raises(SessionError, match="has what another sink has sent"):
        FolderTarget(tmp_path / "out").begin("another", [])


def test_a_store_is_not_asked_in_each_batch_whether_there_is_a_delta_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("deltalake")
    asked, is_there = list[str](), delta.is_delta_table

    def counted(place: str) -> bool:
        asked.append(place)
        return is_there(place)

    monkeypatch.setattr(delta, "is_delta_table", counted)
    target = DeltaTarget(str(tmp_path / "t"))
    assert target.begin("one", []) is None
    for batch in range(1, 4):
        target.write("q", batch, changes(1, 3))
    assert len(asked) == 2  # to begin, and before one is made
    assert DeltaTarget(str(tmp_path / "t")).begin("one", []) == 3
    with pytest.raises(SessionError, match="has what another sink has sent"):
        DeltaTarget(str(tmp_path / "t")).begin("another", [])
    (tmp_path / "t").rename(tmp_path / "moved")
    with pytest.raises(Exception, match="t"):  # it is begun anew then
        target.write("q", 4, changes(1, 3))
    assert target.begin("one", []) is None
    target.write("q", 4, changes(1, 3))
