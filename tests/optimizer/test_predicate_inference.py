"""Transitivity: what is inferred, what must not be, and that every row that satisfies the rest satisfies it too."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

import pytest

from workbench.optimizer.predicate_inference import MOST_INFERRED, infer
from workbench.sql.algebra.expressions import Column, Expression, text
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import Literal, PredSet, predicate_columns
from workbench.sql.predicates.linear import linear
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={"F": (("a", INTEGER), ("b", INTEGER), ("m", decimal(15, 2)), ("d", DATE), ("s", STRING), ("x", DOUBLE))}
)


def where(sql: str) -> PredSet:
    return canonical(written(sql))


def written(sql: str) -> PredSet:
    query = bind(f"SELECT 1 AS one FROM F p, F q, F r WHERE {sql}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return query.where


def inferred(sql: str) -> set[str]:
    given = where(sql)
    everything = infer(given)
    assert set(given) <= set(everything)
    return {str(p) for p in everything} - {str(p) for p in given}


CASES = [
    (
        "the thesis's example",
        "p.m > 1000000 AND q.m > p.m * 0.5 AND r.m = q.m",
        {"1:m > 500000", "2:m > 500000"},
    ),
    ("a string", "p.s = q.s AND p.s = 'k'", {"1:s = 'k'"}),
    ("a list", "p.s = q.s AND q.s IN ('k', 'l')", {"(s = 'k' or s = 'l')"}),
    ("a list of numbers", "2 * p.a = q.a AND p.a IN (1, 2)", {"(1:a = 2 or 1:a = 4)"}),
    ("of which some are no values", "p.a = 2 * q.a AND p.a IN (1, 2)", {"1:a = 1"}),
    ("a list's ends", "p.a < q.a AND p.a IN (7, 3)", {"1:a > 3"}),
    ("another than", "p.a = q.a + 1 AND p.a <> 3", {"1:a <> 2"}),
    ("a range", "p.d = q.d AND p.d BETWEEN DATE '2020-01-01' AND DATE '2020-01-31'",
     {"1:d >= date '2020-01-01'", "1:d <= date '2020-01-31'"}),
    ("a window of days", "q.d <= p.d + 20 AND q.d >= p.d AND p.d = DATE '2020-01-01'",
     {"1:d <= date '2020-01-21'", "1:d >= date '2020-01-01'"}),
    ("rounded inwards", "3 * q.m > p.m AND p.m > 1000", {"1:m > 333.33"}),
    ("strictness of the bound", "q.a >= p.a AND p.a > 5", {"1:a > 5"}),
    ("strictness of the link", "q.a > p.a AND p.a >= 5", {"1:a > 5"}),
    ("neither is strict", "q.a >= p.a AND p.a >= 5", {"1:a >= 5"}),
    ("a negative factor", "q.a <= 10 - 2 * p.a AND p.a > 2", {"1:a < 6"}),
    ("from a constant", "q.a < p.a AND p.a = 5", {"1:a < 5"}),
    ("strings in order", "p.s < q.s AND q.s < 'k'", {"s < 'k'"}),
    ("types mixed", "p.m = q.a AND p.m > 2.5", {"1:a > 2"}),
    ("within one input", "p.a < p.b AND p.b < 3", {"a < 3"}),
    ("a computed side", "ABS(p.a) = q.a AND q.a < 3", {"a < 3", "a > -3"}),
    ("columns equal to a third", "p.a = q.a AND q.a = r.a", {"2:a = a"}),
    ("strings equal to a third", "p.s = q.s AND r.s = q.s", {"2:s = s"}),
    ("all are known", "p.a = q.a AND q.a = r.a AND r.a = 3", {"1:a = 3", "a = 3"}),
    ("a chain", "p.a < q.a AND q.a < r.a AND p.a > 0", {"1:a > 0", "2:a > 0"}),
    ("a cycle ends", "p.a < q.a AND q.a < p.a AND p.a > 0", {"1:a > 0"}),
    ("the stronger one is left", "q.a > p.a AND q.a > p.a + 5 AND p.a > 0", {"1:a > 5"}),
    ("the stronger one is there", "q.a > p.a AND p.a > 0 AND q.a > 3", set()),
    ("the same one not strict is weaker", "q.a > p.a AND p.a >= 5 AND q.a >= 5", {"1:a > 5"}),
    ("and from above", "q.a < p.a AND p.a <= 5 AND q.a <= 5", {"1:a < 5"}),
    ("the same one strict is stronger", "q.a >= p.a AND p.a >= 5 AND q.a > 5", set()),
    ("and from above too", "q.a <= p.a AND p.a <= 5 AND q.a < 5", set()),
    ("equal to a third, of one input", "p.a = q.a AND q.a = p.b", set()),
    ("it is implied by an equality", "q.a > p.a AND p.a > 0 AND q.a = 3", {"a < 3"}),
    ("the wrong end", "q.a > p.a AND p.a < 5", set()),
    ("inequality of a list", "q.a > p.a AND p.a <> 5", set()),
    ("not equal is no link", "q.a <> p.a AND p.a = 5", set()),
    ("a choice of links", "(q.a > p.a OR q.b > p.a) AND p.a > 5", set()),
    ("a choice of columns", "q.a > p.a AND (p.a > 5 OR p.b > 5)", set()),
    ("doubles", "q.x > p.x AND p.x > 5", set()),
    ("equal doubles", "q.x = p.x AND p.x = 5", set()),
    ("patterns", "q.s = p.s AND p.s LIKE 'k%'", set()),
    ("tests for NULL", "q.a = p.a AND p.a IS NOT NULL", set()),
    ("three terms", "q.a + r.a > p.a AND p.a > 5", set()),
    ("nothing", "p.a > 5", set()),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_inferred(sql: str, expected: set[str]) -> None:
    assert inferred(sql) == expected


@pytest.mark.parametrize("sql", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_inferred_is_canonical(sql: str) -> None:
    everything = infer(where(sql))
    assert canonical(everything) == everything


@pytest.mark.parametrize(
    "sql", ["p.a * 2 > 10 AND p.a = q.a", "ABS(p.a) = q.a AND q.a * 2 < 6", "q.a - p.a >= 0 AND 5 < p.a"]
)
def test_what_is_given_is_kept_as_it_is(sql: str) -> None:
    """Where canonical forms are off (NonCanon), conditions that only mean the same must not become the same."""
    given = written(sql)
    assert set(given) < set(infer(given))


def test_the_inference_is_bounded() -> None:
    links = [f"{x}.a + {i} <> {x}.b AND {x}.a > {y}.a + {i} - 9" for x, y in ("pq", "qr", "rp") for i in range(6)]
    tests = [f"p.a IN ({i}, {i + 20})" for i in range(12)]
    assert len(inferred(" AND ".join(links + tests))) <= MOST_INFERRED


Row = Mapping[Column, object]


def true(predicates: PredSet, row: Row) -> bool:
    return all(any(_holds(x, row) for x in p.literals) for p in predicates)


def _holds(literal: Literal, row: Row) -> bool:
    assert literal.right is not None
    left, right = _value(literal.left, row), _value(literal.right, row)
    if left is None or right is None:
        return False
    return {"=": left == right, "<>": left != right, "<": left < right, "<=": left <= right, ">": left > right,
            ">=": left >= right}[literal.operator]  # fmt: skip


def _value(expression: Expression, row: Row) -> object:
    """Of columns and linear arithmetic."""
    if isinstance(expression, Column) or not expression.type.exact:
        return row[expression] if isinstance(expression, Column) else expression.value
    form = linear(expression)
    values = [row[e] for e, _ in form.terms]
    return None if None in values else sum((v * k for v, (_, k) in zip(values, form.terms, strict=True)), form.constant)


DOMAINS = {
    "a": (None, 0, 1, 2, 3, 5, -2),
    "b": (None, 0, 2),
    "m": (None, 0, Fraction("0.01"), Fraction("0.67"), 1, 2, 3),
    "d": (None, 18261, 18262, 18281),
    "s": (None, "a", "k", "l", "ka"),
}


def random_predicates(rng: random.Random) -> PredSet:
    numbers = [f"{x}.{c}" for x in "pqr" for c in "am"]
    parts = []
    for _ in range(rng.randint(1, 3)):
        left, right = rng.sample(numbers, 2)
        operator = rng.choice(["=", "=", "<", "<=", ">", ">="])
        parts.append(f"{left} * {rng.choice([1, 1, 2, -1, 3])} {operator} {right} + {rng.choice([0, 0, 1, -1, 0.5])}")
    for _ in range(rng.randint(1, 2)):
        left, constant = rng.choice(numbers), rng.choice([0, 1, 2, 0.67, 3])
        test = rng.choice(["=", "<>", "<", "<=", ">", ">="])
        parts.append(rng.choice([f"{left} {test} {constant}", f"{left} IN ({constant}, 1, 5)"]))
    if rng.random() < 0.3:
        parts += ["p.s <= q.s", rng.choice(["p.s > 'a'", "q.s IN ('a', 'k')", "q.s < 'ka'"])]
    return where(" AND ".join(parts))


@pytest.mark.slow
def test_it_is_true_wherever_the_predicates_are() -> None:
    rng = random.Random(1)
    satisfied = 0
    for _ in range(300):
        given = random_predicates(rng)
        everything = infer(given)
        if everything == given or any(x.right is None for p in given for x in p.literals):
            continue
        columns = sorted(predicate_columns(everything), key=text)
        for _ in range(120):
            row = {c: rng.choice(DOMAINS[c.name]) for c in columns}
            if true(given, row):
                satisfied += 1
                assert true(everything, row), (str(given), str(everything), row)
    assert satisfied > 300
