"""User functions on Spark: a call that fails gives NULL for its row and is remembered, never a failed batch.

A shared operator calls a function on rows that other queries let in too, so one query's function must not stop the
others. It runs in a process of its own (``process``). What went wrong with it is gathered in a
Spark accumulator, for the session to disable its queries.
"""

from __future__ import annotations

import tempfile
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import cloudpickle
from pyspark.accumulators import AccumulatorParam

from workbench.arrow.types import to_arrow
from workbench.engine.spark.arrow_tasks import task_attempt
from workbench.engine.spark.jobs import Accumulated, JobRunner
from workbench.engine.spark.user_functions.attempt import Attempt, all_failed
from workbench.engine.spark.user_functions.memo import Memo, can_be_kept, keys_of
from workbench.engine.spark.user_functions.process import FunctionEnded, FunctionLimits, FunctionProcess
from workbench.files.mapped import remove_folder
from workbench.sql.algebra.types import DataType

PROCESSES = 4
"""The most processes of functions that a worker of Spark keeps."""
MEMOS = 16
"""The most functions whose known values a worker keeps."""


class _FirstByName(AccumulatorParam[dict[str, str]]):
    """Keeps, for each function, the first problem seen. The dictionary stays the same: several threads use it."""

    def zero(self, value: dict[str, str]) -> dict[str, str]:
        return {}

    def addInPlace(self, value1: dict[str, str], value2: dict[str, str]) -> dict[str, str]:
        for name, problem in value2.items():
            value1.setdefault(name, problem)
        return value1


class UserFunctions:
    """The functions an analyst added to one session."""

    def __init__(self, jobs: JobRunner) -> None:
        self.called: dict[str, CalledFunction] = {}
        """The functions over columns, by their names, for steps of Spark's Python workers."""
        self._jobs = jobs
        self._problems = jobs.accumulator(_FirstByName(), {})
        self._forget_values: Callable[[], object] = lambda: None

    def add(
        self, name: str, function: Callable[..., Any], returns: DataType, limits: FunctionLimits | None = None
    ) -> None:
        """Make a Python function callable in SQL.

        Args:
            name: what SQL calls it, and ``problems`` too.
            function: any that can be pickled.
            returns: the type of its values; what is not of that type counts as raised.
            limits: what it may take.
        """
        limits, pickled = limits or FunctionLimits(), cloudpickle.dumps(function)
        called = CalledFunction(name, pickled, returns, limits, self._problems, self._folder / uuid.uuid4().hex)
        called.folder.mkdir()
        self.called[name] = called
        self.forget([name])
        self._register(name, called)

    def _register(self, name: str, called: CalledFunction) -> None:
        returns = called.returns

        def total(*columns: pa.Array) -> pa.Array:
            return called(*columns)

        def where(wanted: pa.Array, *columns: pa.Array) -> pa.Array:
            return over_some(total, wanted.fill_null(False), columns, to_arrow(returns))

        self._jobs.register(name, total, returns.spark)
        self._jobs.register(f"{name}?", where, returns.spark)

    @property
    def problems(self) -> Mapping[str, str]:
        """Functions that failed and were not forgotten, with what went wrong first (it follows their names)."""
        return dict(self._problems.value)

    @cached_property
    def _folder(self) -> Path:
        """Where the workers of this machine share known values."""
        folder = Path(tempfile.mkdtemp(prefix="argus-values-"))
        self._forget_values = weakref.finalize(self, remove_folder, folder)
        return folder

    def close(self) -> None:
        """Forget all known values."""
        self._forget_values()

    def forget(self, names: Iterable[str]) -> None:
        """Forget the problems of some functions; no active query calls them any more."""
        for name in names:
            self._problems.value.pop(name, None)


def over_some(
    function: Callable[..., pa.Array], wanted: pa.BooleanArray, columns: Sequence[pa.Array], type_: pa.DataType
) -> pa.Array:
    """The values of a function for the rows that are wanted, and NULL for the others, for which it is not called.

    Example:
        >>> import pyarrow.compute as pc
        >>> wanted, numbers = pa.array([True, False, True]), pa.array([1, 2, 3])
        >>> over_some(pc.negate, wanted, [numbers], pa.int64()).to_pylist()
        [-1, None, -3]
    """
    count = wanted.true_count
    if not count:
        return pa.nulls(len(wanted), type_)
    if count == len(wanted):
        return function(*columns)
    places = pc.if_else(wanted, pc.subtract(pc.cumulative_sum(wanted.cast(pa.int64())), 1), None)
    return function(*(column.filter(wanted) for column in columns)).take(places)


