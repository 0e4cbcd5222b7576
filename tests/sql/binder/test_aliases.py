"""Aliases of a select list that are used in it and in other clauses: what they mean, and where they mean nothing."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block


@pytest.mark.parametrize(
    ("dialect", "sql", "same"),
    [
        ("spark", "select a + b as e, e * 2 as f from T", "select a + b as e, (a + b) * 2 as f from T"),
        ("spark", "select a + b as b, b * 2 as f from T", "select a + b as b, T.b * 2 as f from T"),
        ("spark", "select a as now, now as e from T", "select a as now, a as e from T"),
        (
            "spark",
            "select a as e, count(*) as n, n * 2 as f from T group by all",
            "select a as e, count(*) as n, count(*) * 2 as f from T group by a",
        ),
        ("duckdb", "select a as e, b as e, e as f from T", "select a as e, b as e, b as f from T"),
        ("duckdb", "select a + b as e from T where e > 3", "select a + b as e from T where a + b > 3"),
        ("duckdb", "select a + b as b from T where b > 3", "select a + b as b from T where T.b > 3"),
    ],
)
def test_means_what_the_alias_is_of(dialect: str, sql: str, same: str) -> None:
    assert bind(sql, dialect, SCHEMA).query == bind(same, dialect, SCHEMA).query


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        ("postgres", "select a + b as e, e * 2 as f from T", "unknown column e"),
        ("spark", "select e * 2 as f, a + b as e from T", "unknown column e"),
        ("spark", "select a + b as e from T where e > 3", "unknown column e"),
        ("spark", "select a as e, b as e, e + 1 as f from T", "e stands twice in the select list"),
        ("spark", "select sum(a) as e, sum(e) as f from T", "e is an aggregate, which cannot stand inside another"),
        ("spark", "select sum(a) as e from T having sum(e) > 1", "e is an aggregate"),
        ("duckdb", "select rank() over (order by a) as r, sum(r) over () from T", "r is a value of OVER"),
        ("spark", "select rank() over (order by a) as r from T qualify sum(r) over () > 3", "r is a value of OVER"),
        (
            "spark",
            "select a, rank() over (order by sum(b)) as r from T group by a having r > 1",
            "r is a value of OVER",
        ),
        ("duckdb", "select sum(a) as e from T where e > 3", "SUM is an aggregate, which cannot stand here"),
        ("duckdb", "select rank() over (order by a) as r, (select max(k) from U where k = r) from T", "the alias r in"),
        ("oracle", "select -a as b from T order by b + 0", "b is a column and an alias here"),
    ],
)
def test_means_nothing_there(dialect: str, sql: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        bind(sql, dialect, SCHEMA)


def test_an_alias_that_is_not_known_is_called_one() -> None:
    with pytest.raises(SqlError) as caught:
        bind("select a + b as e from T where e > 3", "spark", SCHEMA)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("e is an alias, which is not known here")


@pytest.mark.slow
def test_a_chain_of_aliases_is_bound_in_order() -> None:
    items = "a as e0, " + ", ".join(f"case when e{i} > 3 then 1 else 0 end as e{i + 1}" for i in range(150))
    query = bind(f"select {items} from T where e150 = 1", "duckdb", SCHEMA).query
    assert isinstance(query, Block)
    assert len(query.outputs) == 151


def test_aliases_that_double_what_they_are_made_of_are_refused() -> None:
    items = ", ".join(f"e{i} + e{i} as e{i + 1}" for i in range(60))
    with pytest.raises(SqlError, match="more than 100,000 parts"):
        bind(f"select a as e0, {items} from T", "spark", SCHEMA)
