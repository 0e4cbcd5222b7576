"""The rows of the cost matrix: what an analyst may write, family by family, in the SQL of Spark and of DuckDB.

The rows that arrive are ``sample_streams.kinds``. A new feature enters with a row here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

_TYPES: Mapping[str, str] = {
    "INTEGER": "i",
    "DOUBLE": "x",
    "DECIMAL(15,2)": "m",
    "DECIMAL(38,10)": "w",
    "STRING": "s",
    "DATE": "d",
    "TIMESTAMP": "ts",
}
"""The columns of the stream by their types."""
_NUMBERS = ("INTEGER", "DOUBLE", "DECIMAL(15,2)", "DECIMAL(38,10)")
GROUPS: Mapping[str, str] = {"few": "g", "many": "h"}
"""Group columns: of 20 values, and of 20,000."""


@dataclass(frozen=True)
class KindOfQuery:
    """A row of the matrix.

    Attributes:
        family: rows of one cost about the same.
        name: unique.
        sql: in Spark's SQL.
        again: in DuckDB's; ``None`` where DuckDB means another thing by it, so that only its cost is measured.
    """

    family: str
    name: str
    sql: str
    again: str | None = None


def kinds() -> tuple[KindOfQuery, ...]:
    """All rows of the matrix, family by family.

    Example:
        >>> len({kind.name for kind in kinds()}) == len(kinds())
        True
    """
    return (*_aggregates(), *_groupings(), *_analytic(), *_joins(), *_sets(), *_windows(), *_expressions(), *_nested())


_OF_ANY = {
    **{name: f"{name}({{0}})" for name in ("COUNT", "MIN", "MAX", "MODE", "ARRAY_AGG")},
    "COUNT DISTINCT": "COUNT(DISTINCT {0})",
    "MAX_BY": "MAX_BY(id, {0})",
    "MIN_BY": "MIN_BY({0}, id)",
    "PERCENTILE_DISC": "PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY {0})",
}
_OF_NUMBERS = {
    **{name: f"{name}({{0}})" for name in ("SUM", "AVG", "MEDIAN", "STDDEV", "VAR_POP", "SKEWNESS", "KURTOSIS")},
    **{name: f"{name}({{0}}, i)" for name in ("CORR", "COVAR_SAMP", "REGR_SLOPE", "REGR_R2")},
    "SUM DISTINCT": "SUM(DISTINCT {0})",
    "PERCENTILE": "PERCENTILE({0}, 0.9)",
}
_NOT_COMPARED = {"MODE", "MAX_BY", "MIN_BY", "ARRAY_AGG", "SKEWNESS", "KURTOSIS", "REGR_R2", "AVG", "PERCENTILE"}
"""Ties, the order of lists, estimates of a population and digits of averages are DuckDB's own."""


def _aggregates() -> Iterator[KindOfQuery]:
    of_types = [*product(_OF_ANY.items(), _TYPES), *product(_OF_NUMBERS.items(), _NUMBERS)]
    for ((name, call), type_), (number, group) in product(of_types, GROUPS.items()):
        sql = f"SELECT {group}, {call.format(_TYPES[type_])} FROM t GROUP BY {group}"
        skipped = name in _NOT_COMPARED or (name, number) == ("CORR", "many")  # DuckDB's have fewer digits near 0
        again = None if skipped else sql.replace("MEDIAN(", "MEDIAN(1.0::DOUBLE * ")
        yield KindOfQuery(f"aggregates, {number} groups", f"{name} {type_}, {number}", sql, again)
    for number, group in GROUPS.items():
        for name, call in {
            "COUNT *": "COUNT(*)",
            "COUNT DISTINCT of two": "COUNT(DISTINCT s, i)",
            "LISTAGG": "LISTAGG(s, ',') WITHIN GROUP (ORDER BY id)",
            "length of a list": "SIZE(COLLECT_LIST(i))",
            "least of a list": "ARRAY_MIN(COLLECT_LIST(i))",
            "BIT_XOR": "BIT_XOR(i)",
            "COUNT_IF": "COUNT_IF(x > 0.5)",
            "FILTER": "SUM(m) FILTER (WHERE i > 500)",
            "BOOL_OR": "BOOL_OR(i > 990)",
        }.items():
            sql = f"SELECT {group}, {call} FROM t GROUP BY {group}"
            again = sql.replace("DISTINCT s, i", "DISTINCT (s, i)").replace(") WITHIN GROUP (ORDER", " ORDER")
            again = again.replace("SIZE(COLLECT_LIST", "LEN(LIST").replace("ARRAY_MIN(COLLECT_LIST", "LIST_MIN(LIST")
            yield KindOfQuery(f"aggregates, {number} groups", f"{name}, {number}", sql, again)


