"""Work in the background goes on only when no cell has run for a while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting

import pytest

from workbench.notebook.idle import IdleGate

LONG = 60.0


def test_it_waits_until_the_cell_has_ended() -> None:
    idle = IdleGate(pause=0.0)
    idle.begin()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(idle.wait)
        with pytest.raises(StillWaiting):
            waiting.result(0.1)
        idle.end()
        assert waiting.result(120) is True


def test_cells_that_follow_each_other_at_once_leave_no_calm() -> None:
    idle = IdleGate(pause=LONG)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(idle.wait)
        for _ in range(10):
            idle.begin()
            idle.end()
        with pytest.raises(StillWaiting):
            waiting.result(0.1)
        idle.close()
        assert waiting.result(120) is False


def test_nobody_waits_after_the_end() -> None:
    idle = IdleGate(pause=LONG)
    idle.begin()
    idle.close()
    assert idle.wait() is False
