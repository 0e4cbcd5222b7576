"""A local tree as it runs: one relation with lineage for a root and its selections (T9.3, CACQ 3.2.6).

A tree is immutable; a batch makes a grown one. Making one again, because a node joined it or somebody reads more of its
columns, computes its rows anew from its parents' relations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.engine.compile_filter import CompiledFilter, compile_filter
from workbench.engine.grouped_plan import GroupedPlan, plan_aggregate, plan_set_operation
from workbench.engine.join_keys import key_column, looked_up
from workbench.engine.layout import BATCH, WEIGHT, Layout
from workbench.engine.lineage import WORD
from workbench.engine.relation import Relation
from workbench.engine.shared_pass import Delta
from workbench.engine.statistics import over_rows
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Node, NodeId, Selection, SetOperation, SetOperator, Source, Window
from workbench.network.projection import Columns, carried_columns, made_columns
from workbench.sql.expressions import Column, Expression, text
from workbench.sql.implication import normalized
from workbench.sql.predicates import TRUE, PredSet, conjunction
from workbench.sql.windows import times


@dataclass(frozen=True)
class LogEntry:
    """Changes of a tree in one batch; ``whole``: all of its rows, since the tree was made (again) after that batch."""

    batch: int
    delta: Delta
    whole: bool = False


@dataclass(frozen=True, eq=False)
class TreePlan:
    """What a tree must do, derived from the network: the same plan means the same rows.

    ``made_of``: what of the root's rows its id does not tell, since it may change (``computed``).
    """

    root: NodeId
    made_of: str
    nodes: tuple[NodeId, ...]
    bits: Mapping[NodeId, int]
    wanted: frozenset[frozenset[int]]
    """What rows are kept for: having all the bits of one of these sets."""
    kept: Columns
    made: Columns
    monotone: bool
    filter: CompiledFilter
    grouped: GroupedPlan | None
    keys: Mapping[str, Expression]
    """Computed keys by which the rows are looked up, by the name of their column."""

    @property
    def layout(self) -> Layout:
        """How the tree's rows are stored."""
        return Layout(self.stored, words=len(self.filter.filter.always))

    @property
    def stored(self) -> Columns:
        """The columns of a row."""
        return {**self.kept, **{name: key.type for name, key in self.keys.items()}}

    def counted(self, nodes: tuple[NodeId, ...]) -> int:
        """Where a delta counts the rows that belong to all of these nodes: see ``Delta.counts``."""
        bits = frozenset(self.bits[node] for node in nodes)
        if len(bits) == 1:
            return next(iter(bits))
        combinations = [some for some in sorted(self.wanted, key=sorted) if len(some) > 1]
        return WORD * self.layout.words + combinations.index(bits)

    def covers(self, other: TreePlan) -> bool:
        """Whether a tree that runs by this plan already has all the other plan asks for."""
        return (
            self.made_of == other.made_of
            and all(self.bits.get(node) == bit for node, bit in other.bits.items())
            and set(other.stored) <= set(self.stored)
            and all(any(mine <= some for mine in self.wanted) for some in other.wanted)
            and (other.grouped is None or set(other.grouped.state_columns) <= set(self.grouped.state_columns))  # type: ignore[union-attr]
        )


def computed(node: Node) -> str:
    """How a root's rows are computed, as far as that may change while its id stays."""
    match node:
        case Join():
            return str(node.predicates)
        case Aggregate():
            return f"from groups by {', '.join(map(text, node.finer))}" if node.finer is not None else ""
        case SetOperation():
            return f"from {node.base}" if node.base is not None else ""
        case Source() | Selection() | Window():
            return ""


@dataclass(frozen=True)
class Tree:
    """A running tree: its plan, its rows, the state of its root where it has one, and its log of changes.

    The log is kept where rows are retracted; elsewhere the rows themselves, each with its batch, are the log.
    """

    plan: TreePlan
    relation: Relation
    state: Relation | None
    log: tuple[LogEntry, ...] = ()

    def grown(self, delta: Delta, state_delta: Delta, batch: int) -> Tree:
        """The tree after a batch."""
        if not delta.rows and not state_delta.rows:
            return self
        log = self.log if self.plan.monotone or not delta.rows else (*self.log, LogEntry(batch, delta))
        state = self.state.append(state_delta) if self.state is not None else None
        return replace(self, relation=self.relation.append(delta), state=state, log=log)

    @property
    def rows_kept(self) -> int:
        """Rows of its relation, and groups of its state."""
        return self.relation.rows + (self.state.rows if self.state is not None else 0)

    @property
    def files(self) -> frozenset[str]:
        """All files it still needs."""
        logged = {segment.path for entry in self.log for segment in entry.delta.segments}
        kept = self.relation.files if self.state is None else self.relation.files | self.state.files
        return kept | logged


def monotone_roots(network: Network) -> Mapping[NodeId, bool]:
    """For every tree, whether its rows are never retracted: streams, and joins and UNION ALL of such."""
    monotone: dict[NodeId, bool] = {}
    for root in network.trees:
        node = network.nodes[root]
        parents = [monotone[network.roots[p]] for p in node.parents]
        match node:
            case Aggregate() | Window():
                monotone[root] = False
            case SetOperation():
                monotone[root] = node.operator is SetOperator.UNION_ALL and all(parents)
            case Join() | Source() | Selection():
                monotone[root] = all(parents)
    return monotone


