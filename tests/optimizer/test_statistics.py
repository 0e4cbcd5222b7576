"""Statistics and selectivities of known distributions, beside the fractions counted in the rows themselves."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from effort import effort

from workbench.optimizer.selectivity import DEFAULTS, FLOOR, Statistics, join_rows, selectivity
from workbench.optimizer.statistics import COMMON_VALUES, QUANTILES, ColumnStatistics, StreamStatistics, collect
from workbench.sql.algebra.expressions import Call, Column, Value
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.schema import Schema

NAN, INF = float("nan"), float("inf")
ROWS = 10_000
START = dt.datetime(2020, 1, 1)
RNG = np.random.default_rng(7)

DATA: dict[str, list[Value]] = {
    "i": [i % 100 for i in range(ROWS)],  # 0 to 99, 100 times each
    "key": list(range(ROWS)),
    "type": [1000 if i % 10 < 7 else i % 10 for i in range(ROWS)],  # 1000 in 70 %
    "half": [None if i % 2 else i % 400 for i in range(ROWS)],
    "m": [Decimal(i) / 100 for i in range(ROWS)],  # 0.00 to 99.99
    "x": RNG.normal(size=ROWS).tolist(),
    "s": [f"{i % 500:03d}" for i in range(ROWS)],
    "d": [START.date() + dt.timedelta(days=i % 366) for i in range(ROWS)],
    "ts": [START + dt.timedelta(hours=i) for i in range(ROWS)],
    "p": [None if i % 4 == 0 else i % 4 == 1 for i in range(ROWS)],
    "void": [None] * ROWS,
    "odd": [NAN if i % 2 else (-0.0, 0.0, float(i), INF)[i // 2 % 4] for i in range(ROWS)],
}
TYPES = {
    "i": INTEGER, "key": INTEGER, "type": INTEGER, "half": INTEGER, "m": decimal(15, 2), "x": DOUBLE, "s": STRING,
    "d": DATE, "ts": TIMESTAMP, "p": BOOLEAN, "void": INTEGER, "odd": DOUBLE,
}  # fmt: skip
ARROW = {"m": pa.decimal128(15, 2), "void": pa.int64()}
TABLE = pa.table({name: pa.array(values, ARROW.get(name)) for name, values in DATA.items()})
AS_ROWS = [dict(zip(DATA, values, strict=True)) for values in zip(*DATA.values(), strict=True)]
COLLECTED = collect(TABLE)
SCHEMA = Schema(streams={"T": tuple(TYPES.items())})


def where(condition: str) -> PredSet:
    query = bind(f"SELECT key FROM T WHERE {condition}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return query.where


def of(statistics: StreamStatistics) -> Statistics:
    return lambda value: statistics.columns.get(value.name) if isinstance(value, Column) else None


def nothing(column: Column) -> None:
    """No column is known."""


def one(table_values: Sequence[Value], type_: pa.DataType | None = None, rows: int | None = None) -> ColumnStatistics:
    return collect(pa.table({"a": pa.array(table_values, type_)}), rows).columns["a"]


Row = dict[str, Any]
CASES: list[tuple[str, Callable[[Row], bool | None]]] = [
    ("i = 5", lambda r: r["i"] == 5),
    ("i <> 5", lambda r: r["i"] != 5),
    ("i < 0", lambda r: False),
    ("i <= 0", lambda r: r["i"] == 0),
    ("i >= 99", lambda r: r["i"] == 99),
    ("i > 99", lambda r: False),
    ("i < 30", lambda r: r["i"] < 30),
    ("i > 29.5", lambda r: r["i"] > 29.5),
    ("i > 5 AND i < 7", lambda r: r["i"] == 6),
    ("i BETWEEN 10 AND 29", lambda r: 10 <= r["i"] <= 29),
    ("i NOT BETWEEN 10 AND 29", lambda r: not 10 <= r["i"] <= 29),
    ("(i < 20 OR i > 80) AND i <> 7 AND i > 10", lambda r: 10 < r["i"] < 20 or r["i"] > 80),
    ("i IN (1, 2, 3, 500)", lambda r: r["i"] in (1, 2, 3)),
    ("i NOT IN (1, 2, 3, 500)", lambda r: r["i"] not in (1, 2, 3)),
    ("i > 50 AND p", lambda r: r["i"] > 50 and r["p"]),
    ("i < 50 OR m < 50", lambda r: r["i"] < 50 or r["m"] < 50),
    ("type = 1000", lambda r: r["type"] == 1000),
    ("type <> 1000", lambda r: r["type"] != 1000),
    ("type = 8", lambda r: r["type"] == 8),
    ("type = 6", lambda r: False),
    ("half IS NULL", lambda r: r["half"] is None),
    ("half IS NOT NULL", lambda r: r["half"] is not None),
    ("half < 100", lambda r: r["half"] is not None and r["half"] < 100),
    ("half < 100 OR half IS NULL", lambda r: r["half"] is None or r["half"] < 100),
    ("NOT half < 100", lambda r: r["half"] is not None and r["half"] >= 100),
    ("m >= 25", lambda r: r["m"] >= 25),
    ("m >= 2.5e1 AND m < 50", lambda r: 25 <= r["m"] < 50),
    ("x > 0", lambda r: r["x"] > 0),
    ("x > 1.5", lambda r: r["x"] > 1.5),
    ("x > -1 AND x <= 1", lambda r: -1 < r["x"] <= 1),
    ("s < '250'", lambda r: r["s"] < "250"),
    ("s = '499'", lambda r: r["s"] == "499"),
    ("s > 'a'", lambda r: False),
    ("d >= DATE '2020-07-02'", lambda r: r["d"] >= dt.date(2020, 7, 2)),
    ("d >= TIMESTAMP '2020-07-02 00:00:00'", lambda r: r["d"] >= dt.date(2020, 7, 2)),
    ("d = DATE '2020-03-01'", lambda r: r["d"] == dt.date(2020, 3, 1)),
    ("ts < TIMESTAMP '2020-03-01 12:00:00'", lambda r: r["ts"] < dt.datetime(2020, 3, 1, 12)),
    ("p", lambda r: r["p"]),
    ("NOT p", lambda r: r["p"] is False),
    ("p IS NULL", lambda r: r["p"] is None),
    ("void = 1", lambda r: False),
    ("void IS NULL", lambda r: True),
    ("odd = 0", lambda r: r["odd"] == 0),
    ("odd > 1e9", lambda r: r["odd"] > 1e9 or math.isnan(r["odd"])),
    ("odd <= 1e9", lambda r: r["odd"] <= 1e9),
]


@pytest.mark.parametrize(("condition", "holds"), CASES, ids=[c for c, _ in CASES])
def test_estimates_are_near_what_is_counted(condition: str, holds: Callable[[Row], bool | None]) -> None:
    counted = sum(bool(holds(row)) for row in AS_ROWS) / ROWS
    estimate = selectivity(where(condition), of(COLLECTED))
    assert estimate == pytest.approx(max(counted, FLOOR), rel=0.1, abs=0.005)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("i = 1", 0.1),
        ("i <> 1", 0.9),
        ("i > 1", 1 / 3),
        ("i > 1 AND i < 5", 1 / 9),
        ("i IN (1, 2)", 1 - 0.9**2),
        ("i IS NULL", 0.1),
        ("i IS NOT NULL", 0.9),
        ("i = key", 0.1),
        ("i - key >= 20", 1 / 3),
        ("i < key", 1 / 3),
        ("s LIKE 'a%'", 0.1),
        ("s NOT LIKE 'a%'", 0.9),
        ("s LIKE 'a%' OR i = 1", 0.19),
        ("s <=> CAST(i AS STRING)", 0.1),
        ("CASE WHEN i = 1 THEN p ELSE TRUE END", 0.5),
        ("p", 0.1),
    ],
)
def test_what_is_not_known_has_a_fixed_guess(condition: str, expected: float) -> None:
    assert selectivity(where(condition), nothing) == pytest.approx(expected)
    empty = collect(TABLE.slice(0, 0))
    if condition not in ("i = key", "s <=> CAST(i AS STRING)"):  # an empty column has no distinct values
        assert selectivity(where(condition), of(empty)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("1 = 1", 1.0),
        ("1 = 0", 0.0),
        ("i = 1 AND i = 2", 0.0),
        ("i > 5 AND i < 5", 0.0),
        ("i IS NULL AND i > 5", 0.0),
        ("i = 1 AND (i = 2 OR key = 5)", 0.01 * (1 - (1 - 0.01) * (1 - 0.0001))),
        ("i IS NULL", FLOOR),
        ("i = 1000 AND key = -1 AND half = -1", FLOOR),
        ("i = key", 1 / ROWS),
        ("half = i", 0.5 / 200),
        ("void = i", FLOOR),
        ("i = 1 AND key = 1 AND i = key", 0.01 / ROWS),
        ("i = key AND key = half AND i = half", 0.5 / ROWS / 200),
        ("i = key AND key = half", 0.5 / ROWS / ROWS),
    ],
)
def test_exact_estimates(condition: str, expected: float) -> None:
    assert selectivity(where(condition), of(COLLECTED)) == pytest.approx(max(expected, FLOOR if expected else 0.0))


def test_two_thousand_constants_are_no_matter() -> None:
    few = where(f"key IN ({', '.join(map(str, range(0, ROWS, 5)))})")
    estimated, spent = effort(lambda: selectivity(few, of(COLLECTED)))
    assert estimated == pytest.approx(0.2, rel=0.05)
    assert spent < 20


def test_a_join_of_large_inputs_has_no_floor() -> None:
    pairs = [Literal(Column(name, INTEGER, 0), Operator.EQ, Column(name, INTEGER, 1)) for name in ("key", "other")]
    keys = ColumnStatistics(nulls=0.0, distinct=1e6)
    assert join_rows(1e6, 1e6, pred_set(or_pred([p]) for p in pairs), lambda column: keys) == pytest.approx(1.0)
    assert join_rows(10, 20, PredSet(), nothing) == 200
    assert join_rows(10, 20, pred_set([or_pred(pairs[:1])]), nothing) == 200 * DEFAULTS[Operator.EQ]


@pytest.mark.parametrize(
    ("values", "type_", "nulls", "distinct", "common", "quantiles"),
    [
        ([], pa.int64(), 0.0, 0, (), ()),
        ([None, None], pa.int64(), 1.0, 0, (), ()),
        ([None], pa.null(), 1.0, 0, (), ()),
        ([1, 1, 1, None], None, 0.25, 1, ((1, 0.75),), ()),
        (["b", "a", "b", ""], None, 0.0, 3, (("b", 0.5), ("", 0.25), ("a", 0.25)), ()),
        ([True, None, False, True], None, 0.25, 2, ((True, 0.5), (False, 0.25)), ()),
        ([0.0, -0.0, None, 1.5], None, 0.25, 2, ((0.0, 0.5), (1.5, 0.25)), ()),
        ([Decimal("1.10")], None, 0.0, 1, ((Decimal("1.10"), 1.0),), ()),
        ([dt.date(2020, 2, 29)], None, 0.0, 1, ((dt.date(2020, 2, 29), 1.0),), ()),
        ([START], pa.timestamp("us"), 0.0, 1, ((START, 1.0),), ()),
        (list(range(21)), None, 0.0, 21, (), tuple(range(21))),
        ([7] * 20 + list(range(20)), None, 0.0, 20, ((7, 21 / 40), *((i, 1 / 40) for i in range(20) if i != 7)), ()),
        ([7] * 21 + list(range(21)), None, 0.0, 21, ((7, 22 / 42),), tuple(i for i in range(21) if i != 7)),
    ],
)
def test_what_is_collected(
    values: list[Value], type_: pa.DataType | None, nulls: float, distinct: float, common: object, quantiles: object
) -> None:
    assert one(values, type_) == ColumnStatistics(nulls, distinct, common, quantiles)  # type: ignore[arg-type]


def test_sizes_are_bounded_and_the_ends_are_minimum_and_maximum() -> None:
    for name, column in COLLECTED.columns.items():
        values = [v for v in DATA[name] if v is not None]
        assert len(column.common) <= COMMON_VALUES and len(column.quantiles) <= QUANTILES
        if len(set(values)) > COMMON_VALUES and name != "odd":
            assert (column.quantiles[0], column.quantiles[-1]) == (min(values), max(values)), name


def test_nan_is_one_value_above_infinity() -> None:
    odd = COLLECTED.columns["odd"]
    (first, fraction), *_ = odd.common
    assert math.isnan(first) and fraction == 0.5  # type: ignore[arg-type]
    assert odd.below(NAN) == pytest.approx(0.5) and odd.below(INF) == pytest.approx(0.375, abs=0.001)
    many = one([*map(float, range(500)), NAN, INF])
    assert math.isnan(many.quantiles[-1])  # type: ignore[arg-type]
    assert 0 < many.below(INF) <= many.below(NAN) < 1


def test_heavy_values_beyond_the_common_ones_are_seen_in_the_quantiles() -> None:
    values = [v for v in range(40) for _ in range(250)] + list(range(1000, 6000))
    assert one(values).equal(30) == pytest.approx(250 / 15_000, rel=0.5)


@pytest.mark.parametrize(
    ("values", "rows", "distinct"),
    [
        (list(range(1000)), 100_000, 100_000),  # all different: a key
        ([i % 100 for i in range(1000)], 100_000, 100),  # all seen often: no others
        ([*range(500), *range(500)], 1_000, 500),  # the whole
    ],
)
def test_distinct_values_of_all_rows_from_a_sample(values: list[Value], rows: int, distinct: float) -> None:
    assert one(values, rows=rows).distinct == pytest.approx(distinct)


def test_distinct_values_of_a_random_sample() -> None:
    everything = RNG.integers(0, 5_000, 200_000)
    assert one(RNG.choice(everything, 10_000).tolist(), rows=200_000).distinct == pytest.approx(5_000, rel=0.2)


def test_a_large_table_is_sampled_evenly_and_fast() -> None:
    rows = 200_000
    values = pa.array(np.arange(rows))
    table = pa.table({f"c{i}": values if i % 2 else values.cast(pa.string()) for i in range(50)})
    statistics, spent = effort(lambda: collect(table))
    assert spent < 40
    assert statistics.rows == rows
    assert statistics.columns["c1"].distinct == rows
    assert statistics.columns["c1"].below(rows // 4) == pytest.approx(0.25, abs=0.01)


def test_a_table_in_pieces_is_one_table() -> None:
    pieces = pa.concat_tables([TABLE.slice(i * 1000, 1000) for i in range(10)])
    assert str(collect(pieces)) == str(COLLECTED)  # as text, where NaN equals NaN


def test_values_that_python_has_not_are_counted() -> None:
    value = Call("later", (Column("n", INTEGER),), TIMESTAMP)
    known = collect(pa.table({"n": [1, 2, 3, 4] * 50}))
    far = pa.timestamp("us")
    assert known.distinct(value, lambda value, rows: pc.multiply(rows["n"], 2**60).cast(far)) == 4.0
