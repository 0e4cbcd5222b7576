"""What an analyst does in any order, with sinks of each kind: after each step the target, summed, is the answer.

Batches, going back, other sizes of batches, a table that changes, a live topic, corrections, late rows, queries that
are suspended, planned anew, registered again, and the session closed and opened. Few steps run always;
``ARGUS_LONG=all`` plays many, with all kinds of targets.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from long import LONG
from pyspark.sql import SparkSession
from servers import Broker
from sink_targets import Content, Webhook, every_kind, once

from workbench import Session
from workbench.catalog.schema import MIGRATIONS

QUERIES = {
    "some": "SELECT id, g, v FROM t WHERE v > 2",
    "named": "SELECT p.name, COUNT(*) AS n, SUM(t.v) AS s FROM t JOIN p ON t.g = p.g GROUP BY p.name",
    "sums": "SELECT k, SUM(x) AS s, COUNT(*) AS n FROM u GROUP BY k",
    "sent": "SELECT word, COUNT(*) AS n FROM live GROUP BY word",
    "last": "SELECT id, v FROM t BEGIN NOW - 5 END NOW",
}
SOME = ("named", "sums", "sent")
STEPS = ("size", "update", "put", "open", "plan", "again", "suspend", "repair", "upgrade")
KEYS = {"some": "id", "named": "name", "sums": "k", "sent": "word", "last": "id"}


class Played:
    """A session that is played with, and what its sinks have been given."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        seed: int,
        hook: Webhook,
        broker: Broker,
        database: str | None,
        objects: str | None,
    ):
        self.steps, self.queries = list[str](), QUERIES if LONG else {name: QUERIES[name] for name in SOME}
        self._spark, self._folder, self._hook, self._database = spark, folder, hook, database
        self._objects = objects
        self._chosen, self._broker, self._topic = random.Random(seed), broker, f"live{seed}"
        self._contents: dict[str, tuple[str, Callable[[], Content]]] = {}
        self._given: dict[str, object] = {}
        self._added = 0
        self.session = Session(spark, folder / "s")
        rows = [(i, i % 4, (i * 7) % 11, i - (9 if i % 10 == 9 else 0)) for i in range(300)]
        t = pa.table(dict(zip(("id", "g", "v", "at"), zip(*rows, strict=True), strict=True)))
        self.session.add_stream("t", t, history=5, batch=3, time="at", lateness=4)
        self.session.add_table("p", self._names(), key=["g"])
        u = [(k % 5, k % 3, 1 if k % 4 else -1) for k in range(200)]
        u = [(k, x, 1) for k, x, _ in u[:40]] + [(k, x, w) for (k, x, _), w in zip(u[:40], [-1, 1] * 20, strict=True)]
        self.session.add_stream("u", pd.DataFrame(u, columns=["k", "x", "w"]), batch=4, weight="w")
        broker.put(self._topic, *({"word": "a"} for _ in range(4)))
        url = broker.url(self._topic, "fetch.wait.max.ms=10")
        self.session.add_stream("live", url, history=2, batch=5)
        for name, sql in self.queries.items():
            self.session.register(sql, name=name, results="eager" if name == "last" else "lazy")
            self.add_sinks(name)

    def _names(self) -> list[dict[str, object]]:
        chosen = self._chosen
        return [{"g": g, "name": chosen.choice(["x", "y", "z"])} for g in range(4) if chosen.random() < 0.7]

    def add_sinks(self, query: str) -> None:
        self._added += 1
        where = self._broker if LONG else None
        name, key = f"{self._topic}n{self._added}", KEYS[query]
        kinds = every_kind(name, self._folder, key, self._hook, where, self._database, self._objects)
        for kind, (target, content) in kinds.items():
            if kind in ("delta", "hook") and not LONG:
                continue
            name = f"{query}-{kind}"
            self.session.add_sink(query, target, name=name)
            self._contents[name], self._given[name] = (query, content), target

    def step(self) -> None:
        chosen, session = self._chosen, self.session
        step = chosen.choice([*["run"] * 4, *["seek"] * 3, "size", "update", "put", *STEPS])
        self.steps.append(step)
        match step:
            case "run":
                session.run(chosen.choice([1, 2, 3]))
            case "seek":
                session.seek(chosen.randrange(session.batch + 1))
            case "size":
                session.set_batch(chosen.choice(["t", "u", "live"]), chosen.choice([1, 2, 7]))
            case "update":
                session.update_table("p", self._names())
            case "put":
                words = [{"word": chosen.choice("abc")} for _ in range(chosen.randrange(9))]
                self._broker.put(self._topic, *words, partition=chosen.randrange(4))
            case "open":
                session.close()
                self.open()
            case "repair":
                session.close()
                file = chosen.choice(sorted((self._folder / "s" / "state").rglob("*.arrow")))
                file.write_bytes(bytes([*file.read_bytes()[:-1], 7]))
                self.open(repair=True)
            case "upgrade":
                session.close()
                with closing(sqlite3.connect(self._folder / "s" / "catalog.sqlite")) as catalog:
                    catalog.executescript(MIGRATIONS[7])  # the session is to be planned anew
                (self._folder / "s" / "session.json").unlink()
                self.open()
            case "plan":
                session.reoptimize()
            case "again":
                query = chosen.choice(["named", "sums"])
                session.register(QUERIES[query], name=query)
                self.check_replaced(query)
                for name in [name for name, (of, _) in self._contents.items() if of == query]:
                    session.drop_sink(name)
                    self._contents.pop(name)
                    self._given.pop(name)
                self.add_sinks(query)
            case "suspend":
                session.suspend("named")
                session.run(1)
                session.resume("named")

    def random(self) -> float:
        """A number of the same seed."""
        return self._chosen.random()

    def open(self, repair: bool = False) -> None:
        """Open the session that was closed, and give it again what is not kept."""
        self.session = Session.open(self._folder / "s", self._spark, repair=repair)
        for name, target in self._given.items():
            if callable(target):
                self.session.add_sink(self._contents[name][0], target, name=name)

    def check_replaced(self, query: str) -> None:
        """Its sinks say at once that their query is not there any more."""
        names = [name for name, (of, _) in self._contents.items() if of == query]
        until = time.monotonic() + 60
        while not all("replaced" in self.session.sinks[name].problem for name in names) and time.monotonic() < until:
            time.sleep(0.01)
        assert all("replaced" in self.session.sinks[name].problem for name in names), self.session.sinks

    def check(self) -> None:
        until = time.monotonic() + 120
        while any(status.behind for status in self.session.sinks.values()) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(status.behind for status in self.session.sinks.values()), (self.steps, self.session.sinks)
        frames = {name: self.session.query(name).result() for name in self.queries}
        answers = {name: once(frame.to_dict("records")) for name, frame in frames.items()}
        for name, (query, content) in self._contents.items():
            assert content() == answers[query], (name, self.steps)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(12 if LONG else 1))
def test_a_target_has_the_answer_after_each_step(
    spark: SparkSession, tmp_path: Path, seed: int, hook: Webhook, broker: Broker, request: pytest.FixtureRequest
) -> None:
    database = request.getfixturevalue("postgres") if LONG else None
    objects = request.getfixturevalue("objects") if LONG else None
    played = Played(spark, tmp_path, seed, hook, broker, database, objects)
    try:
        for _ in range(60 if LONG else 8):
            played.step()
            if played.steps[-1] != "put" and played.random() < 0.7:
                played.check()
        played.check()
    finally:
        played.session.close()
