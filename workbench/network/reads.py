"""What nodes read of roots, in their very original form, and the functions that their operators call."""

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
from workbench.sql.algebra.expressions import Expression, calls
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import (
    OnSide,
    PredSet,
    pred_set,
    predicate_expressions,
    predicate_sources,
    rename_predicates,
)
from workbench.sql.windows.bounds import times


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


def functions_called(node: Node) -> frozenset[str]:
    """Names of all scalar functions in the node's operator set."""
    match node:
        case Source():
            expressions: list[Expression] = []
        case Selection():
            expressions = list(predicate_expressions(node.predicates))
        case Join():
            expressions = list(predicate_expressions(node.tested))
        case Aggregate():
            expressions = [*node.groups, *(a for s in node.statistics for a in s.arguments)]
        case SetOperation():
            expressions = [value for _, values in node.direct for value in values]
        case Window():
            expressions = list(times(node.within))
        case Analytic():
            expressions = [*node.over.expressions, *(a for f in node.functions for a in f.arguments)]
    return frozenset(name for expression in expressions for name in calls(expression))