class CalledFunction:
    """A function as a task calls it: it remembers for the rest of the task that the function has ended.

    Args:
        name: under which problems are gathered.
        pickled: the function.
        returns: the type of its values.
        limits: what it may take.
        problems: gathers what went wrong.
        folder: where the workers of a machine share the values that are known.
    """

    def __init__(
        self,
        name: str,
        pickled: bytes,
        returns: DataType,
        limits: FunctionLimits,
        problems: Accumulated[dict[str, str]],
        folder: Path,
    ) -> None:
        self.returns = returns
        self._name = name
        self._arguments = (pickled, returns, limits)
        # A step that stays loaded is unpickled once, and Spark forgets a task's accumulators with the task.
        self._problems: bytes = cloudpickle.dumps(problems)
        self._id = uuid.uuid4().hex
        self.folder = folder
        self._ended: tuple[int, str] | None = None
        """The task in which the function ended, and why."""

    def __call__(self, *columns: pa.Array) -> pa.Array:
        """The values for some rows of arguments, NULL where a call went wrong."""
        return self.told(*columns).values

    def told(self, *columns: pa.Array) -> Attempt:
        """The values for some rows of arguments, and what they took; a call that went wrong disables queries."""
        task = task_attempt()
        if self._ended is None or self._ended[0] != task:
            try:
                attempt = self._attempt(columns)
            except FunctionEnded as ended:
                self._ended = (task, str(ended))
        if self._ended is not None and self._ended[0] == task:
            attempt = self._all_failed(columns, self._ended[1])
        if attempt.problem:
            cloudpickle.loads(self._problems).add({self._name: attempt.problem})
        return attempt

    def attempt(self, *columns: pa.Array) -> Attempt:
        """The values for some rows of arguments; only the caller learns that a call went wrong."""
        try:
            return self._attempt(columns)
        except FunctionEnded as ended:
            return self._all_failed(columns, str(ended))

    def _all_failed(self, columns: Sequence[pa.Array], problem: str) -> Attempt:
        return all_failed(len(columns[0]), to_arrow(self.returns), problem)

    def _attempt(self, columns: Sequence[pa.Array]) -> Attempt:
        """Call the function for those rows whose values no worker knows."""
        type_ = to_arrow(self.returns)
        if not can_be_kept([type_, *(column.type for column in columns)]):
            return self._call(columns)
        memo, keys = self._memo, keys_of(columns)
        known = memo.known(keys)
        places = {key: at for at, key in enumerate(keys) if key not in known}
        if not places:
            return Attempt(pa.array([known[key] for key in keys], type_), np.zeros(len(keys), dtype=bool))
        asked = [column.take(pa.array(places.values())) for column in columns]
        called = self._call(asked)
        good = pa.array(~called.failed)
        memo.add([column.filter(good) for column in asked], called.values.filter(good))
        known.update(zip(places, called.values.to_pylist(), strict=True))
        failed = dict(zip(places, called.failed.tolist(), strict=True))
        return replace(
            called,
            values=pa.array([known[key] for key in keys], type_),
            failed=np.array([failed.get(key, False) for key in keys], dtype=bool),
        )

    @property
    def _memo(self) -> Memo:
        memo = _memos.pop(self._id, None) or Memo(self.folder)
        _memos[self._id] = memo
        if len(_memos) > MEMOS:
            _memos.popitem(last=False)
        return memo

    def _call(self, columns: Sequence[pa.Array]) -> Attempt:
        rows = pa.RecordBatch.from_arrays(list(columns), [f"_{i}" for i in range(len(columns))])
        process = _processes.pop(self._id, None)
        if process is not None:
            try:
                return self._call_in(process, rows)
            except FunctionEnded as ended:
                # What it kept of earlier calls may have filled its memory; without it the calls may go well.
                if ended.late:
                    raise
        return self._call_in(FunctionProcess(*self._arguments), rows)

    def _call_in(self, process: FunctionProcess, rows: pa.RecordBatch) -> Attempt:
        attempt = process.call(rows)
        _processes[self._id] = process
        if len(_processes) > PROCESSES:
            _, oldest = _processes.popitem(last=False)
            oldest.end()
        return attempt


_processes: OrderedDict[str, FunctionProcess] = OrderedDict()
"""Of functions that this worker called, by their ids, those that were called last at the end."""

_memos: OrderedDict[str, Memo] = OrderedDict()
"""Known values of the functions that this worker called, by their ids, those that were called last at the end."""
