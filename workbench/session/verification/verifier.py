"""Verifies answers: evaluates the texts of queries by Spark SQL, and compares the rows with those that are kept.

Where Spark SQL has nothing for a part of a text, or SQL leaves open what it means, what the text was bound to is
evaluated, written in Spark SQL. What cannot be written either the workbench computes anew from all stored rows.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.functions import arrow_udf

from workbench.engine.fetching import fetch_results, to_shown_table
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.user_functions.functions import CalledFunction, UserFunctions
from workbench.errors import QueryError, UnsupportedError
from workbench.explain.portable.views import temporary_views
from workbench.explain.text import counted
from workbench.files.mapped import temporary_folder
from workbench.session.answer_reader import AnswerReader
from workbench.session.state import QueryRecord, State
from workbench.session.verification.comparison import Difference, bag_difference, is_between
from workbench.session.verification.report import (
    ANEW,
    ORDER_OF_ADDITIONS,
    SPARK,
    NotVerifiable,
    Outcome,
    Verification,
    Verifying,
)
from workbench.session.verification.rows import StoredRows, stored_rows
from workbench.session.verification.texts import Texts, own_texts
from workbench.sql.algebra.column_names import quoted
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.logical import LogicalQuery, identifying_columns, output_columns
from workbench.sql.shifted_sums import LAST_BITS, with_shifted_sums
from workbench.sql.spark_text import SparkText

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_COMPARED = 200_000
"""Rows of an answer that are compared unless a part is given; of larger ones a sample with that number."""
_PARTS = 1_000_000
"""What a sample is a part of."""
_ANSI = "spark.sql.ansi.enabled"
_SETTINGS = {
    _ANSI: "false",  # no value stops a query
    "spark.sql.timestampType": "TIMESTAMP_NTZ",  # TIMESTAMP has no zone
    "spark.sql.legacy.sizeOfNull": "false",  # it is NULL, as in ANSI mode
    "spark.sql.variable.substitute": "false",
}


class Verifier:
    """Verifies answers of a session.

    Args:
        answers: reads the kept ones.
        functions: the analyst's, which Spark calls.
        folder: of the session, which all workers reach.
    """

    def __init__(self, answers: AnswerReader, functions: UserFunctions, folder: Path) -> None:
        self._answers, self._functions, self._folder = answers, functions, folder
        self._doing: Verifying | None = None

    @property
    def progress(self) -> Verifying | None:
        """How far a verification is; ``None`` while there is none."""
        if (now := self._doing) is None or now.share:
            return now
        done = tasks = 0
        with suppress(Exception):  # Spark may end meanwhile
            tracker = self._answers.jobs.analyst.sparkContext.statusTracker()
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            done = sum(stage.numCompletedTasks for stage in stages if stage)
            tasks = sum(stage.numTasks for stage in stages if stage)
        return replace(now, doing=now.doing + (f", {done} of {counted(tasks, 'task')}" if tasks else ""))

    def verify(self, queries: Sequence[QueryRecord], sample: float | None = None) -> dict[str, Verification]:
        """Verify some answers, all after the same batch; see ``Session.verify``."""
        if sample is not None and not 0 < sample <= 1:
            raise QueryError(f"there is no sample of {sample}", hint="give a part of 1, as 0.1")
        place = self._folder if os.access(self._folder, os.W_OK) else None
        found, texts = dict[str, Verification](), dict[str, Texts | NotVerifiable]()
        try:
            with self._answers.reading(queries) as state, translate_errors("verify answers"):
                running = [query for query in queries if query.suspended is None]
                for query in running:
                    try:
                        texts[query.name] = own_texts(state, query)
                    except NotVerifiable as problem:
                        texts[query.name] = problem
                with temporary_folder("verify-", place) as folder:
                    known = [text for text in texts.values() if isinstance(text, Texts)]
                    asked = [query.logical for query in running]
                    rows = stored_rows(state, asked, known, folder, self._reading_rows)
                    run = _Run(self._answers, self._functions, state, rows, sample, {})
                    for query in running:
                        self._doing = Verifying(f"Spark evaluates {query.name}", 0.0)
                        found[query.name] = run.verification(query, texts[query.name])
                for query in queries:
                    if query.suspended is not None:
                        reason = f"it is suspended since batch {query.suspended}"
                        found[query.name] = _not_verifiable(state, query, [reason])
        finally:
            self._doing = None
        return {query.name: found[query.name] for query in queries}

    def _reading_rows(self, share: float) -> None:
        self._doing = Verifying("stored rows are read", share)


@dataclass(frozen=True)
class _Run:
    """A verification of some queries.

    Attributes:
        answers, functions: as of ``Verifier``.
        state: what is verified.
        rows: the stored rows of the streams.
        sample: the part of the groups to compare; ``None``: as many as there may be.
        sessions: of Spark, by the time zone of queries.
    """

    answers: AnswerReader
    functions: UserFunctions
    state: State
    rows: Mapping[str, StoredRows]
    sample: float | None
    sessions: dict[str, SparkSession]

    def verification(self, query: QueryRecord, texts: Texts | NotVerifiable) -> Verification:
        """Verify one."""
        begun = time.perf_counter()
        refused, left_open = list[str](), None
        for evaluate in (self._of_own_text, self._of_meaning, self._computed_anew):
            if left_open is not None and evaluate == self._computed_anew:
                break
            try:
                found = self._compared(query, evaluate(query, texts), refused)
            except _REFUSALS as problem:
                if "cancelled" in str(problem).lower():  # by an interrupt
                    raise
                refused.append(str(_refusal(problem)))
                continue
            if found.outcome is not Outcome.LEFT_OPEN:
                return replace(found, seconds=time.perf_counter() - begun)
            left_open = found
            refused.append(f"SQL leaves open {'; '.join(found.reasons)}")
        left_open = left_open or _not_verifiable(self.state, query, refused)
        return replace(left_open, seconds=time.perf_counter() - begun)

    def _of_own_text(self, query: QueryRecord, texts: Texts | NotVerifiable) -> _Evaluated:
        """What Spark SQL gives for the text as it was written."""
        if isinstance(texts, NotVerifiable):
            raise texts
        rows = _evaluated(self._session(query), texts)
        return _Evaluated(rows, texts.own.statements[-1].sql, texts.own.notes, texts)

    def _of_meaning(self, query: QueryRecord, texts: Texts | NotVerifiable | None = None) -> _Evaluated:
        """Spark SQL's rows for the bound query, whose views are in a separate network."""
        statements = temporary_views(self.answers.network_of({query.name: query.logical}, self.state))
        spark = self._session(query)
        for statement in statements:
            spark.sql(statement)
        note = "what the text was bound to was evaluated instead, written in Spark SQL"
        return _Evaluated(spark.table(quoted(query.name)), "\n\n".join(statements), (note,))

    def _computed_anew(self, query: QueryRecord, texts: Texts | NotVerifiable) -> _Evaluated:
        """The workbench's rows, computed from all stored rows in a separate network."""
        with self.answers.computed([query.logical], self.state) as (answers,):
            shown = to_shown_table(fetch_results([answers])[0], answers.plan, query.timezone)
        rows = self._session(query).createDataFrame(shown.rename_columns(_numbered(shown)))
        return _Evaluated(rows, "", (), by=ANEW)

    def _compared(self, query: QueryRecord, evaluated: _Evaluated, refused: Sequence[str]) -> Verification:
        spark, columns = self._session(query), output_columns(query.logical)
        with self.answers.answers_in(self.state, query) as answers:
            shown = to_shown_table(fetch_results([answers])[0], answers.plan, query.timezone)
        kept = shown.rename_columns(_numbered(shown))
        frame = spark.createDataFrame(kept)
        right, notes = _with_types(evaluated.rows, frame.schema, columns)
        key, part = _key(query.logical, columns), self.sample or min(1.0, ROWS_COMPARED / max(1, kept.num_rows))
        part = part if key else 1.0
        chosen = "true"
        if part < 1:
            chosen = f"pmod(xxhash64({', '.join(key)}), {_PARTS}) < {math.ceil(part * _PARTS)}"
            kept = frame.where(chosen).toArrow()
        found = bag_difference(_rows(right.where(chosen), kept), kept)
        notes = (*refused, *evaluated.notes, *notes)
        if found.rounded:
            notes += (f"{counted(found.rounded, 'row is', 'rows are')} equal to 9 digits, and not to the last bit",)
        outcome, left_open = Outcome.SAME, evaluated.left_open
        if found:
            if not left_open and evaluated.texts is not None and _overflows(spark, evaluated.texts):
                left_open = ("a value overflows, which Spark SQL wraps or refuses, and is NULL here",)
            if not left_open and evaluated.by == SPARK and self._is_of_additions(query, found, chosen, kept):
                left_open = (ORDER_OF_ADDITIONS,)
            outcome = Outcome.LEFT_OPEN if left_open else Outcome.DIFFERS
        return Verification(
            *(query.name, self.state.batch, outcome, kept.num_rows, part),
            *(found.missing.total(), found.unexpected.total()),
            found.frame([name for name, _ in columns], evaluated.by.partition(",")[0]),
            reasons=left_open if outcome is Outcome.LEFT_OPEN else (),
            notes=notes,
            sql=evaluated.sql,
            by=evaluated.by,
        )

    def _is_of_additions(self, query: QueryRecord, found: Difference, chosen: str, kept: pa.Table) -> bool:
        """Whether rows differ where the last bits of a sum decide, so that another order of additions has them."""
        schema, answers = self._session(query).createDataFrame(kept).schema, list[pa.Table]()
        for shift in (-LAST_BITS, LAST_BITS):
            shifted = with_shifted_sums(query.logical, shift)
            if shifted == query.logical:
                return False
            try:
                rows = self._of_meaning(replace(query, logical=shifted)).rows
                typed, _ = _with_types(rows, schema, output_columns(shifted))
                answers.append(_rows(typed.where(chosen), kept))
            except _REFUSALS:  # then it is not known
                return False
        return is_between(found, *answers)

    def _session(self, query: QueryRecord) -> SparkSession:
        """A Spark session in which the streams are views, and the functions of the analyst are there."""
        if (known := self.sessions.get(query.timezone)) is not None:
            return known
        spark = self.sessions[query.timezone] = self.answers.jobs.analyst.newSession()
        partitions = str(self.answers.jobs.cores)
        zoned = {"spark.sql.session.timeZone": query.timezone, "spark.sql.shuffle.partitions": partitions}
        for key, value in (_SETTINGS | zoned).items():
            spark.conf.set(key, value)
        for name, rows in self.rows.items():
            rows.frame(spark).createOrReplaceTempView(quoted(name))
        for name, function in self.state.schema.functions.items():
            if (called := self.functions.called.get(function.id)) is not None:
                _register(spark, name, called)
        return spark


