"""A batch fails for want of memory: the queries that it fails of are disabled, and no other. Here without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.catalog.catalog import Catalog
from workbench.engine.reports import BatchReport
from workbench.engine.spark.failures import JVM_DIED, OutOfMemory, SparkDied
from workbench.engine.state import EngineState
from workbench.limits import Limits
from workbench.options import Options
from workbench.session.changes import StateStore
from workbench.session.directory.directory import SessionDirectory
from workbench.session.failures.batches import Batches
from workbench.session.failures.functions import FunctionFailures
from workbench.session.state import ACTIVE, LAZY, State
from workbench.session.transitions import BoundText, Runtime, register
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema({"t": (("a", INTEGER), ("b", INTEGER))})
QUERIES = 9


class Engine:
    """An engine without rows."""

    interrupts = SimpleNamespace(stoppable=nullcontext, kept_back=nullcontext)

    def __init__(self) -> None:
        self.state = EngineState()

    def undo(self, before: EngineState) -> None:
        self.state = before

    def release(self, before: EngineState, unneeded: object) -> None:
        pass

    def adopt(self, network: object, batch: int, suspended: object = ()) -> None:
        self.state = replace(self.state)

    expire = adopt


class Jobs:
    """A Spark whose JVM dies when it is told to."""

    given, number, dead, limits = False, 0, False, Limits()

    def lost(self, number: int, problem: object = None) -> str | None:
        return JVM_DIED if self.dead or number != self.number else None

    def start_again(self, number: int) -> None:
        self.dead, self.number = False, number + 1


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Any]:
    """What a session's batches work with."""
    directory, jobs = SessionDirectory.new(tmp_path / "s"), Jobs()
    runtime = Runtime(Planner(Options(), Catalog()), Engine())  # type: ignore[arg-type]
    store = StateStore(directory, runtime, jobs)  # type: ignore[arg-type]
    problems = dict[str, str]()
    functions = SimpleNamespace(problems=problems, forget=lambda names: [problems.pop(name) for name in list(names)])
    failures = FunctionFailures(store, runtime, functions)  # type: ignore[arg-type]
    with store.changing() as change:
        texts = {f"q{at}": f"SELECT a FROM t WHERE b > {at // 2} AND a < {at}" for at in range(QUERIES)}
        bound = {name: BoundText(sql, "spark", bind(sql, "spark", SCHEMA), LAZY) for name, sql in texts.items()}
        change.state = register(runtime, change.state, bound)
    batches = Batches(store, runtime, failures)
    yield SimpleNamespace(store=store, jobs=jobs, batches=batches, failures=failures, functions=functions)
    directory.close()


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_guilty_are_disabled_and_no_other(parts: Any, seed: int, dies: bool) -> None:
    rng = Random(seed)
    guilty = {f"q{at}" for at in rng.sample(range(QUERIES), rng.randint(0, 3))}
    computed: list[frozenset[str]] = []

    def compute(state: State) -> tuple[State, BatchReport]:
        computed.append(frozenset(state.network.queries))
        if guilty & state.network.queries.keys():
            parts.jobs.dead = dies
            raise OSError("the connection broke") if dies else OutOfMemory("too large")
        report = BatchReport(state.batch + 1, 0, 0.0, (), {}, {})
        return replace(state, reports=(*state.reports, report)), report

    assert parts.batches.commit(compute).batch == 1 and parts.store.last.batch == 1
    statuses = {name: query.status for name, query in parts.store.last.queries.items()}
    assert {name for name, status in statuses.items() if status != ACTIVE} == guilty
    begun = "Spark's JVM died of batch 1 twice" if dies else "memory ran out for batch 1 twice"
    assert all(statuses[name].startswith(begun) for name in guilty)
    # Halving takes four looks at most of nine queries, after the batch itself and a look without all of them.
    assert len(computed) <= 1 + len(guilty) * 6 + 1


def test_a_function_that_failed_before_a_change_disables_nothing_in_it(parts: Any) -> None:
    """As in a registration that was refused: the next one may call the function, which may not fail for it."""
    parts.functions.problems["f"] = "raised ValueError"
    with parts.failures.changing():
        assert not parts.functions.problems
        parts.functions.problems["g"] = "raised ValueError"
    assert [*parts.functions.problems] == ["g"]
    parts.failures.disable()
    assert not parts.functions.problems


@pytest.mark.parametrize("problem", [OutOfMemory("too large"), SparkDied("died")])
def test_what_fails_once_is_computed_again_and_what_fails_without_queries_is_raised(parts: Any, problem: Any) -> None:
    problems = [problem]

    def compute(state: State) -> tuple[State, BatchReport]:
        if problems:
            raise problems.pop()
        report = BatchReport(state.batch + 1, 0, 0.0, (), {}, {})
        return replace(state, reports=(*state.reports, report)), report

    assert parts.batches.commit(compute).batch == 1
    problems.extend([problem] * 9)
    with pytest.raises(type(problem)):
        parts.batches.commit(compute)
    assert parts.store.last.batch == 1
    assert {query.status for query in parts.store.last.queries.values()} == {ACTIVE}
    assert len(problems) == 6  # the batch twice, and once without any query


def test_work_is_done_once_more_after_the_jvm_has_died(parts: Any) -> None:
    tries: list[int] = []

    def work() -> str:
        with parts.store.using_spark("it was counted"):
            tries.append(parts.jobs.number)
            if len(tries) in (1, 3, 4):
                parts.jobs.dead = True
                raise OSError("the connection broke")
            return "done"

    assert parts.store.once_more(work) == "done" and tries == [0, 1]
    with pytest.raises(SparkDied, match="died while it was counted; nothing has changed, and Spark was started again"):
        parts.store.once_more(work)
    # One that has died between two works is replaced without a word.
    parts.jobs.dead = True
    assert work() == "done" and tries == [0, 1, 1, 2, 4]
