"""Patterns of rows in their order, as MATCH_RECOGNIZE has them: which rows match, and what is read of those that do.

A pattern is a program for a machine that goes through the rows of a partition (``engine/operators/analytic/matching``).
Conditions are over values of rows that are found in the match so far (``Navigation``); what of them does not depend on
a match is an argument of the call (``AnalyticCall``), of every row.

Source: ISO/IEC 19075-5, row pattern recognition in SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.sql.algebra.expressions import Expression, columns, identity
from workbench.sql.algebra.types import DataType

MATCH = "match"
"""The function of which each value of a match is a call."""

Operation = Literal["row", "split", "jump", "first", "last"]
"""Take a row of a variable; go on at one place, or else at another; at the begin, or the end, of a partition only."""
NavigatedValue = Literal["state", "number", "classifier", "first", "last", "count", "sum", "min", "max"]
"""What is read: whether there is a match, which one, a variable's name, a row by its place, or a statistic of rows."""

NO_ROWS, SHOWN, EXCLUDED, UNDECIDED = 0, 1, 2, 3
"""States of rows: the begin of a match of no rows; in a match, shown or not. Others are in none, and have NULL. Or a
row at which too many ways to match were tried, by which a query stops."""


@dataclass(frozen=True)
class PatternStep:
    """A step of a pattern's program.

    Attributes:
        operation: what it does.
        to: the number of the variable, or of the step that is tried first.
        other: of a row 1 where it is not shown; else the step that is tried next.
    """

    operation: Operation
    to: int = 0
    other: int = 0


@dataclass(frozen=True)
class Navigation:
    """A value of a match, seen from one of its rows.

    Attributes:
        found: what it is.
        type: of the value.
        argument: the argument of the call that it is of, by position; -1: none.
        variables: the numbers of those whose rows count; none: all rows of the match do.
        offset: of the first or last such row, how many others are before it, or behind it.
        shift: how many rows behind that one, in the partition, the row is that is read.
        final: whether rows behind the one that it is seen from count too.
    """

    found: NavigatedValue
    type: DataType
    argument: int = -1
    variables: tuple[int, ...] = ()
    offset: int = 0
    shift: int = 0
    final: bool = False

    def is_of(self, variable: int) -> bool:
        """Whether it is of the row that is tested for a variable, or as many rows from it, whatever the match."""
        here = not self.variables or variable in self.variables
        return self.found == "last" and not self.offset and here

    @property
    def text(self) -> str:
        """A canonical form."""
        parts = (self.found, self.type, self.argument, self.variables, self.offset, self.shift, self.final)
        return "/".join(map(str, parts))


@dataclass(frozen=True)
class MatchPattern:
    """What matches.

    Attributes:
        variables: their names.
        conditions: of the rows of each, over columns ``navigation_name`` the navigations.
        navigations: that conditions read.
        steps: of the program, from the first one on; it ends behind the last.
        skip: where the next match begins: ``past`` the last row, at the ``next`` row, or at the ``first`` or ``last``
            row of some variables, ``to``.
        to: their numbers.
        all_rows: whether values are those of all rows of a match; else of the match, at its first row.
        arguments: how many arguments of the call, the first ones, the navigations of conditions have.
    """

    variables: tuple[str, ...]
    conditions: tuple[Expression, ...]
    navigations: tuple[Navigation, ...]
    steps: tuple[PatternStep, ...]
    skip: str
    to: tuple[int, ...]
    all_rows: bool
    arguments: int

    def depends(self, condition: Expression, variable: int) -> bool:
        """Whether a part of a variable's condition depends on the match."""
        return not all(self.navigations[int(column.name[1:])].is_of(variable) for column in columns(condition))

    @property
    def depends_on_match(self) -> bool:
        """Whether a condition does."""
        return any(self.depends(condition, variable) for variable, condition in enumerate(self.conditions))

    @property
    def text(self) -> str:
        """A canonical form."""
        conditions = ",".join(map(identity, self.conditions))
        navigations = ",".join(navigation.text for navigation in self.navigations)
        steps = ",".join(f"{step.operation} {step.to} {step.other}" for step in self.steps)
        parts = (self.variables, conditions, navigations, steps, self.skip, self.to, self.all_rows, self.arguments)
        return ";".join(map(str, parts))


def navigation_name(number: int) -> str:
    """The column of a navigation in conditions.

    Example:
        >>> navigation_name(3)
        'v3'
    """
    return f"v{number}"
