"""Joins of the network that can serve a pair of a query's inputs, and at what cost (T6.3).

Given a pair and what is required of its join, and a join of the same roots: the join serves when the required
predicates imply what it tests, since then the required rows are among its rows; the residual predicates are tested
above it. A join that tests too much can come to serve by testing less. It costs its readers a test more and no query an
answer: each reader requires all that holds for its rows, so the difference is tested below it (restructuring, T Figure
6.8b; the cover of disjoint ranges, T10.3.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from workbench.network.nodes import SIDES, Aggregate, Join, Read
from workbench.network.sql_text import or_pred_sql
from workbench.optimizer.cardinality import is_key
from workbench.sharing.decisions import NEAR_MISS, Candidate, Rule
from workbench.sharing.draft import Draft
from workbench.sharing.join_parts import RootPair
from workbench.sql.predicates.cnf import TRUE, ORPred, PredSet, predicate_columns
from workbench.sql.predicates.implication import common_predicate, difference, implies, implies_or_pred

_GROWTH = 4.0
"""A common cover may look at this factor times the pairs that the joins it replaces look at together."""

_ROWS_OF_A_GROUP = 8.0
"""Up to how many rows that a group is joined with all may come and go whenever its values change."""

_FEW_PAIRS = 2e6
"""Pairs that cost little: of 300,000 rows of history and a batch of 4,000 it is less than 60,000 a batch."""


@dataclass(frozen=True)
class Exact:
    """The join has just the rows that are required."""

    join: Join
    rule: ClassVar[Rule] = Rule.EQUAL
    residual: ClassVar[PredSet] = TRUE


@dataclass(frozen=True)
class Subsumes:
    """The join has the required rows among others; the residual predicates are still to be tested."""

    join: Join
    residual: PredSet
    rule: ClassVar[Rule] = Rule.SUBSUMES


@dataclass(frozen=True)
class Weakens:
    """The join serves if it is weakened to test only ``predicates``, by rule WEAKER or COVER."""

    join: Join
    predicates: PredSet
    residual: PredSet
    rule: Rule


Match = Exact | Subsumes | Weakens
"""How a join of the network can serve a pair; a pair that no join can serve has no match."""


@dataclass(frozen=True)
class JoinChoice:
    """A match of a pair, with the values by which it is ranked.

    Attributes:
        pair: what is to be joined.
        match: the join that can serve, and how.
        cost: rows of the join if something remains to be tested on them, else 0.
        rows: rows the next join level would have to read (the *future cost* of T6.3).
        required: rows of them that the query requires.
        anchor: see ``JoinParts.anchor``.
    """

    pair: RootPair
    match: Match
    cost: float
    rows: float
    required: float
    anchor: float

    @property
    def change(self) -> int:
        """How much the join must change: one that serves without a change comes before one that must be weakened."""
        return {Rule.WEAKER: 1, Rule.COVER: 2}.get(self.match.rule, 0)

    @property
    def tests_lost(self) -> int:
        """The number of tests that the join loses."""
        if not isinstance(self.match, Weakens):
            return 0
        return len(difference(self.match.join.predicates, self.match.predicates).or_preds)

    @property
    def order(self) -> tuple[float, ...]:
        """The better choice is smaller.

        The join of most inputs comes first: it is computed anyway, and saves the most. Then the join that grows from
        the query's most selective input, so that queries that begin alike are joined alike.
        """
        leaves, key = self.match.join.leaves, self.pair.key
        return (-leaves, self.anchor, self.change, self.cost, self.rows, self.required, *key)

    def as_candidate(self, chosen: bool, reason: str = "") -> Candidate:
        """The choice as data for an explanation."""
        return Candidate(self.match.join.id, self.match.rule, self.cost, chosen, reason)


def choices(draft: Draft, pair: RootPair, anchor: float) -> Iterator[JoinChoice]:
    """The joins that can serve a pair, with their costs; ``anchor``: see ``JoinParts.anchor``."""
    if draft.options.join_sharing:
        for match in _matches(draft, pair):
            tested = match.predicates if isinstance(match, Weakens) else match.join.predicates
            rows = draft.estimates.joined(pair.roots, tested)
            required = draft.estimates.joined(pair.roots, pair.required)
            yield JoinChoice(pair, match, rows if match.residual else 0.0, rows, required, anchor)


def near_misses(draft: Draft, pair: RootPair) -> Iterator[Candidate]:
    """Joins between the same roots that cannot serve, each with the first test that is in the way."""
    if not draft.options.join_sharing:
        return
    for id_ in draft.catalog.joins_between(*pair.roots)[:3]:
        join = draft.node(Join, id_)
        extra = difference(join.predicates, pair.required)
        if extra:
            names = draft.wording.sides(join.roots)
            test = or_pred_sql(extra.or_preds[0], names)
            mine = [p for p in pair.required if predicate_columns(p) == predicate_columns(extra.or_preds[0])]
            instead = f"; this query tests {or_pred_sql(mine[0], names)} instead" if mine else ""
            reason = f"it tests {test}, which this query does not{instead}"
            yield Candidate(id_, NEAR_MISS, None, False, reason)


def keeps_keys(old: PredSet, new: PredSet) -> bool:
    """Whether a cover of two joins still finds its pairs by equalities, all those of one of the two."""
    both = ((_keys(old), new), (_keys(new), old))
    return any(keys and all(implies_or_pred(other, key) for key in keys) for keys, other in both)


def _matches(draft: Draft, pair: RootPair) -> Iterator[Match]:
    """The joins that serve without a change; if there are none, those that serve when they test less."""
    subsuming = draft.catalog.joins_subsuming(*pair.roots, pair.required)
    for id_ in subsuming:
        join = draft.node(Join, id_)
        exact = implies(join.predicates, pair.required)
        yield Exact(join) if exact else Subsumes(join, difference(pair.required, join.predicates))
    if subsuming:
        return
    if draft.options.reroute:
        for id_ in draft.catalog.joins_subsumed(*pair.roots, pair.required):
            if _keeps_bands(draft, pair, join := draft.node(Join, id_), pair.required):
                yield _weakens(join, pair, pair.required, Rule.WEAKER)
    if draft.options.restructure:
        for id_ in draft.catalog.joins_between(*pair.roots):
            join = draft.node(Join, id_)
            if not keeps_keys(join.predicates, pair.required):
                continue
            common = common_predicate([join.predicates, pair.required])
            if _keeps_bands(draft, pair, join, common) and _worth_it(draft, pair, join, common):
                yield _weakens(join, pair, common, Rule.COVER)


def _weakens(join: Join, pair: RootPair, predicates: PredSet, rule: Rule) -> Weakens:
    return Weakens(join, predicates, difference(pair.required, predicates), rule)


def _keys(predicates: PredSet) -> frozenset[ORPred]:
    """The equalities between the two sides, by which rows find each other."""
    return frozenset(p for p in predicates if is_key(p))


def _keeps_bands(draft: Draft, pair: RootPair, join: Join, tested: PredSet) -> bool:
    """Whether what is tested has each comparison with a value of groups, where a group is joined with many rows.

    With it a batch that changes the value brings the rows between the old one and the new one, and without it all rows
    of the group. Without statistics groups are taken to have few.
    """
    changing = [
        p
        for p in (*join.predicates, *pair.required)
        if not is_key(p) and _compares_value_of_groups(draft, pair, p) and not implies_or_pred(tested, p)
    ]
    return not changing or not all(map(draft.estimates.known, pair.roots)) or _few_rows_of_a_group(draft, pair, tested)


def _compares_value_of_groups(draft: Draft, pair: RootPair, predicate: ORPred) -> bool:
    read = predicate_columns(predicate)
    groups = {side: draft.nodes[pair.roots[side]] for side in SIDES}
    computed = [c for c in read if isinstance(node := groups[c.source], Aggregate) and node.carried(c.name) is None]
    return bool(computed) and len({column.source for column in read}) > 1


def _few_rows_of_a_group(draft: Draft, pair: RootPair, tested: PredSet) -> bool:
    groups = [root for root in pair.roots if isinstance(draft.nodes[root], Aggregate)]
    number = min(draft.estimates.rows(Read(root)) for root in groups)
    return draft.estimates.examined(pair.roots, tested) <= _ROWS_OF_A_GROUP * number


def _worth_it(draft: Draft, pair: RootPair, join: Join, common: PredSet) -> bool:
    """Whether one wider join costs about what two narrow ones do; without statistics it is taken to."""
    if not all(map(draft.estimates.known, pair.roots)):
        return True
    apart = sum(draft.estimates.examined(pair.roots, p) for p in (join.predicates, pair.required))
    return draft.estimates.examined(pair.roots, common) <= max(_GROWTH * apart, _FEW_PAIRS)
