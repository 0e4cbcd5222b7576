"""Implication, and what is built on it, against all rows of a grid of boundary values, in both directions."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import or_

import pytest
from effort import effort
from sql.bind_schema import SCHEMA
from three_valued import value

from workbench.sql.algebra.arithmetic import BIGINT_MAX, BIGINT_MIN, number
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates import implication
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, conjunction, or_pred, pred_set
from workbench.sql.predicates.implication import (
    MAX_INTERVALS,
    MAX_POINTS,
    common_predicate,
    difference,
    facts,
    implies,
    implies_or_pred,
    normalized,
)
from workbench.sql.predicates.value_sets import EVERYTHING

COMPARISONS = (Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE)
MONEY = decimal(4, 2)
Row = Mapping[str, object]


def where(sql: str) -> PredSet:
    query = bind(f"SELECT a FROM T WHERE {sql}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return query.where


# ---- plain Python: also sums and patterns, which three_valued does not evaluate --------------------------------------


def _value(expression: Expression, row: Row) -> object:
    match expression:
        case Call("-" | "+" | "like" as function, (left, right)):
            a, b = _value(left, row), _value(right, row)
            if a is None or b is None:
                return None
            if function == "like":
                return str(a).startswith(str(b).rstrip("%"))
            out = a - b if function == "-" else a + b  # type: ignore[operator]
            return out if BIGINT_MIN <= out <= BIGINT_MAX else None
        case Call(function, arguments, type_):
            values = tuple(Constant(_value(a, row), a.type) for a in arguments)  # type: ignore[arg-type]
            return value(Call(function, values, type_), {})
    return value(expression, row)


def _true(literal: Literal, row: Row) -> bool:
    left = _value(literal.left, row)
    match literal.operator:
        case Operator.HOLDS:
            return left is True
        case Operator.IS_NULL:
            return left is None
        case Operator.IS_NOT_NULL:
            return left is not None
    assert literal.right is not None
    return _value(Call(str(literal.operator), (literal.left, literal.right), BOOLEAN), row) is True


class Grid:
    """Rows, and for PredSets the rows they are true for, as bits."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._known: dict[Literal, int] = {}

    def of(self, predicates: PredSet) -> int:
        out = (1 << len(self.rows)) - 1
        for predicate in predicates:
            out &= reduce(or_, map(self._of_literal, predicate.literals))
        return out

    def _of_literal(self, literal: Literal) -> int:
        if literal not in self._known:
            self._known[literal] = sum(1 << i for i, row in enumerate(self.rows) if _true(literal, row))
        return self._known[literal]


# ---- one column: exact in both directions ----------------------------------------------------------------------------

CONSTANTS: dict[DataType, list[Constant]] = {
    INTEGER: [number(v) for v in (4, 5, 7, Decimal("2.5"), BIGINT_MIN, BIGINT_MAX, 2**63)],
    MONEY: [number(Decimal(v)) for v in ("5.001", "5", "5.01", "-0.005", "99.99", "-99.99", "100")],
    DOUBLE: [Constant(v, DOUBLE) for v in (1.0, 2.0, -0.0, math.nan, math.inf)] + [number(Decimal("1.5"))],
    STRING: [Constant(v, STRING) for v in ("", "a", "a\0", "ab", "b", "\uffff", "\U0001f600")],
    BOOLEAN: [Constant(v, BOOLEAN) for v in (False, True)],
    DATE: [Constant(dt.date(1998, 1, day), DATE) for day in (1, 2, 5, 8)],
    TIMESTAMP: [Constant(dt.datetime(1998, 1, 1, 0, 0, 0, us), TIMESTAMP) for us in (0, 1, 4, 999)],
}
VALUES: dict[DataType, list[object]] = {
    INTEGER: [None, *range(1, 10), *(BIGINT_MIN + i for i in range(2)), *(BIGINT_MAX - i for i in range(2))],
    MONEY: [None, *(Decimal(c) / 100 for c in (-9999, -9998, -2, -1, 0, 1, 499, 500, 501, 502, 9998, 9999))],
    DOUBLE: [None, -math.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 3.0, math.inf, math.nan],
    STRING: [None, "", "\0", "A", "a", "a\0", "a\0\0", "aa", "ab", "ab\0", "b", "b\0", "c", "\u4e00", "\uffff",
             "\uffff\0", "\U00010000", "\U0001f600", "\U0001f600\0", "\U0010ffff"],
    BOOLEAN: [None, False, True],
    DATE: [None, *(dt.date(1998, 1, 1) + dt.timedelta(days=i) for i in range(-2, 10))],
    TIMESTAMP: [None, *(dt.datetime(1998, 1, 1) + dt.timedelta(microseconds=i)
                        for i in (-9, -1, *range(7), 998, 999, 1000))],
}  # fmt: skip


