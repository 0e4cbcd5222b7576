"""Structs and bytes as columns: of rows, of groups, and what reads them."""

from __future__ import annotations

from oracle.harness import Case

STRUCTS = {
    "star": Case(
        "SELECT id, v.*, q.v.* EXCEPT (h) FROM (SELECT id, STRUCT(k, g AS h) AS v FROM t) q WHERE v.k > 2",
        "SELECT id, k, g, k FROM t WHERE k > 2",
    ),
    "inlined": Case(
        "SELECT id, x.a, b FROM t LATERAL VIEW INLINE(ARRAY(STRUCT(k AS a, g AS b), NULL, STRUCT(big AS a, s AS b))) x"
        " AS a, b",
        "SELECT id, k, g FROM t UNION ALL SELECT id, NULL, NULL FROM t UNION ALL SELECT id, big, s FROM t",
    ),
    "inlined_outer": Case(
        "SELECT id, x.a, b FROM t LATERAL VIEW INLINE_OUTER(CASE WHEN k > 3 THEN ARRAY(STRUCT(k AS a, g AS b)) END) x"
        " AS a, b",
        "SELECT id, CASE WHEN k > 3 THEN k END, CASE WHEN k > 3 THEN g END FROM t",
    ),
    "inlined_outer_in_list": Case(
        "SELECT id, INLINE_OUTER(FILTER(ARRAY(STRUCT(k AS a, g AS b)), e -> e.a > 3)) FROM t",
        "SELECT id, CASE WHEN k > 3 THEN k END, CASE WHEN k > 3 THEN g END FROM t",
    ),
    "inlined_of_groups": Case(
        "SELECT g, INLINE(v) FROM (SELECT g, SLICE(ARRAY_AGG(STRUCT(id, k) ORDER BY id), 1, 5) AS v FROM t GROUP BY g)"
        " AS q",
        "SELECT g, id, k FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) <= 5",
    ),
    "as_json": Case(
        "SELECT id, TO_JSON(STRUCT(id AS n, COALESCE(g, '') AS b, ARRAY(k, id) AS c, STRUCT(d AS day) AS inner)) AS j,"
        " TO_JSON(STRUCT(g)) AS nulls, TO_JSON(ARRAY(STRUCT(k IS NULL AS `it's`))) AS a FROM t WHERE d IS NOT NULL",
        "SELECT id, CAST(to_json({'n': id, 'b': COALESCE(g, ''), 'c': [k, id], 'inner': {'day': d}}) AS VARCHAR),"
        " CASE WHEN g IS NULL THEN '{}' ELSE '{\"g\":\"' || g || '\"}' END,"
        " CASE WHEN k IS NULL THEN '[{\"it''s\":true}]' ELSE '[{\"it''s\":false}]' END FROM t WHERE d IS NOT NULL",
    ),
    "bytes_functions": Case(
        "SELECT t.id, X'0aFF' AS c, UNHEX(HEX(s)) AS b, ENCODE(s, 'UTF-8') AS e, LENGTH(CAST(s "
        "AS BINARY)) AS l, BASE64(CAST(s AS BINARY)) AS bb, MD5(CAST(s AS BINARY)) AS m, CAST(s"
        " AS BINARY) || X'00' AS cc, DECODE(CAST(s AS BINARY), 'utf-8') AS d FROM t",
        "SELECT id, '\\x0A\\xFF'::BLOB, encode(s), encode(s), octet_length(encode(s)), "
        "base64(encode(s)), md5(encode(s)), encode(s) || '\\x00'::BLOB, s FROM t",
    ),
    "bytes_groups": Case(
        "SELECT CAST(g AS BINARY) AS b, COUNT(*) AS n, MAX(CAST(s AS BINARY)) AS m, "
        "MIN(UNHEX('ff')) AS mm FROM t GROUP BY CAST(g AS BINARY)",
        "SELECT encode(g), COUNT(*), MAX(encode(s)), MIN('\\xFF'::BLOB) FROM t GROUP BY 1",
    ),
    "bytes_order": Case(
        "SELECT id, CAST(s AS BINARY) AS b FROM t ORDER BY CAST(s AS BINARY), id LIMIT 9",
        "SELECT id, encode(s) FROM t ORDER BY encode(s) NULLS FIRST, id LIMIT 9",
    ),
    "bytes_compared": Case(
        "SELECT a.id, b.id AS o FROM t a JOIN t b ON CAST(a.g AS BINARY) < CAST(b.g AS BINARY) "
        "AND a.k = b.k AND CAST(a.g AS BINARY) <> X'61'",
        "SELECT a.id, b.id FROM t a JOIN t b ON encode(a.g) < encode(b.g) AND a.k = b.k AND encode(a.g) <> 'a'::BLOB",
    ),
    "bytes_chosen": Case(
        "SELECT id, CASE WHEN CAST(g AS BINARY) >= X'C3' THEN X'' WHEN CAST(g AS BINARY) < "
        "X'62' THEN NULL ELSE CAST(s AS BINARY) END AS b, GREATEST(CAST(g AS BINARY), X'63') AS"
        " gr, ARRAY(CAST(g AS BINARY), NULL, X'00') AS a FROM t",
        "SELECT id, CASE WHEN encode(g) >= '\\xC3'::BLOB THEN ''::BLOB WHEN encode(g) < "
        "'b'::BLOB THEN NULL ELSE encode(s) END, CASE WHEN g IS NULL OR encode(g) < 'c'::BLOB "
        "THEN 'c'::BLOB ELSE encode(g) END, [encode(g), NULL, '\\x00'::BLOB] FROM t",
    ),
    "rows": Case(
        "SELECT id, STRUCT(k AS a, s AS B, y AS c) AS st, NAMED_STRUCT('x', STRUCT(ts AS t, d "
        "AS d, amount AS m), 'l', ARRAY(k, big)) AS n FROM t",
        "SELECT id, {'a': k, 'b': s, 'c': CASE WHEN y = 0 THEN 0 ELSE y END}, {'x': {'t': ts, "
        "'d': d, 'm': amount}, 'l': [k, big]} FROM t",
    ),
    "groups": Case(
        "SELECT STRUCT(k, g) AS s, COUNT(*) AS n FROM t GROUP BY STRUCT(k, g)",
        "SELECT {'k': k, 'g': g}, COUNT(*) FROM t GROUP BY 1",
    ),
    "fields_of_groups": Case(
        "SELECT v.s.k AS k, s.g, v.n FROM (SELECT STRUCT(k, g) AS s, COUNT(*) AS n FROM t GROUP"
        " BY STRUCT(k, g)) v WHERE s.k > 3",
        "SELECT k, g, COUNT(*) FROM t WHERE k > 3 GROUP BY 1, 2",
    ),
    "distinct": Case(
        "SELECT DISTINCT STRUCT(y AS y, x AS x) AS s FROM t",
        "SELECT DISTINCT {'y': CASE WHEN y = 0 THEN 0 ELSE y END, 'x': CASE WHEN x = 0 THEN 0 ELSE x END} FROM t",
    ),
    "equal": Case(
        "SELECT a.id, b.id AS o FROM t a JOIN t b ON STRUCT(a.k, a.g) = STRUCT(b.k, b.g) AND a.id < b.id",
        "SELECT a.id, b.id FROM t a JOIN t b ON a.k IS NOT DISTINCT FROM b.k AND a.g IS NOT "
        "DISTINCT FROM b.g AND a.id < b.id",
    ),
    "nulls": Case(
        "SELECT id, CASE WHEN k > 4 THEN STRUCT(k AS k, y AS y) END AS s, (CASE WHEN k > 4 THEN"
        " STRUCT(k AS k, y AS y) END).y AS y, CASE WHEN k > 4 THEN STRUCT(k AS k) END IS NULL "
        "AS b FROM t",
        "SELECT id, CASE WHEN k > 4 THEN {'k': k, 'y': y + 0} END, CASE WHEN k > 4 THEN y + 0 "
        "END, NOT COALESCE(k > 4, false) FROM t",
    ),
    "collected": Case(
        "SELECT g, SIZE(COLLECT_SET(STRUCT(k, flag))) AS n, ARRAY_AGG(STRUCT(id AS id, k AS k) "
        "ORDER BY id)[0].id AS i, TRANSFORM(ARRAY_AGG(STRUCT(id AS id, k AS k) ORDER BY id), v "
        "-> v.id) AS ids FROM t GROUP BY g",
        "SELECT g, COUNT(DISTINCT {'k': k, 'f': flag}), MIN(id), LIST(id ORDER BY id) FROM t GROUP BY g",
    ),
    "of_duckdb": Case(
        "SELECT id, {'a': k, 'b': g} AS s FROM t WHERE {'a': k, 'b': g} = {'a': 3, 'b': 'a'}",
        dialect="duckdb",
    ),
    "compared_as_rows": Case(
        "SELECT id, (k, g) IN ((1, 'a'), (3, 'b')) AS a, (k, g) <> (2, 'a') AS b FROM t"
        " WHERE (k, g) NOT IN ((2, NULL), (4, 'a'))",
    ),
    "compared_as_rows_of_duckdb": Case(
        "SELECT id, (k, g) IN ((1, 'a'), (3, NULL)) AS a, (k, g) < (2, 'b') AS b, (k, flag) >= (3, NULL) AS c FROM t"
        " WHERE (k, g) NOT IN ((2, NULL), (4, 'a')) AND EXISTS (SELECT 1 FROM u WHERE (u.k, u.id) = (t.k, t.id))",
        dialect="duckdb",
    ),
    "counted": Case(
        "SELECT COUNT(DISTINCT STRUCT(k, g)) AS n, COUNT(DISTINCT STRUCT(k), CAST(g AS BINARY))"
        " AS m, MIN_BY(STRUCT(k, id), id) AS f FROM t",
        "SELECT COUNT(DISTINCT {'k': k, 'g': g}), COUNT(DISTINCT CASE WHEN g IS NOT NULL THEN "
        "({'k': k}, g) END), ARG_MIN_NULL({'k': k, 'id': id}, id) FROM t",
    ),
    "counted_beside": Case(
        "SELECT v.id, w.n FROM (SELECT id, CASE WHEN k > 3 THEN STRUCT(k) END AS s FROM t) v, "
        "LATERAL (SELECT COUNT(*) AS n FROM t u WHERE STRUCT(u.k) = v.s) w",
        "SELECT v.id, w.n FROM (SELECT id, CASE WHEN k > 3 THEN {'k': k} END AS s FROM t) v, "
        "LATERAL (SELECT COUNT(*) AS n FROM t u WHERE {'k': u.k} = v.s) w",
    ),
    "bytes_counted_beside": Case(
        "SELECT v.id, w.n FROM (SELECT id, CAST(g AS BINARY) AS s FROM t) v, LATERAL (SELECT "
        "COUNT(*) AS n FROM t u WHERE CAST(u.g AS BINARY) = v.s) w",
        "SELECT v.id, w.n FROM (SELECT id, encode(g) AS s FROM t) v, LATERAL (SELECT COUNT(*) "
        "AS n FROM t u WHERE encode(u.g) = v.s) w",
    ),
    "correlated": Case(
        "SELECT id FROM (SELECT id, STRUCT(k AS k) AS st FROM t) v WHERE EXISTS (SELECT 1 FROM t u WHERE u.big = st.k)",
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.big = t.k)",
    ),
    "elements": Case(
        "SELECT id, e.k AS k, e.y AS y FROM (SELECT id, ARRAY(STRUCT(k, y), NULL) AS a FROM t) v"
        " LATERAL VIEW EXPLODE(a) x AS e",
        "SELECT id, k, y + 0 FROM t UNION ALL SELECT id, NULL, NULL FROM t",
    ),
    "lambdas": Case(
        "SELECT id, TRANSFORM(FILTER(a, e -> e.v > 0), e -> e.s.g) AS g, a[0].s.g AS f, v.a[1].v AS w FROM"
        " (SELECT id, ARRAY(STRUCT(k AS v, STRUCT(g) AS s), STRUCT(big AS v, STRUCT(s AS g) AS s)) AS a FROM t) v",
        "SELECT id, list_transform(list_filter([{'v': k, 'g': g}, {'v': big, 'g': s}], lambda e: e.v > 0),"
        " lambda e: e.g), g, big FROM t",
    ),
    "without_fields": Case(
        "SELECT * EXCEPT (st.a, st.i.b, v.k) FROM (SELECT id, k, CASE WHEN flag THEN STRUCT(k AS a, g AS f,"
        " STRUCT(g AS b, s AS c) AS i) END AS st FROM t) v",
        "SELECT id, {'f': CASE WHEN flag THEN g END, 'i': {'c': CASE WHEN flag THEN s END}} FROM t",
    ),
    "fields_of_fields": Case(
        "SELECT id, st.i.* EXCEPT (b) FROM (SELECT id, STRUCT(k AS a, STRUCT(g AS b, s AS c) AS i) AS st FROM t) v",
        "SELECT id, s FROM t",
    ),
}
