"""Comparisons that are rewritten by laws of arithmetic have one canonical form, and decide all rows alike; others have
another form. What a database says of a row without an overflow is what the canonical form says."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from long import LONG
from sql.exact_rows import Row, true, value

from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.sql.algebra.expressions import Call, Constant
from workbench.sql.algebra.folding import compares
from workbench.sql.algebra.types import INTEGER, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.canonical import canonical, without_overflow
from workbench.sql.predicates.cnf import Operator, PredSet
from workbench.sql.schema import Schema

COLUMNS = dict.fromkeys("abc", INTEGER) | {"p": decimal(5, 2), "q": decimal(4, 1), "r": decimal(3, 0)}
SCHEMA = Schema(streams={"F": tuple(COLUMNS.items())})
SEEDS = range(4_000 if LONG else 60)
ORDERS = ["=", "<>", "<", "<=", ">", ">="]
FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>"}
ENDS = {
    **dict.fromkeys("abc", (None, 0, 1, -1, 2, 7, 2**31, 2**53 + 1, -(2**62), 2**63 - 1, -(2**63))),
    "p": (None, 0, Fraction("0.01"), Fraction("999.99"), Fraction("-999.99")),
    "q": (None, 0, Fraction("0.1"), Fraction("-999.9"), Fraction("999.9")),
    "r": (None, 0, 1, 999, -999),
}

Tree = str | int | tuple
"""A column, a number, or an operator with two trees."""
Comparison = tuple[Tree, str, Tree]


def sql(tree: Tree) -> str:
    return f"({sql(tree[1])} {tree[0]} {sql(tree[2])})" if isinstance(tree, tuple) else str(tree)


def text(comparison: Comparison) -> str:
    return f"{sql(comparison[0])} {comparison[1]} {sql(comparison[2])}"


def bound(condition: str, dialect: str = "spark") -> PredSet:
    query = bind(f"SELECT 1 AS one FROM F WHERE {condition}", dialect, SCHEMA).query
    assert isinstance(query, Block)
    return query.where


def sum_of(rng: random.Random, columns: str, depth: int) -> Tree:
    """A tree of sums, differences, and products of what has no product in it."""
    if depth == 0:
        return rng.choice([*columns, rng.choice([1, 2, 3, -2])])
    if rng.random() < 0.5:
        return (rng.choice("+-"), sum_of(rng, columns, depth - 1), sum_of(rng, columns, depth - 1))
    factor = ("+", rng.choice(columns), rng.choice([*columns, 1, 4])) if depth > 1 else rng.choice([*columns, 3])
    return ("*", rng.choice(columns), factor)


def rewritten(rng: random.Random, tree: Tree) -> Tree:
    """An equal tree, one law applied somewhere."""
    if not isinstance(tree, tuple):
        return tree
    operator, left, right = tree
    if rng.random() < 0.4:
        part = rng.randrange(2)
        return (operator, rewritten(rng, left), right) if part else (operator, left, rewritten(rng, right))
    match tree:
        case ("*", x, (("+" | "-") as sign, y, z)):
            return (sign, ("*", x, y), ("*", x, z))
        case (("+" | "-") as sign, ("*", x, y), ("*", z, u)) if x == z:
            return ("*", x, (sign, y, u))
        case (("+" | "*") as sign, (inner, x, y), z) if inner == sign and rng.random() < 0.5:
            return (sign, x, (sign, y, z))
        case ("+" | "*", x, y):
            return (operator, y, x)
        case ("-", x, y):
            return ("+", ("*", y, -1), x) if rng.random() < 0.5 else ("-", ("-", x, 1), ("-", y, 1))
    return tree


def compared_alike(rng: random.Random, comparison: Comparison) -> Comparison:
    """An equal comparison: its sides exchanged, moved or multiplied, or one of them rewritten."""
    left, operator, right = comparison
    match rng.randrange(5):
        case 0:
            return right, FLIPPED[operator], left
        case 1:
            return ("-", left, right), operator, 0
        case 2:
            factor = rng.choice([2, -1])
            return ("*", left, factor), FLIPPED[operator] if factor < 0 else operator, ("*", right, factor)
        case _:
            return rewritten(rng, left), operator, rewritten(rng, right)


def integer_comparison(rng: random.Random) -> Comparison:
    """A product with a sum of INTEGERs, which 64 bits are few for."""
    x, (y, z) = rng.choice("abc"), rng.sample("abc", 2)
    product: Tree = ("*", x, (rng.choice("+-"), y, rng.choice([z, z, 1, 3])))
    return product, rng.choice(ORDERS), rng.choice([0, 10, -7, "a", "c"])


def some_rows(rng: random.Random, number: int) -> list[Row]:
    return [
        {(0, name): None if (v := rng.choice(values)) is None else Fraction(v) for name, values in ENDS.items()}
        for _ in range(number)
    ]


def has_value(condition: PredSet, row: Row) -> bool:
    """Whether no part of it overflows."""
    return all(
        value(side, row) is not None for p in condition for literal in p.literals for side in literal.expressions
    )


def check_alike(rng: random.Random, texts: list[str]) -> None:
    forms = {each: canonical(bound(each)) for each in texts}
    assert len(set(forms.values())) == 1, {each: str(form) for each, form in forms.items()}
    form = forms[texts[0]]
    assert canonical(form) == form
    for each in texts:
        original = bound(each)
        wide = without_overflow(original)
        for row in some_rows(rng, 25):
            assert true(wide, row) == true(form, row), (each, str(form), row)
            if has_value(original, row):
                assert true(original, row) == true(form, row), (each, str(form), row)


@pytest.mark.parametrize("seed", SEEDS)
def test_rewritten_comparisons_have_one_form(seed: int) -> None:
    rng = random.Random(seed)
    if seed % 2:
        comparison = integer_comparison(rng)
    else:
        comparison = (sum_of(rng, "pqr", 2), rng.choice(ORDERS), sum_of(rng, "pqr", rng.randrange(2)))
    texts = [text(comparison)]
    for _ in range(4):
        comparison = compared_alike(rng, comparison)
        texts.append(text(comparison))
    check_alike(rng, [*texts[:1], texts[2], texts[4]])


@pytest.mark.parametrize("seed", SEEDS)
def test_quotients_of_integers_have_the_form_of_the_integer(seed: int) -> None:
    """``a / 4 + 1 > 3`` is ``a > 8``: for the numbers below DOUBLE is exact, and for all it keeps the order."""
    rng = random.Random(seed)
    divisor, quotient, more = rng.choice([2, 3, 4, 7, 10, -3]), rng.randrange(-9, 10), rng.choice([0, 1, -5])
    operator = rng.choice(ORDERS)
    plain = FLIPPED[operator] if divisor < 0 else operator
    column = rng.choice(["a", "p", "q"])
    moved = f"{column} / {divisor} + {more} {operator} {quotient + more}"
    check_alike(
        rng,
        [f"{column} {plain} {divisor * quotient}", moved, f"{quotient} - {column} / {divisor} {FLIPPED[operator]} 0"],
    )
    other = canonical(bound(f"{column} / {divisor} {operator} {quotient + 1}"))
    assert other != canonical(bound(moved))


@pytest.mark.parametrize("seed", SEEDS)
def test_forms_are_equal_only_where_rows_are_decided_alike(seed: int) -> None:
    rng = random.Random(seed)
    comparison = integer_comparison(rng) if seed % 2 else (sum_of(rng, "pqr", 2), rng.choice(ORDERS), 3)
    left, operator, right = comparison
    others = [
        (left, rng.choice(ORDERS), right),
        (left, operator, ("+", right, 1)),
        (rewritten(rng, ("+", left, "r")), operator, right),
    ]
    form = canonical(bound(text(comparison)))
    for other in others:
        another = canonical(bound(text(other)))
        alike = all(true(form, row) == true(another, row) for row in some_rows(rng, 30))
        assert alike or form != another, (text(comparison), text(other))


def by_kernels(condition: PredSet, rows: list[Row]) -> list[bool]:
    """Whether both sides of all comparisons, as the engine evaluates them, let rows through."""
    columns = {
        name: pa.array([None if (v := row[0, name]) is None else cell(v, type_.scale) for row in rows], to_arrow(type_))
        for name, type_ in COLUMNS.items()
    }
    batch, passed = pa.RecordBatch.from_pydict(columns), [True] * len(rows)
    for (literal,) in (p.literals for p in condition):
        sides = zip(*(evaluate(side, batch).to_pylist() for side in literal.expressions), strict=True)
        passed = [before and decided(literal.operator, *values) for before, values in zip(passed, sides, strict=True)]
    return passed


def decided(operator: Operator, left: Any, right: Any = 0) -> bool:
    if left is None or right is None:
        return False
    if operator in (Operator.IS_NOT_NULL, Operator.HOLDS):
        return operator is Operator.IS_NOT_NULL or left is True
    return compares(str(operator), (left > right) - (left < right))


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    columns = "row INT, a BIGINT, b BIGINT, c BIGINT, p DECIMAL(5, 2), q DECIMAL(4, 1), r DECIMAL(3, 0)"
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE F ({columns})")
        yield connection


def cell(number: object, scale: int) -> int | Decimal:
    assert isinstance(number, Fraction)
    return Decimal(int(number * 10**scale)).scaleb(-scale) if scale or number.denominator > 1 else int(number)


@pytest.mark.parametrize("seed", range(0, len(SEEDS), 4))
def test_the_engine_decides_as_duckdb_does(seed: int, database: duckdb.DuckDBPyConnection) -> None:
    """Where DuckDB has no overflow, which is an error there."""
    rng = random.Random(seed)
    texts = [
        text(integer_comparison(rng)),
        text((sum_of(rng, "pqr", 2), rng.choice(ORDERS), 3)),
        f"a / {rng.choice([3, 7, -4])} {rng.choice(ORDERS)} {rng.randrange(9)}",
    ]
    rows = some_rows(rng, 15)
    values = [[None if v is None else cell(v, COLUMNS[name].scale) for (_, name), v in row.items()] for row in rows]
    for each in texts:
        form = canonical(bound(each, "duckdb"))
        if not all(has_kernels(side) for p in form for literal in p.literals for side in literal.expressions):
            continue  # more than 38 digits were needed: it overflows as Spark's INTEGER does
        found = by_duckdb(database, each, values)
        for row, passed, let_through in zip(rows, by_kernels(form, rows), found, strict=True):
            if let_through is not None:
                assert passed == let_through, (each, str(form), row)
                assert passed == true(form, row)


def by_duckdb(
    database: duckdb.DuckDBPyConnection, condition: str, rows: Sequence[Sequence[object]]
) -> list[bool | None]:
    """Whether DuckDB lets each row through; ``None`` for a row for which it has an error."""
    database.execute("DELETE FROM F")
    database.executemany("INSERT INTO F VALUES (?, ?, ?, ?, ?, ?, ?)", [[at, *row] for at, row in enumerate(rows)])
    try:
        found = {at for (at,) in database.execute(f"SELECT row FROM F WHERE {condition}").fetchall()}
        return [at in found for at in range(len(rows))]
    except duckdb.OutOfRangeException:
        return [by_duckdb(database, condition, [row])[0] for row in rows] if len(rows) > 1 else [None]


def test_what_is_not_exact_is_left() -> None:
    for condition in ("a / b > 2", "a / 2 > b", "a * b * c > 1", "a div 2 = 3"):
        ((literal,),) = (p.literals for p in canonical(bound(condition)))
        assert isinstance(literal.left, Call) and literal.left.function in ("/", "*", "div"), condition
    assert canonical(bound("a / 3 > 1e300")) == canonical(canonical(bound("a / 3 > 1e300")))
    assert not any(
        isinstance(literal.left, Constant) for p in canonical(bound("a / 2 > 9e18")) for literal in p.literals
    )
