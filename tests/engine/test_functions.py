"""What a user function may return for each type; anything else would silently be NULL in Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from workbench.engine.functions import fitting
from workbench.sql.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal

MONEY = decimal(15, 2)
DAY, NOON = dt.date(2002, 1, 1), dt.datetime(2002, 1, 1, 12)


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (3, DOUBLE, 3.0),
        (np.int64(3), DOUBLE, 3.0),
        (np.float32(0.5), DOUBLE, 0.5),
        (Decimal("0.25"), DOUBLE, 0.25),
        (np.int32(7), INTEGER, 7),
        (7, MONEY, Decimal(7)),
        (Decimal("7.25"), MONEY, Decimal("7.25")),
        (np.bool_(True), BOOLEAN, True),
        (np.str_("a"), STRING, "a"),
        (DAY, DATE, DAY),
        (NOON, TIMESTAMP, NOON),
        *((None, type_, None) for type_ in (BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, MONEY)),
    ],
)
def test_values_that_fit_become_what_spark_takes(value: object, type_: object, expected: object) -> None:
    found = fitting(value, type_)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("3", DOUBLE),
        (True, DOUBLE),
        (True, INTEGER),
        (2.5, INTEGER),
        (2.5, MONEY),
        (1, BOOLEAN),
        (3, STRING),
        (NOON, DATE),
        (DAY, TIMESTAMP),
    ],
)
def test_values_that_do_not_fit_count_as_raised(value: object, type_: object) -> None:
    with pytest.raises(TypeError, match="was returned, which is no"):
        fitting(value, type_)
