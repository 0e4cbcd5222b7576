"""Alternatives of a condition that read no subquery: rows that pass by one need no partner, and none lacks one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sql.bind_schema import SCHEMA

from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, Input, SetQuery

AVERAGE = "(SELECT AVG(v.m) FROM T v WHERE v.a = t.a)"
LARGEST = "(SELECT MAX(v.m) FROM T v WHERE v.a = t.a)"
CONDITIONS = [
    f"t.m > 3 * {AVERAGE} OR t.m > 900",
    f"t.m >= 3 * {AVERAGE} OR t.b < 9 AND t.m > 900",
    f"NOT (t.m <= 3 * {AVERAGE} AND t.m < 900)",
    f"CASE WHEN t.b < 9 THEN t.m > 900 ELSE t.m > 3 * {AVERAGE} END",
    f"t.m BETWEEN {AVERAGE} AND {LARGEST} OR t.b < 9",
    f"(t.b < 9 OR t.m > {AVERAGE}) AND (t.m > 900 OR t.m = {LARGEST})",
    f"t.m > 3 * {AVERAGE} OR t.m < 0.1 * {AVERAGE}",
]


def sets(query: Input) -> Iterator[SetQuery]:
    """The set operations of a query."""
    match query:
        case SetQuery():
            yield query
            for branch in query.branches:
                yield from sets(branch)
        case Block():
            for item in query.inputs:
                yield from sets(item)


def operators(sql: str) -> set[str]:
    query = bind(sql, "spark", SCHEMA).query
    assert query is not None
    return {operation.operator for operation in sets(query)}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_that_pass_by_themselves_need_no_partner(condition: str) -> None:
    assert "antijoin" not in operators(f"SELECT t.b FROM T t WHERE {condition}")


def test_a_value_that_is_shown_is_that_of_rows_without_partner_too() -> None:
    sql = f"SELECT t.b, {AVERAGE} AS mean FROM T t WHERE {CONDITIONS[0]}"
    assert operators(sql) == {"union", "antijoin"}


def test_whether_there_is_a_partner_is_left_to_the_outer_join() -> None:
    exists = "EXISTS (SELECT 1 FROM T v WHERE v.a = t.a AND v.m > 900)"
    assert operators(f"SELECT t.b FROM T t WHERE t.b < 9 OR {exists}") == {"union", "antijoin"}


OF_ANOTHER = "(SELECT MIN(v.b) FROM T v WHERE v.a < t.b)"


@pytest.mark.parametrize(
    ("condition", "partners"),
    [
        (f"t.m > 3 * {AVERAGE} OR t.m >= {LARGEST}", 2),
        (f"t.m > 3 * {AVERAGE} OR t.m >= {LARGEST} OR t.b < {OF_ANOTHER}", 3),
        (f"t.m > 3 * {AVERAGE} OR t.m >= {LARGEST} OR t.b < 9", 3),
        (f"t.m > 3 * {AVERAGE} OR t.b < {LARGEST} - {OF_ANOTHER}", 2),
        (f"NOT (t.m <= 3 * {AVERAGE} AND t.m < {LARGEST})", 2),
    ],
)
def test_values_of_different_subqueries_are_partners_of_which_a_row_has_one(condition: str, partners: int) -> None:
    query = bind(f"SELECT t.b FROM T t WHERE {condition}", "spark", SCHEMA).query
    assert query is not None
    first = next(sets(query))
    assert (first.operator, len(first.branches)) == ("semijoin", 1 + partners)


def test_what_may_hold_without_a_partner_is_left_to_outer_joins() -> None:
    sql = f"SELECT t.b FROM T t WHERE {AVERAGE} IS NULL OR t.m > {LARGEST}"
    assert operators(sql) == {"union", "antijoin"}


def test_equal_subqueries_are_joined_once() -> None:
    query = bind(f"SELECT t.b FROM T t WHERE t.m BETWEEN {AVERAGE} AND 2 * {AVERAGE}", "spark", SCHEMA)
    assert isinstance(query.query, Block)
    assert len(query.query.inputs) == 2
    total = "(SELECT AVG(m) FROM T)"
    query = bind(f"SELECT b FROM T WHERE m BETWEEN {total} AND 2 * {total}", "spark", SCHEMA)
    assert isinstance(query.query, Block)
    assert len(query.query.inputs) == 2
