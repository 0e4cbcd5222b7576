"""Each of some tasks has buckets of its own, a group stays in one, and segments that have none in common stay apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.engine.spark.placement import owners_by_rendezvous
from workbench.engine.storage.buckets import BUCKETS, EVERY_BUCKET, BucketKey, buckets_of_tasks, of_buckets
from workbench.engine.storage.indexes.key_index import row_buckets
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.relation import Relation, apart, tasks_for
from workbench.engine.storage.segments import Segment, that_may_have
from workbench.limits import LIMITS

ALL = np.arange(BUCKETS)


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 7, 8, 63, 64, 100])
def test_every_bucket_has_one_task_and_all_have_about_as_many(tasks: int) -> None:
    own = [ALL[of_buckets(ALL, buckets)].tolist() for buckets in buckets_of_tasks(tasks)]
    assert sorted(chain.from_iterable(own)) == ALL.tolist()
    assert max(map(len, own)) - min(map(len, own)) <= 1
    assert all(-(2**63) <= buckets < 2**63 for buckets in buckets_of_tasks(tasks))  # as SQLite stores them


@pytest.mark.parametrize("number", [4, 8, 16])
def test_of_an_owner_that_goes_its_buckets_change_hands_and_few_others(number: int) -> None:
    names = tuple(f"executor {n}" for n in range(number))
    before, after = ([owners[at] for at in owners_by_rendezvous(BUCKETS, owners)] for owners in (names, names[1:]))
    moved = sum(old != new for old, new in zip(before, after, strict=True))
    assert BUCKETS / number <= moved <= BUCKETS / number + BUCKETS / 8


def test_a_group_keeps_its_bucket_when_columns_come_that_it_has_not() -> None:
    rows = pa.RecordBatch.from_pydict(
        {"a": [*range(500), None], "b": pa.array([None] * 501, pa.string()), "c": [str(n % 9) for n in range(501)]}
    )
    numbers = row_buckets(rows, ["a", "c"])
    assert (row_buckets(rows, ["c", "b", "a"]) == numbers).all()
    assert np.bincount(numbers, minlength=BUCKETS).all()
    assert not row_buckets(rows, []).any()


def test_segments_that_have_no_bucket_in_common_stay_apart() -> None:
    first, second, third = (Segment(f"{n}", 1, buckets=buckets) for n, buckets in enumerate((0b0011, 0b1100, 0b0101)))
    every = Segment("every", 1)
    assert every.buckets == EVERY_BUCKET
    assert apart((first, second)) == [(first,), (second,)]
    assert apart((first, second, first)) == [(second,), (first, first)]
    assert apart((first, second, third)) == [(first, second, third)]
    assert apart((first, every, second)) == [(first, every, second)]
    assert that_may_have((first, second, third, every), 0b1000) == (second, every)
    assert that_may_have((first, every), -(2**63)) == (every,)


@pytest.mark.parametrize("on_cluster", [False, True])
def test_on_one_machine_rows_that_others_look_up_are_merged_together(on_cluster: bool) -> None:
    jobs, of_others, of_groups = InProcess(), BucketKey(("a",)), BucketKey(("a",), of_groups=True)
    jobs.limits = LIMITS.of_cluster() if on_cluster else LIMITS
    merged_by = [Relation(jobs, Layout({}), Path(), by=by).merged_by for by in (of_others, of_groups, None)]
    assert merged_by == [of_others if on_cluster else None, of_groups, None]


def test_much_that_is_in_buckets_is_read_by_several_tasks_for_some_rows() -> None:
    class Jobs(InProcess):
        cores = 8

    jobs = Jobs()
    jobs.limits = replace(LIMITS, bytes_looked_up_per_task=100)
    of_buckets_, every = Segment("a", 1, bytes=250, buckets=0b0011), Segment("b", 1, bytes=9_999)
    looked_up = [Relation(jobs, Layout({}), Path(), runs=((of_buckets_, every),))]
    assert tasks_for(50_000, jobs, looked_up) == 3
    assert tasks_for(50_000, jobs, [*looked_up * 9]) == tasks_for(100_001, jobs) == 8
    assert tasks_for(20_000, jobs, looked_up) == tasks_for(50_000, jobs) == 1  # the driver, and nothing to read
    jobs.limits = LIMITS
    assert tasks_for(50_000, jobs, looked_up) == 1
