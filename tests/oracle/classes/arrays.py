"""Arrays inside expressions, and JSON texts."""

from __future__ import annotations

from oracle.harness import Case

ARRAYS = {
    "of_a_text": Case(
        "SELECT id, split(s, '[_l]')[1] AS second, size(split(s, '_')) AS n FROM t"
        " WHERE array_contains(split(s, '_'), '1') OR k = 3",
        "SELECT id, string_split_regex(s, '[_l]')[2], len(string_split(s, '_')) FROM t"
        " WHERE list_contains(string_split(s, '_'), '1') OR k = 3",
    ),
    "lambdas": Case(
        "SELECT id, array_join(transform(filter(array(k, id, big), v -> v > 3), v -> cast(v % 10 as string)), '|') AS a"
        ", aggregate(array(k, id), 0, (n, v) -> n + coalesce(v, 0)) AS total"
        " FROM t WHERE exists(array(k, id), v -> v = 7) OR k < 4",
        "SELECT id, array_to_string(list_transform(list_filter([k, id, big], lambda v: v > 3), lambda v: CAST(v % 10 AS"
        " VARCHAR)), '|'), coalesce(k, 0) + coalesce(id, 0) FROM t WHERE k = 7 OR id = 7 OR k < 4",
    ),
    "groups": Case(
        "SELECT x[0] AS w, COUNT(*) AS n, SUM(size(x)) AS parts, MAX(x[1]) AS most"
        " FROM (SELECT split(s, '_') AS x, k FROM t) GROUP BY x[0] HAVING COUNT(*) > 1",
        "SELECT x[1], COUNT(*), SUM(len(x)), MAX(x[2]) FROM (SELECT string_split(s, '_') AS x, k FROM t) GROUP BY x[1]"
        " HAVING COUNT(*) > 1",
    ),
    "join": Case(
        "SELECT t.id, u.id AS uid FROM t JOIN u ON split(t.s, '_')[0] = split(u.s, '_')[0] AND t.k = u.k",
        "SELECT t.id, u.id FROM t JOIN u ON string_split(t.s, '_')[1] = string_split(u.s, '_')[1] AND t.k = u.k",
    ),
    "outer": Case(
        "SELECT t.id, v.n FROM t LEFT JOIN (SELECT k, size(split(s, '_')) AS n FROM u) v ON t.k = v.k AND v.n > 1",
        "SELECT t.id, v.n FROM t LEFT JOIN (SELECT k, len(string_split(s, '_')) AS n FROM u) v"
        " ON t.k = v.k AND v.n > 1",
    ),
    "json": Case(
        "SELECT id, json_array_length('[' || k || ', 1]') AS n,"
        " json_object_keys('{\"' || g || '\": ' || k || '}')[0] AS g,"
        " get_json_object('{\"a\": [{\"b\": ' || k || '}]}', '$.a[0].b') AS b FROM t",
        "SELECT id, CASE WHEN k IS NOT NULL THEN 2 END, CASE WHEN k IS NOT NULL THEN g END, CAST(k AS VARCHAR) FROM t",
    ),
}
