"""How a session begins, and how one that is there is opened: to go on with it, or to follow another process."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from workbench.catalog.catalog import Catalog
from workbench.catalog.database import CatalogError, reading
from workbench.catalog.schema import PLAN_ANEW
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.errors import SessionError
from workbench.files.journal import REQUESTS, Journal
from workbench.files.shared import removed, stored_below
from workbench.session.changes import StateStore
from workbench.session.directory.directory import CATALOG, decoding_catalog
from workbench.session.directory.identity import new_identity
from workbench.session.directory.integrity import FileVerifier, StoredFile, StoreVerifier
from workbench.session.directory.recompute import repaired, upgraded
from workbench.session.directory.restore import Damage, StoredFiles, damage_of, restored_state
from workbench.session.directory.stored_functions import signed_by_this_user
from workbench.session.directory.stored_session import StoredSession
from workbench.session.state import State
from workbench.session.transitions import Runtime


class Opening:
    """Opens one session.

    Args:
        store: gets the state.
        runtime: its planner's catalog is, so far, a copy of the session's.
        functions: the analyst's functions in Spark.
    """

    def __init__(self, store: StateStore, runtime: Runtime, functions: UserFunctions) -> None:
        self._store = store
        self._directory = store.directory
        self._runtime = runtime
        self._functions = functions
        of_folder = self._directory.journal is None
        self._verifier = FileVerifier() if of_folder else StoreVerifier(self._directory.path)
        self._trust: bool | None = None
        self._followed: sqlite3.Connection | None = None
        self._followed_commits = 0
        self._lock = threading.Lock()

    def begin(self, dialect: str, options: Mapping[str, object], timezone: str) -> None:
        """Commit how a new session was made."""
        with self._store.changing() as change:
            change.state = replace(change.state, timezone=timezone)
            self._catalog.settings.put("dialect", dialect)
            self._catalog.settings.put("options", options)
        with translate_errors("begin the session"):
            self._identify(self._catalog.identity)

    def open(self, repair: bool, trust: bool | None) -> None:
        """Continue from the last commit; a session that is damaged, or that another process writes, is opened for
        reading only.

        Args:
            repair: whether to compute anew what is damaged. If not, a session with damage is read-only.
            trust: whether to load all functions; ``None``: those that this user added.
        """
        self._trust = trust
        if self._directory.read_only is None:
            damage = self._damage()
            if not damage or (repair and damage.repairable):
                self._go_on(damage)
                return
            self._directory.release(f"{damage}; {damage.remedy}")
        if self._catalog.settings.get(PLAN_ANEW):
            raise SessionError(
                f"{self._directory.place} was written by an older workbench, and cannot be brought to this version: "
                f"{self._directory.read_only}",
                hint="open it where it may be written, or with the workbench that wrote it",
            )
        if self._directory.journal is None:
            self._followed = reading(self._directory.path / CATALOG)
        self._follow()
        self._store.refresh = self._refresh

    def stored_files(self) -> list[StoredFile]:
        """The files that the last commit names."""
        return StoredFiles(self._directory, StoredSession(self._directory, self._catalog)).all

    def close(self) -> None:
        """Follow the other process no longer."""
        if self._followed is not None:
            self._followed.close()

    @property
    def _catalog(self) -> Catalog:
        return self._runtime.planner.catalog

    def _use(self, catalog: Catalog) -> None:
        self._catalog.close()
        self._runtime.planner.catalog = catalog

    def _damage(self) -> Damage:
        with decoding_catalog(self._directory.path / CATALOG):
            stored = StoredSession(self._directory, self._catalog)
            return damage_of(self._directory, stored, self._verifier, self._trust)

    def _read(self, damage: Damage) -> None:
        with decoding_catalog(self._directory.path / CATALOG):
            args = (self._runtime.engine, self._functions, damage, self._store.last)
            state = restored_state(self._directory, self._catalog, *args)
        self._store.adopt(state)

    def _go_on(self, damage: Damage) -> None:
        """Write to the session from now on; each step needs the session as the one before left it."""
        with translate_errors("open the session"):
            self._use_catalog_file()
        self._read(damage)
        # Before anything new is written, which would be taken for a leftover.
        self._collect_leftovers(bool(damage))
        # A repair needs plans, which a session of an older version has only when it is upgraded.
        if self._catalog.settings.get(PLAN_ANEW):
            with self._store.changing() as change:
                change.state = upgraded(self._runtime, change.state)
                self._catalog.settings.remove(PLAN_ANEW)
        if damage:
            with self._store.changing() as change:
                change.state = repaired(self._runtime.engine, change.state, damage)
        # Last: functions are this user's once the session could be opened with them.
        if self._trust:
            signed = signed_by_this_user(self._store.last.functions)
            if signed != self._store.last.functions:
                with self._store.changing() as change:
                    change.state = replace(change.state, functions=signed)

    def _use_catalog_file(self) -> None:
        """Use the catalog's file instead of its copy."""
        identity, commits = self._catalog.identity, self._catalog.commits
        if identity is not None:
            self._directory.write_identity(identity, commits)
        self._use(self._directory.catalog())
        if identity is None:
            self._identify(None)

    def _identify(self, identity: str | None) -> None:
        """Give the session its identity, if it has none, and write it beside the catalog."""
        if identity is None:
            identity = new_identity()
            with self._runtime.planner.catalog.transaction():
                self._catalog.settings.put("session", identity)
        self._directory.write_identity(identity, self._catalog.commits)

    def _collect_leftovers(self, damaged: bool) -> None:
        """Put aside files that no commit names: those being written when the session ended, and indexes."""
        state = self._store.last
        named = {str(file) for file in state.engine.files}
        if self._directory.journal is not None:
            self._remove_unnamed(self._directory.journal, state, named)
            return
        logs = {stream.log.folder.name for stream in state.streams.values()}
        left = [folder for folder in self._directory.streams.glob("*") if folder.name not in logs]
        logged = [stream.log for stream in state.streams.values()]
        left += [path for log in logged for path in log.left_over(log.folder.iterdir())]
        with self._directory.collector.exclusive() as alone:
            if alone:
                # Indexes were not forced to the disk. The next look-up makes them again.
                files = (path for path in self._directory.state.rglob("*") if path.is_file())
                left += [path for path in files if path.suffix != ".arrow" or str(path) not in named]
        self._directory.leftovers.collect(left, self._catalog.commits, keep=damaged)

    def _remove_unnamed(self, journal: Journal, state: State, named: Collection[str]) -> None:
        """Remove from a store what no commit names, and no reader can be reading any more."""
        folder, logs = str(self._directory.path), {str(stream.log.folder) for stream in state.streams.values()}
        stored = stored_below(self._directory.path)
        seconds = self._runtime.engine.jobs.limits.milliseconds_until_collected / 1000
        last = max((each.written for each in stored.values()), default=0.0) - seconds
        taken_up = int(self._catalog.settings.get(REQUESTS, 0))
        paths = [*map(Path, stored)]
        left = {str(path) for stream in state.streams.values() for path in stream.log.left_over(paths)}
        removed(
            path
            for path, each in stored.items()
            if each.written <= last
            and path not in named
            and (os.path.dirname(path) not in logs or path in left)
            and not journal.needs(path[len(folder) + 1 :], taken_up)
        )

    def _refresh(self) -> None:
        with self._lock:
            if self._has_grown():
                self._follow()

    def _has_grown(self) -> bool:
        """Whether there are commits that were not read yet."""
        if self._followed is None:
            journal = self._directory.journal
            return journal is not None and journal.follow()
        return _commits(self._followed) != self._followed_commits

    def _follow(self) -> None:
        """Read what another process has committed last; its files stay meanwhile."""
        with self._directory.collector.reading():
            if self._followed is not None:
                self._followed_commits = _commits(self._followed)
            self._use(self._directory.catalog())
            self._read(self._damage())


def _commits(followed: sqlite3.Connection) -> int:
    try:
        (commits,) = followed.execute("SELECT value FROM settings WHERE name = 'commits'").fetchone()
    except sqlite3.Error as problem:
        raise CatalogError(f"the catalog cannot be read: {problem}") from problem
    return int(commits)
