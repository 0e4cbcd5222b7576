"""``kill -9`` under a running replay: no committed batch is lost, and none arrives twice.

A few kills here; ``ARGUS_KILLS=200`` makes 200, and ``ARGUS_KILL_QUERIES=50`` has 50 queries.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from session.directory.survival import stray_files

KILLS = int(os.environ.get("ARGUS_KILLS", "1"))
QUERIES = int(os.environ.get("ARGUS_KILL_QUERIES", "6"))
CLASSES = [
    "join_self",
    "aggregate_by_group",
    "aggregate_median",
    "set_except_all",
    "aggregate_of_aggregates",
    "join_over_aggregate",
]
PROJECT = Path(__file__).resolve().parents[3]
IN_A_LIFE = 25
"""Kills of one session: DuckDB's answers after every batch are kept, and they grow."""


@pytest.mark.timeout(300 + 120 * min(KILLS, IN_A_LIFE))
@pytest.mark.parametrize("life", range(-(-KILLS // IN_A_LIFE)))
def test_a_session_survives_being_killed(spark: SparkSession, tmp_path: Path, life: int) -> None:
    chosen = [*CLASSES, *(name for name in ALL if name not in CLASSES)][:QUERIES]
    kills = min(IN_A_LIFE, KILLS - life * IN_A_LIFE)
    batches = 8 * kills + 20
    feeds = {
        "t": Feed(stream(60 + 6 * batches, seed=31), history=60, batch=6),
        "u": Feed(stream(30 + 3 * batches, seed=32), history=30, batch=3),
        "names": Feed(names(33), static=True),
    }
    delays = random.Random(34 + life)
    with Oracle(spark, feeds, path=tmp_path / "s") as oracle:
        oracle.register({name: ALL[name] for name in chosen}, check=False)
        # Each kill comes at another moment of a batch; some come while the session is opened or the first batch runs.
        longest = seconds_of_batches(oracle, 3)
        for kill in range(1, kills + 1):
            before = oracle.batch
            oracle.session.close()
            reached = killed_after(tmp_path / "s", delays.uniform(0, 3 * longest))
            oracle.reopen()
            assert oracle.batch >= max(before, reached), "a batch that was committed is lost"
            assert [report.batch for report in oracle.session.reports] == list(range(1, oracle.batch + 1))
            assert stray_files(oracle.session) == set()
            oracle.check_results()
            print(f"kill {kill}: batches {before} to {oracle.batch}, {reached} told")
            if oracle.batch > 8 * kills:
                break  # hardly any rows are left
        oracle.check_changes()
        oracle.run(1)


def seconds_of_batches(oracle: Oracle, batches: int) -> float:
    """How long a batch takes, and a few batches for a start."""
    return max(report.seconds for report in oracle.run(batches, check=False))


def killed_after(folder: Path, seconds: float) -> int:
    """Run batches in another process and kill it so long after it began; the last batch it said it had committed."""
    command = [sys.executable, "-m", "workbench", "run", str(folder)]
    running = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert running.stdout is not None
    said = [running.stdout.readline()]
    time.sleep(seconds)
    running.kill()
    said += running.stdout.readlines()
    running.wait()
    told = [line for line in said if line.startswith("batch ")]
    assert told, "".join(said)
    return int(told[-1].split(":")[0].removeprefix("batch "))
