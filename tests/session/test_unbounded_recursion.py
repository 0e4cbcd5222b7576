"""A recursive query whose text bounds no steps: it is answered while no row lies beyond those that are evaluated."""

from __future__ import annotations

import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.errors import QueryError
from workbench.session.session import Session
from workbench.sql.binder import recursion

STEPS = 3
REACHED = (
    "WITH RECURSIVE p AS (SELECT a, b FROM edges WHERE a >= {} UNION SELECT p.a, e.b FROM p JOIN edges e ON p.b = e.a)"
    " SELECT a, COUNT(*) AS n FROM p GROUP BY a"
)
REASON = f"a recursive query has rows after {STEPS} steps"


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few steps that they are planned in no time."""
    monkeypatch.setattr(recursion, "UNBOUNDED_STEPS", STEPS)


def test_a_query_runs_until_a_path_is_too_long(in_process: InProcess) -> None:
    line = pd.DataFrame({"a": range(STEPS + 1), "b": range(1, STEPS + 2)})
    with Session(in_process) as session:
        session.add_stream("edges", line, history=STEPS, batch=1)
        reached = session.register(REACHED.format(0), name="reached")
        later = session.register(REACHED.format(1), name="later")
        assert dict(reached.result().values) == {a: STEPS - a for a in range(STEPS)}
        session.run(1)
        assert (reached.status, later.status) == (REASON, "active")
        assert dict(later.result().values)[1] == STEPS
        with pytest.raises(QueryError, match=REASON):
            reached.result()
        assert session.register(REACHED.format(-1), name="late").status == REASON


def test_a_circle_is_no_path_that_is_too_long(in_process: InProcess) -> None:
    circle = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 1]})
    with Session(in_process) as session:
        session.add_stream("edges", circle, history=2, batch=1)
        reached = session.register(REACHED.format(0), name="reached")
        assert dict(reached.result().values) == {1: 2, 2: 1}
        session.run(1)
        assert reached.status == "active"
        assert dict(reached.result().values) == {1: 3, 2: 3, 3: 3}
