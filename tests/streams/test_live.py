"""Live sources: rows and offsets enter the log in one step, so nothing is lost and nothing comes twice."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import StreamError
from workbench.session.live.sources import fit_reader
from workbench.streams.corrections.declared import WEIGHT, corrections_of
from workbench.streams.ingest import ingest
from workbench.streams.live import iterator, socket_lines
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.live.puller import Puller
from workbench.streams.live.reader import Reader
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import log_fetched, take_in
from workbench.streams.log import StreamLog, open_log
from workbench.streams.source import OpenedSource


def live(folder: Path, source: object, **how: object) -> tuple[StreamLog, Reader]:
    reader = open_live(source)
    assert reader is not None
    corrections = corrections_of(**{"changes": None, "key": None, "weight": None} | how)  # type: ignore[arg-type]
    opened = OpenedSource(reader.schema, iter(()), reader.inferred)
    return ingest("s", opened, folder / "s", corrections=corrections).growing(durable=False), reader


def ids(log: StreamLog) -> list[int]:
    found: list[int] = log.read(0, log.rows).column("id").to_pylist()
    return found


def numbers(count: int) -> Iterator[dict[str, object]]:
    yield from ({"id": number, "x": number / 2} for number in range(count))


def test_an_iterator_is_read_as_far_as_it_is_needed(tmp_path: Path) -> None:
    log, reader = live(tmp_path, numbers(7))
    assert log.rows == 0 and not take_in(log, reader, 3)
    assert ids(log) == [0, 1, 2]
    assert not take_in(log, reader, 3) and take_in(log, reader, 3)
    assert ids(log) == list(range(7))
    # Another process, and the iterator from its beginning: what is in the log is not read again.
    again = open_log(log.folder)
    assert take_in(again, open_live(numbers(9)), 10)  # type: ignore[arg-type]
    assert ids(again) == list(range(9))


def test_an_iterator_of_tables_with_records_that_do_not_fit(tmp_path: Path) -> None:
    items = [
        pd.DataFrame({"id": [0, 1]}),
        pa.table({"id": [2]}),
        [{"id": 3}, {"id": "x"}, {"id": 5, "new": 1}],
        {"id": 6},
    ]
    log, reader = live(tmp_path, iter(items))
    assert take_in(log, reader, 100)
    assert ids(log) == [0, 1, 2, 3, 5, 6]
    assert [entry.line for entry in log.quarantined] == [5]
    assert [(drift.name, drift.type) for drift in log.drifts] == [("new", "integer")]
    with pytest.raises(StreamError, match="gives an int"):
        open_live(iter([1]))
    with pytest.raises(StreamError, match="gives no row"):
        open_live(iter([]))


def test_an_iterator_of_tables_beside_records(tmp_path: Path) -> None:
    """Columns have the type that all tables have that come at once, where there is one; members stay members."""
    first = pa.table({"id": pa.array([0], pa.int32()), "s": pa.array(["a"]).dictionary_encode(), "m": [Decimal("1.5")]})
    items = [
        first,
        first.set_column(0, "id", pa.array([1])).select(["m", "s", "id"]),
        {"id": 2**40, "s": "b", "m": Decimal("2.5")},
        pd.DataFrame({"id": [3.0, None], "s": [None, "c"]}),
        first.set_column(0, "id", pa.array([4])).set_column(2, "m", pa.array([Decimal("22.75")])),
        first.set_column(0, "id", pa.array(["x"])),
        pa.table({"id": [5, 6], "new": ["a", None]}),
        {"id": 7},
    ]
    log, reader = live(tmp_path, iter(items))
    while not take_in(log, reader, 2):
        pass
    assert ids(log) == [0, 1, 2**40, 3, None, 4, 5, 6, 7]
    (odd,) = log.quarantined
    assert odd.line == 7 and odd.reason.startswith("id: 'x' is no integer")
    assert [log.read(0, 9)[name].to_pylist()[:6] for name in ("s", "m")] == [
        ["a", "a", "b", None, "c", "a"], [*map(Decimal, ("1.5", "1.5", "2.5")), None, None, Decimal("22.75")]
    ]  # fmt: skip


def exits() -> Iterator[dict[str, object]]:
    """Ends as no iterator should."""
    yield {"id": 0}
    sys.exit(3)


def test_an_iterator_that_exits_says_so_and_ends_nobody_else() -> None:
    with pytest.raises(StreamError, match="the iterator raised SystemExit"):
        Puller(exits()).want(2, patience=5)


class Resumed:
    """Raises after each three rows, and goes on."""

    def __init__(self) -> None:
        self._asked = 0

    def __iter__(self) -> Resumed:
        return self

    def __next__(self) -> dict[str, object]:
        self._asked += 1
        if self._asked % 4 == 0:
            raise OSError("the shop is closed")
        if self._asked > 8:
            raise StopIteration
        return {"id": self._asked}


def fails(rows: int) -> Iterator[dict[str, object]]:
    yield from numbers(rows)
    raise OSError("the shop is closed")


@pytest.mark.parametrize("most", range(1, 8))
@pytest.mark.parametrize("rows", [1, 5, 6])
def test_what_an_iterator_raises_is_said_after_its_last_row(tmp_path: Path, rows: int, most: int) -> None:
    """Also where the rows before it are as many as batches take, and it was asked for more than they need."""
    log, reader = live(tmp_path, fails(rows))
    said, ended = list[str](), False
    while not ended:
        fetched = log_fetched(log, reader, most)
        said, ended = [*said, fetched.problem], fetched.ended
    assert ids(log) == [*range(rows)]
    assert not any(said[:-1]) and said[-1].startswith("the iterator raised OSError: the shop is closed")


@pytest.mark.parametrize("most", range(1, 8))
def test_an_iterator_that_goes_on_after_an_error(tmp_path: Path, most: int) -> None:
    log, reader = live(tmp_path, Resumed())
    said, ended = list[str](), False
    while not ended:
        fetched = log_fetched(log, reader, most)
        said, ended = [*said, fetched.problem], fetched.ended
    assert ids(log) == [1, 2, 3, 5, 6, 7]
    assert any(said)


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_folder_that_grows(tmp_path: Path, ending: str) -> None:
    def put(name: str, first: int, rows: int, at: int) -> None:
        frame = pd.DataFrame({"id": range(first, first + rows), "s": ["é"] * rows})
        file = tmp_path / f"{name}.{ending}"
        match ending:
            case "parquet":
                pq.write_table(pa.Table.from_pandas(frame), file)
            case "csv":
                frame.to_csv(file, index=False)
            case _:
                file.write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")))
        os.utime(file, (at, at))

    pattern = str(tmp_path / f"*.{ending}")
    with pytest.raises(StreamError, match="no file matches"):
        open_live(pattern)
    put("b", 0, 5, at=1)
    log, reader = live(tmp_path, pattern)
    take_in(log, reader, 3)
    assert ids(log) == [0, 1, 2]
    put("a", 5, 4, at=2)
    log = open_log(log.folder)
    reader = open_live(pattern)  # type: ignore[assignment]
    take_in(log, reader, 3)
    assert ids(log) == list(range(6))
    for _ in range(3):
        take_in(log, reader, 100)
    assert ids(log) == list(range(9))
    if ending != "csv":
        pd.DataFrame({"id": [9]}).to_csv(tmp_path / "c.csv", index=False)
    if ending == "parquet":
        pq.write_table(pa.table({"id": [9], "new": [1]}), tmp_path / "c.parquet")
        pq.write_table(pa.table({"other": [9], "new": [1]}), tmp_path / "d.parquet")
        with pytest.raises(StreamError, match=r"d\.parquet has none of the columns of the files before: other, new"):
            take_in(log, reader, 100)
        assert ids(log) == list(range(10))


def test_a_file_of_json_lines_has_the_columns_of_those_before(tmp_path: Path) -> None:
    lines = [
        ['{"id": 0, "n": 1}'],
        ['{"id": 1, "n": null}', '{"id": 2}'],
        ['{"id": 3, "n": 1000000000000000000000000000000}', '{"id": 4, "n": 1e30}', '{"id": 5, "n": 2, "new": 1}'],
        ["{", b"\xff\xfe{"],
        ['{"id": 6, "n": 3}'],
    ]
    for number, some in enumerate(lines):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in some))
        os.utime(file, (number, number))
    log, reader = live(tmp_path, str(tmp_path / "*.jsonl"))
    take_in(log, reader, 100)
    assert log.read(0, 9).select(["id", "n"]).to_pydict() == {"id": [0, 1, 2, 5, 6], "n": [1, None, None, 2, 3]}
    reasons = [entry.reason for entry in log.quarantined]
    assert reasons[:2] == [
        "n: 1000000000000000000000000000000 is beyond the 64 bits of an integer",
        "n: 1e+30 is no integer",
    ]
    assert reasons[2].startswith("it is no JSON: ") and reasons[3] == "it is no text in UTF-8: byte 0xff at 0"
    first = tmp_path / "first"
    first.mkdir()
    (first / "a.jsonl").write_text('{"id": 1000000000000000000000000000000}\n{"id": 1}')
    log, reader = live(first, str(first / "*.jsonl"))
    take_in(log, reader, 100)
    assert ids(log) == [1]


def test_files_of_whole_numbers_where_others_have_fractions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON does not say which it means; the other way round nothing would be left of the fraction."""
    for number, fee in enumerate((1.5, 2)):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps({"id": number, "fee": fee}))
        os.utime(file, (number, number))
    log, reader = live(tmp_path, str(tmp_path / "*.jsonl"))
    take_in(log, reader, 10)
    assert log.read(0, 9)["fee"].to_pylist() == [1.5, 2.0]
    for sample, fees in (iterator.LOOKED_AT, [2.0, 2.5]), (1, [2]):
        monkeypatch.setattr(iterator, "LOOKED_AT", sample)
        other, reader = live(tmp_path / f"{sample}", iter([{"id": 0, "fee": 2}, {"id": 1, "fee": 2.5}]))
        take_in(other, reader, 10)
        assert other.read(0, 9)["fee"].to_pylist() == fees
    assert "fee: 2.5 is no integer" in other.quarantined[0].reason


