"""A relation that grows batch by batch: one cached main part and a small tail (design 5).

A Spark plan must not grow with the number of batches, so the many small deltas are kept as one local table, the
*tail*, beside the *main* part that Spark holds in memory. When the tail has grown, both become the new main part.
Deltas too large for the driver go straight into a new main part.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from workbench.engine.shared_pass import BATCH, WEIGHT, Delta, word_column
from workbench.sql.types import DataType
from workbench.streams.arrow_types import to_arrow

SMALL_ROWS = 20_000
"""A delta of at most so many rows may visit the driver."""
TAIL_DELTAS = 2
"""The tail is merged into the main part when it has more than so many times SMALL_ROWS.

It is sent to the JVM whenever it has grown. Left to a quarter of a main part of 600,000 rows, batches took half as long
again before a merge as after it.
"""


@dataclass(frozen=True)
class Layout:
    """Names and types of a relation's columns: values, batch, weight, and words of lineage."""

    columns: Mapping[str, DataType]
    words: int = 0

    @cached_property
    def spark(self) -> str:
        """The schema in Spark's DDL."""
        values = [f"`{name}` {type_.spark}" for name, type_ in self.columns.items()]
        lineage = [f"{word_column(w)} bigint" for w in range(self.words)]
        return ", ".join([*values, f"{BATCH} int", f"{WEIGHT} bigint", *lineage])

    @cached_property
    def arrow(self) -> pa.Schema:
        """The schema in Arrow."""
        fields = [pa.field(name, to_arrow(type_)) for name, type_ in self.columns.items()]
        fields += [pa.field(BATCH, pa.int32()), pa.field(WEIGHT, pa.int64())]
        return pa.schema(fields + [pa.field(word_column(w), pa.int64()) for w in range(self.words)])


@dataclass(frozen=True)
class Relation:
    """Accumulated rows. Immutable: ``append`` gives the grown relation, so a failed batch changes nothing."""

    spark: SparkSession
    layout: Layout
    folder: Path
    main: DataFrame | None = None
    main_rows: int = 0
    tail: pa.Table | None = None
    merge: Callable[[DataFrame], DataFrame] | None = None
    """What makes rows fewer when tail and main become one, where that is possible without changing what they mean."""
    cached: bool = True
    """Whether Spark keeps the main part in memory: where every batch reads it."""
    files: frozenset[str] = frozenset()
    """Files and folders the rows came from; those of the main part must stay."""

    @property
    def rows(self) -> int:
        """Rows held, changes that cancel each other counted too."""
        return self.main_rows + (self.tail.num_rows if self.tail is not None else 0)

    @cached_property
    def dataframe(self) -> DataFrame:
        """All rows; some may cancel others."""
        parts = [part for part in (self.main, self._tail_frame) if part is not None]
        if not parts:
            return self.spark.createDataFrame([], self.layout.spark)
        return parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1])

    @cached_property
    def _tail_frame(self) -> DataFrame | None:
        return None if self.tail is None else local_frame(self.spark, self.tail, self.layout)

    def delta_frame(self, delta: Delta) -> DataFrame:
        """A delta's rows in this relation's layout."""
        return delta_frame(self.spark, delta, self.layout)

    def append(self, delta: Delta) -> Relation:
        """The relation with a delta's rows."""
        if not delta.rows:
            return self
        if delta.rows > SMALL_ROWS:
            return self._on_files(delta) if not self.rows else self._merged([self.dataframe, self.delta_frame(delta)])
        table = conform(delta.read(), self.layout)
        tail = table if self.tail is None else pa.concat_tables([self.tail, table]).combine_chunks()
        grown = replace(self, tail=tail, files=self.files | set(delta.files))
        if tail.num_rows > TAIL_DELTAS * SMALL_ROWS:
            return grown._merged([grown.dataframe])
        return grown

    def _on_files(self, delta: Delta) -> Relation:
        """The first rows of a relation, used where the pass wrote them."""
        main = self.spark.read.schema(self.layout.spark).parquet(*delta.files)
        return replace(self, main=self._cache(main), main_rows=delta.rows, files=frozenset(delta.files))

    def _cache(self, main: DataFrame) -> DataFrame:
        return main.persist(StorageLevel.MEMORY_AND_DISK) if self.cached else main

    def _merged(self, parts: list[DataFrame]) -> Relation:
        rows = parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1])
        if self.merge is not None:
            rows = self.merge(rows)
        path = str(self.folder / f"main-{uuid.uuid4().hex}.parquet")
        rows.coalesce(self.spark.sparkContext.defaultParallelism).write.parquet(path)
        main = self._cache(self.spark.read.schema(self.layout.spark).parquet(path))
        count = main.count()
        self.release()
        return replace(self, main=main, main_rows=count, tail=None, files=frozenset([path]))

    def narrowed(self, layout: Layout) -> Relation:
        """The relation with fewer columns."""
        if layout.arrow.names == self.layout.arrow.names:
            return self
        main = None if self.main is None else self.main.select(*[f"`{name}`" for name in layout.arrow.names])
        tail = None if self.tail is None else self.tail.select(layout.arrow.names)
        return replace(self, layout=layout, main=main, tail=tail)

    def release(self) -> None:
        """Give back the memory Spark holds for it."""
        if self.main is not None and self.cached:
            self.main.unpersist()


def consolidate(rows: DataFrame, layout: Layout) -> DataFrame:
    """The Z-set's normal form: equal rows once, with the sum of their weights, and none with weight 0.

    The batch of a merged row is its latest: in a relation whose rows are retracted nobody asks a row's batch.
    """
    names = [*layout.columns, *map(word_column, range(layout.words))]
    grouped = rows.groupBy(*[F.col(f"`{name}`") for name in names])
    merged = grouped.agg(F.max(BATCH).alias(BATCH), F.sum(WEIGHT).alias(WEIGHT))
    return merged.where(f"{WEIGHT} <> 0").select(*[f"`{name}`" for name in layout.arrow.names])


def conform(table: pa.Table, layout: Layout) -> pa.Table:
    """A table in a layout: columns in order; those it does not have are NULL, words of lineage 0."""
    columns = []
    for wanted in layout.arrow:
        if wanted.name in table.column_names:
            columns.append(table.column(wanted.name).cast(wanted.type))
        elif wanted.name.startswith("_bits"):
            columns.append(pa.array([0] * table.num_rows, type=pa.int64()))
        else:
            columns.append(pa.nulls(table.num_rows, wanted.type))
    return pa.Table.from_arrays(columns, schema=layout.arrow)


def local_frame(spark: SparkSession, table: pa.Table, layout: Layout) -> DataFrame:
    """A small table as a DataFrame that lives in the plan itself."""
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL(layout.spark)
    return spark.createDataFrame(table, schema=schema)  # type: ignore[call-overload]


def delta_frame(spark: SparkSession, delta: Delta, layout: Layout) -> DataFrame:
    """A delta's rows: local when small, else read where they are."""
    if delta.rows <= SMALL_ROWS:
        table = conform(delta.read(), layout) if delta.rows else layout.arrow.empty_table()
        return local_frame(spark, table, layout)
    return spark.read.schema(layout.spark).parquet(*delta.files)
