"""The relations of the system catalog (T6.2.7, T7.1, T7.2.1, T8.1), and what is in them from the start.

Ids of predicates and expressions are digests of what they say, like the ids of nodes. So an equal predicate is the same
row wherever it is used, an id means the same in every catalog, and a catalog's content depends on the network alone.
"""

from __future__ import annotations

import re

from workbench.sql.functions.arrays.arrays import HAS_PLACE

VERSION = 31
"""Goes up when a table changes, the canonical form that ids come from, or what stored states must have.

From 2 on a catalog has all of a session.
"""

_PREDICATES = """
-- A comparison in triple-string canonical form (T6.2.1).
CREATE TABLE literals (
    id TEXT PRIMARY KEY, "left" TEXT NOT NULL, operator TEXT NOT NULL, "right" TEXT, type TEXT NOT NULL,
    left_json TEXT NOT NULL, right_json TEXT) WITHOUT ROWID;
CREATE INDEX literals_left ON literals ("left", operator);
CREATE TABLE or_predicates (id TEXT PRIMARY KEY, text TEXT NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE or_predicate_literals (
    or_predicate TEXT NOT NULL, position INTEGER NOT NULL, literal TEXT NOT NULL,
    PRIMARY KEY (or_predicate, position)) WITHOUT ROWID;
CREATE INDEX or_predicate_literals_literal ON or_predicate_literals (literal, or_predicate);
CREATE TABLE predicate_sets (id TEXT PRIMARY KEY, text TEXT NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE predicate_set_members (
    predicate_set TEXT NOT NULL, position INTEGER NOT NULL, or_predicate TEXT NOT NULL,
    PRIMARY KEY (predicate_set, position)) WITHOUT ROWID;
CREATE INDEX predicate_set_members_member ON predicate_set_members (or_predicate, predicate_set);
-- Between which values an ORPred lets an expression be, and between which a PredSet says it is (ranges.py).
CREATE TABLE or_predicate_ranges (
    subject TEXT NOT NULL, low NOT NULL, high NOT NULL, or_predicate TEXT NOT NULL,
    PRIMARY KEY (subject, low, high, or_predicate)) WITHOUT ROWID;
CREATE INDEX or_predicate_ranges_of ON or_predicate_ranges (or_predicate);
CREATE TABLE predicate_set_ranges (
    subject TEXT NOT NULL, low NOT NULL, high NOT NULL, predicate_set TEXT NOT NULL,
    PRIMARY KEY (subject, low, high, predicate_set)) WITHOUT ROWID;
CREATE INDEX predicate_set_ranges_of ON predicate_set_ranges (predicate_set);
"""