def test_a_polled_query(tmp_path: Path) -> None:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(tmp_path / "shop.db")

    def buy(*orders: tuple[int, str | None]) -> None:
        with closing(connect()) as shop, shop:
            shop.executemany("INSERT INTO orders VALUES (?, ?)", orders)

    with closing(connect()) as shop:
        shop.execute("CREATE TABLE orders (id INTEGER, what TEXT)")
    query = PolledQuery(connect, "SELECT id, what FROM orders", by="id")
    with pytest.raises(StreamError, match="has no rows yet"):
        open_live(query)
    with pytest.raises(StreamError, match="cannot be read: OperationalError: no such table: sales"):
        open_live(PolledQuery(connect, "SELECT id FROM sales", by="id"))
    buy((1, "a"), (2, None), (3, "c"))
    with pytest.raises(StreamError, match="no column idd"):
        open_live(PolledQuery(connect, "SELECT id, what FROM orders", by="idd"))
    log, reader = live(tmp_path, query)
    take_in(log, reader, 2)
    assert ids(log) == [1, 2]
    buy((4, "d"))
    take_in(open_log(log.folder), open_live(query), 10)  # type: ignore[arg-type]
    take_in(log, reader, 10)
    assert ids(log) == [1, 2, 3, 4]
    with closing(connect()) as shop:
        shop.execute("ALTER TABLE orders RENAME what TO which")
    with pytest.raises(sqlite3.OperationalError, match="what"):
        take_in(log, reader, 10)


