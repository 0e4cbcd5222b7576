"""Set operators from set operators: what some of the branches give already is not computed again (T7.2).

A UNION of three is computed from a UNION of two of them, A - B - C from A - B, or from A and a UNION of B and C
(Algorithm 7.1). The columns must stand in corresponding positions in all branches (Algorithm 7.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.network.nodes import Branch, NodeId, Read, SetOperation, SetOperator
from workbench.sharing.draft import Draft
from workbench.sharing.residual_matching import node_of
from workbench.sql.algebra.expressions import Column, Expression

_EXCEPT = (SetOperator.EXCEPT, SetOperator.EXCEPT_ALL)

_INSIDE = {
    SetOperator.UNION: (SetOperator.UNION, SetOperator.UNION_ALL),
    SetOperator.UNION_ALL: (SetOperator.UNION_ALL,),
    SetOperator.INTERSECT: (SetOperator.INTERSECT,),
    SetOperator.INTERSECT_ALL: (SetOperator.INTERSECT_ALL,),
}
"""Which operators over some of the branches an operator that puts branches together can be computed from."""

_SUBTRAHEND = {
    SetOperator.EXCEPT: (SetOperator.UNION, SetOperator.UNION_ALL),
    SetOperator.EXCEPT_ALL: (SetOperator.UNION_ALL,),
}
"""What the branches that are taken away may have been put together by."""

_NARROWER = (SetOperator.UNION, SetOperator.UNION_ALL)
"""Operators that may give more columns than asked for: dropping columns commutes with putting rows together."""


@dataclass(frozen=True)
class _Fit:
    """A set operator that stands for some branches: which remain, and where the columns asked for stand in it."""

    node: SetOperation
    rest: tuple[Branch, ...]
    columns: tuple[int, ...]
    first: bool
    """Whether it takes the place of the first branch."""


def arrange_set_operators(draft: Draft, root: NodeId) -> None:
    """Choose for a set operator, and for those over its branches, what it is computed from."""
    node = draft.nodes.get(root)
    if not isinstance(node, SetOperation):
        return
    related = [root]
    if draft.options.reroute:
        related += [id_ for b in node.branches for id_ in draft.catalog.set_operations_reading(b.read)]
    for id_ in dict.fromkeys(related):
        other = draft.nodes[id_]
        if isinstance(other, SetOperation):
            _choose(draft, other)


def _choose(draft: Draft, node: SetOperation) -> None:
    ids = dict.fromkeys(id_ for b in node.branches for id_ in draft.catalog.set_operations_reading(b.read))
    others = [o for id_ in ids if id_ != node.id and isinstance(o := draft.nodes[id_], SetOperation)]
    fits = [fit for other in others if draft.options.sharing and (fit := _fit(node, other)) is not None]
    if not fits:
        if node.base is not None:
            direct = tuple((node_of(draft, b.read), b.values) for b in node.branches)
            draft.put(replace(node, direct=direct, base=None))
            draft.touch(node.id, *(b.read.root for b in node.branches))
        return
    best = min(fits, key=lambda fit: _cost(draft, node, fit))
    types = [value.type for value in best.node.branches[0].values]
    shared = (best.node.id, tuple(Column(f"c{c}", types[c - 1]) for c in best.columns))
    rest = tuple((node_of(draft, branch.read), branch.values) for branch in best.rest)
    direct = (shared, *rest) if best.first else (rest[0], shared, *rest[1:])
    if (node.direct, node.base) != (direct, best.node.id):
        draft.put(replace(node, direct=direct, base=best.node.id))
        draft.touch(node.id, *(b.read.root for b in node.branches))


def _cost(draft: Draft, node: SetOperation, fit: _Fit) -> tuple[bool, float, str]:
    """The better is smaller: for EXCEPT a small EXCEPT, else what puts most rows together (T7.2.3)."""
    rows = draft.estimates.rows(Read(fit.node.id))
    takes_away = fit.node.operator in _EXCEPT
    return (not takes_away, rows if takes_away else -rows, fit.node.id)


def _fit(node: SetOperation, other: SetOperation) -> _Fit | None:
    """Whether ``node`` can be computed from ``other`` and the branches it leaves over (Algorithms 7.1 and 7.2)."""
    if node.operator not in _EXCEPT:
        as_many = len(node.branches) - (other.operator is node.operator)
        if other.operator not in _INSIDE[node.operator] or len(other.branches) > as_many:
            return None
        found = _matched(node.branches, other.branches, fewer=node.operator in _NARROWER)
        return None if found is None else _Fit(other, *found, first=True)
    first, *rest = node.branches
    if other.operator is node.operator:
        if len(other.branches) >= len(node.branches):
            return None
        head = _positions(first, other.branches[0])
        found = _matched(rest, other.branches[1:], fewer=False)
        if head is None or found is None or found[1] != head or len(head) != len(other.branches[0].values):
            return None
        return _Fit(other, found[0], head, first=True)
    if other.operator not in _SUBTRAHEND[node.operator] or len(other.branches) < 2:
        return None
    found = _matched(rest, other.branches, fewer=True)
    return None if found is None else _Fit(other, (first, *found[0]), found[1], first=False)


def _matched(
    branches: Sequence[Branch], others: Sequence[Branch], fewer: bool
) -> tuple[tuple[Branch, ...], tuple[int, ...]] | None:
    """The branches that are left when each of the others has been found among them, and the columns' positions."""
    left = list(branches)
    positions: tuple[int, ...] | None = None
    for other in others:
        for branch in left:
            found = _positions(branch, other)
            if found is not None and positions in (None, found):
                positions = found
                left.remove(branch)
                break
        else:
            return None
    if positions is None or (not fewer and Counter(positions) != Counter(range(1, len(others[0].values) + 1))):
        return None
    return tuple(left), positions


def _positions(branch: Branch, other: Branch) -> tuple[int, ...] | None:
    """Where each of a branch's columns stands in another branch of the same rows."""
    if branch.read != other.read:
        return None
    where: dict[Expression, int] = {value: i for i, value in reversed(list(enumerate(other.values, start=1)))}
    if not all(value in where for value in branch.values):
        return None
    return tuple(where[value] for value in branch.values)
