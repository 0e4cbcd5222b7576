"""The query network: an immutable DAG of nodes and the queries that read them.

Changing it gives a new one, so that a failed registration leaves the old as it was, and readers never see
it half changed. Every traversal of nodes is written here and visits a node once; other modules only say what to do at a
node. The facts of a whole network are its properties, each computed once; the same facts of a working copy that still
changes are functions of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress
from types import MappingProxyType

from workbench.network.nodes import (
    Join,
    Node,
    NodeId,
    Read,
    Selection,
    SetOperation,
)
from workbench.sql.algebra.expressions import Column, Expression, columns
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.logical import Output
from workbench.sql.predicates.cnf import FALSE, TRUE, PredSet, predicate_columns

NodesById = Mapping[NodeId, Node]


def _reachable(starts: Iterable[NodeId], parents: Callable[[NodeId], Iterable[NodeId]]) -> list[NodeId]:
    """The nodes given and all that their parents lead to: each once, parents before children.

    It does not recurse: selections that tighten one bound after another form chains as long as there are queries.

    Args:
        starts: ids of nodes.
        parents: the ids that a node's traversal goes on to.

    Example:
        >>> _reachable(["d"], {"d": "bc", "c": "a", "b": "a", "a": ""}.__getitem__)
        ['a', 'b', 'c', 'd']
    """
    visited: dict[NodeId, None] = {}
    waiting = [*starts][::-1]
    while waiting:
        missing = [parent for parent in parents(waiting[-1]) if parent not in visited]
        if missing:
            waiting.extend(reversed(missing))
        else:
            visited[waiting.pop()] = None
    return list(visited)


def ancestors(nodes: NodesById, ids: Iterable[NodeId]) -> list[NodeId]:
    """The nodes given and all they are evaluated from, parents before children."""
    return _reachable(ids, lambda id_: nodes[id_].parents)


def constant_nodes(nodes: NodesById, ids: Iterable[NodeId]) -> frozenset[NodeId]:
    """The nodes, parents before children, whose rows never change: selections of no rows, and what only reads such."""
    constant = set[NodeId]()
    for id_ in ids:
        node = nodes[id_]
        empty = isinstance(node, Selection) and node.read.required == FALSE
        if empty or (node.parents and constant.issuperset(node.parents)):
            constant.add(id_)
    return frozenset(constant)


def working_nodes(nodes: NodesById, results: Iterable[NodeId]) -> frozenset[NodeId]:
    """The nodes that do the work of some results: no stream, and nothing that only makes rows of constants.

    Such rows are the places of arrays, VALUES and series. They are made of a stream's rows of which none is taken, by
    nodes that no text asks for.
    """
    needed = ancestors(nodes, results)
    constant, wanted = constant_nodes(nodes, needed), set(results)
    for id_ in reversed(needed):
        if id_ in wanted and id_ not in constant:
            wanted.update(parent for parent in nodes[id_].parents if parent not in constant)
    return frozenset(id_ for id_ in wanted if nodes[id_].parents)


def streams_of_work(nodes: NodesById, work: Iterable[NodeId]) -> frozenset[NodeId]:
    """The streams that some nodes read."""
    return frozenset(parent for id_ in work for parent in nodes[id_].parents if not nodes[parent].parents)


def roots_read(nodes: NodesById, roots: Iterable[NodeId]) -> list[NodeId]:
    """The roots given and all roots they read in their very original form, those that are read before their readers."""
    return _reachable(roots, lambda root: [read.root for read in nodes[root].reads])


def depths(nodes: NodesById, roots: Iterable[NodeId]) -> Mapping[NodeId, int]:
    """For these roots and all they read, the greatest number of roots between each and a source."""
    depth: dict[NodeId, int] = {}
    for root in roots_read(nodes, roots):
        depth[root] = max((depth[read.root] + 1 for read in nodes[root].reads), default=0)
    return depth


def monotone_roots(nodes: NodesById, roots: Iterable[NodeId]) -> Mapping[NodeId, bool]:
    """For these roots and all they read whether their rows are never retracted: append-only streams, and joins and
    UNION ALL of such (monotone queries, RECOVERED)."""
    monotone: dict[NodeId, bool] = {}
    for root in roots_read(nodes, roots):
        monotone[root] = nodes[root].is_monotone(all(monotone[read.root] for read in nodes[root].reads))
    return monotone


def root_of(nodes: NodesById, id_: NodeId) -> NodeId:
    """The root of a node's local tree: itself, unless it is a selection."""
    node = nodes[id_]
    return node.read.root if isinstance(node, Selection) else id_


