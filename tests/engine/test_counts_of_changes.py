"""What a batch's report counts: all rows of a node, also those that only nodes below it keep, and updates once."""

from __future__ import annotations

import pandas as pd

from workbench import Session
from workbench.engine.spark.in_process import InProcess


def test_rows_agree_along_edges_and_an_update_is_one_change(in_process: InProcess) -> None:
    flights = pd.DataFrame({"id": range(60), "carrier": [f"c{n % 3}" for n in range(60)]})
    with Session(in_process) as session:
        session.add_stream("flights", flights, history=30, batch=30)
        session.register("SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier", name="by_carrier")
        session.register("SELECT id FROM flights WHERE id > 55", name="late")
        (report,) = session.run(1)
        counts = {node.kind: report.node(node.id).rows_out for node in session.network.nodes}
        changes = session.query("by_carrier").changes(since=0)
    assert counts == {"source": 30, "selection": 4, "aggregate": 6}
    assert len(changes) == 6 and sorted(changes["weight"]) == [-1] * 3 + [1] * 3
    assert (report.changes["by_carrier"], report.changes["late"]) == (3, 4)
