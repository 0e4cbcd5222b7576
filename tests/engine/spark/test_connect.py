"""A session on Spark Connect: a server on the loopback interface, and a driver of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from long import LONG, PATIENCE, rare

pytestmark = pytest.mark.spark
TESTS = Path(__file__).parents[2]


@pytest.mark.timeout(PATIENCE if LONG else 300)
@pytest.mark.parametrize(
    ("queries", "number"), [("fed-manual", 24 if LONG else 6), pytest.param("day", 25, marks=rare)]
)
def test_queries_answer_by_spark_connect(queries: str, number: int) -> None:
    pytest.importorskip("grpc_status", reason="pip install 'argus-workbench[connect]'")
    seconds = PATIENCE / 2 if LONG else 280
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    asked = [sys.executable, str(Path(__file__).with_name("connect_driver.py")), "local[2]", queries]
    run = subprocess.run([*asked, str(number)], env=environment, capture_output=True, text=True, timeout=seconds)
    assert run.returncode == 0, run.stdout + run.stderr[-3000:]
    assert "the Spark is of pyspark.sql.connect.session" in run.stdout
    assert f"{number} queries equal the oracle's in every batch, 0 are refused" in run.stdout
    assert "functions: twice@1 cannot be called by Spark Connect" in run.stdout
