"""From the bound query to the network that has it, and back: the passes over a draft of the network, in order.

A pass is a function of the draft, which it searches and changes; each stands in the module of its name or idea. This is
the file to read first, and the only one that knows the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.catalog.catalog import QueryText
from workbench.sharing.aggregates import choose_aggregate_inputs
from workbench.sharing.analytic.bounds import choose_bounds
from workbench.sharing.change_joins import remove_abandoned_joins, restore_guarantees, tighten_joins
from workbench.sharing.draft import Draft, remove_unneeded
from workbench.sharing.foreign_keys import simplified_by_keys
from workbench.sharing.place_selections import place_selections
from workbench.sharing.set_operators import choose_set_operator_inputs
from workbench.sharing.translate import translate_query
from workbench.sql.logical import LogicalQuery

Pass = Callable[[Draft], None]

ARRANGE: tuple[Pass, ...] = (
    # Rerouting leaves joins without readers. Not before the query is added, which may read one of them; not later, or
    # the other passes would arrange trees without readers.
    remove_abandoned_joins,
    # Analytic nodes keep the first rows that are read. Before joins are looked at, which must test what their roots do.
    choose_bounds,
    # A join must test what its roots test, or its rows would change when a root comes to test less. Before selections
    # are placed: what a join requires of its sides follows from what it tests.
    restore_guarantees,
    # Aggregates are computed from finer groups where there are some. Before selections are placed: an aggregate that
    # lost its finer groups is back at its root, and is then connected to the node that has just its rows.
    choose_aggregate_inputs,
    # The same for set operators that have branches in common; before or after aggregates is the same.
    choose_set_operator_inputs,
    # Last, when it is settled what roots guarantee and who reads them: every tree gets the selections that its readers
    # require, and every reader is connected to the nodes that have its rows. It clears the marks of the draft.
    place_selections,
)
"""Brings the topology of all dirty trees to what is required of them, after a registration and after a drop."""

DROP: tuple[Pass, ...] = (
    # First, since readers that are gone require nothing; the roots that they read become dirty.
    remove_unneeded,
    # A join whose loosest reader is gone tests more again. Before the trees are arranged: selections below the join
    # test what it does not guarantee, and it requires more of its sides.
    tighten_joins,
    *ARRANGE,
)


def register_query(draft: Draft, name: str, query: LogicalQuery, text: QueryText, eager: bool) -> None:
    """Add a bound query to a draft.

    Args:
        draft: owned by the query.
        name: of the query; it must be new.
        query: bound, not yet planned.
        text: its text, for the catalog.
        eager: see ``translate_query``.
    """
    # Joins that foreign keys make needless go first: no node is found or created for them.
    constraints = [constraint for declared in draft.constraints.values() for constraint in declared]
    query = simplified_by_keys(query, constraints, draft.record)
    # The roots it reads are found or created; joins may be weakened and other queries rerouted on the way.
    plan = translate_query(draft, name, query, eager)
    # The catalog must have the query before trees are arranged: what is required of a root is searched there.
    draft.add_query(plan, text)
    for arrange in ARRANGE:
        arrange(draft)


def drop_queries(draft: Draft, names: Iterable[str]) -> None:
    """Take queries out of a draft, and what only they needed."""
    for name in names:
        draft.remove_query(name)
    for change in DROP:
        change(draft)
