"""Set operators from set operators: what some of the branches give already is not computed again (T7.2).

A UNION of three is computed from a UNION of two of them, A - B - C from A - B, or from A and a UNION of B and C
(Algorithm 7.1). The columns must stand in corresponding positions in all branches (Algorithm 7.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.network.nodes import Branch, NodeId, Read, SetOperation, SetOperator
from workbench.sharing.draft import Draft
from workbench.sharing.matching import node_of
from workbench.sql.algebra.expressions import Expression

_TAKES_AWAY = (SetOperator.EXCEPT, SetOperator.EXCEPT_ALL, SetOperator.ANTIJOIN)

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
    SetOperator.ANTIJOIN: (SetOperator.UNION, SetOperator.UNION_ALL),
}
"""Set operators that may have put together the branches that are taken away."""

_WHOLE = (
    SetOperator.SEMIJOIN, SetOperator.RECURSION, SetOperator.RECURSION_ALL, SetOperator.RECURSION_LEAST,
    SetOperator.RECURSION_GREATEST,
)  # fmt: skip
"""Operators whose branches must stay together: those of a SEMIJOIN are one join mostly, those of a recursion its rules
join."""

_NARROWER = (SetOperator.UNION, SetOperator.UNION_ALL)
"""Operators that may give more columns than asked for: dropping columns commutes with putting rows together."""


@dataclass(frozen=True)
class _Fit:
    """A set operator that can serve some branches.

    Attributes:
        node: the set operator.
        rest: the branches that remain.
        positions: where the columns asked for stand in it, from 1.
        first: whether it takes the place of the first branch.
    """

    node: SetOperation
    rest: tuple[Branch, ...]
    positions: tuple[int, ...]
    first: bool


def choose_set_operator_inputs(draft: Draft) -> None:
    """Choose what every dirty set operator, and those over its branches, are computed from."""
    for root in draft.dirty_parents_first():
        if isinstance(draft.nodes[root], SetOperation):
            choose_inputs(draft, root)


def choose_inputs(draft: Draft, id_: NodeId) -> None:
    """Choose the inputs of a set operator; with rerouting also the inputs of others over the same branches."""
    node = draft.node(SetOperation, id_)
    related = _over_branches_of(draft, node) if draft.options.reroute else []
    for other in dict.fromkeys([id_, *related]):
        _choose(draft, draft.node(SetOperation, other))


def _over_branches_of(draft: Draft, node: SetOperation) -> list[NodeId]:
    return [id_ for read in _reads(node.branches) for id_ in draft.catalog.set_operations_reading(read)]


def _choose(draft: Draft, node: SetOperation) -> None:
    others = [draft.node(SetOperation, id_) for id_ in dict.fromkeys(_over_branches_of(draft, node)) if id_ != node.id]
    fits = [fit for other in others if draft.options.sharing and (fit := _fit(node, other)) is not None]
    if fits:
        best = min(fits, key=lambda fit: _cost(draft, fit))
        shared = (best.node.id, tuple(best.node.columns[c - 1] for c in best.positions))
        rest = direct_form(draft, best.rest)
        direct = (shared, *rest) if best.first else (rest[0], shared, *rest[1:])
        chosen = replace(node, direct=direct, base=best.node.id)
    elif node.base is not None:
        chosen = replace(node, direct=direct_form(draft, node.branches), base=None)
    else:
        return
    if chosen != node:
        draft.put(chosen)
        draft.mark_dirty(node.id, *(branch.read.root for branch in node.branches))


def direct_form(draft: Draft, branches: Iterable[Branch]) -> tuple[tuple[NodeId, tuple[Expression, ...]], ...]:
    """For each branch the node that has its rows now, with the branch's values."""
    branches = tuple(branches)
    nodes = {read: node_of(draft, read) for read in _reads(branches)}
    return tuple((nodes[branch.read], branch.values) for branch in branches)


def _reads(branches: Iterable[Branch]) -> dict[Read, None]:
    """What branches read, each once: the rows of VALUES are a hundred branches of one."""
    return dict.fromkeys(branch.read for branch in branches)


def _cost(draft: Draft, fit: _Fit) -> tuple[bool, float, str]:
    """The better is smaller: for EXCEPT and ANTIJOIN a small one, else what puts most together (T7.2.3)."""
    rows = draft.estimates.rows(Read(fit.node.id))
    takes_away = fit.node.operator in _TAKES_AWAY
    return (not takes_away, rows if takes_away else -rows, fit.node.id)


@dataclass(frozen=True)
class _Matched:
    """Some branches found among others: those that are left over, and the positions of the columns."""

    rest: tuple[Branch, ...]
    positions: tuple[int, ...]


def _fit(node: SetOperation, other: SetOperation) -> _Fit | None:
    """Whether ``node`` can be computed from ``other`` and the branches it leaves over (Algorithms 7.1 and 7.2)."""
    if node.operator in _WHOLE:
        return None
    if node.operator not in _TAKES_AWAY:
        most = len(node.branches) - (other.operator is node.operator)
        if other.operator not in _INSIDE[node.operator] or len(other.branches) > most:
            return None
        matched = _matched(node.branches, other.branches, fewer_columns=node.operator in _NARROWER)
        return None if matched is None else _Fit(other, matched.rest, matched.positions, first=True)
    first, *rest = node.branches
    if other.operator is node.operator:
        if len(other.branches) >= len(node.branches):
            return None
        head = _positions(first, other.branches[0])
        matched = _matched(rest, other.branches[1:], fewer_columns=False)
        if head is None or matched is None or matched.positions != head:
            return None
        all_columns = len(head) == len(other.branches[0].values)
        return _Fit(other, matched.rest, head, first=True) if all_columns else None
    if other.operator not in _SUBTRAHEND[node.operator] or len(other.branches) < 2:
        return None
    matched = _matched(rest, other.branches, fewer_columns=True)
    return None if matched is None else _Fit(other, (first, *matched.rest), matched.positions, first=False)


def _matched(branches: Iterable[Branch], others: Sequence[Branch], fewer_columns: bool) -> _Matched | None:
    """Each of the others among the branches, all with the columns in the same positions.

    Args:
        branches: what a set operator puts together or takes away.
        others: the branches of another.
        fewer_columns: whether some of the others' columns may be missing in the branches.
    """
    left = list(branches)
    positions: tuple[int, ...] | None = None
    for other in others:
        for branch in left:
            own = _positions(branch, other)
            if own is not None and positions in (None, own):
                positions = own
                left.remove(branch)
                break
        else:
            return None
    if positions is None:
        return None
    all_columns = Counter(positions) == Counter(range(1, len(others[0].values) + 1))
    return _Matched(tuple(left), positions) if fewer_columns or all_columns else None


def _positions(branch: Branch, other: Branch) -> tuple[int, ...] | None:
    """The positions of a branch's columns in another branch of the same rows."""
    if branch.read != other.read:
        return None
    where: dict[Expression, int] = {value: i for i, value in reversed(list(enumerate(other.values, start=1)))}
    if not all(value in where for value in branch.values):
        return None
    return tuple(where[value] for value in branch.values)
