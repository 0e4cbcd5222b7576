"""Answers of a query, read from its local tree's rows: no query has a store of its own (PSoup's results structure).

A result is the rows with the query's bit, projected; its changes are those of the changelog, consolidated by batch.
Here they are plans of Spark for answers of any size; ``fetching`` reads small ones without it. An answer is saved by
Spark's workers, which write its rows; the driver puts them together, a few at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from workbench.arrow.stored_values import as_python, as_shown, json_text
from workbench.arrow.types import has_months, to_arrow, to_shown
from workbench.engine.event_time import EventTimeClock
from workbench.engine.operators.window import extent
from workbench.engine.physical.elements import reading_elements
from workbench.engine.read_window import changes_within, window_rows
from workbench.engine.storage.changelog import ChangelogEntry
from workbench.engine.storage.frames import run_writing, writing_plan
from workbench.engine.storage.indexes.sorted_index import TimeIntervals
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.lineage import WORD_BITS, has_bit, word_column
from workbench.engine.storage.segments import Run, read_share
from workbench.engine.tree import Tree
from workbench.errors import EngineError
from workbench.errors.public_api import is_connect
from workbench.files.mapped import temporary_folder
from workbench.limits import Limits
from workbench.network.network import QueryPlan
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.stored_values import from_stored, with_names
from workbench.sql.predicates.cnf import TRUE, PredSet
from workbench.sql.render.spark_sql import predicates_to_spark, to_spark


@dataclass(frozen=True)
class Refinement:
    """Which rows of an answer are asked for, and in which order, instead of all in that of the query.

    Attributes:
        where: a condition over the query's columns, ``_0``, ``_1``, ….
        by: the position of the column to sort by, NULLs last; ``None``: the query's own order.
        descending: whether the largest comes first.
    """

    where: PredSet = TRUE
    by: int | None = None
    descending: bool = False

    def order(self, columns: int) -> list[int]:
        """The positions to sort by: the chosen column, and all where rows are equal in it."""
        return [] if self.by is None else [self.by, *range(columns)]


WHOLE_ANSWER = Refinement()


@dataclass(frozen=True)
class Answers:
    """The answers of one query.

    Attributes:
        query, tree: as the network has it, and where its rows are.
        registered: the batch after which the query was registered.
        clock: the event times after every batch.
        limits: of what is read in this process.
        until: the batch after which the answer was what it is to be, instead of the last one; the clock ends there.
    """

    query: QueryPlan
    tree: Tree
    registered: int
    clock: EventTimeClock
    limits: Limits
    until: int | None = None

    @cached_property
    def plan(self) -> QueryPlan:
        """The query; what it asks of elements it reads of the tree's columns that have their values."""
        return reading_elements(self.query, self.tree.plan.elements)

    def result(self) -> DataFrame:
        """The answer over all data so far: the query's columns, each row as often as SQL says, in the query's order.

        Rows that are equal in what they are ordered by are ordered by the columns shown.
        """
        rows = self._projected(self._rows(self._needed))
        if not self.tree.plan.monotone:
            rows = self._summed(rows)
            rows = rows.where(f"{WEIGHT} > 0")
        copies = F.explode(F.expr(f"sequence(1L, {WEIGHT})")).alias("_copy")
        rows = rows.select(*self._names, *self._order_names, copies)
        if self.plan.order:
            keys = zip(self._order_names, self.plan.order, strict=True)
            rows = rows.orderBy(*(_in_direction(name, key) for name, key in keys), *self._names)
        return rows.select(*self._names)

    def refined(self, refinement: Refinement) -> DataFrame:
        """The rows of ``result`` that are asked for, in the order that is asked for."""
        rows = self.result()
        if refinement.where:
            rows = rows.where(predicates_to_spark(refinement.where, lambda column: column.name))
        if order := [F.col(f"_{i}") for i in refinement.order(len(self._names))]:
            by = order[0].desc_nulls_last() if refinement.descending else order[0].asc_nulls_last()
            rows = rows.orderBy(by, *order[1:])
        return rows

    def taken(self, spark: SparkSession) -> DataFrame:
        """The present answer in the analyst's Spark session, kept by Spark's executors.

        Its rows do not pass through the driver, and it needs no file of this session any more. The engine has a Spark
        session of its own.
        """
        if is_connect(spark):
            hint = "save() writes the answer to a file, and result() gives it as pandas'"
            raise EngineError("a DataFrame of an answer cannot be made by Spark Connect", hint=hint)
        dates = {n for n, o in zip(self._names, self.plan.outputs, strict=True) if o.type.kind is Kind.DATE}
        # Between sessions rows are Java's objects, and its dates have the Julian calendar before 1582-10-15: days that
        # are counted from 1970 have none.
        rows = self.result().selectExpr(*(f"unix_date({n}) AS {n}" if n in dates else n for n in self._names))._jdf
        theirs = DataFrame(spark._jsparkSession.createDataFrame(rows.javaRDD(), rows.schema()), spark)
        columns = [
            F.expr(_as_shown(name, output.type)).alias(name)
            for name, output in zip(self._names, self.plan.outputs, strict=True)
        ]
        return theirs.select(columns).toDF(*(output.name for output in self.plan.outputs)).localCheckpoint()

    def count(self) -> int:
        """Number of rows in the answer."""
        rows = self._rows([WEIGHT, *self._words]).where(self._belongs)
        return int(rows.agg(F.coalesce(F.sum(WEIGHT), F.lit(0))).collect()[0][0])

    def changes(self, since: int | None) -> DataFrame:
        """The Z-set of changes, columns ``_batch``, ``_weight``, then the query's by position; batches after ``since``.

        What was there at registration counts as a change of that batch.
        """
        rows = self._projected(self._log(since))
        batch = F.greatest(F.col(BATCH), F.lit(self.registered)).alias(BATCH)
        rows = rows.select(batch, WEIGHT, *self._names)
        if since is not None:
            rows = rows.where(F.col(BATCH) > since)
        summed = rows.groupBy(BATCH, *self._names).agg(F.sum(WEIGHT).alias(WEIGHT)).where(f"{WEIGHT} <> 0")
        return summed.select(BATCH, WEIGHT, *self._names)

    @property
    def bits(self) -> frozenset[int]:
        """The bits that the query's rows have."""
        return frozenset(self.tree.plan.bits[node] for node in self.plan.nodes)

    @property
    def where(self) -> TimeIntervals:
        """Where the query's window is now; without columns where it has none."""
        return extent(self.plan.window, self.clock.now) if self.plan.window else {}

    @property
    def extents(self) -> list[tuple[int, TimeIntervals]]:
        """Where the query's window was at registration, and after each later batch."""
        vectors = [(self.registered, self.clock.after_batch(self.registered))]
        vectors += [(batch, vector) for batch, vector in self.clock.vectors if batch > self.registered]
        return [(batch, extent(self.plan.window, vector)) for batch, vector in vectors]

    def logged(self, after: int | None = None) -> Run:
        """The files with all changes after a batch that count for the query's node, and maybe others."""
        if self.tree.plan.monotone:
            return self.tree.relation.segments
        entries = [entry for entry in _entries_of(self.tree, self.registered) if entry.delta.rows]
        later = [entry for entry in entries if after is None or entry.batch > after]
        return tuple(segment for entry in later for segment in entry.delta.segments)

    @property
    def segments(self) -> Run:
        """The files with the rows of the answer, of which those of batches after ``until`` are to be left out."""
        return self.tree.relation.segments if self.until is None else self.logged()

    def _rows(self, names: Sequence[str]) -> DataFrame:
        """Some columns of the rows that are in the query's window, if it has one."""
        relation, where = self.tree.relation, self.where
        named = list(dict.fromkeys([*names, BATCH]))
        rows = window_rows(relation, named, where) if where else relation.frame(named, self.segments)
        return rows if self.until is None else rows.where(f"{BATCH} <= {self.until}")

    @property
    def _belongs(self) -> str:
        """SQL: the row has the bits of all nodes the query reads."""
        return " AND ".join(map(has_bit, sorted(self.bits)))

    @property
    def _words(self) -> list[str]:
        return [word_column(word) for word in sorted({bit // WORD_BITS for bit in self.bits})]

    @property
    def _needed(self) -> list[str]:
        """The stored columns an answer is made of."""
        return [*sorted({column.name for column in self.plan.columns}), BATCH, WEIGHT, *self._words]

    @property
    def _names(self) -> list[str]:
        # Positions, since an analyst's column may be called like one of ours.
        return [f"_{i}" for i in range(len(self.plan.outputs))]

    @property
    def _order_names(self) -> list[str]:
        return [f"_order_{i}" for i in range(len(self.plan.order))]

    def _projected(self, rows: DataFrame) -> DataFrame:
        values = [
            f"{to_spark(expression, lambda c: f'`{c.name}`')} AS {name}"
            for name, expression in zip([*self._names, *self._order_names], self.plan.expressions, strict=True)
        ]
        return rows.where(self._belongs).selectExpr(*values, BATCH, WEIGHT)

    def _summed(self, rows: DataFrame) -> DataFrame:
        return rows.groupBy(*self._names, *self._order_names).agg(F.sum(WEIGHT).alias(WEIGHT))

    def _log(self, since: int | None) -> DataFrame:
        """All changes after a batch that count for the query's node, and maybe others, in the tree's layout."""
        relation = self.tree.relation
        if self.plan.window:
            return changes_within(relation, self._needed, self.extents, since)
        return relation.frame(self._needed, self.logged())


def _in_direction(name: str, key: SortKey) -> Column:
    """A column as Spark orders by it."""
    column = F.col(name)
    if key.descending:
        return column.desc_nulls_first() if key.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if key.nulls_first else column.asc_nulls_last()


def _entries_of(tree: Tree, registered: int) -> tuple[ChangelogEntry, ...]:
    """The changelog from the last hydration that a query registered after this batch can have seen, or the first.

    Older entries may lack columns the query needs; later hydrations repeat what changes have brought already.
    """
    first = max((i for i, entry in enumerate(tree.log) if entry.whole and entry.batch <= registered), default=0)
    return (tree.log[first], *(entry for entry in tree.log[first + 1 :] if not entry.whole))


def _as_shown(column: str, type_: DataType) -> str:
    """SQL of a column of an answer, in which dates are days, in the analyst's Spark session."""
    match type_.kind:
        case Kind.DATE:
            return f"date_from_unix_date({column})"
        case Kind.TIMESTAMP if type_.zoned:
            parts = (f"{part}({column})" for part in ("year", "month", "day", "hour", "minute"))
            return f"make_timestamp({', '.join(parts)}, extract(second from {column}), 'UTC')"
        case Kind.INTERVAL | Kind.MONTHS | Kind.TIME:
            return _COUNTED[type_.kind].format(column)
        case _ if type_.is_text_when_stored:
            value = from_stored(column, type_)
            return f"cast({with_names(value, type_) if not type_.comparable else value} as {type_.shown})"
        case _:
            return column


_COUNTED = {
    Kind.INTERVAL: (
        "make_dt_interval(cast({0} div 86400000000 as int), 0, 0, cast({0} % 86400000000 / 1000000 as decimal(18,6)))"
    ),
    Kind.MONTHS: "make_ym_interval(0, cast({0} as int))",
    Kind.TIME: (
        "if({0} is null, null, format_string('%02d:%02d:%02d.%06d',"
        " {0} div 3600000000, {0} div 60000000 % 60, {0} div 1000000 % 60, {0} % 1000000))"
    ),
}
"""SQL: microseconds as an interval, months as one, and a time of the day as a text, since Spark has no such type
unless it is told to."""

Writer = Callable[[str, pa.Schema], parquet.ParquetWriter | csv.CSVWriter]

WRITERS: dict[str, Writer] = {".parquet": parquet.ParquetWriter, ".csv": csv.CSVWriter}
"""The writer of a file, by the end of its name."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The path at which to write a file that replaces another one only when it is complete."""
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def save_rows(rows: DataFrame, columns: Sequence[tuple[str, DataType]], writer: Writer, path: Path, state: Path) -> int:
    """Write rows to a file; how many there are.

    Args:
        rows: what to write, its columns by position those of the schema.
        columns: names and types.
        writer: one of ``WRITERS``.
        path: of the file.
        state: a folder of the session that every worker reaches.

    Raises:
        OSError: the file cannot be written.
    """
    # Who may not write there has no cluster.
    place = state if os.access(state, os.W_OK) else None
    stored = pa.schema([(name, to_arrow(type_)) for name, (_, type_) in zip(rows.columns, columns, strict=True)])
    as_text = writer is csv.CSVWriter
    schema = pa.schema([(name, _in_file(type_, as_text)) for name, type_ in columns])
    with temporary_folder("saved-", place) as folder:
        segments = run_writing(writing_plan(rows, folder))
        with writer(str(path), schema) as file:
            for batch in read_share([(segment.path, 0, segment.rows) for segment in segments], stored):
                values = [
                    _as_in_file(*of) for of in zip(batch.columns, [t for _, t in columns], schema.types, strict=True)
                ]
                file.write_batch(pa.RecordBatch.from_arrays(values, schema=schema))
    return sum(segment.rows for segment in segments)


def _in_file(type_: DataType, as_text: bool) -> pa.DataType:
    """The type of a column in a file; ``as_text``: the file has plain values only, so values with parts are texts.
    Parquet has no intervals of months."""
    has_parts = type_.counted or type_.is_text_when_stored
    return pa.string() if (as_text and has_parts) or has_months(type_) else to_shown(type_)


def _as_in_file(column: pa.Array, type_: DataType, in_file: pa.DataType) -> pa.Array:
    """A column of an answer as files have it; in texts intervals are Spark's, arrays, structs and maps JSON's."""
    shown = as_shown(column, type_)
    if shown.type == in_file:
        return shown
    return pa.array([None if value is None else json_text(value) for value in as_python(shown)], in_file)
