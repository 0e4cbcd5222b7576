"""Joins of rows within some distance of each other: the bands of their predicates, and which pairs are in a band."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from workbench.arrow.types import to_arrow
from workbench.engine.physical.band import Band, BandEnd
from workbench.engine.physical.band_predicates import bands_of
from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import Column, text
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

COLUMNS = (
    ("k", STRING), ("s", STRING), ("d", DATE), ("e", DATE), ("n", INTEGER), ("o", INTEGER), ("t", TIMESTAMP),
    ("u", TIMESTAMP), ("x", DOUBLE), ("y", DOUBLE), ("m", decimal(15, 2)), ("c", decimal(9, 3)), ("w", decimal(38, 10)),
)  # fmt: skip
SCHEMA = Schema(streams={"M": COLUMNS}, functions={})
HOUR = 3_600_000_000

BANDS: dict[str, list[tuple[str, str, float, float]]] = {
    "b.d - a.d < 40": [("d", "d", -inf, 39)],
    "b.d < a.d + 40 AND b.d > a.d": [("d", "d", 1, 39)],
    "a.d >= b.d - 3 AND a.d <= b.d + 2": [("d", "d", -2, 3)],
    "b.d = a.d + 1": [("d", "d", 1, 1)],
    "b.d - a.d BETWEEN -5 AND 7": [("d", "d", -5, 7)],
    "b.e - a.d < 4 AND b.d - a.d < 9 AND b.d - a.d > 1": [("d", "d", 2, 8)],
    "b.d - a.d < 40 OR b.n = 3": [],
    "b.d <> a.d": [],
    "b.n - a.n < 40": [("n", "n", -inf, 39)],
    "b.t < a.t": [("t", "t", -inf, -1)],
    "b.t BETWEEN a.t - INTERVAL '1' HOUR AND a.t": [("t", "t", -HOUR, 0)],
    "b.t - a.t < INTERVAL '1' HOUR AND b.t >= a.t": [("t", "t", 0, HOUR - 1)],
    "b.d > a.e AND a.d > DATE '2001-01-01'": [("e", "d", 1, inf)],
    "b.n BETWEEN a.n AND a.o": [("n", "n", 0, inf), ("o", "n", -inf, 0)],
    "a.n < b.o AND b.n < a.o": [("n", "o", 1, inf), ("o", "n", -inf, -1)],
    "b.n BETWEEN a.n - 3 AND a.n + 3": [("n", "n", -3, 3)],
    "b.m > a.m + 0.5": [("m", "m", 51, inf)],
    "2 * b.m <= 2 * a.m - 1.01": [("m", "m", -inf, -51)],
    "b.x >= a.x AND b.x < a.y": [("x", "x", 0, inf), ("y", "x", -inf, -1)],
    "b.x = a.y": [("y", "x", 0, 0)],
    "b.s < a.s": [("s", "s", -inf, -1)],
    "b.w >= a.w": [("w", "w", 0, inf)],
    "b.c <= a.m": [("m * 1", "c", -inf, 0)],
    "b.n > a.x": [("x", "cast(n as double)", 1, inf)],
    "2 * b.n < a.n + a.o": [
        ("cast(n as decimal(19,0)) + cast(o as decimal(19,0))", "cast(n as decimal(19,0)) * 2", -inf, -1)
    ],
    "b.n = a.n AND b.m = a.m": [],
    "a.n + b.n < b.o": [
        ("0 - cast(n as decimal(19,0))", "cast(n as decimal(19,0)) - cast(o as decimal(19,0))", -inf, -1)
    ],
    "b.n * a.n < 3": [],
}


@pytest.mark.parametrize("condition", BANDS)
def test_the_bands_of_a_join(condition: str) -> None:
    logical = bind(f"SELECT a.n FROM M a, M b WHERE a.k = b.k AND ({condition})", "spark", SCHEMA).query
    assert logical is not None
    network = Planner().register(Network(), "q", logical).network
    (join,) = (node for node in network.nodes.values() if isinstance(node, Join))
    found = {(_text(b.left), _text(b.right), b.low, b.high) for b in bands_of(join.tested)}
    wanted = {(_text(left), _text(right), low, high) for left, right, low, high in BANDS[condition]}
    # Which side is left is the network's choice.
    assert found in (wanted, {(right, left, -high, -low) for left, right, low, high in wanted})


def _text(end: BandEnd | str) -> str:
    return (text(end.expression) if isinstance(end, BandEnd) else end).translate({ord(c): None for c in "() "})


LARGE = 2**63 - 1
VALUES: dict[str, tuple[DataType, list[Any]]] = {
    "integer": (INTEGER, [None, 0, 1, -1, 5, LARGE, LARGE - 1, -LARGE - 1, -LARGE]),
    "decimal": (decimal(18, 2), [None, *map(Decimal, ["0.00", "-0.01", "0.01", "9999999999999999.99"])]),
    "wide decimal": (decimal(38, 2), [None, *map(Decimal, ["0.00", "0.01", "9" * 36 + ".99", "9" * 36 + ".98"])]),
    "double": (DOUBLE, [None, nan, inf, -inf, 0.0, -0.0, 5e-324, -5e-324, 1.5]),
    "text": (STRING, [None, "", "a", "a\x00", "a" * 16, "a" * 17, "a" * 17 + "b", "é", "z", "\U0001f600"]),
    "date": (DATE, [None, dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(9999, 12, 31)]),
    "time": (TIMESTAMP, [None, dt.datetime(1, 1, 1), dt.datetime(2024, 2, 29), dt.datetime(9999, 12, 31, 23, 59)]),
    "truth": (BOOLEAN, [None, False, True]),
}
COMPARED: dict[tuple[float, float], Callable[[Any, Any], bool]] = {
    (0, 0): lambda own, other: own == other,
    (1, inf): lambda own, other: own < other,
    (-inf, 0): lambda own, other: own >= other,
    (-inf, -1): lambda own, other: own > other,
}


def band_of(type_: DataType, low: float, high: float) -> Band:
    return Band(BandEnd(Column("a", type_)), BandEnd(Column("b", type_)), low, high)


def place(value: Any) -> Any:
    """A value in Spark's order: NaN is the largest."""
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("bounds", COMPARED)
def test_pairs_of_a_band_are_those_that_compare_so(kind: str, bounds: tuple[float, float]) -> None:
    type_, values = VALUES[kind]
    pairs = [(a, b) for a in values for b in values]
    left, right = batch("a", [a for a, _ in pairs], type_), batch("b", [b for _, b in pairs], type_)
    wanted = [None not in (a, b) and COMPARED[bounds](place(a), place(b)) for a, b in pairs]
    assert band_of(type_, *bounds).has(left, right).tolist() == wanted


@pytest.mark.parametrize("bounds", [(-3, 3), (1, inf), (-inf, -2), (LARGE // 3, inf), (-inf, -LARGE // 3), (4, 2)])
@pytest.mark.parametrize("changed", [0, 1])
def test_bounds_of_whole_numbers_never_overflow(bounds: tuple[float, float], changed: int) -> None:
    """The bounds of either side's rows say what all pairs say."""
    random = Random(3)
    values = [random.choice([0, LARGE, -LARGE - 1, LARGE // 3]) for _ in range(12)]
    values = [max(-LARGE - 1, min(LARGE, value + random.randrange(-4, 5))) for value in values]
    band = band_of(INTEGER, *bounds)
    numbers, _ = band.end(changed).orders(batch("ab"[changed], values, INTEGER))
    least, greatest, possible = band.bounds(changed, numbers)
    for at, own in enumerate(values):
        for other in values:
            apart = other - own if changed == 0 else own - other
            inside = possible[at] and (least is None or least[at] <= other)
            assert (inside and (greatest is None or other <= greatest[at])) == (bounds[0] <= apart <= bounds[1])


def batch(name: str, values: Sequence[Any], type_: DataType) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, to_arrow(type_))], names=[name])
