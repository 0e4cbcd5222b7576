"""Sinks of every kind beside histories that change: after each step the target, summed, is the answer.

Batches run, the session goes back, changes begin anew, targets refuse what they took or did not take, and the process
dies at any write, by its number: of the place, of what was sent, before and after the target. Few histories run always,
``ARGUS_LONG=all`` plays many.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from long import LONG
from servers import Broker
from sink_targets import Content, Webhook, every_kind, once

from workbench.arrow.types import to_arrow
from workbench.errors import WorkbenchError
from workbench.files.shared import write_small
from workbench.limits import Limits
from workbench.session.sinks import sent as sent_module
from workbench.session.sinks import sink as sink_module
from workbench.session.sinks import sinks as sinks_module
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.target import AnswerSource, Target
from workbench.session.sinks.targets import target_of
from workbench.sql.algebra.types import INTEGER, STRING, DataType, decimal

TYPES = (INTEGER, STRING, decimal(15, 2))
CHANGES = pa.schema(zip(["batch", "weight", "a", "b", "c"], map(to_arrow, (INTEGER, INTEGER, *TYPES)), strict=True))

Answer = dict[int, tuple[int, str | None, Decimal]]
State = tuple[int, int, tuple[Answer, ...]]


class History:
    """Answers batch by batch; its state changes as a whole, as that of a session does."""

    def __init__(self, chosen: random.Random) -> None:
        self._chosen = chosen
        self.state: State = (0, 0, ({},))

    @property
    def answer(self) -> Content:
        return once(dict(zip("abc", row, strict=True)) for row in self.state[2][-1].values())

    @property
    def latest(self) -> int:
        return len(self.state[2]) - 1

    def run(self) -> None:
        line, registered, answers = self.state
        answer, chosen = dict(answers[-1]), self._chosen
        for _ in range(chosen.choice([0, 1, 1, 3, 40])):
            key = chosen.randrange(60)
            if chosen.random() < 0.4:
                answer.pop(key, None)
            else:
                answer[key] = key, chosen.choice([None, "", "x", "é"]), Decimal(f"{chosen.randrange(5)}.50")
        self.state = line, registered, (*answers, answer)

    def seek(self) -> None:
        line, _, answers = self.state
        self.state = line + 1, 0, answers[: self._chosen.randrange(len(answers)) + 1]

    def begin_anew(self) -> None:
        """As after a repair: what is kept of changes begins with the answer as it is."""
        line, _, answers = self.state
        self.state = line + 1, len(answers) - 1, answers

    def changes(self, since: int | None) -> pa.Table:
        _, registered, answers = self.state
        rows: list[tuple[Any, ...]] = [(registered, 1, *row) for row in answers[registered].values()]
        for batch in range(registered + 1, len(answers)):
            before, after = answers[batch - 1], answers[batch]
            rows += [(batch, -1, *row) for key, row in before.items() if after.get(key) != row]
            rows += [(batch, 1, *row) for key, row in after.items() if before.get(key) != row]
        rows = [row for row in rows if since is None or row[0] > since]
        return pa.table([pa.array([row[i] for row in rows], field.type) for i, field in enumerate(CHANGES)], CHANGES)

    def source(self, name: str) -> AnswerSource:
        return AnswerSource("first", lambda: TYPES, self.changes, lambda: self.latest, line=lambda: self.state[0])


class Fate:
    """What goes wrong: a target that refuses, and the end of the process at a write by its number."""

    def __init__(self) -> None:
        self.refuses = ""
        self.writes_left: float = float("inf")

    def write(self) -> None:
        """Something is about to be written, or was."""
        self.writes_left -= 1
        if self.writes_left < 0:
            raise OSError("the process is dead")


class Fated(Target):
    """A target of which each write may be the last that the process does."""

    def __init__(self, target: Target, fate: Fate) -> None:
        self._target, self._fate = target, fate
        self.keeps_numbers = target.keeps_numbers  # type: ignore[misc]

    @property
    def description(self) -> str:
        return self._target.description

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        self._fate.write()
        return self._target.begin(sink, types)

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        self._fate.write()
        if self._fate.refuses == "before":
            raise OSError("refused")
        self._target.write(query, batch, changes)
        if self._fate.refuses == "after":
            raise OSError("taken, and refused")
        self._fate.write()

    def close(self) -> None:
        self._target.close()


@pytest.fixture
def fate(monkeypatch: pytest.MonkeyPatch) -> Fate:
    fate = Fate()

    def fated(path: Path, data: bytes, soon: bool = False) -> None:
        fate.write()
        write_small(path, data, soon)

    monkeypatch.setattr(sink_module, "write_small", fated)
    monkeypatch.setattr(sent_module, "write_small", fated)
    monkeypatch.setattr(sent_module, "MOST", 3)
    monkeypatch.setattr(sinks_module, "target_of", lambda given: Fated(target_of(given), fate))
    return fate


def caught_up(sinks: Sinks) -> None:
    until = time.monotonic() + 60
    while any(status.behind for status in sinks.statuses.values()) and time.monotonic() < until:
        time.sleep(0.002)
    assert not any(status.behind for status in sinks.statuses.values()), sinks.statuses


QUICK = Limits(milliseconds_until_sent_again=10, milliseconds_until_sent_again_at_most=10)
STEPS = ["run"] * 8 + ["seek"] * 3 + ["anew", "before", "after", "dies", "dies", "dies"]


@pytest.mark.parametrize("seed", range(100 if LONG else 3))
def test_a_target_has_the_answer(
    seed: int, fate: Fate, tmp_path: Path, hook: Webhook, broker: Broker, postgres: str, objects: str
) -> None:
    chosen = random.Random(seed)
    history = History(chosen)
    # Topics are slow to begin: they take part in some histories.
    kinds = every_kind(f"h{seed}", tmp_path, "a", hook, broker if seed % 4 == 0 else None, postgres, objects)

    def opened() -> Sinks:
        sinks = Sinks(tmp_path / "sinks", history.source, lambda: history.latest, limits=QUICK)
        sinks.go_on()
        for name, (target, _) in kinds.items():
            if name not in sinks.statuses or callable(target):
                try:
                    sinks.add(name, "q", target)
                except (OSError, WorkbenchError):  # the process dies while it adds one
                    assert fate.writes_left < 0
        return sinks

    sinks, played = opened(), list[str]()
    for _ in range(12 if seed == 0 else 25):
        step = chosen.choice(STEPS)
        played.append(step)
        match step:
            case "run":
                for _ in range(chosen.choice([1, 1, 2, 5])):
                    history.run()
            case "seek":
                history.seek()
            case "anew":
                history.begin_anew()
            case "before" | "after":
                fate.refuses = step
            case "dies":
                fate.writes_left = chosen.randrange(12)
        sinks.notify()
        if chosen.random() < 0.6:
            continue  # the next step comes while sinks are at work
        if fate.writes_left < float("inf"):
            time.sleep(0.05)
            fate.writes_left = -1
            sinks.close()
            fate.writes_left = float("inf")
            sinks = opened()
        elif fate.refuses:
            time.sleep(0.03)
        fate.refuses = ""
        sinks.notify()
        caught_up(sinks)
        for name, (_, content) in kinds.items():
            assert content() == history.answer, (name, played, sinks.statuses[name])
    fate.writes_left = -1
    sinks.close()
    assert sum(played.count(step) for step in ("seek", "anew")), played


@pytest.mark.parametrize("taken", [0, 2], ids=["all", "two hidden by a crash"])
def test_a_sink_of_an_earlier_version_goes_on(tmp_path: Path, hook: Webhook, postgres: str, taken: int) -> None:
    """Its place is a batch of the only line of history that there was, and nothing says what was sent."""
    history = History(random.Random(3))
    kinds = every_kind(f"old{taken}", tmp_path, "a", hook, None, postgres)
    del kinds["called"]
    sinks = Sinks(tmp_path / "sinks", history.source, lambda: history.latest, limits=QUICK)
    for name, (target, _) in kinds.items():
        sinks.add(name, "q", target)
    for _ in range(4):
        history.run()
        sinks.notify()
        caught_up(sinks)
    sinks.close()
    shutil.rmtree(tmp_path / "sent")
    for file in (tmp_path / "sinks").iterdir():
        place = {name: value for name, value in json.loads(file.read_text()).items() if name not in ("line", "ahead")}
        exact = file.stem not in ("hook", "called")
        file.write_text(json.dumps({**place, "batch": place["batch"] - (taken if exact else 0)}))
    history.run()
    sinks = Sinks(tmp_path / "sinks", history.source, lambda: history.latest, limits=QUICK)
    sinks.go_on()
    caught_up(sinks)
    for step in (history.seek, history.run):
        step()
        sinks.notify()
        caught_up(sinks)
        for name, (_, content) in kinds.items():
            assert content() == history.answer, name
    sinks.close()
