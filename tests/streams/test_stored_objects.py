"""Objects that match a pattern are followed as files of a folder are: beside DuckDB, at a store on the loopback."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from servers import object_store

from workbench.errors import EnvironmentProblem, StreamError
from workbench.files.store import LISTED_AT_ONCE, ObjectStore
from workbench.session.live.sources import begin_live
from workbench.streams.addresses.address import shown_address
from workbench.streams.ingest import ingest
from workbench.streams.live import stored_objects
from workbench.streams.live.sources import named_source, open_live
from workbench.streams.live.stored_objects import NotNow, StoredObjects, is_object_pattern
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog, open_log
from workbench.streams.source import OpenedSource

KINDS = ("parquet", "csv", "csv.gz", "jsonl", "jsonl.gz")


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with object_store(tmp_path_factory.mktemp("weed")) as address:
        yield address


@pytest.fixture
def landing(bucket: str, request: pytest.FixtureRequest) -> Iterator[tuple[str, ObjectStore]]:
    address = f"{bucket}/{abs(hash(request.node.name))}"
    yield address, ObjectStore(address)


def followed(folder: Path, pattern: str) -> tuple[StreamLog, Any]:
    reader = open_live(pattern)
    assert reader is not None
    log = ingest("s", OpenedSource(reader.schema, iter(()), reader.inferred, reader.notes), folder)
    return begin_live(log, reader, pattern, 0, durable=False), reader


def written(kind: str, first: int, rows: int) -> bytes:
    table = pa.table({"id": range(first, first + rows), "s": [f"é{n % 7}" for n in range(rows)]})
    data = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, data)
    elif kind.startswith("csv"):
        csv.write_csv(table, data)
    else:
        data.write("\n".join(map(json.dumps, table.to_pylist())).encode())
    return gzip.compress(data.getvalue()) if kind.endswith("gz") else data.getvalue()


def rows_of(log: StreamLog) -> list[Any]:
    return [tuple(row.values()) for row in log.read(0, log.rows).to_pylist()]


@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
def test_each_object_is_read_once_also_where_a_session_is_opened_anew(
    seed: int, landing: tuple[str, ObjectStore], tmp_path: Path
) -> None:
    """Objects come in any order of names, and a reader is made anew at drawn moments, also within an object."""
    draw, (address, store) = random.Random(seed), landing
    kind, partitioned = KINDS[seed % len(KINDS)], seed >= len(KINDS)
    pattern = f"{address}/day=*/*.{kind}" if partitioned else f"{address}/*.{kind}"
    copies, count = tmp_path / "copies", 0

    def put() -> None:
        nonlocal count
        rows = draw.randint(1, 40)
        above = f"day=2026-01-{draw.randint(1, 9):02}/" if partitioned else ""
        name = f"{above}{draw.randint(0, 10**6)}.{kind}"
        data = written(kind, count, rows)
        store.put(name, data)
        (copies / name).parent.mkdir(parents=True, exist_ok=True)
        (copies / name).write_bytes(data)
        count += rows

    put()
    store.put("_SUCCESS", b"")
    store.put(f"_temporary/0/x.{kind}", written(kind, 10**9, 3))
    log, reader = followed(tmp_path / "log", pattern)
    for _ in range(12):
        match draw.randrange(4):
            case 0 | 1:
                put()
            case 2:
                reader.close()
                log, reader = open_log(log.folder), open_live(pattern, reader.schema)
        take_in(log, reader, draw.choice([3, 50, 1_000]))
    while log.rows < count:
        take_in(log, reader, 1_000)
    take_in(log, reader, 1_000)
    reader.close()
    read = "read_parquet" if kind == "parquet" else "read_csv" if kind.startswith("csv") else "read_json"
    found = f"{read}('{copies}/**/*.{kind}'{', hive_partitioning = true' if partitioned else ''})"
    expected = duckdb.sql(f"SELECT id, s{', day' if partitioned else ''} FROM {found} ORDER BY id").fetchall()
    assert sorted(rows_of(log)) == expected and not log.quarantined


PATTERNS = ("*", "*.csv", "[a-c]*", "**", "**/*.csv", "x/*", "*/*", "*/**/*.csv", "[!a]*.csv", "*[[]1].csv")
PATTERNS += ("?.csv", "?*", "x/?/*.csv", "?/a.csv", "??csv", "x?a.csv", "x=?/*.csv")
NAMES = ("a.csv", "b.CSV", "c.csv", "e [1].csv", "é.csv", ".h.csv", "_i.csv", "@j.csv", "k", "m.csv.part", "x/a.csv")
NAMES += ("x/y/a.csv", "x/.y/a.csv", "x=1/_a.csv", "y/z.parquet")


def test_a_pattern_matches_what_it_matches_in_a_folder(landing: tuple[str, ObjectStore], tmp_path: Path) -> None:
    address, store = landing
    for name in NAMES:
        store.put(name, b"n\n1\n")
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    for pattern in PATTERNS:
        there = glob(pattern, root_dir=tmp_path, recursive=True)
        expected = {n for n in there if (tmp_path / n).is_file() and "/_" not in f"/{n}" and not n.endswith(".part")}
        spelled = str(named_source(f"{address}/{pattern}", None, None, None))
        assert "?" not in spelled
        assert is_object_pattern(spelled) and shown_address(spelled) == spelled
        found = StoredObjects(spelled).look().values()
        assert {f"{each.root}/{each.name}".removeprefix(f"{address}/") for each in found} == expected, pattern


@pytest.mark.parametrize("option", ["key=1", "aws-secret=x", "a.b="])
def test_what_may_be_an_option_of_an_address_is_no_sign_of_a_pattern(option: str) -> None:
    source = named_source(f"s3://bucket/in/*.csv?{option}", None, None, None)
    assert is_object_pattern(source)
    with pytest.raises(StreamError, match=r"options of an address begin with a \?, and objects have none") as refused:
        StoredObjects(str(source))
    assert option.partition("=")[2] not in refused.value.message or option.endswith("=")


def test_an_object_that_has_the_bytes_of_one_that_was_removed_is_another(
    landing: tuple[str, ObjectStore], tmp_path: Path
) -> None:
    address, store = landing
    store.put("1.csv", b"n\n1\n")
    log, reader = followed(tmp_path / "log", f"{address}/*.csv")
    take_in(log, reader, 9)
    store.remove(["1.csv"])
    store.put("2.csv", b"n\n1\n")
    take_in(log, reader, 9)
    assert rows_of(log) == [(1,), (1,)]
    store.put("2.csv", b"n\n1\n")  # an upload that is repeated
    take_in(log, reader, 9)
    assert log.rows == 2


@pytest.mark.parametrize("restarts", [False, True])
def test_objects_that_are_gone_for_long_are_forgotten(
    landing: tuple[str, ObjectStore], restarts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of them stays; one that comes again under its name brings its rows again, but not before.

    So it is also where no process ever runs for as long as that.
    """
    address, store = landing
    now = [0.0]
    monkeypatch.setattr(stored_objects.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(stored_objects.time, "time", lambda: 1.8e9 + now[0])
    for name in "123":
        store.put(f"{name}.csv", f"n\n{name}\n".encode())
    log, reader = followed(tmp_path / "log", f"{address}/*.csv")

    def looked(seconds: float) -> tuple[list[Any], set[str]]:
        nonlocal reader
        now[0] += seconds
        if restarts:
            reader.close()
            reader = open_live(f"{address}/*.csv", reader.schema)
        take_in(log, reader, 9)
        assert log.tail is not None
        places = {entry.strip("/") for entry in log.tail.offsets if entry.endswith(".csv")}
        return rows_of(log), places

    assert looked(1) == ([(1,), (2,), (3,)], {"1.csv", "2.csv", "3.csv"})
    store.remove(["1.csv", "2.csv"])
    assert looked(3_600)[1] == {"1.csv", "2.csv", "3.csv"}
    store.put("2.csv", b"n\n2\n")
    assert looked(3_600) == ([(1,), (2,), (3,)], {"1.csv", "2.csv", "3.csv"})
    assert looked(90_000) == ([(1,), (2,), (3,)], {"2.csv", "3.csv"})
    store.put("1.csv", b"n\n1\n")
    assert looked(1) == ([(1,), (2,), (3,), (1,)], {"1.csv", "2.csv", "3.csv"})
    store.remove([f"{name}.csv" for name in "123"])  # all at once: as where a bucket was emptied, or is another one
    assert looked(3_600)[1] == looked(90_000)[1] == {"1.csv", "2.csv", "3.csv"}


def test_what_is_said_of_objects_that_are_replaced_removed_or_damaged(
    landing: tuple[str, ObjectStore], tmp_path: Path
) -> None:
    address, store = landing
    store.put("a.csv", b"n\n1\n2\n3\n")
    log, reader = followed(tmp_path / "log", f"{address}/*.csv")
    take_in(log, reader, 2)
    store.remove(["a.csv"])
    with pytest.raises(StreamError, match=r"^a\.csv is gone: its rows from 3 on were not read$"):
        take_in(log, reader, 9)
    store.put("b.csv", b"n\n4\n")
    with pytest.raises(StreamError, match="is gone"):
        take_in(log, reader, 9)
    store.put("b.csv", b"n\n4\n5\n")  # written again with more at its end, as in a folder
    with pytest.raises(StreamError, match="is gone"):
        take_in(log, reader, 9)
    assert rows_of(log) == [(1,), (2,), (4,), (5,)]
    log, reader = followed(tmp_path / "other", f"{address}/b*.csv")
    take_in(log, reader, 9)
    store.put("b.csv", b"n\n9\n9\n9\n")
    with pytest.raises(StreamError, match=rf"^{address}/b\.csv was replaced or changed after 2 of its rows were read"):
        take_in(log, reader, 9)
    store.put("c.parquet", b"PAR1 is cut")
    with pytest.raises(StreamError, match=rf"^{address}/c\.parquet is cut short or damaged"):
        open_live(f"{address}/c*.parquet")


def test_a_look_is_one_request_and_all_names_are_listed_now_and_then(
    landing: tuple[str, ObjectStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = landing
    at, asked = 0.0, list[str]()
    names = [f"2026-01-01T{number:04}.csv" for number in range(2 * LISTED_AT_ONCE + 5)]

    class Listed:
        def __init__(self, address: str) -> None: ...

        def names(self, below: str = "", after: str = "") -> Iterator[Any]:
            asked.append(after)
            yield from (stored_objects.Stored(name, 4, 1.0, "e") for name in sorted(names) if name > after)

    monkeypatch.setattr(stored_objects, "ObjectStore", Listed)
    monkeypatch.setattr(stored_objects.time, "monotonic", lambda: at)
    objects = StoredObjects(f"{address}/*.csv")
    assert len(objects.look()) == len(names) and asked == [""]
    names += ["2026-01-02T0000.csv", "2026-01-01T0003b.csv"]
    assert len(objects.look()) == len(names) - 1 and asked[-1] == "2026-01-01T2004.csv"
    assert len(objects.look()) == len(names) - 1 and asked[-1] == "2026-01-02T0000.csv"
    at = 2.0
    del names[0]
    assert {each.name for each in objects.look().values()} == {*names} and asked[-1] == ""
    del names[LISTED_AT_ONCE - 1 :]
    at = 5.0
    assert len(objects.look()) == len(names)
    assert len(objects.look()) == len(names) and asked[-2:] == ["", ""]  # a thousand are one request


def test_what_cannot_be_asked(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StreamError, match=r"no file matches s3://argus/none/\*\.csv\n(.|\n)*say all its columns"):
        open_live(f"{bucket}/none/*.csv")
    with pytest.raises(NotNow, match=r"s3://gone/in cannot be listed: there is no bucket of this name"):
        open_live("s3://gone/in/*.csv")
    with pytest.raises(StreamError, match=r"options of an address begin with a \?(.|\n)*write \[!/\]"):
        open_live("s3://argus/day-?/*.csv")
    with pytest.raises(StreamError, match="names no bucket"):
        open_live("s3:///in/*.csv")
    with pytest.raises(StreamError, match="the password would be kept") as refused:
        open_live("s3://me:geheim@bucket/*.csv")
    assert "geheim" not in str(refused.value)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with pytest.raises(NotNow, match="this machine has no credentials for it"):
        open_live("s3://argus/elsewhere/*.csv")
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    with pytest.raises(EnvironmentProblem, match=r"read by obstore\n.*argus-workbench\[objectstore\]"):
        open_live("s3://argus/third/*.csv")


def test_a_store_that_fails_for_a_while_loses_nothing(
    landing: tuple[str, ObjectStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, store = landing
    for number in range(6):
        store.put(f"{number}.csv", written("csv", 3 * number, 3))
    log, reader = followed(tmp_path / "log", f"{address}/*.csv")
    copy_to, draw = ObjectStore.copy_to, random.Random(1)

    def failing(self: ObjectStore, file: Any, stored: Any) -> None:
        copy_to(self, file, stored)
        if draw.random() < 0.5:
            raise stored_objects.Refusal(stored.name, "it does not answer")

    monkeypatch.setattr(ObjectStore, "copy_to", failing)
    problems = 0
    while log.rows < 18:
        try:
            take_in(log, reader, 4)
        except StreamError as problem:
            problems += "cannot be read: it does not answer" in problem.message
    assert problems and sorted(rows_of(log)) == [(n, f"é{n % 3}") for n in range(18)] and not log.quarantined


def test_an_object_that_is_replaced_while_it_is_copied_is_looked_at_again(
    landing: tuple[str, ObjectStore], tmp_path: Path
) -> None:
    address, store = landing
    store.put("a.csv", b"n\n1\n")
    objects = StoredObjects(f"{address}/*.csv")
    ((place, found),) = objects.look().items()
    store.put("a.csv", b"n\n22\n")
    with pytest.raises(NotNow, match=r"a\.csv was removed or replaced before it was read"):
        objects.open(place, found)
    ((place, found),) = objects.look().items()
    with objects.open(place, found).open() as file:
        assert file.read() == b"n\n22\n"
    objects.close()
