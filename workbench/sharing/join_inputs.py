"""Join the inputs of a block, pair by pair: sharing-selection and match-plan (T6.3).

*Sharing-selection* looks for joins of the network that serve any pair of the inputs, takes the cheapest, and leaves to
the optimizer only what nothing serves. *Match-plan* orders the joins first, as if the query were alone, and then takes
from the network what happens to be in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.network.nodes import Join, NodeId
from workbench.network.sql_text import predicates_sql
from workbench.optimizer.join_order import JoinGraph, JoinLeaf, JoinTree, best_order, join_estimator, written_order
from workbench.sharing.change_joins import new_join, weakened
from workbench.sharing.decisions import Candidate, Rule
from workbench.sharing.draft import Draft
from workbench.sharing.join_candidates import JoinChoice, Weakens, choices, near_misses
from workbench.sharing.join_parts import JoinInput, JoinParts, RootPair
from workbench.sql.predicates.cnf import PredSet, map_predicates, pred_set, predicate_columns, predicate_sources

SLACK = 8.0
"""A join that grows from the most selective input may have this factor times the rows of the cheapest."""


@dataclass(frozen=True)
class _Step:
    """The next join: of a pair, in the join of ``choice`` or in a new one."""

    pair: RootPair
    choice: JoinChoice | None
    considered: tuple[Candidate, ...]


def join_inputs(draft: Draft, inputs: Sequence[JoinInput], where: PredSet, stated: PredSet) -> JoinParts:
    """All inputs of a block as one part, in joins that are there or new ones.

    Args:
        draft: the network, which gets the joins.
        inputs: in the order of FROM.
        where: the conditions of the block, with what is inferred from them.
        stated: the conditions as the text has them.
    """
    stated_rows = [draft.estimates.rows(item.read) for item in _restricted(draft, inputs, stated)]
    between = [p for p in where if len(predicate_sources(p)) > 1]
    parts = JoinParts.of(_restricted(draft, inputs, where), between, stated_rows)
    match_plan = draft.options.strategy == "match-plan" and len(inputs) > 1
    plan = _planned(draft, parts) if match_plan else None
    while len(parts.parts) > 1:
        step = _next_step(draft, parts, plan)
        parts = parts.joined(draft, step.pair, _join_of(draft, step))
    return parts


def _restricted(draft: Draft, inputs: Sequence[JoinInput], where: PredSet) -> list[JoinInput]:
    """The inputs with all conditions that read one alone; a condition that reads no input goes to the first."""
    alone = [(next(iter(read), 0), p) for p in where if len(read := predicate_sources(p)) <= 1]
    return [item.restricted(draft, [p for i, p in alone if i == place]) for place, item in enumerate(inputs)]


def _join_of(draft: Draft, step: _Step) -> Join:
    """The join of a step: one that is there, weakened where it tests too much, or a new one."""
    if step.choice is None:
        join = new_join(draft, step.pair)
        draft.record.add(join.id, Rule.NEW, candidates=step.considered)
        return join
    match = step.choice.match
    join = weakened(draft, match.join, match.predicates) if isinstance(match, Weakens) else match.join
    tests = predicates_sql(match.residual, draft.wording.sides(join.roots))
    reason = f"still to be tested: {tests}" if match.residual else ""
    draft.record.add(join.id, match.rule, reason, step.considered)
    return join


def _next_step(draft: Draft, parts: JoinParts, plan: JoinTree | None) -> _Step:
    """The next join. ``plan``: the order that was fixed beforehand (match-plan), or ``None`` (sharing-selection)."""
    if plan is not None:
        return _best_step(draft, parts, [_first_pair(plan, parts)])
    step = _best_step(draft, parts, parts.connected())
    return step if step.choice is not None else _Step(_cheapest(draft, parts), None, step.considered)


def _best_step(draft: Draft, parts: JoinParts, pairs: Iterable[tuple[int, int]]) -> _Step:
    """The best join of the network for any of these pairs; the first pair without one when there is none."""
    oriented = [pair for a, b in pairs for pair in parts.oriented(draft, a, b)]
    ranked = sorted(
        _one_orientation(choice for pair in oriented for choice in choices(draft, pair, parts.anchor(*pair.key))),
        key=lambda choice: choice.order,
    )
    if not ranked:
        misses = {miss.node: miss for pair in reversed(oriented) for miss in near_misses(draft, pair)}
        return _Step(oriented[0], None, tuple(misses.values()))
    best, *others = ranked
    considered = {best.match.join.id: best.as_candidate(True)}
    for other in others:
        considered.setdefault(other.match.join.id, other.as_candidate(False, _why_not(best, other)))
    return _Step(best.pair, best, tuple(considered.values()))


def _one_orientation(choices: Iterable[JoinChoice]) -> Iterable[JoinChoice]:
    """Of the two orientations of a self-join, the one in which the present join keeps most of its tests.

    Estimates do not tell ``later by less than 40 days`` from ``earlier, or later by less than 40 days``.
    """
    best: dict[tuple[NodeId, tuple[int, int]], JoinChoice] = {}
    for choice in choices:
        key = choice.match.join.id, choice.pair.key
        if key not in best or (choice.change, choice.tests_lost) < (best[key].change, best[key].tests_lost):
            best[key] = choice
    return best.values()


def _why_not(best: JoinChoice, other: JoinChoice) -> str:
    join = best.match.join
    if other.match.join.leaves != join.leaves:
        return f"{join.id} joins more inputs"
    if other.change != best.change:
        return f"{join.id} serves with less change"
    if other.cost != best.cost:
        return f"{join.id} leaves fewer rows to test"
    return f"{join.id} leaves fewer rows to join" if other.rows != best.rows else f"{join.id} is as good"


def _cheapest(draft: Draft, parts: JoinParts) -> RootPair:
    """The first pair of the cheapest order; or one that grows from the most selective input, if that costs little more.

    A join that begins where other queries begin is worth more to them than the last estimated row.
    """

    def rows(pair: RootPair) -> float:
        return draft.estimates.joined(pair.roots, pair.required)

    best = parts.oriented(draft, *_first_pair(_planned(draft, parts), parts))[0]
    if not draft.options.join_order:
        return best
    firsts = [parts.oriented(draft, a, b)[0] for a, b in parts.connected()]
    grown = min(firsts, key=lambda pair: (parts.anchor(*pair.key), rows(pair), pair.key))
    return grown if rows(grown) <= SLACK * max(rows(best), 1000.0) else best


def _planned(draft: Draft, parts: JoinParts) -> JoinTree:
    """The cheapest order to join the parts in, its leaves being inputs; that of FROM where ordering is off.

    A part goes by its first input, and its columns are those of its root: so each has one name and type there.
    """
    reads = {min(part.members): part.read for part in parts.parts}
    firsts = {i: min(part.members) for part in parts.parts for i in part.members}
    waiting = map_predicates(pred_set(parts.waiting), lambda c: parts.over_part(c, firsts[c.source]))
    roots = {first: read.root for first, read in reads.items()}
    draft.columns.check(roots, predicate_columns(waiting))
    waiting = draft.estimates.without_equal_columns(reads, waiting)
    graph = JoinGraph({first: draft.estimates.rows(read) for first, read in reads.items()}, waiting)
    if not draft.options.join_order:
        return written_order(graph)
    corrections = {frozenset(min(parts.parts[i].members) for i in tie): c for tie, c in _corrections(draft, parts)}
    return best_order(graph, join_estimator(graph, draft.estimates.of_inputs(roots), corrections))


def _corrections(draft: Draft, parts: JoinParts) -> Iterator[tuple[tuple[int, int], float]]:
    """For pairs of parts that predicates tie together how wrong their estimates were seen to be."""
    if draft.estimates.observed.joins:
        for a, b in parts.connected():
            for pair in parts.oriented(draft, a, b):
                correction = draft.estimates.correction(pair.roots, pair.required)
                if correction != 1.0:
                    yield (a, b), correction
                    break


def _first_pair(tree: JoinTree, parts: JoinParts) -> tuple[int, int]:
    """The first pair of a planned order that is not joined yet, as positions of parts."""

    def part(node: JoinTree) -> int | None:
        """The part that all leaves of a subtree are in, if they are in one."""
        if isinstance(node, JoinLeaf):
            return parts.part_of(node.position)
        left, right = part(node.left), part(node.right)
        return left if left is not None and left == right else None

    def search(node: JoinTree) -> tuple[int, int] | None:
        if isinstance(node, JoinLeaf):
            return None
        left, right = part(node.left), part(node.right)
        if left is not None and right is not None:
            return None if left == right else (left, right)
        return search(node.left) or search(node.right)

    pair = search(tree)
    assert pair is not None
    return pair
