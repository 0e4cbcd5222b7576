"""Logical queries as JSON: exact there and back, whatever they have in them."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.catalog.logical_codec import logical_json, logical_of
from workbench.sql.binder.pipeline import bind

TEXTS = [
    "SELECT * FROM T",
    "SELECT a AS \"Ω '1'\", m * 1.50 AS b, DATE '2002-11-29' AS d, NULL AS n, -0.0 + x AS z FROM T",
    "SELECT DISTINCT s FROM T WHERE m > 1 OR s LIKE 'a%' AND a IS NULL AND ts > TIMESTAMP '2002-11-29 10:00:00.5'",
    "SELECT T.a FROM T, U WHERE T.a = U.k AND T.m > 0.5 * U.a AND zipdistance(T.s, U.s) < 50",
    "SELECT s, COUNT(DISTINCT a) AS n, AVG(m) AS m, rms(x) AS r FROM T GROUP BY s HAVING SUM(m) > 1e3",
    "SELECT a FROM T UNION ALL SELECT b FROM T WHERE m < 0 EXCEPT SELECT COUNT(*) FROM U",
    "SELECT n FROM (SELECT COUNT(*) AS n FROM T) v WHERE n > 3",
]


@pytest.mark.parametrize("sql", TEXTS)
def test_a_logical_query_is_the_same_afterwards(sql):
    query = bind(sql, "spark", SCHEMA).query
    again = logical_of(logical_json(query))
    assert again == query and repr(again) == repr(query)
    assert logical_json(again) == logical_json(query)


def test_different_queries_have_different_texts():
    stored = {logical_json(bind(sql, "spark", SCHEMA).query) for sql in TEXTS}
    assert len(stored) == len(TEXTS)