def _groupings() -> Iterator[KindOfQuery]:
    family = "groupings"
    for name, key in {
        "YEAR": "YEAR(d)",
        "MONTH": "MONTH(d)",
        "DAYOFWEEK": "DAYOFWEEK(d)",
        "DATE_TRUNC": "DATE_TRUNC('hour', ts)",
        "ROUND": "ROUND(x, 1)",
        "UPPER": "UPPER(s)",
        "SUBSTR": "SUBSTR(s, 1, 2)",
        "DATE_FORMAT": "DATE_FORMAT(d, 'yyyy-MM')",
        "times as texts": "DATE_FORMAT(ts, 'dd MMM yyyy HH:mm:ss.SSS')",
        "texts as times": "TO_TIMESTAMP(s, 'yyyy-MM-dd')",
        "CASE": "CASE WHEN i > 500 THEN 'a' ELSE 'b' END",
        "CASE of DOUBLE": "CASE WHEN x > 0.5 THEN 'a' ELSE 'b' END",
        "modulo": "i % 7",
    }.items():
        of_duckdb = {
            "times as texts": "STRFTIME(ts, '%d %b %Y %H:%M:%S.%g')",
            "texts as times": "TRY_STRPTIME(s, '%Y-%m-%d')",
        }.get(name, key)
        skipped = name in ("DAYOFWEEK", "DATE_FORMAT", "ROUND")
        again = None if skipped else f"SELECT {of_duckdb}, COUNT(*) FROM t GROUP BY 1"
        yield KindOfQuery(family, f"GROUP BY {name}", f"SELECT {key}, COUNT(*) FROM t GROUP BY {key}", again)
    for name, sql in {
        "all rows": "SELECT COUNT(*), SUM(m), MAX(i) FROM t",
        "HAVING": "SELECT h, COUNT(*) FROM t GROUP BY h HAVING COUNT(*) > 5",
        "DISTINCT": "SELECT DISTINCT g, s FROM t",
        "top k": "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n DESC, g LIMIT 5",
        "group of groups": "SELECT n, COUNT(*) FROM (SELECT h, COUNT(*) AS n FROM t GROUP BY h) AS q GROUP BY n",
    }.items():
        yield KindOfQuery(family, name, sql, sql)
    for name, call in {"SUM": "SUM(m)", "MAX_BY": "MAX_BY(id, i)", "CORR": "CORR(i, m)"}.items():
        sql = f"SELECT g, i % 5 AS b, {call} FROM t GROUP BY ROLLUP (g, i % 5)"
        yield KindOfQuery(family, f"ROLLUP of {name}", sql, sql if name == "SUM" else None)


