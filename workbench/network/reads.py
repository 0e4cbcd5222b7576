"""What nodes read of roots, in their very original form."""

from __future__ import annotations

from workbench.network.nodes import (
    SIDES,
    Aggregate,
    Analytic,
    Join,
    Node,
    Read,
    Selection,
    SetOperation,
    Source,
    Window,
)
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import (
    OnSide,
    PredSet,
    pred_set,
    predicate_sources,
    rename_predicates,
)


@cached(100_000)
def side_of(predicates: PredSet, side: int) -> PredSet:
    """The part of a join's predicates that reads one side only, over that side's root.

    Predicates that read no column at all belong to both sides.
    """
    own = pred_set(p for p in predicates if predicate_sources(p) <= {side})
    return rename_predicates(own, OnSide(0))


def reads(node: Node) -> tuple[Read, ...]:
    """What a node reads, in its very original form; of a join what it requires of each side."""
    match node:
        case Source() | Selection():
            return ()
        case Join():
            return tuple(Read(node.roots[side], side_of(node.predicates, side)) for side in SIDES)
        case Aggregate() | Window() | Analytic():
            return (node.read,)
        case SetOperation():
            return tuple(branch.read for branch in node.branches)
