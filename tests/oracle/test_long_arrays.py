"""Rows of arrays of some hundred elements, which come, leave and come again: places beyond those of one VALUES."""

from __future__ import annotations

import os
from random import Random

import pyarrow as pa
from oracle.harness import Case, Oracle
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess

SEED = int(os.environ["ARGUS_SEED"])
ASKED = {
    "rows": Case("SELECT id, v, n FROM t, UNNEST(a) WITH ORDINALITY AS x(v, n)", dialect="duckdb"),
    "groups": Case("SELECT v, COUNT(*) AS c, MAX(id) AS m FROM t, UNNEST(a) AS x(v) GROUP BY v", dialect="duckdb"),
    "kept": Case("SELECT id, v FROM t LEFT JOIN UNNEST(a) AS x(v) ON TRUE", dialect="duckdb"),
    "cut": Case("SELECT id, v FROM t, UNNEST(LIST_SLICE(a, 1, 250)) AS x(v) WHERE id > 4", dialect="duckdb"),
    "series": Case("SELECT id, v FROM t, GENERATE_SERIES(1, k) AS x(v) WHERE v % 50 = 0", dialect="duckdb"),
}


def rows(random: Random, count: int) -> pa.Table:
    """Rows with arrays, of which some are NULL, empty, or longer than VALUES may be."""

    def some() -> list[int | None] | None:
        length = random.choice([0, 1, 3, 99, 100, 101, 230, 1_000])
        return None if random.random() < 0.1 else [random.choice([*range(9), None]) for _ in range(length)]

    return pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "k": pa.array([random.choice([None, 0, 1, 100, 101, 999]) for _ in range(count)], pa.int64()),
            "a": pa.array([some() for _ in range(count)], pa.list_(pa.int64())),
        }
    )


def test_arrays_longer_than_values() -> None:
    random = Random(SEED)
    with Oracle(InProcess(), {"t": corrected(rows(random, 24), 9, 5, SEED)}) as oracle:
        oracle.register({name: ASKED[name] for name in ("rows", "groups", "kept")})
        oracle.run(2)
        oracle.register({name: ASKED[name] for name in ("cut", "series")}, one_by_one=True)
        while oracle.run(1):
            pass
        oracle.check_changes()
