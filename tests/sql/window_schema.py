"""Streams with and without event times, and a table: what tests of windows bind against."""

from __future__ import annotations

import datetime as dt

from workbench.sql.algebra.expressions import text
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import Bound, bind
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.schema import Schema
from workbench.sql.windows.bounds import time_and_end

SCHEMA = Schema(
    streams={
        "T": (("a", INTEGER), ("d", DATE), ("x", DOUBLE), ("s", STRING)),
        "U": (("a", INTEGER), ("ts", TIMESTAMP)),
        "P": (("a", INTEGER), ("day", INTEGER), ("price", DOUBLE)),
        "Z": (("a", INTEGER),),
        "K": (("a", INTEGER),),
    },
    times={"T": "d", "U": "ts", "P": "day"},
    tables=frozenset(["K"]),
    event_times={"p": 120, "z rows": 50, "t": dt.date(2002, 1, 5)},
)


def bound(sql: str, dialect: str = "spark") -> Bound:
    return bind(sql, dialect, SCHEMA)


def block(sql: str, dialect: str = "spark") -> Block:
    query = bound(sql, dialect).query
    assert isinstance(query, Block)
    return query


def window_text(window: PredSet) -> str:
    """The comparisons of a window, each with its time first."""
    ends = (time_and_end(end) for end in window)
    return " and ".join(f"{text(time)} {operator} {text(bound)}" for time, operator, bound in ends)
