"""What follows for an expression from tests of others: proved by name, and never wrong for any row of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from sql.bind_schema import SCHEMA

from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.predicates.implication import common_predicate, implies, normalized


def where(sql: str) -> PredSet:
    query = bind(f"SELECT a FROM T WHERE {sql}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return normalized(canonical(query.where))


ENTAILED = [
    ("b * 2 >= a and b > 0", "b * 5 >= a"),
    ("a = b", "a <= b and b <= a"),
    ("a <= b and a >= b", "a = b"),
    ("a < b", "a <> b"),
    ("a <= b and b <= c", "a <= c"),
    ("a < b and b < c", "a + 1 < c"),
    ("a = b and b = c", "a = c"),
    ("a = b and b > 3", "a > 3"),
    ("a > 3 and b > 4", "a + b > 8"),
    ("a >= b and b > 5", "a > 5 or s = 'x'"),
    ("a < m and a > 3", "m > 3"),
    ("a < 3 and d < date '2002-01-05'", "d + a < date '2002-01-07'"),
]
NOT_ENTAILED = [
    ("b * 2 >= a", "b * 5 >= a"),
    ("b * 2 >= a and b < 0", "b * 5 >= a"),
    ("a = b", "a < b"),
    ("a = b", "a <> b"),
    ("a <= b and c <= b", "a <= c"),
    ("a > 3", "a + b > 3"),
    ("a > 3 and b is null", "a + b > 3"),
    ("a = b or c = 1", "a <= b"),
    ("x = 1.0 and a = 1", "x <= a"),
    ("s = 'x' and a = 1 and x > 0.5", "a < b"),
    ("a * b > 3 and a > 0", "b > 0"),
]


@pytest.mark.parametrize("p,q", ENTAILED)
def test_entailed(p: str, q: str) -> None:
    assert implies(where(p), where(q))
    common = common_predicate([where(p), where(q)])
    assert implies(common, where(q)) and implies(where(q), common)


@pytest.mark.parametrize("p,q", NOT_ENTAILED)
def test_not_entailed(p: str, q: str) -> None:
    assert not implies(where(p), where(q))


Test = tuple[str, Callable[[int, int], bool]]
ONE: list[Test] = [
    ("a > 0", lambda a, b: a > 0),
    ("b > 0", lambda a, b: b > 0),
    ("b <= -1", lambda a, b: b <= -1),
    ("a = b", lambda a, b: a == b),
    ("a <> b", lambda a, b: a != b),
    ("a < b", lambda a, b: a < b),
    ("a >= b", lambda a, b: a >= b),
    ("2 * b >= a", lambda a, b: 2 * b >= a),
    ("3 * a - 2 * b <= 1", lambda a, b: 3 * a - 2 * b <= 1),
    ("a + b = 1", lambda a, b: a + b == 1),
    ("a + b > 2", lambda a, b: a + b > 2),
]


def test_it_is_never_wrong() -> None:
    """Of all pairs of two tests, for numbers around zero and at the ends of BIGINT."""
    values = (*range(-4, 5), -(2**63), 2**63 - 1)
    rows = [*itertools.product(values, repeat=2)]
    sets = [[one] for one in ONE] + [[*two] for two in itertools.combinations(ONE, 2)]
    true = [{row for row in rows if all(test(*row) for _, test in tests)} for tests in sets]
    predicates = [where(" and ".join(sql for sql, _ in tests)) for tests in sets]
    found = 0
    for (p, of_p), (q, of_q) in itertools.permutations(zip(predicates, true, strict=True), 2):
        if implies(p, q):
            found += 1
            assert of_p <= of_q, (str(p), str(q))
    assert found > 200
