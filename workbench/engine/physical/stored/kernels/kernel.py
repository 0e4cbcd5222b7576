"""A kernel: how a function of SQL is evaluated over columns, and of which calls.

A module of this package has the kernels of one kind of value in a table by the function's name. What a kernel cannot
take it does not accept, and Spark evaluates that call. A test compares each with Spark, for all types that it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from workbench.sql.algebra.expressions import Call, Constant
from workbench.sql.algebra.types import Kind

ComputeValues = Callable[[Call, Sequence[pa.Array]], pa.Array]
"""Gives the value of each row from the call and the columns of its arguments."""


@dataclass(frozen=True)
class Kernel:
    """A function over columns.

    Attributes:
        compute: its values.
        accepts: whether it takes a call, by its types and constants.
        nested: whether it takes arrays, structs, maps and bytes as values, and gives them so; all others take their
            stored texts.
        shares_lists: whether it takes lists, and the place of one element of each, and the lists may be a dictionary,
            where several rows have one.
    """

    compute: ComputeValues
    accepts: Callable[[Call], bool]
    nested: bool = False
    shares_lists: bool = False


def of_kinds(*kinds: Kind) -> Callable[[Call], bool]:
    """Calls of which each argument is of one of some kinds, and no time is an instant: that is in a zone."""
    return lambda call: all(argument.type.kind in kinds and not argument.type.zoned for argument in call.arguments)


def constant_text(call: Call, argument: int) -> str | None:
    """The text that an argument is in every row, if it is that."""
    if argument >= len(call.arguments) or not isinstance(constant := call.arguments[argument], Constant):
        return None
    return constant.value if isinstance(constant.value, str) else None


def constant_integer(call: Call, argument: int, missing: int | None = None) -> int | None:
    """The whole number that an argument is in every row; ``missing`` where the call has no such argument."""
    if argument >= len(call.arguments):
        return missing
    constant = call.arguments[argument]
    value = constant.value if isinstance(constant, Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def constant_truth(call: Call, argument: int) -> bool | None:
    """The truth value that an argument is in every row, if it is that."""
    constant = call.arguments[argument] if argument < len(call.arguments) else None
    return constant.value if isinstance(constant, Constant) and isinstance(constant.value, bool) else None
