"""PIVOT and UNPIVOT mean the query with GROUP BY and FILTER, or with UNION ALL, that they stand for."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError
from workbench.sql.algebra.expressions import Constant
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, LogicalQuery, parts_of
from workbench.sql.schema import Schema


@pytest.mark.parametrize(
    ("dialect", "sql", "same"),
    [
        (
            "spark",
            "select * from (select a, b, s from T) pivot (sum(b) as n, max(b) as m for s in ('x' as ex, 'y'))",
            "select * from (select a, sum(b) filter (where s = 'x') as ex_n, max(b) filter (where s = 'x') as ex_m,"
            " sum(b) filter (where s = 'y') as y_n, max(b) filter (where s = 'y') as y_m from T group by a)",
        ),
        (
            "spark",
            "select * from (select b, s from T) pivot (count(b) for s in ('x'))",
            "select * from (select case when count(*) filter (where s = 'x') > 0 then"
            " count(b) filter (where s = 'x') end as x from T)",
        ),
        (
            "duckdb",
            "pivot T on s in ('x') using count(b) group by a",
            "select a, count(b) filter (where s = 'x') as x from T group by a",
        ),
        (
            "duckdb",
            "select * from (select d, a, b from T) unpivot (v for k in (a, b as bb))",
            "select * from (select d, 'a' as k, a as v from T where a is not null"
            " union all select d, 'bb' as k, b as v from T where b is not null)",
        ),
    ],
)
def test_means_the_query_that_it_stands_for(dialect: str, sql: str, same: str) -> None:
    assert bind(sql, dialect, SCHEMA).query == bind(same, dialect, SCHEMA).query


@pytest.mark.parametrize(
    "item", ["sales", "(select * from sales) z", "(select JAN, feb, id from sales where id > 0) z", "SALES as z"]
)
def test_in_duckdb_a_column_is_called_as_the_source_spells_it(item: str) -> None:
    columns = (("id", INTEGER), ("jan", INTEGER), ("feb", INTEGER))
    schema = Schema({"Sales": columns}, spelled={"Sales": {"jan": "Jan"}})
    unpivoted = [
        bind(f"select * from {item} unpivot (v for k in ({names}))", dialect, schema).query
        for dialect, names in (("duckdb", "jAn, FEB"), ("duckdb", "jan as 'Jan', FEB as 'feb'"), ("spark", "jan, feb"))
    ]
    assert {value.value for value in _constants(unpivoted[0])} == {"Jan", "feb"}
    assert {value.value for value in _constants(unpivoted[1])} == {"Jan", "feb"}
    assert {value.value for value in _constants(unpivoted[2])} == {"jan", "feb"}


def _constants(query: LogicalQuery | None) -> list[Constant]:
    assert query is not None
    blocks = [part for part in parts_of(query) if isinstance(part, Block)]
    outputs = [output.expression for block in blocks for output in block.outputs]
    return [value for value in outputs if isinstance(value, Constant)]


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        ("postgres", "select * from T pivot (sum(a) for s in ('x'))", "PIVOT is not supported"),
        ("spark", "pivot T on s in ('x') using sum(a)", "PIVOT … ON is not supported"),
        ("duckdb", "pivot T on s using sum(a)", "PIVOT without one list of values"),
        ("duckdb", "pivot T on a % 2 in (0, 1) using sum(b)", "PIVOT on what is no column"),
        ("duckdb", "pivot T on s in ('x') using sum(a), max(a)", "several aggregates without names"),
        ("spark", "select * from T pivot (sum(a) for s in ('x', null))", "values that are no constants"),
        ("spark", "select * from T pivot (count(a), max(s) for b in (1))", "PIVOT of COUNT beside that aggregate"),
        ("spark", "select * from T pivot (collect_list(a) for b in (1))", "PIVOT of arrays and lists"),
        ("spark", "select * from T unpivot ((v, w) for k in ((a, b)))", "UNPIVOT of several columns at once"),
    ],
)
def test_refused_by_name(dialect: str, sql: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        bind(sql, dialect, SCHEMA)
