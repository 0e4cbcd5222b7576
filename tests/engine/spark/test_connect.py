"""A session on Spark Connect: a server on the loopback interface, and a driver of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from long import LONG, PATIENCE

pytestmark = pytest.mark.spark
TESTS = Path(__file__).parents[2]


@pytest.mark.timeout(PATIENCE if LONG else 300)
def test_the_queries_of_a_set_answer_by_spark_connect() -> None:
    pytest.importorskip("grpc_status", reason="pip install 'argus-workbench[connect]'")
    seconds = PATIENCE / 2 if LONG else 280
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    asked = [sys.executable, str(Path(__file__).with_name("connect_driver.py")), "local[2]", "fed-manual"]
    run = subprocess.run(
        [*asked, "24" if LONG else "6"], env=environment, capture_output=True, text=True, timeout=seconds
    )
    assert run.returncode == 0, run.stdout + run.stderr[-3000:]
    assert "the Spark is of pyspark.sql.connect.session" in run.stdout
    assert f"{24 if LONG else 6} queries equal the oracle's in every batch, 0 are refused" in run.stdout
    assert "functions: twice@1 cannot be called by Spark Connect" in run.stdout
