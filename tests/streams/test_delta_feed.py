"""The change data feed of a Delta table as a live source."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.session.live.sources import begin_live
from workbench.streams.corrections.declared import EVENT, WEIGHT, corrections_of
from workbench.streams.ingest import ingest
from workbench.streams.live import delta_feed
from workbench.streams.live.reader import Reader
from workbench.streams.live.sources import named_source, open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog, open_log
from workbench.streams.source import OpenedSource

deltalake = pytest.importorskip("deltalake")
FEED = {"delta.enableChangeDataFeed": "true"}


def written(folder: Path, rows: pa.Table, **how: Any) -> Any:
    deltalake.write_deltalake(str(folder), rows, **{"configuration": FEED} | how)
    return deltalake.DeltaTable(str(folder))


def orders(folder: Path) -> Any:
    """A table whose version 1 updates a row, and version 2 deletes one."""
    rows = pa.table({"id": [1, 2, 3], "v": ["a", "b", "c"], "n": pa.array([1, 2, 3], pa.int32())})
    table = written(folder, rows)
    table.update({"v": "'z'"}, predicate="id = 2")
    table.delete("id = 1")
    return table


def opened(source: object, schema: pa.Schema | None = None) -> Reader:
    reader = open_live(source, schema)
    assert reader is not None
    return reader


def live(folder: Path, table: Path, since: int | None = None, key: list[str] | None = None) -> tuple[StreamLog, Reader]:
    source, corrections = named_source(table, "cdf", since, None), corrections_of("cdf", key, None)
    reader = opened(source)
    log = ingest("s", OpenedSource(reader.schema, iter(())), folder / "s", corrections=corrections)
    return begin_live(log, reader, source, 0, durable=False), reader


def changes(log: StreamLog) -> list[tuple[object, ...]]:
    return [(row.pop(WEIGHT), *row.values()) for row in log.read(0, log.rows).drop_columns([EVENT]).to_pylist()]


def current(log: StreamLog) -> Counter[tuple[object, ...]]:
    found = Counter[tuple[object, ...]]()
    for weight, *row in changes(log):
        assert isinstance(weight, int)
        found[tuple(row)] += weight
    return +found


@pytest.mark.parametrize("key", [None, ["id"]])
@pytest.mark.parametrize(
    ("since", "expected"),
    [
        (None, [(1, 2, "z", 2), (1, 3, "c", 3)]),
        (0, [(1, 1, "a", 1), (1, 2, "b", 2), (1, 3, "c", 3), (-1, 2, "b", 2), (1, 2, "z", 2), (-1, 1, "a", 1)]),
        (3, []),
    ],
)
def test_versions(tmp_path: Path, since: int | None, expected: list[tuple[object, ...]], key: list[str] | None) -> None:
    """From one on, or from the rows that there are; later ones follow, each once, also by another process."""
    table = orders(tmp_path / "t")
    log, reader = live(tmp_path, tmp_path / "t", since, key)
    take_in(log, reader, 100)
    assert Counter(changes(log)) == Counter(expected) and not log.quarantined
    reader.close()
    again = open_log(log.folder)
    reader = opened(named_source(tmp_path / "t", "cdf", since, None), reader.schema)
    table.optimize.compact()
    deltalake.write_deltalake(
        str(tmp_path / "t"), pa.table({"id": [9], "v": ["n"], "n": pa.array([9], pa.int32())}), mode="append"
    )
    for _ in range(3):
        take_in(again, reader, 1)
    assert Counter(changes(again)) == Counter([*expected, (1, 9, "n", 9)]) and not again.quarantined


def test_versions_are_taken_whole(tmp_path: Path) -> None:
    orders(tmp_path / "t")
    log, reader = live(tmp_path, tmp_path / "t", 0, ["id"])
    rows = []
    for _ in range(4):
        take_in(log, reader, 1)
        rows.append(log.rows)
    assert rows == [3, 5, 6, 6] and log.tail is not None and log.tail.offsets[""] == "3"


def test_rows_that_were_there_before_the_first_version(tmp_path: Path) -> None:
    orders(tmp_path / "t")
    log, reader = live(tmp_path, tmp_path / "t", 1, ["id"])
    take_in(log, reader, 100)
    assert current(log) == Counter([(2, "z", 2)])
    assert ["it takes back a row that is not there" in entry.reason for entry in log.quarantined] == [True]


def test_a_table_whose_columns_change(tmp_path: Path) -> None:
    orders(tmp_path / "t")
    log, reader = live(tmp_path, tmp_path / "t", 0, ["id"])
    take_in(log, reader, 100)
    more = pa.table({"id": [5], "v": ["e"], "n": pa.array([5], pa.int32()), "note": ["x"]})
    deltalake.write_deltalake(str(tmp_path / "t"), more, mode="append", schema_mode="merge")
    take_in(log, reader, 100)
    assert [(drift.name, drift.type, drift.rows) for drift in log.drifts] == [("note", "string", 1)]
    deltalake.DeltaTable(str(tmp_path / "t")).update({"note": "'y'", "n": "6"}, predicate="id = 5")
    deltalake.DeltaTable(str(tmp_path / "t")).delete("id = 5 OR id = 2")
    deltalake.write_deltalake(str(tmp_path / "t"), more, mode="append", schema_mode="merge")
    take_in(log, reader, 100)
    assert current(log) == Counter([(3, "c", 3), (5, "e", 5)]) and not log.quarantined
    deltalake.write_deltalake(str(tmp_path / "t"), more.select(["id"]), mode="overwrite", schema_mode="overwrite")
    with pytest.raises(StreamError, match="version 7: rows are taken back that had v, n, which is gone"):
        take_in(log, reader, 100)
    assert log.tail is not None and log.tail.offsets[""] == "7" and not log.quarantined


def test_a_column_that_is_gone_is_null(tmp_path: Path) -> None:
    table = written(tmp_path / "t", pa.table({"id": [1], "v": ["a"]}))
    log, reader = live(tmp_path, tmp_path / "t", None, ["id"])
    take_in(log, reader, 100)
    table.delete()
    take_in(log, reader, 100)
    deltalake.write_deltalake(str(tmp_path / "t"), pa.table({"id": [2]}), mode="overwrite", schema_mode="overwrite")
    take_in(log, reader, 100)
    assert current(log) == Counter([(2, None)])


@pytest.mark.parametrize("how", ["vacuumed", "other", "shorter", "gone", "without"])
def test_what_cannot_be_followed_says_so(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_feed, "_CHECK", 0.0)
    table = orders(tmp_path / "t")
    log, reader = live(tmp_path, tmp_path / "t", 0, ["id"])
    message = {"vacuumed": "changes of version 0", "gone": "no Delta table", "without": "has no change data feed"}
    if how == "vacuumed":
        table.optimize.compact()
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    else:
        take_in(log, reader, 100)
        rmtree(tmp_path / "t")
        if how == "other":
            orders(tmp_path / "t").update({"v": "'y'"}, predicate="id = 2")
        elif how == "shorter":
            written(tmp_path / "t", pa.table({"id": [1]}))
        elif how == "without":
            written(tmp_path / "u", pa.table({"id": [1]}), configuration={})
            log, reader = live(tmp_path / "l", tmp_path / "u", 0, ["id"])
    for _ in range(2):
        with pytest.raises(StreamError, match=message.get(how, "another table than was read")):
            take_in(log, reader, 100)
    assert not log.quarantined


def test_a_table_that_is_copied(tmp_path: Path) -> None:
    """Without its changes it is a source as others: it has the rows of its newest version, also in parts."""
    orders(tmp_path / "t")
    assert ingest("t", tmp_path / "t", tmp_path / "a").read(0, 9).to_pylist() == [
        {"id": 2, "v": "z", "n": 2}, {"id": 3, "v": "c", "n": 3}
    ]  # fmt: skip
    written(tmp_path / "p", pa.table({"id": [1], "v": ["a"]}), partition_by=["v"])
    assert ingest("p", tmp_path / "p", tmp_path / "b").read(0, 9).to_pylist() == [{"id": 1, "v": "a"}]


@pytest.mark.parametrize(
    ("source", "changes_", "since", "message"),
    [
        ("a.csv", None, 3, "since goes with a Delta table"),
        ("delta:t", None, None, "changes='cdf'"),
        ("delta:t", "cdf", 9, "has no version 9"),
        ("delta:nowhere", "cdf", None, "no Delta table"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, source: str, changes_: str | None, since: int | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    orders(tmp_path / "t")
    with pytest.raises(StreamError) as refused:
        open_live(named_source(source, changes_, since, None))
    assert message in f"{refused.value.message} {refused.value.hint}"
