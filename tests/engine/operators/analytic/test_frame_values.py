"""Analytic functions over rows in order, beside the same by definition: each value of the rows that its frame has.

Frames of every kind with ends on either side, values that are NULL, NaN, infinite, of 64 bits and of 38 digits.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from long import some

from workbench.arrow.types import to_arrow
from workbench.engine.operators.analytic.frame_values import frame_value
from workbench.engine.operators.analytic.frames import OrderedBatch
from workbench.engine.operators.analytic.ordered_rows import OrderedRows
from workbench.engine.storage.indexes.order_index import RowOrder
from workbench.sql.algebra.analytic import ROW_ORDER, AnalyticCall, Frame, FrameEnd, Over
from workbench.sql.algebra.expressions import Column, Constant, Expression
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, array_of, decimal

NAN = float("nan")
MOST = 2**63 - 1
TYPES = {
    "g": STRING,
    "n": INTEGER,
    "x": DOUBLE,
    "m": decimal(15, 2),
    "w": decimal(38, 3),
    "d": DATE,
    "t": TIMESTAMP,
    "s": STRING,
    "id": INTEGER,
}
EPOCH = dt.datetime(1970, 1, 1)
DRAWS: dict[str, list[Any]] = {
    "g": ["a", "b", None],
    "n": [None, -MOST - 1, MOST, MOST - 1, *range(-6, 12)],
    "x": [None, NAN, math.inf, -math.inf, 0.1, 0.2, -2.5, 1e300, *(i / 4 for i in range(12))],
    "m": [None, *(Decimal(i) / 100 for i in range(-20, 30, 3)), Decimal("9999999999999.99")],
    "w": [None, Decimal("-0.5"), Decimal(10) ** 34, Decimal("1e34").copy_negate(), Decimal("3.141")],
    "d": [None, *(dt.date(2024, 2, 20) + dt.timedelta(days=i) for i in range(14))],
    "t": [None, *(EPOCH + dt.timedelta(seconds=900 * i) for i in range(-8, 30, 3))],
    "s": [None, "", "a", "b", "é", "aa"],
}
ENDS: dict[str, list[tuple[str, str]]] = {
    "n": [(str(by), "") for by in (-(10**30), -MOST, -3, -1, 0, 2, 5, 2**64 - 1, 2**70)] + [("-0.5", ""), ("0.5", "")],
    "x": [(str(by), "") for by in (-1, -0.3, 0, 0.25, 2)],
    "m": [(by, "") for by in ("-0.05", "-0.015", "0", "0.015", "0.09")],
    "d": [(str(by), "DAY") for by in (-3, -1, 0, 2)],
    "t": [("-1", "DAY"), ("-1800", "SECOND"), ("0", "SECOND"), ("900", "SECOND")],
    "w": [(by, "") for by in ("-20000000000000000000000000000000000", "-3.64", "0", "0.0005", "10000000000000000000")],
}


def drawn_frame(random: Random, key: str | None) -> Frame | None:
    units = ["rows", "groups", "range"] if key in ENDS else ["rows", "groups"]
    unit = random.choice(units)
    choices = ENDS[str(key)] if unit == "range" else [(str(by), "") for by in (-70, -3, -1, 0, 2, 4)]
    ends = sorted(random.choices(choices, k=2), key=lambda end: float(end[0]) * (86_400 if end[1] == "DAY" else 1))
    start, end = (None if random.random() < 0.25 else FrameEnd(*end) for end in ends)
    return None if start is None and end is None else Frame(unit, start, end)


def drawn_calls(random: Random, over: Over, key: str | None) -> list[AnalyticCall]:
    frame = drawn_frame(random, key)

    def call(name: str, column: str | None, type_: DataType, *more: Any, nulls: bool = False) -> AnalyticCall:
        arguments = () if column is None else (Column(column, TYPES[column]),)
        constants = (Constant(value, INTEGER) for value in more)
        framed = None if name in ("lag", "lead", "ntile", "percent_rank", "cume_dist", "row_number") else frame
        share = (Constant(Decimal("0.3"), decimal(2, 1)),) if name == "percentile_disc" else ()
        return AnalyticCall(name, (*arguments, *share, *constants), type_, over, framed, nulls)

    def in_row_order(name: str, type_: DataType, *arguments: Expression) -> AnalyticCall:
        return AnalyticCall(name, (*arguments, ROW_ORDER), type_, over, frame)

    sums = {"n": decimal(38, 0), "x": DOUBLE, "m": decimal(25, 2), "w": decimal(38, 3)}
    any_ = random.choice(list(DRAWS))
    nulls, number = random.random() < 0.5, random.randrange(4)
    ntile = AnalyticCall("ntile", (Constant(number + 1, INTEGER),), INTEGER, over)
    return [
        *(call("sum", name, type_) for name, type_ in sums.items()),
        *(call(name, "x", DOUBLE) for name in ("var_samp", "stddev_pop")),
        *(replace(call(name, any_, TYPES[any_]), frame=None) for name in ("mode", "percentile_disc")),
        replace(call("median", "x", DOUBLE), frame=None),
        *(call(name, any_, TYPES[any_]) for name in ("mode", "percentile_disc")),
        in_row_order("array_agg", array_of(INTEGER), Constant(True, BOOLEAN), Column("n", INTEGER)),
        in_row_order("listagg", STRING, Column("s", STRING), Constant("-", STRING)),
        *(call(name, any_, TYPES[any_]) for name in ("min", "max")),
        *(call(name, any_, TYPES[any_], nulls=nulls) for name in ("first_value", "last_value")),
        call("nth_value", any_, TYPES[any_], number + 1, nulls=nulls),
        *(call(name, any_, TYPES[any_], number, nulls=nulls) for name in ("lag", "lead")),
        call("lag", "n", INTEGER, number, 7),
        call("count", any_, INTEGER),
        call("count", None, INTEGER),
        *(call(name, None, DOUBLE) for name in ("percent_rank", "cume_dist")),
        ntile,
    ]


# ---- by definition -------------------------------------------------------------------------------------------------


def is_null(value: Any) -> bool:
    return value is None


def distance(end: FrameEnd, kind: str) -> Any:
    if kind in ("d", "t"):
        return dt.timedelta(**{"days" if end.unit == "DAY" else "seconds": int(end.by)})
    return float(end.by) if kind == "x" else Fraction(end.by)


def frame_of(rows: Sequence[dict[str, Any]], at: int, frame: Frame | None, key: str | None, down: bool) -> list[int]:
    """The places of the rows in a frame of one partition, in order."""
    if frame is None:
        return list(range(len(rows)))
    groups = [row["_group"] for row in rows]

    def inside(place: int, end: FrameEnd | None, sign: int) -> bool:
        """Whether a row stands not before the start (-1), or not behind the end (1)."""
        if end is None:
            return True
        if frame.unit == "rows":
            return sign * (at + int(end.by) - place) >= 0
        own, other = rows[at].get(str(key)), rows[place].get(str(key))
        odd = [value is None or value != value for value in (own, other)]
        if frame.unit == "groups" or float(end.by) == 0 or odd[0]:
            by = int(float(end.by)) if frame.unit == "groups" else 0
            return sign * (groups[at] + by - groups[place]) >= 0
        if odd[1]:
            return sign * (at - place) >= 0
        number = Fraction if key in ("n", "m", "w") else (lambda value: value)
        away = number(other) - number(own) if key != "x" else None
        by = distance(end, str(key))
        if key == "x":
            bound = own - by if down else own + by
            return other <= bound if (sign > 0) is not down else other >= bound
        away = -away if down else away
        return (sign * 1 > 0 and away <= by) or (sign < 0 and away >= by)

    return [p for p in range(len(rows)) if inside(p, frame.start, -1) and inside(p, frame.end, 1)]


def smaller(one: Any, other: Any) -> bool:
    if isinstance(one, float):
        return (one < other) or (other != other and one == one)
    if isinstance(one, str):
        return one.encode() < other.encode()
    return bool(one < other)


def least(values: Sequence[Any], is_less: Callable[[Any, Any], bool]) -> Any:
    best = None
    for value in values:
        if best is None or is_less(value, best):
            best = value
    return best


def variance(values: Sequence[float], sample: bool) -> float | None:
    """The variance of a sample, or the standard deviation of all values."""
    if len(values) <= sample:
        return None
    if not all(map(math.isfinite, values)):
        return NAN
    mean = sum(map(Fraction, values)) / len(values)
    squares = sum((Fraction(value) - mean) ** 2 for value in values)
    spread = squares / (len(values) - 1 if sample else len(values))
    found = float(spread) if spread < Fraction(2) ** 1023 else math.inf
    return found if sample else math.sqrt(found)


def by_definition(call: AnalyticCall, rows: Sequence[dict[str, Any]], at: int, key: str | None, down: bool) -> Any:
    column = call.arguments[0].name if call.arguments and isinstance(call.arguments[0], Column) else None
    constants = [int(a.value) for a in call.arguments if isinstance(a, Constant) and isinstance(a.value, int)]
    name = call.function
    if name in ("lag", "lead"):
        others = [p for p in range(len(rows)) if not call.ignore_nulls or rows[p][str(column)] is not None]
        by = constants[0]
        if not by:
            return rows[at][str(column)]
        others = [p for p in others if (p < at if name == "lag" else p > at)]
        if len(others) < by:
            return constants[1] if len(constants) > 1 else None
        return rows[others[-by] if name == "lag" else others[by - 1]][str(column)]
    ranks = [row["_group"] for row in rows]
    if name == "percent_rank":
        return 0.0 if len(rows) == 1 else sum(r < ranks[at] for r in ranks) / (len(rows) - 1)
    if name == "cume_dist":
        return sum(r <= ranks[at] for r in ranks) / len(rows)
    if name == "ntile":
        tiles = np.array_split(np.arange(len(rows)), constants[0])
        return next(n for n, tile in enumerate(tiles, 1) if at in tile)
    places = frame_of(rows, at, call.frame, key, down)
    values = [rows[p][column] if column is not None else 1 for p in places]
    known = [value for value in values if value is not None]
    match name:
        case "count":
            return len(known)
        case "sum" if column == "x":
            return math.fsum(known) if all(map(math.isfinite, known)) and known else sum(known) if known else None
        case "var_samp" | "stddev_pop":
            return variance(known, name == "var_samp")
        case "array_agg":
            listed = [row["n"] for row in map(rows.__getitem__, places)]
            return json.dumps(listed, separators=(",", ":")) if listed else None
        case "listagg":
            return "-".join(known) if known else None
        case "mode":
            order = sorted(known, key=cmp_to_key(lambda one, other: -1 if smaller(one, other) else 1))
            return max(order, key=lambda value: sum(same(value, other) for other in known), default=None)
        case "percentile_disc" | "median":
            order = sorted(known, key=cmp_to_key(lambda one, other: -1 if smaller(one, other) else smaller(other, one)))
            if not order:
                return None
            if name == "percentile_disc":
                return order[max(1, math.ceil(Decimal("0.3") * len(order))) - 1]
            low, high = order[(len(order) - 1) // 2], order[len(order) // 2]
            return low if low == high else low * 0.5 + high * 0.5
        case "sum":
            total = sum(map(Fraction, known)) if known else None
            return total if total is None or abs(total) < Fraction(10) ** (38 - call.type.scale) else None
        case "min":
            return least(known, smaller)
        case "max":
            return least(known, lambda one, other: smaller(other, one))
        case _:
            values = known if call.ignore_nulls else values
            nth = -1 if name == "last_value" else constants[0] - 1 if constants else 0
            return values[nth] if values and nth < len(values) else None


# ---- the comparison ------------------------------------------------------------------------------------------------


def ordered(random: Random, count: int, over: Over, key: str | None, down: bool, first: bool) -> pa.RecordBatch:
    rows = [{name: random.choice(values) for name, values in DRAWS.items()} | {"id": i} for i in range(count)]
    fields = [pa.field(name, to_arrow(type_)) for name, type_ in TYPES.items()]
    schema = pa.schema([*fields, ("_weight", pa.int64())])
    batch = pa.RecordBatch.from_pylist([row | {"_weight": 1} for row in rows], schema=schema)
    partition = tuple(c.name for c in over.partition if isinstance(c, Column))
    order = RowOrder(partition, ((key, (down, first)),) if key else (), ("id",))
    side = OrderedRows.of([], [batch], order).side(1)
    all_ = np.ones(count, dtype=bool)
    wanted = all_.copy()
    wanted[random.sample(range(count), count // 4)] = False
    return side.batch(all_, wanted)


def same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(Fraction(one) == other) if isinstance(other, Fraction) else one == other


@pytest.mark.parametrize("seed", some(range(400), 40))
def test_values_are_those_of_the_rows_in_the_frame(seed: int) -> None:
    random = Random(seed)
    key = random.choice([None, *DRAWS])
    down, first = random.random() < 0.5, random.random() < 0.5
    keys = () if key is None else (SortKey(Column(key, TYPES[key]), down, first),)
    partition = (Column("g", STRING),) if random.random() < 0.7 else ()
    over = Over(partition, keys if key != "g" or not partition else (), (Column("id", INTEGER),))
    key = key if over.order else None
    batch = ordered(random, random.choice([1, 2, 40, 90]), over, key, down, first)
    rows = batch.to_pylist()
    parts = {part: [row for row in rows if row["_part"] == part] for part in {row["_part"] for row in rows}}
    for call in drawn_calls(random, over, key):
        value = frame_value(call, ())
        found = value.values(OrderedBatch.of(batch))
        assert found.type == to_arrow(call.type), call.text
        for row, given in zip((row for row in rows if row["_keep"]), found.to_pylist(), strict=True):
            own = parts[row["_part"]]
            expected = by_definition(call, own, own.index(row), key, down)
            assert same(given, expected), (call.text, row, given, expected)
