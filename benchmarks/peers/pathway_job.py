"""Runs under the Python that has Pathway: rows are pushed one by one, and each table's changes are subscribed to.

The time of a batch is from its first row until Pathway says that its time has ended for the answers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.peers.task import Task

COUNT = ""
"""The table that tells how many rows have arrived; no query is called so."""


class _Answer:
    """The rows of one answer, as changes come.

    Args:
        columns: names of its columns.
        more: told when a time has ended.
    """

    def __init__(self, columns: list[str], more: threading.Condition) -> None:
        self.columns = columns
        self.rows: Counter[tuple[Any, ...]] = Counter()
        self.ended = 0
        self._more = more

    def change(self, key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        """Take one change."""
        self.rows[tuple(row[name] for name in self.columns)] += 1 if is_addition else -1

    def end(self, time: int) -> None:
        """Take note that there are no more changes of a time."""
        with self._more:
            self.ended = time
            self._more.notify()


def main(task: Task) -> None:
    """Build a table for each query, and push part after part."""
    import pathway as pw
    import pyarrow as pa

    seconds: list[float] = []
    answers: dict[str, _Answer] = {}
    more = threading.Condition()

    def there(rows: int, largest: int) -> bool:
        """Whether a number of rows has been counted, and each answer that must change has ended the time of the count.

        Pathway tells the end of a time only to who had changes in it. A view or a selection has some if the largest
        amount is beyond its threshold; whether the join has cannot be told, and it is not waited for.
        """
        count = answers[COUNT]
        newest = max((number for (number,), weight in count.rows.items() if weight), default=0)
        changing = [q["name"] for q in task.queries if q["variant"] != "join" and largest > q["threshold"]]
        return newest >= rows and all(answers[name].ended >= count.ended for name in changing)

    class Payments(pw.io.python.ConnectorSubject):
        def run(self) -> None:
            pushed = 0
            for part in task.parts():
                rows = part.to_pylist()
                largest = max(row["amount"] for row in rows)
                started = time.perf_counter()
                for row in rows:
                    self.next(**row)
                self.commit()
                pushed += len(rows)
                with more:
                    while not there(pushed, largest):
                        more.wait()
                seconds.append(time.perf_counter() - started)

    columns = next(task.parts()).column_names
    schema = pw.schema_builder({name: pw.column_definition(dtype=int) for name in columns})
    payments = pw.io.python.read(Payments(), schema=schema, autocommit_duration_ms=None)
    tables = {query["name"]: _table(payments, query) for query in task.queries}
    tables[COUNT] = payments.reduce(n=pw.reducers.count())
    for name, table in tables.items():
        answers[name] = _Answer(table.column_names(), more)
        pw.io.subscribe(table, on_change=answers[name].change, on_time_end=answers[name].end)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    for query in task.queries:
        answer = answers[query["name"]]
        rows = list(answer.rows.elements())
        task.answer(query["name"], pa.table({name: [row[i] for row in rows] for i, name in enumerate(answer.columns)}))
    task.took(seconds)


def _table(payments: Any, query: dict[str, Any]) -> Any:
    """The table that keeps a query's answer."""
    import pathway as pw

    chosen = payments.filter(pw.this.amount > query["threshold"])
    match query["variant"]:
        case "view":
            sums = {"total": pw.reducers.sum(pw.this.amount), "n": pw.reducers.count()}
            return chosen.groupby(pw.this.bank).reduce(pw.this.bank, **sums)
        case "selection":
            return chosen.select(pw.this.payment, pw.this.bank, pw.this.amount)
        case "join":
            pairs = chosen.join(chosen.copy(), pw.left.account == pw.right.payer)
            return pairs.select(received=pw.left.payment, made=pw.right.payment)
    raise ValueError(query["variant"])


if __name__ == "__main__":
    from task import read  # beside this file; the workbench is not installed here

    main(read(sys.argv[1]))
