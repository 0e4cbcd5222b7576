"""The streams and tables of a session: how they are added, changed and removed.

Its methods stand behind those of ``Session``, which document arguments and errors; each belongs inside
``Parts.exclusively``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from shutil import rmtree

from workbench.engine.reports import BatchReport
from workbench.errors import StreamError, with_article
from workbench.session import transitions
from workbench.session.changes import Change
from workbench.session.directory.directory import SPOOLED
from workbench.session.live.sources import begin_live, keep_source, stored_schema
from workbench.session.parts import Parts
from workbench.session.state import State
from workbench.sql.algebra.column_names import stored_name
from workbench.streams.corrections.declared import Corrections, corrections_of
from workbench.streams.corrections.update import update
from workbench.streams.ingest import ingest
from workbench.streams.live.sources import open_live
from workbench.streams.source import OpenedSource
from workbench.streams.stream import Stream, replayed, static_table


class StreamRegistry:
    """Adds, changes and removes the streams and tables of a session.

    Args:
        parts: of the session.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def add_stream(
        self,
        name: str,
        source: object,
        history: int | None,
        batch: int | str | timedelta | None,
        time: str | None,
        columns: Mapping[str, str] | None,
        lateness: str | timedelta | int | None,
        corrections: Corrections | None,
        shed: str | None,
    ) -> Stream:
        """Add a stream; see ``Session.add_stream``."""
        with self._adding_log(name) as (change, folder):
            live = open_live(source, folder=self._spooled(name, fresh=True))
            copied = source if live is None else OpenedSource(live.schema, iter(()), live.inferred)
            log = ingest(name, copied, folder, columns=columns, time=time, lateness=lateness, corrections=corrections)
            if live is not None:
                log = begin_live(log, live, source, history or 0, self._durable, self._parts.gate)
                self._parts.live.attach(name, live)
            change.state = transitions.add_stream(
                self._parts.runtime, change.state, replayed(log, history, batch, time, shed)
            )
        return change.state.streams[name]

    def attach(self, name: str, source: object) -> None:
        """Go on with another live source; see ``Session.attach``."""
        stream = self._state.stream(name)
        reader = open_live(source, stored_schema(stream.log.tail), self._spooled(stream.name))
        if reader is None or stream.table or stream.log.tail is None:
            what = with_article(type(source).__name__) if reader is None else stream.name
            raise StreamError(
                f"{what} is not live",
                hint="live are topics, sockets, patterns of paths, polled queries, iterators and spark.readStream",
            )
        reader.widen(stream.stored_columns)
        if self._parts.directory.read_only is None:
            keep_source(stream.log, reader, source, self._parts.gate)
        self._parts.live.attach(stream.name, reader)

    def add_table(
        self, name: str, source: object, columns: Mapping[str, str] | None, key: Sequence[str] | None
    ) -> Stream:
        """Add a table; see ``Session.add_table``."""
        corrections = corrections_of(None, key, None, table=True)
        with self._adding_log(name) as (change, folder):
            log = ingest(name, source, folder, columns=columns, corrections=corrections, growing=True)
            change.state = transitions.add_stream(self._parts.runtime, change.state, static_table(log))
        return change.state.streams[name]

    def update_table(self, name: str, rows: object, delete: object) -> BatchReport:
        """Change rows of a table, as a batch of its own; see ``Session.update_table``."""
        stream = self._state.stream(name)
        if not stream.table:
            raise StreamError(f"{stream.name} is a stream", hint="rows come to it from its source")
        self._parts.directory.check_writable()
        log = stream.log.growing(self._durable)
        update(log, rows, delete)
        grown, runtime = replace(stream, log=log), self._parts.runtime
        sizes = {stream.name: grown.waiting}
        return self._parts.batches.commit(lambda state: transitions.run(runtime, state.with_stream(grown), sizes))

    def drop(self, name: str) -> None:
        """Forget a stream or table that nothing reads, and its rows; see ``Session.drop_stream``."""
        stream = self._state.stream(name)
        with self._parts.store.changing() as change:
            change.state = transitions.drop_stream(self._parts.runtime, change.state, name)
        self._parts.live.detach(stream.name)
        if stream.log.tail is not None:
            stream.log.tail.close()
        rmtree(stream.log.folder, ignore_errors=True)
        rmtree(self._spooled(stream.name), ignore_errors=True)

    def set_batch(self, name: str, batch: int | str | timedelta) -> Stream:
        """Let so much of a stream arrive with each batch; see ``Session.set_batch``."""
        changed = self._state.stream(name).in_batches_of(batch)
        with self._parts.store.changing() as change:
            change.state = change.state.with_stream(changed)
        return changed

    def _spooled(self, name: str, fresh: bool = False) -> Path:
        """The folder for what Spark writes of a stream; a fresh one has nothing of an earlier stream of that name."""
        folder = self._parts.directory.path / SPOOLED / stored_name(name)
        if fresh:
            rmtree(folder, ignore_errors=True)
        return folder

    @property
    def _state(self) -> State:
        return self._parts.store.state

    @property
    def _durable(self) -> bool:
        return not self._parts.directory.temporary

    @contextmanager
    def _adding_log(self, name: str) -> Iterator[tuple[Change, Path]]:
        """A change that adds a stream, and the folder for its log."""
        folder = transitions.new_log(self._state, self._parts.directory.streams, name)
        with folder as path, self._parts.store.changing() as change:
            yield change, path
