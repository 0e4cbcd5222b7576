"""The network while a query is registered or dropped: a working copy that passes search and change, and then freeze.

Every change goes to the catalog at once, so that later parts of the same query are searched like the rest. The
catalog's transaction undoes all of it if anything fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from workbench.catalog.catalog import Catalog, QueryText
from workbench.network.network import Network, QueryPlan, depths, monotone_roots, root_of, roots_read
from workbench.network.nodes import Analytic, Join, Node, NodeId, Selection
from workbench.network.root_columns import RootColumns
from workbench.network.view_names import UNNAMED, ViewNames
from workbench.network.wording import Wording
from workbench.optimizer.cardinality import Estimates
from workbench.options import Options
from workbench.sharing.decisions import Record
from workbench.sql.algebra.expressions import Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType
from workbench.sql.constraints import StreamConstraints
from workbench.sql.predicates.canonical import canonical, canonical_expression, without_overflow
from workbench.sql.predicates.cnf import TRUE, OnSide, PredSet, rename_predicates
from workbench.sql.predicates.implication import normalized

N = TypeVar("N", bound=Node)


@dataclass
class Draft:
    """A working copy of a network.

    Attributes:
        before: the network before the change.
        catalog: what is searched; written to with every change.
        options: switches of the session.
        estimates: sizes, from the data seen so far.
        owner: the query that is registered, which owns what it may not share; empty while queries are dropped.
        nodes, queries: as they are now.
        constraints: those that hold of the rows of each stream.
        views: what the columns of views are called in texts.
        record: the decisions taken.
        dirty_roots: roots whose readers have changed, so that their trees must be arranged again.
        retested: joins that test something else than before.
        reconnected: nodes that are computed from other parents than before.
        abandoned: joins whose queries were rerouted to other joins. The query that is registered may come to read them,
            so they stay until it is translated.
        stream_columns: columns of the streams that are read, by the id of the source.
    """

    before: Network
    catalog: Catalog
    options: Options
    estimates: Estimates
    owner: str
    nodes: dict[NodeId, Node]
    queries: dict[str, QueryPlan]
    constraints: StreamConstraints
    views: ViewNames = UNNAMED
    record: Record = field(default_factory=Record)
    dirty_roots: dict[NodeId, None] = field(default_factory=dict)
    retested: set[NodeId] = field(default_factory=set)
    reconnected: dict[NodeId, None] = field(default_factory=dict)
    abandoned: dict[NodeId, None] = field(default_factory=dict)
    stream_columns: dict[NodeId, Mapping[str, DataType]] = field(default_factory=dict)

    @property
    def wording(self) -> Wording:
        """The names of nodes and columns in texts for an analyst."""
        return Wording(self.nodes, self.views)

    @staticmethod
    def of(
        network: Network,
        catalog: Catalog,
        options: Options,
        estimates: Estimates,
        owner: str = "",
        constraints: StreamConstraints = MappingProxyType({}),
        views: ViewNames = UNNAMED,
    ) -> Draft:
        """A working copy of ``network``, which must be what the catalog holds."""
        nodes, queries = dict(network.nodes), dict(network.queries)
        return Draft(network, catalog, options, estimates.over(nodes), owner, nodes, queries, constraints, views)

    def frozen(self) -> Network:
        """The present network, in the order of the catalog, in which it is drawn."""
        network = Network(self.nodes, self.queries)
        if list(network.nodes) != list(self.nodes):
            self.catalog.put_order(network.nodes)
        return network

    def put(self, node: Node) -> Node:
        """Add a node, or give it another topology.

        Raises:
            ValueError: it reads columns that its roots do not have.
        """
        present = self.nodes.get(node.id)
        if present != node:
            self.columns.check_node(node)
            if present is not None and present.parents != node.parents:
                self.reconnected[node.id] = None
            self.nodes[node.id] = node
            self.catalog.put_node(node)
        return node

    def find_or_put(self, node: N) -> N:
        """The existing node with this id, with its topology; if there is none, this node is added."""
        present = self.nodes.get(node.id)
        if isinstance(present, type(node)):
            return present
        self.put(node)
        return node

    def remove(self, id_: NodeId) -> None:
        """Take a node without readers away."""
        del self.nodes[id_]
        self.dirty_roots.pop(id_, None)
        self.catalog.remove_node(id_)

    def add_query(self, plan: QueryPlan, text: QueryText) -> None:
        """Add a query that reads a root; which nodes it reads is settled when selections are placed."""
        self.queries[plan.name] = plan
        self.catalog.put_query(plan, text)
        self.mark_dirty(plan.read.root)

    def remove_query(self, name: str) -> None:
        """Take a query away; its nodes stay."""
        self.mark_dirty(self.queries.pop(name).read.root)
        self.catalog.remove_query(name)

    def node(self, kind: type[N], id_: NodeId) -> N:
        """A node that is known to be of a kind."""
        node = self.nodes[id_]
        assert isinstance(node, kind)
        return node

    @property
    def columns(self) -> RootColumns:
        """The columns that roots have."""
        return RootColumns(self.nodes, self.stream_columns)

    def mark_dirty(self, *roots: NodeId) -> None:
        """Remember that the readers of these roots have changed."""
        self.dirty_roots.update(dict.fromkeys(roots))

    def dirty_parents_first(self) -> list[NodeId]:
        """The dirty roots, those that others read before these."""
        return sorted(self.dirty_roots, key=depths(self.nodes, self.dirty_roots).__getitem__)

    def guaranteed(self, root: NodeId) -> PredSet:
        """The predicates that hold for every row of a root, over its columns; of joins and bounded analytic nodes."""
        node = self.nodes[root]
        if isinstance(node, Analytic):
            return node.bound
        return over_join(node, node.predicates, self.options.canonicalize) if isinstance(node, Join) else TRUE

    def monotone(self, root: NodeId) -> bool:
        """Whether rows of the root are never retracted."""
        return monotone_roots(self.nodes, [root])[root]

    def stored(self, predicates: PredSet) -> PredSet:
        """Predicates in the form in which they are stored and compared."""
        return stored_form(predicates, self.options.canonicalize)

    def stored_expression(self, expression: Expression) -> Expression:
        """An expression in the form in which it is stored and compared."""
        return canonical_expression(expression) if self.options.canonicalize else expression


def remove_unneeded(draft: Draft) -> None:
    """Remove exactly the nodes that no query needs (T11.1.2), and mark the roots they read.

    A root is needed in its very original form: what it happens to be computed from now can be replaced.
    """
    nodes = draft.nodes
    needed = set(roots_read(nodes, [plan.read.root for plan in draft.queries.values()]))
    gone = [id_ for id_ in nodes if root_of(nodes, id_) not in needed]
    roots_gone = {id_ for id_ in gone if not isinstance(nodes[id_], Selection)}
    for id_ in gone:
        draft.mark_dirty(*(read.root for read in nodes[id_].reads if read.root in needed))
    for id_ in reversed(gone):
        draft.remove(id_)
    # What was computed from an aggregate or set operator that is gone must be computed from something else.
    draft.mark_dirty(*(id_ for id_, node in nodes.items() if roots_gone.intersection(node.parents)))


@cached(100_000)
def stored_form(predicates: PredSet, canonicalize: bool) -> PredSet:
    """Canonical (T6.2.1) and without redundancy (T6.2.4); without arithmetic where that is switched off."""
    return normalized(canonical(predicates) if canonicalize else without_overflow(predicates))


@cached(100_000)
def over_join(join: Join, predicates: PredSet, canonicalize: bool) -> PredSet:
    """Predicates over a join's roots as predicates over the join (a conversion of T6.2.6)."""
    return stored_form(rename_predicates(predicates, join.names.output), canonicalize)


def on_side(predicates: PredSet, side: int) -> PredSet:
    """Rewrite predicates over one root as predicates over one side of a join."""
    return rename_predicates(predicates, OnSide(side))
