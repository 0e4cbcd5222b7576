"""Kernels of functions of arrays and a lambda: its body is evaluated over a row for each element, all at once.

AGGREGATE evaluates its body for the first elements of all arrays, then for the second ones, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.nested import arrow_in_json, offsets, with_elements
from workbench.arrow.types import filled
from workbench.engine.physical.stored.kernels.lists import kept, owners_of
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import VARIABLE, Call, Constant, Expression, columns, walk
from workbench.sql.algebra.types import INTEGER, Kind

_ADDED = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE})
_LONG = 64
"""Elements from which on a sum is computed for one array after the other."""
_CONTEXT = Context(prec=80)
EvaluateBody = Callable[[Expression, pa.RecordBatch], pa.Array]
"""Gives the value of a lambda's body over rows that have its variables as columns."""


def variable_name(variable: Expression) -> str:
    """The name of a lambda's variable.

    Example:
        >>> from workbench.sql.functions.arrays.arrays import variable
        >>> from workbench.sql.algebra.types import INTEGER
        >>> variable_name(variable(1, INTEGER))
        '->1'
    """
    match variable:
        case Call("variable", (Constant(str(name)),)):
            return name
    raise AssertionError(variable)


def lambda_of(call: Call) -> Call | None:
    """The lambda of a call that is among ``LAMBDA_KERNELS``, and has one of as many variables as it gives values."""
    if call.function not in LAMBDA_KERNELS:
        return None
    variables = 2 if call.function in ("zip_with", "aggregate") else 1
    match call.arguments[-1]:
        case Call("lambda", parts) as of_elements if len(parts) == variables + 1:
            return of_elements
    return None


def lambda_values(call: Call, arguments: Sequence[pa.Array], rows: pa.RecordBatch, evaluate: EvaluateBody) -> pa.Array:
    """The value of each row of a call of which there is a ``lambda_of``.

    Args:
        call: the call.
        arguments: the values of its arguments without the lambda.
        rows: with the columns, and the variables of the lambdas around.
        evaluate: gives the values of its body.
    """
    of_elements = lambda_of(call)
    assert of_elements is not None
    *variables, body = of_elements.arguments
    read = {column.name for column in columns(body)}
    outer = rows.select([name for name in rows.schema.names if name in read or name.startswith(VARIABLE)])
    names = [*outer.schema.names, *map(variable_name, variables)]

    def values(places: Positions, *elements: pa.Array, part: Expression = body) -> pa.Array:
        """The values of the body, or of a part of it, for some elements; ``places`` has the row of each element."""
        own = outer.take(pa.array(places)).columns
        found = evaluate(part, pa.RecordBatch.from_arrays([*own, *elements], names))
        return found.cast(arrow_in_json(part.type))

    return LAMBDA_KERNELS[call.function](call, arguments, values)


ComputeLambda = Callable[[Call, Sequence[pa.Array], Callable[..., pa.Array]], pa.Array]


def _over_elements(compute: Callable[[pa.ListArray, pa.Array], pa.Array]) -> ComputeLambda:
    """A function of lists and of the value of each element."""

    def over(call: Call, arguments: Sequence[pa.Array], values: Callable[..., pa.Array]) -> pa.Array:
        (lists,) = arguments
        return compute(lists, values(owners_of(lists), pc.list_flatten(lists)))

    return over


def _filter(lists: pa.ListArray, tested: pa.Array) -> pa.Array:
    return kept(lists, np.asarray(filled(tested, False)))


def _of_all(decides: bool) -> ComputeLambda:
    """Whether one element passes, or all do: the first that ``decides`` does, and else NULL may."""

    def compute(lists: pa.ListArray, tested: pa.Array) -> pa.Array:
        owners = owners_of(lists)
        decided, unknown = np.zeros(len(lists), bool), np.zeros(len(lists), bool)
        decided[owners[np.asarray(filled(pc.equal(tested, decides), False))]] = True
        unknown[owners[np.asarray(tested.is_null())]] = True
        found = pa.array(decided == decides, mask=unknown & ~decided)
        return pc.if_else(lists.is_valid(), found, None)

    return _over_elements(compute)


