"""Joins of the network that can serve a pair of a query's inputs, and at what cost (T6.3).

A join serves when what is wanted implies what it tests: then the rows wanted are among its rows. A join that tests too
much can come to serve by testing less. It costs its readers a test more and nobody an answer: what every reader wants
of it says all that holds for the rows, so the difference is tested below it (restructuring, T Figure 6.8b; the cover
of disjoint ranges, T10.3.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.network.nodes import Join
from workbench.network.sql_text import SIDE_NAMES, or_pred_sql
from workbench.optimizer.cardinality import is_key
from workbench.sharing.decisions import NEAR_MISS, Candidate, Rule
from workbench.sharing.draft import Draft
from workbench.sharing.joins import Pair
from workbench.sql.predicates.cnf import ORPred, PredSet
from workbench.sql.predicates.implication import cover, difference, implies

GROWTH = 4.0
"""A common cover may look at so many times the pairs that the joins it replaces look at together."""

FEW_PAIRS = 2e6
"""So many pairs cost little: of 300,000 rows of history and a batch of 4,000 it is less than 60,000 a batch."""

RANKS = {Rule.EQUAL: 0, Rule.SUBSUMES: 0, Rule.WEAKER: 1, Rule.COVER: 2}
"""A join that serves as it is comes before one that must be changed."""


@dataclass(frozen=True)
class Choice:
    """A join that can serve a pair: by which rule, testing what, at what cost.

    ``cost``: rows of the join if something remains to be tested on them, else 0; ``rows``: rows the next join level
    would have to read (the *future cost* of T6.3); ``wanted``: rows of them that the query wants.
    """

    pair: Pair
    join: Join
    rule: Rule
    predicates: PredSet
    cost: float
    rows: float
    wanted: float
    anchor: float

    @property
    def lost(self) -> int:
        """How many of its tests the join loses."""
        return len(difference(self.join.predicates, self.predicates).or_preds)

    @property
    def order(self) -> tuple[float, ...]:
        """The better choice is smaller.

        What puts most inputs together comes first: it is computed anyway, and saves the most. Then what grows from the
        query's most selective input, so that queries that begin alike are joined alike.
        """
        return (-self.join.leaves, self.anchor, RANKS[self.rule], self.cost, self.rows, self.wanted, *self.pair.key)

    def told(self, chosen: bool, reason: str = "") -> Candidate:
        """The choice as an analyst reads it."""
        return Candidate(self.join.id, self.rule, self.cost, chosen, reason)


def choices(draft: Draft, pair: Pair, anchor: float) -> Iterator[Choice]:
    """The joins that can serve a pair; ``anchor``: see ``Parts.anchor``."""
    if not draft.options.join_sharing:
        return
    fitting = draft.catalog.joins_subsuming(*pair.roots, pair.required)
    for id_ in fitting:
        join = draft.join(id_)
        equal = implies(join.predicates, pair.required)
        yield _choice(draft, pair, join, Rule.EQUAL if equal else Rule.SUBSUMES, join.predicates, anchor)
    if fitting or not (draft.options.reroute or draft.options.restructure):
        return
    if draft.options.reroute:
        for id_ in draft.catalog.joins_subsumed(*pair.roots, pair.required):
            yield _choice(draft, pair, draft.join(id_), Rule.WEAKER, pair.required, anchor)
    if draft.options.restructure:
        for id_ in draft.catalog.joins_between(*pair.roots):
            join = draft.join(id_)
            common = cover([join.predicates, pair.required])
            if keeps_its_keys(common, join.predicates, pair.required) and _worth_it(draft, pair, join, common):
                yield _choice(draft, pair, join, Rule.COVER, common, anchor)


def near_misses(draft: Draft, pair: Pair) -> Iterator[Candidate]:
    """Joins between the same roots that cannot serve, each with the first test that is in the way."""
    if not draft.options.join_sharing:
        return
    for id_ in draft.catalog.joins_between(*pair.roots)[:3]:
        join = draft.join(id_)
        extra = difference(join.predicates, pair.required)
        if extra:
            test = or_pred_sql(extra.or_preds[0], SIDE_NAMES)
            yield Candidate(id_, NEAR_MISS, None, False, f"it tests {test}, which this query does not")


def keys(predicates: PredSet) -> frozenset[ORPred]:
    """The equalities between the two sides, by which rows find each other."""
    return frozenset(p for p in predicates if is_key(p))


def keeps_its_keys(common: PredSet, old: PredSet, new: PredSet) -> bool:
    """Whether a cover still finds its pairs by equalities, all those of one of the two joins it stands for."""
    left = keys(common)
    return bool(left) and left in (keys(old), keys(new))


def _worth_it(draft: Draft, pair: Pair, join: Join, common: PredSet) -> bool:
    """Whether one wider join costs about what two narrow ones do; where nothing is known it is taken to."""
    if not all(map(draft.estimates.known, pair.roots)):
        return True
    apart = sum(draft.estimates.examined(pair.roots, p) for p in (join.predicates, pair.required))
    return draft.estimates.examined(pair.roots, common) <= max(GROWTH * apart, FEW_PAIRS)


def _choice(draft: Draft, pair: Pair, join: Join, rule: Rule, predicates: PredSet, anchor: float) -> Choice:
    rows = draft.estimates.joined(pair.roots, predicates)
    rest = difference(pair.required, predicates)
    wanted = draft.estimates.joined(pair.roots, pair.required)
    return Choice(pair, join, rule, predicates, rows if rest else 0.0, rows, wanted, anchor)
