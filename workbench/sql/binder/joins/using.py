"""USING and NATURAL: the condition that two columns of a name are equal, and the one column that represents both."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Expression
from workbench.sql.functions.calls import call
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.source_text import SourceText

BoundColumns = list[tuple[str, Expression]]


def equal_columns(name: str, node: exp.Expr, sides: tuple[BoundColumns, BoundColumns], source: SourceText) -> PredSet:
    """The condition that a column of this name is equal on both sides.

    Raises:
        SqlError: a side has no such column or several, or their types clash.
    """
    ends: list[Expression] = []
    for side in sides:
        candidates = [expression for known, expression in side if known == name]
        if len(candidates) != 1 and not (candidates and source.rules.using_takes_first):
            problem, names = "ambiguous" if candidates else "unknown", [known for known, _ in side]
            which = "right" if ends else "left"
            there = nearest(name, names) or f"it has {', '.join(names[:8])}"
            hint = None if candidates else f"the {which} side lacks it: {there}; ON compares columns of two names"
            raise source.error(f"{problem} column {node.name or name} in USING", node, hint)
        ends.append(candidates[0])
    try:
        return normal_form(call("=", *ends))
    except TypeClash as clash:
        raise source.error(clash.message, node, clash.hint) from None


def merged_columns(
    using: Sequence[str], sides: tuple[BoundColumns, BoundColumns], side: str, in_place: bool
) -> BoundColumns:
    """The columns of a join, each two of USING as one: they come first, then the others, those of the left side first.

    DuckDB leaves them where they are on the left side.

    Args:
        using: the names that both sides have.
        sides: the columns of both.
        side: ``LEFT``, ``RIGHT``, ``FULL``; empty for an inner join.
        in_place: whether the columns of USING stand where the left side has them.
    """
    left, right = (dict(reversed(side)) for side in sides)  # of several of one name the first
    merged: BoundColumns = []
    for name in using:
        one, other = left[name], right[name]
        merged.append((name, other if side == "RIGHT" else call("coalesce", one, other) if side == "FULL" else one))
    if in_place:
        of_left = dict(merged)
        first = [(name, of_left.get(name, e)) for name, e in sides[0]]
    else:
        first = [*merged, *_others(sides[0], using)]
    return [*first, *_others(sides[1], using)]


def _others(side: BoundColumns, using: Sequence[str]) -> BoundColumns:
    """The columns of a side but the first of each name of USING."""
    names = [name for name, _ in side]
    return [(name, e) for at, (name, e) in enumerate(side) if name not in using or names.index(name) < at]
