"""A session without Spark runs the tasks of its steps one after the other, those that merge files among them."""

from __future__ import annotations

import pandas as pd

from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits
from workbench.session.session import Session

ROWS = pd.DataFrame({"id": range(90), "g": [n % 4 for n in range(90)]})


def test_tasks_merge_files() -> None:
    limits = Limits(rows_merged_in_process=0, rows_per_task=20, runs_per_merge=2, runs_merged_later=1)
    with Session(InProcess(), limits=limits) as session:
        session.add_stream("t", ROWS, history=10, batch=10)
        counts = session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g", name="counts")
        ranks = session.register("SELECT id, RANK() OVER (PARTITION BY g ORDER BY id DESC) AS r FROM t", name="ranks")
        session.run(8)
        assert dict(counts.result().to_numpy().tolist()) == ROWS.g.value_counts().to_dict()
        found = ranks.result().sort_values("id")["r"].tolist()
    assert found == ROWS.groupby("g").id.rank(ascending=False).astype(int).tolist()
