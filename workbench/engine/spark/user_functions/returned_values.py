"""The values that a user function may return for each SQL type, and their conversion for Spark.

Any other value is refused with a message, and never becomes a silent NULL. Values are converted as SQL does when it
stores them in a column: 3 becomes 3.0 for a DOUBLE, and a DECIMAL is rounded half up to the digits of its type.
"""

from __future__ import annotations

import datetime as dt
import reprlib
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from numbers import Integral, Real
from typing import Any

import numpy as np

from workbench.sql.algebra.types import DataType, Kind

LENGTH = 200
"""The most characters that are shown of what a function raised or returned."""


class WrongValueError(TypeError):
    """A function returned a value that is not of its type."""


def converter_to(returns: DataType) -> Callable[[Any], Any]:
    """Converts values that a function returned to the Python type that Arrow takes for an SQL type.

    The converter raises WrongValueError for what is no value of that type.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE, decimal
        >>> converter_to(DOUBLE)(3), converter_to(decimal(5, 2))(Decimal("0.125"))
        (3.0, Decimal('0.13'))
        >>> converter_to(DOUBLE)("3")
        Traceback (most recent call last):
        workbench.engine.spark.user_functions.returned_values.WrongValueError: '3' was returned, which is no double
    """
    kind, convert = _READY.get(returns.kind, type(None)), _CONVERSIONS[returns.kind]

    def convert_value(value: Any) -> Any:
        if value is None or type(value) is kind:
            return value
        try:
            return convert(value, returns)
        except (ArithmeticError, ValueError, TypeError) as problem:
            why = f": {problem}" if isinstance(problem, _WithReason) else ""
            raise WrongValueError(f"{short_repr(value)} was returned, which is no {returns}{why}") from problem

    return convert_value


def short_repr(value: Any) -> str:
    """A value in a few characters, also where its own ``repr`` fails.

    Example:
        >>> short_repr("a" * 1000)
        "'aaaaaaaaaaaa...aaaaaaaaaaaaa'"
    """
    try:
        return shortened(reprlib.repr(value))
    except BaseException:  # a value may raise anything when it is shown
        return f"a value of type {type(value).__name__}"


def shortened(text: str) -> str:
    """A text cut to ``LENGTH`` characters, which every file and every notebook can take."""
    safe = text.encode("utf-8", "backslashreplace").decode()
    return safe if len(safe) <= LENGTH else safe[: LENGTH - 1] + "…"


class _WithReason(ValueError):
    """A value that is not of the type, with a reason that the analyst cannot see from the value."""


def _boolean(value: Any, _: DataType) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise TypeError


def _integer(value: Any, _: DataType) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise _WithReason("it does not fit into 64 bits")
    return number


def _decimal(value: Any, returns: DataType) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, Integral | Decimal):
        raise TypeError
    number = value if isinstance(value, Decimal) else Decimal(int(value))
    if not number.is_finite():
        raise TypeError
    try:
        # It refuses what has more digits than the context; in the context of a thread it would be another number.
        return number.quantize(Decimal(1).scaleb(-returns.scale), ROUND_HALF_UP, Context(prec=returns.precision))
    except InvalidOperation:
        before = returns.precision - returns.scale
        raise _WithReason(f"it has more than {before} digits before the decimal point") from None


def _double(value: Any, _: DataType) -> float:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise TypeError
    return float(value)


def _string(value: Any, _: DataType) -> str:
    if not isinstance(value, str):
        raise TypeError
    text = str.__str__(value)  # what a class of strings makes of itself is not its characters
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _WithReason("it has a lone surrogate, which is no character") from None
    return text


def _timestamp(value: Any, returns: DataType) -> dt.datetime:
    if not isinstance(value, dt.datetime) or value != value:  # pandas' NaT counts as a time, and equals nothing
        raise TypeError
    if returns.zoned and value.tzinfo is None:
        raise _WithReason("it has no time zone, so it is no instant")
    if returns.zoned:
        value = value.astimezone(dt.UTC)
    elif value.tzinfo is not None:
        raise _WithReason("it has a time zone, and stream time has none")
    return dt.datetime.combine(value.date(), value.time())


def _date(value: Any, _: DataType) -> dt.date:
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise TypeError
    return dt.date(value.year, value.month, value.day)


_READY = {Kind.BOOLEAN: bool, Kind.DOUBLE: float, Kind.DATE: dt.date}
"""Python types of which no value needs a conversion."""

_CONVERSIONS: dict[Kind, Callable[[Any, DataType], Any]] = {
    Kind.BOOLEAN: _boolean,
    Kind.INTEGER: _integer,
    Kind.DECIMAL: _decimal,
    Kind.DOUBLE: _double,
    Kind.STRING: _string,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
}
"""By kind of type the conversion of a value; it raises where the value is not of the type."""
