"""Rows that have expired are freed: of small trees by this process, and now and then of large ones by tasks.

Expired rows change no answer, so those of large trees may stay some batches longer, and cost one job for all then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

from workbench.engine.operators.runner import Runner
from workbench.engine.operators.side_steps import SideStep, run_side_steps
from workbench.engine.spark.side_by_side import run_all
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.relation import Relation, tasks_for
from workbench.engine.storage.retention import Expiration, FreeExpired, RetentionBound, with_left
from workbench.engine.storage.segments import segments_of
from workbench.engine.tree import Tree

BoundsOfTrees = Mapping[str, Sequence[RetentionBound]]
"""The rows of trees that will be read, by name."""


def without_expired(
    runner: Runner,
    trees: Mapping[str, Tree],
    bounds: BoundsOfTrees,
    expiration: Expiration,
    threads: Executor,
    large: bool,
) -> dict[str, Tree]:
    """Trees without the rows that no bound covers.

    Args:
        runner: runs a job over large trees.
        trees: by name.
        bounds: of the rows of each that will be read.
        expiration: knows what was seen of small ones.
        threads: free rows of several small ones at a time.
        large: whether those of large ones are freed now.
    """
    most = runner.limits.rows_expired_in_process
    by_tasks = {name for name, tree in trees.items() if tree.relation.rows > most}
    here = [name for name in trees if name not in by_tasks]
    freed = run_all(here, lambda name: trees[name].without_expired(expiration, bounds.get(name)), threads)
    if large:
        freed |= _by_tasks(runner, {name: trees[name] for name in by_tasks}, bounds)
    return freed


def _by_tasks(runner: Runner, trees: Mapping[str, Tree], bounds: BoundsOfTrees) -> dict[str, Tree]:
    parts = {
        (name, role): part for name, tree in trees.items() for role, part in tree.expiring(bounds.get(name)).items()
    }
    steps = {f"{name} {role}": _step(runner, *part) for (name, role), part in parts.items() if part[0].rows}
    answers = run_side_steps(runner, steps, "expire") if steps else {}
    freed = dict(trees)
    for (name, role), (relation, _) in parts.items():
        left = {at: segments_of(run) for task in answers.get(f"{name} {role}", ()) for at, run in task}
        runs = (left.get(at, (segment,)) for at, segment in enumerate(relation.segments))
        freed[name] = freed[name].with_left({role: with_left(relation, runs)}, bounds[name])
    return freed


def _step(runner: Runner, relation: Relation, bounds: tuple[RetentionBound, ...]) -> SideStep:
    work = FreeExpired(relation.layout, str(relation.folder), bounds)
    told = TaskInput(0, (InputRows(relation.segments),))
    return SideStep(relation.folder.name, work, told, tasks_for(relation.rows, runner.jobs))
