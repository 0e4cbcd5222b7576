"""Kinds of live sources, of which each can be given good records and odd ones."""

from __future__ import annotations

import json
import os
import queue
import socket
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from servers import Broker

from workbench.session.live.sources import LiveSources, begin_live, fit_reader, stored_schema
from workbench.streams.corrections.declared import corrections_of
from workbench.streams.ingest import ingest
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.live.sources import open_live
from workbench.streams.log import StreamLog, open_log
from workbench.streams.source import OpenedSource
from workbench.streams.stream import replayed

Row = dict[str, object]


class OddSource(ABC):
    """A source whose records have an ``id`` and a text ``s``."""

    declared: dict[str, object] = {"changes": None, "key": None, "weight": None}  # noqa: RUF012

    @abstractmethod
    def source(self) -> object:
        """What is added as a stream."""

    @abstractmethod
    def put(self, record: Any) -> None:
        """Let a record come: a row, or what is none."""

    def good(self, number: int) -> None:
        """Let a row come."""
        self.put({"id": number, "s": "a"})

    def again(self) -> object:
        """What is attached after the session was opened again; ``None`` where it opens its source itself."""
        return None

    def left(self) -> None:  # noqa: B027
        """Its reader was closed."""

    def close(self) -> None:  # noqa: B027
        """Nothing is open."""


class Topic(OddSource):
    def __init__(self, broker: Broker, name: str, options: str = "") -> None:
        self._broker, self._topic, self._options = broker, f"odd-{name}", options

    def source(self) -> object:
        return self._broker.url(self._topic, f"fetch.wait.max.ms=10{self._options}")

    def put(self, record: Any, **more: Any) -> None:
        if callable(record):
            record(lambda *values, **more: self._broker.put(self._topic, *values, **more))
        else:
            self._broker.put(self._topic, record, **more)


class Lines(OddSource):
    """A socket."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._pool = ThreadPoolExecutor(1)
        self._accept()

    def source(self) -> object:
        return f"socket://127.0.0.1:{self._server.getsockname()[1]}"

    def put(self, record: Any) -> None:
        self.send((record if isinstance(record, bytes) else json.dumps(record).encode()) + b"\n")

    def send(self, some: bytes) -> None:
        """Send bytes as soon as there is a reader."""
        self._pool.submit(lambda sender: sender.result(120).sendall(some), self._sender)

    def leave(self, comes_back: bool = True) -> None:
        """Close the connection."""
        self._pool.submit(lambda: None).result(120)
        self._sender.result(120).close()
        if comes_back:
            self._accept()
        else:
            self._server.close()

    left = leave

    def _accept(self) -> None:
        self._sender = ThreadPoolExecutor(1).submit(lambda: self._server.accept()[0])

    def close(self) -> None:
        self._server.close()
        self._pool.shutdown(wait=False)


class Files(OddSource):
    """A folder that grows."""

    def __init__(self, folder: Path, ending: str) -> None:
        self.folder, self.ending, self.files = folder / "in", ending, 0
        self.folder.mkdir()

    def source(self) -> object:
        return str(self.folder / f"*.{self.ending}")

    def path(self, number: int | None = None) -> Path:
        return self.folder / f"{self.files if number is None else number}.{self.ending}"

    def put(self, record: Any) -> None:
        self.files += 1
        file = self.path()
        if callable(record):
            record(file)
        elif isinstance(record, bytes):
            file.write_bytes(record)
        else:
            self.write(file, record)
        if file.is_file():
            os.utime(file, (self.files, self.files))

    def write(self, file: Path, *rows: Row) -> None:
        match self.ending:
            case "parquet":
                pq.write_table(pa.Table.from_pylist([*rows]), file)
            case "csv":
                file.write_text("id,s\n" + "".join(f"{row['id']},{row['s']}\n" for row in rows))
            case _:
                file.write_text("".join(json.dumps(row) + "\n" for row in rows))


class Generated(OddSource):
    """A generator, which waits where nothing is there."""

    def __init__(self, **declared: object) -> None:
        self._items: queue.Queue[object] = queue.Queue()
        self._given: list[object] = []
        self.declared = {"changes": None, "key": None, "weight": None} | declared

    def source(self) -> object:
        return self._generated(self._items, [])

    def again(self) -> object:
        self._items = queue.Queue()  # the generator from before waits for ever
        return self._generated(self._items, [*self._given])

    def put(self, record: Any) -> None:
        self._items.put(record)

    def _generated(self, items: queue.Queue[object], before: list[object]) -> Iterator[object]:
        yield from before
        while True:
            item = items.get()
            if isinstance(item, Exception):
                raise item
            self._given.append(item)
            yield item


class Polled(OddSource):
    def __init__(self, folder: Path) -> None:
        self._path = folder / "shop.db"
        self.execute("CREATE TABLE t (id, s)")

    def source(self) -> object:
        return PolledQuery(lambda: sqlite3.connect(self._path), "SELECT * FROM t", by="id")

    again = source

    def put(self, record: Any) -> None:
        if callable(record):
            record(self)
        else:
            self.execute("INSERT INTO t VALUES (?, ?)", record["id"], record["s"])

    def execute(self, sql: str, *values: object) -> None:
        with closing(sqlite3.connect(self._path)) as database, database:
            database.execute(sql, values)


class Reading:
    """The log of a source, and what its status says."""

    def __init__(self, folder: Path, source: OddSource) -> None:
        self._source, self._folder = source, folder / "log"
        source.good(0)
        reader = open_live(source.source())
        assert reader is not None
        opened = OpenedSource(reader.schema, iter(()), reader.inferred)
        log = ingest("T", opened, self._folder, corrections=corrections_of(**source.declared))  # type: ignore[arg-type]
        self.log: StreamLog = begin_live(log, reader, source.source(), 0, durable=False)
        self._live = LiveSources()
        self._live.attach("T", reader)

    def take_in(self, most: int = 100_000) -> None:
        self._live.take_in({"T": replayed(self.log, self.log.rows, most)})

    def until(self, there: Callable[[], bool], seconds: float = 20) -> None:
        """Take in until something is there, and once more."""
        ends = time.monotonic() + seconds
        while not there() and time.monotonic() < ends:
            self.take_in()
        self.take_in()

    @property
    def ids(self) -> list[int]:
        found: list[int] = self.log.read(0, self.log.rows).column("id").to_pylist()
        return found

    @property
    def reasons(self) -> list[str]:
        return [entry.reason for entry in self.log.quarantined]

    @property
    def problem(self) -> str:
        return self._live.status({"T": replayed(self.log, 0, 10)})["T"].problem

    @property
    def earlier(self) -> str:
        return self._live.status({"T": replayed(self.log, 0, 10)})["T"].earlier

    def forget(self) -> None:
        self._live.forget_problems(["T"])

    @property
    def ended(self) -> bool:
        return self._live.ended({"T": replayed(self.log, 0, 10)})

    def reopen(self, attached: bool = True) -> None:
        """As another process does it."""
        self.close()
        self._source.left()
        self.log, self._live = open_log(self._folder), LiveSources()
        if attached and (source := self._source.again()) is not None:
            reader = open_live(source, stored_schema(self.log.tail))
            assert reader is not None
            fit_reader(reader, self.log)
            self._live.attach("T", reader)

    def close(self) -> None:
        self._live.close()
        assert self.log.tail is not None
        self.log.tail.close()
