"""Shapes of queries in the three dialects: which are read, and which are refused with a hint."""

from __future__ import annotations

import pytest

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import DATE, INTEGER, STRING, array_of
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

COLUMNS = (("k", INTEGER), ("g", INTEGER), ("s", STRING), ("d", DATE), ("n", array_of(INTEGER)))
SCHEMA = Schema({"t": COLUMNS, "u": COLUMNS})
DIALECTS = ("spark", "duckdb", "postgres")
SHAPES = {
    "OVER the groups of ROLLUP": ("SELECT g, RANK() OVER (ORDER BY SUM(k)) AS r FROM t GROUP BY ROLLUP (g)", "yyy"),
    "GROUPING in HAVING": ("SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g) HAVING GROUPING(g) = 0", "yyy"),
    "GROUPING in ORDER BY": ("SELECT g, COUNT(*) AS n FROM t GROUP BY CUBE (g) ORDER BY GROUPING(g), g", "yyy"),
    "GROUPING SETS": ("SELECT g, k, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((g), (k), ())", "yyy"),
    "subquery in ORDER BY": ("SELECT k FROM t ORDER BY (SELECT MAX(u.g) FROM u WHERE u.k = t.k), k", "yyy"),
    "subquery in GROUP BY": ("SELECT COUNT(*) AS n FROM t GROUP BY (SELECT MAX(u.g) FROM u WHERE u.k = t.k)", "yyy"),
    "subquery in a group by position": (
        "SELECT g > (SELECT MAX(u.g) FROM u WHERE u.k = t.k) AS c, COUNT(*) AS n FROM t GROUP BY 1", "yyy"),
    "subquery in a group by name": (
        "SELECT g > (SELECT MAX(u.g) FROM u WHERE u.k = t.k) AS c, COUNT(*) AS n FROM t GROUP BY c", "yyy"),
    "ROLLUP of a condition": ("SELECT g > 1 AS c, COUNT(*) AS n FROM t GROUP BY ROLLUP(g > 1, k)", "yyy"),
    "CUBE of conditions": ("SELECT g > 1 AS c, COUNT(*) AS n FROM t GROUP BY CUBE(g > 1, k BETWEEN 1 AND 2)", "yyy"),
    "GROUPING SETS of a condition": (
        "SELECT COUNT(*) AS n FROM t GROUP BY GROUPING SETS (g > 1 AND k = 1, ())", "yyy"),
    "subquery in a group that is repeated": (
        "SELECT (SELECT MAX(u.g) FROM u WHERE u.k = t.k) AS c FROM t GROUP BY (SELECT MAX(u.g) FROM u WHERE u.k = t.k)",
        "yyy"),
    "subquery in ON of LEFT JOIN": (
        "SELECT t.k FROM t LEFT JOIN u ON t.k = u.k AND u.g IN (SELECT k FROM t AS v)", "yyy"),
    "subquery in ON of both sides": (
        "SELECT t.k FROM t FULL JOIN u ON t.k = u.k AND t.g IN (SELECT k FROM t AS v WHERE v.g = u.g)", "nnn"),
    "alias of a join in parentheses": (
        "SELECT j.a FROM ((SELECT k AS a FROM t) AS x CROSS JOIN (SELECT g AS b FROM u) AS y) AS j", "yyy"),
    "COUNT of t.*": ("SELECT COUNT(t.*) AS n FROM t", "nny"),
    "order of rows": ("SELECT k FROM t WHERE (k, g) < (1, 2)", "yyy"),
    "equality of rows": ("SELECT k FROM t WHERE (k, g) = (1, 2)", "yyy"),
    "rows IN a list": ("SELECT k FROM t WHERE (k, g) IN ((1, 2), (3, 4))", "yyy"),
    "rows IN a subquery": ("SELECT k FROM t WHERE (k, g) IN (SELECT k, g FROM u)", "yyy"),
    "row as a value": ("SELECT ROW(k, g) AS r FROM t", "nyn"),
    "order of arrays": ("SELECT k FROM t ORDER BY n", "yyy"),
    "UNNEST beside columns": ("SELECT k, UNNEST(n) AS e FROM t", "nyy"),
    "EXPLODE beside columns": ("SELECT k, EXPLODE(n) AS e FROM t", "yyy"),
    "UNNEST inside an expression": ("SELECT ABS(UNNEST(n)) AS e FROM t", "nyy"),
    "UNNEST of several arrays": ("SELECT a FROM t, UNNEST(n, n) AS e(a, b)", "nyy"),
    "generate_series of a column": ("SELECT k, e FROM t, LATERAL generate_series(1, t.k) AS x(e)", "nyy"),
    "pipes": ("FROM t |> WHERE k > 1 |> SELECT k", "yyy"),
    "COLUMNS by a regular expression": ("SELECT COLUMNS('k|g') FROM t", "yyy"),
    "t.* without a column": ("SELECT t.* EXCLUDE (k) FROM t", "yyy"),
    "t.* without a column, in spark": ("SELECT t.* EXCEPT (k) FROM t", "yyy"),
    "WITH … AS MATERIALIZED": ("WITH a AS MATERIALIZED (SELECT k FROM t) SELECT k FROM a", "yyy"),
    "TABLESAMPLE": ("SELECT k FROM t TABLESAMPLE (10 PERCENT)", "nnn"),
    "VALUES in FROM": ("SELECT a FROM (VALUES (1, 'x'), (2, 'y')) AS v(a, b)", "yyy"),
    "VALUES as a query": ("VALUES (1, 2), (3, 4)", "yyy"),
    "VALUES in WITH": ("WITH v(a) AS (VALUES (1), (2)) SELECT a FROM v", "yyy"),
    "VALUES in IN": ("SELECT k FROM t WHERE k IN (VALUES (1), (2))", "yyy"),
    "names for some columns": ("SELECT a, g FROM (SELECT k, g FROM t) AS x (a)", "nyy"),
    "rank of a value": ("SELECT RANK(3) WITHIN GROUP (ORDER BY k) AS r FROM t", "nny"),
    "DISTINCT ON": ("SELECT DISTINCT ON (g) g, k FROM t ORDER BY g, k", "yyy"),
    "LIMIT with ties": ("SELECT k FROM t ORDER BY k FETCH FIRST 2 ROWS WITH TIES", "yyy"),
}  # fmt: skip
"""A query, and whether it is read in spark, duckdb and postgres."""


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_read_or_refused_with_a_hint(shape: str, dialect: str) -> None:
    sql, read = SHAPES[shape]
    try:
        bind(sql, dialect, SCHEMA)
    except WorkbenchError as error:
        assert read[DIALECTS.index(dialect)] == "n", error
        return
    assert read[DIALECTS.index(dialect)] == "y"
