"""What of a session must be the same when it is opened again, and what must not be in its folder."""

from __future__ import annotations

from workbench import Session
from workbench.session.learning.observing import present_statistics


def what_survives(session: Session) -> dict[str, object]:
    """All that an analyst can see but answers, and what the engine goes on from."""
    held = session.parts.store.state.engine
    return {
        "batch": session.batch,
        "reports": session.reports,
        "options": (session.dialect, session.options),
        "streams": {
            name: (s.columns, s.time, s.lateness, s.late_rows, s.table, s.history, s.batch, s.position)
            for name, s in session.streams.items()
        },
        # As texts: NaN among them is equal to none that was computed again.
        "statistics": {name: str(s) for name, s in present_statistics(session.parts.store.state).items()},
        "hydrations": session.parts.store.state.hydrations,
        "views": dict(session.views),
        "queries": [
            (q.name, q.sql, q.dialect, q.registered, q.status, q.columns, q.logical) for q in session.queries.values()
        ],
        "explain": {name: str(q.explain()) for name, q in session.queries.items()},
        "network": sorted((n.id, n.sql, n.parents, n.queries) for n in session.network.nodes),
        "bits": {root: dict(tree.plan.bits) for root, tree in held.trees.items()},
        "layouts": {root: dict(tree.plan.stored) for root, tree in held.trees.items()},
        "rows": {root: tree.relation.runs for root, tree in held.trees.items()},
        "state": {root: tree.state.runs for root, tree in held.trees.items() if tree.state is not None},
        "needed": {root: tree.bounds for root, tree in held.trees.items()},
        "log": {root: [(e.batch, e.whole, e.delta.segments) for e in t.log] for root, t in held.trees.items()},
        "arrived": {name: relation.runs for name, relation in held.arrived.items()},
    }


def stray_files(session: Session) -> set[str]:
    """Segments that are not needed."""
    there = {str(file) for file in (session.path / "state").rglob("*.arrow")}
    store = session.parts.store
    needed = store.state.engine.files | store.kept.files
    assert needed <= there, f"missing: {needed - there}"
    return there - needed
