"""Queries that are suspended: by the analyst, or by live running when rows come too fast, the least important first."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import QueryError
from workbench.limits import LIMITS, Limits
from workbench.session.live.priorities import RECOVERED, Priorities
from workbench.session.live.sources import SourceStatus
from workbench.session.state import QueryRecord

ROWS = pa.table({"id": [*range(600)], "k": [n % 3 for n in range(600)]})
GROUPS = "SELECT k, COUNT(*) AS n, MAX(id) AS last FROM Clicks GROUP BY k"


def behind(lag: float) -> dict[str, SourceStatus]:
    return {"s": SourceStatus("in", {}, 0, 0.0, lag, "", False)}


def record(name: str, priority: int, suspended: int | None = None, by_load: bool = False) -> QueryRecord:
    return QueryRecord(
        name, "", "spark", 0, "active", None, "lazy", (), name, None,  # type: ignore[arg-type]
        priority=priority, suspended=suspended, by_load=by_load,
    )  # fmt: skip


def test_the_least_important_are_suspended_first_and_go_on_last() -> None:
    now = 0.0
    priorities = Priorities(1.0, clock=lambda: now)
    queries = [record("a", 0), record("b", -1), record("c", -2), record("d", -2), record("e", -2, suspended=1)]
    for lag in (9.0, 9.0, 0.5, *[9.0] * (LIMITS.batches_behind - 1)):  # once it had caught up by itself
        assert priorities.to_suspend(queries, behind(lag)) == []
    assert priorities.to_suspend(queries, behind(9.0)) == ["c", "d"]
    queries[2:4] = [record("c", -2, 3, by_load=True), record("d", -2, 3, by_load=True)]
    for _ in range(LIMITS.batches_behind - 1):
        assert priorities.to_suspend(queries, behind(9.0)) == []
    assert priorities.to_suspend(queries, behind(9.0)) == ["b"]
    queries[1] = record("b", -1, 6, by_load=True)
    for _ in range(2 * LIMITS.batches_behind):
        assert priorities.to_suspend(queries, behind(9.0)) == []  # 0 is never suspended
    assert priorities.to_resume(queries, behind(0.2)) == []
    now = RECOVERED
    assert priorities.to_resume(queries, behind(2.0)) == []  # it is behind again
    assert priorities.to_resume(queries, behind(0.2)) == []
    now = 2 * RECOVERED
    assert priorities.to_resume(queries, behind(0.2)) == ["b"]
    assert priorities.to_resume(queries, {}, ended=True) == ["b", "c", "d"]  # and not what the analyst suspended


def test_those_that_must_be_suspended_again_wait_longer() -> None:
    now = 0.0
    priorities = Priorities(1.0, clock=lambda: now)
    going, standing = record("q", -1), record("q", -1, 1, by_load=True)
    waited = []
    for _ in range(4):
        while not priorities.to_suspend([going], behind(9.0)):
            pass
        begun = now
        while not priorities.to_resume([standing], behind(0.0)):
            now += 1.0
        waited.append((now - begun) / RECOVERED)
    assert waited == [1, 2, 4, 8]


def sent(changes: list[tuple[int, pd.DataFrame]]) -> Counter[tuple[object, ...]]:
    totals: Counter[tuple[object, ...]] = Counter()
    for _, rows in changes:
        for weight, *row in rows.itertuples(index=False, name=None):
            totals[tuple(row)] += weight
    return Counter({row: count for row, count in totals.items() if count})


def test_a_suspended_query_stands_still_alone(spark: SparkSession, tmp_path: Path) -> None:
    changes: list[tuple[int, pd.DataFrame]] = []
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("Clicks", ROWS, history=100, batch=100)
        session.register(GROUPS, name="groups")
        session.register("SELECT id FROM Clicks WHERE id % 2 = 0", name="even")
        session.register(f"SELECT COUNT(*) AS c FROM ({GROUPS}) g WHERE n > 60", name="above")
        session.add_sink("groups", lambda batch, rows: changes.append((batch, rows)), name="sink")
        session.prioritize("groups", -3)
        session.suspend("groups")
        session.run(1)  # another query reads its groups, so they go on
        assert session.query("groups").result()["n"].sum() == 200 and session.query("groups").batch == 1
        session.suspend("above")
        session.run(2)
        assert (session.query("groups").batch, session.query("groups").suspended) == (1, 0)
        assert session.query("groups").result()["n"].sum() == 200 and len(session.query("even").result()) == 200
        assert session.reports[-1].changes["groups"] == 0
        assert {o.name for o in session.reports[-1].operators} < {o.name for o in session.reports[0].operators}
        assert session.sinks["sink"].behind == 0 or session.sinks["sink"].batch < 1
    with Session.open(tmp_path / "s", spark) as session:
        assert (session.query("groups").batch, session.query("groups").priority) == (1, -3)
        session.run(1)
        assert session.query("groups").result()["last"].max() == 199
        session.register(f"SELECT n FROM ({GROUPS}) g WHERE k = 1", name="one")  # reads what is suspended
        assert session.query("one").result()["n"].tolist() == [167]
        assert session.query("groups").result()["n"].sum() == 500 and session.query("above").batch == 3 - 2
        session.resume("groups")
        session.resume()
        assert session.query("above").result()["c"].tolist() == [3] and session.query("above").batch == 4
        final = session.query("groups").changes()
        assert sent([(0, final[final["batch"] >= 0].drop(columns="batch"))]) == Counter(
            session.query("groups").result().itertuples(index=False, name=None)
        )
        with pytest.raises(QueryError, match="there is no query group"):
            session.suspend("group")
    assert {batch for batch, _ in changes} <= {0, 1}


def bursts(ready: threading.Event) -> Iterator[pa.Table]:
    yield from ROWS.to_batches(50)
    ready.set()


def test_live_running_suspends_by_priority_and_lets_go_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: list[tuple[int, pd.DataFrame]] = []
    seen: list[tuple[int | None, int]] = []
    # As for answers too large to compare.
    with Session(
        spark, tmp_path / "s", limits=Limits(rows_merged_in_process=0, latencies_behind=0, batches_behind=1)
    ) as session:
        session.add_stream("Clicks", bursts(threading.Event()))
        session.register(GROUPS, name="groups")
        session.register("SELECT COUNT(*) AS n FROM Clicks", name="all")
        session.add_sink("groups", lambda batch, rows: changes.append((batch, rows)), name="sink")
        session.prioritize("groups", -1)
        session.run_live(
            latency="1s",
            progress=lambda _: seen.append((session.query("groups").suspended, session.query("all").batch)),
        )
        assert seen[0][0] is not None and [batch for _, batch in seen] == [*range(1, len(seen) + 1)]
        assert session.query("groups").suspended is None  # no more rows come
        assert session.query("groups").result()["n"].sum() == session.query("all").result()["n"].sum() == 600
        answer = Counter(session.query("groups").result().itertuples(index=False, name=None))
    assert sent(changes) == answer
