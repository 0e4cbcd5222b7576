"""An aggregate gathers all values of a group only where it gives such a list; others keep less, in every dialect."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import WorkbenchError
from workbench.sql.algebra.expressions import text
from workbench.sql.algebra.types import Kind
from workbench.sql.binder.pipeline import bind
from workbench.sql.functions.aggregates import AGGREGATES
from workbench.sql.logical import Block

OF_POSTGRES = "array_agg bit_and bit_or bit_xor bool_and bool_or every corr regr_slope stddev variance string_agg"
ARGUMENTS = ("a", "s", "a, b", "a, 0.5", "a > 1", "s, ','")
LISTS = {Kind.ARRAY, Kind.MAP, Kind.STRUCT}


@cache
def names() -> list[str]:
    """Names of aggregates: those of the table, of DuckDB, and some of PostgreSQL."""
    known = duckdb.sql("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'")
    of_table = [name for aggregate in AGGREGATES.values() for name in (aggregate.name, *aggregate.names)]
    return sorted({*of_table, *(name for (name,) in known.fetchall()), *OF_POSTGRES.split(), "geomean", "wavg"})


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_no_list_is_gathered_for_what_is_none(dialect: str) -> None:
    read, gathered = set(), []
    for name in names():
        for arguments in ARGUMENTS:
            try:
                query = bind(f"SELECT b, {name}({arguments}) AS v FROM T GROUP BY b", dialect, SCHEMA).query
            except WorkbenchError:
                continue
            assert isinstance(query, Block) and query.grouping is not None
            read.add(name)
            kept = {statistic.function for statistic in query.grouping.statistics}
            is_list = query.outputs[-1].expression.type.kind in LISTS or "json" in name
            if not is_list and any(function.startswith("array_agg") for function in kept):
                gathered.append(f"{name}({arguments})")
    assert len(read) > 30 and gathered == []


@pytest.mark.parametrize(
    "call, dialect, kept",
    [
        ("SIZE(COLLECT_LIST(a))", "spark", ["count(a)"]),
        ("SIZE(COLLECT_SET(a))", "spark", ["count(distinct a)"]),
        ("ARRAY_MAX(COLLECT_LIST(s))", "spark", ["max(s)"]),
        ("LEN(LIST(a))", "duckdb", ["count(*)"]),
        (
            "LIST_MIN(LIST(a) FILTER (WHERE a > 1))",
            "duckdb",
            ["min(case(case((a > 1), true, null::boolean), a, null::integer))"],
        ),
        ("CARDINALITY(ARRAY_AGG(a))", "postgres", ["count(*)"]),
        ("ARRAY_LENGTH(ARRAY_AGG(a), 1)", "postgres", ["count(*)"]),
        ("JSON_ARRAY_LENGTH(JSON_AGG(a))", "postgres", ["count(*)"]),
        ("LEN(LIST(DISTINCT a))", "duckdb", ["array_agg(distinct true, a)"]),
        ("LEN(LIST(a ORDER BY s DESC))", "duckdb", ["count(*)"]),
        ("LIST(a ORDER BY s)[-1]", "duckdb", ["array_agg_limit_desc(1, true, a, is_null(s), s)"]),
        ("LIST_EXTRACT(LIST(a ORDER BY s DESC), -2)", "duckdb", ["array_agg_limit(2, true, a, s)"]),
        ("LIST_EXTRACT(LIST(a ORDER BY s), 3)", "duckdb", ["array_agg_limit(3, true, a, is_null(s), s)"]),
        ("LIST_EXTRACT(LIST(a ORDER BY s), 0)", "duckdb", ["array_agg(true, a, is_null(s), s)"]),
        ("(ARRAY_AGG(a ORDER BY s))[-1]", "postgres", ["array_agg(true, a, is_null(s), s)"]),
        ("ELEMENT_AT(COLLECT_LIST(a), -1)", "spark", ["array_agg_limit_desc(1, not(is_null(a)), a)"]),
        ("ELEMENT_AT(SORT_ARRAY(COLLECT_LIST(a)), 2)", "spark", ["array_agg_limit(2, not(is_null(a)), a)"]),
        (
            "ELEMENT_AT(SORT_ARRAY(COLLECT_SET(a), FALSE), 1)",
            "spark",
            ["array_agg_limit_desc(distinct 1, not(is_null(a)), a)"],
        ),
        ("SIZE(COLLECT_LIST(a)), COLLECT_LIST(a)", "spark", ["array_agg(not(is_null(a)), a)", "count(a)"]),
    ],
)
def test_no_list_is_gathered_that_is_only_counted(call: str, dialect: str, kept: list[str]) -> None:
    query = bind(f"SELECT b, {call} FROM T GROUP BY b", dialect, SCHEMA).query
    assert isinstance(query, Block) and query.grouping is not None
    assert sorted(map(text, query.grouping.statistics)) == kept