def test_a_log_that_fails_keeps_neither_rows_nor_offsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, reader = live(tmp_path, numbers(6))
    take_in(log, reader, 2)
    assert log.tail is not None
    append = log.tail.append

    def full(*args: object, **more: object) -> None:
        append(*args, **more)  # type: ignore[arg-type]
        raise OSError("no space left on device")

    monkeypatch.setattr(log.tail, "append", full)
    with pytest.raises(OSError, match="no space left"):
        take_in(log, reader, 2)
    again = open_log(log.folder)
    assert ids(again) == [0, 1]
    while not take_in(again, open_live(numbers(6)), 2):  # type: ignore[arg-type]
        pass
    assert ids(again) == list(range(6))


def test_corrections_from_a_live_source(tmp_path: Path) -> None:
    envelopes: list[dict[str, object]] = [
        {"op": "c", "before": None, "after": {"id": 1, "v": "a"}},
        {"op": "u", "before": {"id": 1, "v": "a"}, "after": {"id": 1, "v": "b"}},
        {"op": "d", "before": {"id": 1, "v": "b"}, "after": None},
        {"op": "d", "before": {"id": 9, "v": "b"}, "after": None},
    ]
    log, reader = live(tmp_path, iter([envelopes[0], *envelopes[1:]]), changes="debezium", key=["id"])
    while not take_in(log, reader, 1):
        pass
    assert log.read(0, 9).column(WEIGHT).to_pylist() == [1, -1, 1, -1]
    assert [entry.line for entry in log.quarantined] == [4]
    # An update is one event, whatever batches the source came in.
    assert [log.end_of_event(stop) for stop in range(5)] == [0, 1, 3, 3, 4]


