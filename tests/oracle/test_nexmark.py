"""The 24 questions of Nexmark as Flink asks them, together in one session, over persons, auctions and bids."""

from __future__ import annotations

from oracle.harness import Case, Feed, Oracle
from pyspark.sql import SparkSession

from benchmarks.query_sets.nexmark import count_char, for_duckdb, load
from benchmarks.sample_streams.nexmark import AUCTIONS, EVENTS, PERSONS, nexmark
from workbench.arrow.types import to_data_type
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema, UserFunction

OF_EVENTS = {"bid": EVENTS - AUCTIONS - PERSONS, "auction": AUCTIONS, "person": PERSONS}
"""Rows of 50 events."""


def feeds(seed: int = 1) -> dict[str, Feed]:
    """Histories of 400 events, and batches of 100."""
    return {
        name: Feed(table, 8 * of, 2 * of, time="dateTime") if (of := OF_EVENTS.get(name)) else Feed(table, static=True)
        for name, table in nexmark(800, seed).items()
    }


def test_they_are_planned_as_they_are_written() -> None:
    """Equal windows are one node, whether Spark's function or Flink's says so."""
    columns = {
        name: tuple((f.name.lower(), to_data_type(f.type)) for f in table.schema)
        for name, table in nexmark(100).items()
    }
    schema = Schema(
        columns,
        functions={"count_char": UserFunction("count_char", INTEGER, (2, 2))},
        times=dict.fromkeys(OF_EVENTS, "datetime"),
        tables=frozenset(["side_input"]),
    )
    planner, network = Planner(), Network()
    for name, sql in load().items():
        query = bind(sql, "spark", schema).query
        assert query is not None
        network = planner.register(network, name, query).network
    assert [*network.queries] == [*load()]


SECONDS = "time_bucket(INTERVAL '{}' SECOND, dateTime, TIMESTAMP '1970-01-01')"
HOP = "TABLE(HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '4' SECOND, INTERVAL '10' SECOND))"
HOPS = f"""(SELECT *, {SECONDS.format(4)} - 4 * n * INTERVAL '1' SECOND AS window_start FROM bid, range(3) AS w(n)
  WHERE {SECONDS.format(4)} - 4 * n * INTERVAL '1' SECOND + INTERVAL '10' SECOND > dateTime)"""
MORE = {
    "rows of hops": Case(
        f"SELECT auction, price, window_start FROM {HOP} WHERE price > 100000",
        f"SELECT auction, price, window_start FROM {HOPS} WHERE price > 100000",
    ),
    "groups below a condition": Case(
        f"SELECT window_start, COUNT(*) FROM {HOP} WHERE MINUTE(window_start) < 59 GROUP BY window_start",
        f"SELECT window_start, COUNT(*) FROM {HOPS} WHERE MINUTE(window_start) < 59 GROUP BY window_start",
    ),
    "hops with HAVING": Case(
        f"SELECT bidder, window_end, MAX(price) FROM {HOP} GROUP BY bidder, window_start, window_end "
        "HAVING COUNT(*) > 3",
        "SELECT bidder, window_start + INTERVAL '10' SECOND, MAX(price) "
        f"FROM {HOPS} GROUP BY bidder, window_start HAVING COUNT(*) > 3",
    ),
    "rows of tumbling windows": Case(
        "SELECT w.extra, window_end FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '1' MINUTE)) AS w",
        f"SELECT extra, {SECONDS.format(60)} + INTERVAL '1' MINUTE FROM bid",
    ),
    "parts beyond the last": Case(
        "SELECT extra, SPLIT_INDEX(extra, 'c', 1), SPLIT_INDEX(extra, 'cc', 2), SPLIT_INDEX(extra, 'b', -1) FROM bid",
        "SELECT extra, string_split(extra, 'c')[2], string_split(extra, 'cc')[3], NULL FROM bid",
    ),
}


def test_all_answers_follow_the_streams(spark: SparkSession) -> None:
    asked = for_duckdb()
    cases = {name: Case(sql, asked[name]) for name, sql in load().items()} | MORE
    functions = {"count_char": (count_char, ["VARCHAR", "VARCHAR"], "BIGINT")}
    with Oracle(spark, feeds(), functions=functions) as oracle:
        oracle.register(cases)
        oracle.run(2, check=False)
        oracle.check_results()
        oracle.check_changes()
        empty = [name for name, watched in oracle.watched.items() if not watched.expected[2]]
        assert not empty
