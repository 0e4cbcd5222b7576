"""What all tests share: one quiet Spark session."""

from __future__ import annotations

import atexit
import gc
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from few import FEW, few, starts_a_process
from long import LONG, PATIENCE, place
from without_kernel import declare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbench.engine.spark.own_workers import OwnWorkers

from workbench.engine.spark.in_process import InProcess

TESTS = Path(__file__).parent

_STARTED: list[SparkSession] = []
"""The Spark session of all tests, once it is there."""

# What is random in every run starts from a seed of this run; processes of one run have the same.
os.environ.setdefault("ARGUS_SEED", str(time.time_ns() // 1_000_000 % 1_000_000_000))


# jsonschema, which nbformat imports, has a grammar of IRIs compiled for a second, where there is one.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Collecting makes millions of objects that stay, which Python would look through again and again: a third of its time.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage of the tests from now on, and never look at what was collected of tests."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # what is never looked at is taken for a leak as the process ends
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A configuration of the tests' own, for the key that signs functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="module", autouse=True)
def secrets_of_a_module() -> Iterator[None]:
    """What a module took for a secret, as the password "wrong", is shown in the next one again."""
    from workbench.errors.secrets import KNOWN_SECRETS

    known = set(KNOWN_SECRETS)
    yield
    KNOWN_SECRETS.intersection_update(known)


def pytest_report_header() -> str:
    """The seed, with which a failure can be played again."""
    return f"ARGUS_SEED={os.environ['ARGUS_SEED']}"


def pytest_unconfigure() -> None:
    """Say how many answers were compared, where that is asked for: each process of a run adds a line."""
    if file := os.environ.get("ARGUS_COMPARED"):
        from oracle.bags import compared

        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(f"{compared['answers']} {compared['rows']}\n")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session on two cores, as the workbench starts one itself; imported late so that other tests stay fast."""
    from workbench.engine.spark.local_session import local_spark

    session = local_spark("argus-tests", cores=2)
    _STARTED.append(session)
    yield session
    session.stop()


@pytest.fixture(scope="module", autouse=True)
def no_views_stay() -> Iterator[None]:
    """Tests of a module leave no view in the Spark session of all."""
    yield
    for session in _STARTED:
        if session.sparkContext._jsc is None:
            continue  # a test has stopped it
        views: Any = session._jsparkSession
        left = views.sessionState().catalog().listLocalTempViews("*").mkString(", ")
        assert not left, f"views are left in the Spark session of all tests: {left}"


@pytest.fixture
def spark_soundex(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts may call a function that no kernel evaluates."""
    declare(monkeypatch)


@pytest.fixture
def own_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnWorkers]:
    """The own workers of this process, one of which has started."""
    from workbench.engine.spark import own_workers

    monkeypatch.setattr(own_workers, "_cores", lambda: 2)
    workers = own_workers.OWN_WORKERS
    workers.end()
    workers.start(math.inf)
    for _ in range(2_400):
        with workers.borrowed() as ready:
            if ready:
                break
        time.sleep(0.05)
    else:
        pytest.fail("no own worker has started in two minutes")
    yield workers
    workers.end()


@pytest.fixture
def in_process() -> InProcess:
    """What runs a session without Spark; for tests of what lies above the engine."""
    from workbench.engine.spark.in_process import InProcess

    return InProcess()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark what uses Spark and what starts processes, so that ``-m "not spark and not slow"`` leaves what is fast.

    Of what is left ``make check`` has some (``few``). The longest files come first (``long.FIRST``). Where all cases
    run, a test may take longer than usual.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        elif starts_a_process(item):
            item.add_marker(pytest.mark.slow)
        if LONG and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(PATIENCE))
    yield
    if FEW:
        chosen, there = few(items, int(os.environ["ARGUS_SEED"])), list(items)
        items[:] = chosen
        config.hook.pytest_deselected(items=list(set(there) - set(chosen)))
    items.sort(key=lambda item: place(os.path.relpath(item.path, TESTS)))
