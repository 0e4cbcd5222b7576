"""Filter-and-write: set the lineage of a root's rows, drop rows that no node keeps, write the others, and count them.

One task does a tree's whole batch: Spark computes the root's rows and the tested expressions, where that needs it, and
this step runs over them in Arrow batches, in a Python worker or, where rows are few, in the driver. It writes the rows
to segments by itself and answers with their names and counts alone. So a large delta never travels through the driver,
and is on disk before it is read. Only the segments that a task's answer names count: what a failed or lost task wrote
is never read.

Rows that cancel each other are not written: of a join of *n* inputs that each replace a row they are 3^n.

In: change (a Z-set) of the root. Out: change of the tree, each row with its lineage. Selections are linear, so
Δσ(P) = σ(ΔP) with weights as they are (Budiu et al., DBSP).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from workbench.arrow.nested import texts_read_once
from workbench.arrow.types import Mask
from workbench.engine.operators.state_files import StateFiles, state_files
from workbench.engine.operators.too_much_work import TooMuchWork
from workbench.engine.physical.filters.grouped_filter import GroupedFilter
from workbench.engine.physical.filters.learnt import Learnt
from workbench.engine.physical.stored.values import Computed
from workbench.engine.spark.arrow_tasks import ArrowBatches, go_on, map_rows
from workbench.engine.spark.jobs import PlanJob
from workbench.engine.spark.python_steps import ANSWER
from workbench.engine.storage.bucketed import BucketedWriter, KeyReaders
from workbench.engine.storage.buckets import EVERY_BUCKET
from workbench.engine.storage.counted_tests import CountedTest
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.job_input import JobInput, checked_token, job_token
from workbench.engine.storage.layout import BATCH, WEIGHT, one_batch
from workbench.engine.storage.lineage import (
    WORD_BITS,
    Bits,
    count_bits,
    patterns,
    word_arrays,
    word_column,
)
from workbench.engine.storage.relation import Delta, consolidate
from workbench.engine.storage.segments import SegmentFields, SegmentWriter, segment_fields, segments_of
from workbench.limits import LIMITS, Limits


@dataclass(frozen=True)
class Answer:
    """The report of a task of a tree's job; as JSON it is the only row that the task gives.

    Attributes:
        tree: the name of the tree.
        segments: those it wrote.
        state_segments: those of the operator's state, written by an earlier step of the task.
        rows_in: how many rows came.
        counts, removed, tests: as of ``Delta``.
        seconds: how long the task took, from when it asked for the first row.
        token: of the job (``job_token``).
        learnt: what is known now of tests that call functions.
        too_much: why the operator gave up: the fields of ``TooMuchWork``.
    """

    tree: str
    segments: list[SegmentFields]
    state_segments: list[SegmentFields]
    rows_in: int
    counts: list[int]
    removed: list[int]
    seconds: float
    tests: dict[str, tuple[int, int, int, float]]
    token: str = ""
    learnt: Mapping[str, Any] = field(default_factory=dict)
    too_much: Sequence[Any] | None = None


BucketsOfTask = Callable[[int], int]
"""The buckets of the groups that a task has."""


def filter_and_write_job(rows: DataFrame, step: Callable[[ArrowBatches], ArrowBatches]) -> PlanJob:
    """The job that passes rows through a step that ends with ``FilterAndWrite``."""
    return PlanJob(map_rows(rows, step, ANSWER))


@dataclass(frozen=True)
class FilterAndWrite:
    """The step over a root's rows.

    In: the kept columns or what they are computed of, ``_weight``, ``_batch`` unless ``job_input`` has it, and the
    filter's tested expressions.

    Attributes:
        tree: the name of the tree.
        grouped: the tree's selections.
        kept: names of the columns to write besides ``_batch`` and ``_weight``.
        folder: of the segments; every worker must reach it.
        job_input: has the batch of all rows, instead of their own ``_batch``.
        computed: of the kept columns those that are computed here.
        cancels: whether rows may cancel each other.
        learnt: has what is known of tests that call functions, where there are any.
        with_state: whether an earlier step has written a change of the operator's state, and handed over its segments.
        limits: of what is done together.
        buckets: those of the rows.
        readers: by which key other operators look rows up, and how many tasks may do so.
    """

    tree: str
    grouped: GroupedFilter
    kept: tuple[str, ...]
    folder: str
    job_input: JobInput | None
    computed: Mapping[str, Computed] = field(default_factory=dict)
    cancels: bool = False
    learnt: JobInput | None = None
    with_state: bool = False
    limits: Limits = LIMITS
    buckets: int = EVERY_BUCKET
    readers: KeyReaders | None = None

    def __call__(self, batches: ArrowBatches) -> ArrowBatches:
        """Write the rows of a task; gives its answer."""
        yield pa.RecordBatch.from_pydict({"answer": [json.dumps(vars(self.write(batches)))]})

    @property
    def _writer(self) -> SegmentWriter:
        if self.readers is None:
            return SegmentWriter(self.folder, self.limits, self.buckets)
        return BucketedWriter(self.folder, self.limits, *self.readers)

    def write(self, batches: ArrowBatches) -> Answer:
        """Write some rows, in whatever process: its report, which needs no text where this process reads it."""
        begun = time.perf_counter()
        grouped, words = self.grouped, len(self.grouped.always)
        names = [*self.kept, BATCH, WEIGHT, *map(word_column, range(words))]
        number = None if self.job_input is None else self.job_input.read().batch
        counts = np.zeros(WORD_BITS * words + len(grouped.combinations), dtype=np.int64)
        removed = np.zeros_like(counts)
        rows_in = 0
        writer = self._writer
        learnt = Learnt() if self.learnt is None else Learnt(**self.learnt.read().learnt)
        tested = self.computed if self.computed.keys() & {*grouped.columns} else {}
        for batch in _cancelled(batches, self.limits.rows_cancelled_together) if self.cancels else batches:
            go_on()
            rows_in += batch.num_rows
            if not batch.num_rows:
                continue
            with texts_read_once():
                batch = _with(batch, tested)
                bits = grouped.lineage(batch, learnt)
            lineages, which, occurrences = patterns(bits)
            combined = grouped.combined(lineages)
            # Every row that a node has counts for it, also where only nodes below it keep the row.
            counts += _counted(lineages, combined, occurrences)
            if (leaving := _weights(batch) < 0).any():
                removed += _counted(lineages, combined, np.bincount(which[leaving], minlength=len(lineages)))
            good = np.asarray((lineages & grouped.keep).any(axis=1) | combined.any(axis=1))
            if not good.any():
                continue
            if not good.all():
                keep = good[which]
                batch, bits = batch.filter(pa.array(keep)), bits[keep]
            with texts_read_once():
                rows = _with(batch, {} if tested else self.computed)
            brought = rows.column(BATCH) if number is None else pa.array(np.full(rows.num_rows, number, dtype=np.int32))
            values = [*map(rows.column, self.kept), brought, rows.column(WEIGHT), *word_arrays(bits)]
            writer.add(pa.RecordBatch.from_arrays(values, names=names))
        state = state_files(self.tree) if self.with_state else StateFiles([])
        return Answer(
            self.tree,
            [*map(segment_fields, writer.close())],
            state.segments,
            rows_in,
            counts.tolist(),
            removed.tolist(),
            time.perf_counter() - begun,
            {grouped.labels[name]: astuple(count) for name, count in learnt.counts.items()},
            job_token(),
            {} if self.learnt is None else learnt.kept,
            state.too_much,
        )


@dataclass(frozen=True)
class WrittenRows:
    """The step of a tree's job that needs nothing of the JVM: a root's rows, written.

    Attributes:
        rows: those of a task, by its number.
        write: writes them.
        buckets: those of the rows of a task, where they are looked up by buckets.
    """

    rows: Callable[[int], ArrowBatches]
    write: FilterAndWrite
    buckets: BucketsOfTask | None = None

    def __call__(self, task: int) -> ArrowBatches:
        """The answer of a task, for another process."""
        return self._write(task)(self.rows(task))

    def answer(self, task: int) -> Answer:
        """The answer of a task that this process runs."""
        return self._write(task).write(self.rows(task))

    def _write(self, task: int) -> FilterAndWrite:
        return self.write if self.buckets is None else replace(self.write, buckets=self.buckets(task))


def _cancelled(batches: ArrowBatches, together: int) -> ArrowBatches:
    """The rows without those that cancel each other among some that come together."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(batch.num_rows for batch in waiting) >= together:
            waiting = [_consolidated(waiting)]
            if waiting[0].num_rows >= together // 2:
                yield waiting.pop()
    if waiting:
        yield _consolidated(waiting)


