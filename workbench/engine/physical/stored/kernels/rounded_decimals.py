"""Sums, differences and products of decimals that have more digits than 38, of which Spark leaves out the last ones.

    a + b    of two DECIMAL(38,10) is a DECIMAL(38,9)    a * b    of two DECIMAL(38,10) is a DECIMAL(38,6)

Digits are rounded once, half away from zero. What has more than 38 digits then is NULL.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from workbench.engine.physical.stored.decimals import from_integers
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.kernels.quotients import quotient_half_away
from workbench.engine.physical.stored.unscaled import large_integers
from workbench.sql.algebra.arithmetic import result_type
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind, as_decimal


def _sum(call: Call, left: int, right: int, of: Callable[[int, int], int]) -> int:
    scales = [as_decimal(argument.type).scale for argument in call.arguments]
    most = max(scales)
    found = of(left * 10 ** (most - scales[0]), right * 10 ** (most - scales[1]))
    return quotient_half_away(found, 10 ** (most - call.type.scale))


def _product(call: Call, left: int, right: int) -> int:
    scale = sum(as_decimal(argument.type).scale for argument in call.arguments)
    return quotient_half_away(left * right, 10 ** (scale - call.type.scale))


def _kernel(compute: Callable[[Call, int, int], int]) -> Kernel:
    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        known = np.asarray(arguments[0].is_valid()) & np.asarray(arguments[1].is_valid())
        pairs = zip(*(large_integers(each).tolist() for each in arguments), known.tolist(), strict=True)
        return from_integers((compute(call, a, b) if valid else None for a, b, valid in pairs), call.type)

    return Kernel(values, _accepts)


def _accepts(call: Call) -> bool:
    """Whether it has the type that Spark gives it."""
    return call.type.kind is Kind.DECIMAL and call.type == result_type(call.function, *call.arguments)


ROUNDED_KERNELS = {
    "+": _kernel(lambda call, left, right: _sum(call, left, right, operator.add)),
    "-": _kernel(lambda call, left, right: _sum(call, left, right, operator.sub)),
    "*": _kernel(_product),
}
"""By the name of the function; of what no other kernel computes."""