_NODES = """
CREATE TABLE nodes (id TEXT PRIMARY KEY, kind TEXT NOT NULL, position INTEGER NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE sources (
    node TEXT PRIMARY KEY, stream TEXT NOT NULL, owner TEXT NOT NULL, append_only INTEGER NOT NULL) WITHOUT ROWID;
-- The constraints that plans rely on, of the sources that have some.
CREATE TABLE source_constraints (node TEXT PRIMARY KEY, constraints TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE selection_topology (
    node TEXT PRIMARY KEY, direct_parent TEXT NOT NULL, direct_predicates TEXT NOT NULL,
    svoa TEXT NOT NULL, svoa_predicates TEXT NOT NULL, jvoa_left TEXT, jvoa_right TEXT) WITHOUT ROWID;
CREATE INDEX selection_topology_direct_parent ON selection_topology (direct_parent);
CREATE INDEX selection_topology_svoa ON selection_topology (svoa, svoa_predicates);
CREATE INDEX selection_topology_svoa_predicates ON selection_topology (svoa_predicates);
CREATE INDEX selection_topology_direct_predicates ON selection_topology (direct_predicates);
CREATE TABLE join_topology (
    node TEXT PRIMARY KEY, direct_parent_left TEXT NOT NULL, direct_parent_right TEXT NOT NULL,
    direct_predicates TEXT NOT NULL, jvoa_left TEXT NOT NULL, jvoa_right TEXT NOT NULL, jvoa_predicates TEXT NOT NULL,
    anchor TEXT NOT NULL, leaves_left INTEGER NOT NULL, leaves_right INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX join_topology_jvoa ON join_topology (jvoa_left, jvoa_right, jvoa_predicates);
CREATE INDEX join_topology_jvoa_predicates ON join_topology (jvoa_predicates);
CREATE INDEX join_topology_direct_predicates ON join_topology (direct_predicates);
CREATE TABLE group_expressions (id TEXT PRIMARY KEY, text TEXT NOT NULL, type TEXT NOT NULL, json TEXT NOT NULL)
    WITHOUT ROWID;
-- The dimension set of an aggregate, and that of the aggregate it is computed from by vertical expansion.
CREATE TABLE group_sets (
    node TEXT NOT NULL, position INTEGER NOT NULL, expression TEXT NOT NULL, PRIMARY KEY (node, position))
    WITHOUT ROWID;
CREATE INDEX group_sets_expression ON group_sets (expression, node);
CREATE TABLE finer_group_sets (
    node TEXT NOT NULL, position INTEGER NOT NULL, expression TEXT NOT NULL, PRIMARY KEY (node, position))
    WITHOUT ROWID;
CREATE INDEX finer_group_sets_expression ON finer_group_sets (expression, node);
CREATE TABLE aggregate_topology (
    node TEXT PRIMARY KEY, origin_root TEXT NOT NULL, origin_predicates TEXT NOT NULL, vertical INTEGER NOT NULL)
    WITHOUT ROWID;
-- The nodes whose common rows are grouped, or the one with finer groups.
CREATE TABLE aggregate_parents (
    node TEXT NOT NULL, position INTEGER NOT NULL, direct_parent TEXT NOT NULL, PRIMARY KEY (node, position))
    WITHOUT ROWID;
CREATE INDEX aggregate_topology_origin ON aggregate_topology (origin_root, origin_predicates);
CREATE INDEX aggregate_topology_origin_predicates ON aggregate_topology (origin_predicates);
CREATE TABLE aggregate_statistics (
    node TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (node, json)) WITHOUT ROWID;
CREATE TABLE set_operation_nodes (node TEXT PRIMARY KEY, operator TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE window_topology (
    node TEXT PRIMARY KEY, direct_parent TEXT NOT NULL, origin_root TEXT NOT NULL, origin_predicates TEXT NOT NULL,
    within TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX window_topology_origin ON window_topology (origin_root, origin_predicates);
CREATE INDEX window_topology_origin_predicates ON window_topology (origin_predicates);
CREATE INDEX window_topology_within ON window_topology (within);
-- bound: what holds for every row: a rank is at most the largest that is asked for. "over": partition and order.
CREATE TABLE analytic_topology (
    node TEXT PRIMARY KEY, direct_parent TEXT NOT NULL, origin_root TEXT NOT NULL, origin_predicates TEXT NOT NULL,
    bound TEXT NOT NULL, "over" TEXT NOT NULL, over_json TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX analytic_topology_origin ON analytic_topology (origin_root, origin_predicates);
CREATE INDEX analytic_topology_origin_predicates ON analytic_topology (origin_predicates);
CREATE INDEX analytic_topology_bound ON analytic_topology (bound);
CREATE TABLE analytic_functions (
    node TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (node, json)) WITHOUT ROWID;
-- kind: 'veryorig' (root and predicate set), or 'direct' (a node), or 'base' (a node that stands for several branches);
-- "expressions" give the columns c1 … cn.
CREATE TABLE set_operation_branches (
    node TEXT NOT NULL, kind TEXT NOT NULL, position INTEGER NOT NULL, root TEXT NOT NULL, predicates TEXT,
    expressions TEXT NOT NULL, PRIMARY KEY (node, kind, position)) WITHOUT ROWID;
-- How the steps of recursive queries follow from one another.
CREATE TABLE recursion_rules (node TEXT PRIMARY KEY, rules TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX set_operation_branches_root ON set_operation_branches (root, predicates);
CREATE INDEX set_operation_branches_predicates ON set_operation_branches (predicates);
"""

