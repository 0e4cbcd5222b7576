"""Experiments on replayed streams: the controls say what is run, and runs are compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.errors import WorkbenchError
from workbench.experiments.replays import POLICIES, Replay, ReplayPanel, replay_picture, side_by_side

SMALL = Replay(queries=5, history=100, batch=50, batches=1)


@pytest.mark.slow
def test_a_replay_is_the_same_every_time_and_a_policy_changes_the_network_only() -> None:
    once, again, unshared = (replace(SMALL, policy=policy).run() for policy in ("shared", "shared", "unshared"))
    assert (once.nodes, once.rows, once.changed) == (again.nodes, again.rows, again.changed)
    assert unshared.nodes > once.nodes and unshared.joins > once.joins
    assert unshared.changed == once.changed
    table = side_by_side([once, unshared])
    assert table["policy"].tolist() == ["shared", "unshared"]
    assert table["answers checked"].tolist() == [4, 4]
    drawn = replay_picture([once, unshared])
    assert drawn.startswith("<svg") and "seconds" not in drawn


@pytest.mark.slow
def test_the_controls_say_what_is_run() -> None:
    panel = ReplayPanel(SMALL)
    assert panel.replay == SMALL
    panel.controls["policy"].value = "NonJoinS"
    panel.controls["queries"].value = 3
    first = panel.run()
    assert first.replay == replace(SMALL, policy="NonJoinS", queries=3)
    panel.controls["policy"].value = "AllSharing"
    panel.run()
    shown = panel.children[-1].value
    assert "<svg" in shown and "NonJoinS" in shown and "AllSharing" in shown
    panel.clear()
    assert panel.tried == [] and not panel.children[-1].value


def test_what_fails_is_said_beside_the_button(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Replay) -> None:
        raise WorkbenchError("an answer <differs>")

    monkeypatch.setattr(Replay, "run", refuse)
    panel = ReplayPanel(SMALL)
    with pytest.raises(WorkbenchError):
        panel.run()
    assert "&lt;differs&gt;" in panel.children[-2].children[-1].value


def test_every_policy_is_a_setting_of_its_own() -> None:
    assert len(set(map(repr, POLICIES.values()))) == len(POLICIES)
