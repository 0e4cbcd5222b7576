"""Index join: the pairs of a join that may match, each side's change looked up among the rows of the other.

    Δ(L ⋈ R)  =  ΔL ⋈ R′  ∪  L ⋈ ΔR          R′ = R after the batch

What a batch costs follows from what its change finds, and not from the number of rows before it: of the other side only
the rows with the same key are read; where a join has no key, all rows, in blocks. The results are candidates, with
batch and weight, of which kernels test what they can. For a semijoin one pair of a row is as good as all.

Source: SteMs (CACQ 2.2; Raman, Deshpande, Hellerstein 2003), PSoup 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.engine.operators.early_test import CandidateTest
from workbench.engine.operators.lookup import Lookup, is_first_path, path_has
from workbench.engine.physical.access_paths import EVERY_PAIR, AccessPath, keyed
from workbench.engine.physical.array_places import PLACE, ArrayPlaces
from workbench.engine.physical.row_tests import NO_TESTS, RowTests, pair_column
from workbench.engine.physical.semijoin import Semijoin
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.storage.buckets import (
    EVERY_BUCKET,
    BucketKey,
    bucket_key,
    buckets_of_tasks,
    each_bucket,
    heavy_buckets,
    of_buckets,
)
from workbench.engine.storage.indexes.key_index import row_buckets
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import BATCH, WEIGHT, conform, one_batch
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, read_share, shares, that_may_have
from workbench.limits import Limits
from workbench.network.nodes import SIDES
from workbench.sql.algebra.expressions import Expression


@dataclass(frozen=True)
class IndexJoin:
    """Finds the candidate pairs of two sides.

    Columns of the pairs: those of the left side named ``l_…``, of the right ``r_…``, and batch and weight of the pair.

    Attributes:
        left, right: what is read from each side.
        paths: the access paths. Pairs are looked up by each of them; one that several find is handed on once.
        semijoins: of the pairs of a row that no access path finds, one at least is handed on for each.
        tests: what is tested of pairs that a path finds; ``rows`` leaves out what Spark tests.
        shown: the sides of which ``rows`` has columns.
        places: of the arrays of a side, whose changed rows are looked up once for each; ``None``: there are none.
        of_places: what pairs have of the side with arrays, maybe the elements, beside their places.
        computed: the columns that ``rows`` computes of pairs.
    """

    left: Scan
    right: Scan
    paths: tuple[AccessPath, ...]
    semijoins: tuple[Semijoin, ...] = ()
    tests: RowTests = NO_TESTS
    shown: frozenset[int] = frozenset(SIDES)
    places: ArrayPlaces | None = None
    of_places: Scan | None = None
    computed: tuple[tuple[str, Expression], ...] = ()

    @property
    def sides(self) -> tuple[Scan, Scan]:
        """The scans of both sides."""
        return self.left, self.right

    @property
    def compares_all(self) -> bool:
        """Whether all rows are compared."""
        return self.paths == (EVERY_PAIR,)

    def count(self, task: TaskInput) -> int:
        """The number of candidate pairs of a task, for all nodes."""
        pairs = 0
        for change, others, changed in self._halves(task, self._first):
            pairs += sum(lookup.count(others) for lookup in self._lookups(self.paths, change, changed, task))
        for semijoin in self.semijoins if task.task == 0 else ():
            pairs += sum(segment.rows for segment in task.inputs[semijoin.side].change)
        return pairs

    def pairs(self, task: TaskInput) -> ArrowBatches:
        """One task's part of the candidate pairs; its inputs are the left and the right side."""
        for change, others, changed in self._halves(task, self._first):
            for lookup in self._lookups(self.paths, change, changed, task):
                yield from self._pairs_of_access_path(lookup, others)
        for semijoin in self.semijoins:
            for change, others, changed in self._halves(task, first=semijoin.side):
                for lookup in self._lookups((semijoin.path,), change, changed, task):
                    yield from self._pairs_of_semijoin(lookup, others, changed == semijoin.side)

    def rows(self, task: TaskInput, names: Mapping[str, str], schema: pa.Schema) -> ArrowBatches:
        """One task's part of the pairs that pass the tests as rows of the join, ``Limits.pairs_handed_on`` at a
        time.

        Args:
            task: see ``pairs``.
            names: for each column of a row that of the pairs.
            schema: of the rows.
        """
        waiting: list[pa.RecordBatch] = []
        number, size = 0, 0
        for pairs in self.pairs(task):
            pairs = _where(self.tests.passes(pairs), pairs)
            for name, expression in self.computed:
                pairs = pairs.append_column(name, evaluate(expression, pairs))
            rows = pa.RecordBatch.from_arrays([pairs.column(name) for name in names.values()], names=[*names])
            if not rows.num_rows:
                continue
            rows = conform(rows, schema)
            waiting.append(rows)
            number, size = number + rows.num_rows, size + rows.get_total_buffer_size()
            if number >= task.limits.pairs_handed_on or size >= task.limits.bytes_paired_together:
                yield one_batch(waiting)
                waiting, number, size = [], 0, 0
        if waiting:
            yield one_batch(waiting)

    @property
    def _first(self) -> int:
        """Choose the side whose changed rows are looked up on the other side: the side with arrays, since places find
        no arrays.
        """
        return 0 if self.places is None else self.places.side

    @cached_property
    def _paired(self) -> tuple[Scan, Scan]:
        """What pairs have of each side, with the places of rows that are paired."""
        if self.places is None or self.of_places is None:
            return self.sides
        with_places = self.of_places.with_key(PLACE)
        return (with_places, self.right) if self.places.side == 0 else (self.left, with_places)

    def _lookups(
        self,
        paths: Sequence[AccessPath],
        change: Run,
        changed: int,
        task: TaskInput,
    ) -> Iterator[Lookup]:
        """One task's part of a side's change, once for each access path: the rows of the node that have a key."""
        own, other = self._paired[:: 1 - 2 * changed]
        decides = self._decides(changed)
        for rows in self._changed_rows(change, changed, task):
            for each, path in product(self._with_places(rows, changed, task.limits), paths):
                if (lookup := Lookup.of(path, changed, own, other, each, decides, task.limits)) is not None:
                    yield lookup

    def _with_places(self, rows: pa.RecordBatch, changed: int, limits: Limits) -> ArrowBatches:
        """Changed rows of a side; of that with arrays one for each place."""
        if self.places is not None and self.of_places is not None and changed == self.places.side:
            yield from self.places.each(rows, self.of_places.input.names, limits.bytes_paired_together)
        else:
            yield rows

    def _changed_rows(self, change: Run, changed: int, task: TaskInput) -> ArrowBatches:
        """One task's part of a side's change: the rows of its buckets, or of its share."""
        schema = self.sides[changed].input
        if (own := self._own_buckets(task)) is None:
            yield from read_share(shares(change, task.tasks)[task.task], schema, task.limits)
            return
        key, heavy = self._by[changed], each_bucket(self._heavy(change, changed, task.tasks))
        shared = [segment for segment in change if segment.buckets_by(key.number) in heavy]
        others = [segment for segment in change if segment.buckets_by(key.number) not in heavy]
        for rows in read_share(shares(that_may_have(others, own, key.number), 1)[0], schema, task.limits):
            yield rows.filter(pa.array(of_buckets(row_buckets(rows, key.columns), own)))
        yield from read_share(shares(shared, task.tasks)[task.task], schema, task.limits)

    def _heavy(self, change: Run, changed: int, tasks: int) -> int:
        """The buckets that have segments of their own in a change, and too many rows for one task.

        Each task has a share of these rows, and reads what is stored of these buckets.
        """
        sizes = Counter[int]()
        for segment in change:
            sizes[segment.buckets_by(self._by[changed].number)] += segment.bytes
        return heavy_buckets(np.array([sizes[bucket] for bucket in each_bucket(EVERY_BUCKET)]), tasks)

    @cached_property
    def _by(self) -> tuple[BucketKey, ...]:
        """The keys of the sides by which pairs are of one bucket; none where rows are looked up in several ways."""
        paths = [*self.paths, *(semijoin.path for semijoin in self.semijoins)]
        if self.places is not None or not keyed(paths):
            return ()
        return tuple(bucket_key(paths[0].key_columns(side)) for side in SIDES)

    def _own_buckets(self, task: TaskInput) -> int | None:
        """The buckets of a task, where more is stored by buckets than there is to be read of the change by each task;
        ``None``: each has a share of the change, and reads all of what is stored."""
        if task.tasks == 1 or not self._by:
            return None
        saved = 0
        for rows, key in zip(task.inputs, self._by, strict=True):
            for stored in (rows.before, rows.change):
                in_buckets = [segment.buckets_by(key.number) != EVERY_BUCKET for segment in stored]
                saved += sum(segment.bytes for segment, apart in zip(stored, in_buckets, strict=True) if apart)
            saved -= sum(segment.bytes for segment in rows.change if segment.buckets_by(key.number) == EVERY_BUCKET)
        return buckets_of_tasks(task.tasks)[task.task] if saved > 0 else None

    def _halves(self, task: TaskInput, first: int = 0) -> Iterator[tuple[Run, Run, int]]:
        """The two terms of Δ(L ⋈ R): the change, the rows in which a task looks it up, and the side that changed.

        Of pairs of two changed rows, the row of the side ``first`` is looked up.
        """
        looks, other = task.inputs[:: 1 - 2 * first]
        halves = (looks.change, (*other.before, *other.change), first), (other.change, looks.before, 1 - first)
        own = self._own_buckets(task)
        for change, others, changed in halves:
            if own is not None:
                read = own | self._heavy(change, changed, task.tasks)
                others = that_may_have(others, read, self._by[1 - changed].number)
            yield change, others, changed

    def _cancels(self, changed: int) -> bool:
        """Whether changed rows of a side may cancel: no column of theirs is in the join's rows."""
        decided_here = not self.tests.by_spark and not self.semijoins
        return decided_here and changed not in self.shown and len(self.paths) == 1

    def _decides(self, changed: int) -> bool:
        """Whether the access path alone decides which rows a changed row finds, and nothing else depends on it."""
        own = pair_column(changed, "")
        return self._cancels(changed) and not any(name.startswith(own) for name in self.tests.columns)

    def _pairs_of_access_path(self, lookup: Lookup, others: Run) -> ArrowBatches:
        """Find pairs of rows by an access path, without pairs that an earlier access path finds."""
        thins = bool(self.tests.columns or lookup.path.keys or lookup.path.bands)
        early = CandidateTest(lookup, self.tests, self._cancels(lookup.changed)) if thins else None
        for left, right in lookup.pairs(others, early=early):
            first = is_first_path(self.paths, lookup.path, left, right)
            yield self._joined(_where(first, left), _where(first, right))

    def _pairs_of_semijoin(self, lookup: Lookup, others: Run, once: bool) -> ArrowBatches:
        """The pairs of rows that no access path finds; ``once``: one of each segment is enough for each row."""
        for left, right in lookup.pairs(others, once):
            new = np.ones(left.num_rows, dtype=bool) if once else path_has(lookup.path, left, right)
            for path in self.paths:
                new &= ~path_has(path, left, right)
            yield self._joined(_where(new, left), _where(new, right))

    def _joined(self, left: pa.RecordBatch, right: pa.RecordBatch) -> pa.RecordBatch:
        """Two batches side by side; a pair has the later batch of its rows, and the product of their weights."""
        sides = (left, right)
        values = [sides[at].column(name) for at, name in self._pair_columns.values()]
        batch = pc.max_element_wise(left.column(BATCH), right.column(BATCH))
        weight = pc.multiply(left.column(WEIGHT), right.column(WEIGHT))
        return pa.RecordBatch.from_arrays([*values, batch, weight], names=[*self._pair_columns, BATCH, WEIGHT])

    @cached_property
    def _pair_columns(self) -> Mapping[str, tuple[int, str]]:
        """For each column of pairs except batch and weight, the side that has it, and its name there."""
        sides = zip(SIDES, self._paired, strict=True)
        return {pair_column(at, name): (at, name) for at, side in sides for name in side.schema.names}


def _where(chosen: Mask, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows that a mask chooses."""
    return rows if chosen.all() else rows.filter(pa.array(chosen))
