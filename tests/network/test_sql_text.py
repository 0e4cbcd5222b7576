"""Nodes and expressions as SQL, with no more parentheses than they need."""

from __future__ import annotations

import pytest
from example_network import (
    FED,
    selection,
)

from workbench.network.nodes import Aggregate, Read, SetOperation, SetOperator
from workbench.network.sql_text import Words, by_side, expression_sql, predicates_sql
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, struct_of
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import Literal, Operator, or_pred, pred_set
from workbench.sql.schema import Schema


def test_statements_of_rare_shapes():
    count = AggregateCall("count", (Column("a", INTEGER),), INTEGER, distinct=True)
    total = Aggregate(Read(FED.id), (), frozenset({count}), (FED.id,))
    assert total.sql(Words()).startswith("SELECT COUNT(DISTINCT a) AS ")
    assert "GROUP BY" not in total.sql(Words())
    either = pred_set(
        [
            or_pred([Literal(Column("a", INTEGER), Operator.IS_NULL), Literal(Column("b", INTEGER), Operator.HOLDS)]),
            or_pred([Literal(Column("c", INTEGER), Operator.NE, Constant(None, INTEGER))]),
        ]
    )
    tested = selection(FED, either).sql(Words())
    assert tested == f"SELECT * FROM {FED.id} WHERE (a IS NULL OR b) AND c <> NULL"
    union = SetOperation(SetOperator.UNION_ALL, (), (("F1", ()), ("F2", ()), ("F3", ())))
    assert union.sql(Words()).count("UNION ALL") == 2


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        (("-", ("-", "a", "b"), "c"), "a - b - c"),
        (("-", "a", ("-", "b", "c")), "a - (b - c)"),
        (("+", "a", ("+", "b", "c")), "a + b + c"),
        (("*", ("+", "a", "b"), "c"), "(a + b) * c"),
        (("+", ("*", "a", "b"), "c"), "a * b + c"),
        (("/", "a", ("*", "b", "c")), "a / (b * c)"),
        (("-", "a", ("+", "b", "c")), "a - (b + c)"),
        (("not", ("or", "a", "b")), "NOT (a OR b)"),
        (("and", ("or", "a", "b"), ("=", "c", "d"), "e"), "(a OR b) AND c = d AND e"),
        (("=", ("is_null", "a"), ("in", "b", "c", "d")), "(a IS NULL) = (b IN (c, d))"),
        (("*", ("neg", "a"), ("neg", ("+", "b", "c"))), "-a * -(b + c)"),
        (("||", ("case", "a", "b", "c"), "d"), "CASE WHEN a THEN b ELSE c END || d"),
        (("like", ("||", "a", "b"), "c"), "a || b LIKE c"),
        (("substr", ("+", "a", "b"), "c"), "SUBSTR(a + b, c)"),
    ],
)
def test_parentheses_are_those_that_matter(expression, sql):
    def build(part):
        if isinstance(part, str):
            return Column(part, INTEGER)
        return Call(part[0], tuple(map(build, part[1:])), INTEGER)

    assert expression_sql(build(expression)) == sql


def test_functions_and_casts():
    assert expression_sql(Call("cast", (Column("a", INTEGER),), DOUBLE)) == "CAST(a AS DOUBLE)"
    assert expression_sql(Call("to_char", (Column("d", DATE, 1),), DATE), by_side) == "TO_CHAR(r.d)"


def test_lambdas_and_elements_of_arrays():
    schema = Schema({"t": (("s", STRING),)})
    sql = "SELECT exists(split(s, ','), word -> word = 'a') AS e,"
    sql += " zip_with(array(1), array(2), (a, b) -> a + b)[0] AS z FROM t"
    query = bind(sql, "spark", schema).query
    assert isinstance(query, Block)
    assert [expression_sql(output.expression) for output in query.outputs] == [
        "EXISTS(SPLIT(s, ','), x0 -> x0 = 'a')",
        "ZIP_WITH(ARRAY(1), ARRAY(2), (x0, x1) -> x0 + x1)[0]",
    ]


def test_structs_and_bytes():
    schema = Schema({"t": (("s", struct_of([("x", INTEGER), ("b c", struct_of([("y", DATE)]))])), ("a", INTEGER))})
    sql = "SELECT S.X, s.`B c`.y, STRUCT(a AS n, s.x + 1), STRUCT(a).a, X'0aff' FROM t"
    (query,) = (bind(sql, "spark", schema).query,)
    assert isinstance(query, Block)
    assert [expression_sql(output.expression) for output in query.outputs] == [
        "s.x", "s.`b c`.y", "STRUCT(a AS n, s.x + 1 AS col2)", "STRUCT(a AS a).a", "X'0AFF'",
    ]  # fmt: skip


@pytest.mark.parametrize("condition", ["a < b", "a + 3 < b", "CAST(b AS DECIMAL(12,2)) > a"])
def test_a_comparison_is_shown_without_the_casts_that_make_it_exact(condition: str) -> None:
    schema = Schema({"t": (("a", INTEGER), ("b", INTEGER))})
    bound = bind(f"SELECT a FROM t WHERE {condition}", "spark", schema)
    assert isinstance(bound.query, Block)
    shown = predicates_sql(canonical(bound.query.where))
    assert ("CAST" in shown) == ("CAST" in condition) and shown.count("CAST") <= 1, shown
