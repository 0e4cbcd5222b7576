"""``kill -9`` while a session plans its network anew: it has the one network or the other, and its answers.

A kill here; ``ARGUS_KILLS=50`` makes as many. The other process plans anew between its batches, in turn with joins that
are shared and without, so that every time trees go and come.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_reoptimizing import CHAINS, MIXED
from pyspark.sql import SparkSession
from session.directory.survival import stray_files

KILLS = int(os.environ.get("ARGUS_KILLS", "1"))
PROJECT = Path(__file__).resolve().parents[3]
IN_A_LIFE = 25
"""Kills of one session: DuckDB's answers after every batch are kept, and they grow."""
SECONDS = 5.0
"""What it takes about to plan anew for the first time."""
CHILD = """
import sys, time
from dataclasses import replace
from workbench import Session
from workbench.session import transitions

with Session.open(sys.argv[1]) as session:
    parts = session.parts
    while True:
        parts.planner.options = replace(parts.planner.options, join_sharing=True)
        if not session.reoptimize(dry_run=True).moved:
            parts.planner.options = replace(parts.planner.options, join_sharing=False)
        print("begins", session.batch, *sorted(node.id for node in session.network.nodes), flush=True)
        begun = time.perf_counter()
        with parts.store.changing() as change:
            change.state, outcome = transitions.reoptimize(parts.runtime, change.state, lambda *costs: True)
            assert outcome.moved and outcome.added
        print("replanned", session.batch, time.perf_counter() - begun, flush=True)
        if not session.run(1):
            break
        print("batch", session.batch, flush=True)
"""


@dataclass(frozen=True)
class Death:
    """What a process said before it was killed.

    Attributes:
        replanned: how often it had planned anew.
        batch: the last batch that it had committed.
        replanning: whether it was planning anew.
        nodes: of the network when it last began to.
    """

    replanned: int
    batch: int
    replanning: bool
    nodes: frozenset[str]


@pytest.mark.timeout(300 + 120 * min(KILLS, IN_A_LIFE))
@pytest.mark.parametrize("life", range(-(-KILLS // IN_A_LIFE)))
def test_a_session_survives_being_killed_while_it_is_planned_anew(
    spark: SparkSession, tmp_path: Path, life: int
) -> None:
    kills = min(IN_A_LIFE, KILLS - life * IN_A_LIFE)
    batches = 6 * kills + 20
    feeds = {
        "t": Feed(stream(60 + 4 * batches, seed=71), history=60, batch=4),
        "u": Feed(stream(30 + 3 * batches, seed=72), history=30, batch=3),
        "names": Feed(names(73), static=True),
    }
    chosen = {name: CHAINS[name] for name in ("chain", "pair", "narrow", "union")} | {name: ALL[name] for name in MIXED}
    moments, happened = random.Random(74 + life), Counter[str]()
    with Oracle(spark, feeds, path=tmp_path / "s") as oracle:
        oracle.register(chosen, check=False)
        oracle.run(1)
        for kill in range(1, kills + 1):
            before = oracle.batch
            oracle.session.close()
            # The first time takes longest, since Spark has just been started; later ones come between batches.
            death = killed_after(tmp_path / "s", moments.randint(1, 3), moments.random())
            oracle.reopen()
            assert oracle.batch >= max(before, death.batch), "a batch that was committed is lost"
            assert [report.batch for report in oracle.session.reports] == list(range(1, oracle.batch + 1))
            assert stray_files(oracle.session) == set()
            other = {node.id for node in oracle.session.network.nodes} != death.nodes
            assert other or death.replanning, "a network that was committed is lost"
            where = "between" if not death.replanning else "after its commit" if other else "before its commit"
            happened[where] += 1
            oracle.check_results()
            print(f"kill {kill}: {where}, {death.replanned} times planned anew, batches {before} to {oracle.batch}")
            if oracle.batch > 6 * kills:
                break  # hardly any rows are left
        oracle.check_changes()
        oracle.run(1)
    print(f"life {life}: {sum(happened.values())} kills: {dict(happened)}")


def killed_after(folder: Path, times: int, part: float) -> Death:
    """Plan anew and run batches in another process, in turn, and kill it while it plans anew.

    Args:
        folder: of the session.
        times: the how many-th time.
        part: after which part of the time that it took before; of some seconds, if it is the first.
    """
    command = [sys.executable, "-c", CHILD, str(folder)]
    running = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert running.stdout is not None
    with running, running.stdout:
        said = list[str]()
        while sum(line.startswith("begins ") for line in said) < times:
            said.append(running.stdout.readline())
            assert said[-1], "".join(said)
        took = [float(line.split()[2]) for line in said if line.startswith("replanned ")]
        time.sleep(part * (took[-1] if took else SECONDS))
        running.kill()
        said += running.stdout.readlines()
    assert running.returncode == -signal.SIGKILL, "".join(said)
    told = [words for line in said if (words := line.split()) and words[0] in ("begins", "replanned", "batch")]
    begun = [words for words in told if words[0] == "begins"]
    replanned = sum(words[0] == "replanned" for words in told)
    return Death(replanned, int(told[-1][1]), told[-1][0] == "begins", frozenset(begun[-1][2:]))
