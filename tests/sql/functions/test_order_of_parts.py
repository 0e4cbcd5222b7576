"""Arrays and structs are in the order of DuckDB and of Spark, whatever is in them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from decimal import Decimal
from functools import cmp_to_key
from random import Random
from typing import Any

import duckdb
import pytest

from workbench.sql.algebra.types import STRING, parse_expression_type
from workbench.sql.functions.calls import FUNCTIONS

SEED = int(os.environ["ARGUS_SEED"])
VALUES: dict[str, Callable[[Random], Any]] = {
    "INTEGER": lambda r: r.choice([0, 1, -1, 9, 10, 2**31 - 1, -(2**31)]),
    "BIGINT": lambda r: r.choice([0, 1, -1, 2**63 - 1, -(2**63), 10, 9]),
    "DOUBLE": lambda r: r.choice([0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 5e-324, 1e300]),
    "DECIMAL(9,2)": lambda r: Decimal(r.choice([0, 1, -1, 999, -1000, 123456789, -123456789])) / 100,
    "VARCHAR": lambda r: r.choice(["", "a", "b", "ab", "a\x01", "A", "é", "\U0001f600", "\uffff", " ", "!"]),
    "BOOLEAN": lambda r: r.random() < 0.5,
}
NAMES = {"VARCHAR": "string", "BIGINT": "integer"}


def drawn(random: Random, depth: int = 0) -> tuple[str, str, Callable[[Random], Any]]:
    """A type in DuckDB's words and in ours, and what draws its values, in which NULLs are."""
    kind = random.choice(["plain"] * depth + ["list", "list", "struct"])
    if kind == "plain":
        name = random.choice([*VALUES])
        return name, NAMES.get(name, name.lower()), lambda r: None if r.random() < 0.15 else VALUES[name](r)
    if kind == "list":
        name, own, draw = drawn(random, depth + 1)
        draw_list: Callable[[Random], Any] = lambda r: [draw(r) for _ in range(r.randrange(4))]  # noqa: E731
        return f"{name}[]", f"array<{own}>", lambda r: None if r.random() < 0.1 else draw_list(r)
    parts = [drawn(random, depth + 1) for _ in range(random.randint(1, 3))]
    names = "abc"[: len(parts)]
    text = ", ".join(f"{n} {name}" for n, (name, _, _) in zip(names, parts, strict=True))
    own = ",".join(f"{n}:{name}" for n, (_, name, _) in zip(names, parts, strict=True))
    return (
        f"STRUCT({text})",
        f"struct<{own}>",
        lambda r: None if r.random() < 0.1 else {n: draw(r) for n, (_, _, draw) in zip(names, parts, strict=True)},
    )


def as_given(value: Any) -> Any:
    """A value as functions of Python have it: a struct is the tuple of its fields."""
    if isinstance(value, dict):
        return tuple(map(as_given, value.values()))
    return list(map(as_given, value)) if isinstance(value, list) else value


def in_spark(left: Any, right: Any) -> int:
    """The order of Spark: NULL is smallest, NaN largest, and zeros are equal."""
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if isinstance(left, (list, tuple)):
        found = (in_spark(*pair) for pair in zip(left, right, strict=False))
        return next((sign for sign in found if sign), (len(left) > len(right)) - (len(left) < len(right)))
    if isinstance(left, float):
        left, right = ((math.isnan(side), 0.0 if math.isnan(side) else side) for side in (left, right))
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    return int(left > right) - int(left < right)


@pytest.mark.parametrize("number", range(12))
def test_texts_are_in_the_order_of_the_values(number: int) -> None:
    random = Random(SEED * 100 + number)
    name, own, draw = drawn(random)
    values = [value for value in (draw(random) for _ in range(60)) if value is not None]
    order = FUNCTIONS["order_of_parts"].python
    assert order is not None and str(parse_expression_type(own))
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE r (i BIGINT, v {name})")
        database.executemany("INSERT INTO r VALUES (?, ?)", [[i, value] for i, value in enumerate(values)])
        pairs = database.execute("SELECT x.i, y.i, x.v < y.v, x.v = y.v FROM r x, r y").fetchall()
        texts = [order(as_given(value), own, True) for value in values]
        for i, j, less, equal in pairs:
            assert (texts[i] < texts[j], texts[i] == texts[j]) == (less, equal), (name, values[i], values[j])
        by_rank = database.execute("SELECT i, DENSE_RANK() OVER (ORDER BY v DESC) FROM r ORDER BY 2").fetchall()
        ranks = {text: place for place, text in enumerate(sorted(set(texts), reverse=True), start=1)}
        assert all(ranks[texts[i]] == rank for i, rank in by_rank), name
    given = [as_given(value) for value in values]
    spark = [order(value, own, False) for value in given]
    assert sorted(spark) == [order(value, own, False) for value in sorted(given, key=cmp_to_key(in_spark))]
    assert FUNCTIONS["order_of_parts"].returns == STRING
