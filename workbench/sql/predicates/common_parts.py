"""Conjunctions as intersections of few parts: what several of them have in common is one part for all.

Queries that combine an amount, a window and a ratio are as many conjunctions as there are combinations, and as few
parts as there are amounts, windows and ratios. A window that is tested of each step of a chain is several predicates
and one part, since a query that tests one of them tests all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.sql.predicates.cnf import ORPred, PredSet, pred_set


def common_parts(sets: Iterable[PredSet]) -> Mapping[PredSet, tuple[PredSet, ...]]:
    """For each conjunction the parts that are true together where it is, so that all parts are few.

    Predicates that stand in the same conjunctions are one part. All stay whole where parts are not fewer than
    conjunctions.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import BOOLEAN
        >>> from workbench.sql.predicates.cnf import Literal, Operator, or_pred
        >>> a, b, c, d, e, f = (or_pred([Literal(Column(name, BOOLEAN), Operator.HOLDS)]) for name in "abcdef")
        >>> combined = [pred_set([*x, y]) for x in ([a, b], [c]) for y in (d, e, f)]
        >>> [str(part) for part in common_parts(combined)[combined[0]]]
        ['a and b', 'd']
        >>> whole = pred_set([a, b])
        >>> common_parts([whole]) == {whole: (whole,)}
        True
    """
    distinct = tuple(dict.fromkeys(sets))
    readers: dict[ORPred, int] = {}
    for place, predicates in enumerate(distinct):
        for p in predicates:
            readers[p] = readers.get(p, 0) | 1 << place
    together: dict[int, list[ORPred]] = {}
    for predicate, bits in readers.items():
        together.setdefault(bits, []).append(predicate)
    if len(together) >= len(distinct):
        return {s: (s,) for s in distinct}
    part_of = {p: part for part in map(pred_set, together.values()) for p in part}
    return {s: tuple(dict.fromkeys(part_of[p] for p in s)) or (s,) for s in distinct}
