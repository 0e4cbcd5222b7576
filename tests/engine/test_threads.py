"""A session used by several threads: batches play while cells read and register; going back gives the same again."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

from workbench.engine.schedule import Progress
from workbench.errors import QueryError, StreamError
from workbench.session.player import Player, PlayerState

CASES = {
    "rows": Case("SELECT id, amount FROM t WHERE k > 3"),
    "groups": Case("SELECT g, COUNT(*) AS n, MAX(k) AS m FROM t GROUP BY g"),
    "pairs": Case("SELECT a.id, b.id AS other FROM t a JOIN t b ON a.k = b.k WHERE a.id < b.id"),
}


@pytest.fixture
def oracle(spark: SparkSession) -> Iterator[Oracle]:
    feeds = {"t": Feed(stream(260, seed=3, again=0.2), history=40, batch=20), "names": Feed(names(8), static=True)}
    with Oracle(spark, feeds) as made:
        made.register(CASES)
        yield made


def test_answers_read_while_batches_run_are_those_after_some_batch(oracle: Oracle) -> None:
    session = oracle.session
    counts: dict[str, list[int]] = {name: [] for name in CASES}
    player, done, underway = Player(session), threading.Event(), list[Progress]()

    def read(name: str) -> None:
        while not done.is_set():
            if (progress := session.progress) is not None:
                underway.append(progress)
            counts[name].append(len(session.query(name).result()))

    readers = [threading.Thread(target=read, args=(name,)) for name in CASES]
    for reader in readers:
        reader.start()
    player.play(3)
    late = session.register("SELECT id FROM t WHERE k > 5", name="late")
    assert player.wait(120)
    assert player.position.state is PlayerState.PAUSED, player.position.problem
    done.set()
    for reader in readers:
        reader.join(60)
    player.close()
    assert late.registered <= session.batch == 3
    assert session.progress is None and all(0 <= p.done <= p.total for p in underway)
    assert max(p.total for p in underway) == len(session.parts.engine.state.trees)
    session.seek(0)
    sizes = {name: [session.query(name).count()] for name in CASES}
    while session.batch < 3:
        session.run(1)
        for name in CASES:
            sizes[name].append(session.query(name).count())
    for name, seen in counts.items():
        assert seen, name
        assert seen == sorted(seen)
        assert set(seen) <= set(sizes[name])


def test_after_going_back_answers_and_changes_are_those_of_duckdb(oracle: Oracle) -> None:
    oracle.run(3, check=False)
    oracle.register({"late": Case("SELECT g, MAX(k) AS m FROM t WHERE k > 2 GROUP BY g")})
    session = oracle.session
    session.seek(2)
    oracle.batch = 2
    oracle.check_results(CASES)
    session.run(1)
    oracle.batch = 3
    oracle.check_results()
    oracle.check_changes(CASES)
    # It was registered after the batch to which the session went back, and is from that one on.
    assert session.query("late").changes()["batch"].min() == 2


def test_going_back_lets_the_same_rows_arrive_in_the_same_batches(oracle: Oracle) -> None:
    session = oracle.session
    session.run(1)
    assert session.set_batch("T", 35).batch == 35
    session.run(2)
    arrived = [report.arrived for report in session.reports]
    assert arrived == [{"t": 20}, {"t": 35}, {"t": 35}]
    session.seek(2)
    assert [report.arrived for report in session.reports] == arrived[:2]
    with pytest.raises(QueryError, match="cannot go back to batch 3"):
        session.seek(3)
    with pytest.raises(StreamError, match="there is no stream u"):
        session.set_batch("u", 3)
    with pytest.raises(StreamError, match="at least 1"):
        session.set_batch("t", 0)
    assert session.batch == 2
