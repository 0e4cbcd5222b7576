"""The steps of a change: prepare, evaluate, make durable, commit, adopt, remove; or undo. See ``StateStore.changing``.

The files that the catalog names are complete at any moment at which a process or a machine may die: they are on the
disk before the transaction of the catalog ends, and files that it no longer names are removed after it. A batch that
was not committed arrives again: its rows were in the stream's log before.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from workbench.engine.spark.failures import JVM_DIED, OutOfMemory, SparkDied, translate_errors
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.storage.file_collection import unnamed_files
from workbench.errors import EngineError, EnvironmentProblem
from workbench.files.shared import removed
from workbench.files.writing import force_to_disk
from workbench.session.directory.directory import SessionDirectory
from workbench.session.directory.stored_session import StoredSession
from workbench.session.kept_states import KeptStates
from workbench.session.state import State
from workbench.session.transitions import Runtime
from workbench.sql.algebra.planning_cache import PlanningCache

R = TypeVar("R")


@dataclass
class Change:
    """A change that is being made; ``state`` is the state that will be committed."""

    state: State


class StateStore:
    """Holds the last committed state of a session, and commits changes of it.

    Args:
        directory: of the session.
        runtime: the objects that transitions use.
        jobs: runs the session's jobs.

    Attributes:
        cache: of planning.
        refresh: reads the commits of another process, in a session that follows one.
        on_commit: called after each commit, in its thread; it must be quick.
        last: the state that was committed last, as far as this process knows; also when the session is closed.
        kept: states of earlier batches.
    """

    def __init__(self, directory: SessionDirectory, runtime: Runtime, jobs: JobRunner) -> None:
        self.directory = directory
        self.cache = PlanningCache()
        self.refresh: Callable[[], None] | None = None
        self.on_commit: Callable[[], None] = lambda: None
        self.last = State()
        self.kept = KeptStates(jobs.limits)
        runtime.engine.held = lambda: self.last.engine.files | self.kept.files
        self._runtime = runtime
        self._jobs = jobs
        self._lock = threading.RLock()
        self._collecting = time.monotonic() + jobs.limits.milliseconds_until_collected / 1000
        """The next time to look for files of failed attempts of tasks."""

    @property
    def state(self) -> State:
        """The session as it was committed last, by any writer.

        Raises:
            SessionError: it is closed.
        """
        self.directory.check_open()
        if self.refresh is not None:
            self.refresh()
        return self.last

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Within the context, other operations of the session wait, and planning uses the session's cache."""
        with self._lock, self.cache.active():
            yield

    @contextmanager
    def changing(self, doing: str = "") -> Iterator[Change]:
        """A change: the transitions within the context are committed at its end, or undone as a whole.

        Other operations of the session wait (``exclusively``).

        Args:
            doing: what was going on, for the error where Spark dies meanwhile.

        Raises:
            SessionError: this session may only read, or is closed.
            EnvironmentProblem: its Spark does not run any more, and is not the session's to start.
            SparkDied: Spark's JVM died meanwhile, and was started again.
            CatalogError, EngineError: it cannot be committed.
        """
        interrupts = self._runtime.engine.interrupts
        with self._writing(), self.using_spark(doing), interrupts.stoppable():
            before, catalog = self.last, self._runtime.planner.catalog
            change, number = Change(before), catalog.commits + 1
            try:
                with catalog.transaction():
                    # Evaluate: the caller's transitions. Planning writes to the catalog, within the transaction; the
                    # engine writes new files, forces them to the disk, and holds the new rows for the next steps.
                    yield change
                    change.state = replace(change.state, engine=self._runtime.engine.state)
                    with translate_errors("commit"):
                        # Make durable: before the catalog names them. The engine's own files already are.
                        self._force_new_logs(before, change.state)
                        # Commit: the end of the transaction.
                        self._stored.write(before, change.state)
            except BaseException:
                # An interrupt can come when everything is done.
                with interrupts.kept_back():
                    if self._has_committed(number):
                        self._finish(before, change.state)
                    else:
                        self._undo(before)
                raise
            with interrupts.kept_back():
                self._finish(before, change.state)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self.exclusively():
            # Prepare: nothing is begun that could not be committed.
            self.directory.check_writable()
            yield

    def _finish(self, before: State, after: State) -> None:
        # Adopt: in one assignment, so that a reader sees the state before or the one after.
        self.last = replace(after, reports=self._stored.without_older_operators(after.reports))
        # Remove: what only the state before named, once it has no readers any more.
        self._runtime.engine.release(before.engine, partial(self.kept.committed, before, self.last))
        if time.monotonic() >= self._collecting:
            self._collect_unnamed(self._jobs.limits.milliseconds_until_collected / 1000)
        self.directory.committed(self._runtime.planner.catalog.commits)
        self.on_commit()

    def _collect_unnamed(self, seconds: float) -> None:
        """Remove files of attempts of tasks that failed or were superfluous, and set the time of the next look.

        Args:
            seconds: the least age of such files; readers of a store may take as long.
        """
        self._collecting = time.monotonic() + seconds
        state, streams = self.directory.state, self.directory.streams
        old = unnamed_files([state, streams], self._runtime.engine.state.files | self._runtime.engine.held(), seconds)
        unnamed = [file for file in old if state in Path(file).parents]
        of_streams = [path for file in old if streams in (path := Path(file)).parents]
        unnamed += [str(path) for one in self.last.streams.values() for path in one.log.left_over(of_streams)]
        removed(self.directory.collector.without_readers(unnamed, seconds))
        self.directory.collector.collect(unnamed)

    @cached_property
    def _stored(self) -> StoredSession:
        # Only who may write has one: a session that follows another reads a new copy of the catalog each time.
        return StoredSession(self.directory, self._runtime.planner.catalog)

    def _undo(self, before: State) -> None:
        """Take the engine and the planner back; the catalog has gone back with its transaction."""
        self._runtime.engine.undo(before.engine)
        self._runtime.planner.streams, self._runtime.planner.constraints = before.statistics, before.constraints

    def adopt(self, state: State) -> None:
        """Continue from a state that was read from the catalog."""
        self._runtime.engine.replace_state(state.engine)
        self._runtime.planner.streams, self._runtime.planner.constraints = state.statistics, state.constraints
        self.last = state

    def disable(self, reasons: Mapping[str, str]) -> None:
        """Disable queries for these reasons, in this process alone."""
        self.last = self.last.disabled(reasons)

    @contextmanager
    def pinned(self) -> Iterator[State]:
        """The last committed state of the session; its files are not removed within the context.

        Raises:
            SessionError: it is closed.
        """
        self.directory.check_open()
        try:
            with self.directory.collector.reading():
                yield self.state
        except OSError:
            self.directory.check_open()  # a temporary folder is removed as its session is closed
            raise

    @contextmanager
    def using_spark(self, doing: str = "") -> Iterator[None]:
        """A context for work with Spark; an error says whether Spark is gone or the session is closed.

        A JVM that has died is replaced: at once if it died before, and for the next change if it dies within.

        Raises:
            SessionError: the session is closed.
            SparkDied: its JVM died meanwhile.
            EnvironmentProblem: Spark does not run any more, and is not the session's to start, or did not start.
        """
        self._check_spark(self._jobs.number)
        number = self._jobs.number
        try:
            yield
        except Exception as problem:
            self._check_spark(number, problem, doing)
            raise

    def once_more(self, work: Callable[[], R], refused: str = "") -> R:
        """Do some work, and repeat it once if Spark's JVM dies, since the work may not have been the cause.

        Args:
            work: of one query or several.
            refused: begins the message of the error where memory was too small; without it errors are raised as such.

        Raises:
            SparkDied: the JVM died again.
            EngineError: the JVM died again or there is too little memory, and ``refused`` is given.
        """
        try:
            try:
                return work()
            except SparkDied:
                return work()
        except (OutOfMemory, SparkDied) as problem:
            if not refused:
                raise
            message = f"{refused}, since it needs too much memory: {problem.message}"
            raise EngineError(message, hint=problem.hint) from problem

    def _check_spark(self, number: int, problem: Exception | None = None, doing: str = "") -> None:
        self.directory.check_open()
        if not (why := self._jobs.lost(number, problem)):
            return
        if why == JVM_DIED and not self._jobs.given:
            self._jobs.start_again(number)
            if problem is not None:
                died = f"{why} while {doing or 'Spark was used'}; nothing has changed, and Spark was started again"
                raise SparkDied(died, hint="try it again; it may need too much memory") from problem
            return
        keep, path = "close() the session", repr(self.directory.place)
        if self.directory.temporary:
            keep, path = "save(path) keeps the session, whose folder is temporary", "path"
        then = f"Session.open({path}) goes on from there with a new Spark"
        if self._jobs.given:
            then = f"restart the kernel, whose Spark it was, and Session.open({path}, spark) goes on from there"
        message = f"{why}; the session is whole in {self.directory.place}, as it was committed last"
        message += f"; {doing}" if doing else ""
        raise EnvironmentProblem(message, hint=f"{keep}; {then}") from problem

    def _force_new_logs(self, before: State, after: State) -> None:
        known = {stream.log.folder for stream in before.streams.values()}
        new = [stream.log.folder for stream in after.streams.values() if stream.log.folder not in known]
        if self.directory.durable:
            force_to_disk([str(file) for folder in new for file in folder.iterdir()])

    def _has_committed(self, number: int) -> bool:
        try:
            return self._runtime.planner.catalog.commits == number
        except sqlite3.Error:
            return False
