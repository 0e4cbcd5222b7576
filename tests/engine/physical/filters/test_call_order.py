"""Plans of many lineages: each looks at its own rows and a few of others, so planning costs little beside the rows."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from workbench.engine.physical.filters import call_order
from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session

ROWS = 3_000
CALLS = ("f(a)", "g(b)", "f(b)", "g(a)")


@pytest.mark.slow
def test_a_plan_looks_at_few_rows_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    completed = call_order.completed

    def counted(observed: call_order.Ranks, numbers: call_order.Amounts) -> tuple[call_order.Ranks, call_order.Amounts]:
        looked_at.append(len(observed))
        return completed(observed, numbers)

    monkeypatch.setattr(call_order, "completed", counted)
    random = Random(3)
    table = pa.table({"id": range(ROWS), **{name: [random.randrange(100) for _ in range(ROWS)] for name in "abc"}})
    with Session(InProcess()) as session:
        session.add_stream("t", table, history=1_000, batch=1_000)
        session.add_function("f", lambda x: 3 * x % 100, returns="bigint")
        session.add_function("g", lambda x: 7 * x % 100, returns="bigint")
        for _ in range(40):
            least, calls = random.randrange(85), random.sample(CALLS, random.choice([2, 3]))
            tests = " AND ".join(f"{call} < {random.randrange(10, 90)}" for call in calls)
            session.register(f"SELECT id FROM t WHERE c BETWEEN {least} AND {least + 15} AND {tests}")
        session.run(2)
    assert len(looked_at) > 20 and max(looked_at) < 3 * call_order.WAYS_OF_OTHERS