_QUERIES = """
-- window: imposed on the rows when the answer is read, as in the WindowsTable of PSoup 3.2; ordering: the keys of
-- ORDER BY over the root's columns.
CREATE TABLE queries (
    name TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, root TEXT NOT NULL, predicates TEXT NOT NULL,
    window TEXT NOT NULL, ordering TEXT NOT NULL, sql TEXT NOT NULL, dialect TEXT NOT NULL, logical TEXT NOT NULL)
    WITHOUT ROWID;
CREATE INDEX queries_predicates ON queries (predicates);
CREATE INDEX queries_window ON queries (window);
CREATE TABLE query_outputs (
    query TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL,
    json TEXT NOT NULL, PRIMARY KEY (query, position)) WITHOUT ROWID;
CREATE TABLE query_nodes (
    query TEXT NOT NULL, position INTEGER NOT NULL, node TEXT NOT NULL, PRIMARY KEY (query, position)) WITHOUT ROWID;
CREATE INDEX query_nodes_node ON query_nodes (node);
CREATE TABLE serves (node TEXT NOT NULL, query TEXT NOT NULL, PRIMARY KEY (node, query)) WITHOUT ROWID;
CREATE INDEX serves_query ON serves (query);
-- reader: a query, or an operator with one row for each side (join) or branch (set operator).
CREATE TABLE reads (
    kind TEXT NOT NULL, reader TEXT NOT NULL, side INTEGER NOT NULL, root TEXT NOT NULL, predicate_set TEXT NOT NULL,
    PRIMARY KEY (reader, kind, side)) WITHOUT ROWID;
CREATE INDEX reads_root ON reads (root, predicate_set);
CREATE INDEX reads_predicate_set ON reads (predicate_set);
CREATE TABLE decisions (
    query TEXT NOT NULL, step INTEGER NOT NULL, node TEXT, rule TEXT, decision TEXT NOT NULL,
    operator GENERATED ALWAYS AS (json_extract(decision, '$.operator')),
    created GENERATED ALWAYS AS (json_extract(decision, '$.created')),
    cost GENERATED ALWAYS AS (json_extract(decision, '$.cost')),
    reason GENERATED ALWAYS AS (json_extract(decision, '$.reason')),
    PRIMARY KEY (query, step)) WITHOUT ROWID;
CREATE INDEX decisions_node ON decisions (node);
CREATE INDEX decisions_rule ON decisions (rule);
"""

_COLUMNS = """
-- side: of a join (0, 1) or branch of a set operator. The origin is the very original ancestor: the SVOA of a
-- selection, the JVOA of a join; join_root and join_column are the JVOA and its column for a selection below a join.
CREATE TABLE simple_columns (
    node TEXT NOT NULL, name TEXT NOT NULL, side INTEGER NOT NULL, type TEXT NOT NULL, direct_parent TEXT,
    direct_column TEXT, origin_root TEXT, origin_column TEXT, join_root TEXT, join_column TEXT,
    PRIMARY KEY (node, name, side)) WITHOUT ROWID;
CREATE INDEX simple_columns_origin ON simple_columns (origin_root, origin_column);
CREATE TABLE expression_columns (
    node TEXT NOT NULL, name TEXT NOT NULL, side INTEGER NOT NULL, type TEXT NOT NULL, direct_parent TEXT NOT NULL,
    direct_expression TEXT NOT NULL, origin_root TEXT NOT NULL, origin_expression TEXT NOT NULL,
    group_expression TEXT, PRIMARY KEY (node, name, side)) WITHOUT ROWID;
CREATE INDEX expression_columns_origin ON expression_columns (origin_root, origin_expression);
"""

