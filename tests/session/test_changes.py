"""A change is committed as a whole, or the state, the catalog, the engine and the planner go back together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.catalog.catalog import Catalog
from workbench.engine.state import EngineState
from workbench.errors import EngineError, SessionError
from workbench.limits import Limits
from workbench.optimizer.statistics import StreamStatistics
from workbench.options import Options
from workbench.session.changes import StateStore
from workbench.session.directory.directory import SessionDirectory
from workbench.session.directory.stored_session import StoredSession
from workbench.session.state import LAZY, State
from workbench.session.transitions import BoundText, Runtime, disable, drop, register
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema


class Uninterrupted:
    """Nothing stops the work of an engine without Spark."""

    stoppable = kept_back = nullcontext


class Engine:
    """An engine without Spark: its state is whatever it was given last."""

    def __init__(self) -> None:
        self.state = EngineState()
        self.interrupts = Uninterrupted()

    def replace_state(self, state: EngineState) -> None:
        self.state = state

    undo = replace_state

    def release(self, before: EngineState, unneeded: object) -> None:
        pass

    def adopt(self, network: object, batch: int, suspended: object = ()) -> None:
        self.state = replace(self.state)

    expire = adopt


class Spark:
    given, number, limits = False, 0, Limits()

    def lost(self, number: int, problem: object = None) -> None:
        return None


@pytest.fixture
def runtime() -> Runtime:
    return Runtime(Planner(Options(), Catalog()), Engine())  # type: ignore[arg-type]


@pytest.fixture
def store(runtime: Runtime, tmp_path: Path) -> Iterator[StateStore]:
    directory = SessionDirectory.new(tmp_path / "s")
    yield StateStore(directory, runtime, Spark())  # type: ignore[arg-type]
    directory.close()


SCHEMA = Schema({"t": (("a", INTEGER), ("b", INTEGER))})
STATISTICS = {"t": StreamStatistics(1_000, {})}


def text(sql: str) -> BoundText:
    return BoundText(sql, "spark", bind(sql, "spark", SCHEMA), LAZY)


def registered(runtime: Runtime, state: State, **texts: str) -> State:
    return register(runtime, state, {name: text(sql) for name, sql in texts.items()})


def test_a_change_that_fails_takes_the_planner_and_the_engine_back(store: StateStore, runtime: Runtime) -> None:
    with store.changing() as change:
        change.state = registered(runtime, change.state, q="SELECT a FROM t WHERE a > 1")
    before, engine, network = store.last, runtime.engine.state, runtime.planner.catalog.network()
    for failure in (ValueError, KeyboardInterrupt):
        with pytest.raises(failure), store.changing() as change:
            runtime.planner.streams = STATISTICS
            change.state = replace(change.state, statistics=STATISTICS)
            change.state = registered(runtime, change.state, q="SELECT b FROM t", p="SELECT a + b AS c FROM t")
            raise failure
        assert store.last is before
        assert runtime.planner.streams == before.statistics == {}
        assert runtime.engine.state is engine is before.engine
        assert runtime.planner.catalog.network() == network == before.network


def test_a_change_that_cannot_be_written_is_undone(
    store: StateStore, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("No space left on device")

    before = store.last
    with monkeypatch.context() as patch:
        patch.setattr(StoredSession, "write", fail)
        with pytest.raises(EngineError, match="No space left"), store.changing() as change:
            runtime.planner.streams = STATISTICS
            change.state = registered(runtime, replace(change.state, statistics=STATISTICS), q="SELECT a FROM t")
    assert store.last is before and runtime.planner.streams == {} and not runtime.planner.catalog.network().nodes


def test_an_interrupt_after_the_commit_leaves_it_committed(
    store: StateStore, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = runtime.planner.catalog
    transaction, depth = catalog.transaction, 0

    @contextmanager
    def interrupted() -> Iterator[None]:
        nonlocal depth
        depth += 1
        with transaction():
            yield
        depth -= 1
        if not depth:
            raise KeyboardInterrupt

    monkeypatch.setattr(catalog, "transaction", interrupted)
    with pytest.raises(KeyboardInterrupt), store.changing() as change:
        change.state = registered(runtime, change.state, q="SELECT a FROM t")
    assert list(store.last.queries) == ["q"] and runtime.planner.catalog.commits == 1


def test_an_older_state_says_what_it_said(store: StateStore, runtime: Runtime) -> None:
    with store.changing() as change:
        change.state = registered(runtime, change.state, q="SELECT a FROM t", p="SELECT b FROM t")
    older = store.last
    q, p = older.queries["q"], older.queries["p"]
    with store.changing() as change:
        change.state = disable(runtime, change.state, {"q": "its function failed"})
    with store.changing() as change:
        change.state = drop(runtime, registered(runtime, change.state, P="SELECT a + b AS c FROM t"), "q")
    assert (older.status(q), older.status(p)) == ("active", "active")
    assert (store.last.status(q), store.last.status(p)) == ("dropped", "replaced")
    assert StoredSession(store.directory, runtime.planner.catalog).queries() == store.last.queries


def test_what_only_reads_changes_nothing(store: StateStore) -> None:
    store.directory.refuse_changes("it is open elsewhere")
    with pytest.raises(SessionError, match="read-only: it is open elsewhere"), store.changing():
        pass
