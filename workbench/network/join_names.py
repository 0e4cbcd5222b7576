"""Names of a join's columns: the stream's name and the number of the leaf, left to right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from workbench.sql.algebra.expressions import Column


@dataclass(frozen=True)
class JoinNames:
    """The names in a join, given the number of leaves on the left and on the right.

    ``output`` and ``input`` rename columns. Make one with ``join_names``: then equal renamings are equal objects.
    """

    left_leaves: int
    right_leaves: int

    def output_name(self, side: int, name: str) -> str:
        """The name that a column of the left (0) or right (1) parent has in the join.

        Example:
            >>> join_names(1, 1).output_name(1, "amount")
            'amount_2'
        """
        if side == 0:
            return f"{name}_1" if self.left_leaves == 1 else name
        if self.right_leaves == 1:
            return f"{name}_{self.left_leaves + 1}"
        base, leaf = split_leaf(name)
        return f"{base}_{leaf + self.left_leaves}"

    def input_name(self, name: str) -> tuple[int, str]:
        """Side and name in the parent of a column of the join: the inverse of ``output_name``."""
        base, leaf = split_leaf(name)
        if leaf <= self.left_leaves:
            return 0, (base if self.left_leaves == 1 else name)
        return 1, (base if self.right_leaves == 1 else f"{base}_{leaf - self.left_leaves}")

    def output(self, column: Column) -> Column:
        """A column of a root, its side given by ``source``, as a column of the join."""
        return Column(self.output_name(column.source, column.name), column.type)

    def input(self, column: Column) -> Column:
        """A column of the join as a column of a root: the inverse of ``output``."""
        side, name = self.input_name(column.name)
        return Column(name, column.type, side)


@cache
def join_names(left_leaves: int, right_leaves: int) -> JoinNames:
    """The one object for these numbers."""
    return JoinNames(left_leaves, right_leaves)


def split_leaf(name: str) -> tuple[str, int]:
    """A join's column name as base name and leaf number.

    Example:
        >>> split_leaf("tran_date_2")
        ('tran_date', 2)
    """
    match = re.fullmatch(r"(.*)_(\d+)", name, re.DOTALL)
    if match is None:
        raise ValueError(f"{name!r} is not a column of a join")
    return match[1], int(match[2])
