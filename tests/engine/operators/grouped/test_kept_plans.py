"""The step that hydrates groups is the one that batches run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from workbench import Session
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.plans import AggregatePlan
from workbench.engine.spark.jobs import Job, StepJob

pytestmark = pytest.mark.usefixtures("spark_soundex")

ROWS = pd.DataFrame({"k": [1, 2, 1, None, 2, 2], "v": [1.5, 2.5, None, 4.0, 5.0, 6.0], "n": [1, 2, 3, 4, 5, 6]})
COUNTED = {
    "sums": "SELECT k, SUM(n) AS s, COUNT(*) AS c FROM r GROUP BY k",
    "averages": "SELECT k, AVG(v) AS a FROM r GROUP BY k",
    "values": "SELECT k, MEDIAN(n) AS m FROM r GROUP BY k",
    "distinct": "SELECT DISTINCT k FROM r",
    "both": "SELECT k FROM r WHERE n > 2 INTERSECT SELECT n FROM r",
}


@pytest.mark.parametrize("name", COUNTED)
def test_the_first_batch_makes_no_plan(name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(method: str) -> Callable[..., Job]:
        original = getattr(Runner, method)

        def make(*given: object) -> Job:
            made.append(method)
            return original(*given)

        return make

    for method in ("step_job",):
        monkeypatch.setattr(Runner, method, counted(method))
    with Session(spark=spark) as session:
        session.add_stream("r", ROWS, history=3, batch=1)
        query = session.register(COUNTED[name], name=name)
        assert made
        made.clear()
        session.run(3)
        assert made == []
        assert len(query.result())


def test_a_function_of_the_analyst_is_called_by_a_step(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its argument has no kernel: Spark evaluates that alone, where the rows are written."""
    made: list[Job] = []
    original = Runner.task_job

    def noted(*given: Any, **more: Any) -> Job:
        job = original(*given, **more)
        if any(isinstance(each, AggregatePlan) for each in given):
            made.append(job)
        return job

    monkeypatch.setattr(Runner, "task_job", noted)
    twice = "2 * n + 0 * LENGTH(SPARK_SOUNDEX(CAST(n AS STRING)))"  # no kernel computes it
    texts = [
        f"SELECT k, MIN(half({twice})) AS s, COUNT(*) AS c FROM r GROUP BY k",
        f"SELECT half({twice}) AS h, COUNT(DISTINCT v) AS c FROM r GROUP BY half({twice})",
        f"SELECT MAX(half({twice})) AS m FROM r",
    ]
    with Session(spark=spark) as session:
        session.add_function("half", lambda n: n / 4, returns="double")
        session.add_stream("r", ROWS, history=3, batch=3)
        queries = [session.register(sql) for sql in texts]
        session.run(1)
        assert made and all(isinstance(job, StepJob) for job in made)
        groups, halves, largest = (query.result() for query in queries)
    assert sorted(groups["s"]) == [0.5, 1.0, 2.0] and sorted(groups["c"]) == [1, 2, 3]
    assert sorted(halves["h"]) == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0] and sorted(halves["c"]) == [0, 1, 1, 1, 1, 1]
    assert list(largest["m"]) == [3.0]
