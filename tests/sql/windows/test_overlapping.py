"""Which statistics of overlapping windows are put together from slices, and which are computed from the rows."""

from __future__ import annotations

import pytest

from workbench.sql.algebra.types import DOUBLE, INTEGER, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, LogicalQuery, SetQuery
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={"G": (("ts", TIMESTAMP), ("a", INTEGER), ("wide", decimal(38, 0)), ("x", DOUBLE))}, times={"G": "ts"}
)


def groups_slices(query: LogicalQuery) -> bool:
    """Whether what is put together for each window is grouped already."""
    while isinstance(query, Block) and not isinstance(query.inputs[0], SetQuery):
        assert isinstance(query.inputs[0], Block)
        query = query.inputs[0]
    assert isinstance(query, Block)
    (union,) = query.inputs
    while isinstance(union, SetQuery):
        union = union.branches[0]
    inner = union.inputs[0] if isinstance(union, Block) else None
    return isinstance(inner, Block) and inner.grouping is not None


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("COUNT(*)", True),
        ("MAX(x)", True),
        ("SUM(a)", True),
        ("SUM(x)", True),
        ("SUM(wide)", False),  # a slice's sum that overflows is NULL, which the window's sum would pass over
        ("COUNT(DISTINCT a)", False),
        ("MEDIAN(a)", False),
    ],
)
def test_windows_are_put_together_from_slices_where_that_is_exact(statistic: str, expected: bool) -> None:
    bound = bind(f"SELECT {statistic} AS v FROM G GROUP BY window(ts, '1 hour', '15 minutes')", "spark", SCHEMA).query
    assert bound is not None
    assert groups_slices(bound) is expected
