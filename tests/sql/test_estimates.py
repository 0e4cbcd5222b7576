"""Which queries can be estimated from a sample, and what the others are told."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import QueryError
from workbench.sql.algebra.expressions import text
from workbench.sql.binder.pipeline import bind
from workbench.sql.estimates import Estimable, Statistic, estimable


def of(sql: str) -> Estimable:
    return estimable(bind(sql, "spark", SCHEMA).query)


def test_counts_sums_and_averages_of_groups() -> None:
    sql = "SELECT COUNT(*) AS n, UPPER(s) AS u, SUM(m) AS total, AVG(m) AS mean, COUNT(x) AS c FROM T WHERE a > 1"
    found = of(f"{sql} GROUP BY UPPER(s), b ORDER BY n")
    assert (found.stream, found.width) == ("T", 2)
    ((name, place),) = found.groups
    assert name == "u" and "upper" in text(found.rows.outputs[place].expression)
    assert len(found.rows.outputs) == 4 and found.rows.is_plain
    (of_m,) = {statistic.argument for statistic in found.statistics if statistic.name in ("total", "mean")}
    (of_x,) = {statistic.argument for statistic in found.statistics if statistic.name == "c"}
    assert {of_m, of_x} == {0, 1}
    functions = [(statistic.name, statistic.function) for statistic in found.statistics]
    assert functions == [("n", "count"), ("total", "sum"), ("mean", "average"), ("c", "count")]
    assert of("SELECT SUM(a) AS n FROM T").statistics == (Statistic("n", "sum", 0),)
    assert of("SELECT COUNT(*) AS n FROM T").statistics == (Statistic("n", "count", None),)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT a FROM T", "without COUNT, SUM or AVG"),
        ("SELECT COUNT(*) FROM T UNION ALL SELECT a FROM U", "without COUNT, SUM or AVG"),
        ("SELECT COUNT(*) AS n FROM T JOIN U ON T.a = U.a", "a join"),
        ("SELECT COUNT(*) AS n FROM (SELECT DISTINCT a FROM T)", "a query over another"),
        ("SELECT MAX(a) AS largest FROM T", "column largest"),
        ("SELECT COUNT(DISTINCT a) AS n FROM T", "column n"),
        ("SELECT SUM(a) + 1 AS more FROM T", "column more"),
        ("SELECT CAST(b AS DOUBLE) AS other, COUNT(*) AS n FROM T GROUP BY b", "column other"),
        ("SELECT STDDEV(x) AS spread FROM T", "column spread"),
        ("SELECT b, COUNT(*) AS n FROM T GROUP BY b HAVING COUNT(*) > 1", "HAVING"),
        ("SELECT b, COUNT(*) AS n FROM T GROUP BY b ORDER BY n LIMIT 3", "without COUNT, SUM or AVG|LIMIT"),
        ("SELECT b, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM T GROUP BY b", "an analytic function"),
    ],
)
def test_what_cannot_be_estimated_says_why(sql: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        of(sql)
