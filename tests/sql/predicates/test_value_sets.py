"""Sets of values: membership against plain Python at every boundary, and the text they are written back to."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from decimal import Decimal
from functools import cache

import pytest
from sql.bind_schema import SCHEMA
from three_valued import satisfied

from workbench.sql.algebra.arithmetic import BIGINT_MAX, BIGINT_MIN, number
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.predicates.literal_sets import Subject, subject_and_values, to_literals, to_or_preds, value_set
from workbench.sql.predicates.value_sets import EMPTY, EVERYTHING, NOT_NULL, NULLS, ValueSet, domain

COMPARISONS = (Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE)
MONEY = decimal(4, 2)
DAY, MICROSECOND = dt.timedelta(days=1), dt.timedelta(microseconds=1)
MOMENT, DAY_0 = dt.datetime(1998, 1, 1), dt.date(1998, 1, 1)


def _numbers(*values: int | str) -> list[Constant]:
    return [number(Decimal(v)) for v in values]


CONSTANTS: dict[DataType, list[Constant]] = {
    INTEGER: _numbers("2.5", 4, 5, 6, 9, BIGINT_MIN, BIGINT_MAX, 2**63, -(2**63) - 1),
    MONEY: _numbers("5.001", "5", "5.01", "-0.005", "99.99", "-99.99", "99.995", 100, -1000),
    DOUBLE: [Constant(v, DOUBLE) for v in (1.0, 2.0, -0.0, math.nan, math.inf, -math.inf)] + _numbers("1.5", 2),
    STRING: [Constant(v, STRING) for v in ("", "a", "a\0", "ab", "b", "é", "\uffff", "\U0001f600")],
    BOOLEAN: [Constant(v, BOOLEAN) for v in (False, True)],
    DATE: [Constant(v, DATE) for v in (dt.date(1998, 1, 1), dt.date(1998, 1, 4), dt.date.min + DAY, dt.date.max - DAY)],
    TIMESTAMP: [
        Constant(v, TIMESTAMP)
        for v in (MOMENT, MOMENT + 3 * MICROSECOND, dt.datetime.min + MICROSECOND, dt.datetime.max - MICROSECOND)
    ],
}

GRID: dict[DataType, list[object]] = {
    INTEGER: [None, *range(-1, 11), *(BIGINT_MIN + i for i in range(3)), *(BIGINT_MAX - i for i in range(3))],
    MONEY: [None, *(Decimal(cents) / 100 for cents in (-9999, -9998, -2, -1, 0, 1, 499, 500, 501, 502, 9998, 9999))],
    DOUBLE: [None, -math.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 3.0, 1e308, math.inf, math.nan],
    STRING: [None, "", "\0", "A", "a", "a\0", "a\0\0", "aa", "ab", "ab\0", "abc", "b", "b\0", "c", "é", "é\0", "\u4e00",
             "\uffff", "\uffff\0", "\U00010000", "\U0001f600", "\U0001f600\0", "\U0010ffff"],
    BOOLEAN: [None, False, True],
    DATE: [None, dt.date.min, dt.date.min + DAY, dt.date.max - DAY, dt.date.max,
           *(dt.date(1998, 1, 1) + i * DAY for i in range(-2, 7))],
    TIMESTAMP: [None, dt.datetime.min, dt.datetime.min + MICROSECOND, dt.datetime.max - MICROSECOND, dt.datetime.max,
                *(MOMENT + i * MICROSECOND for i in range(-2, 7))],
}  # fmt: skip

TYPES = pytest.mark.parametrize("type_", list(CONSTANTS), ids=str)


def literals(type_: DataType) -> list[Literal]:
    column = Column("v", type_)
    comparisons = [Literal(column, op, c) for op in COMPARISONS for c in CONSTANTS[type_]]
    return [*comparisons, Literal(column, Operator.IS_NULL), Literal(column, Operator.IS_NOT_NULL)]


def sets(type_: DataType) -> dict[Literal, ValueSet]:
    found = {literal: value_set(literal) for literal in literals(type_)}
    return {literal: values for literal, values in found.items() if values is not None}


def _values(type_: DataType, predicates: PredSet) -> list[bool]:
    return [satisfied(predicates, {"v": value}) for value in GRID[type_]]


def _members(type_: DataType, values: ValueSet) -> list[bool]:
    return [values.contains(point) for point in _points(type_)]


@cache
def _points(type_: DataType) -> list[ValueSet]:
    """The set of each value of the grid alone."""
    constants = [Constant(v, type_) for v in GRID[type_] if v is not None]  # type: ignore[arg-type]
    points = [value_set(Literal(Column("v", type_), Operator.EQ, constant)) for constant in constants]
    return [NULLS, *(point for point in points if point is not None)]


@TYPES
def test_a_literal_is_true_for_just_its_values(type_: DataType) -> None:
    for literal, values in sets(type_).items():
        assert _members(type_, values) == _values(type_, pred_set([or_pred([literal])])), literal


@TYPES
def test_every_constant_of_these_types_is_exact(type_: DataType) -> None:
    assert set(sets(type_)) == set(literals(type_))


@TYPES
def test_conjunction_disjunction_containment_and_the_way_back(type_: DataType) -> None:
    known = [(v, _values(type_, pred_set([or_pred([literal])]))) for literal, v in sets(type_).items()]
    made: dict[ValueSet, list[bool]] = {}
    for (mine, a), (other, b) in itertools.product(known, repeat=2):
        assert mine.contains(other) == all(x or not y for x, y in zip(a, b, strict=True)), (mine, other)
        made[mine.intersect(other)] = [x and y for x, y in zip(a, b, strict=True)]
        made[mine.union(other)] = [x or y for x, y in zip(a, b, strict=True)]
    for values, expected in made.items():
        assert _members(type_, values) == expected, values
        written = pred_set(to_or_preds(Column("v", type_), values))
        assert _values(type_, written) == expected, str(written)


@TYPES
def test_what_literals_say_together_can_be_written_as_one_disjunction(type_: DataType) -> None:
    column = Column("v", type_)
    for mine, other in itertools.combinations(sets(type_).values(), 2):
        either = mine.union(other)
        if either not in (EVERYTHING, EMPTY):
            disjunction = to_literals(Subject(column), either)
            assert disjunction is not None
            read = EMPTY
            for literal in disjunction:
                read = read.union(subject_and_values(literal)[1])
            assert read == either


@TYPES
def test_what_is_written_is_read_as_the_same_set(type_: DataType) -> None:
    column = Column("v", type_)
    known = list(sets(type_).values())
    for mine, other in itertools.combinations(known, 2):
        for values in (mine.intersect(other), mine.union(other).intersect(NOT_NULL)):
            again = EVERYTHING
            for predicate in to_or_preds(column, values):
                read = EMPTY
                for literal in predicate.literals:
                    read = read.union(subject_and_values(literal)[1])
                again = again.intersect(read)
            assert again == values


TEXTS = [
    ("a > 5", "a >= 6"),
    ("a >= 10", "a >= 10"),
    ("a > 9", "a >= 10"),
    ("a > 500", "a > 500"),
    ("a >= 501", "a > 500"),
    ("a >= 500", "a >= 500"),
    ("a <= 500", "a <= 500"),
    ("a < 500", "a < 500"),
    ("a > -500", "a > -500"),
    ("a >= 0", "a >= 0"),
    ("a > 0", "a > 0"),
    ("a < 0", "a < 0"),
    ("a <= 0", "a <= 0"),
    ("a >= 1", "a > 0"),
    ("a < 1", "a <= 0"),
    ("a > 2.5", "a >= 3"),
    ("a < 2.5", "a <= 2"),
    ("a <> 2.5", "a is not null"),
    ("a = 2.5", "false"),
    ("a >= 5 and a <= 5", "a = 5"),
    ("a < 5 or a > 5", "a <> 5"),
    ("a <> 5 or a is null", "a <> 5; a is null"),
    ("a <> 5 or a = 5", "a is not null"),
    ("a <> 5 or a = 5 or a is null", ""),
    ("a is null and a > 5", "false"),
    ("a > 2 and a < 4 or a is null", "a = 3; a is null"),
    ("a in (1, 5, 9)", "a = 1; a = 5; a = 9"),
    ("a in (3, 4)", "a = 3; a = 4"),
    ("a in (3, 4, 5)", "a <= 5 & a >= 3"),
    ("a between 1 and 20 and a <> 10", "a <= 20 & a <> 10 & a > 0"),
    ("a not in (1, 2, 7)", "a <> 1 & a <> 2 & a <> 7"),
    ("a not in (1, 2)", "a <> 1 & a <> 2"),
    ("a < 5 or a = 7 or a > 10", "a <= 4; a = 7; a > 10"),
    ("a not in (1, 2, 3)", "a <= 0; a >= 4"),
    ("a < 9223372036854775808", "a is not null"),
    ("a <= 9223372036854775806", "a <= 9223372036854775806"),
    ("m > 1000000", "m > 1000000"),
    ("m > 1000000.00", "m > 1000000"),
    ("m >= 1000000.01", "m > 1000000"),
    ("m > 5.001", "m > 5"),
    ("m >= 5.001", "m > 5"),
    ("m <= 5.009", "m <= 5"),
    ("m < 5.01", "m <= 5"),
    ("m > 0.504", "m > 0.5"),
    ("m >= 0.01", "m > 0"),
    ("m <= 99.99", "m < 100"),
    ("m >= 100.5", "m >= 100.5"),
    ("m < 10000000000000", "m is not null"),
    ("x > 5", "x > 5.0d"),
    ("x >= 5 and x <= 5", "x = 5.0d"),
    ("x <> 5", "x <> 5.0d"),
    ("x > 5 or x < 3", "x < 3.0d; x > 5.0d"),
    ("x >= -0.0D", "x >= 0.0d"),
    ("x > -0.0 or x = 0", "x >= 0.0d"),
    ("s > 'a'", "s > 'a'"),
    ("s <= 'a'", "s <= 'a'"),
    ("s >= ''", "s is not null"),
    ("s < ''", "false"),
    ("s > 'a' and s < 'b' and s <> 'ab'", "s < 'b' & s <> 'ab' & s > 'a'"),
    ("s in ('x', 'y')", "s = 'x'; s = 'y'"),
    ("d > DATE '1998-01-01'", "d >= date '1998-01-02'"),
    ("d > DATE '9999-12-31'", "d > date '9999-12-31'"),
    ("ts > TIMESTAMP '1998-01-01 00:00:00'", "ts > timestamp '1998-01-01 00:00:00'"),
    ("ts < TIMESTAMP '1998-01-01 00:00:00'", "ts < timestamp '1998-01-01 00:00:00'"),
    ("p = true", "p"),
    ("p <> true", "not(p)"),
    ("p = true or p = false", "p is not null"),
]


@pytest.mark.parametrize(("sql", "expected"), TEXTS)
def test_text(sql: str, expected: str) -> None:
    query = bind(f"SELECT a FROM T WHERE {sql}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    values, about = EVERYTHING, None
    for predicate in query.where:
        read = EMPTY
        for literal in predicate.literals:
            about, more = subject_and_values(literal)
            read = read.union(more)
        values = values.intersect(read)
    assert about is not None
    written = pred_set(to_or_preds(about, values))
    assert " & ".join("; ".join(map(str, p.literals)) for p in written) == expected


A, B, M, W, X, S, P = (
    Column(name, type_)
    for name, type_ in zip("abmwxsp", (INTEGER, INTEGER, decimal(15, 2), decimal(38, 0), DOUBLE, STRING, BOOLEAN),
                           strict=True)
)  # fmt: skip

UNCERTAIN = [
    pytest.param(Literal(A, Operator.GT, B), id="two columns"),
    pytest.param(Literal(A, Operator.GT, Constant(5.0, DOUBLE)), id="integer beside a double constant"),
    pytest.param(Literal(M, Operator.EQ, Constant(0.1, DOUBLE)), id="decimal beside a double constant"),
    pytest.param(Literal(A, Operator.EQ, Constant("5", STRING)), id="number beside text"),
    pytest.param(Literal(S, Operator.EQ, Constant(5, INTEGER)), id="text beside number"),
    pytest.param(Literal(P, Operator.EQ, Constant(1, INTEGER)), id="truth beside number"),
    pytest.param(Literal(A, Operator.EQ, Constant(True, BOOLEAN)), id="number beside truth"),
    pytest.param(Literal(W, Operator.GT, number(Decimal("0.5"))), id="more than 38 digits together"),
    pytest.param(Literal(A, Operator.LT, number(10**40)), id="a constant of more than 38 digits"),
    pytest.param(Literal(X, Operator.LT, number(10**400)), id="beyond double"),
]


@pytest.mark.parametrize("literal", UNCERTAIN)
def test_uncertain_literals_have_no_set_and_stay_as_they_are(literal: Literal) -> None:
    assert value_set(literal) is None
    about, values = subject_and_values(literal)
    assert about != Subject(literal.left)
    (written,) = to_or_preds(about, values)
    assert str(written).strip("()") == str(or_pred([literal]))


def test_a_comparison_with_null_is_never_true() -> None:
    assert value_set(Literal(A, Operator.NE, Constant(None, INTEGER))) == EMPTY
    assert value_set(Literal(X, Operator.EQ, Constant(None, DOUBLE))) == EMPTY
    assert value_set(Literal(Constant(None, INTEGER), Operator.LT, A)) == EMPTY
    assert value_set(Literal(Constant(None, INTEGER), Operator.LT, Constant(5.0, DOUBLE))) == EMPTY


def test_an_expression_is_told_apart_by_text_and_type() -> None:
    assert Subject(A) == Subject(Column("a", INTEGER))
    assert Subject(A) != Subject(Column("a", INTEGER, 1))
    assert Subject(A) != Subject(Column("a", DOUBLE))
    assert Subject(Constant(0.0, DOUBLE)) != Subject(Constant(-0.0, DOUBLE))


def test_hull_and_points() -> None:
    values = EMPTY
    for n in (1, 2, 7):
        one = value_set(Literal(A, Operator.EQ, Constant(n, INTEGER)))
        assert one is not None
        values = values.union(one)
    assert values.points(INTEGER) == [Constant(n, INTEGER) for n in (1, 2, 7)]
    assert values.points(INTEGER, limit=2) is None
    assert values.hull().points(INTEGER) == [Constant(n, INTEGER) for n in range(1, 8)]
    assert values.union(NULLS).hull() == values.hull().union(NULLS)
    assert EMPTY.hull() == EMPTY
    assert NOT_NULL.points(INTEGER, limit=100) is None
    assert NOT_NULL.points(DATE) is None
    assert NOT_NULL.points(BOOLEAN) == [Constant(False, BOOLEAN), Constant(True, BOOLEAN)]


def test_a_cover_closes_the_narrow_gaps() -> None:
    values = EMPTY
    for n in (-50, 1, 2, 3, 5, 9, 100):
        one = value_set(Literal(A, Operator.EQ, Constant(n, INTEGER)))
        assert one is not None
        values = values.union(one)

    def ends(most: int) -> list[tuple[int, int]]:
        return [(low[1], high[1] - 1) for low, high in values.cover(INTEGER, most).intervals]

    assert ends(5) == [(-50, -50), (1, 3), (5, 5), (9, 9), (100, 100)]
    assert ends(4) == [(-50, -50), (1, 5), (9, 9), (100, 100)]
    assert ends(3) == [(-50, -50), (1, 9), (100, 100)]
    assert ends(1) == [(-50, 100)]
    assert values.union(NULLS).cover(INTEGER, 2).null and not values.cover(INTEGER, 2).null
    assert NOT_NULL.cover(DOUBLE, 1) == NOT_NULL


@pytest.mark.parametrize("type_", [INTEGER, DOUBLE, STRING, DATE, TIMESTAMP, MONEY, BOOLEAN], ids=str)
def test_a_wider_gap_is_measured_as_wider(type_: DataType) -> None:
    constants = {
        INTEGER: (1, 2, 9), DOUBLE: (-1e300, 0.0, 1e308), STRING: ("US 01", "US 02", "US 9"), BOOLEAN: (False, True),
        DATE: (DAY_0, DAY_0 + DAY, DAY_0 + 9 * DAY), TIMESTAMP: (MOMENT, MOMENT + DAY, MOMENT + 9 * DAY),
        MONEY: (Decimal("0.01"), Decimal("0.02"), Decimal("9")),
    }[type_]  # fmt: skip
    around = [domain(type_).around(value) for value in constants]
    widths = [domain(type_).width(a[1], b[0]) for a, b in itertools.pairwise(around)]
    assert widths == sorted(widths) and all(width >= 0 for width in widths)
    assert type_ == BOOLEAN or widths[0] < widths[-1]
