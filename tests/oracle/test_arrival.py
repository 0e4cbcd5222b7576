"""FIRST and LAST are those of the rows in the order of their arrival; DuckDB numbers rows in that order, too."""

from __future__ import annotations

import os

import pytest
from oracle.harness import Case, Oracle
from oracle.test_query_classes import feeds

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import UnsupportedError

ARRIVED = {
    "values": Case(
        "SELECT g, FIRST(s) AS a, LAST(k) AS b, FIRST(s, true) AS c, LAST_VALUE(x) FILTER (WHERE flag) AS d"
        " FROM t WHERE k > 1 GROUP BY g",
        "SELECT g, arg_min_null(s, rowid), arg_max_null(k, rowid), arg_min(s, rowid),"
        " arg_max_null(x, rowid) FILTER (WHERE flag) FROM t WHERE k > 1 GROUP BY g",
    ),
    "of_all": Case("SELECT LAST(id) AS a, FIRST(d) AS b FROM u", "SELECT arg_max_null(id, rowid), FIRST(d) FROM u"),
    "of_a_view": Case(
        "WITH v AS (SELECT g, k % 100 AS n FROM t WHERE flag)"
        " SELECT g, LAST(n) AS a FROM v GROUP BY g HAVING COUNT(*) > 2",
        "SELECT g, arg_max_null(k % 100, rowid) FROM t WHERE flag GROUP BY g HAVING COUNT(*) > 2",
    ),
}


def test_values_of_rows_that_arrive() -> None:
    with Oracle(InProcess(), feeds(int(os.environ["ARGUS_SEED"]))) as oracle:
        oracle.register({"of_all": ARRIVED["of_all"], "values": ARRIVED["values"]})
        oracle.run(2)
        oracle.register({"of_a_view": ARRIVED["of_a_view"]})
        oracle.run(2)
        oracle.check_changes()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT FIRST(t.k) FROM t JOIN u ON t.id = u.id",
        "SELECT LAST(n) FROM (SELECT COUNT(*) AS n FROM t GROUP BY g) v",
        "SELECT FIRST(k) FROM c",
    ],
)
def test_rows_that_are_joined_grouped_or_taken_back_have_no_such_order(sql: str) -> None:
    streams = feeds(1)
    with Session(InProcess()) as session:  # type: ignore[arg-type]
        session.add_stream("t", streams["t"].table, history=9, batch=9)
        session.add_stream("u", streams["u"].table, history=9, batch=9)
        session.add_stream("c", streams["t"].table, history=9, batch=9, key=["id"], changes="upsert")
        with pytest.raises(UnsupportedError, match="of rows in no order"):
            session.register(sql)
