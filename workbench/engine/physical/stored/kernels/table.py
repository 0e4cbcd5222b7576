"""The table of kernels by function, and calls of functions that are evaluated by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.calls import RowValue
from workbench.engine.physical.stored.kernels.casts import CAST
from workbench.engine.physical.stored.kernels.choices import CHOICE_KERNELS
from workbench.engine.physical.stored.kernels.conditions import CONDITION_KERNELS
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.kernels.numbers import NUMBER_KERNELS
from workbench.engine.physical.stored.kernels.quotients import QUOTIENT_KERNELS
from workbench.engine.physical.stored.kernels.texts import TEXT_KERNELS
from workbench.engine.physical.stored.kernels.times import TIME_KERNELS
from workbench.engine.physical.stored.kernels.variances import VARIANCE_KERNELS
from workbench.sql.algebra.expressions import Call, Expression

_TABLES: Sequence[Mapping[str, Kernel]] = (
    CONDITION_KERNELS, NUMBER_KERNELS, QUOTIENT_KERNELS, VARIANCE_KERNELS, TEXT_KERNELS, TIME_KERNELS, CHOICE_KERNELS,
    {"cast": CAST},
)  # fmt: skip
KERNELS: dict[str, tuple[Kernel, ...]] = {}
"""By the name of the function in expressions; several where it is of several kinds of values."""
for _table in _TABLES:
    for _name, _kernel in _table.items():
        KERNELS[_name] = (*KERNELS.get(_name, ()), _kernel)

ValueReader = Callable[[Expression], RowValue | None]
"""A part of an expression as a value; ``None`` where Spark must evaluate it."""


@dataclass(frozen=True)
class KernelCall:
    """A call that a kernel evaluates, over values of its arguments."""

    call: Call
    arguments: tuple[RowValue, ...]

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row, in the type in which it is stored.

        Example:
            >>> from workbench.engine.physical.stored.values import computed_value
            >>> from workbench.sql.algebra.expressions import Column
            >>> from workbench.sql.algebra.types import INTEGER, STRING
            >>> length = computed_value(Call("length", (Column("s", STRING),), INTEGER))
            >>> length.values(pa.RecordBatch.from_pydict({"s": ["é", None]})).to_pylist()
            [1, None]
        """
        kernel = kernel_of(self.call)
        assert kernel is not None
        found = kernel.compute(self.call, [argument.values(rows) for argument in self.arguments])
        type_ = to_arrow(self.call.type)
        return found if found.type == type_ else found.cast(type_)


def kernel_of(call: Call) -> Kernel | None:
    """The kernel that evaluates a call, if there is one."""
    return next((k for k in KERNELS.get(call.function, ()) if call.arguments and k.accepts(call)), None)


def kernel_call(expression: Expression, part: ValueReader) -> KernelCall | None:
    """An expression as a call of a function with a kernel, if it is that."""
    if not isinstance(expression, Call) or kernel_of(expression) is None:
        return None
    arguments = [part(argument) for argument in expression.arguments]
    known = tuple(argument for argument in arguments if argument is not None)
    return KernelCall(expression, known) if len(known) == len(arguments) else None
