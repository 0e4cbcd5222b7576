"""What queries can refer to: the streams, tables, functions and aggregates that an analyst adds to a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from workbench.engine.spark.user_functions.process import Limits
from workbench.errors import StreamError, nearest
from workbench.session.directory.functions import stored_function, takes
from workbench.session.directory.signing import signed
from workbench.session.directory.store import Change
from workbench.session.parts import SessionParts, one_at_a_time
from workbench.sql.algebra.types import parse_type
from workbench.sql.schema import UserAggregate, UserFunction
from workbench.streams.ingest import ingest
from workbench.streams.stream import Stream, replayed, static_table


class SessionInputs(SessionParts):
    """The part of a session that takes in what queries refer to.

    Example:
        >>> session.add_stream("FedWireTrans", "sample_data/fed.parquet", 10_000, 1_000)  # doctest: +SKIP
        >>> session.add_function("cents", lambda amount: int(amount * 100), returns="bigint")  # doctest: +SKIP
    """

    @one_at_a_time
    def add_stream(
        self,
        name: str,
        source: object,
        history: int | None = None,
        batch: int | None = None,
        time: str | None = None,
        columns: Mapping[str, str] | None = None,
        lateness: str | timedelta | int | None = None,
    ) -> Stream:
        """Add a stream that is replayed in row order.

        Args:
            name: what queries call it.
            source: path of a Parquet or CSV file, pandas, Arrow or Spark DataFrame.
            history: the first rows, already there as batch 0; none when ``None``.
            batch: rows that arrive with each batch.
            time: the column with the event time.
            columns: SQL types of columns of a CSV file that should not be inferred.
            lateness: how far the event time of a row may be behind the latest before it: ``"2 days"``, a ``timedelta``,
                or a number where event times are numbers. Later rows are quarantined and counted when they
                arrive. ``None``: there is no limit.

        Raises:
            StreamError: the source cannot be read, a column's type is not supported, the lateness does not go with the
                event times, or the name is taken.
        """
        with self._new_log(name) as (change, folder):
            log = ingest(name, source, folder, columns=columns, time=time, lateness=lateness)
            change.state = self._steps.add_stream(change.state, replayed(log, history, batch, time))
        return change.state.streams[name]

    @one_at_a_time
    def add_table(self, name: str, source: object, columns: Mapping[str, str] | None = None) -> Stream:
        """Add a static table: all of its rows are there from the start. Arguments and errors as ``add_stream``."""
        with self._new_log(name) as (change, folder):
            log = ingest(name, source, folder, columns=columns)
            change.state = self._steps.add_stream(change.state, static_table(log))
        return change.state.streams[name]

    @one_at_a_time
    def set_batch(self, stream: str, rows: int) -> Stream:
        """Let so many rows of a stream arrive with each batch from now on.

        Raises:
            StreamError: there is no such stream, or the number is not at least 1.
        """
        found = {name.lower(): s for name, s in self._state.streams.items()}.get(stream.lower())
        if found is None:
            raise StreamError(f"there is no stream {stream}", hint=nearest(stream, self._state.streams))
        with self._store.changing() as change:
            changed = found.in_batches_of(rows)
            change.state = replace(change.state, streams={**change.state.streams, found.name: changed})
        return changed

    @one_at_a_time
    def add_function(
        self,
        name: str,
        function: Callable[..., Any],
        returns: str = "double",
        seconds: float = Limits.seconds,
        memory: int = Limits.memory,
    ) -> None:
        """Make a Python function callable in SQL; it must not depend on anything but its arguments.

        It runs in processes of its own. When a call raises, returns what is not of the type, takes more than it may or
        ends its process, the queries that use the function are disabled, with the reason; others go on. What it prints
        is lost. It is kept with the session, as bytes that hold its code; what it imports must be there when the
        session is opened again.

        The same name again adds another version. Queries registered from then on call that one; those that are there
        go on with the version they were registered with, until they are registered again.

        Args:
            name: what queries call it.
            function: takes the arguments as they are, NULLs as ``None``.
            returns: SQL type of its values. A DECIMAL is rounded half up; ``None`` is NULL.
            seconds: what 1,000 calls may take.
            memory: what its process may take, in megabytes (on Linux).

        Raises:
            SessionError: it is no function, cannot be kept, or has an argument that must be named; or a limit is none.
            SqlError: there is no such type.
        """
        key, returned, limits = name.lower(), parse_type(returns), Limits(seconds, memory)
        number, stored = takes(key, function), stored_function(key, function, limits)
        latest = self._state.schema.functions.get(key)
        if latest is not None and latest.returns == returned:
            known = self._state.stored_functions[latest.id]
            if replace(known, signature=None) == stored:
                return
        added = UserFunction(key, returned, number, 1 if latest is None else latest.version + 1)
        stored = signed(added.id, str(returned), stored)
        with self._store.changing() as change:
            functions = {**change.state.functions, added.id: added}
            stored_functions = {**change.state.stored_functions, added.id: stored}
            change.state = replace(change.state, functions=functions, stored_functions=stored_functions)
        self._functions.add(added.id, function, returned, limits)

    @one_at_a_time
    def add_aggregate(self, name: str, parameters: tuple[str, ...], statistics: Mapping[str, str], rule: str) -> None:
        """Add an algebraic aggregate by its basic statistics and the rule over them (T4.2, Tables 4.1 and 4.2).

        Example:
            >>> statistics = {"n": "COUNT(x)", "q": "SUM(x*x)"}
            >>> session.add_aggregate("rms", ("x",), statistics, "SQRT(q / n)")  # doctest: +SKIP
        """
        with self._store.changing() as change:
            added = UserAggregate(name.lower(), parameters, statistics, rule)
            change.state = replace(change.state, aggregates={**change.state.aggregates, added.name: added})

    @contextmanager
    def _new_log(self, name: str) -> Iterator[tuple[Change, Path]]:
        """A change that adds a stream, and the folder for its log."""
        streams = self._store.home.streams
        with self._steps.new_log(self._state, streams, name) as folder, self._store.changing() as change:
            yield change, folder
