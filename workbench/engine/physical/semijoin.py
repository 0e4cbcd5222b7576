"""Readers of a join for whom one pair of a row is as good as all of them: DISTINCT rows of one side (a semijoin), and
UNION, INTERSECT and EXCEPT of such.

Who asks for the stays that follow another one of the same disease wants each of them once, however many it follows, and
in a stream that is never taken back one pair says so for good. Where all pairs that are looked up together would do,
the first of them does: what a new row finds does not grow with the stream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.engine.physical.access_paths import MOST, Way, of_reader, ways_of
from workbench.engine.physical.band import says
from workbench.engine.physical.join_keys import ends_of
from workbench.network.network import Network
from workbench.network.nodes import SIDES, Aggregate, Join, NodeId, Selection, SetOperation, SetOperator
from workbench.network.projection import Columns, columns_of
from workbench.sql.algebra.expressions import Column, column_name, columns
from workbench.sql.predicates.cnf import ORPred, PredSet, conjunction, predicate_columns, rename_predicates
from workbench.sql.windows.stream_time import is_session

DISTINCT = (SetOperator.UNION, SetOperator.INTERSECT, SetOperator.EXCEPT)
"""Set operators to which it does not matter how often a row is there."""


@dataclass(frozen=True)
class Enough:
    """One pair is enough for each row of a side.

    Attributes:
        way: how its pairs are looked up.
        side: whose rows are wanted once.
    """

    way: Way
    side: int


def look_ups(
    network: Network, root: NodeId, wants: Mapping[tuple[NodeId, ...], PredSet], made: Mapping[NodeId, Columns] | None
) -> tuple[tuple[Way, ...], Mapping[NodeId, frozenset[Enough]]]:
    """How the pairs of a join are looked up: the ways for who wants all of them, and nodes for whose readers some do.

    Args:
        network: what runs.
        root: the join.
        wants: what is read of its tree, the rows that have all of some nodes, and what is wanted of them.
        made: the columns of all roots that somebody reads; ``None`` where rows of the join may be taken back.
    """
    join = network.nodes[root]
    assert isinstance(join, Join)
    enough = dict(_enough(network, join, wants, made)) if made is not None else {}
    rest = [want for nodes, want in wants.items() if len(nodes) > 1 or nodes[0] not in enough]
    ways = ways_of(join, rest) if rest else ()
    # What is found for others anyway is there as a whole.
    enough = {node: left for node, some in enough.items() if (left := _beyond(some, ways))}
    if (rest and not ways) or len(ways) + len(all_of(enough)) > MOST:
        return ways_of(join, wants.values()), {}
    return ways, enough


def all_of(enough: Mapping[NodeId, frozenset[Enough]]) -> tuple[Enough, ...]:
    """What is enough for any of some nodes, in an order that depends on nothing else."""
    return tuple(sorted(frozenset[Enough]().union(*enough.values()), key=str))


def _beyond(some: frozenset[Enough], ways: Collection[Way]) -> frozenset[Enough]:
    """What is not found in some ways anyway."""
    return frozenset(one for one in some if not any(way.finds(one.way) for way in ways))


def _enough(
    network: Network, join: Join, wants: Mapping[tuple[NodeId, ...], PredSet], made: Mapping[NodeId, Columns]
) -> Iterator[tuple[NodeId, frozenset[Enough]]]:
    """The nodes whose readers need one pair of each row, and how these are found."""
    asked = {plan.nodes for plan in network.queries.values()}
    for nodes, want in wants.items():
        if len(nodes) > 1 or nodes in asked:
            continue
        of_readers = [
            None if groups is None else enough_for(join, want, groups) for groups in _groups(network, nodes[0], made)
        ]
        if None not in of_readers:
            yield nodes[0], frozenset(one for one in of_readers if one is not None)


def enough_for(join: Join, want: PredSet, groups: Iterable[Column]) -> Enough | None:
    """How one pair of each row is found, if that is enough.

    It is when the pairs of a row that are looked up together differ in nothing that is tested or grouped by.

    Args:
        join: the join.
        want: what a reader wants of it, over its columns.
        groups: the columns of the join that the reader groups by.
    """
    holds = conjunction(join.tested, rename_predicates(want, join.names.input))
    ways = of_reader(join.tested, join.names, want)
    asked = {join.names.input(column) for column in groups}
    for side in SIDES if len(ways) == 1 else ():
        own = _Own(ways[0], side)
        if own.has(asked) and all(_says(ways[0], p) or own.has(predicate_columns(p)) for p in holds):
            return Enough(ways[0], side)
    return None


@dataclass(frozen=True)
class _Own:
    """What a row of a side knows of all of its pairs: its own columns, and what must be equal to one of them."""

    way: Way
    side: int

    def has(self, asked: Collection[Column]) -> bool:
        """Whether these columns are all known."""
        equal = {end.name for end in self._equal()}
        return all(column.source == self.side or column.name in equal for column in asked)

    def _equal(self) -> Iterator[Column]:
        for ends in self.way.keys:
            own, other = ends[self.side], ends[1 - self.side]
            if isinstance(own, Column) and isinstance(other, Column):
                yield other


def _says(way: Way, predicate: ORPred) -> bool:
    """Whether all pairs that are looked up in a way satisfy a predicate."""
    return ends_of(predicate) in way.keys or (way.band is not None and says(way.band, predicate))


def _groups(network: Network, node: NodeId, made: Mapping[NodeId, Columns]) -> Iterator[list[Column] | None]:
    """What each reader of a node groups by; ``None`` where it wants more than groups."""
    for id_ in network.children[node]:
        match network.nodes[id_]:
            case Selection():
                pass
            case Aggregate() as reader if reader.groups and not _counts(reader, made[id_]):
                yield [column for group in reader.groups for column in columns(reader.direct_group(group))]
            case SetOperation() as reader if reader.operator in DISTINCT:
                yield from (list(columns_of(values)) for parent, values in reader.direct if parent == node)
            case _:
                yield None


def _counts(reader: Aggregate, made: Columns) -> bool:
    """Whether it makes any difference to an aggregate how often a row is there."""
    return any(column_name(s) in made for s in reader.statistics) or any(map(is_session, reader.groups))
