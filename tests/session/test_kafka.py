"""Topics in a session: rows are recorded, so answers are the same when it is gone back and opened again; and what is
sent to a topic is a source again."""

from __future__ import annotations

import random
import time
from pathlib import Path

import duckdb
from pyspark.sql import SparkSession
from servers import Broker

from workbench import Session

QUERIES = {
    "fees": "SELECT state, COUNT(*) AS n, SUM(fee) AS s, MAX(fee) AS m FROM Orders GROUP BY state",
    "named": "SELECT o.id, s.name FROM Orders o JOIN States s ON o.state = s.state WHERE o.fee > 3",
    "none": "SELECT s.name FROM States s WHERE NOT EXISTS (SELECT 1 FROM Orders o WHERE o.state = s.state)",
}
STATES = [{"state": "ma", "name": "Massachusetts"}, {"state": "ny", "name": "New York"}, {"state": "me", "name": None}]


def expected(current: dict[int, dict[str, object]]) -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect() as database:
        database.execute("CREATE TABLE Orders (id BIGINT, state VARCHAR, fee DOUBLE)")
        database.execute("CREATE TABLE States (state VARCHAR, name VARCHAR)")
        database.executemany("INSERT INTO States VALUES (?, ?)", [[*row.values()] for row in STATES])
        rows = [[id_, row.get("state"), row["fee"]] for id_, row in current.items()]
        if rows:
            database.executemany("INSERT INTO Orders VALUES (?, ?, ?)", rows)
        return {name: sorted(database.execute(sql).fetchall(), key=repr) for name, sql in QUERIES.items()}


def answers(session: Session, *names: str) -> dict[str, list[tuple[object, ...]]]:
    frames = {name: session.query(name).result().astype(object) for name in names or QUERIES}
    return {
        name: sorted(frame.where(frame.notna(), None).itertuples(index=False, name=None), key=repr)
        for name, frame in frames.items()
    }


def arrive(session: Session, wanted: dict[str, list[tuple[object, ...]]], *names: str) -> None:
    """Let batches arrive until answers are as wanted: a broker on a busy machine may take its time."""
    ends = time.monotonic() + 120
    while answers(session, *names) != wanted and time.monotonic() < ends:
        if not session.run(1):
            time.sleep(0.05)
    assert answers(session, *names) == wanted


def test_upserts_and_tombstones_of_a_topic(spark: SparkSession, tmp_path: Path) -> None:
    broker, chosen = Broker(), random.Random(5)
    current: dict[int, dict[str, object]] = {}

    def change(count: int) -> None:
        """Messages of one key are in one partition, as the producers of Kafka put them."""
        for _ in range(count):
            id_, row = (
                chosen.randrange(12),
                {"state": chosen.choice(["ma", "ny", None]), "fee": chosen.randrange(1, 9) / 2},
            )
            if chosen.random() < 0.3:
                current.pop(id_, None)
                broker.put("orders", None, key=id_, partition=id_ % 4)
            else:
                current[id_] = row
                broker.put("orders", row, key=id_, partition=id_ % 4)

    change(30)
    with Session(spark, tmp_path / "s") as session:
        url = broker.url("orders", "key=id&fetch.wait.max.ms=10")
        session.add_stream("Orders", url, history=10, batch=1_000, key=["id"], changes="upsert")
        session.add_table("States", STATES)
        session.register_many(QUERIES)
        session.add_sink("fees", broker.url("fees"))
        while session.sinks["fees"].behind:
            time.sleep(0.05)
        session.run(1)
        while session.sinks["fees"].behind:
            time.sleep(0.05)
        session.add_stream("Sent", broker.url("fees", "fetch.wait.max.ms=10"), batch=1_000, weight="weight")
        session.register("SELECT state, n, s, m FROM Sent", name="back")
        for _ in range(2):
            arrive(session, expected(current))
            while session.sinks["fees"].behind:
                time.sleep(0.05)
            arrive(session, {"back": answers(session)["fees"]}, "back")
            change(15)
        broker.put("orders", b"no JSON", key=1)
        seen = expected(current)
        arrive(session, seen)
        assert any(
            entry.reason.startswith("partition 0, offset ") for entry in session.streams["Orders"].log.quarantined
        )
        session.seek(1)
        while session.run(1):
            pass
        assert answers(session) == seen
    change(15)
    with Session.open(tmp_path / "s", spark) as session:
        assert answers(session) == seen
        while session.run(1):
            pass
        arrive(session, expected(current))
        assert not session.sources["Orders"].problem
