"""Patterns of rows. DuckDB has no MATCH_RECOGNIZE: it is asked by its regular expressions over a text that has a letter
and a number for each row, by neighbours, by islands, and by recursion."""

from __future__ import annotations

from oracle.harness import Case

_ROWS = "PARTITION BY g ORDER BY id"
_LETTER = (
    "CASE WHEN k < 3 THEN 'a' WHEN k >= 3 AND flag THEN 'b' WHEN k >= 3 AND NOT flag THEN 'c' ELSE 'd' END"
    " || LPAD(id::VARCHAR, 5, '0')"
)
_DEFINE = "a AS k < 3, b AS k >= 3 AND flag, c AS k >= 3 AND NOT flag"


def _matched(pattern: str, expression: str, measures: str, asked: str) -> Case:
    """A pattern of letters.

    Args:
        pattern: of variables a, b and c.
        expression: the regular one.
        measures: what is shown of each match, with names.
        asked: the same of ``r``, the text of a match, the ``n``-th one.
    """
    letters = f"STRING_AGG({_LETTER}, '' ORDER BY id)"
    texts = f"SELECT g, REGEXP_EXTRACT_ALL({letters}, '{expression}') AS every FROM t GROUP BY g"
    return Case(
        f"SELECT * FROM t MATCH_RECOGNIZE ({_ROWS} MEASURES {measures} PATTERN ({pattern}) DEFINE {_DEFINE}) AS m",
        f"SELECT g, {asked} FROM (SELECT g, UNNEST(every) AS r, GENERATE_SUBSCRIPTS(every, 1) AS n FROM ({texts}))",
    )


def _numbers(letter: str) -> str:
    """The numbers of the rows of a letter in the text of a match."""
    return f"LIST_TRANSFORM(REGEXP_EXTRACT_ALL(r, '{letter}(\\d{{5}})', 1), lambda each: each::BIGINT)"


_SESSIONS = (
    "WITH RECURSIVE s AS (SELECT g, MIN(id) AS f FROM t GROUP BY g UNION ALL SELECT g, (SELECT MIN(id) FROM t"
    " WHERE t.g IS NOT DISTINCT FROM s.g AND t.id >= s.f + 10) FROM s WHERE f IS NOT NULL)"
    " SELECT g, f, (SELECT COUNT(*) FROM t WHERE t.g IS NOT DISTINCT FROM s.g AND id >= f AND id < f + 10) AS n,"
    " (SELECT SUM(id) FROM t WHERE t.g IS NOT DISTINCT FROM s.g AND id >= f AND id < f + 10) AS total"
    " FROM s WHERE f IS NOT NULL"
)
_FLAGS = "SELECT g, id, k, flag, CASE WHEN flag IS TRUE AND {} IS NOT TRUE THEN 1 ELSE 0 END AS new FROM t"
_ISLANDS = (
    "SELECT g, id, k, SUM(new) OVER w AS m FROM"
    f" ({_FLAGS.format('LAG(flag) OVER (PARTITION BY g ORDER BY id)')}) WINDOW w AS"
    " (PARTITION BY g ORDER BY id RANGE UNBOUNDED PRECEDING) QUALIFY flag"
)
_COUNTED = "(SELECT k, COUNT(*) AS n FROM t WHERE k BETWEEN 0 AND 11 GROUP BY k)"
_RISING = (
    f"SELECT k, n, SUM(new) OVER (ORDER BY k) AS m FROM (SELECT *, CASE WHEN n > LAG(n) OVER (ORDER BY k) THEN 0 ELSE 1"
    f" END AS new FROM {_COUNTED})"
)

PATTERNS = {
    "pairs": Case(
        f"SELECT * FROM t MATCH_RECOGNIZE ({_ROWS} MEASURES a.id AS f, b.id AS l AFTER MATCH SKIP TO NEXT ROW"
        " PATTERN (a b) DEFINE b AS b.k > a.k) AS m",
        "SELECT g, id, l FROM (SELECT g, id, k, LEAD(id) OVER w AS l, LEAD(k) OVER w AS n FROM t"
        " WINDOW w AS (PARTITION BY g ORDER BY id)) WHERE n > k",
    ),
    "greedy": _matched(
        "a b+ c?",
        "a\\d{5}(?:b\\d{5})+(?:c\\d{5})?",
        "COUNT(*) AS n, MATCH_NUMBER() AS number, SUM(b.id) AS total, LAST(c.id) AS l",
        f"LENGTH(r) // 6, n, LIST_SUM({_numbers('b')}), {_numbers('c')}[1]",
    ),
    "reluctant": _matched(
        "(a | b)+? c",
        "(?:[ab]\\d{5})+?c\\d{5}",
        "FIRST(id) AS f, CLASSIFIER() AS last, COUNT(a.*) AS n, MAX(b.id) AS m",
        f"SUBSTR(r, 2, 5)::BIGINT, 'C', LEN({_numbers('a')}), LIST_MAX({_numbers('b')})",
    ),
    "repeated": _matched(
        "(a c?){2} | b{2,3}",
        "(?:a\\d{5}(?:c\\d{5})?){2}|(?:b\\d{5}){2,3}",
        "FIRST(id) AS f, LAST(id) AS l, MIN(a.id) AS m",
        f"SUBSTR(r, 2, 5)::BIGINT, RIGHT(r, 5)::BIGINT, {_numbers('a')}[1]",
    ),
    "sessions": Case(
        f"SELECT * FROM t MATCH_RECOGNIZE ({_ROWS} MEASURES a.id AS f, COUNT(*) AS n, SUM(id) AS total"
        " PATTERN (a b*) DEFINE b AS id - a.id < 10) AS m",
        _SESSIONS,
    ),
    "counted": Case(
        f"SELECT g, SUM(n) AS n, COUNT(*) AS c FROM t MATCH_RECOGNIZE ({_ROWS} MEASURES COUNT(*) AS n PATTERN (a+)"
        " DEFINE a AS COUNT(*) <= 4) AS m GROUP BY g",
        "SELECT g, COUNT(*), CEIL(COUNT(*) / 4)::BIGINT FROM t GROUP BY g",
    ),
    "islands": Case(
        f"SELECT g, id, number, n FROM t MATCH_RECOGNIZE ({_ROWS} MEASURES MATCH_NUMBER() AS number, COUNT(*) AS n"
        " ALL ROWS PER MATCH PATTERN (a+) DEFINE a AS flag) AS m",
        f"SELECT g, id, m, ROW_NUMBER() OVER (PARTITION BY g, m ORDER BY id) FROM ({_ISLANDS})",
    ),
    "of_groups": Case(
        f"SELECT * FROM {_COUNTED} AS c MATCH_RECOGNIZE (ORDER BY k MEASURES FIRST(k) AS f, LAST(n) AS most,"
        " COUNT(*) AS rows PATTERN (a up*) DEFINE up AS up.n > PREV(up.n)) AS m",
        f"SELECT MIN(k), MAX(n), COUNT(*) FROM ({_RISING}) GROUP BY m",
    ),
    "joined": Case(
        "SELECT m.f, m.n, u.id FROM (SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id MEASURES"
        " FIRST(k) AS f, COUNT(*) AS n PATTERN (a+) DEFINE a AS flag) AS m) m JOIN u ON u.k = m.f AND u.g = m.g",
        f"SELECT m.f, m.n, u.id FROM (SELECT g, FIRST(k ORDER BY id) AS f, COUNT(*) AS n"
        f" FROM ({_ISLANDS}) GROUP BY g, m) m JOIN u ON u.k = m.f AND u.g = m.g",
    ),
}
