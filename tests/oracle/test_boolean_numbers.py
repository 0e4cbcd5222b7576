"""A BOOLEAN beside integers in duckdb, where it is 0 or 1: filters, joins and groups, shared with plain conditions."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from oracle.harness import Case, Feed, Oracle

from workbench import Options
from workbench.engine.spark.in_process import InProcess

CONDITIONS = (
    "ok = 1", "ok = 0", "ok <> 1", "NOT ok = 1", "ok > 0", "ok < 1", "ok >= 2", "0 = ok", "ok = n", "n > ok", "ok = 2",
    "ok IN (0, 2)", "ok NOT IN (1)", "ok BETWEEN 0 AND 0", "ok = 1 OR n = 1", "ok", "NOT ok",
    "ok IS NOT DISTINCT FROM 1", "ok IS DISTINCT FROM 0", "ok IN (SELECT n FROM f)", "ok = ANY (SELECT n FROM f)",
    "ok NOT IN (SELECT n FROM f WHERE n > 0)", "ok <> ALL (SELECT n FROM f WHERE n > 0)",
    "ok < ANY (SELECT n FROM f WHERE n > 0)",
)  # fmt: skip
OTHERS = (
    "SELECT a.id, b.id o FROM f a JOIN f b ON a.ok = b.n AND a.id < b.id",
    "SELECT a.id, b.id o FROM f a LEFT JOIN f b ON a.ok = b.n AND b.ok = 0",
    "SELECT ok, COUNT(*) c, COUNT(*) FILTER (WHERE ok = 1) one FROM f GROUP BY ok HAVING ok <> 1",
    "SELECT id FROM f a WHERE EXISTS (SELECT 1 FROM f b WHERE b.n = a.ok AND b.id < a.id)",
    "SELECT id, CASE WHEN ok = 1 THEN 'x' WHEN ok < 1 THEN 'y' END c FROM f",
)


@pytest.mark.parametrize("shared", [True, False])
def test_a_boolean_is_zero_or_one(shared: bool) -> None:
    chosen = random.Random(11)
    rows = [
        (chosen.randrange(12), chosen.choice([True, False, None]), chosen.choice([0, 1, 2, -1, None]))
        for _ in range(60)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = pa.table({"id": columns[0], "ok": pa.array(columns[1], pa.bool_()), "n": pa.array(columns[2], pa.int64())})
    texts = [*(f"SELECT id, n FROM f WHERE {condition}" for condition in CONDITIONS), *OTHERS]
    chosen.shuffle(texts)
    with Oracle(InProcess(), {"f": Feed(table, history=20, batch=10)}, Options(sharing=shared)) as oracle:
        oracle.register({f"q{at}": Case(text, dialect="duckdb") for at, text in enumerate(texts)})
        oracle.run(4)
        oracle.check_changes()
