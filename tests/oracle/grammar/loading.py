"""The same rows, loaded in different ways: the answers must not differ, whatever the query.

A query's answer is a function of the rows that are there. It must not depend on how they came: all at once, one by
one, in another order, or inserted, taken back and inserted again.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pyarrow as pa
from oracle.bags import Row, difference, frame_rows
from pyspark.sql import SparkSession

from workbench import Options, Session
from workbench.arrow.types import to_arrow
from workbench.errors import SqlError
from workbench.session.query import Query
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal

COLUMNS: tuple[tuple[str, DataType], ...] = (
    ("a", INTEGER), ("b", INTEGER), ("m", decimal(15, 2)), ("x", DOUBLE), ("s", STRING), ("d", DATE),
    ("ts", TIMESTAMP), ("p", BOOLEAN),
)  # fmt: skip
STREAMS = {"t": COLUMNS, "u": COLUMNS}
_VALUES: Mapping[str, tuple[object, ...]] = {
    "a": (0, 1, 2), "b": (1, 2), "m": (Decimal("1.50"), Decimal("-2.25"), Decimal("0.00")), "x": (0.5, -0.125, 2.0),
    "s": ("a", "b", ""), "d": (dt.date(2002, 11, 1), dt.date(2002, 11, 2)), "p": (True, False),
    "ts": (dt.datetime(2002, 11, 2, 10), dt.datetime(2002, 11, 2, 9, 59, 59)),
}  # fmt: skip
"""Few values, so that rows are alike in most columns. Sums of the binary numbers are exact in every order."""


def alike_rows(chosen: Random, number: int) -> list[Row]:
    """Rows of which many are equal, and most differ from another in one column."""
    made: list[Row] = []
    for _ in range(number):
        row = list(chosen.choice(made)) if made and chosen.random() < 0.7 else [None] * len(COLUMNS)
        fresh = range(len(COLUMNS)) if row.count(None) == len(COLUMNS) else chosen.sample(range(len(COLUMNS)), 1)
        for place in fresh if chosen.random() < 0.6 or row.count(None) == len(COLUMNS) else ():
            row[place] = None if chosen.random() < 0.12 else chosen.choice(_VALUES[COLUMNS[place][0]])
        made.append(tuple(row))
    return made


@dataclass(frozen=True)
class Load:
    """One way in which the rows of the streams come.

    Attributes:
        name: what it is called in a failure.
        order: a seed that orders rows; ``None``: as they are.
        history, batch: as in ``Session.add_stream``; ``None``: all of them.
        back: whether some rows are taken back and inserted again.
    """

    name: str
    order: int | None = None
    history: int | None = None
    batch: int = 1
    back: bool = False

    def arriving(self, rows: Sequence[Row]) -> tuple[list[Row], list[int]]:
        """The rows as they come, with their weights."""
        ordered = list(rows)
        chosen = Random(self.order)
        if self.order is not None:
            chosen.shuffle(ordered)
        if not self.back:
            return ordered, [1] * len(ordered)
        changes: list[tuple[Row, int]] = []
        for row in ordered:
            changes.append((row, 1))
            if chosen.random() < 0.4:
                changes += [(row, -1), (row, 1)]
        for row in chosen.sample(ordered, len(ordered) // 3):
            changes += [(row, -1), (row, 1)]
        return [row for row, _ in changes], [weight for _, weight in changes]


LOADS = (
    Load("all at once"),
    Load("row by row", history=0),
    Load("in another order", order=1, history=2, batch=4),
    Load("taken back and inserted again", order=2, history=3, batch=2, back=True),
)


def _table(rows: Sequence[Row], weights: Sequence[int] | None) -> pa.Table:
    columns = {name: pa.array([row[i] for row in rows], to_arrow(type_)) for i, (name, type_) in enumerate(COLUMNS)}
    return pa.table(columns if weights is None else columns | {"w": pa.array(weights, pa.int64())})


@contextmanager
def loaded(
    spark: SparkSession, load: Load, streams: Mapping[str, Sequence[Row]], options: Options | None = None
) -> Iterator[Session]:
    """A session with the streams before their batches arrive."""
    with Session(spark, options=options or Options()) as session:
        for name, rows in streams.items():
            arriving, weights = load.arriving(rows)
            table = _table(arriving, weights if load.back else None)
            history = len(arriving) if load.history is None else load.history
            session.add_stream(name, table, history, load.batch, weight="w" if load.back else None)
        yield session


def registered(session: Session, texts: Mapping[str, str]) -> dict[str, Query]:
    """The queries that are not refused, in this session."""
    try:
        return session.register_many(dict(texts))
    except SqlError:
        found = {}
        for name, text in texts.items():
            try:
                found[name] = session.register(text, name)
            except SqlError:
                continue
        return found


def answers(session: Session, queries: Mapping[str, Query]) -> dict[str, list[Row]]:
    """What the queries answer when all rows are there; their changes must lead there.

    Raises:
        AssertionError: a query was disabled, takes back what was not there, or its changes are not its answer.
    """
    while session.run(4):
        pass
    found = {}
    for name, query in queries.items():
        try:
            found[name] = frame_rows(query.result())
            _check_changes(query, found[name])
        except Exception as failure:
            raise AssertionError(f"{name}: {query.sql}: {failure}") from failure
    return found


def _check_changes(query: Query, answer: list[Row]) -> None:
    frame = query.changes()
    bag: Counter[Row] = Counter()
    weights = frame.iloc[:, 1].tolist()
    for row, weight in zip(frame_rows(frame.iloc[:, 2:]), weights, strict=True):
        bag[row] += weight
    gone = [row for row, weight in bag.items() if weight < 0]
    assert not gone, f"takes back what was not there: {gone[:3]}"
    missing, too_many = difference(bag.elements(), answer)
    assert not missing and not too_many, f"changes lack {missing[:3]} and have {too_many[:3]} too many"
