"""Functions inside one another that could make more of a row than a worker has room for are refused by name."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import UnsupportedError
from workbench.sql.binder.pipeline import bind

WIDE = "a" * 32
GROWING = [
    "SIZE(TRANSFORM(SEQUENCE(1, 100000), x -> SEQUENCE(1, 100000 - a)))",
    "SIZE(FLATTEN(TRANSFORM(SEQUENCE(1, 10000), x -> SEQUENCE(1, x))))",
    "LENGTH(AGGREGATE(SEQUENCE(1, 60), s, (x, v) -> x || x))",
    "LENGTH(AGGREGATE(SEQUENCE(1, 40), s, (x, v) -> REPLACE(x, 'a', 'aa')))",
    "LENGTH(AGGREGATE(SEQUENCE(1, 100000), '', (x, v) -> x || REPEAT(s, 100)))",
    "SIZE(AGGREGATE(SEQUENCE(1, 30), ARRAY(a), (x, v) -> CONCAT(x, x)))",
    "SIZE(AGGREGATE(SEQUENCE(1, 20), ARRAY(a), (x, v) -> FLATTEN(ARRAY(x, x, x))))",
    f"REPLACE(REPLACE(REPLACE(REPLACE(s, 'a', '{WIDE}'), 'b', '{WIDE}'), 'c', '{WIDE}'), 'd', '{WIDE}')",
    f"REGEXP_REPLACE(REGEXP_REPLACE(REGEXP_REPLACE(REPLACE(s, 'a', '{WIDE}'), '', '{WIDE}'), '', '{WIDE}'), '', 'aa')",
    "SIZE(ARRAY_REPEAT(ARRAY_REPEAT(ARRAY_REPEAT(a, 1000), 1000), 1000))",
    "SIZE(ARRAY_REPEAT(SEQUENCE(1, 100000), a))",
    "SIZE(TRANSFORM(SEQUENCE(1, a), x -> REPEAT(s, 100000)))",
    "EXISTS(TRANSFORM(SEQUENCE(1, 1000), x -> TRANSFORM(SEQUENCE(1, 1000), y -> SEQUENCE(x, a))), z -> SIZE(z) > 1)",
    "SIZE(ZIP_WITH(SEQUENCE(1, 100000), SEQUENCE(1, 2), (x, y) -> SEQUENCE(1, 100000)))",
]
BOUNDED = [
    "SIZE(TRANSFORM(SEQUENCE(1, a), x -> x + 1))",
    "SIZE(TRANSFORM(SEQUENCE(1, LEAST(a, 100)), x -> SEQUENCE(1, LEAST(x, 100))))",
    "SIZE(TRANSFORM(SEQUENCE(1, 12), x -> LPAD(CAST(x AS STRING), 2, '0')))",
    "SIZE(TRANSFORM(SPLIT(s, ','), x -> REPLACE(UPPER(x), 'A', 'BB')))",
    "SIZE(TRANSFORM(SLICE(SEQUENCE(1, a), 1, 100), x -> SEQUENCE(1, 1000)))",
    "REPLACE(REPLACE(REPLACE(REPLACE(s, 'a', 'bb'), 'c', 'dd'), 'e', ''), 'f', 'gg')",
    "REGEXP_REPLACE(REGEXP_REPLACE(s, '[0-9]+', '#'), '[.,]', ' ')",
    "AGGREGATE(SEQUENCE(1, 1000), 0, (x, v) -> x + v)",
    "LENGTH(AGGREGATE(SPLIT(s, ','), '', (x, v) -> x || v))",
    "LENGTH(REPEAT(REPEAT(s, 1000), 1000))",
    "SIZE(SEQUENCE(1, 100000))",
]


@pytest.mark.parametrize("value", GROWING)
def test_what_multiplies_is_refused(value: str) -> None:
    with pytest.raises(UnsupportedError, match="MB for one row") as caught:
        bind(f"SELECT {value} AS x FROM T", "spark", SCHEMA)
    assert caught.value.position is not None and "LEAST" in (caught.value.hint or "")


@pytest.mark.parametrize("value", GROWING[:4])
def test_views_are_written_out(value: str) -> None:
    inner, outer = value.split("SEQUENCE(1, ", 1)
    sql = f"CREATE VIEW v AS SELECT *, SEQUENCE(1, {outer.split(')')[0]}) AS q FROM T;"
    with pytest.raises(UnsupportedError, match="MB for one row"):
        bind(f"{sql} SELECT {inner}q{outer.split(')', 1)[1]} AS x FROM v", "spark", SCHEMA)


@pytest.mark.parametrize("value", BOUNDED)
def test_what_is_bounded_is_accepted(value: str) -> None:
    assert bind(f"SELECT {value} AS x FROM T", "spark", SCHEMA).query is not None


@pytest.mark.parametrize("aggregate", ["ARRAY_AGG({0})", "STRING_AGG({0}, ',')", "COUNT(DISTINCT {0})"])
def test_a_group_keeps_no_values_that_functions_make_large(aggregate: str) -> None:
    with pytest.raises(UnsupportedError, match="values of a group"):
        bind(f"SELECT {aggregate.format('REPEAT(s, 100000)')} AS x FROM T", "spark", SCHEMA)
    assert bind(f"SELECT {aggregate.format('LPAD(s, 100)')} AS x FROM T", "spark", SCHEMA).query is not None
    assert bind(f"SELECT {aggregate.format('LEFT(REPEAT(s, 100000), 10)')} AS x FROM T", "spark", SCHEMA)
