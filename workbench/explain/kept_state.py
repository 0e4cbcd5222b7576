"""The state of a query: whether it is bounded, by what, and how large it is, before the query runs (T11.1.1).

State is what an operator must look up again: both inputs of a join, the groups of an aggregate, the rows around another
in an order, and the answer. The rows of a stream by themselves are in its log on the disk, with or without queries. A
state is bounded if the streams that feed it can go on for ever and it stays as large: rows leave it with a window, they
are those of a table, or the number of groups is limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from workbench.engine.physical.elements import joins_with_elements
from workbench.engine.physical.looked_up import LookedUp
from workbench.engine.physical.retention import RequiredTimes, required_times
from workbench.explain.text import counted
from workbench.network.network import Network
from workbench.network.nodes import (
    SIDES,
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Read,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.network.projection import carried_columns
from workbench.network.view_names import UNNAMED, ViewNames
from workbench.network.wording import Wording
from workbench.optimizer.cardinality import Estimates
from workbench.sql.algebra.expressions import Call, Column, Expression
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.constraints import ArrivalOrder, ForeignKey, foreign_keys
from workbench.sql.predicates.cnf import TRUE, PredSet
from workbench.sql.windows.bounds import LEAST
from workbench.sql.windows.stream_time import EventTimeVector

_FIXED = 8
_TEXT = 32
"""Bytes that a value takes: of a number or time, and about of a text."""
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class KeptState:
    """The state of an operator.

    Attributes:
        what: the operator, in words.
        bound: by what it is bounded; "" where it grows for ever.
        grows_with: the streams whose rows make it grow for ever.
        rows: how many rows it is estimated to have now.
        bytes: about how many bytes these are.
    """

    what: str
    bound: str
    grows_with: frozenset[str]
    rows: float
    bytes: float


def kept_states(
    network: Network,
    query: str,
    tables: Sequence[str],
    estimates: Estimates,
    now: EventTimeVector,
    views: ViewNames = UNNAMED,
) -> list[KeptState]:
    """The states that a query needs, in the order of evaluation.

    Args:
        network: with the query.
        query: its name.
        tables: names of what is no stream.
        estimates: of rows.
        now: the event times.
        views: what the columns of views are called.
    """
    plan = network.queries[query]
    own = network.ancestors([*plan.nodes, plan.read.root])
    part = Network({id_: node for id_, node in network.nodes.items() if id_ in own}, {query: plan})
    return _States(part, frozenset(map(str.lower, tables)), estimates.over(part.nodes), now, views).found(
        plan.read.root
    )


def memory_text(states: Sequence[KeptState]) -> str:
    """Whether the memory of a query is bounded, by what, and how large it is, in sentences.

    Example:
        >>> print(memory_text([KeptState("groups by g", "", frozenset({"t"}), 12_000, 2e6)]))
        memory: not bounded, it grows with t; about 12,000 rows, 2.0 MB now
          groups by g: grows with t; about 12,000 rows
    """
    growing = sorted(frozenset().union(*(state.grows_with for state in states)))
    rows, size = sum(state.rows for state in states), sum(state.bytes for state in states) / _MEGABYTE
    how = f"not bounded, it grows with {', '.join(growing)}" if growing else "bounded"
    lines = [f"memory: {how}; about {counted(round(rows), 'row')}, {size:,.1f} MB now"]
    for state in states:
        by = state.bound or f"grows with {', '.join(sorted(state.grows_with))}"
        lines.append(f"  {state.what}: {by}; about {counted(round(state.rows), 'row')}")
    return "\n".join(lines)


@dataclass(frozen=True)
class _States:
    network: Network
    tables: frozenset[str]
    estimates: Estimates
    now: EventTimeVector
    views: ViewNames

    def found(self, answer: NodeId) -> list[KeptState]:
        """The states of all operators, that of the answer last."""
        roots = [root for root in self.network.trees if root == answer or self._is_state(root)]
        states = [self._state(root, root == answer) for root in roots]
        return [*states, *self._not_stored(frozenset(roots)), *self._verified()]

    def _not_stored(self, roots: frozenset[NodeId]) -> Iterator[KeptState]:
        """The inputs of joins that are not stored, since each row finds its partner when it comes."""
        for node in self.network.nodes.values():
            for side in SIDES if isinstance(node, Join) else ():
                root = self.network.roots[node.inputs[side][0]]
                key = self._looked_up.foreign_key(node, side) if isinstance(node, Join) else None
                if key is not None and root not in roots:
                    yield KeptState(
                        Wording(self.network.nodes, self.views).name(root), f"not stored: {key}", frozenset(), 0.0, 0.0
                    )

    def _verified(self) -> Iterator[KeptState]:
        """What is counted to verify the foreign keys between streams of the query: their values."""
        sources = [node for node in self.network.nodes.values() if isinstance(node, Source)]
        known = {source.stream: source for source in sources}
        for key in foreign_keys(chain.from_iterable(source.constraints for source in sources), known):
            target = known[key.target]
            grows, why = self._growth(target.id)
            rows = self.estimates.rows(Read(target.id))
            width = _TEXT * len(key.key) + _FIXED
            yield KeptState(f"values of {key}, to verify it", "" if grows else why, grows, rows, rows * width)

    @cached_property
    def _looked_up(self) -> LookedUp:
        return LookedUp(self.network, self.now)

    @cached_property
    def _required(self) -> RequiredTimes:
        return required_times(self.network, self._looked_up, self.now)[1]

    @cached_property
    def _carried(self) -> Mapping[NodeId, Mapping[str, DataType]]:
        return carried_columns(joins_with_elements(self.network).network)

    def _is_state(self, root: NodeId) -> bool:
        """Whether rows of a root are looked up again by an operator that reads them, or are groups."""
        node = self.network.nodes[root]
        return isinstance(node, Aggregate) or any(
            _looks_up(node) and self._looked_up.limits(node, at) is not None
            for id_ in self.network.trees[root]
            for node in map(self.network.nodes.__getitem__, self.network.children[id_])
            if self.network.roots[node.id] != root
            for at, nodes in enumerate(node.inputs)
            if id_ in nodes
        )

    def _state(self, root: NodeId, is_answer: bool) -> KeptState:
        wording = Wording(self.network.nodes, self.views)
        grows, why = self._growth(root)
        rows = self.estimates.rows(Read(root, self._tested(root)))
        if grows and self._leaves(root):
            orders = sorted({str(order) for order in self._orders(root)})
            grows, why = frozenset(), ", ".join(orders) or "rows leave it with the window"
        width = sum(_TEXT if type_.stored == Kind.STRING.value else _FIXED for type_ in self._carried[root].values())
        what = wording.name(root) + (" (the answer)" if is_answer else "")
        return KeptState(what, "" if grows else why, grows, rows, rows * (width + _FIXED))

    def _tested(self, root: NodeId) -> PredSet:
        """What holds for all rows that are read of a root, where there is one reader alone."""
        reads = {
            read.required for id_ in self.network.nodes for read in self.network.nodes[id_].reads if read.root == root
        } | {plan.read.required for plan in self.network.queries.values() if plan.read.root == root}
        return reads.pop() if len(reads) == 1 else TRUE

    def _leaves(self, root: NodeId) -> bool:
        """Whether all rows that are read of a root leave some window."""
        found = self._required[root]
        return bool(found) and all(any(i.low != LEAST for i in times.values()) for _, times in found)

    def _orders(self, root: NodeId) -> Iterator[ArrivalOrder | ForeignKey]:
        """The orders of arrival, and keys, by which joins do not find the rows of a root again."""
        for id_ in self.network.trees[root]:
            for reader in map(self.network.nodes.__getitem__, self.network.children[id_]):
                if isinstance(reader, Join):
                    for side in (side for side in SIDES if reader.parents[side] == id_):
                        found = self._looked_up.foreign_key(reader, side), self._looked_up.order(reader, side)
                        yield from filter(None, found[:1] if found[0] else found)

    def _growth(self, root: NodeId) -> tuple[frozenset[str], str]:
        """The streams that make a root grow for ever; and by what it is bounded where there is none."""
        node = self.network.nodes[root]
        match node:
            case Source(stream=stream):
                is_table = stream.lower() in self.tables
                return (frozenset(), "a table") if is_table else (frozenset({stream}), "")
            case Aggregate(groups=()):
                return frozenset(), "one row"
            case Aggregate(groups=groups) if all(self._is_few(node.read.root, group) for group in groups):
                return frozenset(), "its groups are values of tables, or true and false"
            case Window() if self._leaves(node.read.root):
                return frozenset(), "rows leave it with the window"
            case Analytic(over=over) if node.bound and not over.partition:
                return frozenset(), "the first rows alone"
            case SetOperation(operator=SetOperator.SEMIJOIN | SetOperator.ANTIJOIN | SetOperator.EXCEPT):
                return self._growth(node.branches[0].read.root)
        found = [self._growth(read.root) for read in node.reads]
        grows = frozenset().union(*(streams for streams, _ in found))
        return grows, "" if grows else " and ".join(dict.fromkeys(why for _, why in found))

    def _is_few(self, root: NodeId, group: Expression) -> bool:
        """Whether the values of an expression are limited in number, however many rows come."""
        if group.type.kind is Kind.BOOLEAN:
            return True
        match group:
            case Column(name=name):
                node = self.network.nodes[root]
                if isinstance(node, Source):
                    keys = (c for c in node.constraints if isinstance(c, ForeignKey) and c.columns == (name,))
                    return any(s.lower() in self.tables for s in (node.stream, *(key.target for key in keys)))
                if name in node.types:
                    return not self._growth(root)[0]
                carried = node.carried(name)
                return carried is not None and self._is_few(carried[0], Column(carried[1], group.type))
            case Call(arguments=arguments):
                return all(self._is_few(root, argument) for argument in arguments)
        return True


def _looks_up(node: Node) -> bool:
    """Whether an operator looks up rows of its inputs that came before."""
    if isinstance(node, SetOperation):
        return node.operator is not SetOperator.UNION_ALL
    return isinstance(node, Join | Analytic | Window)