CHECK = "\n"
"""Stands in the names of checks, behind that of the query that they belong to; no query's name has a line end."""


def check_name(query: str, number: int) -> str:
    """The name of a query's check in the network: a query of its own, which must have no rows."""
    return f"{query}{CHECK}{number}"


def checked_query(name: str) -> str:
    """The query that a check belongs to; any other query itself."""
    return name.partition(CHECK)[0]


def check_number(name: str) -> int:
    """The number of a check, from its name; 0 for any other query."""
    return int(name.partition(CHECK)[2] or 0)


@dataclass(frozen=True)
class QueryPlan:
    """Where a query's answer is found: the rows it reads, projected on ``outputs`` (over the root's columns).

    ``nodes``: the rows that belong to all of these nodes, of one local tree, are those that are read. One node mostly;
    several where many queries combine a few conditions, and each condition is a node of its own (CACQ 3.2.6).
    ``window`` is applied to them when the answer is read (PSoup 3.3), and they come in the ``order`` of these keys over
    the root's columns.
    """

    name: str
    read: Read
    outputs: tuple[Output, ...]
    nodes: tuple[NodeId, ...]
    window: PredSet = TRUE
    order: tuple[SortKey, ...] = ()

    @cached_property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions over the rows: the outputs, and the keys of their order."""
        return (*(output.expression for output in self.outputs), *(key.expression for key in self.order))

    @cached_property
    def columns(self) -> frozenset[Column]:
        """The columns of the root that the outputs, the order and the window read."""
        shown = frozenset(c for expression in self.expressions for c in columns(expression))
        return shown | predicate_columns(self.window)


@dataclass(frozen=True)
class Network:
    """All nodes by id, parents before children, and all queries by name, in the order of registration."""

    nodes: Mapping[NodeId, Node] = field(default_factory=dict)
    queries: Mapping[str, QueryPlan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", MappingProxyType(_parents_first(self.nodes)))
        object.__setattr__(self, "queries", MappingProxyType(dict(self.queries)))
        read = set(chain.from_iterable(plan.nodes for plan in self.queries.values()))
        for missing in read - self.nodes.keys():
            name = next(name for name, plan in self.queries.items() if missing in plan.nodes)
            raise ValueError(f"query {name} reads node {missing}, which does not exist")

    @cached_property
    def children(self) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """Ids of the nodes that read each node, in order."""
        children: dict[NodeId, list[NodeId]] = {id_: [] for id_ in self.nodes}
        for id_, node in self.nodes.items():
            for parent in dict.fromkeys(node.parents):
                children[parent].append(id_)
        return {id_: tuple(ids) for id_, ids in children.items()}

    def of_query(self, name: str) -> Network:
        """The part of the network that a query is evaluated by; nothing where it is not there."""
        if (plan := self.queries.get(name)) is None:
            return Network()
        return Network({id_: self.nodes[id_] for id_ in ancestors(self.nodes, plan.nodes)}, {name: plan})

    def ancestors(self, ids: Iterable[NodeId]) -> frozenset[NodeId]:
        """The nodes given and all they are evaluated from."""
        return frozenset(ancestors(self.nodes, ids))

    @cached_property
    def constant(self) -> frozenset[NodeId]:
        """The nodes whose rows never change."""
        return constant_nodes(self.nodes, self.nodes)

    @cached_property
    def served(self) -> Mapping[NodeId, tuple[str, ...]]:
        """Names of the queries that each node serves, in the order of registration."""
        return Served(self)

    @cached_property
    def join_levels(self) -> Mapping[NodeId, int]:
        """JoinLevel of T9.3: 0 at a source, one more than the parents' at a node of two or more parents."""
        levels: dict[NodeId, int] = {}
        for id_, node in self.nodes.items():
            above = max((levels[p] for p in node.parents), default=0)
            levels[id_] = above + 1 if isinstance(node, Join | SetOperation) else above
        return levels

    @cached_property
    def roots(self) -> Mapping[NodeId, NodeId]:
        """The root of each node's local tree: itself, unless it is a selection."""
        return {id_: root_of(self.nodes, id_) for id_ in self.nodes}

    @cached_property
    def trees(self) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """Local trees (T9.3): the nodes of each by its root, root first, parents before children.

        A tree here is what runs as one shared operator: a source, join, aggregate or set operator and the selections
        below it. Aggregates root a tree of their own although T9.3 leaves them at their parent's level: their rows
        are other rows than the parent's.
        """
        trees: dict[NodeId, list[NodeId]] = {}
        for id_, root in self.roots.items():
            trees.setdefault(root, []).append(id_)
        return {root: tuple(ids) for root, ids in trees.items()}

    @cached_property
    def monotone(self) -> Mapping[NodeId, bool]:
        """For every root whether its rows are never retracted."""
        return monotone_roots(self.nodes, self.trees)


