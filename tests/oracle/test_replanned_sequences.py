"""Random sequences of registering, dropping, planning anew and reopening, with a batch after each, against DuckDB.

One short sequence here; with ``ARGUS_LONG=all`` four of 28 batches, which compare about 1,000 answers.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from long import LONG, some
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_reoptimizing import CHAINS, replanned
from pyspark.sql import SparkSession

STEPS = 28 if LONG else 4
SEEDS = some(range(4))
OTHERS = (
    *("selection_or", "join_self", "join_over_aggregate", "aggregate_by_group", "aggregate_extremes"),
    *("aggregate_of_aggregates", "set_distinct", "set_except_all", "set_aggregate_of_except", "view_view"),
)
CASES = {**CHAINS, **{name: ALL[name] for name in (OTHERS if LONG else OTHERS[2:4])}}
WEIGHTS = {"register": 4, "drop": 2, "replan": 4, "reopen": 1}


@pytest.mark.timeout(300 if not LONG else 3600)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_sequences(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    feeds = {
        "t": Feed(stream(30 + 3 * STEPS, seed=41 + seed), history=20, batch=3),
        "u": Feed(stream(20 + 2 * STEPS, seed=51 + seed), history=5, batch=2),
        "names": Feed(names(5), static=True),
    }
    compared = moved = 0
    with Oracle(spark, feeds, path=tmp_path / "s") as oracle:
        # The chain comes before what could be its beginning, so planning anew moves it.
        for name in ("chain", "pair"):
            oracle.register({name: CASES[name]}, check=False)
        for step in range(STEPS):
            match "replan" if step == 1 else chosen.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]:
                case "register":
                    absent = sorted(CASES.keys() - oracle.watched.keys())
                    some_of_them = chosen.sample(absent, min(len(absent), 3))
                    eager = chosen.choice(("eager", "lazy"))
                    oracle.register({name: CASES[name] for name in some_of_them}, results=eager)
                case "drop" if len(oracle.watched) > 4:
                    oracle.drop(chosen.choice(sorted(oracle.watched)))
                case "reopen":
                    oracle.reopen()
                case _:
                    moved += len(replanned(oracle.session).moved)
                    oracle.check_results()
            oracle.run(1)
            compared += len(oracle.watched)
        oracle.check_results()
        oracle.check_changes()
    print(f"seed {seed}: {compared} answers of {STEPS} batches, {moved} queries moved")
    assert moved and compared >= 2 * STEPS
