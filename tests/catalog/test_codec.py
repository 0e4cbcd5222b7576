"""What is stored as JSON: exact there and back, and different for different ones."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import pytest
from catalog.random_networks import VALUES
from sql.bind_schema import SCHEMA

from workbench.catalog.codec import decode, encode, type_of
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, text
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, array_of, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery

CONSTANTS = [Constant(value, type_) for type_, values in VALUES.items() for value in (*values, None)]


@pytest.mark.parametrize("constant", CONSTANTS, ids=text)
def test_constants_keep_value_spelling_and_type(constant):
    again = decode(encode(constant, Expression), Expression)
    assert again == constant
    assert (repr(again), text(again), type(again.value)) == (repr(constant), text(constant), type(constant.value))


def test_a_nan_of_any_making_is_the_one_of_the_process():
    assert decode(encode(Constant(float("nan"), DOUBLE), Expression), Expression) == Constant(math.nan, DOUBLE)


def test_different_constants_have_different_texts():
    alike = [
        Constant(1, INTEGER), Constant(True, BOOLEAN), Constant(1.0, DOUBLE), Constant(1, DOUBLE),
        Constant("1", STRING), Constant(Decimal("1"), decimal(15, 2)), Constant(Decimal("1"), decimal(3, 0)),
        Constant(1, decimal(15, 2)), Constant(None, INTEGER), Constant(None, STRING),
    ]  # fmt: skip
    assert len({encode(c, Expression) for c in alike}) == len(alike)


@pytest.mark.parametrize(
    "expression",
    [
        Column("a", INTEGER),
        Column('quo"ted', STRING, 1),
        Column("a", decimal(38, 38), 7),
        Call("pi", (), DOUBLE),
        Call("+", (Column("a", INTEGER, 1), Call("abs", (Constant(-1, INTEGER),), INTEGER)), INTEGER),
    ],
    ids=text,
)
def test_expressions_are_the_same_afterwards(expression):
    stored = encode(expression, Expression)
    assert decode(stored, Expression) == expression
    assert json.loads(stored)["type"] == str(expression.type)


def test_several_expressions_keep_their_order():
    several = (Constant(2, INTEGER), Column("a", STRING), Constant(2, INTEGER))
    assert decode(encode(several, tuple[Expression, ...]), tuple[Expression, ...]) == several
    assert decode(encode((), tuple[Expression, ...]), tuple[Expression, ...]) == ()


@pytest.mark.parametrize(
    "statistic",
    [
        AggregateCall("count", (), INTEGER),
        AggregateCall("count", (Column("a", STRING),), INTEGER, distinct=True),
        AggregateCall("percentile", (Column("a", DOUBLE), Constant(0.5, DOUBLE)), DOUBLE),
    ],
    ids=text,
)
def test_statistics_are_the_same_afterwards(statistic):
    assert decode(encode(statistic, AggregateCall), AggregateCall) == statistic


@pytest.mark.parametrize("type_", [*VALUES, decimal(38, 0)], ids=str)
def test_types_are_told_by_their_names(type_):
    assert type_of(str(type_)) == type_


TEXTS = [
    "SELECT * FROM T",
    "SELECT a AS \"Ω '1'\", m * 1.50 AS b, DATE '2002-11-29' AS d, NULL AS n, -0.0 + x AS z FROM T",
    "SELECT DISTINCT s FROM T WHERE m > 1 OR s LIKE 'a%' AND a IS NULL AND ts > TIMESTAMP '2002-11-29 10:00:00.5'",
    "SELECT T.a FROM T, U WHERE T.a = U.k AND T.m > 0.5 * U.a AND zipdistance(T.s, U.s) < 50",
    "SELECT s, COUNT(DISTINCT a) AS n, AVG(m) AS m, rms(x) AS r FROM T GROUP BY s HAVING SUM(m) > 1e3",
    "SELECT a FROM T UNION ALL SELECT b FROM T WHERE m < 0 EXCEPT SELECT COUNT(*) FROM U",
    "SELECT n FROM (SELECT COUNT(*) AS n FROM T) v WHERE n > 3",
    "SELECT s, m FROM T ORDER BY a DESC, 2 NULLS LAST LIMIT 5 OFFSET 2",
    "SELECT a, SUM(m) OVER (PARTITION BY s ORDER BY a RANGE 2.5 PRECEDING), LAG(b) IGNORE NULLS OVER (ORDER BY ts)"
    " FROM T QUALIFY RANK() OVER (ORDER BY m) <= 3",
    "SELECT T.a, U.k FROM T LEFT JOIN U ON T.a = U.k FULL JOIN T v ON v.a < T.a",
]


@pytest.mark.parametrize("sql", TEXTS)
def test_a_logical_query_is_the_same_afterwards(sql):
    query = bind(sql, "spark", SCHEMA).query
    again = decode(encode(query, LogicalQuery), LogicalQuery)
    assert again == query and repr(again) == repr(query)
    assert encode(again, LogicalQuery) == encode(query, LogicalQuery)


def test_a_query_that_stands_in_several_places_is_written_once():
    texts = []
    for joins in range(2, 12):
        chain = " ".join(f"LEFT JOIN U u{i} ON T.a = u{i}.k" for i in range(joins))
        texts.append(encode(bind(f"SELECT T.a FROM T {chain}", "spark", SCHEMA).query, LogicalQuery))
    assert len(texts[-1]) < 20 * len(texts[0]), "each join is in the next one three times"


def test_different_queries_have_different_texts():
    stored = {encode(bind(sql, "spark", SCHEMA).query, LogicalQuery) for sql in TEXTS}
    assert len(stored) == len(TEXTS)


def test_sets_have_one_text():
    some = frozenset([7, 3, 70, 1])
    assert encode(some, frozenset[int]) == "[1,3,7,70]" and decode("[1,3,7,70]", frozenset[int]) == some


def test_an_expression_of_an_array_comes_back() -> None:
    array = Call("split", (Column("s", STRING), Constant(",", STRING)), array_of(array_of(STRING)))
    assert decode(encode(array, Expression), Expression) == array
