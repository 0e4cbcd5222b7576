"""Which statistics of DISTINCT values are computed from finer groups, and which from the rows."""

from __future__ import annotations

import pytest
from sharing.small_streams import query

from workbench.network.network import Network
from workbench.network.nodes import Aggregate
from workbench.options import Options
from workbench.sharing.planner import Planner


def groupings(sql: str, options: Options | None = None) -> list[tuple[int, bool]]:
    """For each aggregate of a query's network the number of its groups, and whether it has DISTINCT statistics."""
    planner = Planner(options or Options())
    network = planner.register(Network(), "q", query(sql)).network
    aggregates = [node for node in network.nodes.values() if isinstance(node, Aggregate)]
    return sorted((len(node.groups), any(s.distinct for s in node.statistics)) for node in aggregates)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT src, COUNT(DISTINCT code) FROM F GROUP BY src",
        "SELECT src, COUNT(DISTINCT code), SUM(DISTINCT code), COUNT(*), AVG(amount), MAX(day) FROM F GROUP BY src",
        "SELECT src, COUNT(DISTINCT ABS(code)) FROM F WHERE amount > 5 GROUP BY src HAVING COUNT(*) > 1",
    ],
)
def test_distinct_values_are_groups_of_a_finer_aggregate(sql: str) -> None:
    assert groupings(sql) == [(1, False), (2, False)]
    assert groupings(sql, Options(vertical_expansion=False)) == [(1, True)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT src, COUNT(DISTINCT code), COUNT(DISTINCT day) FROM F GROUP BY src",
        "SELECT src, COUNT(DISTINCT code), MEDIAN(amount) FROM F GROUP BY src",
        "SELECT src, SUM(DISTINCT CAST(code AS DOUBLE)) FROM F GROUP BY src",
        "SELECT src, COUNT(DISTINCT src) FROM F GROUP BY src",
        "SELECT src, COUNT(DISTINCT 1) FROM F GROUP BY src",
    ],
)
def test_where_that_is_not_all_rows_are_read(sql: str) -> None:
    assert groupings(sql) == [(1, True)]