_SESSION = """
-- How the session was made, and the number of its last commit.
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- Streams and tables; "arrived" rows of the log in "folder" have arrived, the first "history" of them as batch 0.
-- A batch brings "batch" rows, or those of "span" microseconds of event time.
-- gaps: rows before "arrived" that batches passed over, as "shed" says.
-- added: columns that its source had not when it was added; widened: those of other types than they had then.
-- constraints: what is declared of its rows, and which row broke it ("" where none did).
-- checksum: of the log's manifest.json, which has those of its other files; NULL where it was not computed.
CREATE TABLE streams (
    name TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, folder TEXT NOT NULL, is_table INTEGER NOT NULL,
    time TEXT, history INTEGER NOT NULL, batch INTEGER NOT NULL, arrived INTEGER NOT NULL,
    checksum INTEGER, span INTEGER, shed TEXT, gaps TEXT NOT NULL, added TEXT NOT NULL,
    widened TEXT NOT NULL, constraints TEXT NOT NULL) WITHOUT ROWID;
-- All versions of the analyst's functions; a name is the function's, "@" and its version. What their calls may take
-- (seconds, megabytes), how many arguments they take, and who added them.
CREATE TABLE user_functions (
    name TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, returns TEXT NOT NULL, python TEXT NOT NULL,
    pickled BLOB NOT NULL, seconds REAL NOT NULL, memory INTEGER NOT NULL, least INTEGER NOT NULL, most INTEGER,
    signature TEXT) WITHOUT ROWID;
CREATE TABLE user_aggregates (
    name TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, parameters TEXT NOT NULL, statistics TEXT NOT NULL,
    rule TEXT NOT NULL) WITHOUT ROWID;
-- What a name in FROM stands for, as it was bound when the view or query was registered.
CREATE TABLE views (name TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, logical TEXT NOT NULL) WITHOUT ROWID;
-- Queries as an analyst holds them, those that were disabled too; "queries" has the plans of those that run.
-- suspended: the batch after which a query was suspended; NULL while it runs. by_load: by live running.
CREATE TABLE registrations (
    name TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, sql TEXT NOT NULL, dialect TEXT NOT NULL,
    registered INTEGER NOT NULL, status TEXT NOT NULL, logical TEXT NOT NULL, results TEXT NOT NULL,
    windows TEXT NOT NULL, id TEXT NOT NULL, priority INTEGER NOT NULL, suspended INTEGER,
    by_load INTEGER NOT NULL, timezone TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE batches (
    batch INTEGER PRIMARY KEY, rows INTEGER NOT NULL, seconds REAL NOT NULL, arrived TEXT NOT NULL,
    changes TEXT NOT NULL, late_rows TEXT NOT NULL, cuts TEXT NOT NULL);
CREATE TABLE operator_timings (
    batch INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, rows_in INTEGER NOT NULL,
    rows_out INTEGER NOT NULL, seconds REAL NOT NULL, node_rows TEXT NOT NULL, alone TEXT NOT NULL,
    together REAL NOT NULL, tests TEXT NOT NULL, PRIMARY KEY (batch, position)) WITHOUT ROWID;
"""

_MANIFEST = """
-- The manifest: the files that the last commit names. Whatever else lies in the folder is left over.
CREATE TABLE lineage_bits (
    tree TEXT NOT NULL, node TEXT NOT NULL, bit INTEGER NOT NULL, PRIMARY KEY (tree, node)) WITHOUT ROWID;
-- Entries of changelogs: the last batch of each; whole: all rows of the tree instead of changes.
CREATE TABLE log_entries (
    tree TEXT NOT NULL, entry INTEGER NOT NULL, batch INTEGER NOT NULL, whole INTEGER NOT NULL,
    PRIMARY KEY (tree, entry)) WITHOUT ROWID;
-- part: 'arrived' (the owner is a stream), or of a tree 'rows', 'state' or 'log'; "run": what was written together.
-- buckets: those that rows may be of, as bits; -1: all. Where groups are hashed otherwise now, they mean nothing.
CREATE TABLE segments (
    owner TEXT NOT NULL, part TEXT NOT NULL, run INTEGER NOT NULL, position INTEGER NOT NULL, file TEXT NOT NULL,
    rows INTEGER NOT NULL, bytes INTEGER NOT NULL, checksum INTEGER,
    buckets INTEGER NOT NULL DEFAULT -1, hashing INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, part, run, position)) WITHOUT ROWID;
-- Trees whose expired rows were removed: the bits and times of the rows that are certainly there.
CREATE TABLE retained (tree TEXT PRIMARY KEY, bounds TEXT NOT NULL) WITHOUT ROWID;
-- Trees that later batches have passed over, since only suspended queries read them: the batch that their rows are of.
CREATE TABLE standing (tree TEXT PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID;
-- The event-time vector after the history, batch 0, and after each batch.
CREATE TABLE event_times (batch INTEGER PRIMARY KEY, vector TEXT NOT NULL);
"""

