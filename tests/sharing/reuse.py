"""Register texts over the small streams, and ask whether a query is answered by the nodes that others made."""

from __future__ import annotations

from collections.abc import Sequence

from sharing.small_streams import query

from workbench.network.network import Network
from workbench.options import Options
from workbench.sharing.decisions import Explanation
from workbench.sharing.planner import Planned, Planner


def planned(*texts: str, options: Options | None = None, planner: Planner | None = None) -> Planned:
    """The network after the last of some queries, named q1, q2, …, and how that one came in."""
    planner, latest = planner or Planner(options or Options()), Planned(Network(), Explanation("", ()))
    for number, text in enumerate(texts, start=1):
        latest = planner.register(latest.network, f"q{number}", query(text))
    return latest


def reused(registered: Sequence[str] | str, text: str, options: Options | None = None) -> bool:
    """Whether a query, registered after others, needs no node that is not there already."""
    before = [registered] if isinstance(registered, str) else registered
    explanation = planned(*before, text, options=options).explanation
    return not any(decision.created for decision in explanation.decisions)
