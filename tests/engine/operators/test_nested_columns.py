"""A column of structs is read once in a batch of rows, whatever number of expressions has parts of it."""

from __future__ import annotations

import pandas as pd
import pyarrow.json
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session

ROWS = pd.DataFrame({"id": range(30), "at": [{"k": n % 3, "x": n / 2, "s": {"t": f"s{n % 5}"}} for n in range(30)]})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM t WHERE at.k = 1 OR at.x > 7 OR at.s.t = 's2'",
        "SELECT at.k, at.s.t, COUNT(*), SUM(at.x), MIN(at.x) FROM t GROUP BY at.k, at.s.t",
        "SELECT at.k, at.x * 2 AS y, at.s.t FROM t",
    ],
)
def test_a_column_is_read_once(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    read_json = pyarrow.json.read_json

    def counted(*args: object) -> object:
        read.append(1)
        return read_json(*args)

    with Session(InProcess()) as session:
        session.add_stream("t", ROWS, history=20, batch=10)
        query = session.register(sql, name="q")
        monkeypatch.setattr(pyarrow.json, "read_json", counted)
        session.run(1)
        while_running, _ = len(read), read.clear()
        answer = query.result()
    assert while_running <= 1
    assert len(read) <= 1
    assert len(answer) > 0