@dataclass(frozen=True)
class _Evaluated:
    """The right answer of a query.

    Attributes:
        rows: in the order of the query's columns.
        sql: what Spark evaluated.
        notes: what was changed for it.
        texts: the query's own, if they were evaluated.
        by: what evaluated them.
    """

    rows: DataFrame
    sql: str
    notes: tuple[str, ...]
    texts: Texts | None = None
    by: str = SPARK

    @property
    def left_open(self) -> tuple[str, ...]:
        """What SQL leaves open of the rows."""
        return () if self.texts is None else self.texts.left_open


def _not_verifiable(state: State, query: QueryRecord, reasons: Sequence[str]) -> Verification:
    return Verification(query.name, state.batch, Outcome.NOT_VERIFIABLE, reasons=tuple(reasons))


def _numbered(rows: pa.Table) -> list[str]:
    return [f"_{place}" for place in range(rows.num_columns)]


def _register(spark: SparkSession, name: str, called: CalledFunction) -> None:
    def function(*columns: pa.Array) -> pa.Array:
        return called(*columns)

    # PySpark's stubs do not know that it takes the kind of function from the type hints.
    spark.udf.register(name, arrow_udf(function, called.returns.spark))  # type: ignore[call-overload]


def _evaluated(spark: SparkSession, texts: Texts) -> DataFrame:
    """What Spark SQL gives for a query's text."""
    try:
        for name, view in texts.before:
            _last_statement(spark, view).createOrReplaceTempView(quoted(name))
        return _last_statement(spark, texts.own)
    except (PySparkException, Py4JJavaError) as problem:
        raise _refusal(problem) from None


