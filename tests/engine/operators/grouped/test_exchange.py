"""The fragments of all aggregates of a depth are exchanged by one job, and each task reads its share of the state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from workbench.engine.operators.grouped.state_lookup import GroupRows, KeyedLookup
from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage.segments import Segment
from workbench.limits import Limits
from workbench.session.session import Session

ROWS = pa.table({"a": list(range(60)), "b": [n % 7 for n in range(60)], "c": [n % 5 for n in range(60)]})
SUMS = {b: sum(range(b, 3_000, 7)) for b in range(7)}
QUERIES = [
    "SELECT b, COUNT(*) AS n FROM r GROUP BY b",
    "SELECT c, SUM(a) AS s FROM r GROUP BY c",
    "SELECT b, c, MAX(a) AS m FROM r GROUP BY b, c",
    "SELECT a, MEDIAN(b) AS m FROM r GROUP BY a",
    "SELECT DISTINCT c, a FROM r",
    "SELECT b FROM r WHERE a > 5 EXCEPT SELECT c FROM r",
]


class Counted(InProcess):
    """Runs steps of two tasks, and counts the jobs."""

    cores = 2

    def __init__(self) -> None:
        super().__init__()
        self.counted = 0

    def run(self, *given: Any) -> list[str]:
        """Run the jobs of some operators."""
        self.counted += 1
        return super().run(*given)


@pytest.mark.parametrize(("number", "depths"), [(1, 1), (len(QUERIES), 2)])
def test_a_depth_takes_two_jobs_however_many_aggregates_it_has(number: int, depths: int) -> None:
    jobs = Counted()
    limits = replace(Limits(), rows_stepped_in_process=0, rows_per_task=2)
    with Session(spark=jobs, limits=limits) as session:
        session.add_stream("r", ROWS, history=20, batch=20)
        queries = [session.register(sql, name=f"q{n}") for n, sql in enumerate(QUERIES[:number])]
        session.run(1)
        before = jobs.counted
        session.run(1)
        assert jobs.counted - before == 2 * depths  # the first query is rolled up from the third where that is there
        assert sum(queries[0].result()["n"]) == 60


def test_few_fragments_of_many_rows_need_no_second_job() -> None:
    jobs, rows = Counted(), pa.table({"b": [n % 7 for n in range(3_000)], "a": range(3_000)})
    limits = replace(Limits(), rows_stepped_in_process=50, rows_per_task=2)
    with Session(spark=jobs, limits=limits) as session:
        session.add_stream("r", rows, history=1_000, batch=1_000)
        sums = session.register("SELECT b, SUM(a) AS s FROM r GROUP BY b")
        kept = session.register("SELECT b, COUNT(*) AS n FROM r GROUP BY b HAVING SUM(a) > 643000")
        before = jobs.counted
        session.run(2)
        assert jobs.counted - before == 2
        assert dict(sums.result().to_numpy().tolist()) == SUMS
        sized = {b: len(range(b, 3_000, 7)) for b in range(7)}
        assert dict(kept.result().to_numpy().tolist()) == {b: n for b, n in sized.items() if SUMS[b] > 643_000}


class FourTasks(InProcess):
    """Runs the four tasks of each step one after the other."""

    cores = 4


@pytest.mark.parametrize(("statistic", "times"), [("SUM(a)", {1}), ("MEDIAN(a)", {1, 2})])
@pytest.mark.parametrize("merged_here", [0, 1_000_000])
def test_a_segment_of_the_state_is_read_by_one_task(
    monkeypatch: pytest.MonkeyPatch, statistic: str, times: set[int], merged_here: int
) -> None:
    """It looks up some of it twice."""
    rows = pa.table({"g": [n % 300 for n in range(6_000)], "a": range(6_000)})
    limits = Limits(rows_stepped_in_process=0, rows_per_task=2, rows_kept_open=0, runs_per_merge=3)
    limits = replace(limits, rows_merged_in_process=merged_here, rows_hydrated_in_process=0)
    read, pairs = Counter[str](), KeyedLookup.pairs

    def counted(
        lookup: KeyedLookup, groups: pa.RecordBatch, segments: Iterable[Segment], *given: Any
    ) -> Iterator[GroupRows]:
        known = tuple(segments)
        read.update(segment.path for segment in known)
        return pairs(lookup, groups, known, *given)

    with Session(FourTasks(), limits=limits) as session:
        session.add_stream("r", rows, history=1_000, batch=500)
        session.register(f"SELECT g, {statistic} AS s FROM r GROUP BY g", name="q")
        session.run(7)
        (tree,) = (tree for tree in session.parts.store.last.engine.trees.values() if tree.state is not None)
        assert tree.state is not None and len(tree.state.runs) < 8
        monkeypatch.setattr(KeyedLookup, "pairs", counted)
        session.run(1)
        assert read.keys() >= {segment.path for segment in tree.state.segments}
        assert {*read.values()} == times
