"""Long work of a cell says what it does, how far it is and about how long it still takes; short work says nothing.

The line is text that is replaced in place. Its last text stays with the cell, so a saved notebook has it too.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from workbench.errors import UnexpectedError, WorkbenchError
from workbench.notebook.display import ProgressLine
from workbench.session.verification.report import Verifying
from workbench.streams.ingest import Arriving

if TYPE_CHECKING:
    from workbench.engine.schedule import Progress
    from workbench.notebook.context import NotebookContext

WorkDone: TypeAlias = "Progress | Arriving | Verifying | None"
"""What is known of how far a cell is, if anything is."""
PATIENCE = 1.0
"""Seconds without a word."""
PAUSE = 0.5
"""Seconds between two looks."""
SURE = 0.25
"""The share of the operators before which nothing is said of the others: the first ones take the longest."""


@contextmanager
def following(context: NotebookContext, what: str) -> Iterator[None]:
    """Within the context, a line follows what the cell does, once that takes long.

    Args:
        context: of the notebook, whose session works.
        what: is done, as a word or two before the line.
    """
    begun = time.monotonic()
    lines: list[ProgressLine] = []
    course = Underway()

    def say() -> None:
        session = context.current
        going = session is not None and not session.closed
        progress = (session.arriving or session.verifying or session.progress) if session and going else None
        text = f"{what}: {course.how_far(progress, time.monotonic() - begun)}"
        if lines:
            lines[0].update(text)
        else:
            lines.append(ProgressLine(text))

    ended = "stopped after"
    try:
        with repeatedly(say):
            yield
        ended = "took"
    except WorkbenchError as problem:
        ended = ended if isinstance(problem, UnexpectedError) else "refused after"
        raise
    finally:
        if lines:
            lines[0].update(f"{what} {ended} {time.monotonic() - begun:.1f} s")


@contextmanager
def repeatedly(say: Callable[[], None]) -> Iterator[None]:
    """Call a function in a thread, first after the patience, until the context ends; then it is not called any more."""
    over = threading.Event()

    def work() -> None:
        ended = over.wait(PATIENCE)
        while not ended:
            say()
            ended = over.wait(PAUSE)

    # What a thread displays goes to the cell whose variables of context it has.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="argus-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Underway:
    """How far something is, with an estimate of what is left, which shrinks while it does not get on."""

    def __init__(self) -> None:
        self._reached: WorkDone = None
        self._moved = 0.0

    def how_far(self, progress: WorkDone, seconds: float, more: float = 0.0) -> str:
        """How far it is after some seconds; the arguments are those of :func:`how_far`."""
        if progress != self._reached or seconds < self._moved:  # it gets on, or the next of several has begun
            self._reached, self._moved = progress, seconds
        return how_far(progress, seconds, more, self._moved)


def how_far(progress: WorkDone, seconds: float, more: float = 0.0, moved: float | None = None) -> str:
    """Progress in words: what is done, the time it took, and an estimate of the time that is left.

    Args:
        progress: of the operators, of the rows of a source, or of a verification; ``None`` where there is none.
        seconds: since the start.
        more: expected seconds of the steps that follow.
        moved: seconds from the start to the last step of ``progress``; ``None``: that step is now.

    Example:
        >>> from workbench.engine.schedule import Progress
        >>> how_far(Progress(0, 2, 6), 4.0)
        '2 of 6 operators, 4.0 s, about 8 s more'
        >>> how_far(Progress(0, 2, 37), 4.0)
        '2 of 37 operators, 4.0 s'
        >>> how_far(Progress(0, 2, 6), 7.0, moved=4.0)
        '2 of 6 operators, 7.0 s, about 5 s more'
        >>> how_far(Arriving("Trades", 420_000, 0.4), 4.0)
        '420,000 rows (40% of the source), 4.0 s, about 6 s more'
        >>> how_far(None, 4.0)
        '4.0 s'
    """
    parts, share = [f"{seconds:.1f} s"], 0.0
    if isinstance(progress, Arriving):
        share = progress.share
        read = f" ({share:.0%} of the source)" if share else ""
        parts.insert(0, f"{progress.rows:,} rows{read}")
    elif isinstance(progress, Verifying):
        share = progress.share
        parts.insert(0, progress.doing)
    elif progress is not None and progress.total:
        share = progress.done / progress.total if progress.done >= progress.total * SURE else 0.0
        parts.insert(0, f"{progress.done} of {progress.total} operators")
    if share:
        moved = seconds if moved is None else moved
        more += max(0.0, moved * (1 - share) / share - (seconds - moved))
    if more >= 1:
        parts.append(f"about {more:.0f} s more")
    return ", ".join(parts)
