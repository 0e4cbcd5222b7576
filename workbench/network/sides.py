"""The sides of a join, and what of its predicates reads one of them alone."""

from __future__ import annotations

from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import OnSide, PredSet, pred_set, predicate_sources, rename_predicates

SIDES = (0, 1)
"""Left and right, the ``source`` of a column."""


@cached(100_000)
def side_of(predicates: PredSet, side: int) -> PredSet:
    """The part of a join's predicates that reads one side only, over that side's root.

    Predicates that read no column at all belong to both sides.
    """
    own = pred_set(p for p in predicates if predicate_sources(p) <= {side})
    return rename_predicates(own, OnSide(0))
