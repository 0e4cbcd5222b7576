"""Arrays as columns: of rows, of groups, and what reads them."""

from __future__ import annotations

from oracle.harness import Case

_KEPT = "(SELECT id, k, g, amount, flag FROM t EXCEPT ALL SELECT id, k, g, amount, flag FROM u)"
_SPLIT = "string_split(s, '_')"
_KNOWN = "COALESCE(LIST({0} ORDER BY {0}) FILTER (WHERE {0} IS NOT NULL), [])"
_DISTINCT = "COALESCE(LIST(DISTINCT {0} ORDER BY {0}) FILTER (WHERE {0} IS NOT NULL), [])"


def _collected(*columns: str, how: str = _KNOWN) -> str:
    return ", ".join(how.format(column) for column in columns)


COLLECTED = {
    "rows": Case(
        "SELECT id, split(s, '_') AS parts, array(k, big) AS ks, array(x, y) AS xs, array(d, NULL) AS ds FROM t",
        f"SELECT id, {_SPLIT}, [k, big], [x, y], [d, NULL] FROM t",
    ),
    "times": Case(
        "SELECT id, array(ts) AS a, array(array(wide), array(wide, 0)) AS b, array(flag, k > 3) AS c FROM t"
        " WHERE k < 9",
        "SELECT id, [ts], [[wide], [wide, 0]], [flag, k > 3] FROM t WHERE k < 9",
    ),
    "groups": Case(
        "SELECT split(s, '_') AS a, COUNT(*) AS n, SUM(k % 10) AS m FROM t GROUP BY split(s, '_')",
        f"SELECT {_SPLIT}, COUNT(*), SUM(k % 10) FROM t GROUP BY 1",
    ),
    "having": Case(
        "SELECT array(g, s) AS a, MAX(k) AS m FROM t GROUP BY array(g, s)"
        " HAVING size(array(g, s)) = 2 AND COUNT(*) > 1",
        "SELECT [g, s], MAX(k) FROM t GROUP BY 1 HAVING COUNT(*) > 1",
    ),
    "distinct": Case("SELECT DISTINCT array(flag, k > 3) AS a FROM t", "SELECT DISTINCT [flag, k > 3] FROM t"),
    "zeros": Case(
        "SELECT array(x, 0) AS a, COUNT(*) AS n FROM t GROUP BY array(x, 0)",
        "SELECT [x, 0], COUNT(*) FROM t GROUP BY 1",
    ),
    "union": Case(
        "SELECT split(g, '') AS a FROM t UNION SELECT array(s) FROM u",
        "SELECT CASE WHEN g = '' THEN [''] ELSE string_split(g, '') END FROM t UNION SELECT [s] FROM u",
    ),
    "minus": Case(
        "SELECT array(k, 1) AS a FROM t EXCEPT ALL SELECT array(k, 1) FROM u",
        "SELECT [k, 1] FROM t EXCEPT ALL SELECT [k, 1] FROM u",
    ),
    "equal": Case(
        "SELECT t.id, u.id AS o FROM t JOIN u ON array(t.k, 7) = array(u.k, 7) AND t.flag = u.flag",
        "SELECT t.id, u.id FROM t JOIN u ON t.k IS NOT DISTINCT FROM u.k AND t.flag = u.flag",
    ),
    "left": Case(
        "SELECT t.id, v.a FROM t LEFT JOIN (SELECT k, collect_list(g) AS a FROM u GROUP BY k) v ON t.k = v.k"
        " WHERE v.a IS NULL OR size(v.a) > 1",
        f"SELECT t.id, v.a FROM t LEFT JOIN (SELECT k, {_collected('g')} AS a FROM u GROUP BY k) v ON t.k = v.k"
        " WHERE v.a IS NULL OR len(v.a) > 1",
    ),
    "in": Case(
        "SELECT id FROM t WHERE array(k, id) NOT IN (SELECT array(k, id) FROM u WHERE k > 4)",
        "SELECT id FROM t WHERE [k, id] NOT IN (SELECT [k, id] FROM u WHERE k > 4)",
    ),
    "values": Case(
        "SELECT flag, collect_list(k) AS a, collect_list(amount) AS b, collect_list(s) AS c, collect_set(g) AS d,"
        " collect_set(x) AS e, collect_set(d) AS f FROM t GROUP BY flag",
        f"SELECT flag, {_collected('k', 'amount', 's')}, {_collected('g', 'x + 0', 'd', how=_DISTINCT)} FROM t"
        " GROUP BY flag",
    ),
    "in_order": Case(
        "SELECT g, array_agg(k ORDER BY id DESC, k DESC) AS a, array_agg(id ORDER BY ts, id) AS b,"
        " array_agg(DISTINCT flag ORDER BY flag DESC) AS c FROM t GROUP BY g",
        "SELECT g, COALESCE(LIST(k ORDER BY id DESC, k DESC) FILTER (WHERE k IS NOT NULL), []),"
        " LIST(id ORDER BY ts NULLS FIRST, id),"
        " COALESCE(LIST(DISTINCT flag ORDER BY flag DESC) FILTER (WHERE flag IS NOT NULL), []) FROM t GROUP BY g",
    ),
    "all_rows": Case(
        "SELECT collect_list(k) AS a, collect_list(k) FILTER (WHERE k > 5) AS b, collect_set(d) AS c FROM t"
        " WHERE k > 2",
        f"SELECT {_collected('k')}, COALESCE(LIST(k ORDER BY k) FILTER (WHERE k > 5), []),"
        f" {_collected('d', how=_DISTINCT)} FROM t WHERE k > 2",
    ),
    "retracted": Case(
        f"SELECT g, collect_list(k) AS a, collect_set(amount) AS b FROM {_KEPT} GROUP BY g",
        f"SELECT g, {_collected('k')}, {_collected('amount', how=_DISTINCT)} FROM {_KEPT} GROUP BY g",
    ),
    "nested": Case(
        "SELECT flag, size(collect_list(split(s, '_'))) AS n, sort_array(flatten(collect_list(split(s, '_')))) AS a,"
        " COUNT(DISTINCT split(s, '_')) AS c, MIN_BY(split(s, '_'), id) AS f FROM t GROUP BY flag",
        f"SELECT flag, COUNT(s), COALESCE(LIST_SORT(FLATTEN(LIST({_SPLIT}) FILTER (WHERE s IS NOT NULL))), []),"
        f" COUNT(DISTINCT {_SPLIT}), ARG_MIN_NULL({_SPLIT}, id) FROM t GROUP BY flag",
    ),
    "read_again": Case(
        "SELECT g, a[0] AS least, size(a) AS n, array_max(a) AS most FROM"
        " (SELECT g, collect_list(k) AS a FROM t GROUP BY g) v WHERE array_contains(a, 4)",
        "SELECT g, MIN(k), COUNT(k), MAX(k) FROM t GROUP BY g HAVING BOOL_OR(k = 4)",
    ),
    "sizes": Case(
        "SELECT flag, size(collect_list(k)) AS a, size(collect_set(k)) AS b, array_max(collect_list(x)) AS c,"
        " array_min(collect_set(s) FILTER (WHERE id > 9)) AS d, size(collect_list(k) FILTER (WHERE k > 5)) AS e"
        " FROM t GROUP BY flag HAVING size(collect_list(g)) > 2",
        "SELECT flag, COUNT(k), COUNT(DISTINCT k), MAX(x), MIN(s) FILTER (WHERE id > 9), COUNT(k) FILTER (WHERE k > 5)"
        " FROM t GROUP BY flag HAVING COUNT(g) > 2",
    ),
    "sizes_retracted": Case(
        f"SELECT size(collect_list(k)) AS a, size(collect_set(amount)) AS b, array_max(collect_list(k)) AS c"
        f" FROM {_KEPT} WHERE k > 2",
        f"SELECT COUNT(k), COUNT(DISTINCT amount), MAX(k) FROM {_KEPT} WHERE k > 2",
    ),
    "sizes_of_duckdb": Case(
        "SELECT g, LEN(LIST(k)) AS a, LEN(LIST(k) FILTER (WHERE k > 5)) AS b, LEN(LIST(DISTINCT k)) AS c,"
        " LIST_MAX(LIST(x)) AS d, LIST_MIN(LIST(s) FILTER (WHERE id > 9)) AS e FROM t GROUP BY g",
        dialect="duckdb",
    ),
    "of_rows": Case(
        "SELECT g, v, COUNT(*) AS n FROM (SELECT g, collect_set(k) AS a FROM t GROUP BY g) q"
        " LATERAL VIEW EXPLODE(a) e AS v GROUP BY g, v",
        "SELECT DISTINCT g, k, 1 FROM t WHERE k IS NOT NULL",
    ),
    "over": Case(
        "SELECT id, collect_list(k) OVER (PARTITION BY g) AS a, LAG(array(k)) OVER (PARTITION BY g ORDER BY id, k, s)"
        " AS b FROM (SELECT DISTINCT id, k, g, s FROM t) v",
        "SELECT id, COALESCE(LIST_SORT(LIST(k) FILTER (WHERE k IS NOT NULL) OVER (PARTITION BY g)), []),"
        " LAG([k]) OVER (PARTITION BY g ORDER BY id, k NULLS FIRST, s NULLS FIRST)"
        " FROM (SELECT DISTINCT id, k, g, s FROM t) v",
    ),
    "of_duckdb": Case(
        "SELECT flag, LIST(k ORDER BY k) AS a, ARRAY_AGG(DISTINCT g ORDER BY g) AS b, LIST(id ORDER BY id)[1] AS c,"
        " LEN(LIST(s)) AS n, ARRAY_TO_STRING(LIST(g ORDER BY g), '-') AS t FROM t GROUP BY flag",
        dialect="duckdb",
    ),
    "first_of_duckdb": Case(
        "SELECT g, LIST(id ORDER BY k DESC, id DESC)[1:2] AS a, LIST(DISTINCT k ORDER BY k)[:3] AS b,"
        " FIRST(id ORDER BY ts, id) AS c, LAST(s ORDER BY id, s) AS d, LIST(id ORDER BY id)[2] AS e,"
        " LIST_SLICE(LIST(k ORDER BY k) FILTER (WHERE id > 3), 1, 2) AS f, LIST(k ORDER BY k DESC)[2:3] AS h,"
        " MAX(k, 2) AS i, MIN(x, 9) AS j, ARG_MIN(s, id, 2) AS l FROM t GROUP BY g",
        dialect="duckdb",
    ),
    "first_of_each": Case(
        "SELECT flag, slice(collect_list(k), 1, 3) AS a, collect_list(id)[1] AS b FROM t GROUP BY flag",
        f"SELECT flag, ({_collected('k')})[1:3], ({_collected('id')})[2] FROM t GROUP BY flag",
    ),
    "last_of_duckdb": Case(
        "SELECT g, LIST(id ORDER BY k DESC, id DESC)[-1] AS a, LIST_LAST(LIST(id ORDER BY ts, id)) AS b,"
        " LIST_EXTRACT(LIST(k ORDER BY id) FILTER (WHERE id > 3), -2) AS c, LIST(DISTINCT k ORDER BY k DESC)[-2] AS d,"
        " LIST_EXTRACT(LIST(s ORDER BY id), 2) AS e, LIST(s ORDER BY s NULLS FIRST, id)[-1] AS f,"
        " LEN(LIST(k ORDER BY id DESC)) AS h FROM t GROUP BY g",
        dialect="duckdb",
    ),
    "last_of_each": Case(
        "SELECT flag, element_at(collect_list(k), -2) AS a, element_at(sort_array(collect_list(x)), -1) AS b,"
        " element_at(sort_array(collect_set(s), false), 3) AS c,"
        " element_at(sort_array(collect_list(k), false), -1) AS d FROM t GROUP BY flag",
        f"SELECT flag, ({_collected('k')})[-2], MAX(x), LIST(DISTINCT s ORDER BY s DESC)"
        " FILTER (WHERE s IS NOT NULL)[3], MIN(k) FROM t GROUP BY flag",
    ),
    "last_of_each_retracted": Case(
        f"SELECT element_at(collect_list(k), -2) AS a, element_at(sort_array(collect_list(k)), -1) AS b FROM {_KEPT}",
        f"SELECT ({_collected('k')})[-2], MAX(k) FROM {_KEPT}",
    ),
    "of_duckdb_looked_for": Case(
        "SELECT k, 3 = ANY(LIST(id)) AS a, LIST_CONTAINS(LIST(big), k) AS b, [k, 1] = [3, 1] AS c,"
        " k IN LIST(id) AS d, k NOT IN [1, 3] AS e, k NOT IN [1, 3, NULL] AS f, 2 NOT IN [k, NULL] AS g"
        " FROM t GROUP BY k",
        dialect="duckdb",
    ),
    "of_postgres": Case(
        "SELECT flag, ARRAY_AGG(k ORDER BY k DESC) AS a, ARRAY_AGG(DISTINCT id) FILTER (WHERE k > 4) AS b,"
        " (ARRAY_AGG(k ORDER BY id, k))[2] AS c, 3 <> ALL(ARRAY_AGG(k)) AS d, CARDINALITY(ARRAY_AGG(g)) AS n FROM t"
        " GROUP BY flag",
        "SELECT flag, LIST(k ORDER BY k DESC NULLS FIRST), LIST(DISTINCT id ORDER BY id) FILTER (WHERE k > 4),"
        " LIST(k ORDER BY id, k)[2], NOT 3 = ANY(LIST(k)), COUNT(*) FROM t GROUP BY flag",
        dialect="postgres",
    ),
    "text_of_numbers": Case(
        "SELECT flag, LISTAGG(k, ',') WITHIN GROUP (ORDER BY k) AS a,"
        " LISTAGG(DISTINCT k, ',') WITHIN GROUP (ORDER BY k) AS b, LISTAGG(s, ',') WITHIN GROUP (ORDER BY s, k) AS c,"
        " LISTAGG(g, '') WITHIN GROUP (ORDER BY flag, g, k) AS d FROM t GROUP BY flag",
        "SELECT flag, STRING_AGG(CAST(k AS VARCHAR), ',' ORDER BY k),"
        " ARRAY_TO_STRING(LIST(DISTINCT k ORDER BY k) FILTER (WHERE k IS NOT NULL), ','),"
        " STRING_AGG(s, ',' ORDER BY s), STRING_AGG(g, '' ORDER BY g) FROM t GROUP BY flag",
    ),
}
