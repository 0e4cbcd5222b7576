"""Kernels that choose one of their arguments, of values of any kind that is stored as itself."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS, compare
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import of_any_bits
from workbench.sql.predicates.cnf import Operator


def _of_one_type(call: Call) -> bool:
    types = {of_any_bits(argument.type) for argument in call.arguments}
    return len(types) == 1 and types.pop().kind in COMPARABLE_KINDS


def _gives_that_type(call: Call) -> bool:
    return _of_one_type(call) and of_any_bits(call.type) == of_any_bits(call.arguments[0].type)


def _of_one_kind(call: Call) -> bool:
    return all(argument.type.kind is call.type.kind for argument in call.arguments)


def _coalesce(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.coalesce(*(argument.cast(to_arrow(call.type)) for argument in arguments))


def _extreme(operator: Operator) -> Kernel:
    """The least or the greatest of the arguments that are not NULL."""

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        best = arguments[0]
        for other in arguments[1:]:
            better = pc.or_kleene(compare(operator, other, best), best.is_null()).fill_null(False)
            best = pc.if_else(pc.and_(better, other.is_valid()), other, best)
        return best

    return Kernel(values, _gives_that_type)


CHOICE_KERNELS = {
    "coalesce": Kernel(_coalesce, _of_one_kind),
    "least": _extreme(Operator.LT),
    "greatest": _extreme(Operator.GT),
}
"""By the name of the function."""
