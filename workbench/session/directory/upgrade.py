"""A session that an older workbench wrote, planned and computed anew from its streams and the texts of its queries.

Where the canonical form of expressions has changed, ids of nodes and names of stored columns have too, so stored rows
are nobody's. The streams' logs are all that answers follow from. So the session begins again from the history, with all
queries, and the same rows arrive in the same batches, as when an analyst goes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.engine.state import EngineState
from workbench.errors import WorkbenchError
from workbench.network.network import Network
from workbench.session.query import ACTIVE, Query
from workbench.session.state import State
from workbench.session.transitions import AnswersOf, Steps, Written, with_views
from workbench.sql.binder.pipeline import bind


def upgraded(steps: Steps, state: State, answers: AnswersOf) -> State:
    """The session under the present workbench; belongs inside a change.

    Queries are answered as if they had been there from the start. One whose text no longer means anything, such as one
    that reads a view that was dropped since, is disabled and says so.

    Args:
        steps: of the session.
        state: the session without anything planned.
        answers: what a query asks for its answers.

    Raises:
        EngineError: Spark could not evaluate it; the folder stays as it is.
    """
    steps.engine.replace_state(EngineState())
    again = replace(
        state, network=Network(), streams={}, views={}, queries={}, disabled={}, reports=(), held=EngineState()
    )
    for stream in state.streams.values():
        again = steps.add_stream(again, stream.rewound())
    texts, reasons = _bound(again, state)
    again = steps.register(again, texts, answers)
    for report in state.reports:
        again, _ = steps.run(again, report.arrived)
    queries = {name: again.queries.get(name, query) for name, query in state.queries.items()}
    return replace(again, queries=queries, disabled={**again.disabled, **reasons})


def _bound(schema: State, state: State) -> tuple[Mapping[str, Written], dict[str, str]]:
    """The queries as they are to be registered, and why some cannot be."""
    texts = dict[str, Written]()
    reasons = {name: reason for name, reason in state.disabled.items() if reason != ACTIVE}
    for name, query in state.queries.items():
        if name in reasons:
            continue
        try:
            texts[name] = _text(query, schema)
        except WorkbenchError as problem:
            reasons[name] = f"it cannot be brought to this version of the workbench: {problem.message}"
        else:
            schema = with_views(schema, texts[name].bound.named(name))
    return texts, reasons


def _text(query: Query, schema: State) -> Written:
    if any(window.loop is not None for window in query.windows_on):
        raise WorkbenchError("its loop counts from the moment of its registration; register it again")
    return Written(query.sql, query.dialect, bind(query.sql, query.dialect, schema.schema), query.results)
