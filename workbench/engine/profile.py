"""A profile: what each node of a batch costs alone.

A shared operator computes its nodes together, and its time cannot be divided among them. So a profile computes the same
change again for each node, by a plan for that node alone, from the same rows of its parents. The sum over an operator's
nodes, compared with the time for all of them together, is what sharing saves. Both are measured on a second run, since
Spark plans during the first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.engine.incremental_step import IncrementalStep
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.access_paths import access_paths
from workbench.engine.physical.analyses import tree_tests
from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.engine.physical.plans import AggregatePlan, JoinPlan, TreePlan
from workbench.engine.reports import OperatorReport
from workbench.engine.schedule import Meter
from workbench.engine.state import Deltas
from workbench.engine.tree import Tree
from workbench.network.network import Network
from workbench.network.nodes import NodeId


def profiled(
    step: IncrementalStep,
    network: Network,
    deltas: Mapping[str, Deltas],
    reports: Sequence[OperatorReport],
    folder: Path,
    meter: Meter,
) -> list[OperatorReport]:
    """The reports of a batch's operators with the seconds of each of their nodes alone.

    Args:
        step: the batch.
        network: what runs.
        deltas: the changes of all trees in it.
        reports: of the operators that had work.
        folder: where rows are written and not kept; every worker must reach it.
        meter: counts the nodes.
    """
    trees = [step.state.trees[report.name] for report in reports]
    runner = Runner(step.runner.jobs, folder, step.runner.functions)
    aside = replace(step, runner=runner)
    try:
        with meter.counting(step.batch, [node for tree in trees for node in read_nodes(tree.plan)]):
            pairs = zip(reports, trees, strict=True)
            return [_profiled(aside, network, tree, report, deltas, meter) for report, tree in pairs]
    finally:
        runner.forget()


def _profiled(
    step: IncrementalStep,
    network: Network,
    tree: Tree,
    report: OperatorReport,
    deltas: Mapping[str, Deltas],
    meter: Meter,
) -> OperatorReport:
    """The report of one operator."""
    alone = {}
    for node in read_nodes(tree.plan):
        plan = alone_plan(tree.plan, network, node)
        alone[node] = _seconds(step, replace(tree, plan=plan), deltas)
        meter.count(node)
    return replace(report, alone=alone, together=_seconds(step, tree, deltas))


def _seconds(step: IncrementalStep, tree: Tree, deltas: Mapping[str, Deltas]) -> float:
    """How long a tree takes once Spark has planned it."""
    step.delta(tree, deltas)
    started = time.perf_counter()
    step.delta(tree, deltas)
    return time.perf_counter() - started


def read_nodes(plan: TreePlan) -> list[NodeId]:
    """The nodes of a tree with readers; other nodes are there only for their selections."""
    read = frozenset[int]().union(*plan.kept_for)
    return [node for node in plan.nodes if plan.bits[node] in read]


def alone_plan(plan: TreePlan, network: Network, node: NodeId) -> TreePlan:
    """The plan of a tree for one of its nodes, as if the others had no readers.

    It keeps the tree's columns and access paths, since the stored rows of its parents have the keys of those.
    """
    root, bit = network.roots[node], plan.bits[node]
    at = plan.roots.index(root)
    kept_for = frozenset({frozenset({bit})})
    test = tree_tests(network, root, fused=isinstance(plan, AggregatePlan))[node]
    alone = replace(
        plan,
        trees={root: (node,)},
        inputs=tuple((name, (read[at],)) for name, read in plan.inputs),
        bits={node: bit},
        kept_for=kept_for,
        filter=compile_filter({bit: test}, [bit], kept_for, plan.produced),
    )
    match alone:
        case AggregatePlan():
            return alone.only([root])
        case JoinPlan(semijoins=semijoins) if node in semijoins:
            return replace(alone, access_paths=(), semijoins={node: semijoins[node]})
        case JoinPlan(join=join, access_paths=paths):
            required = access_paths(join, [test])
            finding = tuple(path for path in paths if any(path.finds(own) for own in required))
            return replace(alone, access_paths=finding or paths, semijoins={})
        case _:
            return alone
