"""Analytic nodes: found or created for an order of rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.network.nodes import Analytic, Read
from workbench.network.sql_text import analytic_sql
from workbench.sharing.analytic.bounds import compared
from workbench.sharing.decisions import Rule
from workbench.sharing.draft import Draft
from workbench.sharing.join_parts import restricted
from workbench.sql.algebra.analytic import RANK, ROW_NUMBER, AnalyticCall, Over, rank
from workbench.sql.predicates.cnf import TRUE, Operator, ORPred, pred_set


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
