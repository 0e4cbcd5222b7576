"""Which statistics follow from changes alone, and which need the rows (T4.2)."""

from __future__ import annotations

import pytest

from workbench.engine.physical.accumulators import additive
from workbench.sql.algebra.expressions import AggregateCall, Column, column_name
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, DataType, decimal

MONEY = decimal(15, 2)


def call(function: str, type_: DataType, distinct: bool = False) -> AggregateCall:
    result = {"count": INTEGER, "sum": decimal(38, 0)}.get(function, type_) if type_ is INTEGER else type_
    return AggregateCall(function, (Column("a", type_),), result, distinct)


@pytest.mark.parametrize(
    ("statistic", "monotone", "retracted"),
    [
        (AggregateCall("count", (), INTEGER), True, True),
        (call("count", STRING), True, True),
        (call("sum", INTEGER), True, True),
        (call("sum", MONEY), True, True),
        (call("sum", DOUBLE), True, True),
        (call("var_samp", DOUBLE), True, True),
        (call("min", MONEY), True, False),
        (call("max", STRING), True, False),
        (call("count", INTEGER, distinct=True), False, False),
        (call("sum", MONEY, distinct=True), False, False),
        (call("median", DOUBLE), False, False),
        (call("mode", STRING), False, False),
    ],
    ids=lambda value: f"{value.function}({value.arguments})"[:40] if isinstance(value, AggregateCall) else str(value),
)
def test_additive_over_rows_that_stay_and_over_rows_that_may_go(
    statistic: AggregateCall, monotone: bool, retracted: bool
) -> None:
    assert (additive("s", statistic, monotone=True) is not None) is monotone
    assert (additive("s", statistic, monotone=False) is not None) is retracted


def test_a_sum_keeps_the_number_of_its_values() -> None:
    """Without it, the sum of values that were all retracted could not be told from 0."""
    found = additive(column_name(call("sum", MONEY)), call("sum", MONEY), monotone=False)
    assert found is not None
    assert len(found.parts) == 2
    assert found.parts[0].type == decimal(38, 2)
    assert found.final.count == found.parts[1].name
