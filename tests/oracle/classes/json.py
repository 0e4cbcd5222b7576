"""JSON in duckdb, written and read; texts as numbers and numbers as texts."""

from __future__ import annotations

from oracle.harness import Case

_J = "(SELECT id, g, json_object('g', g, 'k', k, 'in', {'x': x, 'd': d}, 'a', [id, k]) AS j FROM t) q"
JSON = {
    name: Case(sql, dialect="duckdb")
    for name, sql in {
        "written": "SELECT id, json_object('a', k, 'b', s, 'c', json_array(g, amount, x)) AS j, to_json(s) AS s,"
        " to_json({'n': big, 'm': MAP {'x': k}, 'l': [d, NULL]}) AS v, to_json(ts) AS ts FROM t",
        "read": "SELECT id, j->>'g' AS g, j->'in' AS i, j->'$.a[0]' AS a, TRY_CAST(j->'k' AS INTEGER) AS k,"
        f" json_type(j, 'in') AS t, json_array_length(j, 'a') AS n, json_exists(j, 'x') AS e FROM {_J}",
        "changed": "SELECT id, json_merge_patch(j, json_object('k', NULL, 'n', id)) AS m, json_valid(g) AS v,"
        f" json(j::VARCHAR || ' ') AS w, json_valid(j) AS u FROM {_J}",
        "grouped": f"SELECT j->>'g' AS g, COUNT(*) AS n, MAX((j->'in')) AS m FROM {_J} GROUP BY j->>'g'",
        "joined": f"SELECT q.id, t.id AS o FROM {_J} JOIN t ON (q.j->>'g') = t.g AND t.k = 3 AND json_valid(q.j)",
        "texts_as_numbers": "SELECT id, TRY_CAST(k || '.' || id % 7 AS DOUBLE) AS a, TRY_CAST(s AS INTEGER) AS b,"
        " TRY_CAST(k || '.5' AS INTEGER) AS c, TRY_CAST(k || '.' || id AS DECIMAL(9,2)) AS e FROM t",
        "numbers_as_texts": "SELECT id, x::VARCHAR AS a, amount::VARCHAR AS b, ts::VARCHAR AS c, (k > 3)::VARCHAR AS e"
        " FROM t",
        "printed": "SELECT id, printf('%5d|%s|%.2f|%,d', k, s, x, big) AS a, format('{:>8}|{:.1f}', s, amount)"
        " AS b FROM t WHERE x > -1e15 AND x < 1e15",
        "distances": "SELECT id, levenshtein(s, g) AS a, damerau_levenshtein(s, g) AS b, jaccard(s, g || 'l') AS c"
        " FROM t WHERE s <> ''",
        "similar": "SELECT a.id, b.id AS o FROM t a JOIN t b ON a.k = b.k AND levenshtein(a.s, b.s) < 2",
    }.items()
}
