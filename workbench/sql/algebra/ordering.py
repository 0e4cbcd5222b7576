"""Orders of rows: by which expressions, in which direction, and where NULLs come.

In every order NaN is the largest number, -0.0 equals 0.0, texts compare by their bytes, and false is less than true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from workbench.sql.algebra.expressions import Column, Constant, Expression, identity, map_columns, text


@dataclass(frozen=True, slots=True)
class SortKey:
    """One expression that rows are ordered by."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = True

    @property
    def identity(self) -> str:
        """The canonical form."""
        return f"{identity(self.expression)}{self.direction}"

    @property
    def text(self) -> str:
        """The key as people read it.

        Example:
            >>> from workbench.sql.algebra.types import INTEGER
            >>> SortKey(Column("a", INTEGER), descending=True, nulls_first=False).text
            'a DESC NULLS LAST'
        """
        return f"{text(self.expression)}{self.direction}"

    @property
    def direction(self) -> str:
        """The key as SQL writes it behind the expression."""
        return f"{' DESC' if self.descending else ' ASC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"

    def map(self, change: Callable[[Expression], Expression]) -> SortKey:
        """The key with a changed expression."""
        return replace(self, expression=change(self.expression))

    def map_columns(self, change: Callable[[Column], Expression]) -> SortKey:
        """The key with every column replaced by what ``change`` gives for it."""
        return self.map(lambda expression: map_columns(expression, change))


def without_repetition(keys: Iterable[SortKey]) -> tuple[SortKey, ...]:
    """The keys without constants, and without expressions that an earlier key has ordered by."""
    first: dict[Expression, SortKey] = {}
    for key in keys:
        if not isinstance(key.expression, Constant):
            first.setdefault(key.expression, key)
    return tuple(first.values())
