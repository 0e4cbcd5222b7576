"""Nodes as rows of the topology relations, and back (T6.2.5, T6.2.7, T7.1, T7.2.1)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from workbench.catalog.codec import decode_once, encode
from workbench.catalog.database import Database
from workbench.catalog.predicate_index import Predicates
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Branch,
    Join,
    Node,
    NodeId,
    Read,
    Recursion,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.sql.algebra.analytic import AnalyticCall, Over
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Expression,
    column_name,
    digest,
    identity,
    reading_order,
    text,
)
from workbench.sql.constraints import Constraint
from workbench.sql.logical import RecursionRule

_VALUES = tuple[Expression, ...]
_TABLES = {
    "source": ("sources", "source_constraints"),
    "selection": ("selection_topology",),
    "join": ("join_topology",),
    "aggregate": ("aggregate_topology", "aggregate_parents", "group_sets", "finer_group_sets", "aggregate_statistics"),
    "set operator": ("set_operation_nodes", "set_operation_branches", "recursion_rules"),
    "window": ("window_topology",),
    "analytic": ("analytic_topology", "analytic_functions"),
}
_PREDICATES_OF = {
    "selection": "SELECT direct_predicates, svoa_predicates FROM selection_topology WHERE node = ?",
    "join": "SELECT direct_predicates, jvoa_predicates FROM join_topology WHERE node = ?",
    "aggregate": "SELECT origin_predicates FROM aggregate_topology WHERE node = ?",
    "set operator": "SELECT predicates FROM set_operation_branches WHERE node = ? AND kind = 'veryorig'",
    "window": "SELECT origin_predicates, within FROM window_topology WHERE node = ?",
    "analytic": "SELECT origin_predicates, bound FROM analytic_topology WHERE node = ?",
}
_GROUPS_OF = "SELECT json FROM {0} JOIN group_expressions ON id = expression WHERE node = ? ORDER BY position"
_UNUSED_GROUP = """DELETE FROM group_expressions WHERE id = ?
    AND NOT EXISTS (SELECT 1 FROM group_sets WHERE expression = group_expressions.id)
    AND NOT EXISTS (SELECT 1 FROM finer_group_sets WHERE expression = group_expressions.id)"""


class NodeRows:
    """Writes, reads and removes the rows of single nodes, and the expressions only they have."""

    def __init__(self, database: Database, predicates: Predicates) -> None:
        self._database = database
        self._predicates = predicates

    def insert(self, node: Node) -> None:
        """Add the rows of a node that has none."""
        put, add = self._predicates.put, self._database.insert
        match node:
            case Source():
                add("sources", [(node.id, node.stream, node.owner, node.append_only)])
                if node.constraints:
                    add("source_constraints", [(node.id, encode(node.constraints, tuple[Constraint, ...]))])
            case Selection():
                read, above = node.read, self._jvoa(node.read.root)
                forms = (node.parent, put(node.predicates), read.root, put(read.required))
                add("selection_topology", [(node.id, *forms, *above)])
            case Join():
                direct = (node.left, node.right, put(node.tested))
                origin = (*node.roots, put(node.predicates), node.anchor)
                add("join_topology", [(node.id, *direct, *origin, node.left_leaves, node.right_leaves)])
            case Aggregate():
                self._insert_aggregate(node)
            case SetOperation():
                self._insert_set_operation(node)
            case Window():
                forms = (node.parent, node.read.root, put(node.read.required), put(node.within))
                add("window_topology", [(node.id, *forms)])
            case Analytic():
                forms = (node.parent, node.read.root, put(node.read.required), put(node.bound))
                add("analytic_topology", [(node.id, *forms, node.over.text, encode(node.over, Over))])
                of_node = ((node.id, f.name, f.text, str(f.type), encode(f, AnalyticCall)) for f in node.in_order)
                add("analytic_functions", of_node)

    def read(self, id_: NodeId, kind: str) -> Node:
        """The node that the rows say."""
        match kind:
            case "source":
                stream, owner, append_only, constraints = self._row(
                    "SELECT stream, owner, append_only, coalesce(constraints, '[]') FROM sources"
                    " LEFT JOIN source_constraints USING (node) WHERE node = ?",
                    id_,
                )
                return Source(stream, owner, bool(append_only), decode_once(constraints, tuple[Constraint, ...]))
            case "selection":
                parent, tested, root, required = self._row(
                    "SELECT direct_parent, direct_predicates, svoa, svoa_predicates FROM selection_topology"
                    " WHERE node = ?",
                    id_,
                )
                return Selection(self._read(root, required), parent, self._predicates.predicate_set(tested))
            case "join":
                return self._read_join(id_)
            case "aggregate":
                return self._read_aggregate(id_)
            case "window":
                _, parent, root, required, within = self._row("SELECT * FROM window_topology WHERE node = ?", id_)
                return Window(self._read(root, required), self._predicates.predicate_set(within), parent)
            case "analytic":
                return self._read_analytic(id_)
            case _:
                return self._read_set_operation(id_)

    def predicate_sets(self, id_: NodeId, kind: str) -> set[str]:
        """Ids of the PredSets in a node's rows."""
        return set(chain.from_iterable(self._database.rows(_PREDICATES_OF[kind], id_))) if kind != "source" else set()

    def delete(self, id_: NodeId, kind: str) -> None:
        """Remove a node's rows; its PredSets stay, since they may be asked for again at once."""
        groups = self._group_ids(id_) if kind == "aggregate" else ()
        for table in _TABLES[kind]:
            self._database.run(f"DELETE FROM {table} WHERE node = ?", [id_])
        self._database.run_many(_UNUSED_GROUP, ((group,) for group in groups))

    def _row(self, sql: str, id_: NodeId) -> tuple[Any, ...]:
        row = self._database.first(sql, id_)
        assert row is not None
        return row

    def _read(self, root: NodeId, required: str) -> Read:
        return Read(root, self._predicates.predicate_set(required))

    def _jvoa(self, root: NodeId) -> tuple[NodeId | None, NodeId | None]:
        """The JVOAs of a selection: those of its root, when that is a join (Definition 6.16)."""
        row = self._database.first("SELECT jvoa_left, jvoa_right FROM join_topology WHERE node = ?", root)
        return (row[0], row[1]) if row else (None, None)

    def _read_join(self, id_: NodeId) -> Join:
        row = self._row("SELECT * FROM join_topology WHERE node = ?", id_)
        _, left, right, tested, left_root, right_root, predicates, anchor, *leaves = row
        sets = self._predicates.predicate_set
        return Join(left_root, right_root, anchor, sets(predicates), left, right, sets(tested), *leaves)

    def _read_analytic(self, id_: NodeId) -> Analytic:
        row = self._row("SELECT * FROM analytic_topology WHERE node = ?", id_)
        _, parent, root, required, bound, _, over = row
        functions = self._database.column("SELECT json FROM analytic_functions WHERE node = ?", id_)
        guaranteed = self._predicates.predicate_set(bound)
        calls = frozenset(decode_once(function, AnalyticCall) for function in functions)
        return Analytic(self._read(root, required), decode_once(over, Over), calls, parent, guaranteed)

    def _insert_aggregate(self, node: Aggregate) -> None:
        required = self._predicates.put(node.read.required)
        vertical = int(node.finer is not None)
        self._database.insert("aggregate_topology", [(node.id, node.read.root, required, vertical)])
        self._database.insert("aggregate_parents", ((node.id, i, parent) for i, parent in enumerate(node.parents)))
        self._insert_groups("group_sets", node.id, node.groups)
        self._insert_groups("finer_group_sets", node.id, node.finer or ())
        self._database.insert(
            "aggregate_statistics", (_statistic_row(node.id, s) for s in sorted(node.statistics, key=reading_order))
        )

    def _insert_groups(self, table: str, id_: NodeId, groups: Iterable[Expression]) -> None:
        rows = [(group_id(g), text(g), str(g.type), encode(g, Expression)) for g in groups]
        self._database.insert("group_expressions", rows, missing=True)
        self._database.insert(table, ((id_, position, row[0]) for position, row in enumerate(rows)))

    def _read_aggregate(self, id_: NodeId) -> Aggregate:
        row = self._row("SELECT * FROM aggregate_topology WHERE node = ?", id_)
        _, root, required, vertical = row
        parents = self._database.column(
            "SELECT direct_parent FROM aggregate_parents WHERE node = ? ORDER BY position", id_
        )
        statistics = self._database.column("SELECT json FROM aggregate_statistics WHERE node = ?", id_)
        return Aggregate(
            self._read(root, required),
            self._groups("group_sets", id_),
            frozenset(decode_once(statistic, AggregateCall) for statistic in statistics),
            tuple(parents),
            self._groups("finer_group_sets", id_) if vertical else None,
        )

    def _groups(self, table: str, id_: NodeId) -> tuple[Expression, ...]:
        return tuple(decode_once(group, Expression) for group in self._database.column(_GROUPS_OF.format(table), id_))

    def _group_ids(self, id_: NodeId) -> list[str]:
        return self._database.column(
            "SELECT expression FROM group_sets WHERE node = ? UNION SELECT expression FROM finer_group_sets"
            " WHERE node = ?",
            id_,
            id_,
        )

    def _insert_set_operation(self, node: SetOperation) -> None:
        self._database.insert("set_operation_nodes", [(node.id, str(node.operator))])
        origin = (
            (
                node.id,
                "veryorig",
                i,
                b.read.root,
                self._predicates.put(b.read.required),
                encode(b.values, _VALUES),
            )
            for i, b in enumerate(node.branches)
        )
        direct = (
            (
                node.id,
                "base" if parent == node.base else "direct",
                i,
                parent,
                None,
                encode(values, _VALUES),
            )
            for i, (parent, values) in enumerate(node.direct)
        )
        self._database.insert("set_operation_branches", chain(origin, direct))
        if isinstance(node, Recursion):
            self._database.insert("recursion_rules", [(node.id, encode(node.rules, tuple[RecursionRule, ...]))])

    def _read_set_operation(self, id_: NodeId) -> SetOperation:
        (operator,) = self._row("SELECT operator FROM set_operation_nodes WHERE node = ?", id_)
        rows = self._database.rows(
            "SELECT kind, root, predicates, expressions FROM set_operation_branches WHERE node = ? ORDER BY position",
            id_,
        )
        branches = tuple(
            Branch(self._read(r, required), decode_once(v, _VALUES))
            for kind, r, required, v in rows
            if kind == "veryorig"
        )
        direct = tuple((parent, decode_once(values, _VALUES)) for kind, parent, _, values in rows if kind != "veryorig")
        if rules := self._database.column("SELECT rules FROM recursion_rules WHERE node = ?", id_):
            decoded = decode_once(rules[0], tuple[RecursionRule, ...])
            return Recursion(SetOperator(operator), branches, direct, rules=decoded)
        base = next((parent for kind, parent, *_ in rows if kind == "base"), None)
        return SetOperation(SetOperator(operator), branches, direct, base)


def group_id(group: Expression) -> str:
    """Digest of a group expression with its types."""
    return digest(identity(group), 16)


def _statistic_row(id_: NodeId, statistic: AggregateCall) -> tuple[object, ...]:
    return (id_, column_name(statistic), text(statistic), str(statistic.type), encode(statistic, AggregateCall))
