"""A registered query, as the analyst holds it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.frames import frame_of
from workbench.engine.answers import WRITERS, Refinement, save_rows, whole_file
from workbench.engine.fetching import (
    fetch_changes,
    fetch_count,
    fetch_difference,
    fetch_first,
    fetch_results,
    to_pandas,
    to_shown_table,
)
from workbench.engine.spark.failures import translate_errors
from workbench.errors import QueryError, SessionError
from workbench.errors.public_api import public_api
from workbench.errors.unknown_attributes import TellsNames
from workbench.explain.explanation import ExplanationView
from workbench.network.network import QueryPlan
from workbench.session.adding_column import unseen
from workbench.session.answer_reader import AnswerReader
from workbench.session.answer_refinement import bound_condition, refinement_of
from workbench.session.changes import StateStore
from workbench.session.missing_rows import MissingRows, missing_rows
from workbench.session.provenance import EXPLAINED, Provenance, provenance
from workbench.session.query_windows import instants_and_windows
from workbench.session.state import OFF, QueryRecord, check_active
from workbench.sql.by_name import NamedTypes
from workbench.sql.logical import LogicalQuery, StreamWindow, output_columns, streams_of
from workbench.streams.since import Since, batch_before, no_such_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbench.engine.answers import Answers

R = TypeVar("R")

CLOSED = "the session is closed"


@public_api
class Query(TellsNames):
    """A continuous query of a session, as of the session's last commit.

    Args:
        record: the query as it was registered.
        store: the session's state.
        reader: of the session's answers.

    Example:
        >>> q = session.register("SELECT tranid FROM FedWireTrans WHERE amount > 1000000")  # doctest: +SKIP
        >>> q.result()  # doctest: +SKIP
    """

    def __init__(self, record: QueryRecord, store: StateStore, reader: AnswerReader) -> None:
        self._made_by = os.getpid()
        self._registered, self._store, self._reader = record, store, reader

    def __repr__(self) -> str:
        return f"Query({self.name!r}, {self.sql!r}, status={self.status!r})"

    @property
    def _record(self) -> QueryRecord:
        return self._store.last.current(self._registered) or self._registered

    @property
    def name(self) -> str:
        """The name it was registered under."""
        return self._registered.name

    @property
    def sql(self) -> str:
        """Its text."""
        return self._record.sql

    @property
    def dialect(self) -> str:
        """The SQL dialect of its text."""
        return self._record.dialect

    @property
    def timezone(self) -> str:
        """The time zone in which it was registered, and in which instants of its answer are shown."""
        return self._record.timezone

    @property
    def left_out(self) -> Mapping[str, int]:
        """The rows that its answer lacks because they were left out (``shed``), by the streams that it reads."""
        streams = self._store.last.streams
        read = {name: streams[name].left_out for name in sorted(streams_of(self.logical)) if name in streams}
        return {name: rows for name, rows in read.items() if rows}

    @property
    def priority(self) -> int:
        """How important it is, as given; where rows come too fast, queries below 0 are suspended, the lowest first."""
        return self._record.priority

    @property
    def suspended(self) -> int | None:
        """The batch after which it was suspended; ``None`` while it runs."""
        return self._record.suspended

    @property
    def batch(self) -> int:
        """The batch that its answer is of: the last one, unless it is suspended."""
        return self._store.last.answered_at(self._record)

    @property
    def logical(self) -> LogicalQuery:
        """The logical query: the text, bound to the streams."""
        return self._record.logical

    @property
    def registered(self) -> int:
        """The batch after which it was registered."""
        return self._record.registered

    @property
    def kept_as(self) -> str:
        """How its answer is kept: ``"lazy"``, ``"eager"`` or ``"off"``."""
        return self._record.results

    @property
    def windows_on(self) -> tuple[StreamWindow, ...]:
        """Its windows, if it has any."""
        return self._record.windows

    @property
    def status(self) -> str:
        """``"active"``, or why it no longer runs."""
        return CLOSED if self._store.directory.closed else self._store.last.status(self._registered)

    @property
    def columns(self) -> NamedTypes:
        """Names and types of the result's columns; by a name, its type."""
        return NamedTypes(output_columns(self.logical))

    def result(self, at: object | None = None, *, batch: int | None = None) -> pd.DataFrame:
        """The answer over all data so far, in the order of its ORDER BY if it has one.

        In a column of DOUBLE, ``workbench.arrow.frames.nulls_of(rows["x"])`` tells NULL from NaN.

        Args:
            at: an instant, instead of the latest: one of ``windows()`` where the query has a loop, else any time of the
                type of the event times. The answer is that of the rows up to then, with now at it.
            batch: the batch after which the answer is to be given, 0 being the history: as it was then, also of a query
                that was registered later. No batch is run again.

        Raises:
            QueryError: the query was dropped or disabled, or has no such instant or batch.
            EngineError: Spark could not read it.

        Example:
            >>> session.query("last_days").result(at="2002-11-20")  # doctest: +SKIP
            >>> session.query("last_days").result(batch=3)  # doctest: +SKIP
        """
        return frame_of(self.arrow_result(at, batch=batch))

    def arrow_result(self, at: object | None = None, *, batch: int | None = None) -> pa.Table:
        """``result`` as Arrow, in which NaN of a DOUBLE is not NULL.

        Raises:
            QueryError, EngineError: as ``result``.
        """

        def read(answers: Answers) -> pa.Table:
            return to_shown_table(fetch_results([answers])[0], answers.plan, self.timezone)

        return self._reader.read(self._registered, f"read the result of {self.name}", read, at, batch=batch)

    def diff(self, first: int, last: int | None = None) -> pd.DataFrame:
        """The rows that were added and removed between two batches: column ``weight``, then the query's.

        A row of weight 2 has come twice, one of -1 has gone; rows that came and went in between are not among them.

        Args:
            first: a batch, 0 being the history.
            last: another one, also an earlier one; ``None``: the last that was run.

        Raises:
            QueryError: the query was dropped or disabled, or there is no such batch.
            EngineError: Spark could not read it.

        Example:
            >>> session.query("big").diff(3, 5)  # doctest: +SKIP
        """

        def fetched(batch: int | None) -> tuple[pa.Table, QueryPlan]:
            doing = f"compare answers of {self.name}"
            return self._reader.read(
                self._registered, doing, lambda answers: (fetch_results([answers])[0], answers.plan), batch=batch
            )

        (before, plan), (after, _) = fetched(first), fetched(last)
        return frame_of(to_shown_table(fetch_difference(before, after), plan, self.timezone, ("weight",)))

    def estimate(self) -> pd.DataFrame:
        """Estimates of COUNT, SUM and AVG with the rows that were left out (``shed="sample"``).

        A row of a sample counts for those that were left out (Horvitz and Thompson, 1952). Where nothing was left out,
        the values are those of the answer. A group of which no row was drawn is missing. The bounds are those of a
        normal distribution, so they promise 95 % where a group has some dozens of drawn rows, and too much below.

        Returns:
            A row for each group and aggregate: the groups, ``column`` (the aggregate's name), ``value``, and ``low``
            and ``high``, between which the true value lies with 95 %.

        Raises:
            QueryError: the query has a join, a window or other aggregates, or no sample was taken; the message says it.
            EngineError: Spark could not evaluate it.

        Example:
            >>> session.query("fees_by_state").estimate()  # doctest: +SKIP
        """
        return self._reader.estimate(self._record)

    def why(self, where: str | Mapping[str, object] | None = None, limit: int = EXPLAINED) -> Provenance:
        """The rows of the streams that rows of the answer are computed from, each with the batch that brought it.

        Nothing is kept for it. Of MIN and MAX alone these are the rows that have the value, of other aggregates the
        whole group, of functions with OVER the partition.

        Args:
            where: of which rows, as in ``head``, or their values by column; ``None``: of all.
            limit: of how many of them at most.

        Raises:
            QueryError, SqlError, EngineError: as ``head``.

        Example:
            >>> print(session.query("fees_by_state").why("state = 'TX'"))  # doctest: +SKIP
        """
        return provenance(self._reader, self._record, refinement_of(self._record, where), self.timezone, limit)

    def windows(self) -> pd.DataFrame:
        """The instants of a windowed query so far, and where its windows were: ``instant, stream, begin, end``.

        Each instant has a set of rows, ``result(at=instant)`` (TelegraphCQ 4.1.1). An end that is open is NULL.

        Raises:
            QueryError: the query was dropped or disabled.
        """
        with self.answers() as answers:
            return instants_and_windows(self.windows_on, answers.clock, self.registered)

    def head(
        self,
        limit: int = 10,
        skip: int = 0,
        *,
        at: object | None = None,
        batch: int | None = None,
        sort: str | None = None,
        descending: bool = False,
        where: str | None = None,
    ) -> pd.DataFrame:
        """At most ``limit`` rows of the answer after ``skip`` others, in its order, or as they are found.

        Args:
            limit: how many rows at most.
            skip: how many rows come before them.
            at, batch: of an answer of the past, as in ``result``.
            sort: a column to order by instead, NULLs last; rows that are equal in it are ordered by all columns.
            descending: with ``sort``: the largest first.
            where: a condition over the answer's columns, in the query's dialect.

        Raises:
            QueryError: the query was dropped or disabled, or there is no such column.
            SqlError: the condition has a mistake.
            EngineError: Spark could not read it.

        Example:
            >>> q.head(20, sort="amount", descending=True, where="amount < 1000000")  # doctest: +SKIP
        """
        if descending and sort is None:
            raise QueryError("descending is of no column", hint="say which: head(sort='amount', descending=True)")
        refinement = self.refinement(where, sort, descending)

        def read(answers: Answers) -> pd.DataFrame:
            return to_pandas(fetch_first(answers, skip, limit, refinement), answers.plan, self.timezone)

        return self._reader.read(self._registered, f"read the first rows of {self.name}", read, at, batch=batch)

    def dataframe(self) -> DataFrame:
        """The answer over all data so far as a Spark DataFrame, which later batches do not change.

        It belongs to ``session.spark``, whose executors keep its rows for as long as it is used, also when the session
        is closed.

        Raises:
            QueryError: the query was dropped or disabled.
            EngineError: Spark could not read it.

        Example:
            >>> q.dataframe().createOrReplaceTempView("big")  # doctest: +SKIP
            >>> session.spark.sql("SELECT COUNT(*) FROM big").show()  # doctest: +SKIP
        """
        return self._reader.read(
            self._registered,
            f"read the result of {self.name}",
            lambda answers: answers.taken(self._reader.jobs.analyst),
        )

    def save(self, path: str | Path) -> int:
        """Write the answer over all data so far to a file, Parquet or CSV by the end of its name; how many rows it has.

        Its rows need not fit into the memory of this process.

        Raises:
            QueryError: the name ends otherwise, or the query was dropped or disabled.
            EngineError: Spark could not read it, or the file cannot be written.
        """
        path = Path(path)
        writer = WRITERS.get(path.suffix.lower())
        if writer is None:
            raise QueryError(f"{path} is neither Parquet nor CSV", hint=f"end it with {' or '.join(WRITERS)}")
        doing = f"save the result of {self.name} to {path}"
        # A function that raised is known when the answers are let go of: the file is whole only then.
        with translate_errors(doing), whole_file(path) as part:

            def saved(answers: Answers) -> int:
                return save_rows(answers.result(), self.columns, writer, part, answers.tree.relation.folder)

            return self._reader.read(self._registered, doing, saved)

    def count(self, *, at: object | None = None, batch: int | None = None, where: str | None = None) -> int:
        """Number of rows of the answer, without fetching them; the arguments are those of ``head``."""
        refinement = self.refinement(where)
        doing = f"count the rows of {self.name}"
        return self._reader.read(
            self._registered, doing, lambda answers: fetch_count(answers, refinement), at, batch=batch
        )

    def batch_before(self, since: Since) -> int | None:
        """The batch after which ``changes(since)`` begins; ``None``: with the answer at registration.

        Args:
            since: a batch, or an event time, as in ``changes``, which says what is raised.
        """
        self._check_open()
        self.check_active()
        reached = self._store.last.engine.clock.latest_by_batch(streams_of(self.logical))
        batch, last = batch_before(since, list(reached), self.name), self._store.last.batch
        if batch is not None and not 0 <= batch <= last:
            raise no_such_batch(batch, last, self.name)
        return batch

    def changes(self, since: Since | None = None) -> pd.DataFrame:
        """The changes: columns ``batch`` and ``weight``, then the query's; they accumulate to ``result()``.

        Args:
            since: only batches after this one; or from an event time on, which may fall into the first batch that is
                given: a date, a datetime, ``"2026-01-02 10:30"``, ``"10:30"``, ``"today"`` or ``"yesterday"``, where
                the latest event time is now. ``None``: all, the first being the answer at registration.

        Raises:
            QueryError: the query was dropped or disabled, nothing is kept of it, or the time has not come yet.
            EngineError: Spark could not read it.

        Example:
            >>> q.changes(since="yesterday")  # doctest: +SKIP
        """
        return frame_of(self.arrow_changes(since))

    def arrow_changes(self, since: Since | None = None) -> pa.Table:
        """``changes`` as Arrow, in which NaN of a DOUBLE is not NULL.

        Raises:
            QueryError, EngineError: as ``changes``.
        """
        if self.kept_as == OFF:
            hint = 'register it with results="lazy" or "eager"'
            raise QueryError(f"{self.name} is computed when it is asked, and has no changes", hint=hint)
        batch = None if since is None else self.batch_before(since)
        after = self.registered if batch is None else max(batch, self.registered)

        def read(answers: Answers) -> pa.Table:
            return to_shown_table(fetch_changes(answers, batch), answers.plan, self.timezone, ("batch", "weight"))

        rows = self._reader.read(self._registered, f"read the changes of {self.name}", read, after=after)
        return rows.take(pc.sort_indices(rows.column("batch")))

    def explain(self) -> ExplanationView:
        """Explain the sharing at registration: the shared nodes, with their queries, and the new ones.

        Raises:
            SessionError: the session is closed.
        """
        self._check_open()
        explanation = self._record.explanation
        if columns := unseen(self._store.last, self._record):
            note = f"* is what it was when it was registered, without {', '.join(columns)}"
            explanation = replace(explanation, notes=(*explanation.notes, note))
        return ExplanationView.of(explanation)

    def check_active(self) -> None:
        """Raise a ``QueryError`` that says why, if it was dropped, replaced or disabled, or the session is closed."""
        check_active(self._registered, self.status)

    def answers(
        self, at: object | None = None, after: int | None = None, batch: int | None = None
    ) -> AbstractContextManager[Answers]:
        """The answers within a context, for a reader that uses Spark; see ``AnswerReader.answers``."""
        return self._reader.answers(self._registered, at, after, batch)

    def why_not(self, expected: str | Mapping[str, object]) -> MissingRows:
        """Why the answer has no rows as expected: without which conditions it would, and the stored rows behind these.

        Where no condition alone is enough, it is a set of which none can be kept.

        Args:
            expected: a condition over its columns, as in ``head``, or values by column; ``None`` is NULL.

        Raises:
            QueryError, SqlError, EngineError: as ``head``.

        Example:
            >>> print(session.query("fees_by_state").why_not("state = 'TX'"))  # doctest: +SKIP
        """
        return missing_rows(self._reader, self._record, bound_condition(self._record, expected), self.timezone)

    def refinement(self, where: str | None, sort: str | None = None, descending: bool = False) -> Refinement:
        """What is asked for, by positions of columns; arguments and errors as in ``head``."""
        return refinement_of(self._record, where, sort, descending)

    def _check_open(self) -> None:
        if self._store.directory.closed:
            raise SessionError(CLOSED, hint="open it again and ask the query of that session")
        self._store.directory.check_open()
