"""Semijoins: readers of a join for which one pair of a row is as good as all of them.

These are DISTINCT rows of one side, and UNION, INTERSECT and EXCEPT of such. Who asks for the stays that follow another
one of the same disease gets each stay once, however many it follows; and where rows are never retracted, one pair
proves it for good. So if all pairs of a row that an access path finds would do, the first one does, and what a new row
finds does not grow with the stream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.engine.physical.access_paths import AccessPath, access_paths, paths_of_reader
from workbench.engine.physical.band_predicates import implied_by
from workbench.engine.physical.join_keys import ends_of
from workbench.network.network import Network
from workbench.network.nodes import (
    SIDES,
    Aggregate,
    Columns,
    Join,
    NodeId,
    Selection,
    SetOperation,
    SetOperator,
    columns_of,
)
from workbench.sql.algebra.expressions import Column, column_name, columns
from workbench.sql.predicates.cnf import ORPred, PredSet, conjunction, predicate_columns, rename_predicates
from workbench.sql.windows.stream_time import is_session

DISTINCT = (SetOperator.UNION, SetOperator.INTERSECT, SetOperator.EXCEPT)
"""Set operators whose result does not depend on how often a row is in an input."""


@dataclass(frozen=True)
class Semijoin:
    """One pair is enough for each row of a side.

    Attributes:
        path: how a pair is looked up.
        side: whose rows are required once.
    """

    path: AccessPath
    side: int


def plan_lookups(
    network: Network,
    root: NodeId,
    required: Mapping[tuple[NodeId, ...], PredSet],
    produced: Mapping[NodeId, Columns] | None,
    most: int,
) -> tuple[tuple[AccessPath, ...], Mapping[NodeId, frozenset[Semijoin]]]:
    """How the pairs of a join are looked up.

    Args:
        network: what runs.
        root: the join.
        required: for each set of nodes of the join's tree that is read, what a pair must satisfy to belong to them all.
        produced: the columns of all roots with readers; ``None`` where rows of the join may be retracted.
        most: paths of a join (``Limits.paths_per_join``).

    Returns:
        The access paths for readers that need all pairs, and for each node whose readers need some, the semijoins.
    """
    join = network.nodes[root]
    assert isinstance(join, Join)
    semijoins = dict(_semijoins(network, join, required, produced)) if produced is not None else {}
    full = [predicates for nodes, predicates in required.items() if len(nodes) > 1 or nodes[0] not in semijoins]
    paths = access_paths(join, full, most) if full else ()
    # What a path finds for other readers anyway is stored as a whole.
    semijoins = {node: left for node, some in semijoins.items() if (left := _outside_paths(paths, some))}
    if (full and not paths) or len(paths) + len(all_of(semijoins)) > most:
        return access_paths(join, required.values(), most), {}
    return paths, semijoins


def all_of(semijoins: Mapping[NodeId, frozenset[Semijoin]]) -> tuple[Semijoin, ...]:
    """The semijoins of all nodes, in an order that depends on nothing else."""
    return tuple(sorted(frozenset[Semijoin]().union(*semijoins.values()), key=str))


def _outside_paths(paths: Collection[AccessPath], semijoins: frozenset[Semijoin]) -> frozenset[Semijoin]:
    return frozenset(s for s in semijoins if not any(path.finds(s.path) for path in paths))


def _semijoins(
    network: Network, join: Join, required: Mapping[tuple[NodeId, ...], PredSet], produced: Mapping[NodeId, Columns]
) -> Iterator[tuple[NodeId, frozenset[Semijoin]]]:
    """The nodes whose readers all need one pair of each row, and how these pairs are found."""
    read_by_query = {plan.nodes for plan in network.queries.values()}
    for nodes, predicates in required.items():
        if len(nodes) > 1 or nodes in read_by_query:
            continue
        of_readers = [
            None if groups is None else semijoin_for(join, predicates, groups)
            for groups in _groups_of_readers(network, nodes[0], produced)
        ]
        if None not in of_readers:
            yield nodes[0], frozenset(semijoin for semijoin in of_readers if semijoin is not None)


def semijoin_for(join: Join, required: PredSet, groups: Iterable[Column]) -> Semijoin | None:
    """The semijoin that is enough for a reader; ``None`` where it needs all pairs.

    One pair is enough when the pairs of a row that a path finds differ in nothing that is tested or grouped by.

    Args:
        join: the join.
        required: what the reader requires of a pair, over the join's columns.
        groups: the columns of the join that the reader groups by.
    """
    holds = conjunction(join.tested, rename_predicates(required, join.names.input))
    paths = paths_of_reader(join.tested, join.names, required)
    grouped = {join.names.input(part) for column in groups for part in columns(join.of_carried(column))}
    for side in SIDES if len(paths) == 1 else ():
        known = _KnownColumns(paths[0], side)
        if known.has(grouped) and all(_implies(paths[0], p) or known.has(predicate_columns(p)) for p in holds):
            return Semijoin(paths[0], side)
    return None


@dataclass(frozen=True)
class _KnownColumns:
    """The columns that a row of a side determines in all of its pairs: its own, and those that must be equal to one."""

    path: AccessPath
    side: int

    def has(self, required: Collection[Column]) -> bool:
        """Whether the row determines all of these columns."""
        equal = {end.name for end in self._equal()}
        return all(column.source == self.side or column.name in equal for column in required)

    def _equal(self) -> Iterator[Column]:
        for ends in self.path.keys:
            own, other = ends[self.side], ends[1 - self.side]
            if isinstance(own, Column) and isinstance(other, Column):
                yield other


def _implies(path: AccessPath, predicate: ORPred) -> bool:
    """Whether all pairs that a path finds satisfy a predicate."""
    return ends_of(predicate) in path.keys or implied_by(path.bands, predicate)


def _groups_of_readers(
    network: Network, node: NodeId, produced: Mapping[NodeId, Columns]
) -> Iterator[list[Column] | None]:
    """What each reader of a node groups by; ``None`` for a reader that needs more than groups."""
    for id_ in network.children[node]:
        match network.nodes[id_]:
            case Selection():
                pass
            case Aggregate() as reader if len(reader.parents) > 1:
                pass  # What several nodes have in common is stored whole.
            case Aggregate() as reader if reader.groups and not _counts_rows(reader, produced[id_]):
                yield [column for group in reader.groups for column in columns(reader.direct_group(group))]
            case SetOperation() as reader if reader.operator in DISTINCT:
                yield from (list(columns_of(values)) for parent, values in reader.direct if parent == node)
            case _:
                yield None


def _counts_rows(reader: Aggregate, produced: Columns) -> bool:
    """Whether an aggregate's rows depend on how often a row is in its input."""
    return any(column_name(s) in produced for s in reader.statistics) or any(map(is_session, reader.groups))
