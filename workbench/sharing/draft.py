"""The network while a query is folded into it: a working copy that is searched and changed, and then frozen.

Every change goes to the catalog at once, so that what comes later in the same query is searched like the rest. The
catalog's transaction undoes all of it if anything fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.catalog.catalog import Catalog
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Aggregate, Join, Node, NodeId, Selection, SetOperation, SetOperator, Source, Window
from workbench.network.root_columns import RootColumns
from workbench.optimizer.cardinality import Estimates
from workbench.options import Options
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType
from workbench.sql.predicates.canonical import canonical, widened
from workbench.sql.predicates.cnf import TRUE, OnSide, PredSet, rename_predicates
from workbench.sql.predicates.implication import normalized


@dataclass
class Draft:
    """A working copy of a network.

    Attributes:
        catalog: what is searched; written to with every change.
        options: switches of the session.
        estimates: sizes, from the data seen so far.
        nodes, queries: as they are now.
        touched: roots whose readers have changed.
        changed: joins that test something else than before.
        moved: nodes that are computed from other parents than before.
        abandoned: joins whose answers have gone to other joins. The query that is folded may be about to read them, so
            they stay until it is there.
        streams: columns of the streams that are read, by the id of the source.
    """

    catalog: Catalog
    options: Options
    estimates: Estimates
    nodes: dict[NodeId, Node]
    queries: dict[str, QueryPlan]
    touched: dict[NodeId, None] = field(default_factory=dict)
    changed: set[NodeId] = field(default_factory=set)
    moved: dict[NodeId, None] = field(default_factory=dict)
    abandoned: dict[NodeId, None] = field(default_factory=dict)
    streams: dict[NodeId, Mapping[str, DataType]] = field(default_factory=dict)

    @staticmethod
    def of(network: Network, catalog: Catalog, options: Options, estimates: Estimates) -> Draft:
        """A working copy of ``network``, which must be what the catalog holds."""
        estimates = estimates.over(nodes := dict(network.nodes))
        return Draft(catalog, options, estimates, nodes, dict(network.queries))

    def frozen(self) -> Network:
        """The network as it is now; its order, in which it is drawn, is that of the catalog."""
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
                self.moved[node.id] = None
            self.nodes[node.id] = node
            self.catalog.put_node(node)
        return node

    @property
    def columns(self) -> RootColumns:
        """The columns that roots have."""
        return RootColumns(self.nodes, self.streams)

    def remove(self, id_: NodeId) -> None:
        """Take a node away; nobody may read it."""
        del self.nodes[id_]
        self.touched.pop(id_, None)
        self.catalog.remove_node(id_)

    def remove_abandoned(self) -> None:
        """Take away the joins that have lost their readers, with their selections."""
        for id_ in self.abandoned:
            if not self.catalog.reads_of(id_):
                for selection in self.catalog.selections_of(id_):
                    self.remove(selection)
                self.remove(id_)
        self.abandoned.clear()

    def touch(self, *roots: NodeId) -> None:
        """Remember that who reads these roots has changed."""
        self.touched.update(dict.fromkeys(roots))

    def cover(self, root: NodeId) -> PredSet:
        """What holds for every row of a root, over its columns; only a join promises anything."""
        node = self.nodes[root]
        return over_join(node, node.predicates, self.options.canonicalize) if isinstance(node, Join) else TRUE

    def monotone(self, root: NodeId) -> bool:
        """Whether rows of the root are never taken back."""
        node = self.nodes[root]
        match node:
            case Aggregate() | Window():
                return False
            case SetOperation():
                return node.operator is SetOperator.UNION_ALL and all(self.monotone(b.read.root) for b in node.branches)
            case Join():
                return all(map(self.monotone, node.roots))
            case Source() | Selection():
                return True

    def selection(self, id_: NodeId) -> Selection:
        """A node that is a selection."""
        node = self.nodes[id_]
        assert isinstance(node, Selection)
        return node

    def join(self, id_: NodeId) -> Join:
        """A node that is a join."""
        node = self.nodes[id_]
        assert isinstance(node, Join)
        return node

    def aggregate(self, id_: NodeId) -> Aggregate:
        """A node that is an aggregate."""
        node = self.nodes[id_]
        assert isinstance(node, Aggregate)
        return node

    def form(self, predicates: PredSet) -> PredSet:
        """Predicates in the form in which they are stored and compared."""
        return formed(predicates, self.options.canonicalize)


@cached(100_000)
def formed(predicates: PredSet, canonicalize: bool) -> PredSet:
    """Canonical (T6.2.1) and without redundancy (T6.2.4); without arithmetic where that is switched off."""
    return normalized(canonical(predicates) if canonicalize else widened(predicates))


@cached(100_000)
def over_join(join: Join, predicates: PredSet, canonicalize: bool) -> PredSet:
    """Predicates over a join's roots as predicates over the join (a conversion of T6.2.6)."""
    return formed(rename_predicates(predicates, join.names.output), canonicalize)


def renamed(predicates: PredSet, source: int) -> PredSet:
    """Predicates over one root, as the ``source`` side of a join."""
    return rename_predicates(predicates, OnSide(source))
