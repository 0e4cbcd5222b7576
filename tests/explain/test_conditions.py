"""Which conditions of a query may be left out: those of its text, and none that ties what the text takes together."""

from __future__ import annotations

import pytest

from workbench.explain.relaxation import conditions_of, relaxed_query
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP, DataType, Kind
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import listing
from workbench.sql.schema import Schema

GUEST = DataType(Kind.STRUCT, fields=(("age", INTEGER),))
ROOM = DataType(Kind.STRUCT, fields=(("guests", DataType(Kind.ARRAY, element=GUEST)),))
COLUMNS = (("id", INTEGER), ("k", INTEGER), ("v", INTEGER), ("s", STRING), ("ts", TIMESTAMP))
ARRAYS = (("a", DataType(Kind.ARRAY, element=INTEGER)), ("rooms", DataType(Kind.ARRAY, element=ROOM)))
SCHEMA = Schema({"t": (*COLUMNS, *ARRAYS), "u": COLUMNS})
NESTED = "FROM t b, LATERAL explode(b.rooms) AS x(r), LATERAL explode(r.guests) AS y(g)"
ELEMENTS: dict[str, tuple[str, str, list[str]]] = {
    "explode": ("spark", "SELECT id, e FROM t LATERAL VIEW EXPLODE(a) x AS e WHERE e > 5", ["WHERE EXPLODE(t.a) > 5"]),
    "outer": (
        "spark",
        "SELECT id, e FROM t LATERAL VIEW OUTER EXPLODE(a) x AS e WHERE e > 5",
        ["WHERE EXPLODE(t.a) > 5"],
    ),
    "no condition": ("spark", "SELECT id, e FROM t LATERAL VIEW POSEXPLODE(a) x AS p, e", []),
    "in a select list": ("duckdb", "SELECT id, UNNEST(a) AS e FROM t WHERE id > 9", ["WHERE t.id > 9"]),
    "of a text": (
        "spark",
        "SELECT id, w FROM t LATERAL VIEW EXPLODE(SPLIT(s, ',')) x AS w WHERE w = 'q'",
        ["WHERE EXPLODE(SPLIT(t.s, ',')) = 'q'"],
    ),
    "nested": (
        "spark",
        f"SELECT id, g.age {NESTED} WHERE g.age > 85",
        ["WHERE EXPLODE(EXPLODE(t.rooms).guests).age > 85"],
    ),
    "nested without a condition": ("spark", f"SELECT id, g.age {NESTED}", []),
    "ordinality": (
        "postgres",
        "SELECT id, e, o FROM t CROSS JOIN UNNEST(t.a) WITH ORDINALITY AS x(e, o) WHERE o > 5 AND e < 3",
        ["WHERE EXPLODE(t.a) < 3", "WHERE place > 5"],
    ),
    "written out": (
        "postgres",
        "SELECT id, e FROM t CROSS JOIN UNNEST(ARRAY[t.k, t.v]) AS x(e) WHERE e > 50",
        ["WHERE EXPLODE(ARRAY(t.k, t.v)) > 50"],
    ),
    "side by side": (
        "postgres",
        "SELECT id, e FROM t CROSS JOIN UNNEST(t.a, ARRAY[t.k]) AS x(e, f) WHERE e > 50",
        ["WHERE EXPLODE(t.a) > 50"],
    ),
    "joined": (
        "spark",
        "SELECT u.id FROM t, LATERAL EXPLODE(t.a) AS x(e), u WHERE u.id = x.e AND u.v > 7",
        ["WHERE u.v > 7", "a row of t ON u.id = EXPLODE(t.a)", "a row of u ON u.id = EXPLODE(t.a)"],
    ),
}
SUBQUERIES = {
    "lateral": ("duckdb", "SELECT t.id FROM t, LATERAL (SELECT MAX(u.v) AS m FROM u WHERE u.k = t.k) s WHERE m > 50"),
    "first rows": (
        "postgres",
        "SELECT t.id, s.v FROM t, LATERAL (SELECT u.v FROM u WHERE u.k = t.k ORDER BY u.v LIMIT 1) s WHERE s.v > 50",
    ),
    "asof": ("duckdb", "SELECT t.id, u.v FROM t ASOF JOIN u ON t.k = u.k AND t.ts >= u.ts WHERE u.v > 50"),
}


@pytest.mark.parametrize("shape", ELEMENTS)
def test_elements_stay_with_their_rows(shape: str) -> None:
    dialect, text, conditions = ELEMENTS[shape]
    query = bind(text, dialect, SCHEMA).query
    found = conditions_of(query)
    assert sorted(map(str, found)) == sorted(conditions)
    own = [condition for condition in found if not condition.clause.startswith("a row")]
    assert listing(relaxed_query(query, own)).count("has_place") >= listing(query).count("function='has_place'")


@pytest.mark.parametrize("shape", SUBQUERIES)
def test_a_subquery_stays_with_the_rows_that_it_is_computed_for(shape: str) -> None:
    dialect, text = SUBQUERIES[shape]
    found = [str(condition) for condition in conditions_of(bind(text, dialect, SCHEMA).query)]
    assert not [name for name in found if "COALESCE" in name or "IS NULL)" in name], found


def test_an_equality_with_null_of_the_text_may_be_left_out() -> None:
    text = "SELECT t.id FROM t JOIN u ON t.k IS NOT DISTINCT FROM u.k AND t.v = u.v"
    found = [str(condition) for condition in conditions_of(bind(text, "duckdb", SCHEMA).query)]
    assert "WHERE u.k IS NOT DISTINCT FROM t.k" in found and len(found) == 4 and "COALESCE" not in str(found)
