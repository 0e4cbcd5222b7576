"""Windows of the moment: ``now()`` in WHERE, ON and HAVING, against DuckDB with the latest time of the prefix.

Times arrive late, equal and NULL; windows lie before the first row and after the last, and are empty.
"""

from __future__ import annotations

import datetime as dt
import random
import re

import pyarrow as pa
from oracle.harness import Case, Feed, Oracle

from workbench.limits import Limits

DAY = dt.date(2002, 1, 1)
NOON = dt.datetime(2002, 1, 1, 12)


def events(rows: int, seed: int) -> pa.Table:
    """Rows whose days go forward and whose times of day do too; some are late, some have none, some are twice."""
    chosen = random.Random(seed)
    days, moments, amounts, banks = [], [], [], []
    for i in range(rows):
        day = i // 6 - (chosen.choice([1, 4, 30]) if chosen.random() < 0.2 else 0)
        days.append(None if chosen.random() < 0.08 else DAY + dt.timedelta(days=day))
        moment = NOON + dt.timedelta(seconds=40 * i - (chosen.choice([60, 900]) if chosen.random() < 0.2 else 0))
        moments.append(None if chosen.random() < 0.08 else moment)
        amounts.append(None if chosen.random() < 0.1 else chosen.randrange(12))
        banks.append(None if chosen.random() < 0.1 else chosen.choice("abc"))
    table = pa.table(
        {
            "id": pa.array([i // 2 if i % 9 == 0 else i for i in range(rows)], pa.int64()),
            "d": pa.array(days, pa.date32()),
            "ts": pa.array(moments, pa.timestamp("us")),
            "amount": pa.array(amounts, pa.int64()),
            "bank": pa.array(banks, pa.string()),
        }
    )
    return table


F, G = events(130, 1), events(80, 2)
FEEDS = {"f": Feed(F, 30, 20, time="d"), "g": Feed(G, 0, 15, time="ts")}


def asked(sql: str, streams: str) -> str:
    """The question for DuckDB: now is the latest time of the streams that are read."""
    times = {"f": "SELECT max(d) m FROM f", "g": "SELECT max(ts) FROM g"}
    each = " UNION ALL ".join(times[s] for s in streams)
    return re.sub(r"now\(\)", f"(SELECT max(m) FROM ({each}) AS times(m))", sql)


def case(sql: str, streams: str = "f") -> Case:
    return Case(sql, asked(sql, streams))


CASES = {
    "last days": case("SELECT id, amount FROM f WHERE d > now() - 3"),
    "last days, other words": case("SELECT id, amount FROM f WHERE now() - d < 3"),
    "some of them": case("SELECT id, bank FROM f WHERE d >= now() - 5 AND amount > 6"),
    "between": case("SELECT id FROM f WHERE d BETWEEN now() - 8 AND now() - 4"),
    "long ago": case("SELECT id, d FROM f WHERE d < now() - 12"),
    "today": case("SELECT id, d FROM f WHERE d = now()"),
    "after the last": case("SELECT id FROM f WHERE d > now()"),
    "before the first": case("SELECT id FROM f WHERE d BETWEEN now() - 400 AND now() - 300"),
    "a month": case("SELECT id FROM f WHERE d > now() - INTERVAL '1' MONTH"),
    "minutes": case("SELECT id, amount FROM g WHERE ts > now() - INTERVAL '7' MINUTE", "g"),
    "minutes, other words": case("SELECT id, amount FROM g WHERE ts + INTERVAL '7' MINUTE > now()", "g"),
    "distinct": case("SELECT DISTINCT bank FROM f WHERE d >= now() - 1"),
    "by bank": case(
        "SELECT bank, COUNT(*) n, SUM(amount) s, MIN(amount) a, MAX(amount) b FROM f WHERE d > now() - 4 GROUP BY bank"
    ),
    "minutes by bank": case(
        "SELECT bank, COUNT(*) n, SUM(amount) s, MIN(amount) a FROM g"
        " WHERE ts >= DATE_TRUNC('MINUTE', now()) - INTERVAL '7' MINUTE GROUP BY bank",
        "g",
    ),
    "whole hours": case(
        "SELECT COUNT(*) n, MAX(amount) m FROM g"
        " WHERE ts >= DATE_TRUNC('HOUR', now()) - INTERVAL '30' MINUTE AND ts < DATE_TRUNC('MINUTE', now())",
        "g",
    ),
    "whole": case("SELECT COUNT(*) n, MAX(d) last FROM f WHERE d < now() - 30"),
    "silent banks": case("SELECT bank, MAX(d) last FROM f GROUP BY bank HAVING MAX(d) < now() - 1"),
    "joined": case(
        "SELECT a.id, b.id other FROM f a JOIN f b ON a.bank = b.bank AND a.d = b.d"
        " WHERE a.d > now() - 3 AND a.amount > b.amount"
    ),
    "nothing equal": case(
        "SELECT a.id, b.id other FROM f a JOIN f b ON a.amount < b.amount WHERE a.d > now() - 2 AND b.d > now() - 3"
    ),
    "nothing equal, one side": case(
        "SELECT a.id, b.id other FROM f a JOIN f b ON a.amount > b.amount + 5 WHERE a.d > now() - 1"
    ),
    "nothing equal, groups": case(
        "SELECT a.bank, COUNT(*) n FROM f a JOIN f b ON a.amount < b.amount"
        " WHERE a.d > now() - 2 AND b.d BETWEEN now() - 4 AND now() - 1 GROUP BY a.bank"
    ),
    "one side": case("SELECT a.id, b.amount FROM f a JOIN f b ON a.id = b.id WHERE a.d > now() - 2"),
    "two streams": case(
        "SELECT f.id, g.amount FROM f JOIN g ON f.id = g.id"
        " WHERE f.d > now() - INTERVAL '30' DAY AND g.ts > now() - INTERVAL '30' DAY",
        "fg",
    ),
    "two tests": case("SELECT id FROM f WHERE d > now() - 6 AND CAST(ts AS DATE) > now() - 20"),
    "union": case("SELECT bank, d FROM f WHERE d > now() - 2 UNION SELECT bank, d FROM f WHERE amount = 3"),
    "except": case("SELECT bank FROM f WHERE d > now() - 5 EXCEPT ALL SELECT bank FROM f WHERE d > now() - 2"),
    "view of a window": case(
        "SELECT bank, COUNT(*) n FROM (SELECT bank, d FROM f WHERE d > now() - 9) v WHERE d < now() - 3 GROUP BY bank"
    ),
    "window above groups": case(
        "SELECT COUNT(*) n FROM (SELECT bank, MIN(d) first FROM f GROUP BY bank) v WHERE first > now() - 40"
    ),
    "busy banks": case("SELECT bank, COUNT(*) n, MAX(d) last FROM f GROUP BY bank HAVING MAX(d) > now() - 1"),
}  # fmt: skip

GROUPED = (
    "distinct", "by bank", "minutes by bank", "whole hours", "whole", "silent banks", "union", "except",
    "view of a window", "window above groups", "busy banks", "nothing equal, groups",
)  # fmt: skip
EAGER = ("last days", "between", "long ago", "minutes", "joined", "two tests", "nothing equal, one side")
"""Queries that end in a window, which is kept up here and imposed when it is read in the others."""


def test_rows_in_windows(spark: object) -> None:
    with Oracle(spark, FEEDS) as oracle:
        oracle.register({name: case for name, case in CASES.items() if name not in GROUPED}, check=False)
        oracle.register({f"{name}, eager": CASES[name] for name in EAGER}, check=False, results="eager")
        oracle.run(2, check=False)
        oracle.register({"late": CASES["between"], "joined late": CASES["joined"]}, check=False)
        oracle.run(3, check=False)
        oracle.check_changes()
        oracle.check_results(["last days", "last days, eager", "joined"])
        oracle.check_changes(["last days"], since=True)


def test_groups_of_rows_in_windows(spark: object) -> None:
    with Oracle(spark, FEEDS) as oracle:
        oracle.register({name: CASES[name] for name in GROUPED}, check=False)
        oracle.run(3, check=False)
        oracle.check_changes()
        oracle.check_results(["by bank", "silent banks"])


def test_groups_that_had_expired_go_on(spark: object) -> None:
    """What a group has counted is needed when its latest time has left the window, if nothing else reads it."""
    limits = Limits(batches_of_changes=1)
    with Oracle(spark, {"f": Feed(FEEDS["f"].table, 40, 20, time="d")}, limits=limits) as oracle:
        oracle.register({name: CASES[name] for name in ("window above groups", "busy banks")}, check=False)
        oracle.run(4)
        oracle.check_changes()


def bucketed(size: int, slide: int) -> str:
    """The rows of g, once for each window of these minutes that they are in, for DuckDB."""
    start = f"time_bucket(INTERVAL '{slide} minutes', ts, TIMESTAMP '1970-01-01') - k * INTERVAL '{slide} minutes'"
    return (
        f"(SELECT *, s + INTERVAL '{size} minutes' e FROM (SELECT *, {start} s FROM g, range({-(-size // slide)}) r(k)"
        f" WHERE ts IS NOT NULL) WHERE s + INTERVAL '{size} minutes' > ts)"
    )


STRETCHES = {
    "tumbling": Case(
        "SELECT window.start, window.end, bank, COUNT(*) n FROM g GROUP BY window(ts, '10 minutes'), bank",
        f"SELECT s, e, bank, COUNT(*) FROM {bucketed(10, 10)} GROUP BY s, e, bank",
    ),
    "finer": Case(
        "SELECT window(ts, '5 minutes').start s, MAX(amount) m, SUM(amount) t FROM g GROUP BY window(ts, '5 minutes')",
        f"SELECT s, MAX(amount), SUM(amount) FROM {bucketed(5, 5)} GROUP BY s",
    ),
    "sliding": Case(
        "SELECT window.start s, MAX(amount) m, COUNT(*) n FROM g GROUP BY window(ts, '15 minutes', '5 minutes')",
        f"SELECT s, MAX(amount), COUNT(*) FROM {bucketed(15, 5)} GROUP BY s",
    ),
    "uneven": Case(
        "SELECT window.start s, MEDIAN(amount) m FROM g GROUP BY window(ts, '12 minutes', '5 minutes')"
        " HAVING COUNT(*) > 2",
        f"SELECT s, MEDIAN(amount) FROM {bucketed(12, 5)} GROUP BY s HAVING COUNT(*) > 2",
    ),
    "of late": Case(
        "SELECT window.end e, AVG(amount) a FROM g WHERE ts > now() - INTERVAL '20' MINUTE"
        " GROUP BY window(ts, '6 minutes', '4 minutes')",
        asked(f"SELECT e, AVG(amount) FROM {bucketed(6, 4)} WHERE ts > now() - INTERVAL '20' MINUTE GROUP BY e", "g"),
    ),
}


def sessions(gap: int, rows: str = "g", by: str = "bank") -> str:
    """The rows of g, each with the number of its session of those with the same bank, for DuckDB."""
    partition = f"PARTITION BY {by} ORDER BY ts"
    new = f"CASE WHEN p IS NULL OR ts - p > INTERVAL '{gap} seconds' THEN 1 ELSE 0 END"
    before = f"(SELECT *, lag(ts) OVER ({partition}) p FROM {rows} WHERE ts IS NOT NULL)"
    return f"(SELECT *, SUM({new}) OVER ({partition} ROWS UNBOUNDED PRECEDING) s FROM {before})"


SESSIONS = {
    "of a bank": Case(
        "SELECT session_window.start b, session_window.end e, bank, COUNT(*) n, SUM(amount) t, AVG(amount) a FROM g"
        " GROUP BY session_window(ts, '2 minutes'), bank",
        "SELECT MIN(ts), MAX(ts) + INTERVAL '120 seconds', bank, COUNT(*), SUM(amount), AVG(amount)"
        f" FROM {sessions(120)} GROUP BY bank, s",
    ),
    "of all": Case(
        "SELECT session_window(ts, '41 seconds').start b, MEDIAN(amount) m FROM g"
        " GROUP BY session_window(ts, '41 seconds') HAVING COUNT(*) > 1",
        f"SELECT MIN(ts), MEDIAN(amount) FROM {sessions(41, by='1')} GROUP BY s HAVING COUNT(*) > 1",
    ),
    "of exactly the gap": Case(
        "SELECT session_window.start b, COUNT(*) n FROM g GROUP BY session_window(ts, '40 seconds')",
        f"SELECT MIN(ts), COUNT(*) FROM {sessions(40, by='1')} GROUP BY s",
    ),
    "of late": Case(
        "SELECT bank, session_window.start b, MAX(amount) m FROM g WHERE ts > now() - INTERVAL '15' MINUTE"
        " GROUP BY bank, session_window(ts, '3 minutes')",
        asked(
            "SELECT bank, MIN(ts), MAX(amount) FROM "
            + sessions(180, "(SELECT * FROM g WHERE ts > now() - INTERVAL '15' MINUTE)")
            + " GROUP BY bank, s",
            "g",
        ),
    ),
    "how many": Case(
        "SELECT bank, COUNT(*) n FROM (SELECT bank, session_window.start b FROM g"
        " GROUP BY bank, session_window(ts, '2 minutes')) v GROUP BY bank",
        f"SELECT bank, COUNT(DISTINCT s) FROM {sessions(120)} GROUP BY bank",
    ),
}


def test_groups_by_sessions(spark: object) -> None:
    """Rows that come late join sessions together, and those that leave a window take them apart."""
    with Oracle(spark, {"g": Feed(G, 20, 12, time="ts")}) as oracle:
        oracle.register(SESSIONS, check=False)
        oracle.run(2, check=False)
        oracle.register({"later": SESSIONS["of a bank"]})
        oracle.run(2, check=False)
        oracle.check_changes()
        oracle.check_results(["of a bank", "of late"])


def test_groups_by_stretches_of_time(spark: object) -> None:
    with Oracle(spark, {"g": Feed(G, 20, 20, time="ts")}) as oracle:
        oracle.register(STRETCHES, check=False)
        oracle.run(3, check=False)
        oracle.check_changes()
        oracle.check_results(["sliding"])