DERIVED = """
-- The nodes that each node reads, by position, of whatever kind they are.
CREATE TEMP VIEW node_parents (node, position, parent) AS
    SELECT node, 0, direct_parent FROM selection_topology
    UNION ALL SELECT node, 0, direct_parent_left FROM join_topology
    UNION ALL SELECT node, 1, direct_parent_right FROM join_topology
    UNION ALL SELECT node, position, direct_parent FROM aggregate_parents
    UNION ALL SELECT node, 0, direct_parent FROM window_topology
    UNION ALL SELECT node, 0, direct_parent FROM analytic_topology
    UNION ALL SELECT node, position, root FROM set_operation_branches WHERE kind <> 'veryorig';
-- Sort ids (T9.3): by join_level, then sequence_id, parents come before children. The join level is the number of
-- joins and set operators on the longest way from a stream; the sequence id has 1000 for each node after the last one.
CREATE TEMP VIEW sort_ids (node, kind, join_level, sequence_id) AS
    WITH RECURSIVE reached (node, join_level) AS (
        SELECT id, 0 FROM nodes WHERE kind = 'source'
        UNION SELECT p.node, r.join_level + (n.kind IN ('join', 'set operator'))
            FROM reached r JOIN node_parents p ON p.parent = r.node JOIN nodes n ON n.id = p.node),
    placed (node, sequence_id) AS (
        SELECT id, 0 FROM nodes WHERE kind IN ('source', 'join', 'set operator')
        UNION SELECT p.node, s.sequence_id + 1000
            FROM placed s JOIN node_parents p ON p.parent = s.node JOIN nodes n ON n.id = p.node
            WHERE n.kind NOT IN ('join', 'set operator'))
    SELECT n.id, n.kind, max(r.join_level), max(s.sequence_id) FROM nodes n
        JOIN reached r ON r.node = n.id JOIN placed s ON s.node = n.id GROUP BY n.id, n.kind;
-- AggreRules and AggreBasics (T4.2, Tables 4.1 and 4.2): how aggregates follow from history (H) and news (N), and from
-- finer groups, the analyst's among them (aggregate_relations.py).
CREATE TEMP VIEW aggregate_rules (function, "over", category, incremental, vertical, reason) AS
    SELECT r.value ->> 0, r.value ->> 1, r.value ->> 2, r.value ->> 3, r.value ->> 4, r.value ->> 5
        FROM json_each(aggregate_relations((
            SELECT json_group_array(json_array(name, json(statistics), rule)) FROM user_aggregates)), '$.rules') r;
CREATE TEMP VIEW aggregate_basics (function, "over", statistic, stat_id, kept) AS
    SELECT b.value ->> 0, b.value ->> 1, b.value ->> 2, b.value ->> 3, b.value ->> 4
        FROM json_each(aggregate_relations((
            SELECT json_group_array(json_array(name, json(statistics), rule)) FROM user_aggregates)), '$.basics') b;
-- What is declared of the rows of streams, and which row broke it (T11.1.1).
CREATE TEMP VIEW constraints (stream, kind, "constraint", broken) AS
    SELECT s.name, c.value ->> '$.constraint.is', c.value ->> 'text', c.value ->> 'broken'
        FROM streams s, json_each(s.constraints) c;
-- The checkpoint that a session is opened from (T3.6), which is its last commit: its number and batch, and what it has.
CREATE TEMP VIEW checkpoints ("commit", batch, nodes, queries, rows, bytes) AS
    SELECT CAST(s.value AS INTEGER), (SELECT coalesce(max(batch), 0) FROM batches), (SELECT count(*) FROM nodes),
        (SELECT count(*) FROM queries), (SELECT coalesce(sum(rows), 0) FROM segments),
        (SELECT coalesce(sum(bytes), 0) FROM segments)
    FROM settings s WHERE s.name = 'commits';
"""
"""Relations that follow from the others; each connection has them, and no file."""

