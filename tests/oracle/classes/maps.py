"""Maps as values of rows and groups, and what reads them."""

from __future__ import annotations

from oracle.harness import Case

MAPS = {
    "of_rows": Case(
        "SELECT id, MAP('k', k, 'big', big) AS m, MAP(id, g) AS n FROM t",
        "SELECT id, MAP {'k': k, 'big': big}, MAP {id: g} FROM t",
    ),
    "in_duckdb": Case(
        "SELECT id, MAP {'k': k, 'id': id} AS m, MAP([id], [s]) AS n, MAP {'k': k}['k'] AS v, cardinality(MAP {'k': k})"
        " AS c, map_contains(MAP {'k': k}, g) AS h, map_extract_value(MAP {id: s}, id) AS e,"
        " map_keys(MAP {id: s}) AS ks, map_values(MAP {id: s}) AS vs, map_entries(MAP {id: s}) AS es FROM t",
        dialect="duckdb",
    ),
    "read": Case(
        "SELECT id, m['k'] AS k, ELEMENT_AT(m, g) AS e, MAP_KEYS(m) AS a, MAP_VALUES(m) AS b, MAP_ENTRIES(m) AS c,"
        " MAP_CONTAINS_KEY(m, g) AS h, SIZE(m) AS n FROM (SELECT id, g, MAP('k', k, 'a', big) AS m FROM t) v",
        "SELECT id, m['k'], m[g], map_keys(m), map_values(m), map_entries(m), map_contains(m, g), cardinality(m)"
        " FROM (SELECT id, g, MAP {'k': k, 'a': big} AS m FROM t) v",
    ),
    "by_columns_with_names_of_variables": Case(
        "SELECT k AS id, MAP(1, g, 2, s)[k] AS k, MAP(2, s)[k - 1] AS m, MAP_CONTAINS_KEY(MAP(3, y), k) AS n FROM t",
        "SELECT k, CASE k WHEN 1 THEN g WHEN 2 THEN s END, CASE k WHEN 3 THEN s END, k = 3 FROM t",
    ),
    "filtered": Case(
        "SELECT id, m FROM (SELECT id, CASE WHEN k > 3 THEN MAP('g', g, 's', s) END AS m FROM t) v"
        " WHERE m['g'] <> 'a' OR m IS NULL",
        "SELECT id, m FROM (SELECT id, CASE WHEN k > 3 THEN MAP {'g': g, 's': s} END AS m FROM t) v"
        " WHERE m['g'] <> 'a' OR m IS NULL",
    ),
    "grouped_by_value": Case(
        "SELECT m['g'] AS g, COUNT(m) AS n, MAX(m['k']) AS k FROM (SELECT MAP('g', g, 'k', s) AS m FROM t) v"
        " GROUP BY m['g']",
        "SELECT g, COUNT(*), MAX(s) FROM t GROUP BY g",
    ),
    "of_groups": Case(
        "SELECT g, MAP('n', COUNT(*), 'k', MAX(k)) AS m FROM t GROUP BY g",
        "SELECT g, MAP {'n': COUNT(*), 'k': MAX(k)} FROM t GROUP BY g",
    ),
    "first": Case(
        "SELECT g, MIN_BY(MAP('id', id, 'k', k), id) AS m FROM t GROUP BY g",
        "SELECT g, ARG_MIN(MAP {'id': id, 'k': k}, id) FROM t GROUP BY g",
    ),
    "of_arrays": Case(
        "SELECT id, MAP_FROM_ARRAYS(ARRAY('x', 'y'), ARRAY(k, big)) AS m, MAP_FROM_ENTRIES(ARRAY(STRUCT(id, s))) AS n,"
        " MAP_CONCAT(MAP('x', k), MAP('y', big)) AS o FROM t",
        "SELECT id, MAP {'x': k, 'y': big}, MAP {id: s}, MAP {'x': k, 'y': big} FROM t",
    ),
    "of_texts": Case(
        "SELECT id, STR_TO_MAP('a=' || id || ';b;c=' || CHR(61), ';', '=') AS m, STR_TO_MAP('k:' || g)['k'] AS g FROM t"
        " WHERE g <> 'é'",
        "SELECT id, MAP {'a': id::VARCHAR, 'b': NULL, 'c': '='}, g FROM t WHERE g <> 'é'",
    ),
    "lambdas": Case(
        "SELECT id, MAP_FILTER(m, (k, v) -> v > 3) AS f, TRANSFORM_VALUES(m, (k, v) -> k || v) AS t,"
        " TRANSFORM_KEYS(m, (k, v) -> UPPER(k)) AS u FROM (SELECT id, MAP('x', k, 'y', id) AS m FROM t) v",
        "SELECT id, map_from_entries(list_filter(map_entries(m), lambda e: e.value > 3)), MAP {'x': 'x' || m['x'],"
        " 'y': 'y' || m['y']}, MAP {'X': m['x'], 'Y': m['y']} FROM (SELECT id, MAP {'x': k, 'y': id} AS m FROM t) v",
    ),
    "exploded": Case(
        "SELECT id, p, q FROM (SELECT id, CASE WHEN k > 3 THEN MAP('k', k, 'b', big) END AS m FROM t) v"
        " LATERAL VIEW EXPLODE(m) x AS p, q",
        "SELECT id, 'k', k FROM t WHERE k > 3 UNION ALL SELECT id, 'b', big FROM t WHERE k > 3",
    ),
    "exploded_by_name": Case(
        "SELECT g, key, MAX(value) AS n FROM (SELECT g, EXPLODE(MAP('k', k, 'id', id)) FROM t) v GROUP BY g, key",
        "SELECT g, key, MAX(value) FROM (SELECT g, 'k' AS key, k AS value FROM t UNION ALL SELECT g, 'id', id FROM t) v"
        " GROUP BY g, key",
    ),
    "exploded_or_not": Case(
        "SELECT id, p, q FROM (SELECT id, CASE WHEN k > 3 THEN MAP('k', k) WHEN k > 1 THEN MAP() END AS m FROM t) v"
        " LATERAL VIEW OUTER EXPLODE(m) x AS p, q",
        "SELECT id, CASE WHEN k > 3 THEN 'k' END, CASE WHEN k > 3 THEN k END FROM t",
    ),
    "exploded_with_places": Case(
        "SELECT id, POSEXPLODE(MAP('k', k, 'b', big)) AS (p, q, r) FROM t",
        "SELECT id, 0, 'k', k FROM t UNION ALL SELECT id, 1, 'b', big FROM t",
    ),
    "joined": Case(
        "SELECT a.id, b.m FROM t a JOIN (SELECT id, MAP('k', k) AS m FROM t) b ON a.k = b.m['k'] AND a.id < b.id",
        "SELECT a.id, MAP {'k': b.k} FROM t a JOIN t b ON a.k = b.k AND a.id < b.id",
    ),
    "kept": Case(
        "SELECT a.id, b.m FROM t a LEFT JOIN (SELECT id, MAP('k', k) AS m FROM t WHERE k > 3) b ON a.id = b.id",
        "SELECT a.id, b.m FROM t a LEFT JOIN (SELECT id, MAP {'k': k} AS m FROM t WHERE k > 3) b ON a.id = b.id",
    ),
    "united": Case(
        "SELECT id, MAP('k', k) AS m FROM t UNION ALL SELECT id, COALESCE(CASE WHEN k > 3 THEN MAP('k', k) END, MAP())"
        " FROM t",
        "SELECT id, MAP {'k': k} FROM t UNION ALL SELECT id, CASE WHEN k > 3 THEN MAP {'k': k} ELSE MAP {} END FROM t",
    ),
    "before": Case(
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id, m['k']) AS n FROM (SELECT DISTINCT id, g, k FROM t)"
        " w JOIN LATERAL (SELECT MAP('k', w.k) AS m) x",
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id, k NULLS FIRST)"
        " FROM (SELECT DISTINCT id, g, k FROM t)",
    ),
    "inside": Case(
        "SELECT id, STRUCT(MAP('k', k) AS m) AS s, ARRAY(MAP('g', g), NULL) AS a, MAP('a', ARRAY(k, big)) AS n,"
        " ARRAY(MAP('g', g))[0]['g'] AS g, TO_JSON(MAP('id', id)) AS j FROM t",
        "SELECT id, {'m': MAP {'k': k}}, [MAP {'g': g}, NULL], MAP {'a': [k, big]}, g, '{\"id\":' || id || '}' FROM t",
    ),
}
