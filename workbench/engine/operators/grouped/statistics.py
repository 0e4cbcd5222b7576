"""Values of additive statistics over merged parts, and how often the row of a group comes out."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled, to_arrow
from workbench.engine.operators.grouped.moments import moment_values
from workbench.engine.physical.accumulators import LOW_DIGITS, Final
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.moments import Moments
from workbench.engine.storage.comparable import comparable
from workbench.engine.storage.exact_sums import ExactSums
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.sort_keys import last_values
from workbench.network.nodes import SetOperator

_HIGH_DIGITS = 32
"""Of a sum of high parts, which have at most 18 each."""


def statistic_value(final: Final | Moments, parts: pa.RecordBatch) -> pa.Array:
    """The statistic of each group."""
    if isinstance(final, Moments):
        n = filled(parts.column(final.count), 0).to_numpy()
        sums = {powers: ExactSums.of_texts(parts.column(name)) for powers, name in final.sums.items()}
        return moment_values(final.function, n, sums)
    merged = parts.column(final.part)
    if final.last_of:
        return last_values(merged, [to_arrow(type_) for type_ in final.last_of])
    if final.high is not None:
        merged = _together(merged, parts.column(final.high), final)
    values = cast_or_null(merged, to_arrow(final.type))
    if final.count is not None:
        counted = pc.greater(filled(parts.column(final.count), 0), 0)
        values = pc.if_else(counted, values, pa.scalar(None, values.type))
    return filled(values, 0) if final.zero else values


def _together(low: pa.Array, high: pa.Array, final: Final) -> pa.Array:
    """A wide sum of its two parts, with room for every digit."""
    scale = final.type.scale
    unit = pa.scalar(Decimal(1).scaleb(LOW_DIGITS - scale), pa.decimal256(LOW_DIGITS + 1, max(0, scale - LOW_DIGITS)))
    units = pc.multiply(filled(high, 0).cast(pa.decimal256(_HIGH_DIGITS, 0)), unit)
    return pc.add(units, low.cast(pa.decimal256(38, scale)))


def cast_or_null(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Values in another type, NULL where they do not fit, as Spark's try_cast.

    Only what parts need: of a decimal to fewer digits of the same scale, or, without a scale, to 64 bits.

    Example:
        >>> from decimal import Decimal
        >>> cast_or_null(pa.array([Decimal(7), Decimal(2**63)], pa.decimal128(38, 0)), pa.int64()).to_pylist()
        [7, None]
    """
    if values.type == type_:
        return values
    with suppress(pa.ArrowInvalid):  # one does not fit
        return values.cast(type_)
    if pa.types.is_decimal(type_):
        fits = pc.less(pc.abs(values), pa.scalar(Decimal(10) ** (type_.precision - type_.scale), values.type))
        return pc.if_else(fits, values, pa.scalar(None, values.type)).cast(type_)
    numbers = comparable(values)
    exact = pc.equal(pa.array(numbers).cast(pa.decimal128(38, 0)), values)
    return pa.array(numbers, type_, mask=~np.asarray(pc.fill_null(exact, False)))


def copies(plan: GroupedPlan, parts: pa.RecordBatch) -> Positions:
    """How often the row of each group comes out."""
    if plan.copies is None:
        return np.ones(parts.num_rows, dtype=np.int64)
    first, *others = counts = [filled(parts.column(name), 0).to_numpy(zero_copy_only=False) for name in plan.counts]
    together, rest = sum(counts), sum(others)
    least = np.minimum.reduce(counts)
    match plan.copies:
        case SetOperator.UNION:
            return (together > 0).astype(np.int64)
        case SetOperator.INTERSECT:
            return (least > 0).astype(np.int64)
        case SetOperator.INTERSECT_ALL:
            return np.asarray(least)
        case SetOperator.EXCEPT:
            return ((first > 0) & (rest == 0)).astype(np.int64)
        case SetOperator.EXCEPT_ALL:
            return np.maximum(first - rest, 0)
        case SetOperator.SEMIJOIN:
            return np.where(rest > 0, first, 0)
        case SetOperator.ANTIJOIN:
            return np.where(rest == 0, first, 0)
        case _:
            raise ValueError(f"{plan.copies} has no state for groups")
