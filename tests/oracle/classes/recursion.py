"""Recursive queries: one reference and two, several rules, other inputs, UNION and UNION ALL, texts, many steps."""

from __future__ import annotations

from oracle.harness import Case


def _recursive(body: str, above: str = "SELECT * FROM p") -> Case:
    """The same words for both."""
    return Case(f"WITH RECURSIVE p AS ({body}) {above}", dialect="duckdb")


_FIRST = "SELECT k % 7 AS a, id % 7 AS b FROM t WHERE k < 12"

RECURSIONS = {
    "reached": _recursive(f"{_FIRST} UNION SELECT p.a, t.id % 7 FROM p JOIN t ON t.k % 7 = p.b WHERE NOT t.flag"),
    "selected": _recursive(
        f"{_FIRST} UNION SELECT p.a, t.id % 7 FROM p JOIN t ON t.k % 7 = p.b WHERE NOT t.flag",
        "SELECT b FROM p WHERE a = 3",
    ),
    "twice": _recursive(f"{_FIRST} AND flag UNION SELECT p.a, q.b FROM p JOIN p AS q ON p.b = q.a AND p.a <> q.b"),
    "two_rules": _recursive(
        f"{_FIRST} AND NOT flag UNION (SELECT p.a, t.id % 7 FROM p JOIN t ON t.k % 7 = p.b WHERE t.id < 40"
        " UNION ALL SELECT u.id % 7, p.b FROM p JOIN u ON u.k % 7 = p.a)",
        "SELECT a, COUNT(*) AS n FROM p GROUP BY a",
    ),
    "deep": _recursive(
        "SELECT k % 5 AS a, 0 AS d FROM u UNION SELECT t.id % 5, p.d + 1 FROM p JOIN t ON p.a = t.k % 5 AND p.d < 9"
    ),
    "with_inside": _recursive(
        f"{_FIRST} UNION (WITH v AS (SELECT k % 7 AS k, id % 7 AS b FROM t WHERE NOT flag)"
        " SELECT p.a, v.b FROM p JOIN v ON v.k = p.b UNION SELECT b, a FROM p WHERE a > 3)"
    ),
    "with_before": _recursive(
        "WITH v AS (SELECT k % 7 AS a, id % 7 AS b FROM t WHERE k < 12) SELECT a, b FROM v UNION"
        " SELECT p.a, v.b FROM p JOIN v ON v.a = p.b"
    ),
    "all_paths": _recursive(
        "SELECT k % 4 AS a, id % 4 AS b, 1 AS d FROM t WHERE k % 4 < id % 4 AND flag UNION ALL"
        " SELECT p.a, t.id % 4, p.d + 1 FROM t JOIN p ON t.k % 4 = p.b AND t.k % 4 < t.id % 4 AND p.d < 30",
        "SELECT a, b, d, COUNT(*) AS n FROM p GROUP BY a, b, d",
    ),
    "of_groups": _recursive(
        "SELECT k % 7 AS a, COUNT(*) AS b FROM t GROUP BY k % 7 UNION SELECT p.a, m.c FROM p JOIN"
        " (SELECT id % 9 AS b, MAX(k % 11) AS c FROM u GROUP BY id % 9) m ON m.b = p.b"
    ),
    "texts": _recursive(
        "SELECT id % 6 AS a, g AS path FROM u WHERE id < 12 UNION SELECT a + 1, path || '>' || g FROM p JOIN"
        " (SELECT DISTINCT id % 6 AS k, g FROM u WHERE id < 12) v ON v.k = p.a + 1"
    ),
    "beside": _recursive(
        f"{_FIRST} UNION SELECT p.a, t.id % 7 FROM p JOIN t ON t.k % 7 = p.b WHERE t.flag",
        "SELECT u.id, p.b FROM u LEFT JOIN p ON u.k % 7 = p.a AND p.b > 2",
    ),
    "of_each_row": Case(
        "SELECT u.id, (WITH RECURSIVE p AS (SELECT t.id % 7 AS b FROM t WHERE t.k % 7 = u.k % 7 UNION"
        " SELECT t.id % 7 FROM p JOIN t ON t.k % 7 = p.b WHERE NOT t.flag AND t.id % 7 <> u.k % 5)"
        " SELECT COUNT(*) FROM p) AS n FROM u",
        dialect="duckdb",
    ),
    "least": Case(
        "WITH RECURSIVE p (a, b, c) USING KEY (a, b, MIN(c)) AS (SELECT k % 7, id % 7, id % 5 FROM t WHERE k < 12 UNION"
        " SELECT p.a, t.id % 7, p.c + t.id % 5 FROM p JOIN t ON t.k % 7 = p.b WHERE NOT t.flag) SELECT * FROM p",
        dialect="duckdb",
    ),
    "widest": Case(
        "WITH RECURSIVE p (b, c) USING KEY (b, MAX(c)) AS (SELECT id % 7, id % 50 FROM t WHERE flag UNION SELECT"
        " t.id % 7, LEAST(p.c, t.id % 11) FROM p JOIN t ON t.k % 7 = p.b) SELECT c, COUNT(*) AS n FROM p GROUP BY c",
        dialect="duckdb",
    ),
    "series": _recursive("SELECT 0 AS i UNION ALL SELECT i + 1 FROM p WHERE i < 40",
                         "SELECT p.i, COUNT(t.id) AS c FROM p LEFT JOIN t ON t.k = p.i GROUP BY p.i"),
}  # fmt: skip