_PLANNED = _PREDICATES + _NODES + _QUERIES + _COLUMNS + _MANIFEST
"""The relations that follow from the streams, the queries and the batches: they can be planned and computed anew."""
DDL = _PLANNED + _SESSION

PLAN_ANEW = "plan anew"
"""The setting that says that a catalog has lost what is planned, and is to get it when its session is opened."""


def _planned_anew() -> str:
    """SQL that empties the relations of ``_PLANNED`` and gives them their present columns."""
    names = [*re.findall(r"CREATE TABLE (\w+)", _PLANNED), "pruned"]
    drops = " ".join(f"DROP TABLE IF EXISTS {name};" for name in names)
    return f"{drops} {_PLANNED} INSERT OR REPLACE INTO settings VALUES ('{PLAN_ANEW}', 'true');"


def _planned_anew_with(*parts: str) -> str:
    """SQL that empties the relations of ``_PLANNED`` where the JSON of a query has one of some parts."""
    tests = " OR ".join(f"logical LIKE '%{part}%'" for part in parts)
    found = f"EXISTS (SELECT 1 FROM registrations WHERE {tests})"
    told = f"EXISTS (SELECT 1 FROM settings WHERE name = '{PLAN_ANEW}')"
    tables = re.findall(r"CREATE TABLE (\w+)", _PLANNED)
    return f"INSERT OR REPLACE INTO settings SELECT '{PLAN_ANEW}', 'true' WHERE {found}; " + " ".join(
        f"DELETE FROM {table} WHERE {told};" for table in tables
    )