def _last_statement(spark: SparkSession, text: SparkText) -> DataFrame:
    """The last statement of a text; those before it have become views."""
    rows: DataFrame | None = None
    for statement in text.statements:
        rows = spark.sql(statement.sql)
        if statement.view is not None:
            rows.createOrReplaceTempView(quoted(statement.view))
    assert rows is not None
    return rows


def _rows(frame: DataFrame, kept: pa.Table) -> pa.Table:
    """Rows of Spark with the types of the kept ones; not many more than these are, however many there are."""
    rows = frame.limit(2 * kept.num_rows + 1_000).toArrow()
    return rows.cast(kept.schema)


_REFUSALS = (NotVerifiable, UnsupportedError, PySparkException, Py4JJavaError, pa.ArrowInvalid)
"""What is raised where Spark does not evaluate a text."""


def _refusal(problem: Exception) -> NotVerifiable:
    """What Spark says, in a line."""
    if isinstance(problem, NotVerifiable):
        return problem
    if isinstance(problem, UnsupportedError):
        return NotVerifiable(problem.message)
    named = re.search(r"\[[A-Z_.]+\] ?(?:.*:\n)?(.*)", str(problem)) or re.search("(.+)", str(problem))
    said = re.split(r" on search path|[.;] SQLSTATE", named[1])[0] if named else type(problem).__name__
    return NotVerifiable(f"Spark SQL does not evaluate its text: {said}")


