"""User functions on Spark: a call that fails gives NULL for its row and is remembered, never a failed batch.

A shared operator calls a function on rows that other queries let in too, so one query's function must not stop the
others. It runs in a process of its own (``process``). What went wrong with it is gathered in a
Spark accumulator, for the session to disable its queries.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import cloudpickle
from pyspark.accumulators import AccumulatorParam

from workbench.arrow.types import to_arrow
from workbench.engine.spark.arrow_tasks import task_attempt
from workbench.engine.spark.jobs import Accumulated, JobRunner
from workbench.engine.spark.user_functions.process import FunctionEnded, FunctionLimits, FunctionProcess
from workbench.sql.algebra.types import DataType

PROCESSES = 4
"""The most processes of functions that a worker of Spark keeps."""


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

    def add(
        self, name: str, function: Callable[..., Any], returns: DataType, limits: FunctionLimits | None = None
    ) -> None:
        """Make a Python function callable in SQL, whatever it does.

        Args:
            name: what SQL calls it, and ``problems`` too.
            function: any that can be pickled.
            returns: the type of its values; what is not of that type counts as raised.
            limits: what it may take.
        """
        called = CalledFunction(name, cloudpickle.dumps(function), returns, limits or FunctionLimits(), self._problems)
        self.called[name] = called
        self.forget([name])
        self._register(name, called)

    def register(self) -> None:
        """Make all functions callable in the SQL of the present Spark."""
        for name, called in self.called.items():
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

    def forget(self, names: Iterable[str]) -> None:
        """Forget the problems of some functions: no query that calls them goes on."""
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
    """

    def __init__(
        self,
        name: str,
        pickled: bytes,
        returns: DataType,
        limits: FunctionLimits,
        problems: Accumulated[dict[str, str]],
    ) -> None:
        self.returns = returns
        self._name = name
        self._arguments = (pickled, returns, limits)
        # A step that stays loaded is unpickled once, and Spark forgets a task's accumulators with the task.
        self._problems: bytes = cloudpickle.dumps(problems)
        self._id = uuid.uuid4().hex
        self._ended: tuple[int, str] | None = None
        """The task in which the function ended, and why."""

    def __call__(self, *columns: pa.Array) -> pa.Array:
        """The values for some rows of arguments, NULL where a call went wrong."""
        values, problem = self._values(columns)
        if problem:
            cloudpickle.loads(self._problems).add({self._name: problem})
        return values

    def _values(self, columns: Sequence[pa.Array]) -> tuple[pa.Array, str]:
        task = task_attempt()
        if self._ended is None or self._ended[0] != task:
            rows = pa.RecordBatch.from_arrays(list(columns), [f"_{i}" for i in range(len(columns))])
            try:
                return self._call(rows)
            except FunctionEnded as ended:
                self._ended = (task, str(ended))
        return pa.nulls(len(columns[0]), to_arrow(self.returns)), self._ended[1]

    def _call(self, rows: pa.RecordBatch) -> tuple[pa.Array, str]:
        process = _processes.pop(self._id, None)
        if process is not None:
            try:
                return self._call_in(process, rows)
            except FunctionEnded as ended:
                # What it kept of earlier calls may have filled its memory; without it the calls may go well.
                if ended.late:
                    raise
        return self._call_in(FunctionProcess(*self._arguments), rows)

    def _call_in(self, process: FunctionProcess, rows: pa.RecordBatch) -> tuple[pa.Array, str]:
        answer = process.call(rows)
        _processes[self._id] = process
        if len(_processes) > PROCESSES:
            _, oldest = _processes.popitem(last=False)
            oldest.end()
        return answer


_processes: OrderedDict[str, FunctionProcess] = OrderedDict()
"""Of functions that this worker called, by their ids, those that were called last at the end."""
