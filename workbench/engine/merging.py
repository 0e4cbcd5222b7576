"""Merges the runs of a state that are due: runs of few rows in this process, all others in one job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, wait
from contextlib import contextmanager
from dataclasses import replace

from workbench.engine.operators.runner import Runner
from workbench.engine.operators.side_steps import SideStep, run_side_steps
from workbench.engine.state import EngineState
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.merging import merge_of_few, merged_here, merging_of
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.segments import segments_of


@contextmanager
def merging(runner: Runner, state: EngineState, thread: Executor) -> Iterator[Callable[[], EngineState]]:
    """Merge all runs of a state that are due, in a thread beside what is done within the context.

    Args:
        runner: runs a job where many rows are merged.
        state: whose runs are merged.
        thread: merges those of few rows.

    Yields:
        Waits for the merges; gives the state with one run in the place of those that were due.
    """
    of_trees = {name: tree.due for name, tree in state.trees.items()}
    of_streams = {name: relation for name, relation in state.arrived.items() if relation.due}
    due = {f"{name} {role}": relation for name, own in of_trees.items() for role, relation in own.items()}
    due |= {f"{relation.folder.name} arrived": relation for relation in of_streams.values()}
    few = {name: relation for name, relation in due.items() if relation.is_merged_here}
    with runner.beside.batch({name: merge_of_few(relation) for name, relation in few.items()}) as by_workers:
        here = {} if runner.beside.workers else {name: thread.submit(merged_here, few[name]) for name in few}

        def merged_state() -> EngineState:
            if not due:
                return state
            merged = {name: due[name].with_merged(segments_of(written)) for name, written in by_workers().items()}
            merged |= {name: relation.result() for name, relation in here.items()}
            merged |= {name: merged_here(few[name]) for name in few.keys() - merged}
            merged |= _by_tasks(runner, {name: due[name] for name in due.keys() - merged})
            trees = {
                name: tree.with_merged({role: merged[f"{name} {role}"] for role in of_trees[name]})
                if of_trees[name]
                else tree
                for name, tree in state.trees.items()
            }
            streams = {name: merged[f"{relation.folder.name} arrived"] for name, relation in of_streams.items()}
            return replace(state, trees=trees, arrived={**state.arrived, **streams})

        try:
            yield merged_state
        finally:
            wait([relation for relation in here.values() if not relation.cancel()])


def merge_due(runner: Runner, relation: Relation) -> Relation:
    """A relation whose runs that are due are merged, by this process where they have few rows."""
    return merged_here(relation) if relation.is_merged_here else _by_tasks(runner, {"": relation})[""]


def _by_tasks(runner: Runner, due: Mapping[str, Relation]) -> dict[str, Relation]:
    """Relations whose runs that are due are merged by tasks."""
    if not due:
        return {}
    steps = {
        name: SideStep(
            relation.folder.name,
            merging_of(relation),
            TaskInput(0, (InputRows(relation.merging),)),
            relation.merge_tasks,
        )
        for name, relation in due.items()
    }
    answers = run_side_steps(runner, steps, "merge")
    return {
        name: relation.with_merged(tuple(segment for fields in answers[name] for segment in segments_of(fields)))
        for name, relation in due.items()
    }
