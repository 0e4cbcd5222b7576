"""Which selection nodes a local tree needs for all that is wanted of its root, and what everybody reads directly.

Roots and what is wanted of them are settled by folding; here the topology follows (T6.2.5): every selection hangs
below the smallest one that subsumes it, old ones are rerouted below a new one that is smaller than their parent
(T Figure 6.8a), what nobody needs any more goes.

Where many queries combine a few conditions, every condition becomes a node and a query reads several of them: 2
amounts, 6 windows and 4 ratios are 12 nodes, and their 48 combinations none (CACQ 3.2.6 indexes boolean factors so).
"""

from __future__ import annotations

from dataclasses import replace

from workbench.network.nodes import SIDES, Aggregate, Join, NodeId, Read, Selection, SetOperation, Window
from workbench.network.reads import reads, side_of
from workbench.sharing.draft import Draft, renamed
from workbench.sharing.residual_matching import best_parent, holds, node_of, nodes_of, residual, selection_of
from workbench.sharing.roll_ups import arrange_aggregates
from workbench.sharing.set_operators import arrange_set_operators
from workbench.sql.predicates.cnf import PredSet, conjunction, rename_predicates
from workbench.sql.predicates.implication import cover, difference, implies


def arrange(draft: Draft) -> None:
    """Bring the topology of all touched trees to what is wanted of them."""
    for root in _parents_first(draft):
        _keep_promises(draft, root)
    for root in _parents_first(draft):
        arrange_aggregates(draft, root)
        arrange_set_operators(draft, root)
    for root in _parents_first(draft):
        _arrange_tree(draft, root)
    draft.touched.clear()
    draft.changed.clear()


def narrow(draft: Draft) -> None:
    """Let joins that have lost readers test what the remaining ones have in common (T11.1.2)."""
    waiting = dict.fromkeys(draft.touched)
    while waiting:
        root = max(waiting, key=lambda r: _depth(draft, r))
        del waiting[root]
        node = draft.nodes[root]
        if not isinstance(node, Join):
            continue
        wanted = [rename_predicates(wants, node.names.input) for wants in draft.catalog.wanted_of(root)]
        narrower = draft.form(cover(wanted))
        if narrower != node.predicates:
            draft.put(replace(node, predicates=narrower))
            draft.changed.add(root)
            draft.touch(*node.roots)
            waiting.update(dict.fromkeys(node.roots))


def _parents_first(draft: Draft) -> list[NodeId]:
    return sorted(draft.touched, key=lambda root: _depth(draft, root))


def _depth(draft: Draft, root: NodeId) -> int:
    return max((_depth(draft, read.root) + 1 for read in reads(draft.nodes[root])), default=0)


def _keep_promises(draft: Draft, root: NodeId) -> None:
    """A join's rows satisfy what its roots test, so it must say so; else a root that tests less would change it."""
    node = draft.nodes[root]
    if not isinstance(node, Join):
        return
    promised = [renamed(draft.cover(node.roots[side]), side) for side in SIDES]
    if not implies(node.predicates, kept := conjunction(*promised)):
        draft.put(replace(node, predicates=draft.form(conjunction(node.predicates, kept))))
        draft.changed.add(root)


# -- one tree ------------------------------------------------------------------------------------------------------


def _arrange_tree(draft: Draft, root: NodeId) -> None:
    covered = draft.cover(root)
    answers, operators = (draft.catalog.reads_of(root, kind) for kind in ("query", "node"))
    factors = _factors(draft, root, covered, [wants for _, wants in answers])
    wanted = list(dict.fromkeys(wants for _, wants in answers)) if factors is None else factors
    for reader, wants in operators:
        # A join can test what is wanted of a side by itself; the others read just the rows they want.
        if not isinstance(draft.nodes[reader], Join) or _materialized(draft, root, wants, covered):
            wanted.append(wants)
    needed = {selection_of(Read(root, w)).id: w for w in wanted if not implies(covered, w)}
    existing = set(draft.catalog.selections_of(root))
    gone = existing - needed.keys()
    _take_out(draft, gone)
    if root in draft.changed:
        for id_ in existing - gone:
            selection = draft.selection(id_)
            draft.put(_below(draft, selection, selection.parent))
    for id_, wants in needed.items():
        if id_ not in existing:
            _put_in(draft, selection_of(Read(root, wants)))
    changed = bool(gone) or root in draft.changed
    for name, _ in answers:
        if changed or not draft.queries[name].nodes:
            _answer(draft, name)
    for id_, _ in operators:
        if changed or id_ in draft.touched:
            _connect(draft, id_)


