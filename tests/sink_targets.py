"""Targets of every kind for tests of sinks, each of which says what it has been given, summed."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from servers import Broker

from workbench.files.store import store_at

Content = Counter[tuple[Hashable, ...]]
"""How often each row is there, with values as JSON has them; decimals are texts."""


class Webhook(ThreadingHTTPServer):
    """Keeps what is posted, each number once, as a receiver does that has it already."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Keeping)
        self.posted: dict[str, dict[int, list[dict[str, Any]]]] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name: str) -> str:
        """An address."""
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def taken(self, name: str) -> dict[int, list[dict[str, Any]]]:
        """The changes that were posted there, by their numbers."""
        return self.posted.get(f"/{name}", {})

    def close(self) -> None:
        """End it."""
        self.shutdown()
        self.server_close()


class _Keeping(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        taken = self.server.posted.setdefault(self.path, {})
        same = taken.setdefault(body["batch"], body["changes"])
        assert Counter(map(repr, same)) == Counter(map(repr, body["changes"])), "two batches of one number"
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


class Called:
    """A callable that keeps what it is given, each number once."""

    def __init__(self) -> None:
        self.batches: dict[int, pd.DataFrame] = {}

    def __call__(self, batch: int, changes: pd.DataFrame) -> None:
        self.batches.setdefault(batch, changes)

    def content(self) -> Content:
        return summed(row for frame in self.batches.values() for row in frame.to_dict("records"))


def summed(rows: Any) -> Content:
    """Rows with weights, summed."""
    found: Content = Counter()
    for row in rows:
        row = dict(row)
        weight = row.pop("weight")
        row.pop("batch", None)
        found[_row(row)] += weight
    return Counter({row: weight for row, weight in found.items() if weight})


def once(rows: Any) -> Content:
    """Rows that are there."""
    return Counter(map(_row, rows))


def _row(row: Mapping[str, Any]) -> tuple[Hashable, ...]:
    return tuple(None if value is None or value != value else _plain(value) for value in row.values())


def _plain(value: Any) -> Hashable:
    return value if isinstance(value, int | float | str) else str(value)


def of_folder(folder: Path) -> Content:
    """What the Parquet files of a folder sum up to."""
    return summed(row for file in folder.glob("*.parquet") for row in pq.read_table(file).to_pylist())


def of_delta(folder: Path) -> Content:
    """What the rows of a Delta table sum up to."""
    from deltalake import DeltaTable

    return summed(DeltaTable(folder).to_pyarrow_table().to_pylist() if (folder / "_delta_log").exists() else [])


def of_stored_folder(address: str) -> Content:
    """What the Parquet files at an object store sum up to."""
    store = store_at(address)
    files = (store.get(file.name) for file in store.top_files() if file.name.endswith(".parquet"))
    return summed(row for file in files for row in pq.read_table(pa.BufferReader(file)).to_pylist())


def of_stored_delta(address: str) -> Content:
    """What the rows of a Delta table at an object store sum up to."""
    from deltalake import DeltaTable

    if not DeltaTable.is_deltatable(address):
        return Counter()
    return summed(DeltaTable(address).to_pyarrow_table().to_pylist())


def of_topic(broker: Broker, topic: str) -> Content:
    """What the committed messages of a topic sum up to."""
    return summed(json.loads(message.value()) for message in broker.read(topic))


def of_keyed_topic(broker: Broker, topic: str) -> Content:
    """The last message of each key."""
    last = {message.key(): message.value() for message in broker.read(topic)}
    return once(json.loads(value) for value in last.values() if value is not None)


def of_table(address: str, table: str, has_weights: bool) -> Content:
    """What a table of PostgreSQL has."""
    import psycopg
    from psycopg.rows import dict_row

    with psycopg.connect(address, row_factory=dict_row) as connection:
        if connection.execute("SELECT to_regclass(%s) AS found", [table]).fetchone()["found"] is None:  # type: ignore[index]
            return Counter()
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    return summed(rows) if has_weights else once(rows)


def every_kind(
    name: str,
    folder: Path,
    key: str,
    hook: Webhook,
    broker: Broker | None = None,
    postgres: str | None = None,
    objects: str | None = None,
) -> dict[str, tuple[object, Callable[[], Content]]]:
    """A target of each kind, and what gives its content.

    Args:
        name: tells the targets of one test apart.
        folder: for files.
        key: a column that is unique in the answer.
        hook, broker, postgres, objects: what is there of them; the last is the address of a bucket.
    """
    called = Called()
    kinds: dict[str, tuple[object, Callable[[], Content]]] = {
        "folder": (str(folder / f"{name}-files"), lambda: of_folder(folder / f"{name}-files")),
        "delta": (f"delta:{folder / f'{name}-delta'}", lambda: of_delta(folder / f"{name}-delta")),
        "hook": (
            hook.url(name),
            lambda: summed(row for rows in hook.taken(name).values() for row in rows),
        ),
        "called": (called, called.content),
    }
    if broker is not None:
        kinds["topic"] = broker.url(name), lambda: of_topic(broker, name)
        kinds["keyed_topic"] = broker.url(f"{name}k", f"key={key}"), lambda: of_keyed_topic(broker, f"{name}k")
    if postgres is not None:
        kinds["table"] = f"{postgres}&table={name}", lambda: of_table(postgres, name, True)
        kinds["keyed_table"] = f"{postgres}&table={name}k&key={key}", lambda: of_table(postgres, f"{name}k", False)
    if objects is not None:
        kinds["stored"] = f"{objects}/{name}/files", lambda: of_stored_folder(f"{objects}/{name}/files")
        kinds["stored_delta"] = f"delta:{objects}/{name}/delta", lambda: of_stored_delta(f"{objects}/{name}/delta")
    return kinds
