"""Semijoins and antijoins: rows that have a partner, or have none.

Where partners are found by equalities alone, it is enough to know which keys there are. Then a semijoin is an inner
join with the DISTINCT keys, and an antijoin looks for partners among them; other queries share the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.resolving import resolved
from workbench.sql.binder.joins.trees import FromTree, Rows, SemijoinTree
from workbench.sql.logical import Block, Input, Output
from workbench.sql.predicates.cnf import (
    Literal,
    Operator,
    PredSet,
    conjunction,
    equated,
    or_pred,
    orient,
    pred_set,
    predicate_sources,
)


class JoinClause(Protocol):
    """A FROM clause that gets more trees (``from_clause.FromClause``)."""

    trees: list[FromTree]
    conditions: list[PredSet]
    windows: list[PredSet]

    def add_input(self, relation: Input) -> int:
        """Add an input, and give its position."""

    def take(self, positions: Iterable[int]) -> tuple[FromTree, ...]:
        """Take the trees of some positions."""


def add_semijoin(clause: JoinClause, left: Iterable[int], others: Sequence[tuple[Rows, Rows]], anti: bool) -> None:
    """Keep rows that have a partner among one of the others, or with ``anti`` among none.

    Args:
        clause: whose rows they are.
        left: positions of the inputs whose rows are kept or dropped: those that the conditions read.
        others: where partners are looked for, each with its condition.
        anti: whether rows without a partner are kept.
    """
    found = [_by_keys(clause, rows, on) for rows, on in others]
    if len(found) == 1 and not anti and found[0][2]:
        # Each row has one partner at most, so it is an inner join.
        rows, on, _ = found[0]
        clause.trees += rows.trees
        clause.conditions.append(on.where)
        clause.windows.append(on.window)
        return
    taken = clause.take(left)
    clause.trees.append(SemijoinTree(Rows(taken), tuple((rows, on) for rows, on, _ in found), anti))


def _by_keys(clause: JoinClause, rows: Rows, on: Rows) -> tuple[Rows, Rows, bool]:
    """Where partners are looked for: among DISTINCT keys, if the condition allows.

    Returns:
        The rows, the condition, and whether they are keys, as a new input of the clause.
    """
    own = rows.positions
    alone = pred_set(p for p in on.where if predicate_sources(p) and predicate_sources(p) <= own)
    window = pred_set(p for p in on.window if predicate_sources(p) <= own)
    rows = replace(rows, where=conjunction(rows.where, alone), window=conjunction(rows.window, window))
    on = Rows((), *(pred_set(p for p in whole if p not in moved.or_preds)
                    for whole, moved in ((on.where, alone), (on.window, window))))  # fmt: skip
    between = [p for p in (*on.where, *on.window) if not own.isdisjoint(predicate_sources(p))]
    keys = [equated(p, lambda c: c.source in own, lambda c: c.source not in own) for p in between]
    if None in keys:
        return rows, on, False
    values = [key[0] for key in keys if key is not None]
    outputs = tuple(Output(f"k{i}", v) for i, v in enumerate(values or [Constant(True, BOOLEAN)], start=1))
    distinct = resolved(rows.trees, Block((), rows.where, outputs, distinct=True, window=rows.window))
    position = clause.add_input(distinct)
    equal = [
        or_pred([orient(Literal(key[1], Operator.EQ, Column(f"k{i}", key[0].type, position)))])
        for i, key in enumerate(keys, start=1)
        if key is not None
    ]
    rest = pred_set(p for p in on.where if p not in between)
    return (
        Rows((clause.take([position])[0],)),
        Rows((), conjunction(rest, pred_set(equal)), on.window),
        True,
    )
