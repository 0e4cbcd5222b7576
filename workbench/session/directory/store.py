"""The state of a session in memory and in its folder: changed in commits, opened again, followed while others write."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from workbench.catalog.catalog import Catalog
from workbench.catalog.database import CatalogError, reading
from workbench.engine.engine import Engine
from workbench.engine.spark.failures import SparkMonitor, translate_errors
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.errors import EnvironmentProblem, SessionError, StreamError
from workbench.optimizer.statistics import StreamStatistics
from workbench.session.directory.commit import write_commit
from workbench.session.directory.directory import CATALOG, Home, new_identity, reading_catalog
from workbench.session.directory.files_check import Expected, FilesCheck
from workbench.session.directory.functions import signed_anew
from workbench.session.directory.repair import repaired
from workbench.session.directory.restore import Damage, Restored
from workbench.session.directory.upgrade import upgraded
from workbench.session.query import ACTIVE
from workbench.session.state import State
from workbench.session.transitions import AnswersOf, Steps
from workbench.sharing.planner import Planner


@dataclass
class Change:
    """A change on its way; ``state`` is what the session is to be when it is committed."""

    state: State


class Store:
    """Keeps the state of one session.

    Args:
        home: the session's folder.
        planner: its catalog is the session's.
        engine: what runs the network.
        functions: the analyst's functions in Spark.
        answers: what a query asks for its answers.
        spark: tells whether the engine's Spark still runs.
    """

    def __init__(
        self,
        home: Home,
        planner: Planner,
        engine: Engine,
        functions: UserFunctions,
        answers: AnswersOf,
        spark: SparkMonitor,
    ) -> None:
        self.home = home
        self._spark = spark
        self._planner = planner
        self._engine = engine
        self._functions = functions
        self._answers = answers
        self._state = State()
        self._lock = threading.Lock()
        self._watched: sqlite3.Connection | None = None
        self._seen = 0
        self._check = FilesCheck()
        self._trust: bool | None = None

    @property
    def state(self) -> State:
        """The session as it was committed last, by whoever writes.

        Raises:
            SessionError: it is closed.
        """
        self.home.check_open()
        if self._watched is not None:
            with self._lock:
                if self._commits_elsewhere(self._watched) != self._seen:
                    self._follow(self._watched)
        return self._state

    def begin(self, dialect: str, options: dict[str, object]) -> None:
        """Write down how a new session was made."""
        rows = self._planner.catalog.session
        with self.changing():
            rows.put_made(dialect, options)
        with translate_errors("begin the session"):
            self._identify(rows.identity)

    def open(self, repair: bool, trust: bool | None) -> None:
        """Go on from the last commit. The catalog so far is a copy, which is all that a session with damage ever opens.

        Args:
            repair: whether to compute anew what is damaged. If not, a session with damage is read-only.
            trust: whether to load all functions; ``None``: those that this user added.
        """
        self._trust = trust
        if self.home.read_only is None:
            with reading_catalog(self.home.path / CATALOG):
                damage = self._restored().damage()
            if not damage or (repair and damage.repairable):
                self._go_on(damage)
                return
            self.home.forgo_writing(f"{damage}; {damage.remedy}")
        if self._planner.catalog.session.plan_anew:
            raise SessionError(
                f"{self.home.path} was written by an older workbench, and cannot be brought to this version: "
                f"{self.home.read_only}",
                hint="open it where it may be written, or with the workbench that wrote it",
            )
        self._watched = reading(self.home.path / CATALOG)
        self._follow(self._watched)

    def expected_files(self) -> list[Expected]:
        """The files that the last commit names."""
        return self._restored().files()

    def found_damaged(self, wrong: Mapping[str, str]) -> None:
        """Files are no longer what was written: change nothing any more, and say so where they are needed.

        Args:
            wrong: what is wrong with each, by its path.
        """
        reasons = {}
        for name, plan in self._state.network.queries.items():
            tree = self._state.held.by_root.get(plan.read.root)
            files = sorted(wrong.keys() & tree.files) if tree is not None else []
            reasons.update({name: wrong[files[0]]} if files else {})
        if self.home.read_only is None:
            hint = "close the session, and open it with repair=True to compute anew what follows from the streams"
            self.home.stop_changing(f"{'; '.join(wrong.values())}; {hint}")
        self.disable(reasons)

    @contextmanager
    def using_spark(self) -> Iterator[None]:
        """Whatever needs Spark is done inside; where that fails since Spark is gone or the session closed, it says so.

        Raises:
            SessionError: the session is closed.
            EnvironmentProblem: its Spark does not run any more.
        """
        self._check_usable()
        try:
            yield
        except Exception as problem:
            self._check_usable(problem)
            raise

    @contextmanager
    def pinned(self) -> Iterator[State]:
        """The session as it was committed last; its files stay meanwhile.

        Raises:
            SessionError: it is closed.
        """
        self.home.check_open()
        try:
            with self.home.collector.reading():
                yield self.state
        except OSError:
            self.home.check_open()  # a temporary folder is removed as its session is closed
            raise

    @contextmanager
    def changing(self) -> Iterator[Change]:
        """What is done inside is committed at the end, or undone as a whole.

        Raises:
            SessionError: this session may only read, or is closed.
            EnvironmentProblem: its Spark does not run any more.
            CatalogError, EngineError: it cannot be written down.
        """
        self.home.check_writable()
        with self.using_spark(), self._committing() as change:
            yield change

    @contextmanager
    def _committing(self) -> Iterator[Change]:
        before, number = self._state, self._planner.catalog.session.commits + 1
        change = Change(before)
        try:
            with self._planner.transaction():
                yield change
                change.state = replace(change.state, held=self._engine.state)
                with translate_errors("commit"):
                    write_commit(self.home, self._planner.catalog, before, change.state)
        except BaseException:
            # An interrupt can come when everything is done.
            if self._has_committed(number):
                self._settle(change.state)
            else:
                self._engine.undo(before.held)
            raise
        self._settle(change.state)

    def disable(self, reasons: dict[str, str]) -> None:
        """Say of some queries why they do not run, to this process alone."""
        self._show(replace(self._state, disabled={**self._state.disabled, **reasons}))

    def close(self) -> None:
        """Close the catalog, and let others write."""
        self._planner.catalog.close()
        if self._watched is not None:
            self._watched.close()
        self.home.close()

    def _check_usable(self, problem: Exception | None = None) -> None:
        self.home.check_open()
        if why := self._spark.lost(problem):
            keep, path = "close() the session", repr(str(self.home.path))
            if self.home.temporary:
                keep, path = "save(path) keeps the session, whose folder is temporary", "path"
            then = f"Session.open({path}) goes on from there with a new Spark"
            if self._spark.given:
                then = f"restart the kernel, whose Spark it was, and Session.open({path}, spark) goes on from there"
            message = f"{why}; the session is whole in {self.home.path}, as it was committed last"
            raise EnvironmentProblem(message, hint=f"{keep}; {then}") from problem

    def _settle(self, after: State) -> None:
        before = self._state
        self._show(after)
        self._engine.settle(before.held)
        self.home.committed(self._planner.catalog.session.commits)

    def _show(self, after: State) -> None:
        """Make a state the session's, and tell the queries that analysts hold what became of them."""
        before, self._state = self._state, after
        names = {name.lower() for name in after.queries}
        for name, query in before.queries.items():
            if after.queries.get(name) is not query:
                query.status = "replaced" if name.lower() in names else "dropped"
        for name, query in after.queries.items():
            query.status = after.disabled.get(name, ACTIVE)

    def _go_on(self, damage: Damage) -> None:
        with translate_errors("open the session"):
            self._open_catalog()
        self._read(damage)
        self._tidy()
        if self._planner.catalog.session.plan_anew:
            with self.changing() as change:
                change.state = upgraded(Steps(self._planner, self._engine), change.state, self._answers)
                self._planner.catalog.session.has_plan()
        if damage:
            with self.changing() as change:
                change.state = repaired(self._engine, change.state, damage)
        if self._trust:
            stored = signed_anew(self._state.functions, self._state.stored_functions)
            if stored != self._state.stored_functions:
                with self.changing() as change:
                    change.state = replace(change.state, stored_functions=stored)

    def _open_catalog(self) -> None:
        """Take the file in the place of its copy, to write to it from now on."""
        rows = self._planner.catalog.session
        identity, commits = rows.identity, rows.commits
        if identity is not None:
            self.home.identify(identity, commits)
        self._use(self.home.catalog())
        if identity is None:
            self._identify(None)

    def _identify(self, identity: str | None) -> None:
        """Give the session its identity, if it has none, and write it beside the catalog."""
        rows = self._planner.catalog.session
        if identity is None:
            identity = new_identity()
            with self._planner.transaction():
                rows.put_identity(identity)
        self.home.identify(identity, rows.commits)

    def _use(self, catalog: Catalog) -> None:
        self._planner.catalog.close()
        self._planner.catalog = catalog

    def _follow(self, watched: sqlite3.Connection) -> None:
        """Read what was committed last elsewhere; its files stay meanwhile."""
        with self.home.collector.reading():
            self._seen = self._commits_elsewhere(watched)
            self._use(self.home.catalog())
            with reading_catalog(self.home.path / CATALOG):
                damage = self._restored().damage()
            self._read(damage)

    def _restored(self) -> Restored:
        return Restored(self.home, self._planner.catalog, self._check, self._trust)

    def _read(self, damage: Damage) -> None:
        with reading_catalog(self.home.path / CATALOG):
            state = self._restored().state(self._engine, self._functions, self._answers, damage, self._state)
        self._engine.replace_state(state.held)
        self._planner.streams = self._statistics(state)
        self._show(state)

    def _statistics(self, state: State) -> dict[str, StreamStatistics]:
        """What the planner knew of streams when they were added."""
        known = dict(self._planner.streams)
        for name, stream in state.streams.items():
            if name.lower() not in known:
                try:
                    known[name.lower()] = stream.rewound().statistics()
                except StreamError:
                    continue  # its log is damaged, which is said where it is read; estimates do without
        return known

    def _tidy(self) -> None:
        """Set aside what no commit speaks of: what was being written when the session ended, and indexes."""
        known = {str(file) for file in self._state.held.files}
        logs = {stream.log.folder.name for stream in self._state.streams.values()}
        commits = self._planner.catalog.session.commits
        left = [folder for folder in self.home.streams.glob("*") if folder.name not in logs]
        with self.home.collector.exclusive() as alone:
            if alone:
                # Indexes were not forced to the disk. They are made again when somebody looks.
                files = (path for path in self.home.state.rglob("*") if path.is_file())
                left += [path for path in files if path.suffix != ".arrow" or str(path) not in known]
        self.home.set_aside.take(left, commits)

    def _has_committed(self, number: int) -> bool:
        try:
            return self._planner.catalog.session.commits == number
        except sqlite3.Error:
            return False

    @staticmethod
    def _commits_elsewhere(watched: sqlite3.Connection) -> int:
        try:
            (found,) = watched.execute("SELECT value FROM settings WHERE name = 'commits'").fetchone()
        except sqlite3.Error as problem:
            raise CatalogError(f"the catalog cannot be read: {problem}") from problem
        return int(found)
