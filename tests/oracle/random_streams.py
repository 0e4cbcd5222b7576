"""Small random streams with what breaks engines: NULLs, duplicates and the ends of every type's range."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa

D = Decimal
BIGGEST = 2**63 - 1

T_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("k", pa.int64()),
        ("g", pa.string()),
        ("amount", pa.decimal128(15, 2)),
        ("big", pa.int64()),
        ("wide", pa.decimal128(38, 4)),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("s", pa.string()),
        ("d", pa.date32()),
        ("ts", pa.timestamp("us")),
        ("flag", pa.bool_()),
    ]
)
"""The stream ``t``; ``u`` has the same columns. ``x`` can be summed, ``y`` has NaN, infinities and what overflows."""

NAMES_SCHEMA = pa.schema([("k", pa.int64()), ("name", pa.string()), ("rate", pa.decimal128(6, 3))])
"""The table ``names``."""

Draw = Callable[[], object]


def stream(rows: int, seed: int, extremes: float = 0.08, nulls: float = 0.12, again: float = 0.1) -> pa.Table:
    """Rows of ``T_SCHEMA``: keys and groups meet often; some values are NULL or extreme, some rows come again."""
    chosen = random.Random(seed)
    draws = _draws(chosen, extremes)
    made: list[tuple[object, ...]] = []
    for number in range(rows):
        if made and chosen.random() < again:
            made.append(chosen.choice(made))
            continue
        values = (None if chosen.random() < nulls else draw() for draw in draws)
        made.append((number, *values))
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(zip(*made, strict=True), T_SCHEMA, strict=True)],
        schema=T_SCHEMA,
    )


def _draws(chosen: random.Random, extremes: float) -> list[Draw]:
    """How to draw a value of each column but the first."""

    def mostly(usual: Draw, rare: list[object]) -> Draw:
        return lambda: chosen.choice(rare) if chosen.random() < extremes else usual()

    amounts: Draw = lambda: D(chosen.randrange(-500_000, 2_000_000)).scaleb(-2)  # noqa: E731
    start = dt.datetime(2002, 11, 1)
    return [
        mostly(lambda: chosen.randrange(12), [-1, 0, BIGGEST, -BIGGEST - 1]),
        mostly(lambda: chosen.choice("abcdef"), ["", " ", "é", "e\u0301", "A", "\U0001f600"]),
        mostly(amounts, [D("0.00"), D("-0.01"), D("0.01"), D("9999999999999.99"), D("-9999999999999.99")]),
        mostly(lambda: chosen.randrange(-1_000, 1_000), [BIGGEST, -BIGGEST - 1, BIGGEST - 1, 2**53 + 1, 2**62]),
        mostly(
            lambda: D(chosen.randrange(-(10**9), 10**9)).scaleb(-4),
            # More digits than Java's DECIMAL128 has; a hundred of them still fit into 38 digits.
            [D("9" * 32 + ".9999"), D("-" + "9" * 32 + ".9999"), D("0.0001"), D("461168601842738.7904")],
        ),
        # Eighths, so that sums are exact in any order and rounding does not hide what else may differ.
        mostly(lambda: chosen.randrange(-400, 400) / 8, [0.0, -0.0, 1e6, -1e6]),
        mostly(
            lambda: round(chosen.uniform(-50, 50), 1),
            [math.nan, math.nan, math.inf, -math.inf, 0.0, -0.0, 1e300, -1e300, 5e-324],
        ),
        mostly(
            lambda: chosen.choice(["apple", "pear", "plum", "fig_1", "100%"]), ["", "É", "a'b", "back\\slash", "ab\nc"]
        ),
        mostly(
            lambda: dt.date(2002, 11, 1) + dt.timedelta(days=chosen.randrange(60)),
            [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2000, 2, 29)],
        ),
        mostly(
            lambda: start + dt.timedelta(seconds=chosen.randrange(3_000_000)),
            [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(1970, 1, 1)],
        ),
        lambda: chosen.random() < 0.5,
    ]


def names(seed: int) -> pa.Table:
    """Rows of ``NAMES_SCHEMA``: most keys once, some twice, some never, one NULL."""
    chosen = random.Random(seed)
    keys: list[int | None] = [*range(9), 3, 4, None, BIGGEST]
    return pa.table(
        [
            pa.array(keys, pa.int64()),
            pa.array([chosen.choice(["one", "two", "", None]) for _ in keys]),
            pa.array([D(chosen.randrange(5_000)).scaleb(-3) for _ in keys], pa.decimal128(6, 3)),
        ],
        schema=NAMES_SCHEMA,
    )