def _analytic() -> Iterator[KindOfQuery]:
    order = "ORDER BY ts, id"
    for number, group in GROUPS.items():
        for name, call in {
            "ROW_NUMBER": "ROW_NUMBER() OVER (PARTITION BY {0} {1})",
            "RANK": "RANK() OVER (PARTITION BY {0} ORDER BY d)",
            "DENSE_RANK": "DENSE_RANK() OVER (PARTITION BY {0} ORDER BY d)",
            "LAG": "LAG(x) OVER (PARTITION BY {0} {1})",
            "LEAD": "LEAD(x) OVER (PARTITION BY {0} {1})",
            "NTILE": "NTILE(4) OVER (PARTITION BY {0} {1})",
            "PERCENT_RANK": "PERCENT_RANK() OVER (PARTITION BY {0} {1})",
            "CUME_DIST": "CUME_DIST() OVER (PARTITION BY {0} {1})",
            "FIRST_VALUE": "FIRST_VALUE(i) OVER (PARTITION BY {0} {1})",
            "running SUM": "SUM(i) OVER (PARTITION BY {0} {1})",
            "running SUM of DOUBLE": "SUM(x) OVER (PARTITION BY {0} {1})",
            "running MAX of DOUBLE": "MAX(x) OVER (PARTITION BY {0} {1})",
            "moving AVG": "AVG(x) OVER (PARTITION BY {0} {1} ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
            "moving MAX": "MAX(i) OVER (PARTITION BY {0} {1} ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
            "filled forward": "LAST_VALUE(NULLIF(i % 10, 0) IGNORE NULLS) OVER (PARTITION BY {0} {1})",
            "RANGE": "COUNT(*) OVER (PARTITION BY {0} ORDER BY i RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING)",
            "GROUPS": "SUM(i) OVER (PARTITION BY {0} ORDER BY ts GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
            "RANGE of an hour": "SUM(x) OVER (PARTITION BY {0} ORDER BY ts"
            " RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)",
            "RANGE until a day ago": "SUM(i) OVER (PARTITION BY {0} ORDER BY ts"
            " RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' DAY PRECEDING)",
            "NTH_VALUE": "NTH_VALUE(i, 3) OVER (PARTITION BY {0} {1})",
        }.items():
            sql = f"SELECT id, {call.format(group, order)} FROM t"
            yield KindOfQuery(f"analytic, {number} partitions", f"{name}, {number}", sql, sql)
        for name, define in {
            "pattern": "a AS i < 5, b AS i >= PREV(i), c AS i < PREV(i)",
            "pattern of the match": "a AS i < 5, b AS b.x >= a.x, c AS c.i < a.i AND COUNT(b.*) > 1",
        }.items():
            measures = "FIRST(a.id) AS begin, COUNT(*) AS n, SUM(b.m) AS total"
            sql = (
                f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY {group} {order} MEASURES {measures}"
                f" PATTERN (a b+ c) DEFINE {define}) AS p"
            )
            yield KindOfQuery(f"patterns, {number} partitions", f"{name}, {number}", sql)
    filled = "COUNT(*), LOCF(MAX(id)), INTERPOLATE(AVG(x)) FROM t"
    for name, item, keys in (("total", "", ""), ("few", "g, ", "g, ")):
        sql = f"SELECT {item}TIME_BUCKET_GAPFILL(INTERVAL '1' DAY, ts) AS day, {filled} GROUP BY {keys}day"
        yield KindOfQuery("filled gaps", f"gaps, {name}", sql)
    for share, test in (("PERCENT_RANK", "> 0.9"), ("CUME_DIST", "<= 0.1"), ("NTILE", "= 1")):
        value = f"{share}({'10' * (share == 'NTILE')}) OVER (PARTITION BY g ORDER BY x, id)"
        sql = f"SELECT id, i FROM (SELECT id, i, {value} AS p FROM t) AS q WHERE p {test}"
        yield KindOfQuery("analytic, few partitions", f"{share} compared", sql, sql)
    whole = "SELECT id, SUM(i) OVER (PARTITION BY h) FROM t"
    yield KindOfQuery("analytic, many partitions", "whole partition", whole, whole)
    first = "SELECT * FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY i, id) AS r FROM t) AS q WHERE r <= 3"
    yield KindOfQuery("analytic, few partitions", "first rows", first, first)


