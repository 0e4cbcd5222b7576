"""Analytic nodes are bounded to the first rows that have readers.

LIMIT, FETCH, DISTINCT ON and conditions on ranks require that a rank is at most some number. Every reader states that
in what it requires of the node, and the node keeps the largest of these numbers: a top 10 is read from the top 100 of
the same rows in the same order. Where a reader has no such number, all rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.network.nodes import Analytic
from workbench.sharing.draft import Draft
from workbench.sql.algebra.analytic import RANKS, AnalyticCall, rank
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, ORPred, PredSet, or_pred, pred_set

_BELOW = {Operator.LE: 0, Operator.EQ: 0, Operator.LT: -1}
"""Comparisons by which a number is at most a constant plus so much."""


def choose_bounds(draft: Draft) -> None:
    """Let every dirty analytic node keep the rows that its readers may read, and no others that a rank tells apart."""
    for root in draft.dirty_parents_first():
        node = draft.nodes[root]
        if not isinstance(node, Analytic):
            continue
        required = draft.catalog.required_of(root)
        bound = draft.stored(weakest_bound(node, required)) if draft.options.sharing or required else TRUE
        if bound != node.bound:
            if node.bound and root in draft.before.nodes:
                draft.record.note(f"restructured: {root} now keeps other first rows")
            draft.put(replace(node, bound=bound))
            draft.retested.add(root)


def weakest_bound(node: Analytic, required: Iterable[PredSet]) -> PredSet:
    """The common bound of the ranks of all rows that are read: the largest of the readers' bounds.

    A row number is at least the rank, and a rank at least the dense rank: what bounds one bounds those after it.
    """
    if any(function.function not in RANKS for function in node.functions):
        return TRUE  # its value may depend on rows that come later
    most: list[dict[str, int]] = [dict(_bounds(node, predicates)) for predicates in required]
    names = {rank_name: rank(rank_name, node.over) for rank_name in RANKS}
    for position, name in enumerate(RANKS):
        of_readers = [[m for n, m in bounds.items() if RANKS.index(n) <= position] for bounds in most]
        if of_readers and all(of_readers) and names[name] in node.functions:
            return pred_set([compared(names[name], Operator.LE, max(min(some) for some in of_readers))])
    return TRUE


def _bounds(node: Analytic, predicates: PredSet) -> Iterable[tuple[str, int]]:
    """For each rank that predicates bound the number that it is at most."""
    for predicate in predicates:
        match predicate.literals:
            case (Literal(Column(name), operator, Constant(int() as most)),) if operator in _BELOW:
                function = node.by_name.get(name)
                if function is not None and function.function in RANKS:
                    yield function.function, most + _BELOW[operator]


def compared(function: AnalyticCall, operator: Operator, number: int) -> ORPred:
    """A comparison of a rank with a number."""
    return or_pred([Literal(Column(function.name, INTEGER), operator, Constant(number, INTEGER))])