def _random(rng: random.Random, literals: Sequence[Literal]) -> PredSet:
    return pred_set(or_pred(rng.choices(literals, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 3)))


def _single_column(type_: DataType) -> tuple[Grid, list[PredSet]]:
    column = Column("v", type_)
    literals = [Literal(column, op, c) for op in COMPARISONS for c in CONSTANTS[type_]]
    literals += [Literal(column, Operator.IS_NULL), Literal(column, Operator.IS_NOT_NULL)]
    if type_ == BOOLEAN:
        literals += [Literal(column, Operator.HOLDS), Literal(Call("not", (column,), BOOLEAN), Operator.HOLDS)]
    rng = random.Random(str(type_))
    sets = [pred_set([or_pred([x])]) for x in literals] + [_random(rng, literals) for _ in range(90)] + [TRUE]
    return Grid([{"v": v} for v in VALUES[type_]]), sets


@pytest.mark.parametrize("type_", list(CONSTANTS), ids=str)
def test_implication_on_one_column_is_just_what_the_rows_show(type_: DataType) -> None:
    grid, sets = _single_column(type_)
    rows = {p: grid.of(p) for p in sets}
    for p, q in itertools.product(sets, repeat=2):
        assert implies(p, q) == (rows[p] & ~rows[q] == 0), (str(p), str(q))
        if rows[p] == rows[q]:
            assert implies(p, q) and implies(q, p)
            assert str(normalized(p)) == str(normalized(q))


@pytest.mark.parametrize("type_", list(CONSTANTS), ids=str)
def test_the_cover_on_one_column_is_the_union(type_: DataType) -> None:
    grid, sets = _single_column(type_)
    for p, q, r in zip(sets, reversed(sets), sets[3:] + sets[:3], strict=True):
        assert grid.of(common_predicate([p, q, r])) == grid.of(p) | grid.of(q) | grid.of(r), (p, q, r)


# ---- several expressions: never wrong --------------------------------------------------------------------------------

A, B = Column("a", INTEGER), Column("b", INTEGER)
S = Column("s", STRING)
X, Y = Column("x", DOUBLE), Column("y", DOUBLE)
FLAG = Column("p", BOOLEAN)
DIFFERENCE, SUM = Call("-", (A, B), INTEGER), Call("+", (A, B), INTEGER)
LIKE = Call("like", (S, Constant("a%", STRING)), BOOLEAN)


def _not(expression: Expression) -> Expression:
    return Call("not", (expression,), BOOLEAN)


def _integers() -> tuple[Grid, list[PredSet]]:
    literals = [Literal(e, op, Constant(n, INTEGER)) for e in (A, B) for op in COMPARISONS for n in (1, 2)]
    literals += [Literal(A, op, B) for op in COMPARISONS] * 2
    literals += [Literal(e, op, Constant(0, INTEGER)) for e in (DIFFERENCE, SUM) for op in COMPARISONS]
    literals += [Literal(e, op) for e in (A, B, DIFFERENCE) for op in (Operator.IS_NULL, Operator.IS_NOT_NULL)] * 2
    domain = (None, BIGINT_MIN, -1, 0, 1, 2, 3, BIGINT_MAX)
    grid = [{"a": a, "b": b} for a, b in itertools.product(domain, repeat=2)]
    return Grid(grid), [_random(random.Random(seed), literals) for seed in range(130)]


def _mixed() -> tuple[Grid, list[PredSet]]:
    literals = [Literal(X, op, Y) for op in COMPARISONS]
    literals += [Literal(X, op, Constant(v, DOUBLE)) for op in COMPARISONS for v in (0.0, math.nan)]
    literals += [Literal(e, Operator.HOLDS) for e in (LIKE, _not(LIKE), FLAG, _not(FLAG))]
    literals += [Literal(e, op) for e in (S, X, LIKE, FLAG) for op in (Operator.IS_NULL, Operator.IS_NOT_NULL)]
    literals += [Literal(S, op, Constant("a", STRING)) for op in COMPARISONS]
    literals += [Literal(A, Operator.GT, X), Literal(A, Operator.EQ, Constant(1.0, DOUBLE))]
    floats = (None, -0.0, 0.0, 1.0, math.inf, math.nan)
    grid = [
        {"x": x, "y": y, "s": s, "p": p, "a": a}
        for x, y, s, p, a in itertools.product(floats, floats, (None, "", "ab"), (None, False, True), (None, 1))
    ]
    return Grid(grid), [_random(random.Random(seed), literals) for seed in range(60)]