def _zip_with(call: Call, arguments: Sequence[pa.Array], values: Callable[..., pa.Array]) -> pa.Array:
    """Of the elements of two arrays at the same place; the shorter one is longer by NULLs."""
    known = np.logical_and.reduce([np.asarray(lists.is_valid()) for lists in arguments])
    begins = [offsets(lists).astype(np.int64) for lists in arguments]
    sizes = np.where(known, np.maximum(*map(np.diff, begins)), 0)
    ends = np.append(0, np.cumsum(sizes))
    owners = np.repeat(np.arange(len(known)), sizes)
    places = np.arange(len(owners)) - ends[owners]
    elements = []
    for lists, own in zip(arguments, begins, strict=True):
        beyond = places >= np.diff(own)[owners]
        elements.append(pc.list_flatten(lists).take(pa.array(np.where(beyond, 0, own[owners] + places), mask=beyond)))
    made = values(owners, *elements)
    return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), made, mask=pa.array(~known))


def _added(call: Call) -> Expression | None:
    """The value that the lambda of AGGREGATE adds to the total, if it does nothing else."""
    of_elements = call.arguments[-1]
    assert isinstance(of_elements, Call)
    total, _, body = of_elements.arguments
    if isinstance(body, Call) and body.function == "cast" and body.type == call.type:
        (body,) = body.arguments
    match body:
        case Call("+", (first, added)) if first == total and body.type == call.type and call.type.kind in _ADDED:
            return added if total not in walk(added) and added.type.kind in _ADDED else None
    return None


def _sums(call: Call, lists: pa.ListArray, start: pa.Array, added: pa.Array) -> pa.Array:
    """Totals of long arrays: one number after the other, NULL as soon as one is, or where there is no room."""
    exact = call.type.kind is not Kind.DOUBLE
    most = 2**63 if call.type.kind is Kind.INTEGER else 10 ** (call.type.precision - call.type.scale)
    ends, every, totals = offsets(lists), added.to_pylist(), list[Any]()
    for row, total in enumerate(start.to_pylist()):
        for number in every[ends[row] : ends[row + 1]]:
            total = None if total is None or number is None else _CONTEXT.add(total, number) if (
                isinstance(total, Decimal)) else total + number  # fmt: skip
            if total is None or (exact and not -most - (call.type == INTEGER) < total < most):
                total = None
                break
        totals.append(total)
    known = pa.array(totals, arrow_in_json(call.type))
    return pc.if_else(lists.is_valid(), known, None)


def _aggregate(call: Call, arguments: Sequence[pa.Array], values: Callable[..., pa.Array]) -> pa.Array:
    """The start, changed by one element after the other; the rows with the longest arrays come first meanwhile."""
    lists, start = arguments
    arrow, begins = arrow_in_json(call.type), offsets(lists).astype(np.int64)
    lengths = np.diff(begins)
    if lengths.max(initial=0) > _LONG and (added := _added(call)) is not None:
        elements = pc.list_flatten(lists)
        numbers = values(owners_of(lists), pa.nulls(len(elements), arrow), elements, part=added)
        return _sums(call, lists, start.cast(arrow), numbers)
    order = np.argsort(-lengths, kind="stable")
    elements, totals = pc.list_flatten(lists), start.cast(arrow).take(pa.array(order))
    done = list[pa.Array]()
    longer = len(lengths) - np.searchsorted(lengths[order[::-1]], np.arange(lengths.max(initial=0)), side="right")
    for place, count in enumerate(longer.tolist()):
        done.append(totals.slice(count))
        rows = order[:count]
        totals = values(rows, totals.slice(0, count), elements.take(pa.array(begins[rows] + place))).cast(arrow)
    in_order = pa.concat_arrays([totals, *reversed(done)])
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return in_order.take(pa.array(back, mask=np.asarray(lists.is_null())))


LAMBDA_KERNELS: dict[str, ComputeLambda] = {
    "transform": _over_elements(with_elements),
    "filter": _over_elements(_filter),
    "exists": _of_all(True),
    "forall": _of_all(False),
    "zip_with": _zip_with,
    "aggregate": _aggregate,
}
"""Functions of arrays and a lambda, by their names."""
