"""What is computed from stored values, and tested by filters, where rows are corrected: the answers are DuckDB's."""

from __future__ import annotations

from oracle.harness import Case, Oracle
from oracle.random_streams import stream
from oracle.test_corrections import corrected
from pyspark.sql import SparkSession

SMALL = "FROM t WHERE k BETWEEN -1000 AND 1000"
CASES = {
    "call_and_column": Case("SELECT half(k) AS v FROM t UNION SELECT id FROM t"),
    "column_except_call": Case("SELECT id AS v FROM t EXCEPT SELECT half(k) FROM t"),
    "ratio": Case(f"SELECT g, SUM(k) AS s {SMALL} GROUP BY g HAVING AVG(k) > 1.5", zero=1e-9),
    "deviation": Case(f"SELECT g, COUNT(k) AS n {SMALL} GROUP BY g HAVING STDDEV(k) < 100", zero=1e-9),
    "case": Case(f"SELECT g, SUM(CASE WHEN k > 0 AND s IS NOT NULL THEN k ELSE -k END) AS v {SMALL} GROUP BY g"),
    "product": Case(f"SELECT id FROM (SELECT id, k {SMALL}) q WHERE k * 3 - id > 7"),
}


def test_rows_that_are_taken_back(spark: SparkSession) -> None:
    functions = {"half": (lambda k: None if k is None else k // 2, ["BIGINT"], "BIGINT")}
    with Oracle(spark, {"t": corrected(stream(160, 23), 60, 25, 23)}, functions=functions) as oracle:
        oracle.register(CASES)
        oracle.run(3)
        oracle.check_changes()
