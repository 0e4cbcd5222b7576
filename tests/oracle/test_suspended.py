"""Queries that are suspended and go on at random, beside others that run, against DuckDB: a suspended one has the
answer of the batch that it says, whatever happens around it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from long import LONG, some
from oracle.bags import frame_rows
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_corrections import corrected
from oracle.test_windows import CASES, F, G
from pyspark.sql import SparkSession

STEPS = 7


def plain(seed: int) -> dict[str, Feed]:
    return {
        "t": Feed(stream(160, seed), 40, 14),
        "u": Feed(stream(90, seed + 1), 0, 9),
        "names": Feed(names(seed), static=True),
    }


def with_corrections(seed: int) -> dict[str, Feed]:
    return {**plain(seed), "t": corrected(stream(160, seed), 60, 14, seed), "u": corrected(stream(90, 7), 0, 9, seed)}


def windowed(_: int) -> dict[str, Feed]:
    return {"f": Feed(F, 40, 35, time="d"), "g": Feed(G, 0, 40, time="ts")}


class SuspendingOracle(Oracle):
    """Knows of each query the answer of the batch that it stands at."""

    def check_results(self, names: object = None) -> None:
        for name, watched in self.watched.items():
            batch = watched.query.batch
            assert batch == self.batch or watched.query.suspended is not None
            self._compare(name, batch, frame_rows(watched.query.result()), "result")
            if batch < self.batch and not self._is_monotone(name):
                watched.expected.pop(self.batch, None)  # what it misses is one change of a later batch

    def expect_now(self, names: list[str]) -> None:
        """Queries have gone on without a batch."""
        for name in names:
            self._ask_duckdb(name)

    def _is_monotone(self, name: str) -> bool:
        state = self.session.parts.store.last
        return state.engine.by_root[state.network.queries[name].read.root].plan.monotone


def some_of(chosen: random.Random, given: list[str]) -> list[str]:
    return chosen.sample(given, chosen.randint(min(1, len(given)), len(given)))


def play(oracle: SuspendingOracle, cases: Mapping[str, Case], chosen: random.Random) -> None:
    order = chosen.sample(sorted(cases), 9 if LONG else 6)
    early, late = order[:-2], order[-2:]
    oracle.register({name: cases[name] for name in early})
    reopened = chosen.randrange(STEPS)
    for step in range(STEPS):
        session = oracle.session
        suspended = [name for name, query in session.queries.items() if query.suspended is not None]
        running = [name for name in session.queries if name not in suspended]
        match "run" if step % 2 else chosen.choice(["suspend", "suspend", "resume", "register", "drop"]):
            case "suspend":
                for name in some_of(chosen, running):
                    session.suspend(name)
            case "resume" if suspended:
                going = some_of(chosen, suspended)
                for name in going:
                    session.resume(name)
                oracle.expect_now(going)
            case "register" if late:
                oracle.register({name: cases[name] for name in [late.pop()]}, check=False)
            case "drop" if running:
                oracle.session.drop(dropped := chosen.choice(running))
                del oracle.watched[dropped]
        oracle.run(1, check=False)
        oracle.check_results()
        if step == reopened:
            oracle.reopen()
            oracle.check_results()
    oracle.session.resume()
    oracle.expect_now(list(oracle.watched))
    oracle.check_results()
    oracle.check_changes()


@pytest.mark.parametrize("seed", some(range(8)))
@pytest.mark.parametrize("feeds", some([with_corrections, windowed, plain], always=2))
def test_answers_of_suspended_queries(spark: SparkSession, tmp_path: Path, feeds: object, seed: int) -> None:
    chosen = random.Random(seed)
    cases = CASES if feeds is windowed else ALL
    with SuspendingOracle(spark, feeds(seed), path=tmp_path / "s") as oracle:  # type: ignore[operator]
        play(oracle, cases, chosen)
