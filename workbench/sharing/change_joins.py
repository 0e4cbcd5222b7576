"""Changes of joins: new joins, and joins that test less or more when readers are added or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.network.network import depths
from workbench.network.nodes import ID_DIGITS, SIDES, Join, NodeId
from workbench.network.sql_text import predicates_sql
from workbench.sharing.draft import Draft, on_side
from workbench.sharing.join_parts import RootPair
from workbench.sql.algebra.expressions import digest
from workbench.sql.predicates.cnf import PredSet, conjunction, rename_predicates
from workbench.sql.predicates.implication import common_predicate, difference, implies

_LISTED = 5
"""Names of rerouted queries in a note."""


def new_join(draft: Draft, pair: RootPair) -> Join:
    """The join of a pair that tests just what is required of it."""
    owner = "" if draft.options.join_sharing else f" of {draft.owner}"
    anchor = digest(pair.required.identity, ID_DIGITS) + owner
    left, right = pair.roots
    leaves = [_leaves(draft, root) for root in pair.roots]
    join = Join(left, right, anchor, pair.required, left, right, pair.required, leaves[0], leaves[1])
    present = draft.nodes.get(join.id)
    if isinstance(present, Join):
        # Its first reader required just this; since then it may have come to test something else.
        return weakened(draft, present, common_predicate([present.predicates, pair.required]))
    draft.mark_dirty(join.id, left, right)
    draft.put(join)
    return join


def weakened(draft: Draft, join: Join, predicates: PredSet) -> Join:
    """A join that tests less from now on."""
    if predicates == join.predicates:
        return join
    weaker = replace(join, predicates=predicates)
    draft.mark_dirty(join.id, *join.roots)
    draft.retested.add(join.id)
    draft.put(weaker)
    if draft.options.reroute:
        _reroute(draft, weaker)
    lost = difference(join.predicates, predicates)
    tests = predicates_sql(lost, draft.wording.sides(join.roots)) if lost else "as much"
    draft.record.note(f"restructured: {join.id} no longer tests {tests}")
    return weaker


def remove_abandoned_joins(draft: Draft) -> None:
    """Remove the joins that lost all readers by rerouting, with their selections."""
    for id_ in draft.abandoned:
        if not draft.catalog.reads_of(id_):
            for selection in draft.catalog.selections_of(id_):
                draft.remove(selection)
            draft.remove(id_)
    draft.abandoned.clear()


def restore_guarantees(draft: Draft) -> None:
    """Let every dirty join test what its roots test.

    Its rows satisfy that now, and must go on to satisfy it when a root comes to test less.
    """
    for root in draft.dirty_parents_first():
        node = draft.nodes[root]
        if not isinstance(node, Join):
            continue
        guaranteed = conjunction(*(on_side(draft.guaranteed(node.roots[side]), side) for side in SIDES))
        if not implies(node.predicates, guaranteed):
            draft.put(replace(node, predicates=draft.stored(conjunction(node.predicates, guaranteed))))
            draft.retested.add(root)


def tighten_joins(draft: Draft) -> None:
    """Let joins that have lost readers test the weakest common predicate of those that remain (T11.1.2).

    Joins come before the roots they read: what a join requires of these becomes more with what it tests.
    """
    waiting = dict.fromkeys(draft.dirty_roots)
    depth = depths(draft.nodes, waiting)
    while waiting:
        root = max(waiting, key=depth.__getitem__)
        del waiting[root]
        node = draft.nodes[root]
        if not isinstance(node, Join):
            continue
        required = [rename_predicates(p, node.names.input) for p in draft.catalog.required_of(root)]
        predicates = draft.stored(common_predicate(required))
        if predicates != node.predicates:
            draft.put(replace(node, predicates=predicates))
            draft.retested.add(root)
            draft.mark_dirty(*node.roots)
            waiting.update(dict.fromkeys(node.roots))


def _reroute(draft: Draft, weaker: Join) -> None:
    """Let queries that read other joins read this one, if it now has all their rows (T Figure 6.8a).

    Operators keep their inputs: with another input they would be other nodes, and so would all nodes above them.
    """
    for id_ in draft.catalog.joins_subsumed(*weaker.roots, weaker.predicates):
        readers = [name for name, _ in draft.catalog.reads_of(id_, "query")]
        if id_ == weaker.id or not readers or not draft.monotone(id_):
            continue  # the retractions that were emitted are in the other join's changelog
        for name in readers:
            plan = draft.queries[name]
            draft.queries[name] = replace(plan, read=replace(plan.read, root=weaker.id), nodes=())
            draft.catalog.put_read(draft.queries[name])
        draft.mark_dirty(id_)
        draft.abandoned[id_] = None
        draft.record.note(f"rerouted: {_some(readers)} now read {weaker.id} instead of {id_}")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + ", …" * (len(names) > _LISTED)


def _leaves(draft: Draft, root: NodeId) -> int:
    node = draft.nodes[root]
    return node.leaves if isinstance(node, Join) else 1