def _joins() -> Iterator[KindOfQuery]:
    for name, sql in {
        "key": "SELECT t.id, u.name FROM t JOIN u ON t.h = u.k",
        "LEFT": "SELECT t.id, u.name FROM t LEFT JOIN u ON t.i = u.k AND u.hi > 10",
        "RIGHT": "SELECT t.id, u.name FROM t RIGHT JOIN u ON t.h = u.k",
        "FULL": "SELECT t.id, u.name FROM t FULL JOIN u ON t.h = u.k",
        "self": "SELECT a.id, b.id AS other FROM t a JOIN t b ON a.h = b.h AND a.i = b.i AND a.id < b.id",
        "self within hours": "SELECT a.id, b.id AS other FROM t a JOIN t b ON a.h = b.h"
        " AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '3' HOUR",
        "three": "SELECT a.id, u.name FROM t a JOIN u ON a.h = u.k JOIN bands b ON u.lo = b.lo",
        "bands": "SELECT t.id, b.name FROM t JOIN bands b ON t.i BETWEEN b.lo AND b.hi",
        "prefix": "SELECT id, p FROM t JOIN (SELECT DISTINCT LEFT(s, 3) p FROM t WHERE i > 990) q ON s LIKE p || '%'",
        "near in time": "SELECT a.id, b.id AS other FROM t a JOIN t b"
        " ON b.ts > a.ts AND b.ts - a.ts < INTERVAL '20' SECOND AND b.i < 10",
        "cross with a few": "SELECT t.id, b.lo FROM t JOIN bands b ON t.i < b.lo AND b.lo < 30",
        "equality of DOUBLE": "SELECT t.id, q.n FROM t JOIN (SELECT g, MAX(x) AS n FROM t GROUP BY g) AS q"
        " ON t.g = q.g AND t.x = q.n",
        "EXISTS": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.h AND u.hi > 50)",
        "NOT EXISTS": "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.h AND u.hi > 50)",
        "IN of a subquery": "SELECT id FROM t WHERE h IN (SELECT k FROM u WHERE hi > 50)",
        "NOT IN": "SELECT id FROM t WHERE i NOT IN (SELECT i FROM t WHERE x > 0.999)",
        "scalar compared": "SELECT id FROM t WHERE x > (SELECT AVG(x) FROM t)",
        "scalar shown": "SELECT g, COUNT(*) AS n, (SELECT COUNT(*) FROM t) AS every FROM t GROUP BY g",
        "scalar correlated": "SELECT id FROM t WHERE i > (SELECT AVG(i) FROM t t2 WHERE t2.g = t.g)",
        "scalar correlated, or own": "SELECT id FROM t WHERE i > 3 * (SELECT AVG(i) FROM t t2 WHERE t2.h = t.h)"
        " OR x > 0.99",
        "either of two correlated": "SELECT id FROM t WHERE i > 3 * (SELECT AVG(i) FROM t t2 WHERE t2.h = t.h)"
        " OR x > 1.9 * (SELECT AVG(x) FROM t t2 WHERE t2.h = t.h)",
        "NOT EXISTS, or": "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM t t2 WHERE t2.h = t.h AND t2.i < 50)"
        " OR x > 0.99",
        "average of a partition compared": "SELECT id FROM"
        " (SELECT id, i, AVG(i) OVER (PARTITION BY h) AS a FROM t) AS q WHERE i > 3 * a",
        "share of a total": "SELECT g, 100.0 * SUM(m) / (SELECT SUM(m) FROM t) AS share FROM t GROUP BY g",
        "groups joined": "SELECT t.id, q.n FROM t JOIN (SELECT h, COUNT(*) AS n FROM t GROUP BY h) AS q ON t.h = q.h",
    }.items():
        yield KindOfQuery("joins", name, sql, None if name == "share of a total" else sql)
    for number, key in GROUPS.items():
        for name, sign, down in (("before", "<", " DESC"), ("behind", ">", "")):
            tests = f"q.{key} = t.{key} AND q.ts {sign} t.ts"
            nearest = f"(SELECT q.x FROM t q WHERE {tests} ORDER BY q.ts{down} LIMIT 1)"
            again = f"SELECT t.id, q.x AS n FROM t ASOF LEFT JOIN t q ON {tests}"
            yield KindOfQuery("nearest rows", f"nearest {name}, {number}", f"SELECT id, {nearest} AS n FROM t", again)


