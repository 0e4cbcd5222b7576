"""A fault at each system call that writes, of a session from a topic to three sinks: nothing is lost or comes twice.

Some calls in the usual run, in which nothing is killed; ``ARGUS_KILLS=1000`` walks all of them, with each fault. A kill
between the send and the commit leaves an open transaction, so the target's broker is one that honours isolation.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from servers import ISOLATES, Broker, isolating_broker, postgres
from session.directory.system_calls import CAN_WATCH, Fault, Watched
from session.directory.test_kill_live import KILLS, PROJECT, Changing, check_all_is_there_once, make_session

MOST = int(os.environ.get("ARGUS_KILLS", "0"))
CHILD = """
import json, sys, time
from workbench import Session
from workbench.errors import UnexpectedError, WorkbenchError

def arrive(session, wanted, seconds):
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        session.run(1)
        read = sum(int(at) for at in session.sources["T"].offsets.values())
        if read >= wanted and not any(sink.behind for sink in session.sinks.values()):
            return session.query("groups").result().values.tolist()
        time.sleep(0.01)
    return ["late", repr((wanted, session.sources, dict(session.sinks)))]

with Session.open(sys.argv[1]) as session:
    print("begun", flush=True)
    for order in sys.stdin:
        wanted, seconds = map(float, order.split())
        try:
            said = arrive(session, wanted, seconds)
        except UnexpectedError as problem:
            said = ["defect", str(problem)]
        except WorkbenchError as problem:
            said = ["refused", str(problem)]
        print(json.dumps(said), flush=True)
"""


ARRIVES = 300.0
"""Seconds in which all must have arrived: a machine that does other things, too, may take its time."""


class Walk:
    """Walks the calls of one session, with one fault at each."""

    def __init__(self, folder: Path, out: Broker, changing: Changing) -> None:
        self._folder, self._changing = folder, changing
        self._port = int(out.address.rpartition(":")[2])
        self._child: Watched | None = None
        self.hits: Counter[tuple[Fault, str]] = Counter()

    def count(self) -> int:
        """How many calls a step makes."""
        child = self._open()
        child.arm(1 << 30, Fault.STOP)
        self._step(ARRIVES)
        return len(child.calls)

    def at(self, number: int, fault: Fault) -> bool:
        """A step with a fault at one of its calls, and then one without; whether there was such a call."""
        child = self._open()
        child.arm(number, fault)
        said = self._step(1 if fault is Fault.FULL else ARRIVES)
        hit, call = child.hit, child.calls[number - 1] if child.hit else ""
        child.disarm()
        if hit:
            self.hits[fault, call] += 1
        if fault is Fault.KILL and hit:
            assert said is None, "it was killed, and goes on"
            child.process.wait()
            self._child = None
        else:
            assert said is not None and said[:1] != ["defect"], (number, call, said)
        self._check(self._step(ARRIVES), fault, number, call)
        return hit

    def close(self) -> None:
        """End the process as it ends itself."""
        if self._child is not None:
            assert self._child.process.stdin is not None
            self._child.process.stdin.close()
            self._child.process.wait(60)
            self._child = None

    def _check(self, said: list[object] | None, *about: object) -> None:
        assert said is not None and said[:1] != ["late"], (about, said)
        answer = Counter(tuple(row) for row in said)  # type: ignore[arg-type]
        assert answer == self._changing.answer(), (about, said)

    def _step(self, seconds: float) -> list[object] | None:
        """Let messages come, and all of it arrive; the answer, or ``None`` of a process that was killed."""
        self._changing.change(3)
        process = self._open().process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{self._changing.count} {seconds}\n")
        process.stdin.flush()
        said = process.stdout.readline()
        return json.loads(said) if said else None

    def _open(self) -> Watched:
        if self._child is None:
            self._child = Watched([sys.executable, "-c", CHILD, str(self._folder / "s")], self._folder, [self._port])
            assert self._child.process.stdout is not None
            while (said := self._child.process.stdout.readline()) != "begun\n":
                assert said, "the session could not be opened"
        return self._child


@pytest.fixture
def walk(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    """A walk; after it all must be there, once."""
    if not CAN_WATCH:
        pytest.skip("system calls are watched on Linux, x86-64")
    monkeypatch.chdir(PROJECT)
    if MOST and not ISOLATES:
        pytest.skip("pip install 'argus-workbench[faults]' for a broker that honours isolation")
    broker = Broker()  # what is sent to it is only asked for
    changing = Changing(broker, "t")
    changing.change(20)
    with postgres() as database, isolating_broker("out") if ISOLATES else nullcontext(Broker()) as out:
        make_session(spark, tmp_path, broker, out, database)
        walk = Walk(tmp_path, out, changing)
        yield walk
        walk.close()
        batches = check_all_is_there_once(spark, tmp_path, out, database, changing)
        kinds = ", ".join(
            f"{fault.value} {call} {count}" for (fault, call), count in sorted(walk.hits.items(), key=str)
        )
        print(f"{walk.hits.total()} faults, {batches} batches: {kinds}")


FEW = {Fault.FULL: 6, Fault.STOP: 2, Fault.KILL: 0}


@pytest.mark.timeout(300 + 60 * KILLS)
@pytest.mark.parametrize("faults", [[fault] for fault in Fault] if MOST else [[*Fault]], ids=str)
def test_a_fault_at_each_call(walk: Walk, faults: list[Fault]) -> None:
    walk.count()  # the first batch of a process makes more of them
    calls = walk.count()
    assert calls > 50
    for fault in faults:
        points = min(calls, MOST) or FEW[fault]
        hits = sum(walk.at(1 + point * calls // points, fault) for point in range(points))
        assert hits >= points / 2, "batches make about as many calls each"
