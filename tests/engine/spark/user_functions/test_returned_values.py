"""What a user function may return for each type, and how many arguments it takes; anything else is refused by name."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest

from workbench.engine.spark.user_functions.process import FunctionLimits
from workbench.engine.spark.user_functions.returned_values import LENGTH, WrongValueError, converter_to
from workbench.errors import SessionError, SqlError
from workbench.session.directory.stored_functions import argument_counts
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal, parse_type
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema, UserFunction

MONEY = decimal(15, 2)
DAY, NOON = dt.date(2002, 1, 1), dt.datetime(2002, 1, 1, 12)


class Shouting(str):
    def __str__(self) -> str:
        return self.upper() + "!"


class Colour(enum.StrEnum):
    RED = "red"


class Unshowable:
    def __repr__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (3, DOUBLE, 3.0),
        (np.int64(3), DOUBLE, 3.0),
        (np.float32(0.5), DOUBLE, 0.5),
        (Decimal("0.25"), DOUBLE, 0.25),
        (Decimal("-Infinity"), DOUBLE, float("-inf")),
        (np.int32(7), INTEGER, 7),
        (2**63 - 1, INTEGER, 2**63 - 1),
        (-(2**63), INTEGER, -(2**63)),
        (7, MONEY, Decimal(7)),
        (Decimal("7.25"), MONEY, Decimal("7.25")),
        (Decimal("7.255"), MONEY, Decimal("7.26")),
        (Decimal("-7.255"), MONEY, Decimal("-7.26")),
        (Decimal("1E3"), MONEY, Decimal(1000)),
        (10**38 - 1, decimal(38, 0), Decimal(10**38 - 1)),
        (np.bool_(True), BOOLEAN, True),
        (np.str_("a"), STRING, "a"),
        (Shouting("a"), STRING, "a"),
        (Colour.RED, STRING, "red"),
        ("\U0001f600", STRING, "\U0001f600"),
        (DAY, DATE, DAY),
        (NOON, TIMESTAMP, NOON),
        (pd.Timestamp(NOON), TIMESTAMP, NOON),
        *((None, type_, None) for type_ in (BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, MONEY)),
    ],
)
def test_values_that_fit_become_what_spark_takes(value: object, type_: DataType, expected: object) -> None:
    found = converter_to(type_)(value)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("3", DOUBLE),
        (True, DOUBLE),
        (10**400, DOUBLE),
        (Decimal("sNaN"), DOUBLE),
        (True, INTEGER),
        (2.5, INTEGER),
        (2**63, INTEGER),
        (-(2**63) - 1, INTEGER),
        (2.5, MONEY),
        (Decimal("NaN"), MONEY),
        (Decimal("Infinity"), MONEY),
        (Decimal("12345678901234.00"), MONEY),
        (Decimal("9999999999999.995"), MONEY),
        (Decimal("1E999999"), MONEY),
        (10**13, MONEY),
        (1, BOOLEAN),
        (3, STRING),
        (b"3", STRING),
        ("a\ud800", STRING),
        (NOON, DATE),
        (pd.NaT, DATE),
        (DAY, TIMESTAMP),
        (pd.NaT, TIMESTAMP),
        (pd.NA, DOUBLE),
        (NOON.replace(tzinfo=dt.UTC), TIMESTAMP),
        (np.datetime64("2002-01-01"), DATE),
        (Unshowable(), DOUBLE),
    ],
)
def test_values_that_do_not_fit_count_as_raised(value: object, type_: DataType) -> None:
    with pytest.raises(TypeError, match="was returned, which is no"):
        converter_to(type_)(value)


@pytest.mark.parametrize(
    ("value", "type_", "message"),
    [
        (2**63, INTEGER, "9223372036854775808 was returned, which is no integer: it does not fit into 64 bits"),
        (10**13, MONEY, r"which is no decimal\(15,2\): it has more than 13 digits before the decimal point"),
        (NOON.replace(tzinfo=dt.UTC), TIMESTAMP, "it has a time zone, and stream time has none"),
        ("a\ud800", STRING, "it has a lone surrogate, which is no character"),
        (pd.NaT, TIMESTAMP, "NaT was returned, which is no timestamp"),
        (Unshowable(), DOUBLE, "a value of type Unshowable was returned"),
    ],
)
def test_what_does_not_fit_is_named_with_the_reason(value: object, type_: DataType, message: str) -> None:
    with pytest.raises(WrongValueError, match=message):
        converter_to(type_)(value)


def test_a_value_that_does_not_fit_is_named_briefly() -> None:
    with pytest.raises(WrongValueError) as raised:
        converter_to(STRING)(["x" * 1000] * 1000)
    assert len(str(raised.value)) < 2 * LENGTH


def test_a_decimal_is_rounded_the_same_in_every_context() -> None:
    with localcontext(prec=3):
        assert converter_to(MONEY)(Decimal("123456.785")) == Decimal("123456.79")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda: 1, (0, 0)),
        (lambda a: a, (1, 1)),
        (lambda a, b=1: a, (1, 2)),
        (lambda a, *rest: a, (1, None)),
        (lambda a, *, b=1: a, (1, 1)),
        (max, (0, None)),
        (abs, (1, 1)),
    ],
)
def test_how_many_arguments_a_function_takes(function: Callable[..., object], expected: tuple[int, int | None]) -> None:
    assert argument_counts("f", function) == expected


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(SessionError, match="g cannot be 5\nhint: give a Python function"):
        argument_counts("g", 5)  # type: ignore[arg-type]
    with pytest.raises(SessionError, match="function g has an argument that must be named, b, which SQL cannot do"):
        argument_counts("g", lambda a, *, b: a)


@pytest.mark.parametrize(
    ("parameters", "call", "message"),
    [
        ((1, 1), "f(k, k)", "function f takes 1 argument, and is given 2"),
        ((1, 1), "f()", "function f takes 1 argument, and is given 0"),
        ((1, 2), "f(k, k, k)", "function f takes 1 to 2 arguments, and is given 3"),
        ((2, None), "f(k)", "function f takes at least 2 arguments, and is given 1"),
        ((0, 0), "f(k)", "function f takes 0 arguments, and is given 1"),
    ],
)
def test_a_call_with_another_number_of_arguments_is_refused(
    parameters: tuple[int, int | None], call: str, message: str
) -> None:
    schema = Schema({"t": (("k", INTEGER),)}, functions={"f": UserFunction("f", DOUBLE, parameters)})
    with pytest.raises(SqlError) as refused:
        bind(f"SELECT {call} AS x FROM t", "spark", schema)
    assert refused.value.message == message and refused.value.position is not None


@pytest.mark.parametrize(
    "limits", [(0, 1), (1, 0), ("1", 1), (1, 1.5), (float("nan"), 1), (True, 1), (1e9, 1), (1, None)]
)
def test_a_limit_that_is_none_is_refused(limits: tuple[float, int]) -> None:
    with pytest.raises(SessionError, match=r"(seconds|memory) cannot be .*\nhint: give a number above 0"):
        FunctionLimits(*limits)


def test_a_type_that_is_none_is_refused() -> None:
    for text in ("fancy", "", 5, None):
        with pytest.raises(SqlError, match=f"unknown type {text}"):
            parse_type(text)  # type: ignore[arg-type]
