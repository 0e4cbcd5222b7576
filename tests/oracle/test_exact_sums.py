"""Sums of DOUBLE while rows come and go: the nearest to the exact sum, rolled up, in windows, under any option."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from workbench import Options, Session
from workbench.engine.spark.in_process import InProcess

NUMBERS = [0.1, 0.2, -0.3, 1e16, -1e16, 1e300, -1e300, 5e-324, None]
ODD = [math.nan, math.inf, -math.inf]
START = dt.datetime(2024, 1, 1)
BATCH, BATCHES = 40, 3
Row = tuple[str, str, float | None, dt.datetime]
QUERIES = {
    "fine": "SELECT g, h, SUM(x) AS s FROM t GROUP BY g, h",
    "coarse": "SELECT g, SUM(x) AS s FROM t GROUP BY g",
    "all": "SELECT SUM(x) AS s FROM t",
    "windows": "SELECT window.start AS w, SUM(x) AS s FROM t GROUP BY window(ts, '1 hour', '15 minutes')",
}


def rounded(values: Sequence[float | None]) -> float:
    """The sum, rounded once; pandas shows NULL as NaN."""
    known = [value for value in values if value is not None]
    special = {repr(value) for value in known if not math.isfinite(value)}
    if special:
        return float(special.pop()) if len(special) == 1 else math.nan
    exact = sum(map(Fraction, known))
    return math.nan if not known else math.copysign(math.inf, exact) if abs(exact) >= 2**1024 else float(exact)


def drawn(random: Random) -> list[tuple[Row, int]]:
    """Rows that come, and some of those that are there that go."""
    rows: list[tuple[Row, int]] = []
    there: list[Row] = []
    for _ in range(BATCH * (BATCHES + 1)):
        if there and random.random() < 0.3:
            rows.append((there.pop(random.randrange(len(there))), -1))
            continue
        number = random.choice(ODD) if random.random() < 0.03 else random.choice(NUMBERS)
        row = (random.choice("ab"), random.choice("xyz"), number, START + dt.timedelta(minutes=random.randrange(200)))
        there.append(row)
        rows.append((row, 1))
    return rows


def sums(rows: Sequence[tuple[Row, int]], keys: Callable[[Row], Sequence[Any]]) -> dict[Any, float]:
    """The sum of each group that has rows; ``keys``: the groups that a row is in."""
    left: dict[Any, list[Row]] = {}
    for row, sign in rows:
        for key in keys(row):
            own = left.setdefault(key, [])
            # NaN is not found by equality.
            own.append(row) if sign > 0 else own.pop(
                next(at for at, other in enumerate(own) if repr(other) == repr(row))
            )
    return {key: rounded([row[2] for row in own]) for key, own in left.items() if own}


def hours(row: Row) -> list[dt.datetime]:
    """The starts of the windows of an hour, each a quarter after the last, that a row is in."""
    last = row[3] - (row[3] - START) % dt.timedelta(minutes=15)
    return [last - dt.timedelta(minutes=15 * back) for back in range(4)]


@pytest.mark.parametrize(
    "options", [Options(), Options(incremental_aggregates=False), Options(vertical_expansion=False)], ids=str
)
def test_sums_are_rounded_once(options: Options) -> None:
    rows = drawn(Random(7))
    columns = list(zip(*(row for row, _ in rows), strict=True))
    table = pa.table(
        {
            **dict(zip("gh", columns[:2], strict=True)),
            "x": pa.array(columns[2], pa.float64()),
            "ts": pa.array(columns[3], pa.timestamp("us")),
            "w": pa.array([sign for _, sign in rows], pa.int64()),
        }
    )
    with Session(InProcess(), options=options) as session:
        session.add_stream("t", table, history=BATCH, batch=BATCH, weight="w", time="ts")
        queries = {name: session.register(sql, name) for name, sql in QUERIES.items()}
        for batch in range(BATCHES + 1):
            so_far = rows[: BATCH * (batch + 1)]
            expected = {
                "fine": sums(so_far, lambda row: [row[:2]]),
                "coarse": sums(so_far, lambda row: [row[:1]]),
                "all": sums(so_far, lambda row: [()]),
                "windows": sums(so_far, lambda row: [(start,) for start in hours(row)]),
            }
            for name, query in queries.items():
                answer = query.result()
                found = [(*map(str, key), repr(float(value))) for *key, value in answer.values.tolist()]
                wanted = [(*map(str, key), repr(value)) for key, value in expected[name].items()]
                assert sorted(found) == sorted(wanted), name
            session.run(1)
