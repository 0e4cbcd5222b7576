"""Small and large changes take different ways (looked up by key, one task, broadcast); the answers are the same."""

from __future__ import annotations

import pyarrow as pa
import pytest
from long import LONG, some
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

from workbench import Session
from workbench.limits import Limits

SOME = [
    "selection_or",
    "join_self",
    "join_theta",
    "join_cross",
    "join_or_join_nulls",
    "join_over_aggregate",
    "aggregate_by_group",
    "aggregate_counts",
    "aggregate_median",
    "aggregate_of_aggregates",
    "set_distinct",
    "set_union_all",
    "set_except_all",
]
CASES = list(ALL) if LONG else SOME


@pytest.mark.parametrize(
    "limits",
    some(
        [
            Limits(
                rows_filtered_in_process=0,
                rows_hydrated_in_process=0,
                rows_merged_in_process=0,
                rows_per_task=0,
                runs_per_merge=2,
            ),
            Limits(
                rows_filtered_in_process=35,
                rows_hydrated_in_process=25,
                rows_merged_in_process=30,
                rows_per_task=20,
                pairs_handed_on=5,
                rows_handed_on=7,
                rows_per_segment=9,
                bytes_per_segment=0,
            ),
        ]
    ),
    ids=some(["every change is large", "some are"]),
)
def test_the_large_way(spark: SparkSession, limits: Limits) -> None:
    feeds = {
        "t": Feed(stream(120, seed=20), history=40, batch=30),
        "u": Feed(stream(80, seed=21), history=0, batch=40),
        "names": Feed(names(20), static=True),
    }
    with Oracle(spark, feeds, limits=limits) as oracle:
        oracle.register({name: ALL[name] for name in CASES}, check=False)
        oracle.run(3, check=False)
        oracle.check_results()
        oracle.check_changes()


def test_few_rows_with_many_pairs_are_hydrated_by_several_tasks(spark: SparkSession) -> None:
    both = "SELECT a.n, b.n AS other FROM {0} a JOIN {0} b ON a.g = b.g"
    with Session(spark=spark, limits=Limits(rows_per_task=300, rows_hydrated_in_process=300)) as session:
        for name, groups in (("Many", 2), ("Few", 100)):
            session.add_stream(name, pa.table({"g": [n % groups for n in range(100)], "n": list(range(100))}), 100, 10)
            query = session.register(both.format(name), name=f"of{name}")
            assert query.count() == 100 * 100 // groups
            with query.answers() as answers:
                tasks = len(answers.tree.relation.segments)
            assert (tasks > 1) == (name == "Many")
