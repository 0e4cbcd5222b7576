"""From the network to physical plans: which roots run as one operator, and what each operator computes and stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar, assert_never

from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.aggregate_plan import (
    GroupedPlan,
    fused_groupings,
    plan_aggregate,
    plan_set_operation,
)
from workbench.engine.physical.analyses import (
    lookup_keys,
    mergeable_aggregates,
    read_sets,
    tree_tests,
)
from workbench.engine.physical.filter_plan import compile_filter
from workbench.engine.physical.fusion import fused_operators, member, roll_ups_from_rows
from workbench.engine.physical.plans import AggregatePlan, JoinPlan, SourcePlan, TreePlan, UnionPlan, WindowPlan
from workbench.engine.physical.semijoin import Semijoin, all_of, plan_lookups
from workbench.engine.storage.layout import MEMBER
from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Join,
    Node,
    NodeId,
    Read,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.network.projection import Columns, carried_columns, computed_columns
from workbench.sql.algebra.expressions import Expression, text
from workbench.sql.algebra.types import INTEGER, DataType
from workbench.sql.predicates.cnf import PredSet, conjunction

V = TypeVar("V")


def plan_trees(
    network: Network, bits_before: Mapping[str, Mapping[NodeId, int]], incremental_aggregates: bool = True
) -> dict[str, TreePlan]:
    """The plan of every operator by its name; an operator comes after those it reads.

    Args:
        network: what is to run.
        bits_before: for every operator that ran, the bit of each of its nodes. Nodes keep their bits, since stored
            rows have them.
        incremental_aggregates: see ``Options``.
    """
    # Mergeability comes first, and needs the network as it was planned: it decides which roll-ups and roots may fuse.
    mergeable = mergeable_aggregates(network) if incremental_aggregates else frozenset()
    # Roll-ups come before fusion: a roll-up and the finer aggregate can only be fused when they read the same rows.
    network = roll_ups_from_rows(network, mergeable)
    # Fusion comes before all that is planned by operator. Operators that ran keep their names: folders and reports
    # are found by them.
    operator_before = {node: name for name, bits in bits_before.items() for node in bits}
    operators = fused_operators(network, operator_before, mergeable)
    # Groupings come before the filters (rows of fused operators are tested for their member) and before the lookup
    # keys (rows of dirty groups are looked up by their groups).
    build = _PlanBuilder(network, operators, incremental_aggregates)
    # Plans are built parents first: a fused aggregate refers to the bits of the nodes it reads.
    plans: dict[str, TreePlan] = {}
    for name in operators:
        plans[name] = build.plan(name, bits_before.get(name, {}), plans)
    return plans


@dataclass(frozen=True)
class _PlanBuilder:
    """Builds the plans of a network's operators from what its readers require of every root.

    Attributes:
        network: what is to run.
        operators: the roots of each operator, by its name.
        incremental: see ``Options.incremental_aggregates``.
    """

    network: Network
    operators: Mapping[str, tuple[NodeId, ...]]
    incremental: bool

    def plan(self, name: str, old_bits: Mapping[NodeId, int], plans: Mapping[str, TreePlan]) -> TreePlan:
        """The plan of one operator; ``plans`` has those of the operators it reads."""
        roots = self.operators[name]
        trees = {root: self.network.trees[root] for root in roots}
        bits = _assign_bits(tuple(node for nodes in trees.values() for node in nodes), old_bits)
        kept_for = frozenset(frozenset(bits[n] for n in some) for root in roots for some in self._read_sets[root])
        parents = zip(*(self.network.nodes[root].parents for root in roots), strict=True)
        inputs = tuple((self._name_of[self.network.roots[read[0]]], read) for read in parents)
        produced = self._produced(roots)
        # A group's row is retracted with its lineage, which the tested columns decide: so those are stored too.
        kept = _merged(self._carried[root] for root in roots)
        if name in self._groupings:
            kept = produced = {MEMBER: INTEGER, **produced}
        tests = {bits[node]: test for root in roots for node, test in self._tests[root].items()}
        query_reads = {
            read: frozenset(bits[node] for node in nodes)
            for root in roots
            for read, nodes in self._query_reads.get(root, {}).items()
        }
        bits_read = [[plans[parent].bits[node] for node in nodes] for parent, nodes in inputs]
        return self._kind(name, bits_read)(
            name=name,
            trees=trees,
            inputs=inputs,
            definitions={root: _changing_definition(self.network.nodes[root]) for root in roots},
            bits=bits,
            kept_for=kept_for,
            kept=kept,
            produced=produced,
            monotone=self.network.monotone[roots[0]],
            filter=compile_filter(tests, bits.values(), kept_for, kept),
            keys=_merged(self._lookup_keys[root] for root in roots),
            query_reads=query_reads,
        )

    def _kind(self, name: str, bits_read: Sequence[Sequence[int]]) -> Callable[..., TreePlan]:
        """The class of an operator's plan with the fields that this class adds to ``BasePlan``.

        Args:
            name: of the operator.
            bits_read: for each input the bit of the node that each root reads.
        """
        roots = self.operators[name]
        node = self.network.nodes[roots[0]]
        match node:
            case Source():
                return partial(SourcePlan, stream=node.stream)
            case Join():
                paths, semijoins = self._lookups[node.id]
                return partial(JoinPlan, join=node, access_paths=paths, semijoins=semijoins)
            case Window():
                return partial(WindowPlan, window=node)
            case SetOperation() if node.operator is SetOperator.UNION_ALL:
                return partial(UnionPlan, union=node)
            case Aggregate() | SetOperation():
                grouped = self._groupings[name].read_by(
                    tuple(zip(map(member, roots), bits, strict=True)) for bits in bits_read
                )
                over = frozenset(r for r in roots if not self._semijoined.isdisjoint(self.network.nodes[r].parents))
                return partial(AggregatePlan, grouped=grouped, over_semijoin=over)
            case Selection():
                raise ValueError(f"selection {node.id} has no operator of its own")
            case _:
                assert_never(node)

    @cached_property
    def _name_of(self) -> Mapping[NodeId, str]:
        return {root: name for name, roots in self.operators.items() for root in roots}

    @cached_property
    def _carried(self) -> Mapping[NodeId, Columns]:
        return carried_columns(self.network)

    @cached_property
    def _produced_by(self) -> Mapping[NodeId, Columns]:
        return {root: computed_columns(self.network, root, self._carried[root]) for root in self.network.trees}

    def _produced(self, roots: Iterable[NodeId]) -> dict[str, DataType]:
        return _merged(self._produced_by[root] for root in roots)

    @cached_property
    def _query_reads(self) -> Mapping[NodeId, Mapping[Read, tuple[NodeId, ...]]]:
        """For every root that queries read what they read of it, and the nodes that have those rows."""
        reads: dict[NodeId, dict[Read, tuple[NodeId, ...]]] = {}
        for plan in self.network.queries.values():
            reads.setdefault(plan.read.root, {})[plan.read] = plan.nodes
        return reads

    @cached_property
    def _read_sets(self) -> Mapping[NodeId, set[tuple[NodeId, ...]]]:
        return read_sets(self.network)

    @cached_property
    def _groupings(self) -> Mapping[str, GroupedPlan]:
        """How the operators that have a state for each group run."""
        return {name: plan for name, roots in self.operators.items() if (plan := self._grouping(roots)) is not None}

    def _grouping(self, roots: Sequence[NodeId]) -> GroupedPlan | None:
        match self.network.nodes[roots[0]]:
            case Aggregate() as first:
                same_groups: dict[tuple[Expression, ...], list[Aggregate]] = {}
                for root in roots:
                    node = self.network.nodes[root]
                    assert isinstance(node, Aggregate)
                    same_groups.setdefault((*node.groups, *map(node.direct_group, node.groups)), []).append(node)
                produced, monotone = self._produced(roots), self.network.monotone[self.network.roots[first.parent]]
                return fused_groupings(
                    [
                        (plan_aggregate(own[0], produced, monotone, self.incremental), {member(n.id) for n in own})
                        for own in same_groups.values()
                    ]
                )
            case SetOperation() as node if node.operator is not SetOperator.UNION_ALL:
                return plan_set_operation(node)
            case _:
                return None

    @cached_property
    def _tests(self) -> Mapping[NodeId, Mapping[NodeId, PredSet]]:
        return {
            root: tree_tests(self.network, root, fused=self._name_of[root] in self._groupings)
            for root in self.network.trees
        }

    @cached_property
    def _lookups(self) -> Mapping[NodeId, tuple[tuple[AccessPath, ...], Mapping[NodeId, frozenset[Semijoin]]]]:
        """For every join how its pairs are looked up."""
        lookups = {}
        for root, sets in self._read_sets.items():
            if isinstance(self.network.nodes[root], Join):
                tests = self._tests[root]
                required = {nodes: conjunction(*(tests[node] for node in nodes)) for nodes in sets}
                produced = self._produced_by if self.network.monotone[root] else None
                lookups[root] = plan_lookups(self.network, root, required, produced)
        return lookups

    @cached_property
    def _semijoined(self) -> frozenset[NodeId]:
        """The nodes of joins of which only some pairs are stored."""
        return frozenset(node for _, semijoins in self._lookups.values() for node in semijoins)

    @cached_property
    def _lookup_keys(self) -> Mapping[NodeId, Mapping[str, Expression]]:
        paths = {
            root: (*paths, *(semijoin.path for semijoin in all_of(semijoins)))
            for root, (paths, semijoins) in self._lookups.items()
        }
        row_keys = {root: plan.row_keys for name, plan in self._groupings.items() for root in self.operators[name]}
        return lookup_keys(self.network, paths, row_keys)


def _changing_definition(node: Node) -> str:
    """The part of a root's definition that may change while its id stays: rows must be computed anew then."""
    match node:
        case Join():
            return str(node.predicates)
        case Aggregate():
            return f"from groups by {', '.join(map(text, node.finer))}" if node.finer is not None else ""
        case SetOperation():
            return f"from {node.base}" if node.base is not None else ""
        case Source() | Selection() | Window():
            return ""


def _merged(parts: Iterable[Mapping[str, V]]) -> dict[str, V]:
    return dict(sorted(item for part in parts for item in part.items()))


def _assign_bits(nodes: tuple[NodeId, ...], old: Mapping[NodeId, int]) -> dict[NodeId, int]:
    bits = {node: old[node] for node in nodes if node in old}
    free = (b for b in range(len(nodes) + len(old)) if b not in set(old.values()))
    return {node: bits[node] if node in bits else next(free) for node in nodes}
