"""The fragments of all aggregates of a depth are exchanged by one job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits
from workbench.session.session import Session

ROWS = pa.table({"a": list(range(60)), "b": [n % 7 for n in range(60)], "c": [n % 5 for n in range(60)]})
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
