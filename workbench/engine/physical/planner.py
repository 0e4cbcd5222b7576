"""From the network to physical plans: which roots run as one operator, and what each operator computes and stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar, assert_never

from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.aggregate_plan import (
    GroupedPlan,
    fused_groupings,
    plan_aggregate,
    plan_set_operation,
)
from workbench.engine.physical.analyses import (
    bucket_columns,
    is_bounded,
    lookup_keys,
    mergeable_aggregates,
    read_sets,
    tree_tests,
)
from workbench.engine.physical.elements import WithElements, joins_with_elements
from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.engine.physical.fusion import fused_operators, member, roll_ups_from_rows
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import (
    AggregatePlan,
    AnalyticPlan,
    JoinPlan,
    RecursionPlan,
    SourcePlan,
    TreePlan,
    UnionPlan,
    WindowPlan,
)
from workbench.engine.physical.recursion import RecursionSteps
from workbench.engine.physical.semijoin import Semijoin, all_of, plan_lookups
from workbench.engine.storage.buckets import BucketKey
from workbench.engine.storage.layout import MEMBER
from workbench.limits import LIMITS, Limits
from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Read,
    Recursion,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.network.projection import carried_columns, computed_columns
from workbench.sql.algebra.expressions import Call, Expression, text, walk
from workbench.sql.algebra.types import INTEGER, DataType
from workbench.sql.functions.calls import calls_functions
from workbench.sql.predicates.cnf import conjunction, map_predicates

V = TypeVar("V")


def plan_trees(
    network: Network,
    bits_before: Mapping[str, Mapping[NodeId, int]],
    incremental_aggregates: bool = True,
    limits: Limits = LIMITS,
) -> dict[str, TreePlan]:
    """The plan of every operator by its name; an operator comes after those it reads.

    Args:
        network: what is to run.
        bits_before: for every operator that ran, the bit of each of its nodes. Nodes keep their bits, since stored
            rows have them.
        incremental_aggregates: see ``Options``.
        limits: of a plan.
    """
    # Mergeability comes first, and needs the network as it was planned: it decides which roll-ups and roots may fuse.
    mergeable = mergeable_aggregates(network) if incremental_aggregates else frozenset()
    # Roll-ups come before fusion: a roll-up and the finer aggregate can only be fused when they read the same rows.
    # Elements come after roll-ups, which may read the rows that have them, and before all that reads columns.
    running = joins_with_elements(roll_ups_from_rows(network, mergeable))
    network = running.network
    # Fusion comes before all that is planned by operator. Operators that ran keep their names: folders and reports
    # are found by them.
    operator_before = {node: name for name, bits in bits_before.items() for node in bits}
    operators = fused_operators(network, operator_before, mergeable)
    build = _PlanBuilder(running, operators, incremental_aggregates, limits)
    # Plans are built parents first: a fused aggregate refers to the bits of the nodes it reads.
    plans: dict[str, TreePlan] = {}
    for name in operators:
        plans[name] = build.plan(name, bits_before.get(name, {}), plans)
    return plans


class _PlanBuilder:
    """Builds the plans of a network's operators from the required columns of the readers of every root.

    Args:
        running: what is to run.
        operators: the roots of each operator, by its name.
        incremental: see ``Options.incremental_aggregates``.
        limits: of a plan.
    """

    def __init__(
        self, running: WithElements, operators: Mapping[str, tuple[NodeId, ...]], incremental: bool, limits: Limits
    ) -> None:
        network = running.network
        self.network, self.operators, self.incremental, self.limits = network, operators, incremental, limits
        self.elements = running.stored
        self.name_of = {root: name for name, roots in operators.items() for root in roots}
        self.read_sets = read_sets(network)
        self.query_reads: dict[NodeId, dict[Read, tuple[NodeId, ...]]] = {}
        for query in network.queries.values():
            self.query_reads.setdefault(query.read.root, {})[query.read] = query.nodes
        # Columns come before groupings, which compute only the statistics that are read.
        self.carried = carried_columns(network)
        self.produced = {root: computed_columns(network, root, self.carried[root]) for root in network.trees}
        # Groupings come before tests: rows of fused operators are tested for their member as well.
        self.groupings = {name: plan for name, roots in operators.items() if (plan := self._grouping(roots))}
        self.tests = {
            root: tree_tests(network, root, fused=name in self.groupings) for root, name in self.name_of.items()
        }
        # Tests come before lookups: pairs are looked up by what the selections on a join require.
        self.lookups = {root: self._lookup(root) for root in network.trees if isinstance(network.nodes[root], Join)}
        self.semijoined = frozenset(node for _, semijoins in self.lookups.values() for node in semijoins)
        # Lookups and groupings come before the keys that they look rows up by.
        paths = {
            root: (*paths, *(s.path for s in all_of(semijoins))) for root, (paths, semijoins) in self.lookups.items()
        }
        row_keys = {root: plan.row_keys for name, plan in self.groupings.items() for root in operators[name]}
        self.lookup_keys = lookup_keys(network, self.produced, paths, row_keys, self._grouped_without_kernel())
        anew = {root: row_keys[root] for root in row_keys if self.groupings[self.name_of[root]].anew is not None}
        self.bucket_columns = bucket_columns(network, paths, anew)

    def plan(self, name: str, old_bits: Mapping[NodeId, int], plans: Mapping[str, TreePlan]) -> TreePlan:
        """Plan one operator; ``plans`` has the plans of the operators that it reads."""
        roots = self.operators[name]
        trees = {root: self.network.trees[root] for root in roots}
        bits = _assign_bits(tuple(node for nodes in trees.values() for node in nodes), old_bits)
        kept_for = frozenset(frozenset(bits[n] for n in some) for root in roots for some in self.read_sets[root])
        read_by_roots = zip(*(self.network.nodes[root].inputs for root in roots), strict=True)
        inputs = tuple((self.name_of[self.network.roots[read[0][0]]], read) for read in read_by_roots)
        produced = self._produced_by(roots)
        # A group's row is retracted with its lineage, which the tested columns decide: so those are stored too.
        kept = _merged(self.carried[root] for root in roots)
        if name in self.groupings:
            kept = produced = {MEMBER: INTEGER, **produced}
        elif any(is_bounded(self.network.nodes[root]) for root in roots):
            # First rows that leave are told from the rows that are kept, with all columns.
            kept = produced
        tests = {bits[node]: test for root in roots for node, test in self.tests[root].items()}
        query_reads = {
            read: frozenset(bits[node] for node in nodes)
            for root in roots
            for read, nodes in self.query_reads.get(root, {}).items()
        }
        bits_read = [
            [tuple(sorted(plans[parent].bits[node] for node in nodes)) for nodes in read] for parent, read in inputs
        ]
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
            filter=compile_filter(tests, bits.values(), kept_for, produced),
            keys=_merged(self.lookup_keys[root] for root in roots),
            query_reads=query_reads,
            looked_up_by=self._looked_up_by(name),
            elements=self.elements.get(roots[0], {}),
        )

    def _looked_up_by(self, name: str) -> BucketKey | None:
        """The key of the buckets of an operator's rows: its groups, where it looks them up itself."""
        grouping = self.groupings.get(name)
        if grouping is not None and grouping.looks_up_rows:
            return BucketKey(tuple(grouping.groups), of_groups=True)
        counted = sum((self.bucket_columns[root] for root in self.operators[name]), Counter[tuple[str, ...]]())
        most = max(counted.items(), key=lambda item: (item[1], item[0]), default=None)
        return None if most is None else BucketKey(most[0])

    def _kind(self, name: str, bits_read: Sequence[Sequence[tuple[int, ...]]]) -> Callable[..., TreePlan]:
        """The class of an operator's plan with the fields that this class adds to ``BasePlan``.

        Args:
            name: of the operator.
            bits_read: for each input the bits of the nodes that each root reads.
        """
        roots = self.operators[name]
        node = self.network.nodes[roots[0]]
        match node:
            case Source():
                return partial(SourcePlan, stream=node.stream)
            case Join():
                paths, semijoins = self.lookups[node.id]
                return partial(JoinPlan, join=node, access_paths=paths, semijoins=semijoins)
            case Window():
                return partial(WindowPlan, window=node)
            case Recursion():
                return partial(RecursionPlan, steps=RecursionSteps(node))
            case SetOperation() if node.operator is SetOperator.UNION_ALL:
                return partial(UnionPlan, union=node)
            case Analytic():
                return partial(AnalyticPlan, node=node)
            case Aggregate() | SetOperation():
                grouped = self.groupings[name].read_by(
                    tuple(zip(map(member, roots), bits, strict=True)) for bits in bits_read
                )
                over = frozenset(r for r in roots if self._reads_semijoin(r))
                return partial(AggregatePlan, grouped=grouped, over_semijoin=over, outputs=self._outputs(roots))
            case Selection():
                raise ValueError(f"selection {node.id} has no operator of its own")
            case _:
                assert_never(node)

    def _grouped_without_kernel(self) -> Iterator[tuple[NodeId, Expression]]:
        """What operators that group read and no kernel evaluates, each with the node that they read it of."""
        for name, grouping in self.groupings.items():
            for branch in range(len(grouping.branches)):
                for value in grouping.stored(branch).values():
                    yield from ((self.network.nodes[root].inputs[branch][0], value) for root in self.operators[name])

    def _reads_semijoin(self, root: NodeId) -> bool:
        """Whether a root reads a node of which only some pairs are stored; of several nodes all pairs are stored."""
        return any(len(read) == 1 and read[0] in self.semijoined for read in self.network.nodes[root].inputs)

    def _produced_by(self, roots: Iterable[NodeId]) -> dict[str, DataType]:
        return _merged(self.produced[root] for root in roots)

    def _grouping(self, roots: Sequence[NodeId]) -> GroupedPlan | None:
        match self.network.nodes[roots[0]]:
            case Aggregate() as first:
                same_groups: dict[tuple[Expression, ...], list[Aggregate]] = {}
                for root in roots:
                    node = self.network.nodes[root]
                    assert isinstance(node, Aggregate)
                    same_groups.setdefault((*node.groups, *map(node.direct_group, node.groups)), []).append(node)
                produced = self._produced_by(roots)
                monotone = self.network.monotone[self.network.roots[first.parents[0]]]
                return fused_groupings(
                    [
                        (plan_aggregate(own[0], produced, monotone, self.incremental), {member(n.id) for n in own})
                        for own in same_groups.values()
                    ]
                )
            case Recursion():
                return None
            case SetOperation() as node if node.operator is not SetOperator.UNION_ALL:
                return plan_set_operation(node)
            case _:
                return None

    def _outputs(self, roots: Sequence[NodeId]) -> dict[str, Expression]:
        """The expressions of answers that are computed once, as rows are written, by the name of their column.

        A user function is called for the rows of its own query only, when they are read.
        """
        expressions = (
            expression
            for query in self.network.queries.values()
            if query.read.root in roots
            for expression in query.expressions
        )
        terms = self.limits.terms_per_output
        computed = {
            key_column(e): e
            for e in expressions
            if isinstance(e, Call) and not calls_functions(e) and sum(1 for _ in walk(e)) <= terms
        }
        return dict(list(computed.items())[: self.limits.outputs_per_tree])

    def _lookup(self, root: NodeId) -> tuple[tuple[AccessPath, ...], Mapping[NodeId, frozenset[Semijoin]]]:
        """How the pairs of a join are looked up."""
        tests, join = self.tests[root], self.network.nodes[root]
        assert isinstance(join, Join)
        required = {nodes: conjunction(*(tests[node] for node in nodes)) for nodes in self.read_sets[root]}
        if join.elements:  # paths are looked for over the columns of the sides
            required = {nodes: map_predicates(tested, join.of_carried) for nodes, tested in required.items()}
        produced = self.produced if self.network.monotone[root] else None
        return plan_lookups(self.network, root, required, produced, self.limits.paths_per_join)


def _changing_definition(node: Node) -> str:
    """The part of a root's definition that may change while its id stays; its rows must then be computed again."""
    match node:
        case Join():
            return str(node.predicates)
        case Aggregate():
            return f"from groups by {', '.join(map(text, node.finer))}" if node.finer is not None else ""
        case SetOperation():
            return f"from {node.base}" if node.base is not None else ""
        case Analytic():
            return str(node.bound)
        case Source() | Selection() | Window():
            return ""


def _merged(parts: Iterable[Mapping[str, V]]) -> dict[str, V]:
    return dict(sorted(item for part in parts for item in part.items()))


def _assign_bits(nodes: tuple[NodeId, ...], old: Mapping[NodeId, int]) -> dict[NodeId, int]:
    bits = {node: old[node] for node in nodes if node in old}
    taken = frozenset(old.values())
    free = (b for b in range(len(nodes) + len(old)) if b not in taken)
    return {node: bits[node] if node in bits else next(free) for node in nodes}