def _factors(draft: Draft, root: NodeId, covered: PredSet, answers: list[PredSet]) -> list[PredSet] | None:
    """The conditions the answers combine, each as a PredSet, when these are fewer than the answers."""
    if not draft.options.reroute or not draft.monotone(root):
        return None
    distinct = dict.fromkeys(answers)
    factors = dict.fromkeys(p for wants in distinct for p in residual(wants, covered))
    return [PredSet((p,)) for p in factors] if len(factors) < len(distinct) else None


def _materialized(draft: Draft, root: NodeId, wants: PredSet, covered: PredSet) -> bool:
    """Whether a selection an operator reads is worth a node: one that keeps few rows (conditional materialization,
    T5.3); where nothing is known it is taken to."""
    if not draft.estimates.known(root):
        return True
    return draft.estimates.fraction(Read(root, difference(wants, covered))) < draft.options.materialize_below


def _put_in(draft: Draft, selection: Selection) -> None:
    """Hang a new selection below the smallest one that subsumes it, and below it those that are better off there."""
    root, wants = selection.read.root, selection.read.required
    placed = draft.put(_below(draft, selection, best_parent(draft, selection)))
    if not draft.options.reroute:
        return
    for id_ in draft.catalog.selections_subsumed(root, wants):
        child = draft.selection(id_)
        if id_ == placed.id or child.parent == placed.id or implies(wants, child.read.required):
            continue
        if child.parent == root or implies(wants, draft.selection(child.parent).read.required):
            draft.put(_below(draft, child, placed.id))


def _take_out(draft: Draft, gone: set[NodeId]) -> None:
    """Remove selections; those below them move up."""

    def left(id_: NodeId) -> NodeId:
        while id_ in gone:
            id_ = draft.selection(id_).parent
        return id_

    for id_ in [child for parent in gone for child in draft.catalog.selections_below(parent) if child not in gone]:
        child = draft.selection(id_)
        draft.put(_below(draft, child, left(child.parent)))
    for id_ in gone:
        draft.remove(id_)


def _below(draft: Draft, selection: Selection, parent: NodeId) -> Selection:
    """The selection with another parent, testing what the parent's rows need not satisfy."""
    root, wants = selection.read.root, selection.read.required
    rest = residual(wants, draft.cover(root))
    if parent != root:
        rest = difference(rest, draft.selection(parent).read.required)
    return replace(selection, parent=parent, predicates=rest)


# -- who reads what ------------------------------------------------------------------------------------------------


def _answer(draft: Draft, name: str) -> None:
    """Let a query read the nodes that hold its answer."""
    plan = draft.queries[name]
    draft.queries[name] = replace(plan, nodes=nodes_of(draft, plan.read))
    draft.catalog.put_plan(draft.queries[name])


def _connect(draft: Draft, id_: NodeId) -> None:
    """Let an operator read the nodes that hold what it wants."""
    node = draft.nodes[id_]
    match node:
        case Join():
            left, right = (node_of(draft, Read(node.roots[s], side_of(node.predicates, s))) for s in SIDES)
            known = conjunction(*(renamed(holds(draft, end), side) for side, end in enumerate((left, right))))
            draft.put(replace(node, left=left, right=right, tested=difference(node.predicates, known)))
        case Aggregate() if node.finer is None:
            draft.put(replace(node, parent=node_of(draft, node.read)))
        case Window():
            draft.put(replace(node, parent=node_of(draft, node.read)))
        case SetOperation() if node.base is None:
            direct = tuple((node_of(draft, b.read), b.values) for b in node.branches)
            draft.put(replace(node, direct=direct))
        case SetOperation():
            arrange_set_operators(draft, node.id)
