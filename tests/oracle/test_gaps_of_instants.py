"""TIME_BUCKET_GAPFILL of instants: stretches of time that passes, also where a clock has an hour twice or none."""

from __future__ import annotations

import datetime as dt
from random import Random

import pyarrow as pa
import pytest
from oracle.harness import Case, Oracle
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess

ZONE = "Europe/Berlin"
CHANGES = {"autumn": "2026-10-25 00:00:00+00", "spring": "2026-03-29 00:00:00+00"}
"""An hour before the clocks of the zone are changed."""


def rows(start: str, seed: int) -> pa.Table:
    """Instants around the change of clocks, some of them NULL, with a number for each key."""
    random, first = Random(seed), dt.datetime.fromisoformat(start)
    times = [first + dt.timedelta(minutes=random.randrange(-600, 600)) for _ in range(60)]
    return pa.table(
        {
            "id": range(60),
            "k": [random.randrange(3) for _ in times],
            "ts": pa.array([None if random.random() < 0.1 else time for time in times], pa.timestamp("us", tz="UTC")),
        }
    )


@pytest.mark.parametrize(("change", "width"), [("autumn", "1 HOUR"), ("spring", "30 MINUTE")])
def test_gaps_of_instants_are_filled_as_by_a_series(change: str, width: str) -> None:
    start = CHANGES[change]
    begin = f"TIME_BUCKET(INTERVAL {width}, ts, TIMESTAMPTZ '2000-01-03 00:00:00+00')"
    groups = f"g AS (SELECT k, {begin} AS b, COUNT(*) AS n FROM t WHERE ts IS NOT NULL GROUP BY ALL)"
    series = f"SELECT k, UNNEST(GENERATE_SERIES(MIN(b), MAX(b), INTERVAL {width})) AS b FROM g GROUP BY k"
    filled = Case(
        f"SELECT k, TIME_BUCKET_GAPFILL(INTERVAL {width}, ts) AS b, COALESCE(COUNT(*), 0) AS n FROM t GROUP BY k, b",
        f"WITH {groups} SELECT s.k, s.b, COALESCE(n, 0) FROM ({series}) s LEFT JOIN g ON g.k = s.k AND g.b = s.b",
    )
    last = f"TIMESTAMPTZ '{start}' + INTERVAL 5 HOUR"
    whole = f"SELECT UNNEST(GENERATE_SERIES(TIMESTAMPTZ '{start}', {last} - INTERVAL {width}, INTERVAL {width})) AS b"
    bounded = Case(
        f"SELECT TIME_BUCKET_GAPFILL(INTERVAL {width}, ts, TIMESTAMPTZ '{start}', {last}) AS b, COUNT(*) AS n"
        " FROM t GROUP BY b",
        f"WITH g AS (SELECT {begin} AS b, COUNT(*) AS n FROM t WHERE ts IS NOT NULL GROUP BY ALL)"
        f" SELECT w.b, n FROM ({whole}) w LEFT JOIN g USING (b)",
        dialect="duckdb",
    )
    with Oracle(InProcess(), {"t": corrected(rows(start, 5), 30, 20, 7)}) as oracle:
        oracle.session.set_timezone(ZONE)
        oracle.duck.execute(f"SET TimeZone = '{ZONE}'")
        oracle.register({"filled": filled, "bounded": bounded})
        while oracle.run(1):
            pass
        oracle.check_changes()
