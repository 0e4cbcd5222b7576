"""Rows with keys and days that meet often, for looking pairs up, and which pairs these are in plain Python."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.band import Band, BandEnd
from workbench.engine.storage.segments import Segment, write_segments
from workbench.limits import Limits
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DATE, STRING

COLUMN_TYPES = {"k": pa.string(), "z": pa.string(), "d": pa.date32(), "id": pa.int64()}


def rows(random: Random, count: int) -> pa.Table:
    days = [None, *(dt.date(2002, 1, 1) + dt.timedelta(days=n) for n in (0, 1, 5, 9, 10, 30))]
    values = {
        "k": [random.choice(["flu", "flu", "anthrax", None]) for _ in range(count)],
        "z": [random.choice(["01", "02", None]) for _ in range(count)],
        "d": [random.choice(days) for _ in range(count)],
        "id": [random.randrange(1_000) for _ in range(count)],
    }
    marks = {"_batch": pa.array([1] * count, pa.int32()), "_weight": pa.array([1] * count, pa.int64())}
    return pa.table({name: pa.array(v, COLUMN_TYPES[name]) for name, v in values.items()} | marks)


def key(name: str) -> tuple[Column, Column]:
    return Column(name, STRING), Column(name, STRING)


def days(low: float, high: float) -> Band:
    """The band of the days from one row to the other."""
    end = BandEnd(Column("d", DATE))
    return Band(end, end, low, high)


FEW_PAIRS = Limits(pairs_handed_on=7)


def fits(way: AccessPath, a: dict[str, Any], c: dict[str, Any]) -> bool:
    """Whether a way finds a pair, in plain Python."""
    equal = all(a[n] is not None and a[n] == c[n] for n in way.key_columns(0))
    if not way.bands or not equal:
        return equal
    return None not in (a["d"], c["d"]) and all(b.low <= (c["d"] - a["d"]).days <= b.high for b in way.bands)


def written(table: pa.Table, folder: Path) -> tuple[Segment, ...]:
    return tuple(write_segments(table.combine_chunks(), folder))
