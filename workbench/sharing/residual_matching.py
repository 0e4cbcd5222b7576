"""Which nodes hold what is read: the way from what is wanted of a root to the nodes of its tree."""

from __future__ import annotations

from workbench.network.nodes import NodeId, Read, Selection
from workbench.optimizer.predicate_inference import follows
from workbench.sharing.draft import Draft
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import PredSet, conjunction
from workbench.sql.predicates.implication import difference, implies, normalized


def residual(wants: PredSet, covered: PredSet) -> PredSet:
    """What is still to be tested of rows that satisfy ``covered``."""
    return difference(essential(wants), covered)


@cached(50_000)
def essential(wants: PredSet) -> PredSet:
    """The same without bounds that follow by transitivity (T5.1).

    They have filtered the inputs of a join; above it they need not be tested, and would make conditions that queries
    share look different.
    """
    rest = normalized(wants)
    for p in rest:
        others = PredSet(tuple(other for other in rest if other != p))
        if follows(p, others):
            rest = others
    return rest


def selection_of(read: Read) -> Selection:
    """The selection that holds just what is read, below the root and testing everything."""
    return Selection(read, read.root, read.required)


def nodes_of(draft: Draft, read: Read) -> tuple[NodeId, ...]:
    """The nodes whose common rows are those read: one, or one for each condition."""
    covered = draft.cover(read.root)
    if implies(covered, read.required):
        return (read.root,)
    if (one := selection_of(read).id) in draft.nodes:
        return (one,)
    factors = residual(read.required, covered)
    return tuple(sorted(selection_of(Read(read.root, PredSet((p,)))).id for p in factors))


def node_of(draft: Draft, read: Read) -> NodeId:
    """The node to read from: the one that holds just this, or the smallest that holds it."""
    if implies(draft.cover(read.root), read.required):
        return read.root
    one = selection_of(read)
    return one.id if one.id in draft.nodes else best_parent(draft, one)


def holds(draft: Draft, id_: NodeId) -> PredSet:
    """What holds for all rows of a node, over its root's columns."""
    node = draft.nodes[id_]
    if isinstance(node, Selection):
        return conjunction(node.read.required, draft.cover(node.read.root))
    return draft.cover(id_)


def best_parent(draft: Draft, selection: Selection) -> NodeId:
    """The smallest selection that subsumes this one, or the root."""
    root, wants = selection.read.root, selection.read.required
    found = [
        s
        for id_ in draft.catalog.selections_subsuming(root, wants)
        if id_ != selection.id and not implies((s := draft.selection(id_)).read.required, wants)
    ]
    if not found:
        return root
    return min(found, key=lambda s: (draft.estimates.fraction(s.read), -len(s.read.required.or_preds), s.id)).id
