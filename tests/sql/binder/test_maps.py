"""What maps are not: refused by name, with a hint. Their answers are in tests/oracle."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.types import INTEGER, STRING, array_of, map_of, struct_of
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

_MAP = map_of(STRING, INTEGER)
SCHEMA = Schema({"T": (("a", INTEGER), ("m", _MAP), ("s", struct_of([("m", _MAP)])), ("l", array_of(_MAP)),
                       ("t", STRING))})  # fmt: skip
COMPARED = "values of type map<string,integer> are not compared"


@pytest.mark.parametrize(
    ("dialect", "sql", "message", "hint"),
    [
        ("spark", "select m = m from T", COMPARED, "m['k']"),
        ("spark", "select m <=> m from T", COMPARED, "MAP_ENTRIES(m)"),
        ("spark", "select m in (m) from T", COMPARED, None),
        ("spark", "select nullif(m, m) from T", COMPARED, None),
        ("spark", "select case m when m then 1 end from T", COMPARED, None),
        ("spark", "select s = s from T", "struct<m:map<string,integer>> are not compared", None),
        ("spark", "select l = l from T", "array<map<string,integer>> are not compared", None),
        ("spark", "select array_distinct(l) from T", "are not compared", None),
        ("spark", "select array_union(l, l) from T", "are not compared", None),
        ("spark", "select arrays_overlap(l, l) from T", "are not compared", None),
        ("spark", "select m < m from T", "maps have no order", "m['k']"),
        ("spark", "select greatest(m, m) from T", "maps have no order", None),
        ("spark", "select a from T order by m", "maps have no order", None),
        ("spark", "select max(m) from T", "MAX of maps, which have no order", None),
        ("spark", "select m, count(*) from T group by m", f"GROUP BY: {COMPARED}", None),
        ("spark", "select s, count(*) from T group by all", "GROUP BY: values of type struct", None),
        ("spark", "select m from T group by rollup(m)", f"GROUP BY: {COMPARED}", None),
        ("spark", "select distinct * from T", f"DISTINCT: {COMPARED}", None),
        ("spark", "select count(distinct m) from T", COMPARED, None),
        ("spark", "select count(distinct a, m) from T", COMPARED, None),
        ("spark", "select collect_set(m) from T", COMPARED, None),
        ("spark", "select mode(m) from T", COMPARED, None),
        ("spark", "select approx_count_distinct(m) from T", COMPARED, None),
        ("spark", "select rank() over (partition by m order by a) from T", COMPARED, None),
        ("spark", "select m from T union select m from T", f"UNION: {COMPARED}", None),
        ("spark", "select m from T except all select m from T", f"EXCEPT: {COMPARED}", None),
        ("spark", "select m from T intersect select m from T", f"INTERSECT: {COMPARED}", None),
        ("spark", "select 1 from T join T u on T.m = u.m", COMPARED, None),
        ("spark", "select 1 from T join T u using (m)", COMPARED, None),
        ("spark", "select 1 from T natural join T u", COMPARED, None),
        ("spark", "select a from T where m in (select m from T)", COMPARED, None),
        (
            "spark",
            "select T.a, x.n from T, lateral (select count(*) as n from T u where u.a = T.m['x'] or u.m is null) x",
            "a subquery that reads m of the outer query, a map,",
            "select m['k']",
        ),
        ("spark", "select map('a', 1, 'a', 2) from T", "a key stands twice in a map, or is NULL", None),
        ("spark", "select map(null, 1) from T", "", None),
        ("spark", "select map(1.5D, 1) from T", "a map with keys of type double", "exact numbers"),
        ("spark", "select map('a', 1, 2, 3) from T", "have no common type", None),
        ("spark", "select map('a', 1, 'b', t) from T", "have no common type", None),
        ("spark", "select map_from_arrays(t, t) from T", "an array is needed, not string", None),
        (
            "spark",
            "select map_from_entries(array(1)) from T",
            "an array of structs of a key and a value",
            "STRUCT('a', 1)",
        ),
        ("spark", "select map_concat(m, map(1, 1)) from T", "have no common type", None),
        ("spark", "select transform(array(t), x -> map(x, 1)) from T", "a map in a lambda with keys", "MAP('a', x)"),
        ("spark", "select transform(array(t), x -> str_to_map(x)) from T", "a map in a lambda with keys", None),
        ("spark", "select map_filter(m, k -> k > 'a') from T", "a lambda of a key and a value is needed", "(k, v)"),
        ("spark", "select transform(m, x -> x) from T", "an array is needed, not map", "MAP_ENTRIES(m)"),
        ("spark", "select map_keys(t) from T", "a map is needed, not string", "MAP('a', 1"),
        ("spark", "select m[a] from T", "type clash: string is needed, not integer", None),
        ("spark", "select m.x from T", "the value before .x is no struct, but map", "m['x']"),
        ("spark", "select cast(m as string) from T", "cannot be cast to string", "m['k']"),
        ("spark", "select inline(m) from T", "rows of a map by this function", "EXPLODE(m)"),
        ("duckdb", "select unnest(m) from T", "rows of a map by this function", "MAP_ENTRIES(m)"),
        ("duckdb", "select m = m from T", COMPARED, None),
        ("duckdb", "select map_concat(m, m) from T", "MAP_CONCAT in duckdb", "spark"),
        ("postgres", "select map_keys(m) from T", "a map in postgres", "spark and duckdb"),
        ("postgres", "select map_values(m) from T", "in postgres", None),
        ("oracle", "select map('a', 1) from T", "", None),
    ],
)
def test_what_is_refused(dialect: str, sql: str, message: str, hint: str | None) -> None:
    with pytest.raises(SqlError) as raised:
        bind(sql, dialect, SCHEMA)
    assert message in raised.value.message
    assert hint is None or hint in (raised.value.hint or "")
