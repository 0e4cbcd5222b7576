"""The session: everything an analyst can do.

Its methods are those of the classes in ``methods``, one class for each subject, which are given what they use.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from workbench.catalog.catalog import Catalog
from workbench.errors.public_api import public_api
from workbench.errors.unknown_attributes import TellsNames
from workbench.limits import LIMITS, Limits
from workbench.options import Options
from workbench.session.directory.directory import CATALOG, SessionDirectory, decoding_catalog
from workbench.session.directory.save import save_session
from workbench.session.integrity_checks import CheckReport
from workbench.session.methods.batches import SessionBatches
from workbench.session.methods.contents import SessionContents
from workbench.session.methods.errors import SessionErrors
from workbench.session.methods.functions import SessionFunctions
from workbench.session.methods.queries import SessionQueries
from workbench.session.methods.sinks import SessionSinks
from workbench.session.methods.streams import SessionStreams
from workbench.session.parts import AnySpark, Parts
from workbench.session.player import Player
from workbench.sql.algebra.zones import UTC, known_zone
from workbench.sql.syntax.dialects import known_dialect


@public_api  # the site lists the methods of the last class first
class Session(
    SessionContents,
    SessionBatches,
    SessionSinks,
    SessionErrors,
    SessionQueries,
    SessionFunctions,
    SessionStreams,
    TellsNames,
):
    """Continuous queries over streams, in one shared network.

    Any thread may use it. What changes something is done one after the other; what only reads, such as an answer or the
    network, shows what was committed last and waits for no change.

    Whatever changes it is committed to its folder, as a whole or not at all; ``Session.open`` goes on from there.

    Args:
        spark: the Spark to use; ``None`` starts a quiet local one when one is needed. The workers of a cluster are sent
            this package.
            ``InProcess()`` does without Spark, and refuses what needs it.
        path: folder for the session's data, which every Spark worker must reach; ``None`` is a temporary one. Or an
            address such as ``s3://bucket/argus``, where machines share no folder: the session is there alone.
        dialect: SQL dialect of queries that name none.
        options: switches, see ``Options``.
        timezone: the zone in which instants are other times where a text does not say it, and are shown; see
            ``set_timezone``.
        group: who may read and write the folder besides you, by name or number: where the workers of a cluster are
            other users. ``None``: no other user.
        limits: the amounts from which on the engine takes another way, see ``Limits``.

    Attributes:
        dialect, options, limits: as given.
        path: its folder; of a session at an address, the one that this process has for it.
        place: its folder or address.
        spark: the Spark it was given, or the local one that was started.
        last_error: what went wrong last in a notebook.
        parts: what it is made of; may change with any version.

    Raises:
        SessionError: there is a session in the folder already, or it cannot be written to or given to the group.
        SqlError, UnsupportedError: there is no such dialect or time zone, or the dialect is not read.
        EnvironmentProblem: Spark did not start, or its workers cannot reach the folder.

    Example:
        >>> with Session() as s:  # doctest: +SKIP
        ...     s.add_stream("FedWireTrans", "sample_data/fed.parquet", history=10_000, batch=1_000, time="tran_date")
        ...     q = s.register("SELECT tranid, amount FROM FedWireTrans WHERE amount > 1000000", name="big")
        ...     s.run(3)
        ...     q.result()
    """

    def __init__(
        self,
        spark: AnySpark | None = None,
        path: str | Path | None = None,
        dialect: str = "spark",
        options: Options | None = None,
        group: str | int | None = None,
        timezone: str = UTC,
        limits: Limits = LIMITS,
    ) -> None:
        dialect, timezone = known_dialect(dialect), known_zone(timezone)
        directory, options = SessionDirectory.new(path, group), options or Options()
        with directory.starting() as catalog:
            self._wire(directory, catalog, spark, dialect, options, limits)
            self.parts.opening.begin(dialect, asdict(options), timezone)
        self.parts.requests.start()

    @classmethod
    def open(
        cls,
        path: str | Path,
        spark: AnySpark | None = None,
        repair: bool = False,
        trust: bool | None = None,
        group: str | int | None = None,
        limits: Limits = LIMITS,
        reading: bool = False,
        take_over: bool = False,
    ) -> Self:
        """Continue the session of a folder from its last commit: queries, results, changes and reports are as they
        were.

        While another process has it open, and where the folder cannot be written to, the session is read-only (see
        ``read_only``): it shows what was committed last, also while the other goes on.

        Args:
            path: the folder, or the address.
            spark: the Spark to use; ``None`` starts a quiet local one when one is needed.
            repair: compute anew what is damaged. Without it a session with damage is read-only, and queries that need
                what is damaged say so.
            trust: what of the folder may act: Python functions, which run code of who added them, targets of
                sinks, sources of streams. ``None``: what you added; ``True``: all; ``False``: nothing. With functions
                of others the session is read-only, and queries that call them say so; the rest answers. Sinks and
                sources of others stand still and say so, until ``add_sink`` and ``attach`` give them again. Once you
                have opened it with ``True``, all counts as yours; but what takes something of this machine, as
                ``$NAME``, is never trusted.
            group: as for a new session; ``None`` changes nothing of who may read and write it.
            limits: as for a new session; they are not stored.
            reading: whether to only read along, so that another process may go on with it.
            take_over: whether to go on with a session at an address that another process has not closed, as one on a
                machine that is gone. Should that process still run, it becomes read-only at its next commit.

        Raises:
            SessionError: there is no session in the folder, or what is left of one.
            CatalogError: its catalog is damaged, is that of another session, or was written by another version.
            EnvironmentProblem: Spark did not start, or its workers cannot reach the folder.

        Example:
            >>> with Session.open("fraud") as s:  # doctest: +SKIP
            ...     s.run(3)
            ...     s.query("big").changes(since=s.batch - 3)
        """
        session, directory = cls.__new__(cls), SessionDirectory.existing(path, group, reading, take_over)
        with directory.starting() as catalog:
            with decoding_catalog(directory.path / CATALOG):
                dialect = known_dialect(catalog.settings.get("dialect", "spark"))
                options = Options(**catalog.settings.get("options", {}))
            session._wire(directory, catalog, spark, dialect, options, limits)
            session.parts.gate.trust = trust
            with session.parts.store.exclusively():
                session.parts.opening.open(repair, trust)
        session.parts.failures.disable()
        if session.read_only is None:
            session.parts.live.adopt(session.streams)
            session.parts.sinks.go_on()
            session.parts.requests.start()
        return session

    def _wire(
        self,
        directory: SessionDirectory,
        catalog: Catalog,
        spark: AnySpark | None,
        dialect: str,
        options: Options,
        limits: Limits,
    ) -> None:
        self._made_by = os.getpid()
        self.options, self.limits = options, limits
        self.path, self.place = directory.path, directory.place
        self.last_error: BaseException | None = None
        parts = self.parts = Parts(directory, catalog, spark, options, limits)
        store, runtime, failures, batches, live = parts.store, parts.runtime, parts.failures, parts.batches, parts.live
        suspension, reoptimizer = parts.suspension, parts.reoptimizer
        SessionContents.__init__(self, store, runtime, live, parts.jobs)
        SessionStreams.__init__(self, store, runtime, batches, live, parts.gate)
        SessionFunctions.__init__(self, store, parts.functions)
        SessionQueries.__init__(
            self,
            store,
            runtime,
            failures,
            parts.answers,
            parts.queries,
            suspension,
            reoptimizer,
            parts.verifier,
            parts.requests,
            parts.sinks,
            dialect,
        )
        SessionSinks.__init__(self, store, parts.sinks, parts.subscriptions)
        SessionErrors.__init__(self, store, live, parts.sinks, parts.errors)
        SessionBatches.__init__(
            self, store, runtime, failures, batches, live, suspension, reoptimizer, parts.integrity, parts.requests
        )

    def save(self, path: str | Path) -> Path | str:
        """Copy the session to another folder or address, to be opened there; this one continues where it is.

        Of its sinks the copy has those whose targets are objects of this process, such as functions, which are given
        again there. Two sessions that send to one folder or table would mix their answers.

        Returns:
            Where it was copied to.

        Raises:
            SessionError: there is a session in that folder, or it cannot be written to.
        """
        with self.parts.store.exclusively(), self.parts.store.pinned() as state:
            sinks = self.parts.sinks.taken_along()
            return save_session(self.parts.directory, self.parts.planner.catalog, state, path, sinks)

    def keep(self) -> None:
        """Leave a temporary folder where it is when the session is closed."""
        self.parts.directory.keep()

    def check(self, empty: bool = False) -> CheckReport:
        """Read all files of the session, and compare each with the checksum that was computed when it was written.

        With a damaged file the session becomes read-only, and the queries that need the file say so;
        ``Session.open(path, repair=True)`` computes anew what follows from the streams. The session does the same by
        itself, with some files after every tenth batch.

        Args:
            empty: whether to remove the leftovers: files that no commit names, which were put aside when the session
                was opened.

        Raises:
            SessionError: ``empty``, and the session is read-only.

        Example:
            >>> print(session.check())  # doctest: +SKIP
            214 files, 83.1 MB, in 0.06 s: all are whole
        """
        return self.parts.integrity.check(empty)

    def rest(self) -> None:
        """End the session's background work: playing, listening and serving; its answers can still be read.

        A ``run`` reads its sources again.
        """
        if not self.closed:
            self.stop_playing()
            self.parts.rest()

    def close(self) -> None:
        """End the session; a temporary folder is removed. Spark keeps running for other sessions of this process."""
        if not self.closed:
            self.stop_playing()
            self.parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @cached_property
    def player(self) -> Player:
        """Plays the session's batches in the background."""
        return Player(self)

    def stop_playing(self) -> None:
        """End the player's thread, if there is one."""
        if "player" in vars(self):
            self.player.close()
