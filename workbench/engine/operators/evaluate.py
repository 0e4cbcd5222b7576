"""Which operator evaluates which kind of node, and how the operators of one depth are evaluated together.

Every operator takes the changes of its parents (Z-sets) to the change of its tree. Rows before the batch are looked up
by key or by time wherever there is one. Hydration is the same step with all rows of the parents as the change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import assert_never

from workbench.engine.operators.analytic.job import analytic_job
from workbench.engine.operators.grouped.aggregate import aggregate_job
from workbench.engine.operators.join import join_job
from workbench.engine.operators.operator_input import Exchange, OperatorInput, Prepared
from workbench.engine.operators.recursion.fixpoint import recursion_job
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.side_steps import run_side_steps
from workbench.engine.operators.union_all import union_job
from workbench.engine.operators.window import window_job
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
from workbench.engine.storage.relation import Delta


def evaluate_operator(runner: Runner, operator: OperatorInput) -> tuple[Delta, Delta]:
    """All rows of a tree that is hydrated, and of its root's state."""
    return hydrated(
        runner,
        operator.plan,
        runner.is_small(operator.stored_changes, operator.changed_segments, hydrating=True),
        lambda here: _prepared(runner, replace(operator, hydrated_here=here)),
    )


def hydrated(runner: Runner, plan: TreePlan, small: bool, prepared: Callable[[bool], Prepared]) -> tuple[Delta, Delta]:
    """All rows of a tree, and of its root's state: by this process, or of many rows by a job of Spark.

    Args:
        runner: runs it.
        plan: the tree's.
        small: whether this process is to do it (``Runner.is_small``); it may find that Spark must.
        prepared: gives the operator, for this process or for Spark.
    """
    operator = prepared(small)
    if operator.job is None:
        return operator.deltas(None)
    if small and not isinstance(operator.job, Exchange):
        delta = runner.run_here(plan.name, operator.job, runner.limits.milliseconds_hydrated_in_process)
        if delta is not None:
            return operator.deltas(delta)
        operator = prepared(False)
    return run_prepared(runner, {plan.name: operator})[plan.name]


def prepare(runner: Runner, operator: OperatorInput) -> Prepared:
    """The job of an operator; its input is written."""
    rows, change = operator.stored_changes, [*operator.changed_segments]
    small, by_threads = runner.is_small(rows, change), runner.is_small(rows, change, by_threads=True)
    made = _prepared(runner, operator)
    return Prepared(made.job, made.rows, small, by_threads)


def _prepared(runner: Runner, operator: OperatorInput) -> Prepared:
    match operator.plan:
        case JoinPlan() as plan:
            return Prepared(join_job(runner, operator, plan))
        case WindowPlan() as plan:
            return Prepared(window_job(runner, operator, plan))
        case UnionPlan() as plan:
            return Prepared(union_job(runner, operator, plan))
        case AnalyticPlan() as plan:
            return Prepared(analytic_job(runner, operator, plan))
        case AggregatePlan() as plan:
            return aggregate_job(runner, operator, plan)
        case RecursionPlan() as plan:
            return Prepared(recursion_job(runner, operator, plan))
        case SourcePlan():
            raise ValueError("a source has no parents: its rows arrive (operators.source)")
        case _:
            assert_never(operator.plan)


def run_prepared(
    runner: Runner, prepared: Mapping[str, Prepared], threads: Executor | None = None
) -> dict[str, tuple[Delta, Delta]]:
    """The changes of some trees, and of their states: one job of Spark at most, and before it one for all exchanges.

    Args:
        runner: runs them.
        prepared: the operators.
        threads: run steps over some rows side by side; without them this thread does.
    """
    exchanges = {name: job for name, each in prepared.items() if isinstance(job := each.job, Exchange)}
    ready = {**prepared, **_after_exchanges(runner, exchanges)}
    jobs = {name: job for name, each in ready.items() if not isinstance(job := each.job, Exchange | None)}
    small = [name for name in jobs if ready[name].small]
    by_threads = [name for name in jobs if ready[name].by_threads and not ready[name].small]
    deltas = runner.run(jobs, small, by_threads, threads)
    return {name: each.deltas(deltas.get(name)) for name, each in ready.items()}


def _after_exchanges(runner: Runner, exchanges: Mapping[str, Exchange]) -> dict[str, Prepared]:
    """Run exchanges; gives the remaining work of their operators."""
    steps = {name: exchange.step for name, exchange in exchanges.items()}
    answers = run_side_steps(runner, steps, "exchange") if steps else {}
    return {name: exchange.then(answers[name]) for name, exchange in exchanges.items()}
