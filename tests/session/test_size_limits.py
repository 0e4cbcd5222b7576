"""Texts and arrays that functions make by numbers: a row that asks for more than there may be stops its query."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import UnsupportedError
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.checks import checks_of
from workbench.sql.schema import Schema

FIRST, LAST = dt.datetime(1900, 1, 1), dt.datetime(2000, 1, 1)
MADE = [
    ("duckdb", "RANGE(n)", "RANGE(20000)", "RANGE would make more than 10,000 values"),
    ("duckdb", "RANGE(0, n, 1)", "RANGE(0, 10001, 1)", "RANGE would make more than 10,000 values"),
    ("duckdb", "GENERATE_SERIES(0, -n, -1)",
     "GENERATE_SERIES(0, -10000, -1)", "GENERATE_SERIES would make more than 10,000 values"),
    ("duckdb", "GENERATE_SERIES(d, e, INTERVAL 1 DAY)",
     "GENERATE_SERIES(DATE '1900-01-01', '2000-01-01', INTERVAL 1 DAY)",
     "GENERATE_SERIES would make more than 10,000 values"),
    ("duckdb", "RANGE(t, u, INTERVAL 1 HOUR)",
     "RANGE(TIMESTAMP '2000-01-01', '2003-01-01', INTERVAL 1 HOUR)", "RANGE would make more than 10,000 values"),
    ("duckdb", "LIST_RESIZE([1], 20 * n)", None, "ARRAY_REPEAT would make more than 100,000 values"),
    ("spark", "SEQUENCE(1, 20 * n)", "SEQUENCE(1, 100001)", "SEQUENCE would make more than 100,000 values"),
    ("spark", "SEQUENCE(20 * n, 1, step)", "SEQUENCE(100001, 1, -1)", "SEQUENCE would make more than 100,000 values"),
    ("spark", "SEQUENCE(d, e)",
     "SEQUENCE(DATE '1900-01-01', DATE '2000-01-01')", "SEQUENCE would make more than 10,000 values"),
    ("spark", "SEQUENCE(d, DATE '2500-01-01', INTERVAL 1 MONTH)",
     "SEQUENCE(DATE '0100-01-01', DATE '2000-01-01', INTERVAL 1 MONTH)", "SEQUENCE would make more than 10,000 values"),
    ("spark", "SEQUENCE(t, u, INTERVAL 1 HOUR)",
     "SEQUENCE(TIMESTAMP '1900-01-01', TIMESTAMP '2000-01-01', INTERVAL 1 HOUR)",
     "SEQUENCE would make more than 10,000 values"),
    ("spark", "ARRAY_REPEAT('x', 20 * n)",
     "ARRAY_REPEAT('x', 100001)", "ARRAY_REPEAT would make more than 100,000 values"),
    ("spark", "REPEAT('ab', 10 * n)", "REPEAT('ab', 50001)", "REPEAT would make more than 100,000 characters"),
    ("spark", "REPEAT(s, n)", "REPEAT('0123456789', 10001)", "REPEAT would make more than 100,000 characters"),
    ("spark", "SPACE(20 * n)", "SPACE(100001)", "SPACE would make more than 100,000 characters"),
    ("spark", "TRANSFORM(ARRAY(n, 1), v -> REPEAT('0123456789', v))",
     "REPEAT('0123456789', 10001)", "REPEAT would make more than 100,000 characters"),
    ("postgres", "LPAD(s, 200 * n)", "LPAD('a', 1000001)", "LPAD would make more than 1,000,000 characters"),
    ("postgres", "RPAD(s, 200 * n)", None, "RPAD would make more than 1,000,000 characters"),
]  # fmt: skip
"""The dialect, a value of a row, the same of constants that ask for too much, and why it stops."""


def rows() -> pa.Table:
    """Two rows of which nothing is too large, and one of which everything is."""
    few, many = FIRST, LAST
    return pa.table({
        "n": pa.array([9, None, 20_000], pa.int64()), "step": pa.array([-1, -1, -1], pa.int64()),
        "s": ["0123456789"] * 3, "d": pa.array([LAST.date(), LAST.date(), dt.date(100, 1, 1)]),
        "e": pa.array([LAST.date()] * 3), "t": pa.array([many, many, few], pa.timestamp("us")),
        "u": pa.array([LAST] * 3, pa.timestamp("us")),
    })  # fmt: skip


@pytest.mark.parametrize(("dialect", "value", "constant", "reason"), MADE)
def test_a_query_runs_until_a_row_asks_for_too_much(
    dialect: str, value: str, constant: str | None, reason: str
) -> None:
    with Session(InProcess()) as session:
        session.add_stream("t", rows(), history=1, batch=1)
        size = "LENGTH" if "characters" in reason and "TRANSFORM" not in value else "CARDINALITY"
        size = {"duckdb": "LEN"}.get(dialect, size)
        query = session.register(f"SELECT n, {size}({value}) AS size FROM t", "made", dialect)
        taken = session.register(f"SELECT CASE WHEN n < 10 THEN {size}({value}) END AS size FROM t", "taken", dialect)
        assert (query.status, taken.status) == ("active", "active")
        session.run(1)
        assert query.status == "active"
        session.run(1)
        assert (query.status, taken.status) == (reason, "active")
        if constant is not None:
            with pytest.raises(UnsupportedError, match=reason):
                session.register(f"SELECT {constant} AS x FROM t", "constant", dialect)


def test_a_sequence_of_long_steps_may_go_far() -> None:
    with Session(InProcess()) as session:
        session.add_stream("t", pa.table({"n": [10**15], "step": [10**14]}), history=1, batch=1)
        query = session.register("SELECT SEQUENCE(0, n, step) AS far, SEQUENCE(n, 0, -step) AS back FROM t", "far")
        (far,), (back,) = (query.result()[name] for name in ("far", "back"))
        assert list(far) == [at * 10**14 for at in range(11)] == list(back)[::-1]


@pytest.mark.parametrize(
    ("dialect", "value"),
    [("spark", "SEQUENCE(GREATEST(n, 1), LEAST(step, 100), 1)"), ("spark", "REPEAT('ab', LEAST(n, 9))"),
     ("spark", "SPACE(3)"), ("duckdb", "RANGE(LEAST(n, 10))"), ("duckdb", "LIST_RESIZE([1], 5)")],
)  # fmt: skip
def test_what_is_bounded_has_no_check(dialect: str, value: str) -> None:
    schema = Schema(streams={"T": (("n", INTEGER), ("step", INTEGER))}, times={})
    bound = bind(f"SELECT {value} AS x FROM T", dialect, schema).query
    assert bound is not None and not checks_of(bound)


def test_what_aggregate_carries_is_bounded() -> None:
    with Session(InProcess()) as session:
        session.add_stream("t", rows(), history=1, batch=1)
        carried = "SELECT AGGREGATE(ARRAY(n, 2), 'x', (s, v) -> {}) AS s FROM t"
        with pytest.raises(UnsupportedError, match="REPEAT may make more than 100,000 characters"):
            session.register(carried.format("REPEAT(s, v)"))
        query = session.register(carried.format("REPEAT(LEFT(s, 5), LEAST(v, 2))"), "bounded")
        assert query.result()["s"].tolist() == ["xxxx"]