Case = Callable[[], tuple[Grid, list[PredSet]]]
CASES = pytest.mark.parametrize("case", [_integers, _mixed])


@CASES
def test_what_is_implied_is_true_for_every_row(case: Case) -> None:
    grid, sets = case()
    rows = {p: grid.of(p) for p in sets}
    found = 0
    for p, q in itertools.product(sets, repeat=2):
        if p != q and implies(p, q):
            found += 1
            assert rows[p] & ~rows[q] == 0, (str(p), str(q))
    assert found > len(sets) / 4, "the sets have nothing to do with each other"


@pytest.mark.slow
@CASES
def test_sets_built_from_two(case: Case) -> None:
    grid, sets = case()
    rows = {p: grid.of(p) for p in sets}
    rng = random.Random(1)
    pairs = [(p, q) for p, q in itertools.product(sets, repeat=2) if implies(p, q)]
    for p, q in rng.sample(pairs, min(len(pairs), 100)) + [tuple(rng.sample(sets, 2)) for _ in range(150)]:
        context = (str(p), str(q))
        rest = difference(p, q)
        assert grid.of(normalized(conjunction(p, q))) == rows[p] & rows[q], context
        assert rows[q] & grid.of(rest) & ~rows[p] == 0, context
        weaker = common_predicate([p, q])
        assert (rows[p] | rows[q]) & ~grid.of(weaker) == 0, context
        assert implies(p, weaker), context
        assert implies(q, weaker), context
        assert common_predicate([p, q]) == common_predicate([q, p]), context
        if implies(p, q):
            assert rows[q] & grid.of(rest) == rows[p], context
            assert implies(conjunction(q, rest), p) and implies(p, conjunction(q, rest)), context
            assert common_predicate([p, q]) == normalized(q), context


