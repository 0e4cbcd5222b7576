"""Queries that are dropped, and come back, where their operator goes on for others with other groups and statistics."""

from __future__ import annotations

import pytest
from oracle.harness import Case, Oracle
from oracle.random_streams import stream
from oracle.test_corrections import corrected
from pyspark.sql import SparkSession

STATISTICS = {
    "values": "MEDIAN(k) AS m, MEDIAN(x) AS y",
    "parts": "AVG(k) AS m",
    "rows": "AVG(k) AS m, MIN_BY(id, id) AS f",
}


def case(statistics: str, by: str) -> Case:
    where = "k BETWEEN -1000 AND 1000 AND x BETWEEN -1000 AND 1000"
    return Case(f"SELECT {by}, {statistics} FROM t WHERE {where} GROUP BY {by}", zero=1e-9)


@pytest.mark.parametrize("statistics", STATISTICS.values(), ids=STATISTICS)
def test_a_query_that_comes_back_has_no_values_of_its_past(spark: SparkSession, statistics: str) -> None:
    by_date, by_group, by_flag = (case(statistics, by) for by in ("d", "g", "flag"))
    with Oracle(spark, {"t": corrected(stream(220, 14), 60, 30, 14)}) as oracle:
        oracle.register({"dates": by_date})
        oracle.register({"groups": by_group})
        oracle.run(1)
        oracle.drop("dates")
        oracle.register({"flags": by_flag})  # the operator forgets the dates
        oracle.run(1)
        oracle.register({"dates again": by_date})
        oracle.run(1)
        oracle.drop("groups")
        oracle.run(1)
        oracle.register({"groups again": by_group, "both": case(statistics, "g, d")})
        oracle.run(1)
        oracle.check_changes()


@pytest.mark.parametrize("others", [(), ("MAX(x)",)], ids=["none stays", "one stays"])
@pytest.mark.parametrize("values", ["MIN(k)", "MEDIAN(x)", "COUNT(DISTINCT s)"])
def test_empty_groups_leave_after_a_statistic_by_values_was_dropped(
    spark: SparkSession, values: str, others: tuple[str, ...]
) -> None:
    def by_id(statistic: str) -> Case:
        return Case(f"SELECT id, {statistic} AS v FROM t GROUP BY id")

    with Oracle(spark, {"t": corrected(stream(160, 15), 60, 30, 15)}) as oracle:
        oracle.register({name: by_id(name) for name in ("COUNT(*)", *others)})
        oracle.register({"values": by_id(values)})
        oracle.run(1)
        oracle.drop("values")
        oracle.run(1)
        oracle.register({"values again": by_id(values)})
        oracle.run(1)
        oracle.check_changes()
