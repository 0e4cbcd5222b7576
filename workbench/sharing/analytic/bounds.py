"""Analytic nodes: found or created for an order of rows, and bounded to the first rows that have readers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.network.nodes import Analytic, Read
from workbench.network.sql_text import analytic_sql
from workbench.sharing.decisions import Rule
from workbench.sharing.draft import Draft
from workbench.sharing.join_parts import restricted
from workbench.sql.algebra.analytic import RANK, RANKS, ROW_NUMBER, AnalyticCall, Over, rank
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, ORPred, PredSet, or_pred, pred_set

_BELOW = {Operator.LE: 0, Operator.EQ: 0, Operator.LT: -1}
"""Comparisons by which a number is at most a constant plus so much."""


def choose_bounds(draft: Draft) -> None:
    """Let every dirty analytic node keep the rows that its readers may read, and no others that a rank tells apart."""
    for root in draft.dirty_parents_first():
        node = draft.nodes[root]
        if not isinstance(node, Analytic):
            continue
        required = draft.catalog.required_of(root)
        bound = draft.stored(weakest_bound(node, required)) if draft.options.sharing or required else TRUE
        if bound != node.bound:
            if node.bound and root in draft.before.nodes:
                draft.record.note(f"restructured: {root} now keeps other first rows")
            draft.put(replace(node, bound=bound))
            draft.retested.add(root)


def weakest_bound(node: Analytic, required: Iterable[PredSet]) -> PredSet:
    """The common bound of the ranks of all rows that are read: the largest of the readers' bounds.

    A row number is at least the rank, and a rank at least the dense rank: what bounds one bounds those after it.
    """
    if any(function.function not in RANKS for function in node.functions):
        return TRUE  # its value may depend on rows that come later
    most: list[dict[str, int]] = [dict(_bounds(node, predicates)) for predicates in required]
    names = {rank_name: rank(rank_name, node.over) for rank_name in RANKS}
    for position, name in enumerate(RANKS):
        of_readers = [[m for n, m in bounds.items() if RANKS.index(n) <= position] for bounds in most]
        if of_readers and all(of_readers) and names[name] in node.functions:
            return pred_set([compared(names[name], Operator.LE, max(min(some) for some in of_readers))])
    return TRUE


def _bounds(node: Analytic, predicates: PredSet) -> Iterable[tuple[str, int]]:
    """For each rank that predicates bound the number that it is at most."""
    for predicate in predicates:
        match predicate.literals:
            case (Literal(Column(name), operator, Constant(int() as most)),) if operator in _BELOW:
                function = node.by_name.get(name)
                if function is not None and function.function in RANKS:
                    yield function.function, most + _BELOW[operator]


def compared(function: AnalyticCall, operator: Operator, number: int) -> ORPred:
    """A comparison of a rank with a number."""
    return or_pred([Literal(Column(function.name, INTEGER), operator, Constant(number, INTEGER))])


def find_analytic(draft: Draft, read: Read, over: Over, functions: Iterable[AnalyticCall]) -> Analytic:
    """The node with this order of these rows, found or created; functions it does not have are added."""
    node = Analytic(read, over, frozenset(functions), read.root)
    present = draft.nodes.get(node.id)
    if isinstance(present, Analytic):
        more = node.functions - present.functions
        if more:
            names = draft.wording.columns(read.root)
            added = ", ".join(sorted(analytic_sql(function, names) for function in more))
            draft.record.add(present.id, Rule.STATISTICS, f"now also {added}")
        node = replace(present, functions=present.functions | more)
    draft.mark_dirty(node.id, read.root)
    draft.put(node)
    return node


def order_of(draft: Draft, read: Read, over: Over, bounded: bool = False) -> Over:
    """The order of a node of these rows that has this order and tells more peers apart; else this one.

    What a query reads is the same for peers in its own order, so it has the same answer in the other one. Nodes that
    keep their first rows serve for first rows alone: another reader would have them number all rows.
    """
    nodes = (node for node in draft.nodes.values() if isinstance(node, Analytic) and node.read == read)
    orders = [node.over for node in nodes if (node.bound != TRUE) == bounded and node.over.serves(over)]
    return min(orders, key=lambda order: (len(order.ties), order.identity), default=over)


def first_rows(draft: Draft, read: Read, over: Over, limit: int | None, offset: int, with_ties: bool) -> Read:
    """At most ``limit`` rows of each partition after ``offset`` others; with ties also peers of the last one."""
    over = order_of(draft, read, over, bounded=True)
    last = rank(RANK if with_ties else ROW_NUMBER, over)
    functions, required = set[AnalyticCall](), list[ORPred]()
    if limit is not None:
        functions.add(last)
        required.append(compared(last, Operator.LE, limit + offset))
    if offset:
        functions.add(number := rank(ROW_NUMBER, over))
        required.append(compared(number, Operator.GT, offset))
    node = find_analytic(draft, read, over, functions)
    return restricted(draft, Read(node.id), pred_set(required))
