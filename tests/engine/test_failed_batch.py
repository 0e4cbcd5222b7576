"""A batch, or a registration, that fails on the way leaves everything as it was, and can be tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from workbench.engine.operators.runner import Runner
from workbench.engine.spark.jobs import SparkJobs
from workbench.engine.storage.relation import Relation
from workbench.errors import EngineError
from workbench.limits import Limits

CASES = ["selection_or", "join_self", "aggregate_by_group", "aggregate_of_aggregates", "set_except_all"]


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Iterator[Oracle]:
    """One session for all tests: each of them must leave it right."""
    feeds = {
        "t": Feed(stream(160, seed=8), history=30, batch=16),
        "u": Feed(stream(110, seed=9), history=10, batch=12),
        "names": Feed(names(8), static=True),
    }
    with Oracle(spark, feeds) as made:
        made.register({name: ALL[name] for name in CASES})
        made.run(1, check=False)
        yield made


@pytest.fixture(params=["steps here", "jobs of Spark"])
def broken(request: pytest.FixtureRequest, oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> tuple[type[Any], str]:
    """The class and the name of the method that is to fail."""
    here = request.param == "steps here"
    limits = Limits() if here else Limits(rows_stepped_in_process=-1, rows_hydrated_in_process=-1)
    monkeypatch.setattr(oracle.session.parts.jobs, "limits", limits)
    return (Runner, "run_here") if here else (SparkJobs, "run")


def failing(original: Callable[..., Any], after: int) -> Callable[..., Any]:
    """The function, but it raises what Spark raises once it was called ``after`` times."""
    calls = 0

    def wrapped(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise PySparkRuntimeError("a worker was lost")
        return original(*arguments, **named)

    return wrapped


@pytest.mark.parametrize("after", [0, 1])  # a batch has one job for each depth of the network below the streams
def test_a_failing_operator(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, after: int, broken: tuple[type[Any], str]
) -> None:
    session = oracle.session
    before = (session.batch, {name: s.position for name, s in session.streams.items()}, session.reports[:])
    with monkeypatch.context() as patch:
        patch.setattr(*broken, failing(getattr(*broken), after))
        with pytest.raises(EngineError, match="a worker was lost"):
            session.run(1)
    assert (session.batch, {name: s.position for name, s in session.streams.items()}, session.reports) == before
    oracle.check_results()
    oracle.run(1)
    oracle.check_changes(since=True)


def test_failing_to_keep_the_rows(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Relation, "append", failing(Relation.append, 3))
        with pytest.raises(EngineError):
            oracle.session.run(1)
    oracle.check_results()
    oracle.run(1)
    oracle.check_changes()


@pytest.mark.parametrize("after", [0, 1])
def test_a_failing_registration(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, after: int, broken: tuple[type[Any], str]
) -> None:
    session = oracle.session
    before = (list(session.queries), list(session.views), session.network.to_text())
    with monkeypatch.context() as patch:
        patch.setattr(*broken, failing(getattr(*broken), after))
        with pytest.raises(EngineError, match="a worker was lost"):
            session.register_many(
                {"new": ALL["join_counted"].sql, "lowest": "SELECT g, MIN(x) AS lo FROM t GROUP BY g"}
            )
    assert (list(session.queries), list(session.views), session.network.to_text()) == before
    oracle.run(1)
    oracle.register({"new": ALL["join_counted"]})
    oracle.check_changes()
    oracle.drop("new")


def test_a_failing_registration_keeps_what_the_old_tree_needs(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that is made again shares its log with the one it would have replaced."""
    lowest = "SELECT g, MIN(x) AS lo FROM t GROUP BY g"
    oracle.session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g", name="counted")
    with monkeypatch.context() as patch:
        patch.setattr(Runner, "run_here", failing(Runner.run_here, 1))
        with pytest.raises(EngineError, match="a worker was lost"):
            oracle.session.register_many({"lo": lowest, "n": f"SELECT COUNT(*) AS n FROM ({lowest}) v WHERE lo > 0"})
    # Reading would not tell: who has a file open goes on reading it when it is gone.
    needed = {file for tree in oracle.session.parts.engine.state.trees.values() for file in tree.files}
    assert needed and all(Path(file).exists() for file in needed)
    oracle.session.drop("counted")
