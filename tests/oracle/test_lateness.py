"""Streams with a lateness, against DuckDB without the rows that come too late: opened again, and gone back."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from oracle.harness import Feed, Oracle
from oracle.test_windows import CASES, F, G
from pyspark.sql import SparkSession

FEEDS = {
    "f": Feed(F, 30, 20, time="d", lateness=dt.timedelta(days=3)),
    "g": Feed(G, 0, 15, time="ts", lateness=dt.timedelta(minutes=5)),
}
NAMES = ("last days", "by bank", "two streams")


def test_rows_that_come_too_late_are_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    with Oracle(spark, FEEDS, path=tmp_path / "s") as oracle:
        session = oracle.session
        late_before = session.streams["f"].late_rows
        assert late_before == 30 - FEEDS["f"].on_time(0, 30).num_rows > 0
        oracle.register({name: CASES[name] for name in NAMES})
        reports = oracle.run(2)
        told = [report.late_rows for report in reports]
        assert any("f" in late for late in told) and any("g" in late for late in told)
        assert [report.rows for report in reports] == [35, 35]
        assert session.streams["f"].quarantined_rows == late_before + sum(late.get("f", 0) for late in told)
        late = session.streams["f"].late_rows
        oracle.reopen()
        assert oracle.session.streams["f"].late_rows == late
        assert [report.late_rows for report in oracle.session.reports] == told
        oracle.run(1)
        oracle.check_changes()
        told = [report.late_rows for report in oracle.session.reports]
        oracle.session.seek(1)
        again = oracle.session.run(2)
        assert [report.late_rows for report in again] == told[1:]
        oracle.check_results()