def _consolidated(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    rows = one_batch(batches)
    leave = (_weights(rows) < 0).any()
    return consolidate(rows) if leave else rows  # rows that only come cancel nothing


def _with(batch: pa.RecordBatch, computed: Mapping[str, Computed]) -> pa.RecordBatch:
    """The rows with columns that are computed of them."""
    for name, value in computed.items():
        batch = batch.append_column(name, value.values(batch))
    return batch


def _weights(rows: pa.RecordBatch) -> Positions:
    return np.asarray(rows.column(WEIGHT).to_numpy())


def _counted(lineages: Bits, combined: Mask, occurrences: Positions) -> Positions:
    """How many rows have each bit and each combination, given the number of rows of each lineage."""
    return np.concatenate([count_bits(lineages, occurrences), occurrences @ combined])


def by_tree(texts: Sequence[str], token: str) -> dict[str, list[Answer]]:
    """The answers of the tasks of jobs, by tree.

    Args:
        texts: the answers.
        token: of the job.

    Raises:
        EngineError: a task has read the input of another job.
    """
    of_tree: dict[str, list[Answer]] = {}
    for text in texts:
        answer = Answer(**json.loads(text))
        checked_token(answer.token, token, answer.tree)
        of_tree.setdefault(answer.tree, []).append(answer)
    return of_tree


def delta_of(answers: Sequence[Answer], here: bool = False) -> Delta:
    """The change of a tree whose rows some tasks wrote, or this process.

    Raises:
        TooMuchWork: the operator gave up.
    """
    for answer in answers:
        if answer.too_much is not None:
            raise TooMuchWork(*answer.too_much)
    counts = _added_up([answer.counts for answer in answers])
    removed = _added_up([answer.removed for answer in answers])
    tests = dict[str, CountedTest]()
    for label, numbers in (item for answer in answers for item in answer.tests.items()):
        tests[label] = tests.get(label, CountedTest()) + CountedTest(*numbers)
    return Delta(
        segments_of(segment for answer in answers for segment in answer.segments),
        sum(answer.rows_in for answer in answers),
        counts,
        segments_of(segment for answer in answers for segment in answer.state_segments),
        max(answer.seconds for answer in answers),
        removed,
        tests,
        here,
    )


def _added_up(counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Counts of some tasks, each at its position; nearly always there is one task."""
    return tuple(counts[0]) if len(counts) == 1 else tuple(map(sum, zip(*counts, strict=True)))