@CASES
def test_normalized_is_the_same_and_final(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows from other expressions stays: of ``a = b and a > 1 and b > 1`` either bound could go."""
    grid, sets = case()
    monkeypatch.setattr(implication, "entailed", lambda known, tested, subject: EVERYTHING)
    for p in sets:
        once = normalized(p)
        assert grid.of(once) == grid.of(p), (str(p), str(once))
        assert implies(p, once) and implies(once, p), (str(p), str(once))
        assert normalized(once) == once, (str(p), str(once))
        assert common_predicate([p]) == common_predicate([p, p]) == once
        if facts(p).satisfiable:
            for predicate in once:
                others = PredSet(tuple(o for o in once if o != predicate))
                assert not implies_or_pred(others, predicate), (str(p), str(predicate))


# ---- by name ---------------------------------------------------------------------------------------------------------

IMPLIED = [
    ("a > 10", "a > 5"),
    ("a = 7", "a > 5"),
    ("a = 7", "a <> 8"),
    ("a > 2 and a < 4", "a = 3"),
    ("a > 2 and a < 3", "b = 1"),
    ("a > 2 and a < 3", "a < 4 or a > 5"),
    ("a in (1, 2)", "a in (1, 2, 3)"),
    ("a between 2 and 3", "a in (2, 3, 4)"),
    ("m > 5.001", "m >= 5.01"),
    ("a > 5", "a is not null"),
    ("a > 5", "a > 3 or b = 1"),
    ("a > 5 or b = 1", "a > 3 or b = 1 or c = 2"),
    ("a > 5 or a is null", "a > 3 or a is null"),
    ("a - b > 0", "a is not null and b is not null"),
    ("(m - 1.5) * 2 > 0", "m - 1.5 is not null and m is not null"),
    ("(a - b) * 2 > 0", "a is not null and b is not null"),
    ("a < b", "a <= b and a <> b and a is not null"),
    ("a = b", "b >= a and a <= b"),
    ("a <= b and a >= b", "a = b"),
    ("a <= b and a <> b", "b > a"),
    ("a < b and b < a", "c = 1"),
    ("a is not null and b is not null", "a < b or a >= b"),
    ("a < b or a >= b", "a is not null"),
    ("s like 'x%'", "s is not null"),
    ("not s like 'x%'", "s is not null"),
    ("s like 'x%' and not s like 'x%'", "a = 1"),
    ("p", "p = true"),
    ("p = false", "not p"),
    ("p or p is null", "p is null or p <> false"),
    ("a > 5 and (a < 3 or b = 1)", "b = 1"),
    ("a > 5 and (a is null or b = 1)", "b = 1"),
    ("a = 1 and (a = 2 or b = 1) and (b = 2 or c = 1)", "c = 1"),
    ("a = 1", "true"),
]

NOT_IMPLIED = [
    ("a > 5", "a > 10"),
    ("true", "a is not null"),
    ("true", "a = a"),
    ("true", "a <> 5 or a = 5"),
    ("a > 5 or a is null", "a > 5"),
    ("a <> 5", "a <> 6"),
    ("a is null", "a <> 5"),
    ("a > 5 or b = 1", "a > 5"),
    ("a > 5 or b = 1", "a > 5 or b = 2"),
    ("a > 5 or b = 1", "a is not null"),
    ("a - b is null", "a is null or b is null"),
    ("a is not null and b is not null", "a - b is not null"),
    ("(a - b) * 2 > 0", "a - b is not null"),
    ("a <= b", "a < b"),
    ("a <> b", "a < b"),
    ("a < b", "a < c"),
    ("a <= b", "b <= a"),
    ("x > 5 and x < 5.0000000000000009", "a = 1"),
    ("x > 5", "x < 1e308 or x = 1e308"),
    ("x - a > 0", "x > a"),
    ("a + 1 > 5", "a > 4 and a + 1 > 6"),
    ("not s like 'x%'", "s is null"),
    ("coalesce(a, 1) > 0", "a is not null"),
    ("a is null or a > 5", "a is not null"),
    ("not p", "p is null"),
    ("m > 5", "m >= 5.02"),
    ("s > 'a'", "s >= 'ab'"),
    ("s = '5'", "a = 5"),
    ("m = 5", "a = 5"),
]


@pytest.mark.parametrize(("p", "q"), IMPLIED)
def test_implied(p: str, q: str) -> None:
    assert implies(where(p), where(q))


@pytest.mark.parametrize(("p", "q"), NOT_IMPLIED)
def test_not_implied(p: str, q: str) -> None:
    assert not implies(where(p), where(q))


def _one(left: Expression, operator: Operator, constant: Constant) -> PredSet:
    return pred_set([or_pred([Literal(left, operator, constant)])])


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (_one(A, Operator.GT, Constant(10, INTEGER)), _one(A, Operator.GT, Constant(5.0, DOUBLE))),
        (_one(S, Operator.EQ, Constant("10", STRING)), _one(S, Operator.EQ, Constant(10, INTEGER))),
        (_one(A, Operator.LT, Constant("10", STRING)), _one(A, Operator.LE, Constant("10", STRING))),
        (_one(A, Operator.EQ, Constant(1, INTEGER)), _one(A, Operator.EQ, Constant(True, BOOLEAN))),
        (_one(X, Operator.GE, Constant(math.inf, DOUBLE)), _one(X, Operator.LE, Constant(math.inf, DOUBLE))),
        (_one(Column("v", INTEGER), Operator.GT, number(5)), _one(Column("v", INTEGER, 1), Operator.GT, number(5))),
    ],
)
def test_constants_of_other_types_and_other_inputs_say_nothing(p: PredSet, q: PredSet) -> None:
    assert not implies(p, q)
    assert implies(q, q)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("true", "true"),
        ("a > 5 and a > 10 and b = 1", "a > 10 and b = 1"),
        ("m > 1000000 and m > 5", "m > 1000000"),
        (
            "a > 5 and a is not null and b is not null and a - b > 0",
            "(cast(a as decimal(19,0)) - cast(b as decimal(19,0))) > 0 and a >= 6",
        ),
        ("a > 5 and a < 3 and b = 1", "false"),
        ("a > 5 and (a > 3 or b = 1)", "a >= 6"),
        ("(a > 5 or b = 1) and (a > 3 or b = 1 or c = 1)", "(a >= 6 or b = 1)"),
        ("a = 1 and (a = 2 or b = 1) and (b = 2 or c = 1)", "a = 1 and b = 1 and c = 1"),
        ("a <= b and a >= b", "a = b"),
        ("a < b or a >= b", "a is not null and b is not null"),
        ("(a < b or a >= b or c = 1)", "(a < b or a >= b or c = 1)"),
        ("p = true and p is not null", "p"),
        ("p = false", "not(p)"),
        ("s like 'x%' and s is not null", "like(s, 'x%')"),
        ("(a > 9 or a < 3 or a = 5)", "(a <= 2 or a = 5 or a >= 10)"),
        ("(b = 1 or b > 1 or a = 4)", "(a = 4 or b > 0)"),
    ],
)
def test_text_of_the_normalized_set(sql: str, expected: str) -> None:
    assert str(normalized(where(sql))) == expected


def test_union_and_difference_drop_what_follows() -> None:
    both = conjunction(where("a > 5 and b = 1"), where("a > 7 and c = 2"))
    assert str(normalized(both)) == "a >= 8 and b = 1 and c = 2"
    assert str(difference(where("a > 5 and a < 9 and b = 1"), where("a > 5 and b = 1"))) == "a <= 8"
    assert difference(where("a > 5"), where("a > 7")) == TRUE
    assert str(difference(where("a = 1 and a = 2"), where("b = 1"))) == "false"


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        (["a > 5 and b = 1", "a > 10 and b = 2"], "(b = 1 or b = 2) and a >= 6"),
        (["a > 5", "b > 5"], "true"),
        (["a > 5 and c = 1", "b > a"], "a is not null"),
        (
            ["a - b > 5 and b > 1", "a - b < 3 and b > 2"],
            "((cast(a as decimal(19,0)) - cast(b as decimal(19,0))) <= 2 or"
            " (cast(a as decimal(19,0)) - cast(b as decimal(19,0))) >= 6) and b >= 2",
        ),
        (["a < b", "a = b"], "a <= b"),
        (["a < b", "a >= b"], "a is not null and b is not null"),
        (["a > 5 or b = 1", "b = 1"], "(a >= 6 or b = 1)"),
        (["a > 5", "a < 3 and a > 4"], "a >= 6"),
        (["a < 3 and a > 4", "b < 3 and b > 4"], "false"),
        (["a is null", "a = 1"], "(a = 1 or a is null)"),
        (["a is null", "a is not null"], "true"),
        ([], "false"),
    ],
)
def test_text_of_covers(sets: list[str], expected: str) -> None:
    for order in itertools.permutations(map(where, sets)):
        assert str(common_predicate(order)) == expected


def test_a_cover_of_many_values_is_a_range_unless_one_of_them_has_them_all() -> None:
    evens = [where(f"a = {2 * n}") for n in range(MAX_POINTS + 1)]
    assert str(common_predicate(evens)) == "a <= 64 and a >= 0"
    assert len(common_predicate(evens[:-1]).or_preds[0].literals) == MAX_POINTS
    listed = where(f"a in ({', '.join(str(2 * n) for n in range(100))})")
    assert common_predicate([listed]) == normalized(listed) == common_predicate([*evens, listed])
    ranges = [where(f"x between {10 * n} and {10 * n + 5}") for n in range(17)]
    assert str(common_predicate(ranges)) == "x <= 165.0d and x >= 0.0d"
    assert len(common_predicate(ranges[:-1]).or_preds) == 17


CROWDED_AND_FAR = {
    "a": ([f"a = {2 * n}" for n in range(40)], "a = 5000", "(a <= 78 or a >= 5000) and a <= 5000 and a >= 0"),
    "x": ([f"x > {n} and x < {n}.5" for n in range(40)], "x = 1e300", None),
    "m": ([f"m = {n}.5" for n in range(40)], "m = 1000", None),
    "s": ([f"s = 'a{n:02}'" for n in range(40)], "s = 'zebra'", None),
}


@pytest.mark.parametrize(("crowd", "far", "expected"), CROWDED_AND_FAR.values(), ids=CROWDED_AND_FAR.keys())
def test_a_cover_of_many_values_leaves_out_a_wide_gap(crowd: list[str], far: str, expected: str | None) -> None:
    cover = common_predicate([*map(where, crowd), where(far)])
    assert all(implies(where(one), cover) for one in (*crowd, far))
    subject = far.split()[0]
    between = {"a": "a = 100", "x": "x = 1e10", "m": "m = 500", "s": "s = 'b'"}[subject]
    assert not implies(where(between), cover) and not implies(where(f"{subject} is null"), cover)
    assert len(cover.or_preds) <= MAX_INTERVALS + 1
    # One after the other, as queries come: what is covered by then is closed no more than that.
    grown = where(far)
    for one in crowd:
        grown = common_predicate([grown, where(one)])
    assert all(implies(where(one), grown) for one in (*crowd, far)) and implies(grown, cover)
    assert expected is None or str(cover) == expected


def test_a_cover_of_many_values_and_null_keeps_null() -> None:
    crowd = [where(f"a = {2 * n} or a is null") for n in range(40)]
    cover = common_predicate([*crowd, where("a = 5000")])
    assert implies(where("a is null"), cover) and not implies(where("a = 100"), cover)


def test_hundreds_of_predicates_take_no_time() -> None:
    sets = [where(f"a > {n} and b < {n % 7} and (c = {n} or s = 'x') and m > {n}.5") for n in range(60)]
    count, spent = effort(lambda: sum(implies(p, q) for p, q in itertools.product(sets, repeat=2)))
    assert count == len(sets)
    assert spent < 100