def test_a_socket_of_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_lines, "_PAUSE", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"socket://127.0.0.1:{server.getsockname()[1]}"
        with ThreadPoolExecutor(2) as waiting:
            sender = waiting.submit(lambda: server.accept()[0])
            adding = waiting.submit(live, tmp_path, address)
            sender.result(120).sendall(b'{"id": 1}\n{"id": 2}\n{"i')
        log, reader = adding.result(120)
        taken(log, reader, 2)
        assert ids(log) == [1, 2]
        sender.result().sendall(b'd": 3}\nno JSON\n\n{"id": 5}')
        sender.result().close()
        taken(log, reader, 4)
        assert ids(log) == [1, 2, 3, 5] and [entry.line for entry in log.quarantined] == [4]
        with ThreadPoolExecutor(1) as waiting:  # it comes back
            sender = waiting.submit(lambda: server.accept()[0])
            take_in(log, reader, 1)
            sender.result(120).sendall(b'{"id": 6}\n{"id": 7}\n')
        taken(log, reader, 5)
        taken(log, reader, 6)
        assert ids(log) == [1, 2, 3, 5, 6, 7]
        sender.result().close()
    with pytest.raises(StreamError, match="cannot be reached"):
        for _ in range(1_000):
            take_in(log, reader, 1)
            time.sleep(0.02)
    with pytest.raises(StreamError, match="names no host and port"):
        open_live("socket://localhost")
    reader.close()


def test_a_socket_brings_dates_as_people_write_them(tmp_path: Path) -> None:
    lines = [{"at": day, "within": {"on": [day]}} for day in ("31.12.2025", "1.1.2026")]
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(2) as waiting:
        sender = waiting.submit(lambda: server.accept()[0])
        adding = waiting.submit(live, tmp_path, f"socket://127.0.0.1:{server.getsockname()[1]}")
        sender.result(120).sendall("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        log, reader = adding.result(120)
        taken(log, reader, 2)
        sender.result().close()
        reader.close()
    assert {name: str(type_) for name, type_ in log.columns} == {"at": "date", "within": "struct<on:array<date>>"}
    assert [row["at"].isoformat() for row in log.read(0, 2).to_pylist()] == ["2025-12-31", "2026-01-01"]


def taken(log: StreamLog, reader: Reader, rows: int) -> None:
    """Take in until there is a number of rows, one at a time."""
    until = time.monotonic() + 120
    while log.rows < rows and time.monotonic() < until:
        take_in(log, reader, 1)


CHILD = """
import sys
from pathlib import Path
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import open_log

log = open_log(Path(sys.argv[1]))
reader = open_live({"id": n % 50, "v": n} for n in range(10**9))
print("begun", flush=True)
while True:
    take_in(log, reader, 7)
"""


@pytest.mark.parametrize("form", ["iterator", "folder", "tables"])
def test_a_row_of_nulls_is_a_row(tmp_path: Path, form: str) -> None:
    """Only a record with nothing but its key takes a row back, and no row of a table does."""
    records: list[dict[str, object]] = [{"id": 1, "v": 7}, {"id": 1, "v": None}, {"id": 1}]
    source: object = iter(records if form == "iterator" else [pa.Table.from_pylist(records)])
    if form == "folder":
        source = tmp_path / "*.jsonl"
        (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    log, reader = live(tmp_path, source, changes="upsert", key=["id"])
    fit_reader(reader, log)
    take_in(log, reader, 9)
    changes = [(row[WEIGHT], row["v"]) for row in log.read(0, log.rows).to_pylist()]
    assert changes == [(1, 7), (-1, 7), (1, None), (-1, None)][: 3 if form == "tables" else 4] and not log.quarantined


def test_a_process_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Killed at whatever moment; the iterator begins anew each time. A new row of a key replaces the old one."""
    log, reader = live(tmp_path, ({"id": n % 50, "v": n} for n in range(1)), changes="upsert", key=["id"])
    chosen, logged = random.Random(3), 0
    for _ in range(int(os.environ.get("ARGUS_KILLS", "2"))):
        with subprocess.Popen([sys.executable, "-c", CHILD, str(log.folder)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None and child.stdout.readline() == b"begun\n"
            time.sleep(chosen.uniform(0.01, 0.4))
            child.send_signal(signal.SIGKILL)
        again = open_log(log.folder)
        assert again.tail is not None
        read = int(again.tail.offsets.get("", "0"))
        assert read >= logged
        logged = read
        rows = again.read(0, again.rows)
        expected = [(1, n) for n in range(min(50, read))]
        expected += [entry for n in range(50, read) for entry in ((-1, n - 50), (1, n))]
        assert list(zip(rows.column(WEIGHT).to_pylist(), rows.column("v").to_pylist(), strict=True)) == expected
        again.tail.close()
    assert logged
    reader.close()
