"""MATCH_RECOGNIZE: what is refused, with its reason, and what is read in all dialects."""

from __future__ import annotations

import re

import pytest

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import output_columns
from workbench.sql.schema import Schema
from workbench.sql.syntax.dialects import EXAMINED

SCHEMA = Schema({"t": (("k", INTEGER), ("at", TIMESTAMP), ("x", INTEGER), ("s", STRING))})
WHOLE = """
    SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY at
    MEASURES FIRST(A.x) AS f, LAST(U.x, 2) AS l, COUNT(A.*) AS n, MATCH_NUMBER() AS mn, CLASSIFIER() AS c,
        FINAL PREV(LAST(B.x), 3) AS p, AVG(U.x) + 1 AS mean
    ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP PAST LAST ROW
    PATTERN (^ A {- B+? -} (C | D){2,3} PERMUTE(E, F)? $) WITHIN INTERVAL '1' HOUR SUBSET U = (A, B)
    DEFINE A AS x > PREV(x) AND s LIKE 'a%', B AS SUM(B.x) < 3 AND B.x > A.x) AS m WHERE f > 3"""


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_it_is_read_in_every_dialect(dialect: str) -> None:
    query = bind(WHOLE, dialect, SCHEMA).query
    assert query is not None
    assert [n for n, _ in output_columns(query)] == ["k", "at", "f", "l", "n", "mn", "c", "p", "mean", "x", "s"]


@pytest.mark.parametrize(
    ("clauses", "reason"),
    [
        ("MEASURES A.x AS y PATTERN (A B{3,2})", "ends before it begins"),
        ("MEASURES A.x AS y PATTERN (A B{100000})", "more than 2,000 steps"),
        ("MEASURES A.x AS y PATTERN (A & B)", "& is not expected there"),
        ("MEASURES A.x AS y PATTERN (^ $)", "it has no variable"),
        ("MEASURES A.x AS y PATTERN ({- A {- B -} -})", "an exclusion stands in another"),
        ("MEASURES C.x AS y PATTERN (A B)", "C is no variable of the pattern"),
        ("MEASURES A.z AS y PATTERN (A B)", "unknown column z"),
        ("MEASURES A.x AS y PATTERN (A B) DEFINE C AS x > 1", "C is defined, and not in PATTERN"),
        ("MEASURES A.x AS y PATTERN (A B) DEFINE A AS x > 1, A AS x > 2", "A is defined twice"),
        ("MEASURES A.x AS y PATTERN (A B) DEFINE A AS x + 1", "A needs a condition, not integer"),
        ("MEASURES A.x AS y PATTERN (A B) DEFINE A AS x > PREV(x, k)", "a whole number of rows"),
        ("MEASURES A.x AS y PATTERN (A B) DEFINE A AS x > PREV(A.x + B.x)", "rows of several variables"),
        ("MEASURES A.x AS y PATTERN (A B) DEFINE A AS MATCH_NUMBER() > 1", "MATCH_NUMBER() in DEFINE"),
        ("MEASURES COUNT(DISTINCT A.x) AS y PATTERN (A B)", "COUNT there"),
        ("MEASURES MEDIAN(A.x) AS y PATTERN (A B)", "MEDIAN there"),
        ("MEASURES (SELECT 1) AS y PATTERN (A B)", "a subquery or OVER in MATCH_RECOGNIZE"),
        ("MEASURES A.x AS x ALL ROWS PER MATCH PATTERN (A B)", "x is a column of the rows and a measure"),
        ("MEASURES A.x AS y ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B)", "matches that overlap"),
        ("MEASURES A.x AS y AFTER MATCH SKIP TO C PATTERN (A B)", "C is no variable of the pattern"),
        ("MEASURES A.x AS y PATTERN (A B) SUBSET U = (A, C)", "SUBSET: C is not in PATTERN"),
    ],
)
def test_what_is_refused(clauses: str, reason: str) -> None:
    with pytest.raises(WorkbenchError, match=re.escape(reason)):
        bind(f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY at {clauses}) AS m", "spark", SCHEMA)
