"""Two streams of rows that are alike in most columns, for queries of a grammar, and what these answer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from random import Random

import pyarrow as pa
from oracle.bags import Row, frame_rows
from oracle.loads import Load, check_changes
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
            check_changes(query, found[name])
        except Exception as failure:
            raise AssertionError(f"{name}: {query.sql}: {failure}") from failure
    return found
