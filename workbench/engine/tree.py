"""A local tree as it runs: one relation with lineage for a root and its selections (T9.3, CACQ 3.2.6).

Roots that are siblings run as one tree (``siblings``); all others are alone.

A tree is immutable; a batch makes a grown one. Making one again, because a node joined it or somebody reads more of its
columns, computes its rows anew from its parents' relations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from workbench.engine.compile_filter import CompiledFilter, compile_filter
from workbench.engine.grouped_plan import GroupedPlan, plan_aggregate, plan_set_operation
from workbench.engine.join_keys import key_column, looked_up
from workbench.engine.layout import BATCH, MEMBER, WEIGHT, Layout
from workbench.engine.lineage import WORD
from workbench.engine.needs import Need
from workbench.engine.relation import Relation
from workbench.engine.shared_pass import Delta
from workbench.engine.siblings import families, member
from workbench.engine.statistics import over_rows
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Node, NodeId, Selection, SetOperation, SetOperator, Source, Window
from workbench.network.projection import Columns, carried_columns, made_columns
from workbench.sql.expressions import Column, Constant, Expression, text
from workbench.sql.implication import normalized
from workbench.sql.predicates import TRUE, Literal, Operator, PredSet, conjunction, or_pred
from workbench.sql.types import INTEGER
from workbench.sql.windows import times

V = TypeVar("V")


@dataclass(frozen=True)
class LogEntry:
    """Changes of a tree in one batch; ``whole``: all of its rows, since the tree was made (again) after that batch."""

    batch: int
    delta: Delta
    whole: bool = False


@dataclass(frozen=True, eq=False)
class TreePlan:
    """What a tree must do, derived from the network: the same plan means the same rows.

    ``name``: what it is kept under; that of a root, mostly. ``trees``: the local trees that it runs, by their roots:
    one, or those of siblings. ``inputs``: for each input the name of the tree that is read, and what every root reads
    of it, in the order of the roots. ``made_of``: what of a root's rows its id does not tell, since it may change
    (``computed``).
    """

    name: str
    trees: Mapping[NodeId, tuple[NodeId, ...]]
    inputs: tuple[tuple[str, tuple[NodeId, ...]], ...]
    made_of: str
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
    asked: bool
    """Whether a query reads it, and may ask for its changes."""

    @property
    def logged(self) -> bool:
        """Whether its changes are kept, batch by batch."""
        return self.asked and not self.monotone

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

    @property
    def roots(self) -> tuple[NodeId, ...]:
        """The roots whose rows it has."""
        return tuple(self.trees)

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """All nodes whose rows it has, roots before their selections."""
        return tuple(node for nodes in self.trees.values() for node in nodes)

    def covers(self, other: TreePlan) -> bool:
        """Whether a tree that runs by this plan already has all the other plan asks for."""
        return other.bits.items() <= self.bits.items() and self._has(other, other.wanted)

    def lacks(self, other: TreePlan) -> tuple[NodeId, ...]:
        """The roots whose rows are all that a tree that runs by this plan lacks of what the other asks for, if any."""
        new = tuple(root for root in other.roots if root not in self.trees)
        known = {node: other.bits[node] for root in other.roots if root in self.trees for node in other.trees[root]}
        wanted = [some for some in other.wanted if some <= set(known.values())]
        return new if known == self.bits and self._has(other, wanted) else ()

    def only(self, roots: Collection[NodeId]) -> TreePlan:
        """The plan of the rows of some of a family's roots."""
        assert self.grouped is not None
        return replace(self, grouped=self.grouped.only({member(root) for root in roots}))

    def _has(self, other: TreePlan, wanted: Iterable[frozenset[int]]) -> bool:
        """Whether its rows are made like the other's, are kept for what is wanted, and have all columns."""
        return (
            self.made_of == other.made_of
            and set(other.stored) <= set(self.stored)
            and all(any(mine <= some for mine in self.wanted) for some in wanted)
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

    The log is kept where rows are retracted and a query reads them; where none are, the rows themselves, each with its
    batch, are the log. ``extensible``: no node has left since it was made, so no row has a bit that no node has.
    ``needed``: where rows that are past were freed, what was needed then and so is there.
    """

    plan: TreePlan
    relation: Relation
    state: Relation | None
    log: tuple[LogEntry, ...] = ()
    extensible: bool = False
    needed: tuple[Need, ...] | None = None

    def grown(self, delta: Delta, state_delta: Delta, batch: int) -> Tree:
        """The tree after a batch."""
        if not delta.rows and not state_delta.rows:
            return self
        log = (*self.log, LogEntry(batch, delta)) if self.plan.logged and delta.rows else self.log
        state = self.state.append(state_delta) if self.state is not None else None
        return replace(self, relation=self.relation.append(delta), state=state, log=log)

    def has(self, needs: Iterable[Need]) -> bool:
        """Whether all rows of these needs are there."""
        return self.needed is None or all(any(own.covers(need) for own in self.needed) for need in needs)

    def log_for(self, plan: TreePlan, batch: int) -> tuple[LogEntry, ...]:
        """The log to go on with by another plan; it begins with all rows where nobody asked for changes before."""
        if not plan.logged:
            return ()
        return self.log if self.plan.logged else (LogEntry(batch, Delta(self.relation.segments), whole=True),)

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
    network: Network, bits_before: Mapping[str, Mapping[NodeId, int]], incremental_aggregates: bool = True
) -> dict[str, TreePlan]:
    """The plan of every tree by its name, those it reads before it. Nodes that were there keep their bits.

    Args:
        network: what is to run.
        bits_before: for every tree that ran, the bit of each of its nodes.
        incremental_aggregates: see ``Options``.
    """
    carried = carried_columns(network)
    monotone = monotone_roots(network)
    readings = _readings(network)
    named = families(network, {node: name for name, bits in bits_before.items() for node in bits})
    name_of = {root: name for name, roots in named.items() for root in roots}
    made = {name: _merged(made_columns(network, r, carried[r]) for r in roots) for name, roots in named.items()}
    grouped = {
        name: plan
        for name, roots in named.items()
        if (plan := _grouped_plan(network, roots[0], made[name], monotone, incremental_aggregates)) is not None
    }
    keys = _stored_keys(network, {root: plan for name, plan in grouped.items() for root in named[name]})
    asked = {plan.read.root for plan in network.queries.values()}
    plans: dict[str, TreePlan] = {}
    for name, roots in named.items():
        trees = {root: network.trees[root] for root in roots}
        nodes = tuple(node for root in roots for node in trees[root])
        bits = _assign_bits(nodes, bits_before.get(name, {}))
        wanted = frozenset(frozenset(bits[n] for n in some) for root in roots for some in readings[root])
        tested = {bits[node]: test for root in roots for node, test in _tested(network, root, name in grouped).items()}
        inputs = tuple(
            (name_of[network.roots[read[0]]], read)
            for read in zip(*(network.nodes[root].parents for root in roots), strict=True)
        )
        own = grouped.get(name)
        if own is not None:
            bits_read = [[plans[parent].bits[node] for node in read] for parent, read in inputs]
            own = own.read_by(tuple(zip(map(member, roots), read, strict=True)) for read in bits_read)
            made[name] = {MEMBER: INTEGER, **made[name]}
        plans[name] = TreePlan(
            name=name,
            trees=trees,
            inputs=inputs,
            made_of=computed(network.nodes[roots[0]]),
            bits=bits,
            wanted=wanted,
            # A group's row is retracted with its lineage, which its tested columns decide.
            kept=made[name] if name in grouped else _merged(carried[root] for root in roots),
            made=made[name],
            monotone=monotone[roots[0]],
            filter=compile_filter(tested, bits.values(), wanted),
            grouped=own,
            keys=_merged(keys[root] for root in roots),
            asked=not asked.isdisjoint(roots),
        )
    return plans


def _merged(parts: Iterable[Mapping[str, V]]) -> dict[str, V]:
    return dict(sorted(item for part in parts for item in part.items()))


def _grouped_plan(
    network: Network, root: NodeId, made: Columns, monotone: Mapping[NodeId, bool], incremental_aggregates: bool
) -> GroupedPlan | None:
    """The plan of a root that keeps groups, which is that of all its siblings."""
    match network.nodes[root]:
        case Aggregate() as node:
            return plan_aggregate(node, made, monotone[network.roots[node.parent]], incremental_aggregates)
        case SetOperation() as node if node.operator is not SetOperator.UNION_ALL:
            return plan_set_operation(node)
        case _:
            return None


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


def _tested(network: Network, root: NodeId, of_family: bool) -> dict[NodeId, PredSet]:
    """What is tested on a root's rows for each node of its tree, parents before children; in a family also whose."""
    tested: dict[NodeId, PredSet] = {}
    for id_ in network.trees[root]:
        node = network.nodes[id_]
        tested[id_] = TRUE
        if isinstance(node, Selection):
            tested[id_] = normalized(conjunction(tested[node.parent], node.predicates))
    if not of_family:
        return tested
    own = or_pred([Literal(Column(MEMBER, INTEGER), Operator.EQ, Constant(member(root), INTEGER))])
    return {id_: PredSet((own, *test)) for id_, test in tested.items()}


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
