"""A registered query, as the analyst holds it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from workbench.engine.answers import WRITERS, save_rows, to_pandas, whole_file
from workbench.engine.spark.failures import translate_errors
from workbench.errors import QueryError, SessionError
from workbench.errors.public_api import public_api
from workbench.explain.explanation import ExplanationView
from workbench.session.instants import listed
from workbench.sharing.decisions import Explanation
from workbench.sql.algebra.types import DataType
from workbench.sql.logical import LogicalQuery, StreamWindow, output_columns
from workbench.streams.arrow_types import to_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbench.engine.answers import Answers

ACTIVE = "active"
CLOSED = "the session is closed"
LAZY, EAGER, OFF = RESULTS = ("lazy", "eager", "off")
"""How the answer of a windowed query is kept (PSoup 5): without its window, as it is now, or not at all."""


@public_api
@dataclass
class Query:
    """A continuous query of a session.

    Attributes:
        name, sql, dialect: as registered.
        logical: what the text asks, bound to the streams.
        registered: the batch after which it was registered.
        results: how its answer is kept: ``"lazy"``, ``"eager"`` or ``"off"``.
        windows_on: its windows, if it has any.
        status: ``"active"``, or why it no longer runs.

    Example:
        >>> q = session.register("SELECT tranid FROM FedWireTrans WHERE amount > 1000000")  # doctest: +SKIP
        >>> q.result()  # doctest: +SKIP
    """

    name: str
    sql: str
    dialect: str
    logical: LogicalQuery
    registered: int
    explanation: Explanation
    answers: Callable[..., AbstractContextManager[Answers]] = field(repr=False)
    """Its answers as they were committed last, those of one instant, or with what is needed to tell the changes after a
    batch; what they are read from stays meanwhile."""
    results: str
    windows_on: tuple[StreamWindow, ...] = ()
    status: str = ACTIVE

    @property
    def columns(self) -> tuple[tuple[str, DataType], ...]:
        """Names and types of the result's columns."""
        return output_columns(self.logical)

    def result(self, at: object | None = None) -> pd.DataFrame:
        """The answer over all data so far, in no particular order.

        Args:
            at: the set of one instant of a windowed query, instead of the latest; ``windows()`` lists the instants.

        Raises:
            QueryError: the query was dropped or disabled, or has no such instant.
            EngineError: Spark could not read it.
        """
        return self._fetched("result", lambda answers: answers.result(), at=at)

    def windows(self) -> pd.DataFrame:
        """The instants of a windowed query so far, and where its windows were: ``instant, stream, begin, end``.

        Each instant has a set of rows, ``result(at=instant)`` (TelegraphCQ 4.1.1). An end that is open is NULL.

        Raises:
            QueryError: the query was dropped or disabled.
        """
        with self.answers(self, None) as answers:
            return listed(self.windows_on, answers.clock, self.registered)

    def head(self, limit: int = 10, skip: int = 0) -> pd.DataFrame:
        """At most ``limit`` rows of the answer after ``skip`` others, as they are found; the rest is not fetched.

        Raises:
            QueryError: the query was dropped or disabled, or a number is negative.
            EngineError: Spark could not read it.
        """
        if min(limit, skip) < 0:
            raise QueryError(f"cannot show {min(limit, skip)} rows", hint="give a number of rows, 0 or more")
        return self._fetched("first rows", lambda answers: answers.result().offset(skip).limit(limit))

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
        with self.answers(self, None) as answers, translate_errors(f"read the result of {self.name}"):
            return answers.taken()

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
        schema = pa.schema([(name, to_arrow(type_)) for name, type_ in self.columns])
        saving = translate_errors(f"save the result of {self.name}")
        with saving, whole_file(path) as part, self.answers(self, None) as answers:
            return save_rows(answers.result(), schema, writer, part, answers.tree.relation.folder)

    def count(self) -> int:
        """Number of rows of the answer, without fetching them."""
        with self.answers(self, None) as answers, translate_errors(f"count the rows of {self.name}"):
            return answers.count()

    def changes(self, since: int | None = None) -> pd.DataFrame:
        """The changes: columns ``batch`` and ``weight``, then the query's; they accumulate to ``result()``.

        Args:
            since: only batches after this one; ``None``: all, the first being the answer at registration.

        Raises:
            QueryError: the query was dropped or disabled, or nothing is kept of it.
            EngineError: Spark could not read it.
        """
        if self.results == OFF:
            hint = 'register it with results="lazy" or "eager"'
            raise QueryError(f"{self.name} is computed when it is asked, and has no changes", hint=hint)
        after = self.registered if since is None else max(since, self.registered)
        frame = self._fetched("changes", lambda answers: answers.changes(since), ("batch", "weight"), after=after)
        return frame.sort_values("batch", kind="stable", ignore_index=True)

    def explain(self) -> ExplanationView:
        """What was shared at registration, with whom, and what was new.

        Raises:
            SessionError: the session is closed.
        """
        if self.status == CLOSED:
            raise SessionError(CLOSED, hint="open it again and ask the query of that session")
        return ExplanationView.of(self.explanation)

    def check_active(self) -> None:
        """Nothing when the query runs.

        Raises:
            QueryError: it was dropped, replaced or disabled; the message says why.
        """
        if self.status != ACTIVE:
            raise QueryError(f"query {self.name} does not run: {self.status}", hint="register it again under any name")

    def _fetched(
        self,
        what: str,
        rows: Callable[[Answers], DataFrame],
        first: tuple[str, ...] = (),
        at: object | None = None,
        after: int | None = None,
    ) -> pd.DataFrame:
        with self.answers(self, at, after) as answers, translate_errors(f"read the {what} of {self.name}"):
            return to_pandas(rows(answers), answers.plan, first)
