"""Flink's functions of windows: one query with Spark's, in FROM and in GROUP BY; and its words of time."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, LogicalQuery, output_columns, parts_of
from workbench.sql.logical import SetQuery as SetOperationOf
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={
        "bid": (("auction", INTEGER), ("bidder", INTEGER), ("price", INTEGER), ("t", TIMESTAMP), ("url", STRING)),
        "names": (("key", INTEGER), ("value", STRING)),
        "keyed": (("key", INTEGER), ("value", STRING)),
    },
    times={"bid": "t"},
    tables=frozenset(["names", "keyed"]),
    corrected=frozenset(["keyed"]),
)


def query(sql: str, dialect: str = "spark") -> LogicalQuery:
    bound = bind(sql, dialect, SCHEMA).query
    assert bound is not None
    return bound


TUMBLE = "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(t), INTERVAL '10' SECOND))"
HOP = "TABLE(HOP(TABLE bid, DESCRIPTOR(t), INTERVAL '2' SECOND, INTERVAL '10' SECOND))"
SESSION = "TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(t), INTERVAL '10' SECOND))"


@pytest.mark.parametrize(
    ("flink", "spark"),
    [
        (
            f"SELECT auction, count(*) AS n, window_start AS b, window_end AS e FROM {TUMBLE} "
            "GROUP BY auction, window_start, window_end",
            "SELECT auction, count(*) AS n, window.start AS b, window.end AS e FROM bid "
            "GROUP BY auction, window(t, '10 seconds')",
        ),
        (
            f"SELECT max(price) AS m, window_end AS e FROM {HOP} GROUP BY window_end, window_start",
            "SELECT max(price) AS m, window.end AS e FROM bid GROUP BY window(t, '10 seconds', '2 seconds')",
        ),
        (
            f"SELECT bidder, count(*) AS n, window_end AS e FROM {SESSION} GROUP BY bidder, window_start, window_end",
            "SELECT bidder, count(*) AS n, session_window.end AS e FROM bid "
            "GROUP BY bidder, session_window(t, '10 seconds')",
        ),
        (
            "SELECT bidder, TUMBLE_START(t, INTERVAL '1' HOUR) AS b, TUMBLE_END(t, INTERVAL '1' HOUR) AS e FROM bid "
            "GROUP BY bidder, TUMBLE(t, INTERVAL '1' HOUR)",
            "SELECT bidder, window.start AS b, window.end AS e FROM bid GROUP BY bidder, window(t, '1 hour')",
        ),
        (
            "SELECT HOP_END(t, INTERVAL '5' SECOND, INTERVAL '1' MINUTE) AS e FROM bid "
            "GROUP BY HOP(t, INTERVAL '5' SECOND, INTERVAL '1' MINUTE)",
            "SELECT window.end AS e FROM bid GROUP BY window(t, '1 minute', '5 seconds')",
        ),
        (
            "SELECT SESSION_START(t, INTERVAL '1' DAY) AS b, SESSION_END(t, INTERVAL '1' DAY) AS e FROM bid "
            "GROUP BY SESSION(t, INTERVAL '1' DAY)",
            "SELECT session_window.start AS b, session_window.end AS e FROM bid GROUP BY session_window(t, '1 day')",
        ),
        ("SELECT p FROM (SELECT *, PROCTIME() AS p FROM bid) WHERE p > '2020-01-01'",
         "SELECT t AS p FROM bid WHERE t > '2020-01-01'"),
        ("SELECT value FROM bid JOIN names FOR SYSTEM_TIME AS OF bid.t AS n ON bid.price = n.key",
         "SELECT value FROM bid JOIN names AS n ON bid.price = n.key"),
    ],
)  # fmt: skip
def test_both_spellings_are_one_query(flink: str, spark: str) -> None:
    assert query(flink) == query(spark)


def test_words_and_table_may_be_left_out_or_be_a_query() -> None:
    grouped = "GROUP BY window_start"
    plain = query(f"SELECT count(*) AS n FROM {TUMBLE} {grouped}")
    for table in ("TUMBLE(TABLE bid, DESCRIPTOR(t), INTERVAL '10' SECOND)",
                  "TABLE(TUMBLE(TABLE (SELECT * FROM bid), DESCRIPTOR(t), INTERVAL '10' SECOND)) AS w"):  # fmt: skip
        assert query(f"SELECT count(*) AS n FROM {table} {grouped}") == plain


def test_risingwave_names_the_times_without_a_word() -> None:
    for flink, shorter in (
        (f"SELECT price, window_end FROM {TUMBLE} AS w",
         "SELECT price, window_end FROM tumble(bid, t, INTERVAL '10' SECOND) w"),
        (f"SELECT max(price) AS m FROM {HOP} GROUP BY window_start",
         "SELECT max(price) AS m FROM hop(bid, t, INTERVAL '2' SECOND, INTERVAL '10' SECOND) GROUP BY window_start"),
    ):  # fmt: skip
        assert query(shorter, "postgres") == query(flink)
    with pytest.raises(SqlError, match="TUMBLE takes a table, its times and lengths"):
        query("SELECT * FROM tumble(bid, INTERVAL '10' SECOND)", "postgres")


def test_rows_of_tumbling_windows_are_a_plain_query() -> None:
    rows = query(f"SELECT w.* FROM {TUMBLE} AS w WHERE window_start > '2020-01-01'")
    assert isinstance(rows, Block)
    assert rows.is_plain
    assert [name for name, _ in output_columns(rows)][-2:] == ["window_start", "window_end"]


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT auction, window_start FROM {HOP}",
        f"SELECT count(*) FROM {HOP} WHERE window_start > '2020-01-01' GROUP BY window_start",
        f"SELECT max(window_end) FROM {HOP} GROUP BY window_start",
        f"SELECT count(*) FROM {HOP} GROUP BY window_end",
        f"SELECT count(*) FROM {HOP} AS h JOIN names ON key = auction GROUP BY window_start",
    ],
)
def test_rows_of_overlapping_windows_are_repeated_where_more_than_groups_read_them(sql: str) -> None:
    unions = [part for part in parts_of(query(sql)) if isinstance(part, SetOperationOf)]
    assert [len(union.branches) for union in unions] == [5]


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        (f"SELECT window_start FROM {SESSION}", "SESSION that is not grouped by its sessions is not supported", "G"),
        (f"SELECT count(*) FROM {SESSION} GROUP BY auction, window_start",
         "SESSION that is not grouped by its sessions is not supported", "GROUP BY what it is partitioned by"),
        ("SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(tt), INTERVAL '10' SECOND))", "unknown column tt",
         "did you mean t?"),
        ("SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(price), INTERVAL '10' SECOND))",
         "a date or timestamp is needed, not integer", None),
        ("SELECT * FROM TABLE(HOP(TABLE bid, DESCRIPTOR(t), INTERVAL '10' SECOND))",
         "HOP takes a table, its times and lengths", "write TABLE(HOP(TABLE name, DESCRIPTOR(time), INTERVAL '2'"),
        ("SELECT * FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(t), INTERVAL '10' SECOND))", "unknown stream bids", "did"),
        ("SELECT TUMBLE_START(t, INTERVAL '1' HOUR) FROM bid GROUP BY bidder", "column t is neither in GROUP BY", ""),
        ("SELECT SESSION_END(t, INTERVAL '1' HOUR) FROM bid", "SESSION_END(...) outside of GROUP BY", "group by"),
        ("SELECT PROCTIME() FROM names", "PROCTIME() has no meaning here", "it is the event time of the row"),
        ("SELECT 1 FROM bid JOIN keyed FOR SYSTEM_TIME AS OF bid.t AS k ON k.key = price",
         "time travel, but to a table without a key, is not supported", "AS OF BATCH 3 is as it was after a batch"),
        ("SELECT 1 FROM bid FOR SYSTEM_TIME AS OF '2020-01-01'",
         "time travel, but to a table without a key, is not supported", "AS OF BATCH 3 is as it was after a batch"),
        ("SELECT SPLIT_INDEX(url, bidder, 1) FROM bid", "SPLIT_INDEX takes a text, a constant separator", None),
    ],
)  # fmt: skip
def test_what_is_refused(sql: str, message: str, hint: str | None) -> None:
    with pytest.raises(SqlError) as caught:
        query(sql)
    assert caught.value.message.startswith(message)
    assert hint is None or (caught.value.hint or "").startswith(hint)


def test_conditions_on_ranks_above_joins_are_estimated() -> None:
    from workbench.network.network import Network
    from workbench.sharing.planner import Planner

    sql = """SELECT value FROM (SELECT n.value, ROW_NUMBER() OVER (PARTITION BY n.key ORDER BY b.price) AS r
             FROM bid b JOIN names n ON b.price = n.key) WHERE r <= 1"""
    assert "q" in Planner().register(Network(), "q", query(sql)).network.queries
