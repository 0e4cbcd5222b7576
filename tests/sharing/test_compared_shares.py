"""A share that is only compared is a sign; one that is shown, or used in another way, stays what it is."""

import pyarrow as pa
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session
from workbench.sharing.analytic.compared_shares import with_compared_shares
from workbench.sql.algebra.types import DOUBLE, INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, parts_of
from workbench.sql.schema import Schema

SCHEMA = Schema({"t": (("id", INTEGER), ("g", INTEGER), ("x", DOUBLE))})
SHARE = "PERCENT_RANK() OVER (PARTITION BY g ORDER BY x)"
INNER = f"SELECT id, g, {SHARE} AS p FROM t"


@pytest.mark.parametrize(
    ("sql", "functions"),
    [
        (f"SELECT id FROM t QUALIFY {SHARE} > 0.9", ["percent_rank(0.9d)"]),
        (f"SELECT id FROM t QUALIFY {SHARE} BETWEEN 0.1 AND 0.9", ["percent_rank(0.1d)", "percent_rank(0.9d)"]),
        (f"SELECT id FROM ({INNER}) AS q WHERE p <= 0.1 OR p > 0.9", ["percent_rank(0.1d)", "percent_rank(0.9d)"]),
        (f"SELECT g, COUNT(*) FROM ({INNER}) AS q WHERE p < 0.5 GROUP BY g", ["percent_rank(0.5d)"]),
        (f"SELECT id, p FROM ({INNER}) AS q WHERE p > 0.9", ["percent_rank()"]),
        (f"SELECT id FROM ({INNER}) AS q WHERE p > 0.9 AND p < id", ["percent_rank()"]),
        (f"SELECT id FROM ({INNER}) AS q WHERE p > 'NaN'::DOUBLE", ["percent_rank()"]),
        (f"SELECT id FROM ({INNER}) AS q WHERE p > 0.9 ORDER BY p", ["percent_rank()"]),
        (f"SELECT a.id FROM ({INNER}) AS a JOIN t ON a.p = t.x WHERE a.p > 0.9", ["percent_rank()"]),
    ],
)
def test_what_is_computed(sql: str, functions: list[str]) -> None:
    query = bind(sql, "duckdb", SCHEMA).query
    assert query is not None
    blocks = [part for part in parts_of(with_compared_shares(query)) if isinstance(part, Block)]
    computed = {a.call.text.partition(" OVER")[0] for block in blocks for a in block.analytics}
    assert sorted(computed) == functions


def test_only_rows_that_cross_the_constant_change() -> None:
    rows = pa.table({"id": range(210), "x": [float(n * 37 % 211) for n in range(210)]})
    with Session(InProcess()) as session:
        session.add_stream("t", rows, history=200, batch=10)
        query = session.register("SELECT id FROM t QUALIFY PERCENT_RANK() OVER (ORDER BY x) > 0.9", dialect="duckdb")
        session.run(1)
        assert len(query.changes(since=0)) <= 4
        assert "SIGN(PERCENT_RANK() OVER (ORDER BY x" in str(query.explain())