def _overflows(spark: SparkSession, texts: Texts) -> bool:
    """Whether Spark refuses to evaluate a text strictly, since some value is beyond its type."""
    spark.conf.set(_ANSI, "true")
    try:
        _evaluated(spark, texts).write.format("noop").mode("overwrite").save()
    except _REFUSALS as problem:
        return any(word in str(problem) for word in ("OVERFLOW", "OUT_OF_RANGE"))
    finally:
        spark.conf.set(_ANSI, "false")
    return False


_ALIKE: tuple[tuple[type[T.DataType], ...], ...] = (
    (T.NumericType,),
    (T.StringType, T.CharType, T.VarcharType),
    (T.TimestampType, T.TimestampNTZType),
)
"""Types of Spark whose values are compared as those of one."""


def _with_types(
    rows: DataFrame, schema: T.StructType, columns: Sequence[tuple[str, DataType]]
) -> tuple[DataFrame, tuple[str, ...]]:
    """What Spark has evaluated with names and types of the kept answer, and in what its own types are more exact.

    Raises:
        NotVerifiable: they are no numbers where the others are, or the like.
    """
    if len(rows.columns) != len(columns):
        raise NotVerifiable(f"Spark SQL gives {counted(len(rows.columns), 'column')}, and not {len(columns)}")
    rows, notes = rows.toDF(*schema.names), list[str]()
    for (name, _), theirs, ours in zip(columns, rows.schema, schema, strict=True):
        alike = any(isinstance(theirs.dataType, group) and isinstance(ours.dataType, group) for group in _ALIKE)
        types = f"{theirs.dataType.simpleString()} in Spark and {ours.dataType.simpleString()} here"
        if not alike and theirs.dataType.typeName() not in (ours.dataType.typeName(), "void"):
            raise NotVerifiable(f"{name} is {types}")
        if isinstance(ours.dataType, T.DecimalType) and theirs.dataType != ours.dataType:
            notes.append(f"{name} is {types}, and compared so")
    return rows.select(*(F.col(field.name).cast(field.dataType).alias(field.name) for field in schema)), tuple(notes)


def _key(query: LogicalQuery, columns: Sequence[tuple[str, DataType]]) -> list[str]:
    """The columns by whose values a sample is taken: the groups, or all that are exact."""
    places = identifying_columns(query)
    exact = [i for i, (_, type_) in enumerate(columns) if type_.kind is not Kind.DOUBLE and type_.ordered]
    return [f"_{place}" for place in (exact if places is None else places) if place in exact]
