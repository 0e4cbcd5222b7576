"""Runs a session by itself: a batch when rows come, and another try of what fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from workbench.engine.reports import BatchReport
from workbench.errors import SessionError, WorkbenchError
from workbench.session.session import Session

_LONGEST_PAUSE = 60.0
"""Seconds between two trials of what has failed."""


def keep_going(
    session: Session,
    ends: threading.Event,
    latency: str | float | timedelta,
    told: Callable[[BatchReport], None],
    failed: Callable[[WorkbenchError], None],
) -> str:
    """Run batches as rows arrive, also after sources have ended, until it is asked to end or may no longer write.

    A batch that fails was undone. It is run again after a second, then two, then four, up to a minute: a store that
    does not answer, or a database that restarts, comes back.

    Args:
        session: that this process writes to.
        ends: is set when it is to end; the batch that runs then is the last.
        latency: seconds that a batch may take.
        told: is called with the report of each batch.
        failed: is called with what has failed.

    Returns:
        Why the session may be written no more; "" where it was told to end.

    Raises:
        QueryError: the latency is no length of time.
        SessionError: the session may only be read.
    """
    live, failures = session.live(latency), 0
    while not ends.is_set() and session.read_only is None:
        try:
            if live.ready():
                told(live.step())
            else:
                ends.wait(live.pause)
            failures = 0
        except WorkbenchError as problem:
            if session.read_only is None:
                failed(problem)
            ends.wait(min(_LONGEST_PAUSE, 2.0**failures))
            failures += 1
    return "" if ends.is_set() else str(session.read_only)


def writable(session: Session, hint: str | None = None) -> Session:
    """A session, checked that this process may write to it.

    Raises:
        SessionError: it may not; the message says why.
    """
    if session.read_only is not None:
        raise SessionError(f"{session.place} is read-only: {session.read_only}", hint=hint)
    return session