def _sets() -> Iterator[KindOfQuery]:
    left, right = "SELECT g, i FROM t WHERE x < 0.6", "SELECT g, i FROM t WHERE m > 300"
    for word in ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"):
        yield KindOfQuery("set operators", word, f"{left} {word} {right}", f"{left} {word} {right}")
    for word, (name, column) in product(("UNION", "EXCEPT"), _TYPES.items()):
        sql = f"SELECT {column} FROM t WHERE i < 600 {word} SELECT {column} FROM t WHERE i > 400"
        yield KindOfQuery("set operators", f"{word} of {name}", sql, sql)
    to = "(t.h * 7 + t.i) % 20000"
    for name, first, union, follows in (
        ("reached", "", "UNION", ""),
        ("paths of 20 steps", ", 1", "UNION ALL", "AND t.id > p.id AND t.id <= p.id + 10000 WHERE p.n < 20"),
    ):
        columns = ("id", "a", "n") if first else ("a",)
        begin = f"SELECT {'t.id, ' * bool(first)}{to}{first} FROM t WHERE t.i < 50"
        step = f"SELECT {'t.id, ' * bool(first)}{to}{', p.n + 1' * bool(first)} FROM p JOIN t ON p.a = t.h {follows}"
        sql = f"WITH RECURSIVE p ({', '.join(columns)}) AS ({begin} {union} {step}) SELECT * FROM p"
        yield KindOfQuery("recursion", name, sql, sql)


def _windows() -> Iterator[KindOfQuery]:
    hour = "SELECT window.start, COUNT(*), SUM(m) FROM t GROUP BY window(ts, '{0}')"
    sliding = "SELECT window.start, COUNT(*) FROM t GROUP BY window(ts, '1 hour', '20 minutes')"
    for name, sql, again in (
        ("tumbling", hour.format("1 hour"), "SELECT date_trunc('hour', ts), COUNT(*), SUM(m) FROM t GROUP BY 1"),
        ("hopping", sliding, None),
        (
            "sessions",
            "SELECT g, session_window.start, COUNT(*) FROM t GROUP BY g, session_window(ts, '5 minutes')",
            None,
        ),
        ("last day", "SELECT g, COUNT(*) FROM t WHERE ts > now() - INTERVAL 1 DAY GROUP BY g", None),
        ("last day of a join", "SELECT t.id FROM t JOIN u ON t.h = u.k WHERE t.ts > now() - INTERVAL 1 DAY", None),
    ):
        yield KindOfQuery("windows", name, sql, again)


