"""Groups from finer groups: expressions over rows as expressions over the columns of a finer aggregate (T7.1.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, column_name
from workbench.sql.algebra.types import DOUBLE


def computed_column(expression: Expression | AggregateCall) -> Column:
    """The column of an aggregate that holds a group expression or a statistic."""
    return Column(column_name(expression), expression.type)


def over_groups(expression: Expression, groups: tuple[Expression, ...]) -> Expression:
    """An expression over rows as one over their groups, each group expression being a column there.

    Raises:
        KeyError: it needs a column that is not a function of the groups.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> day = Column("day", INTEGER)
        >>> over_groups(Call("abs", (day,), INTEGER), (day,)) == Call("abs", (day,), INTEGER)
        True
    """
    if expression in groups:
        return computed_column(expression)
    match expression:
        case Column():
            raise KeyError(expression.name)
        case Call("window_start" as function, (time, length)):
            # A window of an hour is made of slices of five minutes.
            slices = next((g for g in groups if _is_slice(g, time, length)), None)
            start = over_groups(time, groups) if slices is None else computed_column(slices)
            return Call(function, (start, length), expression.type)
        case Call():
            return replace(expression, arguments=tuple(over_groups(a, groups) for a in expression.arguments))
        case _:
            return expression


_ZEROS_ALIKE = frozenset({"=", "<=>", "<>", "<", "<=", ">", ">=", "+", "-", "*", "is_null", "and", "or", "not", "case"})
"""Functions that give equal values for 0.0 and -0.0."""


def are_derivable(coarse: Iterable[Expression], fine: tuple[Expression, ...]) -> bool:
    """Whether every one of the coarse group expressions is a function of the fine ones.

    A group of DOUBLE does not keep which of its rows had 0.0 and which -0.0, which are equal; as texts they differ.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> day, bank = Column("day", INTEGER), Column("bank", INTEGER)
        >>> are_derivable([day], (day, bank)), are_derivable([day, bank], (day,))
        (True, False)
    """
    try:
        for group in coarse:
            over_groups(group, fine)
    except KeyError:
        return False
    return not any(_tells_zeros_apart(group, fine) for group in coarse)


def _tells_zeros_apart(expression: Expression, groups: tuple[Expression, ...]) -> bool:
    """Whether it may have different values for rows of one group."""
    if expression in groups or not isinstance(expression, Call):
        return False
    of_zeros = any(a.type == DOUBLE and (a in groups or isinstance(a, Call)) for a in expression.arguments)
    return (of_zeros and expression.function not in _ZEROS_ALIKE) or any(
        _tells_zeros_apart(argument, groups) for argument in expression.arguments
    )


def _is_slice(group: Expression, time: Expression, length: Expression) -> bool:
    """Whether windows of a length on a time are unions of the windows that are a group."""
    match group, length:
        case Call("window_start", (own, Constant(int() as size))), Constant(int() as whole):
            return own == time and whole % size == 0
    return False
