"""A check is counted where what it reads has changed, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from sharing.small_streams import query

from workbench.limits import Limits
from workbench.network.network import Network, QueryPlan, check_name
from workbench.session.failures import checks
from workbench.session.state import State
from workbench.sharing.planner import Planner
from workbench.sql.checks import checks_of

LINKED = "SELECT id, (SELECT name FROM G WHERE G.id = F.code) AS name FROM F"


def tree() -> SimpleNamespace:
    """Rows without columns of elements."""
    return SimpleNamespace(plan=SimpleNamespace(elements={}))


def test_a_check_is_counted_only_where_its_rows_may_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[QueryPlan] = []
    rows = 0

    def count(answers: Any) -> int:
        counted.append(answers.plan)
        return rows

    monkeypatch.setattr(checks, "fetch_count", count)
    asked, planner = query(LINKED), Planner()
    network = planner.register(Network(), "linked", asked).network
    (check,) = checks_of(asked)
    network = planner.register(network, check_name("linked", 1), check.query).network
    queries = {"linked": SimpleNamespace(logical=asked)}
    trees = {plan.read.root: tree() for plan in network.queries.values()}

    def committed(**changed: object) -> State:
        return State(network=network, queries=queries, engine=SimpleNamespace(by_root={**trees, **changed}))  # type: ignore[arg-type]

    def reasons(before: State, **changed: object) -> dict[str, str]:
        state = SimpleNamespace(by_root={**trees, **changed}, clock=None)
        engine = SimpleNamespace(state=state, spark=None, runner=SimpleNamespace(limits=Limits()))
        return checks.violated(engine, committed(**changed), before)  # type: ignore[arg-type]

    assert not reasons(State(engine=SimpleNamespace(by_root={})))  # type: ignore[arg-type]
    assert len(counted) == 1, "a new check is counted, and the query itself is none"
    assert not reasons(committed()) and len(counted) == 1
    rows = 2
    read = counted[0].read.root
    assert reasons(committed(), **{read: tree()}) == {"linked": check.reason}
    assert len(counted) == 2
