"""A condition in many ways of writing has one canonical form; what DuckDB keeps other rows for has another one."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from random import Random

import duckdb
import pytest
from long import LONG

from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.predicates.implication import normalized
from workbench.sql.schema import Schema

SEED = int(os.environ["ARGUS_SEED"])
SCHEMA = Schema({"T": (("a", INTEGER), ("b", INTEGER), ("x", DOUBLE), ("s", STRING))})
ROWS = [
    *product((None, -7, -2, 0, 1, 2, 3, 5, 9), (None, -3, 0, 1, 4), (0.5,), ("ab",)),
    *product((1,), (None, 2), (None, -4.0, -0.5, 0.0, 0.1, 1.0, 3.0, float("nan"), float("inf")), ("ab",)),
    *product((1,), (2,), (0.5,), (None, "", "a", "ab", "abc", "cab", "b", "AB", "a%b", "xaby")),
]
OPERATORS = ("<", "<=", ">", ">=", "=", "<>")
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


@dataclass(frozen=True)
class Linear:
    """``i * a + j * b`` beside a number."""

    i: int
    j: int
    operator: str
    number: int

    def written(self, rng: Random) -> str:
        """With factors, terms on both sides, negated, or the other way round."""
        factor, left, right = rng.choice((1, 1, 2, -1, -3)), [], []
        for k, name in ((self.i * factor, "a"), (self.j * factor, "b"), (-self.number * factor, "1")):
            (left if rng.random() < 0.5 else right).append((k, name))
        operator = self.operator if factor > 0 else FLIPPED[self.operator]
        sides = _sum(left, rng), _sum([(-k, name) for k, name in right], rng)
        return _compared(*sides, operator, rng)

    def changed(self, rng: Random) -> Linear:
        """Another one that looks much the same."""
        one = replace(self, number=self.number + rng.choice((-1, 1)))
        return rng.choice((one, replace(self, operator=rng.choice(OPERATORS)), replace(self, i=-self.i)))


def _sum(terms: list[tuple[int, str]], rng: Random) -> str:
    """Terms in any order, some with what cancels out."""
    parts = [f"({k})" if name == "1" else rng.choice((f"{k} * {name}", f"{name} * ({k})")) for k, name in terms]
    if terms and rng.random() < 0.2:
        parts += ["3", "(-3)"]
    rng.shuffle(parts)
    return " + ".join(parts) or "0"


def _compared(left: str, right: str, operator: str, rng: Random) -> str:
    way = rng.randrange(4)
    if way == 0:
        return f"{right} {FLIPPED[operator]} {left}"
    if way == 1:
        return f"NOT ({left} {NEGATED[operator]} {right})"
    if way == 2:
        return f"({left}) - ({right}) {operator} 0"
    return f"{left} {operator} {right}"


@dataclass(frozen=True)
class Double:
    """``x`` beside a number; factors are powers of two, by which nothing is rounded."""

    operator: str
    number: float

    def written(self, rng: Random) -> str:
        """Multiplied, divided, negated, or the other way round."""
        factor = rng.choice((1, 2, 4))
        left = rng.choice((f"x * {factor}.0", f"{factor}.0 * x", f"x / {1 / factor}"))
        number = rng.choice((f"{self.number * factor}", f"{self.number * factor / 2} * 2e0"))
        if rng.random() < 0.3:
            return f"NOT ({left} {NEGATED[self.operator]} {number}::DOUBLE)"
        return f"{left} {self.operator} {number}::DOUBLE"

    def changed(self, rng: Random) -> Double:
        """Another one that looks much the same."""
        return rng.choice((replace(self, number=self.number + 0.5), replace(self, operator=rng.choice(OPERATORS))))


@dataclass(frozen=True)
class Within:
    """``a`` between two numbers of one size."""

    number: int

    def written(self, rng: Random) -> str:
        """As two comparisons, or one."""
        n = self.number
        return rng.choice(
            (f"a BETWEEN {-n} AND {n}", f"ABS(a) <= {n}", f"a >= {-n} AND a <= {n}", f"abs(a) < {n + 1}",
             f"NOT (a < {-n} OR a > {n})")
        )  # fmt: skip

    def changed(self, rng: Random) -> Within:
        """Another one."""
        return Within(self.number + 1)


WAYS: dict[str, tuple[str, ...]] = {
    "equal": ("s = '{}'", "s LIKE '{}'", "s IN ('{}')", "s = '{0:.1}' || '{0[1]}'", "'{}' = s", "s = lower('{}')"),
    "begins": ("s LIKE '{}%'", "starts_with(s, '{}')", "prefix(s, '{}')", "s LIKE '{}' || '%'"),
    "ends": ("s LIKE '%{}'", "ends_with(s, '{}')", "suffix(s, '{}')"),
    "has": ("s LIKE '%{}%'", "s LIKE '%%{}%'", "NOT (s NOT LIKE '%{}%')"),
    "any": ("s LIKE '%'", "s IS NOT NULL", "s = s", "NOT s IS NULL"),
}


@dataclass(frozen=True)
class Text:
    """A test of ``s``."""

    kind: str
    part: str

    def written(self, rng: Random) -> str:
        """By LIKE, a function, or a comparison."""
        return rng.choice(WAYS[self.kind]).format(self.part)

    def changed(self, rng: Random) -> Text:
        """Another one that looks much the same."""
        return rng.choice((replace(self, part=self.part[::-1]), replace(self, kind=rng.choice([*WAYS]))))


@dataclass(frozen=True)
class Choice:
    """``a`` is one of some numbers."""

    numbers: tuple[int, ...]

    def written(self, rng: Random) -> str:
        """As a list in any order, or comparisons."""
        numbers = rng.sample(self.numbers, len(self.numbers))
        if rng.random() < 0.5:
            return f"a IN ({', '.join(map(str, [*numbers, numbers[0]]))})"
        return f"({' OR '.join(f'a = {n}' for n in numbers)})"

    def changed(self, rng: Random) -> Choice:
        """With one number more."""
        return Choice((*self.numbers, 9))


Test = Linear | Double | Within | Text | Choice


@dataclass(frozen=True)
class Both:
    """All of some tests, or any of them."""

    word: str
    tests: tuple[Test, ...]

    def written(self, rng: Random) -> str:
        """In any order, doubled, or by De Morgan's law, and with what programs write around conditions."""
        texts = [wrapped(test.written(rng), rng) for test in rng.sample(self.tests, len(self.tests))]
        if rng.random() < 0.3:
            texts.append(texts[0])
        if rng.random() < 0.3:
            other = "OR" if self.word == "AND" else "AND"
            return f"NOT ({f' {other} '.join(f'NOT ({text})' for text in texts)})"
        return wrapped(f" {self.word} ".join(f"({text})" for text in texts), rng)

    def changed(self, rng: Random) -> Both:
        """With one test changed."""
        at = rng.randrange(len(self.tests))
        return replace(self, tests=(*self.tests[:at], self.tests[at].changed(rng), *self.tests[at + 1 :]))