MIGRATIONS = {
    2: "ALTER TABLE batches ADD COLUMN set_aside TEXT NOT NULL DEFAULT '{}';",
    3: "ALTER TABLE operator_timings ADD COLUMN alone TEXT NOT NULL DEFAULT '{}';"
    " ALTER TABLE operator_timings ADD COLUMN together REAL NOT NULL DEFAULT 0;",
    # Functions got versions, limits and signatures, and logs checksums: those of older versions have none.
    4: "UPDATE user_functions SET name = name || '@1';"
    " ALTER TABLE user_functions ADD COLUMN seconds REAL NOT NULL DEFAULT 10;"
    " ALTER TABLE user_functions ADD COLUMN memory INTEGER NOT NULL DEFAULT 1024;"
    " ALTER TABLE user_functions ADD COLUMN least INTEGER NOT NULL DEFAULT 0;"
    " ALTER TABLE user_functions ADD COLUMN most INTEGER;"
    " ALTER TABLE streams ADD COLUMN checksum INTEGER;"
    " ALTER TABLE user_functions ADD COLUMN signature TEXT;",
    # The JSON of expressions (``codec``) changed.
    5: "ALTER TABLE batches RENAME COLUMN set_aside TO late_rows;"
    " ALTER TABLE operator_timings RENAME COLUMN operator TO name;"
    " ALTER TABLE registrations ADD COLUMN id TEXT NOT NULL DEFAULT '';"
    " UPDATE registrations SET id = lower(hex(randomblob(16))),"
    " logical = present_json(logical), windows = present_json(windows);"
    " UPDATE views SET logical = present_json(logical);",
    # Ids of nodes, stored names, kinds of nodes and the parts of states changed until 18, which plans anew.
    **dict.fromkeys((6, 7, 11, 12, 13, 14, 15), ""),
    # Batches may be cut by event time.
    8: "ALTER TABLE streams ADD COLUMN span INTEGER;",
    # Batches may pass over rows.
    9: "ALTER TABLE streams ADD COLUMN shed TEXT; ALTER TABLE streams ADD COLUMN gaps TEXT NOT NULL DEFAULT '[]';"
    " ALTER TABLE batches ADD COLUMN cuts TEXT NOT NULL DEFAULT '{}';",
    # Queries got priorities, and can be suspended.
    10: "ALTER TABLE registrations ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;"
    " ALTER TABLE registrations ADD COLUMN suspended INTEGER;"
    " ALTER TABLE registrations ADD COLUMN by_load INTEGER NOT NULL DEFAULT 0;"
    " CREATE TABLE IF NOT EXISTS standing (tree TEXT PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID;",
    # Streams can get columns later.
    16: "ALTER TABLE streams ADD COLUMN added TEXT NOT NULL DEFAULT '[]';",
    # Queries got the time zone that they are bound in.
    17: "ALTER TABLE registrations ADD COLUMN timezone TEXT NOT NULL DEFAULT 'UTC';",
    # Sums and variances of DOUBLE are kept without rounding, which stored states lack.
    18: _planned_anew(),
    # Operators report what their tests did that call functions.
    19: "ALTER TABLE operator_timings ADD COLUMN tests TEXT NOT NULL DEFAULT '{}';",
    # Columns can get other types later.
    20: "ALTER TABLE streams ADD COLUMN widened TEXT NOT NULL DEFAULT '[]';",
    # The rules of aggregates follow from their declarations.
    21: "DROP TABLE IF EXISTS main.aggregate_rules;",
    # Segments can be parts of packs, which older versions cannot read.
    22: "",
    # Streams can have constraints.
    23: "ALTER TABLE streams ADD COLUMN constraints TEXT NOT NULL DEFAULT '[]';"
    " CREATE TABLE IF NOT EXISTS source_constraints (node TEXT PRIMARY KEY, constraints TEXT NOT NULL) WITHOUT ROWID;",
    # Recursive queries have rules.
    24: "CREATE TABLE IF NOT EXISTS recursion_rules (node TEXT PRIMARY KEY, rules TEXT NOT NULL) WITHOUT ROWID;",
    # Segments may have rows of some buckets alone; those of older versions have rows of any.
    # The relation may be one of this version already, where the session is planned anew.
    25: "ALTER TABLE segments RENAME TO older_segments;"
    + re.findall(r"CREATE TABLE segments .*?WITHOUT ROWID;", _MANIFEST, re.DOTALL)[0]
    + " INSERT INTO segments (owner, part, run, position, file, rows, bytes, checksum)"
    " SELECT owner, part, run, position, file, rows, bytes, checksum FROM older_segments; DROP TABLE older_segments;",
    # Event times are stored; without them they are computed of all rows.
    26: "CREATE TABLE IF NOT EXISTS event_times (batch INTEGER PRIMARY KEY, vector TEXT NOT NULL);",
    # Joins with the places of arrays store elements, and older ones the arrays.
    27: _planned_anew_with(f'"{HAS_PLACE}"'),
    # So do orders, which were of whole arrays.
    28: _planned_anew_with('"element_at"'),
    # Columns of segments can be runs, which older versions cannot read.
    29: "",
    # BIT_AND and its like are kept as sums, and statistics of DISTINCT values in parts that have other names.
    30: _planned_anew_with('"bit_and"', '"bit_or"', '"bit_xor"', '"distinct":true'),
}
"""SQL that makes a catalog of an older version one of the next; one of any other version is refused.

``present_json`` is a function of Python (``codec``)."""

PREDICATE_USES = (
    ("selection_topology", "direct_predicates"),
    ("selection_topology", "svoa_predicates"),
    ("join_topology", "direct_predicates"),
    ("join_topology", "jvoa_predicates"),
    ("aggregate_topology", "origin_predicates"),
    ("set_operation_branches", "predicates"),
    ("window_topology", "origin_predicates"),
    ("window_topology", "within"),
    ("analytic_topology", "origin_predicates"),
    ("analytic_topology", "bound"),
    ("queries", "predicates"),
    ("queries", "window"),
    ("reads", "predicate_set"),
)
"""The columns that refer to predicate sets, each with an index; a set that none refers to is removed."""
