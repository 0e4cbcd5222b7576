"""Which two inputs to join next, and whether in a join that is there: sharing-selection and match-plan (T6.3).

*Sharing-selection* looks for joins of the network that serve any pair of the inputs, takes the cheapest, and leaves to
the optimizer only what nothing serves. *Match-plan* orders the joins first, as if the query were alone, and then takes
from the network what happens to be in that order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.network.nodes import NodeId
from workbench.optimizer.join_order import JoinGraph, JoinTree, Leaf, best_order, cardinality, written_order
from workbench.sharing.decisions import Candidate
from workbench.sharing.draft import Draft
from workbench.sharing.join_candidates import RANKS, Choice, choices, near_misses
from workbench.sharing.joins import Pair, Parts
from workbench.sql.predicates.cnf import map_predicates, pred_set, predicate_columns

SLACK = 8.0
"""A join that grows from the most selective input may have so many times the rows of the cheapest."""


@dataclass(frozen=True)
class Step:
    """The next join: of a pair, in the join of ``choice`` or in a new one."""

    pair: Pair
    choice: Choice | None
    considered: tuple[Candidate, ...]


def next_step(draft: Draft, parts: Parts, plan: JoinTree | None) -> Step:
    """The next join. ``plan``: the order that was fixed beforehand (match-plan), or ``None`` (sharing-selection)."""
    if plan is not None:
        return _of_pair(draft, parts, [_first_pair(plan, parts)])
    step = _of_pair(draft, parts, parts.connected())
    if step.choice is not None:
        return step
    return Step(_cheapest(draft, parts), None, step.considered)


def _cheapest(draft: Draft, parts: Parts) -> Pair:
    """The first pair of the cheapest order; or one that grows from the most selective input, if that costs little more.

    A join that begins where other queries begin is worth more to them than the last estimated row.
    """
    best = parts.oriented(draft, *_first_pair(planned(draft, parts), parts))[0]
    if not draft.options.join_order:
        return best
    firsts = [parts.oriented(draft, a, b)[0] for a, b in parts.connected()]
    grown = min(firsts, key=lambda pair: (parts.anchor(*pair.key), _rows(draft, pair), pair.key))
    return grown if _rows(draft, grown) <= SLACK * max(_rows(draft, best), 1000.0) else best


def _rows(draft: Draft, pair: Pair) -> float:
    return draft.estimates.joined(pair.roots, pair.required)


def planned(draft: Draft, parts: Parts) -> JoinTree:
    """The cheapest order to join the parts in, its leaves being inputs; that of FROM where ordering is off.

    A part goes by its first input, and its columns are those of its root: so each has one name and type there.
    """
    reads = {min(part.members): part.read for part in parts.parts}
    firsts = {i: min(part.members) for part in parts.parts for i in part.members}
    waiting = map_predicates(pred_set(parts.waiting), lambda c: parts.over_part(c, firsts[c.source]))
    draft.columns.check({first: read.root for first, read in reads.items()}, predicate_columns(waiting))
    graph = JoinGraph({first: draft.estimates.rows(read) for first, read in reads.items()}, waiting)
    if not draft.options.join_order:
        return written_order(graph)
    return best_order(graph, cardinality(graph, lambda c: draft.estimates.column(reads[c.source].root, c.name)))


def _of_pair(draft: Draft, parts: Parts, pairs: Iterable[tuple[int, int]]) -> Step:
    """The best join of the network for any of these pairs; the first pair without one when there is none."""
    oriented = [pair for a, b in pairs for pair in parts.oriented(draft, a, b)]
    found = sorted(
        _one_way_round(choice for pair in oriented for choice in choices(draft, pair, parts.anchor(*pair.key))),
        key=lambda choice: choice.order,
    )
    if not found:
        misses = {miss.node: miss for pair in reversed(oriented) for miss in near_misses(draft, pair)}
        return Step(oriented[0], None, tuple(misses.values()))
    best, *others = found
    seen = {best.join.id}
    told = [best.told(True)]
    for other in others:
        if other.join.id not in seen:
            seen.add(other.join.id)
            told.append(other.told(False, _why_not(best, other)))
    return Step(best.pair, best, tuple(told))


def _one_way_round(found: Iterable[Choice]) -> Iterable[Choice]:
    """Of the two ways to turn a self-join the one in which the join that is there keeps most of what it tests.

    Estimates do not tell ``later by less than 40 days`` from ``earlier, or later by less than 40 days``.
    """
    best: dict[tuple[NodeId, tuple[int, int]], Choice] = {}
    for choice in found:
        key = choice.join.id, choice.pair.key
        if key not in best or (RANKS[choice.rule], choice.lost) < (RANKS[best[key].rule], best[key].lost):
            best[key] = choice
    return best.values()


def _why_not(best: Choice, other: Choice) -> str:
    if other.join.leaves != best.join.leaves:
        return f"{best.join.id} joins more inputs"
    if RANKS[other.rule] != RANKS[best.rule]:
        return f"{best.join.id} serves with less change"
    if other.cost != best.cost:
        return f"{best.join.id} leaves fewer rows to test"
    return f"{best.join.id} leaves fewer rows to join" if other.rows != best.rows else f"{best.join.id} is as good"


def _first_pair(tree: JoinTree, parts: Parts) -> tuple[int, int]:
    """The first pair of a planned order that is not joined yet, as positions of parts."""

    def part(node: JoinTree) -> int | None:
        """The part that all leaves of a subtree are in, if they are in one."""
        if isinstance(node, Leaf):
            return parts.part_of(node.position)
        left, right = part(node.left), part(node.right)
        return left if left is not None and left == right else None

    def search(node: JoinTree) -> tuple[int, int] | None:
        if isinstance(node, Leaf):
            return None
        left, right = part(node.left), part(node.right)
        if left is not None and right is not None:
            return None if left == right else (left, right)
        return search(node.left) or search(node.right)

    found = search(tree)
    assert found is not None
    return found
