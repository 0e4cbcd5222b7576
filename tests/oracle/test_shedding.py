"""Random sequences of batches that leave rows out and catch some up, against DuckDB over the rows that have arrived."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from long import rare
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

from workbench.limits import LIMITS, Limits
from workbench.session.live.overload import Overload
from workbench.streams.cut import BatchCut, share

CASES = [
    "selection_or",
    "join_self",
    "join_over_aggregate",
    "aggregate_by_group",
    "aggregate_extremes",
    "aggregate_median",
    "set_distinct",
    "set_except_all",
]
HISTORY, BATCHES = 20, 6


class SheddingOracle(Oracle):
    """DuckDB has the rows of ``t`` that arrived, in whatever batch; which these are is reckoned from the cuts alone."""

    def __init__(self, spark: SparkSession, path: Path, limits: Limits = LIMITS) -> None:
        feeds = {
            "t": Feed(stream(160, seed=5), history=HISTORY),
            "u": Feed(stream(60, seed=6), batch=5),
            "names": Feed(names(5), static=True),
        }
        self._position, self._arrived = HISTORY, set[int]()
        self._passed: list[int] = []
        """Positions of gaps, in their order; some of them have arrived."""
        self._brought: dict[int, list[int]] = {}
        super().__init__(spark, feeds, path=path, limits=limits)

    def _add(self, name: str, feed: Feed) -> None:
        if name != "t":
            super()._add(name, feed)
            return
        self.duck.register("arriving", feed.table.slice(0, feed.history))
        self.duck.execute("CREATE TABLE t AS SELECT * FROM arriving")
        self.session.add_stream("t", feed.table, feed.history, time="id", shed="sample")

    def _arriving(self, batch: int, feed: Feed) -> pa.Table:  # type: ignore[override]
        if feed is not self.feeds["t"]:
            rows = [report.arrived.get("u", 0) for report in self.session.reports[:batch]]
            return feed.table.slice(sum(rows[:-1]), rows[-1])
        if batch not in self._brought:
            cut = self.session.reports[batch - 1].taken["t"]
            self._brought[batch] = self._reckoned(cut if isinstance(cut, BatchCut) else BatchCut(cut))
        return feed.table.take(pa.array(self._brought[batch], pa.int64()))

    def _reckoned(self, cut: BatchCut) -> list[int]:
        """The positions that a batch brings."""
        late, self._passed = self._passed[: cut.caught_up], self._passed[cut.caught_up :]
        gap = [*range(self._position, self._position + cut.passed)]
        self._passed += gap
        drawn = share(np.array(gap, np.int64)) < cut.kept
        stop = self._position + cut.passed
        brought = [at for at in late if at not in self._arrived]
        brought += [at for at, taken in zip(gap, drawn, strict=True) if taken]
        brought += range(stop, min(stop + cut.taken, self.feeds["t"].table.num_rows))
        self._position = stop + cut.taken
        self._arrived.update(brought)
        return brought


def random_cut(chosen: random.Random) -> BatchCut:
    """Rows that come, and maybe some that are passed over, whole or but for a sample, and some that are caught up."""
    passed = chosen.choice([0, 5, 15])
    kept = chosen.choice([0.0, 0.3, 0.7]) if passed else 0.0
    return BatchCut(chosen.choice([0, 3, 6]), passed, kept, chosen.choice([0, 0, 4, 12]))


@rare
@pytest.mark.parametrize("seed", range(12))
def test_answers_are_exact_over_what_arrived(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chosen = random.Random(seed)

    def cuts(self: Overload, sizes: dict[str, int | BatchCut], *_: object) -> dict[str, int | BatchCut]:
        return {**sizes, "t": random_cut(chosen), "u": 5}

    monkeypatch.setattr(Overload, "cuts", cuts)
    with SheddingOracle(spark, tmp_path / "s", Limits(rows_caught_up_together=40)) as oracle:
        order = chosen.sample(CASES, len(CASES))
        oracle.register({name: ALL[name] for name in order[:4]})
        reopened, later = chosen.randrange(1, BATCHES), chosen.randrange(1, BATCHES)
        live = oracle.session.live("60s")
        for batch in range(BATCHES):
            if batch == later:
                oracle.register({name: ALL[name] for name in order[4:]})
            if batch == reopened:
                oracle.reopen()
                live = oracle.session.live("60s")
            live.ready()
            live.step()
            oracle.catch_up()
            oracle.check_results()
        left_out = oracle.session.streams["t"].left_out
        assert left_out == len(set(oracle._passed) - oracle._arrived)
        oracle.session.catch_up()
        assert oracle.session.streams["t"].left_out == 0
        oracle.catch_up()
        oracle.check_results()
        oracle.check_changes()
