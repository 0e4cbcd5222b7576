"""What a row, or a value that comes into a group, adds to the parts of a group's state.

A part is a count, a sum, an end, or digits of an exact sum (``physical/accumulators.py``): what a row adds to it is a
column, the weight of the row, or their product.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import to_arrow
from workbench.engine.operators.grouped.statistics import cast_or_null
from workbench.engine.physical.accumulators import LOW_DIGITS, Addend, Adds, StatePart
from workbench.engine.physical.row_inputs import DigitsInput, ProductInput, RowInput
from workbench.engine.physical.stored.decimals import from_integers, quotients_and_remainders
from workbench.engine.physical.stored.unscaled import fits_64_bits
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.reduction import Cells, Combine
from workbench.sql.algebra.types import DataType

_WEIGHT_DIGITS, _PRODUCT_DIGITS = 19, 38
"""Of a weight and of a value; Arrow multiplies decimals of up to 76 digits."""


def reduced(part: StatePart, added: pa.Array, cells: Cells) -> pa.Array:
    """What the rows of groups add to a part together."""
    type_ = to_arrow(part.type)
    sums = type_ if part.combine is Combine.SUM and pa.types.is_decimal(type_) else None
    return cells.reduce(added, part.combine, cells.every, sums)


def added_to(part: StatePart, rows: pa.RecordBatch, branch: int, values: Callable[[RowInput], pa.Array]) -> pa.Array:
    """Compute what each row adds to a part; ``values`` gives the values of an expression."""
    weights = rows.column(WEIGHT)
    match part.addend:
        case Addend(Adds.WEIGHT, branch=own):
            return weights if own in (None, branch) else pa.array(np.zeros(len(weights), dtype=np.int64))
        case Addend(Adds.WEIGHT_OF_KNOWN, value) if value is not None:
            known = values(value)
            return pc.if_else(known.is_valid(), weights, 0) if known.null_count else weights
        case Addend(Adds.PRODUCT, value) if value is not None:
            return product(values(value), weights, to_arrow(part.type))
        case Addend(Adds.VALUE, value) if value is not None:
            return values(value)
        case Addend(Adds.DIGITS, (ProductInput() | DigitsInput()) as value):
            return value.digits(rows, weights)
        case Addend((Adds.LOW | Adds.HIGH) as adds, value) if value is not None:
            return _part_of_wide_sum(values(value), weights, part.type, adds is Adds.HIGH)
    raise ValueError(f"{part.name} has no values to add")


def _part_of_wide_sum(values: pa.Array, weights: pa.Array, type_: DataType, high: bool) -> pa.Array:
    """The low or the high part of some decimals, each as often as its row counts."""
    if fits_64_bits(values):  # a unit of the high part has more digits
        low = values if not high else pc.if_else(values.is_valid(), pa.scalar(0, to_arrow(type_)), None)
        return product(low, weights, to_arrow(type_))
    parts = quotients_and_remainders(values, 10**LOW_DIGITS)[0 if high else 1]
    counted = zip(parts, weights.to_pylist(), strict=True)
    return from_integers((None if number is None else number * weight for number, weight in counted), type_)


def product(values: pa.Array, weights: pa.Array, type_: pa.DataType) -> pa.Array:
    """Numbers, each as often as its row counts; NULL where a decimal has no room for it, as in Spark.

    Numbers that count once stay what they are, as far as their digits stand where those of the type do.

    Example:
        >>> product(pa.array([7, None]), pa.array([-2, 1]), pa.decimal128(38, 0)).to_pylist()
        [Decimal('-14'), None]
    """
    if pa.types.is_floating(type_):
        return pc.multiply(values, weights.cast(type_))
    if (weights.to_numpy() == 1).all():
        alike = pa.types.is_decimal128(values.type) and values.type.scale == type_.scale
        return values if alike or pa.types.is_integer(values.type) else values.cast(type_)
    exact = values.cast(pa.decimal256(_PRODUCT_DIGITS, type_.scale))
    return cast_or_null(pc.multiply(exact, weights.cast(pa.decimal256(_WEIGHT_DIGITS, 0))), type_)
