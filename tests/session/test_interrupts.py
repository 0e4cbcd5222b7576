"""An interrupt of the main thread stops what a session computes, and leaves everything as it was.

A function of the analyst's says that it was called and then sleeps for longer than a test may take: what returns at all
was stopped.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from workbench import Session
from workbench.engine.spark.interrupts import Interrupted
from workbench.limits import Limits

LIMIT = 120.0
SLEEPING = 3_600


class Slow:
    """A function for SQL that gives a long text; while it is switched on, it begins and never ends.

    Texts of this size are not remembered, so it is called whenever they are needed.
    """

    def __init__(self, folder: Path) -> None:
        self._on, self._begun = folder / "on", folder / "begun"

    def function(self) -> Callable[[int], str]:
        on, begun = str(self._on), str(self._begun)

        def slow(a: int) -> str:
            if os.path.exists(on):
                open(begun, "w").close()
                time.sleep(SLEEPING)
            return f"{a:200000}"

        return slow

    def interrupt(self, work: Callable[[], object]) -> None:
        """Do work in this thread, which is interrupted once the function has been called."""
        self._begun.unlink(missing_ok=True)
        self._on.touch()
        returned = threading.Event()
        watching = threading.Thread(target=self._watch, args=(returned,))
        watching.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                try:
                    work()
                finally:
                    returned.set()
                    watching.join()
        finally:
            self._on.unlink()

    def _watch(self, returned: threading.Event) -> None:
        until = time.monotonic() + LIMIT
        while not self._begun.exists() and time.monotonic() < until:
            if returned.wait(0.01):  # without a call: an interrupt would end the tests
                return
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def slow(tmp_path: Path) -> Slow:
    return Slow(tmp_path)


@pytest.fixture
def session(spark, slow: Slow) -> Iterator[Session]:
    # A kept state would be gone back to without a call of the function.
    with Session(spark, limits=Limits(states_kept=0)) as made:
        made.add_stream("t", pd.DataFrame({"a": range(300), "b": [i % 7 for i in range(300)]}), history=100, batch=50)
        made.add_function("slow", slow.function(), returns="string", seconds=SLEEPING)
        yield made


def contents(session: Session) -> object:
    """All that an analyst sees, and the files it is in."""
    answers = {name: sorted(query.result().values.tolist()) for name, query in session.queries.items()}
    files = {tree.plan.name: tree.files for tree in session.parts.engine.state.trees.values()}
    nodes = {node.id for node in session.network.nodes}
    return session.batch, session.streams["t"].position, answers, nodes, files


def test_whatever_is_interrupted_is_as_it_was(session: Session, slow: Slow, caplog: pytest.LogCaptureFixture) -> None:
    session.register("SELECT b, COUNT(*) AS n FROM t GROUP BY b", name="groups")

    def stopped(work: Callable[[], object]) -> None:
        before = contents(session)
        slow.interrupt(work)
        assert contents(session) == before

    # Registering: threads of the engine hydrate.
    stopped(lambda: session.register("SELECT a FROM t WHERE CAST(TRIM(slow(a)) AS INT) > 2", name="large"))
    large = session.register("SELECT a FROM t WHERE CAST(TRIM(slow(a)) AS INT) > 2", name="large")
    # A batch: the main thread runs the jobs of a depth.
    stopped(lambda: session.run(2))
    session.run(2)
    assert len(large.result()) == 197 and large.status == "active"
    # Questions of an engine apart: its threads compute within the reading that is interrupted.
    stopped(lambda: large.why_not("a = 1"))
    stopped(lambda: large.why("a = 5"))
    stopped(lambda: session.verify("large"))
    # Reading what is not kept: what it computes for once, and what it projects.
    unkept = session.register("SELECT LENGTH(slow(a)) AS c FROM t", name="unkept", results="off")
    slow.interrupt(unkept.result)
    assert len(unkept.result()) == 200
    # Going back: in this thread, and in the player's.
    stopped(lambda: session.seek(0))

    def back() -> None:
        session.player.go_back(1)
        try:
            session.player.wait()
        except KeyboardInterrupt:
            session.player.interrupt()
            raise

    stopped(back)
    assert session.player.wait(0) and isinstance(session.player.position.problem, Interrupted)
    session.seek(1)
    assert len(large.result()) == 147 and large.status == "active"
    # A sink of a session that an earlier test left as if it had died may still say that its target is away.
    own = [record for record in caplog.records if not str(record.threadName).startswith("argus-sink-")]
    assert not [record for record in own if record.levelno >= logging.WARNING]
