"""The query network as an analyst sees it: each node with its kind, its SQL and the queries it serves.

A view is a snapshot: it shows a network and the last report, and does not follow later batches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from workbench.errors import QueryError, nearest
from workbench.errors.public_api import public_api
from workbench.errors.unknown_attributes import TellsNames
from workbench.explain.dot import Shape, to_dot
from workbench.explain.node_view import SYMBOLS, NodeView, NodeViews, node_view
from workbench.explain.portable.views import network_to_sql
from workbench.explain.text import counted
from workbench.network.network import Network, checked_query, streams_of_work, working_nodes
from workbench.network.nodes import Aggregate, Columns, Node, NodeId
from workbench.network.projection import carried_columns, computed_columns
from workbench.network.view_names import UNNAMED, ViewNames
from workbench.network.wording import Wording
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.algebra.expressions import Column, column_name

SELECTION_WEIGHTS = (5, 4, 3, 2, 1)
"""Weight of a selection by join level, S0 to S4 of T Table 10.7; deeper ones weigh as the last."""

JOIN_WEIGHTS = (16, 8, 4, 2)
"""Weight of a join by join level from 1, J1 to J4 of T Table 10.7; deeper ones weigh as the last."""


@public_api
class NetworkView(TellsNames):
    """``session.network``: the network's nodes and edges, its weighted size and its drawing.

    Args:
        network: the network as it is now.
        reports: reports of the batches run so far; the drawing shows rows and times of the last.
        views: what the columns of views are called.

    Example:
        >>> from workbench.network.nodes import Source
        >>> fed = Source("fed")
        >>> [(node.kind, node.sql) for node in NetworkView(Network({fed.id: fed})).nodes]
        [('source', 'SELECT * FROM fed')]
    """

    def __init__(self, network: Network, reports: Sequence[Any] = (), views: ViewNames = UNNAMED) -> None:
        self._network, self._views = network, views
        self._last = reports[-1] if reports else None

    @cached_property
    def nodes(self) -> NodeViews:
        """All nodes, parents before children; by the name of a stream its source, and by an id its node."""
        return NodeViews(
            node_view(self._network, self._computed(node), self._wording) for node in self._network.nodes.values()
        )

    @cached_property
    def edges(self) -> tuple[tuple[NodeId, NodeId], ...]:
        """Pairs of parent id and child id; a self-join's parent appears twice, once for each side."""
        return tuple((parent, node.id) for node in self.nodes for parent in node.parents)

    @property
    def network(self) -> Network:
        """The network as data; batches do not change it."""
        return self._network

    @property
    def results(self) -> Mapping[str, tuple[NodeId, ...]]:
        """The nodes at which each query's answer is found, by the query's name: the rows that all of them have."""
        return {name: plan.nodes for name, plan in self._network.queries.items() if checked_query(name) == name}

    @property
    def last_report(self) -> Any | None:
        """The ``BatchReport`` the drawing shows, ``None`` before the first batch."""
        return self._last

    def node(self, id_: NodeId) -> NodeView:
        """One node by id.

        Raises:
            QueryError: no query has that name.
        """
        if id_ not in self._by_id:
            raise QueryError(f"there is no node {id_}", hint=nearest(id_, self._by_id))
        return self._by_id[id_]

    def columns(self, id_: NodeId) -> Columns:
        """Names and types of the columns that are stored of a node's rows, which are columns of its local tree."""
        root = self.node(id_).root
        carried, called = self._carried[root], self._wording.columns(root)
        names = unique_names([called(Column(name, type_)) for name, type_ in carried.items()])
        return dict(zip(names, carried.values(), strict=True))

    def ancestors(self, query: str) -> frozenset[NodeId]:
        """Ids of all nodes a query's answer is computed by.

        Raises:
            QueryError: there is no such query.
        """
        self._known(query)
        return self._network.ancestors(self.results[query])

    def _known(self, query: str | None) -> None:
        if query is not None and query not in self.results:
            known = f"queries: {', '.join(self.results)}" if self.results else "there are none yet"
            raise QueryError(f"there is no query {query}", hint=nearest(query, self.results) or known)

    def work(self, query: str | None = None) -> frozenset[NodeId]:
        """Ids of the nodes that do the work of a query, or of all: those that are counted.

        A stream is no work, nor are the nodes that make rows of constants, as the places of arrays and VALUES, and
        those that watch over a limit of a query.

        Raises:
            QueryError: there is no such query.
        """
        self._known(query)
        nodes = [id_ for name, ids in self.results.items() if query in (None, name) for id_ in ids]
        return working_nodes(self._network.nodes, nodes)

    def weighted_size(self) -> int:
        """Weighted query network size (T10.4.4, Table 10.7): selections and joins, weighted by join level.

        The table weighs only these two, so sources, aggregates and set operators count nothing.
        """
        return sum(_weight(node) for node in self.nodes)

    def to_dot(
        self,
        query: str | None = None,
        full: bool = False,
        focus: Collection[str] | None = None,
        shape: Shape = Shape.WIDE,
    ) -> str:
        """The drawing as DOT text; see :func:`workbench.explain.dot.to_dot`."""
        return to_dot(self, query=query, full=full, focus=focus, shape=shape)

    def to_sql(self, dialect: str = "duckdb", queries: Collection[str] | None = None) -> str:
        """The network as views of another database: one for each node, in order, and one under each query's name.

        The streams are tables there, with the columns that they have here. The views give the same answers over the
        same rows; a DOUBLE may differ in its last bits, since a database sums in the order of its rows. A value that
        overflows is NULL in ``duckdb`` and ``spark``, as here, and an error in ``postgres`` and ``materialize``.

        Args:
            dialect: ``duckdb``, ``postgres``, ``materialize``, or ``spark`` for its declarative pipelines.
            queries: those to be written, with the nodes that they need; ``None``: all.

        Raises:
            QueryError: there is no such query.
            UnsupportedError: it is not written for that database; or a query cannot be, since one of its operators has
                other values there: the message names both.

        Example:
            >>> print(session.network.to_sql("postgres"))  # doctest: +SKIP
        """
        return network_to_sql(self._network, dialect, queries)

    def to_text(self, query: str | None = None) -> str:
        """The network, or one query's part of it, as plain text: one line a node, in the order of evaluation."""
        work = self.work(query)
        shown = work.union(streams_of_work(self._network.nodes, work), self.results.get(query or "", ()))
        nodes = [node for node in self.nodes if node.id in shown or (query is None and not node.parents)]
        rows = [(SYMBOLS[node.operator], f"×{len(node.queries)}" * node.is_shared, node.sql) for node in nodes]
        width = max((len(shared) for _, shared, _ in rows), default=0)
        lines = [f"  {sign}  {shared:{width}}  {sql}" for sign, shared, sql in rows]
        names = {name: [self._wording.node(id_) for id_ in ids] for name, ids in self.results.items()}
        reading = [f"  {name} reads {' ∩ '.join(read)}" for name, read in names.items() if query in (None, name)]
        return "\n".join([self._headline([node for node in nodes if node.id in work], query), *lines, *reading])

    def __repr__(self) -> str:
        return self.to_text()

    def _headline(self, nodes: Sequence[NodeView], query: str | None) -> str:
        if query is not None:
            shared = sum(node.is_shared for node in nodes)
            return f"query {query}: {counted(len(nodes), 'node')}, {shared} shared with other queries"
        return (
            f"query network: {counted(len(nodes), 'node')}, {counted(len(self.results), 'query', 'queries')}, "
            f"weighted size {self.weighted_size()}"
        )

    @cached_property
    def _by_id(self) -> Mapping[NodeId, NodeView]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self._network.nodes, self._views)

    @cached_property
    def _carried(self) -> Mapping[NodeId, Columns]:
        return carried_columns(self._network)

    def _computed(self, node: Node) -> Node:
        """An aggregate without what only dropped queries read: it keeps these statistics and does not compute them."""
        if not isinstance(node, Aggregate):
            return node
        computed = computed_columns(self._network, node.id, self._carried[node.id])
        return replace(node, statistics=frozenset(s for s in node.statistics if column_name(s) in computed))


def _weight(node: NodeView) -> int:
    match node.kind:
        case "selection":
            return SELECTION_WEIGHTS[min(node.join_level, len(SELECTION_WEIGHTS) - 1)]
        case "join":
            return JOIN_WEIGHTS[min(node.join_level, len(JOIN_WEIGHTS)) - 1]
        case _:
            return 0