def wrapped(text: str, rng: Random) -> str:
    """A condition as programs write it; that it is not true is never asked of these."""
    if rng.random() < 0.7:
        return text
    return rng.choice(
        ("({}) IS TRUE", "COALESCE(({}), FALSE)", "CASE WHEN {} THEN TRUE ELSE FALSE END", "(({}) = TRUE)",
         "CASE WHEN {} THEN 1 ELSE 0 END = 1", "CASE WHEN {} THEN 'yes' ELSE 'no' END <> 'no'", "NOT (NOT ({}))")
    ).format(text)  # fmt: skip


def random_condition(rng: Random) -> Both:
    makers: list[Callable[[], Test]] = [
        lambda: Linear(rng.choice((1, 2, -1)), rng.choice((0, 0, 1, -2)), rng.choice(OPERATORS), rng.randint(-4, 6)),
        lambda: Double(rng.choice(OPERATORS), rng.choice((-0.5, 0.1, 1.0, 3.0))),
        lambda: Within(rng.randint(1, 5)),
        lambda: Text(rng.choice([*WAYS]), rng.choice(("ab", "ba"))),
        lambda: Choice(tuple(rng.sample(range(-2, 6), rng.randint(1, 3)))),
    ]
    chosen = rng.sample(makers, rng.randint(1, 3))
    return Both(rng.choice(("AND", "AND", "OR")), tuple(make() for make in chosen))


def form(text: str) -> PredSet:
    query = bind(f"SELECT 1 AS one FROM T WHERE {text}", "duckdb", SCHEMA).query
    assert isinstance(query, Block)
    return normalized(canonical(query.where))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20 if LONG else 1))
def test_ways_of_writing_meet_and_others_do_not(seed: int) -> None:
    rng = Random(SEED * 1_000 + seed)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE T (id BIGINT, a BIGINT, b BIGINT, x DOUBLE, s VARCHAR)")
        connection.executemany("INSERT INTO T VALUES (?, ?, ?, ?, ?)", [(i, *row) for i, row in enumerate(ROWS)])

        def kept(text: str) -> list[int]:
            return [id_ for (id_,) in connection.execute(f"SELECT id FROM T WHERE {text} ORDER BY id").fetchall()]

        for _ in range(60):
            condition = random_condition(rng)
            one, other, near = condition.written(rng), condition.written(rng), condition.changed(rng).written(rng)
            assert kept(one) == kept(other), (one, other)
            assert form(one) == form(other), (one, other, str(form(one)), str(form(other)))
            if kept(one) != kept(near):
                assert form(one) != form(near), (one, near)
