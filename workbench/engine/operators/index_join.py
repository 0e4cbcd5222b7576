"""Index join: the pairs of a join that may match, each side's change looked up among the rows of the other.

    Δ(L ⋈ R)  =  ΔL ⋈ R′  ∪  L ⋈ ΔR          R′ = R after the batch

What a batch costs follows from what its change finds, and not from the number of rows before it: of the other side only
the rows with the same key are read. The results are candidates, with batch and weight; Spark evaluates the join's
predicates on them, unless these compare stored values alone. For a semijoin one pair of a row is as good as all.

Source: SteMs (CACQ 2.2; Raman, Deshpande, Hellerstein 2003), PSoup 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from workbench.arrow.types import Mask
from workbench.engine.operators.early_test import CandidateTest
from workbench.engine.operators.lookup import Lookup, is_first_path, path_has
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.pair_tests import PairFilter, PairTest, pair_column
from workbench.engine.physical.semijoin import Semijoin
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.interrupts import tag_jobs
from workbench.engine.storage.job_input import JobInput, TaskInput
from workbench.engine.storage.layout import BATCH, WEIGHT, conform
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, read_share, shares
from workbench.network.nodes import SIDES


@dataclass(frozen=True)
class IndexJoin:
    """Finds the candidate pairs of two sides.

    Columns of the pairs: those of the left side named ``l_…``, of the right ``r_…``, and batch and weight of the pair.

    Attributes:
        left, right: what is read from each side.
        paths: the access paths. Pairs are looked up by each of them; one that several find is handed on once.
        semijoins: of the pairs of a row that no access path finds, one at least is handed on for each.
        tests: what ``rows`` tests of pairs with equal keys; ``None`` where Spark tests the candidates.
        shown: the sides of which ``rows`` has columns.
    """

    left: Scan
    right: Scan
    paths: tuple[AccessPath, ...]
    semijoins: tuple[Semijoin, ...] = ()
    tests: tuple[PairTest | PairFilter, ...] | None = None
    shown: frozenset[int] = frozenset(SIDES)

    def frame(self, spark: SparkSession, job_input: JobInput, tasks: int) -> DataFrame:
        """The pairs, by a plan that can be kept."""
        values = [f"`{pair_column(at, name)}` {type_}" for at, side in self._sides for name, type_ in side.types]
        return job_input.run(spark, tasks, self.pairs, ", ".join([*values, f"{BATCH} int", f"{WEIGHT} bigint"]))

    def count(self, spark: SparkSession, job_input: JobInput, tasks: int) -> int:
        """How many candidate pairs all tasks have, counted by a job of Spark; see ``count_here``."""

        def count(task: TaskInput) -> ArrowBatches:
            yield pa.RecordBatch.from_pydict({"pairs": [self.count_here(task)]})

        tag_jobs(spark.sparkContext)
        return sum(row.pairs for row in job_input.run(spark, tasks, count, "pairs bigint").collect())

    def count_here(self, task: TaskInput) -> int:
        """How many candidate pairs a task has, whatever node their rows belong to, counted in this process."""
        pairs = 0
        for change, others, changed in _halves(task):
            pairs += sum(lookup.count(others) for lookup in self._lookups(self.paths, change, changed, task))
        for semijoin in self.semijoins if task.task == 0 else ():
            pairs += sum(segment.rows for segment in task.inputs[semijoin.side].change)
        return pairs

    def pairs(self, task: TaskInput) -> ArrowBatches:
        """One task's part of the candidate pairs; its inputs are the left and the right side."""
        for change, others, changed in _halves(task):
            for lookup in self._lookups(self.paths, change, changed, task):
                yield from self._pairs_of_access_path(lookup, others)
        for semijoin in self.semijoins:
            for change, others, changed in _halves(task, first=semijoin.side):
                for lookup in self._lookups((semijoin.path,), change, changed, task):
                    yield from self._pairs_of_semijoin(lookup, others, changed == semijoin.side)

    def rows(self, task: TaskInput, names: Mapping[str, str], schema: pa.Schema) -> ArrowBatches:
        """One task's part of the pairs that pass the tests as rows of the join, ``Limits.pairs_handed_on`` at a time.

        Args:
            task: see ``pairs``.
            names: for each column of a row that of the pairs.
            schema: of the rows.
        """
        waiting: list[pa.RecordBatch] = []
        for pairs in map(self._tested, self.pairs(task)):
            rows = pa.RecordBatch.from_arrays([pairs.column(name) for name in names.values()], names=[*names])
            waiting.append(conform(rows, schema))
            if sum(batch.num_rows for batch in waiting) >= task.limits.pairs_handed_on:
                yield pa.concat_batches(waiting)
                waiting = []
        if waiting:
            yield pa.concat_batches(waiting)

    def _tested(self, pairs: pa.RecordBatch) -> pa.RecordBatch:
        passes = np.ones(pairs.num_rows, dtype=bool)
        for test in self.tests or ():
            passes &= test.passes(pairs)
        return pairs if passes.all() else pairs.filter(pa.array(passes))

    @property
    def _sides(self) -> tuple[tuple[int, Scan], tuple[int, Scan]]:
        return (0, self.left), (1, self.right)

    def _lookups(self, paths: Sequence[AccessPath], change: Run, changed: int, task: TaskInput) -> Iterator[Lookup]:
        """One task's part of a side's change, once for each access path: the rows of the node that have a key."""
        own, other = (self.left, self.right)[:: 1 - 2 * changed]
        share, decides = shares(change, task.tasks)[task.task], self._decides(changed)
        for rows in read_share(share, own.input, task.limits):
            for path in paths:
                if (lookup := Lookup.of(path, changed, own, other, rows, decides, task.limits)) is not None:
                    yield lookup

    def _cancels(self, changed: int) -> bool:
        """Whether changed rows of a side may cancel: no column of theirs is in the join's rows."""
        return self.tests is not None and changed not in self.shown and len(self.paths) == 1 and not self.semijoins

    def _decides(self, changed: int) -> bool:
        """Whether the access path alone decides which rows a changed row finds, and nothing else depends on it."""
        tested = (name for test in self.tests or () for name in test.columns)
        return self._cancels(changed) and not any(name.startswith(pair_column(changed, "")) for name in tested)

    def _pairs_of_access_path(self, lookup: Lookup, others: Run) -> ArrowBatches:
        """The pairs of rows with those of the other side, without those that an earlier access path finds."""
        early = None if self.tests is None else CandidateTest(lookup, self.tests, self._cancels(lookup.changed))
        for left, right in lookup.pairs(others, early=early):
            if self.tests is not None or len(self.paths) > 1:
                left, right = _only(is_first_path(self.paths, lookup.path, left, right), left, right)
            yield self._joined(left, right)

    def _pairs_of_semijoin(self, lookup: Lookup, others: Run, once: bool) -> ArrowBatches:
        """The pairs of rows that no access path finds; ``once``: one of each segment is enough for each row."""
        for left, right in lookup.pairs(others, once):
            new = np.ones(left.num_rows, dtype=bool) if once else path_has(lookup.path, left, right)
            for path in self.paths:
                new &= ~path_has(path, left, right)
            yield self._joined(*_only(new, left, right))

    def _joined(self, left: pa.RecordBatch, right: pa.RecordBatch) -> pa.RecordBatch:
        """Two batches side by side; a pair has the later batch of its rows, and the product of their weights."""
        sides = list(zip((left, right), self._sides, strict=True))
        names = [pair_column(at, name) for _, (at, side) in sides for name in side.schema.names]
        values = [rows.column(name) for rows, (_, side) in sides for name in side.schema.names]
        batch = pc.max_element_wise(left.column(BATCH), right.column(BATCH))
        weight = pc.multiply(left.column(WEIGHT), right.column(WEIGHT))
        return pa.RecordBatch.from_arrays([*values, batch, weight], names=[*names, BATCH, WEIGHT])


def _halves(task: TaskInput, first: int = 0) -> Iterator[tuple[Run, Run, int]]:
    """The two terms of Δ(L ⋈ R): what changed, what it is looked up in, and the side that changed.

    Of pairs of two changed rows, the row of the side ``first`` is looked up.
    """
    looks, other = task.inputs[:: 1 - 2 * first]
    yield looks.change, (*other.before, *other.change), first
    yield other.change, looks.before, 1 - first


def _only(chosen: Mask, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Some of the pairs."""
    return (left, right) if chosen.all() else (left.filter(pa.array(chosen)), right.filter(pa.array(chosen)))
