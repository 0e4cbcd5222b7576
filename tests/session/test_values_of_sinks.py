"""What sinks of a session write of values that a DataFrame does not tell apart."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench import Session
from workbench.engine.spark.in_process import InProcess


def test_nan_of_a_double_reaches_a_folder(in_process: InProcess, tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 2, 3], "x": [math.nan, None, 0.5], "y": [None, 1.0, 2.0]})
    with Session(in_process) as session:
        session.add_stream("t", rows, history=2, batch=1)
        query = session.register("SELECT id, x, y FROM t", "q")
        session.add_sink("q", tmp_path / "out")
        session.run(1)
        until = time.monotonic() + 60
        while len(files := sorted((tmp_path / "out").glob("*.parquet"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        found = sorted((row for file in files for row in pq.read_table(file).to_pylist()), key=lambda row: row["id"])
        assert repr([(row["x"], row["y"]) for row in found]) == "[(nan, None), (None, 1.0), (0.5, 2.0)]"
        assert query.changes()["x"].dtype == query.changes()["y"].dtype == "float64"
