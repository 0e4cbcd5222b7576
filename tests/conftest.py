"""What all tests share: one quiet Spark session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from long import place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parent


@pytest.fixture(scope="session", autouse=True)
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A configuration of the tests' own, for the key that signs functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session on two cores, as the workbench starts one itself; imported late so that other tests stay fast."""
    from workbench.engine.spark.local_session import local_spark

    session = local_spark("argus-tests", cores=2)
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the session, so that ``-m "not spark"`` leaves the tests that run in milliseconds.

    The longest files come first (``long.FIRST``).
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    items.sort(key=lambda item: place(os.path.relpath(item.path, TESTS)))
