"""The grouped filter against plain Python: every operator at, below and above every constant, NULL and NaN included.

Spark evaluates the tested expressions as it does for a batch; the filter looks their values up.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
from decimal import Decimal
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType
from three_valued import satisfied

from workbench.arrow.types import to_arrow
from workbench.engine.physical.filters.filter_plan import CompiledFilter, compile_filter
from workbench.engine.physical.stored.calls import StoredCall
from workbench.engine.physical.stored.values import Computed
from workbench.engine.spark.user_functions.attempt import Attempt
from workbench.engine.storage.lineage import Bits, count_bits, mask, patterns, word_arrays, word_column
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, Value
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, or_pred, pred_set


def each(bits: range | list[int]) -> list[frozenset[int]]:
    """Every bit is worth keeping a row for."""
    return [frozenset([bit]) for bit in bits]


COMPARISONS = [Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE]
MONEY, WIDE = decimal(15, 2), decimal(38, 10)
BIGGEST = 2**63 - 1
D = Decimal

POINTS: dict[DataType, tuple[list[Value], list[tuple[Value, DataType]]]] = {
    INTEGER: (
        [-BIGGEST - 1, -(2**62), -2, -1, 0, 1, 2, 2**53 + 1, 2**62 - 1, 2**62, 2**62 + 1, BIGGEST - 1, BIGGEST],
        [
            *((v, INTEGER) for v in (-BIGGEST - 1, -1, 0, 1, 2**62 - 1, 2**62, BIGGEST)),
            *((D(v), decimal(20, 1)) for v in ("0.5", "-0.5", "1.0", "9223372036854775807.5")),
            (D(2**63), decimal(19, 0)),
        ],
    ),
    MONEY: (
        [D(v) for v in ("-9999999999999.99", "-0.02", "-0.01", "0.00", "0.01", "0.02", "1.00", "9999999999999.99")],
        [
            *((D(v), decimal(16, 3)) for v in ("0.005", "-0.005", "0.010", "-0.015", "1.001")),
            *((D(v), MONEY) for v in ("0.00", "0.01", "-0.01", "9999999999999.99")),
            *((v, INTEGER) for v in (0, 1, -1, 2**62, BIGGEST)),
            (D("99999999999999999999"), decimal(20, 0)),
        ],
    ),
    WIDE: (
        [D(v) for v in ("-9999999999999999999999999999.9999999999", "-1", "-1e-10", "0", "1e-10", "1")]
        + [D("461168601.8427387904"), D("922337203.6854775807"), D("9999999999999999999999999999.9999999999")],
        [
            *((D(v), WIDE) for v in ("0.0000000000", "0.0000000001", "461168601.8427387904", "1000000000.0000000000")),
            (D("9999999999999999999999999999.9999999999"), WIDE),
            (D("0.00000000005"), decimal(12, 11)),
            (BIGGEST, INTEGER),
        ],
    ),
    DOUBLE: (
        [-math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 0.1, 1.0, 1.5, 9007199254740992.0, 1e308, math.inf, math.nan],
        [
            *((v, DOUBLE) for v in (0.0, -0.0, 0.1, 1.5, math.inf, -math.inf, math.nan, 5e-324)),
            (1, INTEGER),
            (D("0.1"), decimal(1, 1)),
        ],
    ),
    STRING: (
        ["", " ", "A", "B", "Z", "a", "aa", "ab", "b", "é", "e\u0301", "\uffff", "\U0001f600", "'", "\\", "%"],
        [(v, STRING) for v in ("", "A", "a", "aa", "é", "\U0001f600", "'", "\\", "%")],
    ),
    DATE: (
        [
            *(dt.date(1, 1, 1), dt.date(1582, 10, 4), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(1970, 1, 2)),
            *(dt.date(2002, 11, 27), dt.date(9999, 12, 31)),
        ],
        [(v, DATE) for v in (dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(2002, 11, 27), dt.date(9999, 12, 31))],
    ),
    TIMESTAMP: (
        [
            *(dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(1970, 1, 1)),
            *(dt.datetime(2002, 11, 27, 10, 30, 0, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
            *(dt.datetime(9999, 12, 31, 23, 59, 59, 999998), dt.datetime(1, 1, 1, 0, 0, 0, 1)),
        ],
        [
            *((v, TIMESTAMP) for v in (dt.datetime(1, 1, 1), dt.datetime(1970, 1, 1))),
            *((v, TIMESTAMP) for v in (dt.datetime(2002, 11, 27, 10, 30, 0, 1), dt.datetime(1, 1, 1, 0, 0, 0, 1))),
            # Microseconds beyond 2^53 are not whole numbers of a DOUBLE.
            (dt.datetime(9999, 12, 31, 23, 59, 59, 999999), TIMESTAMP),
        ],
    ),
}


def lineage_on_spark(
    spark: SparkSession, table: pa.Table, types: dict[str, DataType], compiled: CompiledFilter
) -> Bits:
    """Lineage of the rows of a table, in order, the tests evaluated by Spark."""
    ddl = ", ".join([f"`{name}` {type_.spark}" for name, type_ in types.items()])
    rows = spark.createDataFrame(table, schema=StructType.fromDDL(ddl)).coalesce(1)
    tested = rows.selectExpr(*[f"{sql} AS {name}" for name, sql in compiled.tests.items()]).toArrow()
    (batch,) = tested.combine_chunks().to_batches()
    lineage = compiled.filter.lineage(batch)
    # Stored rows have some of the bits already; what else they have is of nodes that have left.
    known = np.frombuffer(random.Random(len(lineage)).randbytes(8 * lineage.shape[1]), dtype=np.uint64)
    left = np.full_like(lineage, np.uint64(0x5555_5555_5555_5555))
    for number, word in enumerate(word_arrays((lineage & known) | (left & ~known))):
        batch = batch.append_column(word_column(number), word)
    assert (compiled.filter.with_known(known).lineage(batch) == lineage).all()
    return lineage


def check(spark: SparkSession, types: dict[str, DataType], rows: list[tuple[Value, ...]], sets: list[PredSet]) -> None:
    """Every PredSet, as one grouped filter, lets through the rows that plain Python does."""
    columns = {name: pa.array([row[i] for row in rows], to_arrow(t)) for i, (name, t) in enumerate(types.items())}
    compiled = compile_filter(dict(enumerate(sets)), range(len(sets)), each(range(len(sets))))
    bits = lineage_on_spark(spark, pa.table(columns), types, compiled)
    for row, lineage in zip(rows, bits, strict=True):
        values = dict(zip(types, row, strict=True))
        found = [bool(int(lineage[bit // 64]) >> (bit % 64) & 1) for bit in range(len(sets))]
        wrong = [str(p) for p, value in zip(sets, found, strict=True) if value != satisfied(p, values)]
        assert not wrong, f"{values}: {wrong}"
    lineages, which, count = patterns(bits)
    assert (lineages[which] == bits).all() and count.sum() == len(bits)
    assert int(count_bits(lineages, count).sum()) == sum(
        satisfied(p, dict(zip(types, row, strict=True))) for row in rows for p in sets
    )


@pytest.mark.parametrize("type_", POINTS, ids=str)
def test_every_comparison_at_every_boundary(spark: SparkSession, type_: DataType) -> None:
    values, constants = POINTS[type_]
    column = Column("a", type_)
    literals = [Literal(column, op, Constant(v, t)) for op in COMPARISONS for v, t in constants]
    literals += [Literal(column, Operator.IS_NULL), Literal(column, Operator.IS_NOT_NULL)]
    sets = [pred_set([or_pred([literal])]) for literal in literals]
    check(spark, {"a": type_}, [(v,) for v in (*values, None)], sets)


def test_ranges_and_disjunctions_over_several_columns(spark: SparkSession) -> None:
    types = {"a": INTEGER, "b": MONEY, "c": STRING, "d": DOUBLE}
    values: list[list[Value]] = [[-1, 0, 5, None], [D("-0.01"), D("0.00"), D("7.50"), None], ["", "a", "b", None]]
    values.append([-0.0, 1.5, math.nan, None])
    rows = list(itertools.product(*values))
    columns = [Column(name, type_) for name, type_ in types.items()]
    chosen = random.Random(7)

    def literal() -> Literal:
        i = chosen.randrange(4)
        if chosen.random() < 0.15:
            return Literal(columns[i], chosen.choice([Operator.IS_NULL, Operator.IS_NOT_NULL]))
        constant = chosen.choice([v for v in values[i] if v is not None])
        return Literal(columns[i], chosen.choice(COMPARISONS), Constant(constant, columns[i].type))

    def predicates() -> PredSet:
        return pred_set(
            or_pred([literal() for _ in range(chosen.choice([1, 1, 2, 3]))]) for _ in range(chosen.randrange(4))
        )

    # More than 128 of them, so that lineage takes three words.
    check(spark, types, rows, [predicates() for _ in range(150)])


def test_comparisons_of_columns_are_answered_by_spark(spark: SparkSession) -> None:
    a, b, flag = Column("a", INTEGER), Column("b", INTEGER), Column("f", BOOLEAN)
    values: list[Value] = [None, -1, 0, 1]
    rows = [(x, y, z) for x in values for y in values for z in (True, False, None)]
    sets = [pred_set([or_pred([Literal(a, op, b)])]) for op in COMPARISONS]
    sets += [pred_set([or_pred([Literal(flag, Operator.HOLDS)])])]
    sets += [pred_set([or_pred([Literal(a, Operator.LT, b), Literal(flag, Operator.HOLDS)])])]
    check(spark, {"a": INTEGER, "b": INTEGER, "f": BOOLEAN}, rows, sets)


def test_equal_expressions_are_evaluated_once() -> None:
    a = Column("a", INTEGER)
    total: Expression = Call("+", (a, Constant(1, INTEGER)), INTEGER)
    sets = {i: pred_set([or_pred([Literal(total, Operator.GT, Constant(i, INTEGER))])]) for i in range(100)}
    compiled = compile_filter(sets, range(100), each(range(100)))
    assert len(compiled.tests) == 1
    assert len(compiled.filter.tables) == 1


def test_a_row_is_kept_for_wanted_bits_only() -> None:
    a = Column("a", INTEGER)
    positive = pred_set([or_pred([Literal(a, Operator.GT, Constant(0, INTEGER))])])
    compiled = compile_filter({0: PredSet(), 1: positive}, [0, 1], each([1]))
    (name,) = compiled.tests
    bits = compiled.filter.lineage(pa.record_batch({name: pa.array([0, 1, None], pa.int64())}))
    assert bits[:, 0].tolist() == [0b01, 0b11, 0b01]
    assert (bits & compiled.filter.keep).any(axis=1).tolist() == [False, True, False]


def test_slices_of_arrow_batches_are_looked_up_at_their_offset() -> None:
    a = Column("a", MONEY)
    compiled = compile_filter({0: pred_set([or_pred([Literal(a, Operator.GE, Constant(2, INTEGER))])])}, [0], each([0]))
    (name,) = compiled.tests
    batch = pa.record_batch({name: pa.array([D(1), D(2), None, D(3)], pa.decimal128(15, 2))})
    assert compiled.filter.lineage(batch.slice(1))[:, 0].tolist() == [1, 0, 1]
    assert compiled.filter.lineage(batch.slice(0, 0)).shape == (0, 1)


def test_functions_are_called_last_for_rows_that_need_them() -> None:
    a, b = Column("a", INTEGER), Column("b", DOUBLE)
    call = Call("f@1", (a, b), INTEGER)

    def test(left: Expression, operator: Operator, number: int) -> Literal:
        return Literal(left, operator, Constant(number, INTEGER))

    both = pred_set([or_pred([test(a, Operator.GT, 5)]), or_pred([test(call, Operator.GT, 3)])])
    either = pred_set([or_pred([test(a, Operator.LT, 2), test(call, Operator.GT, 9)])])
    unknown = pred_set([or_pred([test(a, Operator.GT, 8)]), or_pred([Literal(call, Operator.IS_NULL)])])
    sets = {0: both, 1: either, 2: unknown}
    compiled = compile_filter(sets, range(3), each(range(3)), ["a", "b"])
    assert not compiled.tests and compiled.filter.calls == (StoredCall("f@1", ("a", "b")),) * 2
    asked: list[tuple[int | None, float | None]] = []

    def told(first: pa.Array, second: pa.Array) -> Attempt:
        asked.extend(zip(first.to_pylist(), second.to_pylist(), strict=True))
        sums = [None if x is None or y is None else int(x + y) for x, y in asked[-len(first) :]]
        return Attempt(pa.array(sums, pa.int64()), np.zeros(len(sums), dtype=bool))

    function = Mock(told=told)

    numbers, others = [0, 1, 2, 6, 6, 9, 9, None, 2, 6], [0.5, 0.0, -0.0, 0.0, 4.0, None, -8.0, 1.0, 0.0, 4.0]
    batch = pa.record_batch({"a": pa.array(numbers, pa.int64()), "b": pa.array(others, pa.float64())})
    bits = compiled.filter.calling({"f@1": function, "other@1": function}).lineage(batch)[:, 0].tolist()
    for number, other, found in zip(numbers, others, bits, strict=True):
        value = None if number is None or other is None else int(number + other)
        big, small = number is not None and number > 5, number is not None and number < 2
        expected = [big and value is not None and value > 3, small or (value is not None and value > 9)]
        expected.append(number is not None and number > 8 and value is None)
        assert [bool(found >> bit & 1) for bit in range(3)] == expected, (number, other)
    of_both = [(6, 0.0), (6, 4.0), (9, None), (9, -8.0)]
    of_either = [*of_both, (None, 1.0), (2, 0.0), (2, -0.0)]  # -0.0 is another argument than 0.0
    assert sorted(map(str, asked)) == sorted(map(str, of_either))  # one call serves both


def test_counting_bits_over_several_words() -> None:
    bits = np.array([mask([0, 63, 64], 2), mask([63, 127], 2), mask([63, 127], 2)])
    lineages, which, rows = patterns(bits)
    assert len(lineages) == 2 and (lineages[which] == bits).all() and sorted(rows) == [1, 2]
    counts = count_bits(lineages, rows)
    assert {bit: int(n) for bit, n in enumerate(counts) if n} == {0: 1, 63: 3, 64: 1, 127: 2}


def test_what_is_computed_is_computed_of_rows_that_columns_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    a, s = Column("a", INTEGER), Column("s", STRING)
    one = or_pred([Literal(a, Operator.EQ, Constant(7, INTEGER))])
    upper = Literal(Call("upper", (s,), STRING), Operator.EQ, Constant("S7", STRING))
    either = or_pred([upper, Literal(Call("lower", (s,), STRING), Operator.EQ, Constant("x", STRING))])
    read = list[int]()
    values = Computed.values
    monkeypatch.setattr(Computed, "values", lambda self, rows: [read.append(rows.num_rows), values(self, rows)][1])
    for tests in ([one, or_pred([upper])], [one, either]):
        compiled = compile_filter({0: PredSet(), 1: pred_set(tests)}, [0, 1], each([1]), ["a", "s"])
        rows = pa.record_batch({"a": pa.array(range(50), pa.int64()), "s": pa.array([f"s{n}" for n in range(50)])})
        bits = compiled.filter.lineage(rows)[:, 0].tolist()
        assert bits == [0b11 if n == 7 else 0b01 for n in range(50)]
    assert set(read) == {1}
