"""Runs that are due after a batch are merged beside the next one, whose commit names the merged ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pandas as pd
import pytest

from workbench import Session
from workbench.engine import merging
from workbench.engine.incremental_step import IncrementalStep
from workbench.engine.spark.in_process import InProcess
from workbench.engine.state import EngineState
from workbench.engine.storage.merging import merged_here
from workbench.engine.storage.relation import Relation
from workbench.errors import EngineError
from workbench.limits import Limits

LIMITS = Limits(runs_per_merge=2, runs_merged_later=1, states_kept=0)  # a kept state would hold its files, too
ROWS = pd.DataFrame({"id": range(90), "g": [n % 4 for n in range(90)]})
SECONDS = 60


@pytest.fixture
def session() -> Iterator[Session]:
    """A session with runs that are due."""
    with Session(InProcess(), limits=LIMITS) as session:
        session.add_stream("t", ROWS, history=10, batch=10)
        session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g", name="counts")
        session.run(1)
        assert due(session)
        yield session


def due(session: Session) -> list[Relation]:
    """The relations with runs that are due."""
    state = session.parts.engine.state
    of_streams = (relation for relation in state.arrived.values() if relation.due)
    return [*of_streams, *(relation for tree in state.trees.values() for relation in tree.due.values())]


def counts(session: Session) -> dict[int, int]:
    return dict(session.query("counts").result().to_numpy().tolist())


def check(session: Session) -> None:
    """The answer is right, and the session's folder has no files but those that its state names."""
    arrived = ROWS[: 10 * (session.batch + 1)]
    assert counts(session) == arrived.g.value_counts().to_dict()
    state, folder = session.parts.engine.state, session.parts.engine.folder
    assert {str(file) for file in Path(folder).rglob("*.arrow")} == state.files


class Beside:
    """Lets merges and operators wait for each other, so that neither goes on alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: bool = False) -> None:
        merges, evaluates = Event(), Event()
        evaluated = IncrementalStep.evaluate_all

        def merge(relation: Relation) -> Relation:
            merges.set()
            assert evaluates.wait(SECONDS)
            return merged_here(relation)

        def evaluate(step: IncrementalStep, *arguments: Any) -> Any:
            evaluates.set()
            assert merges.wait(SECONDS)
            if fails:
                raise EngineError("an operator failed")
            return evaluated(step, *arguments)

        monkeypatch.setattr(merging, "merged_here", merge)
        monkeypatch.setattr(IncrementalStep, "evaluate_all", evaluate)


def test_runs_are_merged_while_operators_are_evaluated(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    before: EngineState = session.parts.engine.state
    runs = {name: len(relation.runs) for name, relation in before.arrived.items()}
    Beside(monkeypatch)
    session.run(1)
    check(session)
    arrived = session.parts.engine.state.arrived
    assert {name: len(relation.runs) for name, relation in arrived.items()} == runs  # one less, and that of the batch


def test_a_batch_that_fails_leaves_no_merged_runs(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    before = session.parts.engine.state
    with monkeypatch.context() as patch:
        Beside(patch, fails=True)
        with pytest.raises(EngineError, match="an operator failed"):
            session.run(1)
    assert session.parts.engine.state is before
    check(session)
    session.run(7)
    check(session)
