"""Runs under the Python that has Deephaven: rows are published, and tables over them follow in the next cycle.

The time of a batch is from its publication until the cycle that has taken it is over. ``ARGUS_CYCLE`` is how long a
cycle is, in milliseconds; Deephaven's own is a second.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.peers.task import Task


def main(task: Task) -> None:
    """Start a server in this process, make a table for each query, and publish part after part."""
    from deephaven_server import Server

    Server(
        port=0,
        jvm_args=[
            "-Xmx8g",
            f"-DPeriodicUpdateGraph.targetCycleDurationMillis={os.environ.get('ARGUS_CYCLE', '1000')}",
            "-DAuthHandlers=io.deephaven.auth.AnonymousAuthenticationHandler",
            "-Dhttp.host=127.0.0.1",
        ],
    ).start()
    # These need the server's JVM.
    from deephaven import arrow, dtypes
    from deephaven.execution_context import get_exec_ctx
    from deephaven.stream import blink_to_append_only
    from deephaven.stream.table_publisher import table_publisher
    from deephaven.table_listener import listen
    from deephaven.update_graph import exclusive_lock

    parts = task.parts()
    history = next(parts)
    arriving, publisher = table_publisher(task.stream, dict.fromkeys(history.column_names, dtypes.int64))
    rows = blink_to_append_only(arriving)
    counted, seen = threading.Event(), 0

    def count(update: Any, replayed: bool) -> None:
        nonlocal seen
        for changed in (update.modified(), update.added()):
            seen = max([seen, *map(int, changed.get("counted", ()))])
        counted.set()

    handle = listen(rows.count_by("counted"), count)
    graph, published = get_exec_ctx().update_graph, 0
    seconds: list[float] = []
    started = time.perf_counter()
    tables = {query["name"]: _table(rows, query) for query in task.queries}
    for part in (history, *parts):
        if seconds:
            started = time.perf_counter()
        publisher.add(arrow.to_table(part))
        published += part.num_rows
        while seen < published:
            counted.wait(1)
            counted.clear()
        with exclusive_lock(graph):  # a cycle ends before it is given
            seconds.append(time.perf_counter() - started)
    handle.stop()
    for name, table in tables.items():
        task.answer(name, arrow.to_arrow(table))
    task.took(seconds)


def _table(rows: Any, query: dict[str, Any]) -> Any:
    """The table that keeps a query's answer."""
    from deephaven import agg

    chosen = rows.where(f"amount > {query['threshold']}")
    match query["variant"]:
        case "view":
            return chosen.agg_by([agg.sum_("total = amount"), agg.count_("n")], by=["bank"])
        case "selection":
            return chosen.view(["payment", "bank", "amount"])
        case "join":
            pairs = chosen.join(chosen, on=["account = payer"], joins=["made = payment"])
            return pairs.view(["received = payment", "made"])
    raise ValueError(query["variant"])


if __name__ == "__main__":
    from task import read  # beside this file; the workbench is not installed here

    main(read(sys.argv[1]))
    os._exit(0)  # the server's threads would keep the process
