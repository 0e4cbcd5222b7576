"""Which selection nodes a local tree needs for all that is required of its root, and which nodes its readers read.

Roots and what is required of them are settled before; here the topology follows (T6.2.5): every selection hangs below
the smallest one that subsumes it, old ones are rerouted below a new one that is smaller than their parent (T Figure
6.8a), and those without a reader go.

Where many queries and aggregates combine a few conditions, every condition becomes a node and they read several: 2
amounts, 6 windows and 4 ratios are 12 nodes, and their 48 combinations none (CACQ 3.2.6 indexes boolean factors so).
Predicates that are only required together are one such condition (``common_parts``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.network.nodes import SIDES, Aggregate, Analytic, Join, NodeId, Read, Selection, SetOperation, Window
from workbench.network.sides import side_of
from workbench.sharing.draft import Draft, on_side
from workbench.sharing.matching import best_parent, node_of, nodes_of, predicates_of, residual, selection_of
from workbench.sharing.set_operators import choose_inputs, direct_form
from workbench.sql.predicates.cnf import FALSE, PredSet, conjunction
from workbench.sql.predicates.common_parts import common_parts
from workbench.sql.predicates.implication import difference, implies


def place_selections(draft: Draft) -> None:
    """Place the selections of all dirty trees, and the reads of their readers, by the required predicates."""
    for root in draft.dirty_parents_first():
        _Tree(draft, root, draft.guaranteed(root)).arrange()
    draft.dirty_roots.clear()
    draft.retested.clear()


@dataclass(frozen=True)
class _Tree:
    """A local tree that is arranged; ``guaranteed``: what holds for all rows of its root."""

    draft: Draft
    root: NodeId
    guaranteed: PredSet

    def arrange(self) -> None:
        """Remove, move and add selections, and then connect the readers whose nodes may have changed."""
        draft, root = self.draft, self.root
        answers, operators = (draft.catalog.reads_of(root, kind) for kind in ("query", "node"))
        combining = [predicates for _, predicates in answers]
        whole = []
        for id_, predicates in operators:
            match draft.nodes[id_]:
                case Aggregate():
                    combining.append(predicates)
                case Join() if not self._worth_a_node(predicates):
                    pass  # It tests what is required of a side by itself.
                case _:
                    whole.append(predicates)
        parts = self._parts(combining, whole)
        required = [*dict.fromkeys(part for read in parts.values() for part in read), *whole]
        needed = {selection_of(Read(root, p)).id: p for p in required if not implies(self.guaranteed, p)}
        existing = set(draft.catalog.selections_of(root))
        gone = existing - needed.keys()
        self._remove(gone)
        if root in draft.retested:
            for id_ in existing - gone:
                self._put_below(draft.node(Selection, id_), draft.node(Selection, id_).parent)
        for id_, predicates in needed.items():
            if id_ not in existing:
                self._add(selection_of(Read(root, predicates)))
        changed = bool(gone) or root in draft.retested
        for name, _ in answers:
            if changed or not draft.queries[name].nodes:
                _connect_query(draft, name, parts)
        for id_ in dict.fromkeys(id_ for id_, _ in operators):
            if changed or id_ in draft.dirty_roots:
                _connect_operator(draft, id_, parts)

    def _parts(self, combining: Sequence[PredSet], whole: Sequence[PredSet]) -> Mapping[PredSet, tuple[PredSet, ...]]:
        """For all that queries and aggregates require, what the nodes that they read test: it as a whole; or the
        conditions that it combines, where many combine the same.

        Args:
            combining: what queries and aggregates require, which may read several nodes.
            whole: what other operators require. They read one node, and so does a query that requires the same.
        """
        parts: dict[PredSet, tuple[PredSet, ...]] = {p: (p,) for p in combining}
        if self.draft.options.reroute:
            rest = {p: residual(p, self.guaranteed) for p in parts.keys() - set(whole)}
            combined = common_parts(rest[p] for p in parts if p in rest)
            common = {part for of_one in combined.values() if len(of_one) > 1 for part in of_one}
            parts |= {p: combined[rest[p]] for p in rest if not common.isdisjoint(combined[rest[p]])}
        return parts

    def _worth_a_node(self, required: PredSet) -> bool:
        """Whether a selection that an operator reads keeps few rows (conditional materialization, T5.3); without
        statistics it is taken to."""
        estimates = self.draft.estimates
        if not estimates.known(self.root):
            return True
        fraction = estimates.fraction(Read(self.root, difference(required, self.guaranteed)))
        return fraction < self.draft.options.materialize_below

    def _add(self, selection: Selection) -> None:
        """Hang a selection below the smallest one that subsumes it, and below it those that are better off there."""
        draft, required = self.draft, selection.read.required
        self._put_below(selection, best_parent(draft, selection))
        if not draft.options.reroute:
            return
        for id_ in draft.catalog.selections_subsumed(self.root, required):
            child = draft.node(Selection, id_)
            if (
                child.read.required == FALSE
                or selection.id in (id_, child.parent)
                or implies(required, child.read.required)
            ):
                continue
            if child.parent == self.root or implies(required, draft.node(Selection, child.parent).read.required):
                self._put_below(child, selection.id)

    def _remove(self, gone: set[NodeId]) -> None:
        """Remove selections; those below them move up."""
        draft = self.draft
        below = [id_ for parent in gone for id_ in draft.catalog.selections_below(parent) if id_ not in gone]
        for id_ in below:
            child = draft.node(Selection, id_)
            parent = child.parent
            while parent in gone:
                parent = draft.node(Selection, parent).parent
            self._put_below(child, parent)
        for id_ in gone:
            draft.remove(id_)

    def _put_below(self, selection: Selection, parent: NodeId) -> None:
        """Put a selection below a parent; it tests the predicates that the parent does not guarantee."""
        rest = residual(selection.read.required, self.guaranteed)
        if parent != self.root:
            rest = difference(rest, self.draft.node(Selection, parent).read.required)
        self.draft.put(replace(selection, parent=parent, predicates=rest))


def _connect_query(draft: Draft, name: str, parts: Mapping[PredSet, tuple[PredSet, ...]]) -> None:
    """Let a query read the nodes that hold its answer, which test these parts of what it requires."""
    plan = draft.queries[name]
    draft.queries[name] = replace(plan, nodes=nodes_of(draft, plan.read, parts[plan.read.required]))
    draft.catalog.put_plan(draft.queries[name])


def _connect_operator(draft: Draft, id_: NodeId, parts: Mapping[PredSet, tuple[PredSet, ...]]) -> None:
    """Let an operator read the nodes that hold the rows it requires."""
    node = draft.nodes[id_]
    match node:
        case Join():
            left, right = (node_of(draft, Read(node.roots[s], side_of(node.predicates, s))) for s in SIDES)
            known = conjunction(*(on_side(predicates_of(draft, parent), s) for s, parent in enumerate((left, right))))
            draft.put(replace(node, left=left, right=right, tested=difference(node.predicates, known)))
        case Aggregate() if node.finer is None:
            draft.put(replace(node, parents=nodes_of(draft, node.read, parts[node.read.required])))
        case Window() | Analytic():
            draft.put(replace(node, parent=node_of(draft, node.read)))
        case SetOperation() if node.base is None:
            draft.put(replace(node, direct=direct_form(draft, node.branches)))
        case SetOperation():
            choose_inputs(draft, node.id)
