"""Residual matching of reads: which nodes of a root's tree hold the rows that are read, and what remains to be tested.

Given a read (a root and required predicates) and the tree of the root: the root itself matches when it guarantees all
that is required, a selection when it tests just that; else a selection that subsumes the read holds its rows among
others, and the residual predicates are left over.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.network.nodes import NodeId, Read, Selection
from workbench.optimizer.predicate_inference import follows
from workbench.sharing.draft import Draft
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.predicates.cnf import FALSE, PredSet, conjunction
from workbench.sql.predicates.implication import difference, implies, normalized


def residual(required: PredSet, guaranteed: PredSet) -> PredSet:
    """The residual predicates: those still to be tested of rows that satisfy ``guaranteed``."""
    return difference(essential(required), guaranteed)


@cached(50_000)
def essential(required: PredSet) -> PredSet:
    """The same without bounds that follow by transitivity (T5.1).

    They have filtered the inputs of a join; above it they need not be tested, and would make conditions that queries
    share look different.
    """
    rest = normalized(required)
    for p in rest:
        others = PredSet(tuple(other for other in rest if other != p))
        if follows(p, others):
            rest = others
    return rest


@cached(50_000)
def selection_of(read: Read) -> Selection:
    """The selection with exactly the rows of a read, directly below the root."""
    return Selection(read, read.root, read.required)


def exact_node(draft: Draft, read: Read) -> NodeId | None:
    """The node that holds just the rows that are read, if there is one."""
    if implies(draft.guaranteed(read.root), read.required):
        return read.root
    selection = selection_of(read).id
    return selection if selection in draft.nodes else None


def nodes_of(draft: Draft, read: Read, parts: Iterable[PredSet]) -> tuple[NodeId, ...]:
    """The nodes whose common rows are those that are read: the exact one, or one for each part of what is required."""
    exact = exact_node(draft, read)
    if exact is not None:
        return (exact,)
    return tuple(sorted(selection_of(Read(read.root, part)).id for part in parts))


def node_of(draft: Draft, read: Read) -> NodeId:
    """The node to read from: the exact one, or the smallest that subsumes the read."""
    return exact_node(draft, read) or best_parent(draft, selection_of(read))


def predicates_of(draft: Draft, id_: NodeId) -> PredSet:
    """The predicates that hold for all rows of a node, over its root's columns."""
    node = draft.nodes[id_]
    if isinstance(node, Selection):
        return conjunction(node.read.required, draft.guaranteed(node.read.root))
    return draft.guaranteed(id_)


def best_parent(draft: Draft, selection: Selection) -> NodeId:
    """The smallest selection that subsumes this one, or the root, as for no rows, which are among those of any."""
    root, required = selection.read.root, selection.read.required
    if required == FALSE:
        return root
    perhaps = (draft.node(Selection, id_) for id_ in draft.catalog.selections_perhaps_subsuming(root, required))

    def size(s: Selection) -> tuple[float, int, NodeId]:
        return draft.estimates.fraction(s.read), -len(s.read.required.or_preds), s.id

    # The smallest come first, and the first that subsumes ends the search: of a chain, one test in place of hundreds.
    for s in sorted(perhaps, key=size):
        larger = s.id != selection.id and implies(required, s.read.required)
        if larger and not implies(s.read.required, required):
            return s.id
    return root
