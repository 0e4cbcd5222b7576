"""Isolation: a check that has rows disables its query (``sql/checks.py``)."""

from __future__ import annotations

from workbench.engine.answers import Answers
from workbench.engine.engine import Engine
from workbench.engine.fetching import fetch_count
from workbench.network.network import QueryPlan, check_number, checked_query
from workbench.session.state import State


def violated(engine: Engine, state: State, before: State) -> dict[str, str]:
    """Which queries have a check that has rows, with the reason; only checks whose rows may have changed are counted.

    Args:
        engine: has the rows that are about to be committed.
        state: the queries that are about to be committed.
        before: what was committed last, in which no check had rows.
    """
    rows, clock = engine.state.by_root, engine.state.clock
    return {
        query: state.checks_of(state.queries[query])[check_number(name) - 1].reason
        for name, plan in state.network.queries.items()
        if (query := checked_query(name)) != name
        and not _is_unchanged(name, plan, engine, before)
        and fetch_count(Answers(plan, rows[plan.read.root], state.batch, clock, engine.runner.limits))
    }


def _is_unchanged(name: str, plan: QueryPlan, engine: Engine, before: State) -> bool:
    """Whether a check reads the same rows of the same tree as before, without a window that moves."""
    root = plan.read.root
    same_rows = engine.state.by_root[root] is before.engine.by_root.get(root)
    return same_rows and before.network.queries.get(name) == plan and not plan.window