def _expressions() -> Iterator[KindOfQuery]:
    for name, condition in {
        "comparison": "i > 990",
        "comparison of DOUBLE": "x > 0.99",
        "two columns": "i > g * 49",
        "DOUBLE and column": "x > i",
        "IN": "s IN ('s1', 's2')",
        "LIKE": "s LIKE 's1%'",
        "LIKE ANY": "s LIKE ANY ('s1%', '%9')",
        "RLIKE": "s RLIKE '^s1.$'",
        "UPPER": "UPPER(s) = 'S1'",
        "arithmetic": "m * 2 > 1990",
        "YEAR": "YEAR(d) = 2024",
        "COALESCE": "COALESCE(i, 0) > 990",
        "OR": "i > 995 OR x > 0.995",
        "IS NULL": "i IS NULL",
    }.items():
        again = None if name in ("RLIKE", "LIKE ANY", "IS NULL") else f"SELECT id FROM t WHERE {condition}"
        yield KindOfQuery("conditions", name, f"SELECT id FROM t WHERE {condition}", again)
    for name, value in {
        "arithmetic": "i * 2 + g",
        "DOUBLE": "x * 2",
        "decimals": "m * m",
        "quotients of decimals": "m / w",
        "decimals by a number": "m / 60",
        "texts": "UPPER(s)",
        "concatenation": "s || '!'",
        "dates": "d + INTERVAL 1 DAY",
        "intervals of months": "INTERVAL 1 MONTH * g",
        "dates moved by months": "d + INTERVAL 1 MONTH * g",
        "times of day": "CAST(ts AS TIME) - TIME '12:00'",
        "CASE": "CASE WHEN i > 500 THEN 1 ELSE 0 END",
        "split": "SPLIT(s, '1')",
        "numbers in formats": "TO_CHAR(m, '$999,990.00')",
        "texts in number formats": "TRY_TO_NUMBER(s, '999')",
    }.items():
        yield KindOfQuery("projections", f"{name} shown", f"SELECT id, {value} FROM t WHERE i > 900", None)


def _nested() -> Iterator[KindOfQuery]:
    """Structs, arrays and maps, as JSON lines and events have them."""
    for name, condition, again in (
        ("field", "device.id = 's1'", "device.id = 's1'"),
        ("field of field", "device.at.lat > 0.99", "device.at.lat > 0.99"),
        ("element", "tags[0] = 's1'", "tags[1] = 's1'"),
        ("element of map", "rates['s1'] > 0", "rates['s1'] > 0"),
        ("contains", "ARRAY_CONTAINS(tags, 's1')", "LIST_CONTAINS(tags, 's1')"),
        ("size", "SIZE(tags) > 1", "LEN(tags) > 1"),
        ("FILTER", "SIZE(FILTER(tags, v -> v = 's1')) > 0", "LEN(LIST_FILTER(tags, lambda v: v = 's1')) > 0"),
        ("EXISTS of lambda", "EXISTS(tags, v -> v LIKE 's1%')", "LEN(LIST_FILTER(tags, lambda v: v LIKE 's1%')) > 0"),
    ):
        yield KindOfQuery("nested", name, f"SELECT id FROM t WHERE {condition}", f"SELECT id FROM t WHERE {again}")
    sql = "SELECT device.id, COUNT(*), AVG(device.at.lat) FROM t GROUP BY device.id"
    yield KindOfQuery("nested groups", "GROUP BY field", sql, sql)
    words = "EXPLODE of words", "SPLIT(REPEAT(s || ' ', 10), '\\\\s+')", "STRING_SPLIT(REPEAT(s || ' ', 10), ' ')"
    for name, array, again in (("EXPLODE", "tags", "tags"), words):
        sql = f"SELECT tag, COUNT(*) FROM t LATERAL VIEW EXPLODE({array}) e AS tag GROUP BY tag"
        again = f"SELECT tag, COUNT(*) FROM (SELECT UNNEST({again}) AS tag FROM t) GROUP BY tag"
        yield KindOfQuery("nested groups", name, sql, again)
    for name, value in {
        "TRANSFORM": "TRANSFORM(tags, v -> UPPER(v))",
        "STRUCT": "STRUCT(id, s)",
        "ARRAY": "ARRAY(id, i)",
        "struct whole": "device",
        "MAP_KEYS": "MAP_KEYS(rates)",
        "ARRAY_JOIN": "ARRAY_JOIN(tags, ',')",
        "TO_JSON": "TO_JSON(device)",
        "FROM_JSON": "FROM_JSON(TO_JSON(device), 'id STRING, at STRUCT<lat: DOUBLE>')",
    }.items():
        yield KindOfQuery("nested", f"{name} shown", f"SELECT id, {value} FROM t WHERE i > 900", None)