_DIGITS = bytes.maketrans(b"01", b"\0\1")
"""The digits of a binary number to whether they are 1."""


class Served(Mapping[NodeId, tuple[str, ...]]):
    """Names of the queries that each node of a network serves.

    They are kept as bitmaps, a bit for each query, and listed for a node when it is looked up: in a chain of hundreds
    of selections the lists of all nodes would have nodes times queries names, made anew at every registration.
    """

    def __init__(self, network: Network) -> None:
        self._names = tuple(map(checked_query, network.queries))
        self._bits = bits = dict.fromkeys(network.nodes, 0)
        bit = 1
        for plan in network.queries.values():
            for id_ in plan.nodes:
                bits[id_] |= bit
            bit <<= 1
        for id_, node in reversed(list(network.nodes.items())):
            if own := bits[id_]:
                for parent in node.parents:
                    bits[parent] |= own

    def __getitem__(self, id_: NodeId) -> tuple[str, ...]:
        served = f"{self._bits[id_]:b}".encode()[::-1].translate(_DIGITS)
        return tuple(dict.fromkeys(compress(self._names, served)))

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._bits)

    def __len__(self) -> int:
        return len(self._bits)


def _parents_first(nodes: Mapping[NodeId, Node]) -> dict[NodeId, Node]:
    """The nodes in the order given, but for those that come before a parent: they follow it.

    Raises:
        ValueError: a node is missing, or computed from itself.
    """
    placed: dict[NodeId, Node] = {}
    begun: set[NodeId] = set()
    for first, node in nodes.items():
        if first in placed:
            continue
        if all(map(placed.__contains__, node.parents)):  # most are in order
            placed[first] = node
            continue
        waiting = [first]
        while waiting:
            id_ = waiting[-1]
            if id_ not in nodes:
                raise ValueError(f"node {id_!r} is read and does not exist")
            missing = [parent for parent in nodes[id_].parents if parent not in placed]
            if not missing:
                placed[waiting.pop()] = nodes[id_]
                continue
            begun.add(id_)
            if not begun.isdisjoint(missing):
                raise ValueError(f"node {id_} is computed from itself")
            waiting.extend(reversed(missing))
    return placed
