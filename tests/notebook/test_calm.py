"""Work in the background goes on only when no cell has run for a while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting

import pytest

from workbench.notebook.calm import Calm

LONG = 60.0


def test_it_waits_until_the_cell_has_ended() -> None:
    calm = Calm(pause=0.0)
    calm.begin()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(calm.wait)
        with pytest.raises(StillWaiting):
            waiting.result(0.1)
        calm.end()
        assert waiting.result(10) is True


def test_cells_that_follow_each_other_at_once_leave_no_calm() -> None:
    calm = Calm(pause=LONG)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(calm.wait)
        for _ in range(10):
            calm.begin()
            calm.end()
        with pytest.raises(StillWaiting):
            waiting.result(0.1)
        calm.close()
        assert waiting.result(10) is False


def test_nobody_waits_after_the_end() -> None:
    calm = Calm(pause=LONG)
    calm.begin()
    calm.close()
    assert calm.wait() is False
