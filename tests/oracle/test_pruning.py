"""Rows that are past are freed without a trace: every answer is that of DuckDB, which has them all.

Past rows go at once here, and not when half of a segment is past. Times come late, equal and NULL. ``ARGUS_LONG=all``
runs more queries.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from long import one_of
from oracle.bags import frame_rows
from oracle.harness import Case, Feed, Oracle
from oracle.test_by_tasks import BY_TASKS
from oracle.test_fifty_windows import ALL
from oracle.test_windows import CASES, EAGER, GROUPED, case, events
from oracle.test_without_spark import registered
from pyspark.sql import SparkSession
from worker_processes import worker_processes

from workbench import Session
from workbench.engine.storage.retention import FreeExpired
from workbench.limits import Limits

F, G = events(320, 5), events(200, 6)
FEEDS = {"f": Feed(F, 60, 20, time="d"), "g": Feed(G, 0, 15, time="ts", lateness=dt.timedelta(minutes=4))}
PAIRS = case(
    "SELECT a.id, b.id other FROM f a JOIN f b ON a.bank = b.bank"
    " WHERE a.amount > b.amount AND a.d > now() - 3 AND b.d > now() - 5"
)
WIDE = case("SELECT id, bank FROM f WHERE d >= now() - 14")
STREAMS = case(
    "SELECT f.id, g.amount FROM f JOIN g ON f.id = g.id"
    " WHERE f.d > now() - INTERVAL '6' DAY AND g.ts > now() - INTERVAL '30' DAY",
    "fg",
)
SOME = ("by bank", "minutes by bank", "silent banks", "except", "window above groups", "one side")
COMBINED = [
    case(f"SELECT bank, COUNT(*) n, SUM(amount) m FROM f WHERE d > now() - 5 AND amount > {a} AND {b} GROUP BY bank")
    for a in (2, 6)
    for b in ("id > 20", "bank <> 'a'", "ts IS NOT NULL")
]
BY_BANK = "SELECT bank, COUNT(*) n, MAX(amount) m FROM f WHERE d > now() - {} GROUP BY bank"


AT_ONCE = Limits(percent_expired=0, batches_of_changes=1)


def kept(session: Session, kind: str) -> int:
    """Rows that are kept for all trees of a kind."""
    return sum(session.kept(node.id)[0] for node in session.network.nodes if node.kind == kind)


def past(session: Session) -> set[str]:
    """The kinds of trees whose past rows were freed."""
    trees = session.parts.store.state.engine.trees
    return {node.kind for node in session.network.nodes if node.id in trees and trees[node.id].bounds is not None}


def test_queries_come_and_go(spark: SparkSession, tmp_path: Path) -> None:
    texts = {name: CASES[name] for name in ("last days", "some of them", *(("minutes", "two tests") if ALL else ()))}
    with Oracle(spark, FEEDS, path=tmp_path / "s", limits=AT_ONCE) as oracle:
        oracle.register({**texts, "pairs": PAIRS, "two streams": STREAMS, "wide": WIDE}, check=False)
        oracle.register({"eager": CASES["between"]}, check=False, results="eager")
        oracle.register({"by bank": case(BY_BANK.format(4)), "union": CASES["union"]}, check=False)
        oracle.run(3, check=False)
        assert past(oracle.session) >= {"source", "join", "aggregate"}
        oracle.check_results()
        with_wide = kept(oracle.session, "source")
        oracle.drop("wide")
        assert kept(oracle.session, "source") < with_wide
        # Older rows than are kept, in a wider window, in groups, in pairs, and all of them.
        oracle.register({"wide again": WIDE, "by bank, longer": case(BY_BANK.format(30))})
        oracle.run(1, check=False)
        oracle.register({"pairs again": case(PAIRS.sql.replace("- 5", "- 50")), "all": Case("SELECT id, d FROM f")})
        oracle.reopen()
        oracle.run(1)
        oracle.drop("all")
        oracle.reopen()
        oracle.run(2, check=False)
        oracle.check_results()
        oracle.check_changes()
        oracle.check_changes(["some of them", "pairs"], since=True)
        before = oracle.session.query("some of them").changes(since=4)
        oracle.session.seek(4)
        oracle.session.run(oracle.batch - 4)
        oracle.check_results(["last days", "by bank", "wide again"])
        after = oracle.session.query("some of them").changes(since=4)
        assert sorted(frame_rows(before), key=repr) == sorted(frame_rows(after), key=repr)


def test_groups_of_combined_conditions(spark: SparkSession, tmp_path: Path) -> None:
    with Oracle(spark, FEEDS, path=tmp_path / "s", limits=AT_ONCE) as oracle:
        oracle.register({f"q{number}": each for number, each in enumerate(COMBINED)}, check=False)
        assert any(len(node.parents) == 2 for node in oracle.session.network.nodes if node.kind == "aggregate")
        oracle.run(3, check=False)
        oracle.drop("q0")
        oracle.reopen()
        oracle.run(3, check=False)
        oracle.check_results()
        oracle.check_changes()


def test_earlier_instants_of_what_is_past(spark: SparkSession) -> None:
    with Oracle(spark, FEEDS, limits=AT_ONCE) as oracle:
        oracle.register({"days": CASES["last days"], "pairs": PAIRS}, check=False)
        oracle.run(6, check=False)
        for name in ("days", "pairs"):
            query = oracle.session.query(name)
            instant = query.windows()["instant"].iloc[1]
            question = oracle.watched[name].case.asked.replace(
                "(SELECT max(m) FROM (SELECT max(d) m FROM f) AS times(m))", f"DATE '{instant}'"
            )
            assert str(instant) in question
            up_to = f"WITH f AS (SELECT * FROM main.f WHERE d <= DATE '{instant}' OR d IS NULL) {question}"
            oracle.compare(name, query.result(at=instant), up_to)


@pytest.mark.parametrize("eager", [False, True])
def test_all_kinds_of_windows(spark: SparkSession, eager: bool) -> None:
    lazy = (*GROUPED, "one side", "minutes, other words", "today") if ALL else SOME
    names = EAGER if eager else lazy
    with Oracle(spark, FEEDS, limits=AT_ONCE) as oracle:
        results = "eager" if eager else "lazy"
        oracle.register({name: CASES[name] for name in names}, check=False, results=results)
        oracle.run(3, check=False)
        oracle.check_changes()
        oracle.check_results(list(names)[:3])


def test_what_is_kept_does_not_grow_with_the_stream(spark: SparkSession) -> None:
    """Twelve days of rows and their pairs, however many days have passed."""
    days = events(60 + 16 * 24, 9)
    with Oracle(spark, {"f": Feed(days, 60, 24, time="d")}, limits=AT_ONCE) as oracle:
        oracle.register({"pairs": PAIRS, "days": CASES["last days"], "by bank": case(BY_BANK.format(12))}, check=False)
        sizes = []
        for _ in range(16):
            oracle.run(1, check=False)
            sizes.append([kept(oracle.session, kind) for kind in ("source", "join", "aggregate")])
        oracle.check_results()
        # Rows that cancel each other go when their relation merges, each at batches of its own: its most is told.
        early, late = ([max(kind) for kind in zip(*part, strict=True)] for part in (sizes[2:9], sizes[9:]))
        assert all(after < 1.5 * before for before, after in zip(early, late, strict=True)), sizes
        oracle.session.drop("by bank")
        assert kept(oracle.session, "source") < sizes[-1][0]


def test_siblings_are_freed_each_by_its_own_window(spark: SparkSession, tmp_path: Path) -> None:
    """A family keeps all members' rows in one relation: those of one are past while others' are not."""
    text = "SELECT bank, COUNT(*) n, MAX(amount) m FROM f WHERE amount > {} AND d > now() - {} GROUP BY bank"
    windows = {"few days": (0, 3), "more days": (40, 6), "many days": (80, 20)}
    with Oracle(spark, FEEDS, path=tmp_path / "s", limits=AT_ONCE) as oracle:
        oracle.register({name: case(text.format(*window)) for name, window in windows.items()}, check=False)
        oracle.run(4)
        families = [
            tree for tree in oracle.session.parts.store.state.engine.trees.values() if len(tree.plan.roots) == 3
        ]
        assert families and any(tree.bounds is not None for tree in families)
        oracle.drop("many days")
        oracle.register({"many days again": case(text.format(80, 20)), "few": case(text.format(60, 2))})
        oracle.reopen()
        oracle.run(3)
        oracle.check_changes(since=True)


@pytest.mark.parametrize("together", one_of([20, 1_000]))
def test_rows_of_large_trees_are_freed_by_tasks_in_some_batches(
    together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver reads none of them, which may be in the store alone."""
    days, queries = (
        events(60 + 12 * 24, 9),
        {"pairs": PAIRS, "days": CASES["last days"], "by bank": case(BY_BANK.format(12))},
    )
    limits = replace(BY_TASKS, percent_expired=0, batches_of_changes=1, batches_between_expirations=4)
    limits = replace(limits, rows_per_task=together)
    path = f"file://{tmp_path}/session"
    feeds = {"f": Feed(days, 60, 24, time="d")}
    with worker_processes(3, failing=0.2) as workers, Oracle(workers, feeds, path=path, limits=limits) as oracle:
        assert len(registered(oracle, queries, queries)) == len(queries)
        monkeypatch.delattr(FreeExpired, "left_of")
        sizes = []
        for _ in range(12):
            oracle.run(1, check=False)
            sizes.append(kept(oracle.session, "source"))
        assert [at for at, (before, after) in enumerate(pairwise(sizes), 2) if after != before + 24] == [4, 8, 12]
        assert past(oracle.session) >= {"source", "join", "aggregate"} and sizes[-1] < 1.3 * sizes[3]
        oracle.check_changes()
        oracle.session.close()
        oracle.follow(Session.open(path, workers, limits=limits))
        oracle.check_results()


def test_all_kinds_of_windows_whose_rows_are_freed_by_tasks(tmp_path: Path) -> None:
    limits = replace(BY_TASKS, percent_expired=0, batches_of_changes=1)
    path, texts = f"file://{tmp_path}/session", {**CASES, "streams": STREAMS}
    with worker_processes(2) as workers, Oracle(workers, FEEDS, path=path, limits=limits) as oracle:
        assert len(registered(oracle, ["last days", *SOME, "streams"], texts)) > 4
        oracle.run(4, check=False)
        assert past(oracle.session) >= {"source", "aggregate"}
        oracle.check_changes()
