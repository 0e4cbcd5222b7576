"""Which rows of its inputs an operator looks up again, where constraints of streams limit that (T11.1.1).

What is here holds of the rows that an operator *stores*, and not of those that it reads when they come, nor of those
from which it is hydrated. Rows that are not looked up are freed (``retention``).

- A row that refers to its partner by a foreign key has found it by the end of its batch, and no later row is another;
  where that may come *k* rows late, the row is looked up until *k* further rows of its stream have come.
- What arrives in order, such as ``r.ts``, never again is less than its greatest value, less what is allowed. So a row
  that would have to be joined with an earlier one is never found again: ``l.ts >= r.ts - 1 hour`` bounds ``l.ts``.
- An aggregate adds changes to its state, and UNION ALL passes them on. Neither looks at a row twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf

from workbench.engine.physical.accumulators import additive
from workbench.engine.physical.band import Band
from workbench.engine.physical.band_predicates import bands_of
from workbench.engine.physical.join_keys import join_keys
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Node, NodeId, SetOperation, SetOperator, Source
from workbench.sql.algebra.expressions import Column, Expression, column_name
from workbench.sql.algebra.types import Kind
from workbench.sql.constraints import ArrivalOrder, ForeignKey, largest_key
from workbench.sql.windows.bounds import Interval
from workbench.sql.windows.stream_time import ROW, EventTimeVector, as_number, is_session, row_number_key

_COUNTED = (Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP)
"""The kinds of values whose steps are the whole numbers that times are compared by."""
_Path = tuple[object, ...]
"""Which rows of a source are meant: the ways through joins that lead to it."""


@dataclass(frozen=True)
class LookedUp:
    """The rows that the operators of a network look up again.

    Attributes:
        network: what runs.
        now: the event times.
        incremental: whether aggregates keep a state (``Options.incremental_aggregates``).
    """

    network: Network
    now: EventTimeVector
    incremental: bool = True

    def limits(self, node: Node, at: int) -> Mapping[Expression, Interval] | None:
        """Which stored rows of an input are looked up, by their values; ``None``: none, and without any values all.

        Args:
            node: that reads them.
            at: the place of the input.
        """
        root = self.network.roots[node.inputs[at][0]]
        if not _is_linear(self.network.nodes[root]):
            return {}
        match node:
            case Join():
                key = self.foreign_key(node, at)
                return dict(self._ordered(node, at)) if key is None else self._waiting(key)
            case Aggregate() if root in self._constrained and self.incremental and self._adds(node):
                return None
            case SetOperation(operator=SetOperator.UNION_ALL) if root in self._constrained:
                return None
        return {}

    def _waiting(self, key: ForeignKey) -> Mapping[Expression, Interval] | None:
        """Which rows that refer by a key may still be without a partner."""
        rows = as_number(self.now.get(row_number_key(key.stream))) or 0
        return {ROW: Interval(rows - key.late + 1)} if key.late else None

    def foreign_key(self, join: Join, side: int) -> ForeignKey | None:
        """The foreign key by which rows of a side have found their partner when they come, or soon after."""
        other = self.network.nodes[self.network.roots[join.parents[1 - side]]]
        if not isinstance(other, Source) or not other.append_only:
            return None
        found: dict[str, Column] = {}
        for ends in join_keys(join.tested):
            key, refers = ends[1 - side], ends[side]
            if isinstance(key, Column) and isinstance(refers, Column):
                found[key.name] = refers
        for source in self._sources:
            for constraint in source.constraints:
                if isinstance(constraint, ForeignKey) and constraint.target == other.stream:
                    own, root = [found.get(name) for name in constraint.key], self.network.roots[join.parents[side]]
                    # The numbers of rows are known where these are stored as they came.
                    if self._refer(root, own, source, constraint) and (not constraint.late or root == source.id):
                        return constraint
        return None

    def order(self, join: Join, side: int) -> ArrivalOrder | None:
        """The order of the other side by which rows of a side are not found again."""
        return next((order for _, order, _ in self._bounds(join, side)), None)

    @cached_property
    def _sources(self) -> list[Source]:
        return [node for node in self.network.nodes.values() if isinstance(node, Source) and node.constraints]

    @cached_property
    def _constrained(self) -> frozenset[NodeId]:
        """The nodes whose rows come from a stream with constraints, of which those who query it expect to free state.

        Of others rows stay stored, so that later queries find them.
        """
        found = {s.id for s in self._sources if any(c.declared for c in s.constraints)}
        for id_, node in self.network.nodes.items() if found else ():
            if not found.isdisjoint(node.parents):
                found.add(id_)
        return frozenset(found)

    def _ordered(self, join: Join, side: int) -> Iterator[tuple[Expression, Interval]]:
        found: dict[Expression, Interval] = {}
        for own, order, distance in self._bounds(join, side):
            largest = as_number(self.now.get(largest_key(order.stream, order.column)))
            if largest is not None:
                interval = Interval(largest - order.allowed + distance)
                found[own] = found.get(own, Interval()).intersected(interval)
        yield from found.items()

    def _bounds(self, join: Join, side: int) -> Iterator[tuple[Column, ArrivalOrder, int]]:
        """Columns of a side that are at least an ordered column of the other side, plus a distance."""
        other = self.network.nodes[self.network.roots[join.parents[1 - side]]]
        orders = [c for c in other.constraints if isinstance(c, ArrivalOrder)] if isinstance(other, Source) else []
        if not orders:
            return
        pairs = [(ends, 0.0) for ends in join_keys(join.tested)]
        for band in (b for b in bands_of(join.tested) if isinstance(b, Band)):
            distance = -band.high if side == 0 else band.low
            pairs.append(((band.left.expression, band.right.expression), distance))
        for ends, distance in pairs:
            own, their = ends[side], ends[1 - side]
            if not isinstance(own, Column) or not isinstance(their, Column) or distance == -inf:
                continue
            if own.type.kind is their.type.kind and own.type.kind in _COUNTED:
                yield from ((own, order, int(distance)) for order in orders if order.column == their.name)

    def _refer(self, root: NodeId, columns: list[Column | None], source: Source, key: ForeignKey) -> bool:
        """Whether columns of a root are a foreign key's, so that they refer to one row of a source."""
        paths = [None if column is None else self._origin(root, column.name) for column in columns]
        if None in paths or len({path[:-1] for path in paths if path is not None}) != 1:
            return False
        names = tuple(path[-1] for path in paths if path is not None)
        return paths[0] is not None and paths[0][-2] == source.id and names == key.columns

    def _origin(self, root: NodeId, name: str) -> _Path | None:
        """The source of a column that is not computed: the way to it, its id, and the column's name there."""
        path: list[object] = []
        while not isinstance(node := self.network.nodes[root], Source):
            if isinstance(node, SetOperation):
                return None
            if isinstance(node, Join):
                path.append(node.names.input_name(name)[0])
            if isinstance(node, Aggregate):
                groups = {column_name(group): group for group in node.groups}
                group = groups.get(name)
                if not isinstance(group, Column):
                    return None
                root, name = node.read.root, group.name
            elif (carried := node.carried(name)) is None:
                return None
            else:
                root, name = carried
        return *path, node.id, name

    def _adds(self, node: Aggregate) -> bool:
        """Whether an aggregate adds changed rows to its state, and never reads others."""
        monotone = self.network.monotone[self.network.roots[node.parents[0]]]
        statistics = (additive(column_name(s), node.direct_statistic(s), monotone) for s in node.statistics)
        return not any(map(is_session, node.groups)) and all(statistic is not None for statistic in statistics)


def _is_linear(node: Node) -> bool:
    """Whether an operator never looks up rows that it has emitted."""
    return isinstance(node, Source | Join) or (
        isinstance(node, SetOperation) and node.operator is SetOperator.UNION_ALL
    )
