"""Work on Spark that can be stopped: an interrupt of the main thread, or another thread, cancels its jobs.

Python alone cannot stop it. The thread that is interrupted leaves Spark's jobs running, and waits for them where it
tidies up: for the threads of a pool, or for the end of a socket that a job writes to. So all jobs of such work have a
tag, and a thread beside cancels what has the tag until the work has ended; jobs that begin meanwhile are cancelled too.
"""

from __future__ import annotations

import logging
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any, Protocol

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from workbench.errors import EngineError
from workbench.errors.public_api import is_connect

_AGAIN = 0.05
"""Seconds until jobs that have begun since are cancelled too: what is being planned has nothing to cancel yet."""


_WORK = threading.local()
"""``own``: the ``Interrupts`` of the work that a thread does."""

_CANCELLED: set[str] = set()
"""The tags of work that is being stopped."""

_GONE = (Py4JError, OSError, AttributeError)
"""Errors that are raised when Spark is not there any more."""


class CancellableJobs(Protocol):
    """Jobs that are stopped by a tag that they have."""

    def add_tag(self, tag: str) -> None:
        """Give the jobs that this thread starts a tag."""

    def remove_tag(self, tag: str) -> None:
        """Give the jobs that this thread starts the tag no longer."""

    def cancel(self, tag: str) -> None:
        """Stop the jobs with a tag."""


class Cancelled(Exception):
    """What this thread computes was stopped by an interrupt of its work."""


def check_cancelled() -> None:
    """Check that the work that this thread computes for was not interrupted.

    Raises:
        Cancelled: it was.
    """
    if _CANCELLED and (work := _work()) is not None and work.tag in _CANCELLED:
        raise Cancelled


class Interrupted(EngineError):
    """Work was stopped by an interrupt; it has changed nothing."""


class Interrupts:
    """Stops the work of one engine, or of one reading; one such work is done at a time.

    Work that begins within another one, such as that of an engine apart from which an answer is read, is stopped with
    it: its threads have a tag of their own.

    Args:
        jobs: runs the work's jobs.

    Example:
        >>> interrupts = Interrupts(jobs)  # doctest: +SKIP
        >>> with interrupts.stoppable():  # doctest: +SKIP
        ...     spark.range(10**12).count()  # an interrupt cancels the job
    """

    def __init__(self, jobs: CancellableJobs) -> None:
        self._jobs = jobs
        self.tag = f"argus-{uuid.uuid4().hex}"
        """Which its jobs have."""
        self._within: Interrupts | None = None
        """Work that has begun within this one."""
        self._over: threading.Event | None = None
        """Is set when the work is over; ``None`` while there is none."""
        self._asked = self._signalled = self._keeping_back = False

    def tag_thread(self) -> None:
        """Mark this thread as one of a pool: its jobs get the pool's tag."""
        _WORK.own = self

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """Within the context, work can be stopped: by an interrupt, in the main thread, and by ``interrupt``.

        Contexts within one another are one work.

        Raises:
            Interrupted: ``interrupt`` was called.
            KeyboardInterrupt: this is the main thread, and it was interrupted.
        """
        if self._over is not None:
            yield
            return
        over = self._over = threading.Event()
        self._asked = self._signalled = False
        try:
            with self._tagged(), self._handling_signals():
                yield
        except Exception as problem:  # what was cancelled fails in many ways
            if self._signalled:
                raise KeyboardInterrupt from problem
            if self._asked:
                raise Interrupted("interrupted", hint="nothing has changed; run it again") from problem
            raise
        finally:
            self._over = None
            over.set()

    @contextmanager
    def kept_back(self) -> Iterator[None]:
        """Within the context, an interrupt waits until its end, so that an undo or an adoption is complete."""
        self._keeping_back, signalled = True, self._signalled
        try:
            yield
        finally:
            self._keeping_back = False
        if self._signalled and not signalled:
            raise KeyboardInterrupt

    def interrupt(self) -> None:
        """Stop the work that another thread is doing; nothing when there is none."""
        over = self._over
        if over is not None and not self._asked:
            self._asked = True
            if (within := self._within) is not None:
                within.interrupt()
            threading.Thread(target=self._cancel, args=(over,), name="argus-interrupt", daemon=True).start()

    @contextmanager
    def _tagged(self) -> Iterator[None]:
        around, _WORK.own = _work(), self
        if around is not None:
            around._within = self
        self._jobs.add_tag(self.tag)
        try:
            if around is not None and around._over is not None and around._asked:
                self.interrupt()
            yield
        finally:
            _WORK.own = around
            if around is not None:
                around._within = None
            with suppress(*_GONE):
                self._jobs.remove_tag(self.tag)

    @contextmanager
    def _handling_signals(self) -> Iterator[None]:
        """In the main thread, where signals arrive, an interrupt stops the work; unless the program handles it."""
        before: Any = signal.getsignal(signal.SIGINT) if _is_main_thread() else None
        # PySpark's own handler would cancel the jobs of all sessions.
        if before is not signal.default_int_handler and getattr(before, "__module__", "") != SparkContext.__module__:
            yield
            return

        def handler(number: int, frame: FrameType | None) -> None:
            # The first one raises; others come while what was begun is undone.
            first, self._signalled = not self._signalled, True
            self.interrupt()
            if first and not self._keeping_back:
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, handler)
        try:
            with _quiet_py4j():
                yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _cancel(self, over: threading.Event) -> None:
        """Cancel the jobs with the tag, until the work is over."""
        _CANCELLED.add(self.tag)
        try:
            while True:
                with suppress(*_GONE):
                    self._jobs.cancel(self.tag)
                if over.wait(_AGAIN):
                    return
        finally:
            _CANCELLED.discard(self.tag)


def tag_jobs(spark: SparkSession) -> None:
    """Give the jobs that this thread starts now the tag of the work that they are for.

    A tag belongs to the thread's connection to the JVM, and as py4j tidies up after an interrupt it ends those of other
    threads, too: a tag that a thread was given once would be gone.
    """
    if (work := _work()) is not None:
        if is_connect(spark):
            spark.addTag(work.tag)
        else:
            spark.sparkContext.addJobTag(work.tag)


def _work() -> Interrupts | None:
    return getattr(_WORK, "own", None)


def stoppable_reading(jobs: CancellableJobs) -> AbstractContextManager[None]:
    """A context in which an interrupt of the main thread stops the jobs of a read."""
    return Interrupts(jobs).stoppable() if _is_main_thread() else nullcontext()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _quiet_py4j() -> Iterator[None]:
    """Keep py4j from printing stacks of the connection that an interrupt ends, which it replaces."""
    root, connections, silent = logging.getLogger(), logging.getLogger("py4j.clientserver"), logging.NullHandler()
    level = connections.level
    connections.setLevel(logging.CRITICAL + 1)
    root.addFilter(_is_no_interrupt)
    root.addHandler(silent)  # else its message would set up the printing of all messages
    try:
        yield
    finally:
        root.removeHandler(silent)
        root.removeFilter(_is_no_interrupt)
        connections.setLevel(level)


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("KeyboardInterrupt")
