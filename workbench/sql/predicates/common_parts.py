"""Conjunctions as intersections of few parts: what several of them have in common is one part for all.

Queries that combine an amount, a window and a ratio are as many conjunctions as there are combinations, and as few
parts as there are amounts, windows and ratios. A window that is tested of each step of a chain is several predicates
and one part, since whoever asks for one of them asks for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.sql.predicates.cnf import ORPred, PredSet, pred_set


def common_parts(sets: Iterable[PredSet]) -> Mapping[PredSet, tuple[PredSet, ...]]:
    """For each conjunction the parts that are true together where it is, so that all parts are few.

    Predicates that stand in the same conjunctions are one part. A conjunction with a predicate that no other one has
    needs a part for it anyway, so it stays whole; and all stay whole where parts are not fewer than conjunctions.

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
    readers = _combining(distinct)
    together: dict[int, list[ORPred]] = {}
    for predicate, bits in readers.items():
        if bits:
            together.setdefault(bits, []).append(predicate)
    combining = [s for s in distinct if s and all(readers[p] for p in s)]
    parts: dict[PredSet, tuple[PredSet, ...]] = {s: (s,) for s in distinct}
    if len(together) < len(combining):
        part_of = {p: part for part in map(pred_set, together.values()) for p in part}
        parts |= {s: tuple(dict.fromkeys(part_of[p] for p in s)) for s in combining}
    return parts


def _combining(sets: Sequence[PredSet]) -> dict[ORPred, int]:
    """For each predicate the conjunctions that it stands in, as bits, without those that have a predicate of their own.

    When such a conjunction is taken out, others may be left alone with a predicate that they had in common with it.
    """
    readers: dict[ORPred, int] = {}
    for place, predicates in enumerate(sets):
        for p in predicates:
            readers[p] = readers.get(p, 0) | 1 << place
    waiting = [bits for bits in readers.values() if bits.bit_count() == 1]
    while waiting:
        alone = waiting.pop()
        for p in sets[alone.bit_length() - 1]:
            if readers[p] & alone:
                readers[p] ^= alone
                if readers[p].bit_count() == 1:
                    waiting.append(readers[p])
    return readers
