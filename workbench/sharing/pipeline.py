"""From the bound query to the network that has it, and back: the passes over a draft of the network, in order.

A pass is a function of the draft, which it searches and changes; each stands in the module of its name or idea. This is
the file to read first, and the only one that knows the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.catalog.catalog import QueryText
from workbench.sharing.aggregates import choose_aggregate_inputs
from workbench.sharing.change_joins import remove_abandoned_joins, restore_guarantees, tighten_joins
from workbench.sharing.decisions import Explanation
from workbench.sharing.draft import Draft, remove_unneeded
from workbench.sharing.explain_decisions import explain_decisions
from workbench.sharing.place_selections import place_selections
from workbench.sharing.set_operators import choose_set_operator_inputs
from workbench.sharing.translate import translate_query
from workbench.sql.logical import LogicalQuery

Pass = Callable[[Draft], None]

ARRANGE: tuple[Pass, ...] = (
    # Rerouting leaves joins without readers. Not before the query is added: it may read one of them. Not later: the
    # other passes would keep selections and guarantees of joins that nobody reads.
    remove_abandoned_joins,
    # A join guarantees what its roots test. Before selections are placed: they test only what the join does not
    # guarantee, and would otherwise miss what a weakened root no longer tests.
    restore_guarantees,
    # An aggregate is computed from finer groups where there are some. Before selections are placed: it then needs no
    # selection of its own input.
    choose_aggregate_inputs,
    # The same for set operators. After aggregates: its branches read roots, which are costed as they are computed now.
    choose_set_operator_inputs,
    # Last, when roots, what they guarantee and who reads them are settled: every tree gets the selections its readers
    # require, and every reader is connected to them. It clears the marks of the draft.
    place_selections,
)
"""Brings the topology of all dirty trees to what is required of them; after a registration and after a drop."""

DROP: tuple[Pass, ...] = (
    # Without the nodes of the dropped queries joins have fewer readers; the roots those nodes read become dirty.
    remove_unneeded,
    # A join whose loosest reader went tests more again. Before selections are placed: they test the rest.
    tighten_joins,
    *ARRANGE,
)


def register_query(draft: Draft, name: str, query: LogicalQuery, text: QueryText, eager: bool) -> Explanation:
    """Add a bound query to a draft.

    Args:
        draft: owned by the query.
        name: of the query; it must be new.
        query: what it asks.
        text: its text, for the catalog.
        eager: see ``translate_query``.
    """
    # The roots it reads are found or created; joins may be weakened and other queries rerouted on the way.
    plan = translate_query(draft, name, query, eager)
    # The catalog must have the query before trees are arranged: what is required of a root is searched there.
    draft.add_query(plan, text)
    for arrange in ARRANGE:
        arrange(draft)
    # After all of it: explained is what came out, which a pass may have changed after the decision was recorded.
    return explain_decisions(draft, name)


def drop_queries(draft: Draft, names: Iterable[str]) -> None:
    """Take queries out of a draft, and what only they needed."""
    for name in names:
        draft.remove_query(name)
    for change in DROP:
        change(draft)
