"""Canonical predicates: their text, what meets and what must not, and that no row is decided otherwise."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from sql.exact_rows import LARGE, SMALL, Row, rows, true
from sql.fixtures import pairs

from workbench.sql.algebra.expressions import Column, text
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.canonical import (
    canonical,
    canonical_expression,
    why_not_canonical,
    without_overflow,
)
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.predicates.linear import linear, linear_expression, linear_form
from workbench.sql.schema import Schema, UserFunction

SCHEMA = Schema(
    streams={
        "F": (
            ("a", INTEGER),
            ("b", INTEGER),
            ("c", INTEGER),
            ("m", decimal(15, 2)),
            ("n", decimal(6, 3)),
            ("w", decimal(38, 0)),
            ("x", DOUBLE),
            ("s", STRING),
            ("d", DATE),
            ("e", DATE),
            ("ts", TIMESTAMP),
            ("p", BOOLEAN),
        )
    },
    functions={"dist": UserFunction("dist", DOUBLE)},
)


def where(sql: str) -> PredSet:
    query = bind(f"SELECT 1 AS one FROM F, F r, F q WHERE {sql}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return query.where


def alone(sql: str) -> PredSet:
    query = bind(f"SELECT 1 AS one FROM F WHERE {sql}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return query.where


def canon(sql: str) -> str:
    return str(canonical(alone(sql)))


CASES = pairs("canonical.sql")


@pytest.mark.parametrize(("title", "sql", "expected"), CASES)
def test_text(title: str, sql: str, expected: str) -> None:
    condition = where(sql) if title == "across inputs" else alone(sql)
    assert str(canonical(condition)) == expected


MEET = [
    ("F.m > 0.5 * F.n", "2 * F.m > F.n"),
    ("F.a + (F.c + F.b) > 1", "F.c + F.b + F.a > 1"),
    ("F.a - F.b + F.c - r.a > 1", "(F.a + F.c) - (F.b + r.a) > 1"),
    ("3 * (F.a + F.b) > 6", "F.b > 2 - F.a"),
    ("F.m / 2 - 1 > 0", "F.m - 2 > 0"),
    ("F.a BETWEEN r.a AND r.a + 2", "r.a <= F.a AND F.a - 2 <= r.a"),
    ("DATEDIFF(F.d, r.d) < 3", "r.d + 3 > F.d"),
    ("ABS(F.a + F.b) = 1", "1 = ABS(F.b + F.a)"),
    ("ABS(F.a - r.a) IN (1, 2)", "F.a = r.a + 1 OR r.a = F.a + 1 OR F.a - r.a IN (2, -2)"),
    ("F.a IN (1, 2)", "F.a * 2 IN (4, 2)"),
    ("NOT F.a + 1 > 2", "F.a <= 1"),
    ("F.a = 1 OR 1 = 2", "F.a - 1 = 0"),
]
APART = [
    ("F.a > 5", "F.a >= 5"),
    ("F.a > 5", "F.b > 5"),
    ("F.a - F.b > 0", "F.b - F.a > 0"),
    ("F.m >= 1.01", "F.m >= 1.02"),
    ("F.x * 2 > 10", "F.x > 5.1"),
    ("F.a * F.b > 2", "F.a > 2"),
    ("F.a + 1 > F.a + r.a - r.a", "1 = 1"),
    ("F.a > r.a", "r.a > F.a"),
    ("F.s = '1'", "F.a = 1"),
]


@pytest.mark.parametrize(("one", "other"), MEET)
def test_ways_to_write_one_predicate_meet(one: str, other: str) -> None:
    assert canonical(where(one)) == canonical(where(other))


@pytest.mark.parametrize(("one", "other"), APART)
def test_different_predicates_do_not_meet(one: str, other: str) -> None:
    assert canonical(where(one)) != canonical(where(other))


EVERYWHERE = [sql for _, sql, _ in CASES] + [sql for pair in (*MEET, *APART) for sql in pair]


@pytest.mark.parametrize("sql", EVERYWHERE)
def test_canonical_again_changes_nothing(sql: str) -> None:
    once = canonical(where(sql) if "F." in sql else alone(sql))
    assert canonical(once) == once


REASONS = [
    ("x * 0.1 > 5", None),
    ("3 - x > 5", "`3 - x` is DOUBLE and cannot be inverted exactly"),
    ("a / 2 > 5", None),
    ("a / b > 5", "`a / b` is DOUBLE and cannot be inverted exactly"),
    ("a / 2 > b", "`a / 2` is DOUBLE and cannot be inverted exactly"),
    ("a * b > 5", None),
    ("a * b * c > 5", "`(a * b) * c` may need more than 38 digits and is left as it is"),
    ("m / 3 > 1", None),
    ("m / a > 1", "`m / a` is a division that rounds and cannot be inverted exactly"),
    ("a div 2 = 7", "`div(a, 2)` drops a part of the quotient and cannot be inverted"),
    ("a % 2 = 1", "`a % 2` drops a part of the quotient and cannot be inverted"),
    ("w + 1 > 5", "`w + 1` may need more than 38 digits and is left as it is"),
    ("2 * a + b > 5", None),
    ("x > 5", None),
    ("s LIKE 'a%'", None),
]


@pytest.mark.parametrize(("sql", "reason"), REASONS)
def test_why_arithmetic_was_left(sql: str, reason: str | None) -> None:
    ((literal,),) = (p.literals for p in alone(sql))
    assert why_not_canonical(literal) == reason
    assert [why_not_canonical(x) for p in canonical(alone(sql)) for x in p.literals] == [reason]


EXPRESSIONS = [("b + a", "(a + b)"), ("b * 2 + a", "((b * 2) + a)"), ("1 + a", "(a + 1)"), ("x + 1", "(x + 1.0d)"),
               ("s || 'x'", "(s || 'x')"), ("a - b", "(a - b)"), ("2 * (1 + m)", "((m + 1) * 2)")]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), EXPRESSIONS)
def test_projected_expressions_are_put_in_order(sql: str, expected: str) -> None:
    query = bind(f"SELECT {sql} AS y FROM F", "spark", SCHEMA).query
    assert isinstance(query, Block)
    made = canonical_expression(query.outputs[0].expression)
    assert text(made) == expected
    assert canonical_expression(made) == made


def test_a_combination_of_too_many_digits_has_no_expression() -> None:
    w, m = Column("w", decimal(38, 0)), Column("m", decimal(15, 2))
    assert linear_expression(linear_form([(w, Fraction(1)), (m, Fraction(1))], Fraction(0))) is None
    assert linear_expression(linear_form([(m, Fraction(1, 3))], Fraction(0))) is None
    assert linear_expression(linear_form([(w, Fraction(1))], Fraction(0))) == w


@pytest.mark.slow
def test_the_expression_of_a_combination_is_that_combination() -> None:
    a, m, d, e, f = (Column(n, t) for n, t in zip("amdef", (INTEGER, decimal(15, 2), DATE, DATE, DATE), strict=True))
    for factors in itertools.product((-2, 0, 1, 3), repeat=5):
        pairs = [(x, Fraction(k)) for x, k in zip((a, m, d, e, f), factors, strict=True) if k]
        for constant in (Fraction(0), Fraction(-7), Fraction(5, 2)):
            form = linear_form(pairs, constant)
            made = linear_expression(form)
            assert made is not None
            assert linear(made) == form, text(made)


NOT_EVALUATED = ("LIKE", "||", "TIMESTAMP")


@pytest.mark.parametrize("sql", [sql for sql in EVERYWHERE if not any(word in sql for word in NOT_EVALUATED)])
def test_true_for_exactly_the_same_rows(sql: str) -> None:
    original = where(sql) if "F." in sql else alone(sql)
    overflows = any(constant in sql for constant in ("5000000000", "9223372036854775807"))
    wide, solved = without_overflow(original), canonical(original)
    assert without_overflow(wide) == wide
    for row in rows(original, SMALL):
        assert true(wide, row) == true(solved, row), (str(wide), str(solved), row)
        assert overflows or true(original, row) == true(solved, row), (str(original), str(solved), row)
    for row in rows(original, LARGE):
        assert true(wide, row) == true(solved, row), (str(wide), str(solved), row)


def random_sum(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["a", "b", "m", "n", "1", "3", "-2", "0.5", "9223372036854775807"])
    inner = random_sum(rng, depth - 1)
    match rng.randrange(8):
        case 0 | 1 | 2:
            return f"({inner} {rng.choice('+-')} {random_sum(rng, depth - 1)})"
        case 3 | 4:
            return f"({inner} * {rng.choice(['2', '0', '-1', '0.25', '-3.5'])})"
        case 5:
            return f"(- {inner})"
        case 6:
            return f"(CAST({inner} AS DECIMAL(38, 8)) / {rng.choice(['4', '0.5', '3', '-8.0'])})"
        case _:
            return f"{rng.choice(['ABS', 'ABS', '1 + '])}({inner})"


def random_date(rng: random.Random) -> str:
    date = rng.choice(["d", "e", "DATE '2020-01-01'", "DATE_FROM_UNIX_DATE(a)", "DATE_FROM_UNIX_DATE(b)"])
    return f"({date} {rng.choice('+-')} {rng.choice(['a', 'b', '1', '30'])})" if rng.random() < 0.3 else date


@pytest.mark.parametrize("part", range(10))
def test_random_comparisons_are_true_for_the_same_rows(part: int) -> None:
    for seed in range(part, 350, 10):
        rng = random.Random(seed)
        operator = rng.choice(["=", "<>", "<", "<=", ">", ">="])
        dates = seed >= 250
        left, right = (random_date(rng), random_date(rng)) if dates else (random_sum(rng, 3), random_sum(rng, 2))
        original = alone(f"{left} {operator} {right}")
        wide, solved = without_overflow(original), canonical(original)
        assert canonical(solved) == solved == canonical(wide), seed
        for row in rng.sample(sample := rows(original, LARGE) + rows(original, SMALL), min(100, len(sample))):
            assert true(wide, row) == true(solved, row), (seed, str(wide), str(solved), row)


def test_canonical_agrees_where_integers_overflow() -> None:
    row: Row = {(0, "a"): Fraction(2**63 - 1), (0, "b"): Fraction(1)}
    predicates = alone("a + b > 10")
    assert true(predicates, row)
    assert not true(alone("a + b is not null"), row)
    assert true(without_overflow(predicates), row) and true(canonical(predicates), row)