def plan_trees(
    network: Network, bits_before: Mapping[NodeId, Mapping[NodeId, int]], incremental_aggregates: bool = True
) -> dict[NodeId, TreePlan]:
    """The plan of every tree, parents before children. Nodes that were there keep their bits.

    Args:
        network: what is to run.
        bits_before: for every tree that ran, the bit of each of its nodes.
        incremental_aggregates: see ``Options``.
    """
    carried = carried_columns(network)
    monotone = monotone_roots(network)
    readings = _readings(network)
    made = {root: made_columns(network, root, carried[root]) for root in network.trees}
    grouped = _grouped_plans(network, made, monotone, incremental_aggregates)
    keys = _stored_keys(network, grouped)
    plans: dict[NodeId, TreePlan] = {}
    for root, nodes in network.trees.items():
        bits = _assign_bits(nodes, bits_before.get(root, {}))
        tested = _tested(network, nodes)
        wanted = frozenset(frozenset(bits[n] for n in some) for some in readings[root])
        # A group's row is retracted with its lineage, which its tested columns decide.
        kept = made[root] if root in grouped else carried[root]
        compiled = compile_filter({bits[n]: tested[n] for n in nodes}, bits.values(), wanted)
        plans[root] = TreePlan(
            root=root,
            made_of=computed(network.nodes[root]),
            nodes=nodes,
            bits=bits,
            wanted=wanted,
            kept=kept,
            made=made[root],
            monotone=monotone[root],
            filter=compiled,
            grouped=grouped.get(root),
            keys=keys[root],
        )
    return plans


def _grouped_plans(
    network: Network, made: Mapping[NodeId, Columns], monotone: Mapping[NodeId, bool], incremental_aggregates: bool
) -> dict[NodeId, GroupedPlan]:
    """The plans of the trees whose root keeps groups."""
    plans: dict[NodeId, GroupedPlan] = {}
    for root in network.trees:
        match network.nodes[root]:
            case Aggregate() as node:
                over = monotone[network.roots[node.parent]]
                plans[root] = plan_aggregate(node, made[root], over, incremental_aggregates)
            case SetOperation() as node if node.operator is not SetOperator.UNION_ALL:
                plans[root] = plan_set_operation(node)
    return plans


def _stored_keys(network: Network, grouped: Mapping[NodeId, GroupedPlan]) -> Mapping[NodeId, Mapping[str, Expression]]:
    """For every local tree what is computed of its rows to look them up by: keys, and times of windows.

    By the name of the column each is stored in.
    """
    wanted = [by for node in network.nodes.values() if isinstance(node, Join) for by in looked_up(node)]
    windows = [(node.parent, node.within) for node in network.nodes.values() if isinstance(node, Window)]
    windows += [(plan.read.root, plan.window) for plan in network.queries.values()]
    wanted += [(read, time) for read, window in windows for time in times(window)]
    wanted += [(network.nodes[root].parents[0], key) for root, plan in grouped.items() for key in plan.row_keys]
    keys: dict[NodeId, dict[str, Expression]] = {root: {} for root in network.trees}
    for parent, key in wanted:
        if not isinstance(key, Column):
            keys[network.roots[parent]][key_column(key)] = key
    return keys


def _tested(network: Network, nodes: tuple[NodeId, ...]) -> dict[NodeId, PredSet]:
    """What is tested on a root's rows for each node of its tree, parents before children."""
    tested: dict[NodeId, PredSet] = {}
    for id_ in nodes:
        node = network.nodes[id_]
        tested[id_] = TRUE
        if isinstance(node, Selection):
            tested[id_] = normalized(conjunction(tested[node.parent], node.predicates))
    return tested


def _readings(network: Network) -> Mapping[NodeId, set[tuple[NodeId, ...]]]:
    """For every tree which of its nodes are read: each by an operator of another tree, or some together by a query."""
    read: dict[NodeId, set[tuple[NodeId, ...]]] = {root: set() for root in network.trees}
    for plan in network.queries.values():
        read[plan.read.root].add(plan.nodes)
    for node in network.nodes.values():
        if not isinstance(node, Selection):
            for parent in node.parents:
                read[network.roots[parent]].add((parent,))
    return read


def _assign_bits(nodes: tuple[NodeId, ...], old: Mapping[NodeId, int]) -> dict[NodeId, int]:
    bits = {node: old[node] for node in nodes if node in old}
    free = (b for b in range(len(nodes) + len(old)) if b not in set(old.values()))
    return {node: bits[node] if node in bits else next(free) for node in nodes}


def passed_rows(rows: str, plan: TreePlan) -> str:
    """SQL of a root's rows with keys and tested expressions beside the kept columns, ready for the shared pass."""
    # Rows of a grouped root all belong to the batch that runs, which the pass knows.
    marks = [WEIGHT] if plan.grouped is not None else [BATCH, WEIGHT]
    computed = {name: over_rows(key) for name, key in plan.keys.items()} | dict(plan.filter.tests)
    tests = [f"{sql} AS {name}" for name, sql in computed.items()]
    return f"SELECT {', '.join([*marks, *(f'`{name}`' for name in plan.kept), *tests])} FROM ({rows})"
