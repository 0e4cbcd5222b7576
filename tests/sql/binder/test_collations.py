"""One rule for the order of texts: place by place, dialect by dialect, without COLLATE, with bytes and with others."""

from __future__ import annotations

import warnings

import pytest

from workbench.errors import SqlWarning, UnsupportedError
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.dialects import DIALECTS
from workbench.sql.schema import Schema

SCHEMA = Schema({"t": (("k", INTEGER), ("s", STRING), ("u", STRING))})
BYTES = {"postgres": '"C"', "duckdb": "binary", "spark": "UTF8_BINARY"}
OTHERS = {"postgres": '"de_DE"', "duckdb": "nocase", "spark": "UNICODE_CI"}
ALL = frozenset(BYTES)
PLACES = {
    "ORDER BY": ("SELECT k FROM t ORDER BY {s}", ALL),
    "ORDER BY with LIMIT": ("SELECT k FROM t ORDER BY {s} DESC LIMIT 3", ALL),
    "ORDER BY in OVER": ("SELECT RANK() OVER (ORDER BY {s}) AS r FROM t", ALL),
    "DISTINCT ON": ("SELECT DISTINCT ON (k) k, u FROM t ORDER BY k, {s}", {"postgres", "duckdb"}),
    "<": ("SELECT k FROM t WHERE {s} < 'b'", ALL),
    ">=": ("SELECT k FROM t WHERE 'b' >= {s}", ALL),
    "BETWEEN": ("SELECT k FROM t WHERE {s} BETWEEN 'a' AND 'b'", ALL),
    "rows": ("SELECT k FROM t WHERE ({s}, k) < ('b', 1)", {"postgres"}),
    "ALL of an array": ("SELECT k FROM t WHERE {s} > ALL (ARRAY['a', 'b'])", {"postgres"}),
    "ON": ("SELECT a.k FROM t AS a JOIN t AS b ON a.k = b.k AND {a} < b.u", ALL),
    "HAVING": ("SELECT k FROM t GROUP BY k HAVING MIN({s}) < 'b'", ALL),
    "MIN": ("SELECT MIN({s}) AS v FROM t", ALL),
    "MAX in OVER": ("SELECT MAX({s}) OVER (PARTITION BY k) AS v FROM t", ALL),
    "MAX with FILTER": ("SELECT MAX({s}) FILTER (WHERE k > 1) AS v FROM t", ALL),
    "GREATEST": ("SELECT GREATEST({s}, 'b') AS v FROM t", ALL),
    "LEAST": ("SELECT LEAST('b', {s}) AS v FROM t", ALL),
    "PERCENTILE_DISC": ("SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY {s}) AS v FROM t", {"postgres", "duckdb"}),
    "STRING_AGG": ("SELECT STRING_AGG(u, ',' ORDER BY {s}) AS v FROM t", {"postgres", "duckdb"}),
    "ARRAY_AGG": ("SELECT ARRAY_AGG(k ORDER BY {s}) AS v FROM t", {"postgres", "duckdb"}),
    "ARRAY_AGG of DISTINCT": ("SELECT ARRAY_AGG(DISTINCT {s}) AS v FROM t", {"postgres"}),
    "RANK of a value": ("SELECT RANK('b') WITHIN GROUP (ORDER BY {s}) AS v FROM t", {"postgres"}),
    "CASE": ("SELECT CASE WHEN {s} <= 'b' THEN 1 END AS v FROM t", ALL),
    "ORDER BY of a UNION": ("SELECT {s} AS v FROM t UNION SELECT u FROM t ORDER BY v", ALL),
}
"""A query for each place at which texts are put in order or compared, and the dialects that have it."""
PAIRS = [(place, dialect) for place, (_, dialects) in PLACES.items() for dialect in sorted(dialects)]


def asked(place: str, collation: str = "") -> str:
    """The query of a place, its text before COLLATE."""
    behind = f" COLLATE {collation}" if collation else ""
    return PLACES[place][0].format(s=f"s{behind}", a=f"a.s{behind}")


def notes(sql: str, dialect: str) -> int:
    """How many warnings a query has."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bind(sql, dialect, SCHEMA)
    return sum(issubclass(each.category, SqlWarning) for each in caught)


@pytest.mark.parametrize(("place", "dialect"), PAIRS)
def test_without_collate_bytes_are_the_order_which_is_said_where_databases_have_others(
    place: str, dialect: str
) -> None:
    assert notes(asked(place), dialect) == DIALECTS[dialect].notes_byte_order


@pytest.mark.parametrize(("place", "dialect"), PAIRS)
def test_with_a_collation_of_bytes_it_means_the_same_and_nothing_is_said(place: str, dialect: str) -> None:
    if place != "ORDER BY of a UNION":  # where the key is the name of a column
        assert notes(asked(place, BYTES[dialect]), dialect) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, collated = (bind(asked(place, c), dialect, SCHEMA).query for c in ("", BYTES[dialect]))
    assert plain == collated


@pytest.mark.parametrize(("place", "dialect"), PAIRS)
def test_another_collation_is_refused_with_a_hint_wherever_it_stands(place: str, dialect: str) -> None:
    with pytest.raises(UnsupportedError, match=r"COLLATE .* is not supported") as refused:
        bind(asked(place, OTHERS[dialect]), dialect, SCHEMA)
    assert refused.value.hint and "order of their bytes" in refused.value.hint


@pytest.mark.parametrize("place", ["GROUP BY {s}", "HAVING COUNT(*) > 1"])
@pytest.mark.parametrize("dialect", sorted(BYTES))
def test_equality_by_another_collation_is_refused_too(place: str, dialect: str) -> None:
    sql = f"SELECT COUNT(*) AS n FROM t WHERE {{s}} = 'a' {place}"
    with pytest.raises(UnsupportedError, match=r"COLLATE .* is not supported"):
        bind(sql.format(s=f"s COLLATE {OTHERS[dialect]}"), dialect, SCHEMA)
    assert notes(sql.format(s=f"s COLLATE {BYTES[dialect]}"), dialect) == 0
