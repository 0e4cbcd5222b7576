"""Three small streams with NULLs, duplicates and boundary values; ``F`` and ``H`` have one schema."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
from sharing.scalars import NAN

from workbench.optimizer.statistics import StreamStatistics, collect
from workbench.sql.algebra.expressions import Value
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema

Row = Mapping[str, Value]
Data = Mapping[str, Sequence[Row]]

MONEY = decimal(9, 2)
F = (
    ("id", INTEGER),
    ("code", INTEGER),
    ("amount", MONEY),
    ("day", DATE),
    ("src", STRING),
    ("dst", STRING),
    ("x", DOUBLE),
)
G = (("id", INTEGER), ("rate", DOUBLE), ("name", STRING), ("until", DATE))
SCHEMA = Schema(streams={"F": F, "G": G, "H": F})

_DOMAINS: Mapping[str, tuple[Value, ...]] = {
    "id": (0, 1, 2, 3, 4, 5),
    "code": (-1, 0, 1, 2, 3, 4),
    "amount": tuple(map(Decimal, ("-0.01", "0.00", "0.01", "4.99", "5.00", "5.01", "9.00", "10.00"))),
    "day": tuple(dt.date(2002, 1, n) for n in range(1, 6)),
    "until": tuple(dt.date(2002, 1, n) for n in range(1, 6)),
    "src": ("", "a", "ab", "A", "b", "1"),
    "dst": ("", "a", "ab", "A", "b", "1"),
    "name": ("", "a", "ab", "A", "b", "1"),
    # Eighths, so that sums are exact in any order.
    "x": (-0.5, 0.0, -0.0, 0.125, 0.5, 5.0, NAN),
    "rate": (-0.5, 0.0, -0.0, 0.125, 0.5, 5.0, NAN),
}


def data(seed: int, rows: int = 9) -> Data:
    """Rows of all streams; about one value in ten is NULL, and some rows come twice."""
    chosen = random.Random(seed)

    def row(columns: Sequence[tuple[str, DataType]]) -> Row:
        return {name: None if chosen.random() < 0.1 else chosen.choice(_DOMAINS[name]) for name, _ in columns}

    def stream(columns: Sequence[tuple[str, DataType]]) -> list[Row]:
        made = [row(columns) for _ in range(rows)]
        return [*made, *chosen.sample(made, 2)]

    return {name.lower(): stream(columns) for name, columns in SCHEMA.streams.items()}


def statistics(of: Data) -> dict[str, StreamStatistics]:
    """What is known of the streams when their rows have been seen, as if there were many more of them."""
    return {name: collect(pa.Table.from_pylist([dict(row) for row in rows]), 10_000) for name, rows in of.items()}


def query(sql: str, dialect: str = "spark", schema: Schema = SCHEMA) -> LogicalQuery:
    """The logical query of a text."""
    bound = bind(sql, dialect, schema).query
    assert bound is not None
    return bound


VIEWS = {
    "big": query("SELECT * FROM F WHERE amount > 5"),
    "per_src": query("SELECT src, COUNT(*) AS n FROM F GROUP BY src"),
}
WITH_VIEWS = replace(SCHEMA, views=VIEWS)
"""The same streams with a view that selects and one that groups."""
