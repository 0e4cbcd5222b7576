"""Constants: what texts mean as dates and times, exact conversions, and folding of calls on constants.

A call is folded only where its value is certain to be what Spark computes.
"""

from __future__ import annotations

import calendar
import datetime as dt
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from workbench.sql.algebra.arithmetic import EXACT, exact_constant, fits
from workbench.sql.algebra.expressions import Call, Constant, Value
from workbench.sql.algebra.time_patterns import pattern_of
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INSTANT, STRING, TIMESTAMP, DataType, Kind
from workbench.sql.algebra.zones import CLOCK_OF, INSTANT_OF, LAST_INSTANT_OF, clock_of, in_zone, instant_of

_SQL_FORMS = ["yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm", "yyyy-MM-dd"]
_DIRECTIVES = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_LETTERS = "|".join(_DIRECTIVES)
_OFFSET = re.compile(r"([0-9]{4}-[0-9-]{5}[ T][0-9:.]+)\s*(?:Z|([+-])(1[0-8]|0[0-9])(?::?([0-5][0-9]))?)")
"""A time with an offset from UTC, as all databases read it."""
PLAIN_NUMBER = re.compile(r"[+-]?[0-9]{1,60}(\.[0-9]{1,60})?")
"""Text that every database reads as the same number; Python alone also reads 1_000, and digits of other scripts."""
_EPOCH = dt.datetime(1970, 1, 1)
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def parse_date(text: str, pattern: str = "yyyy-MM-dd") -> dt.date | None:
    """The date that a text means under a Java pattern of plain digits; ``None`` when it does not parse."""
    time = parse_timestamp(text, pattern)
    return time.date() if time else None


def parse_timestamp(text: str, pattern: str | None = None) -> dt.datetime | None:
    """The time that a text means; without a pattern in SQL's forms, a date alone or with a time to microseconds."""
    text = _padded(text) if pattern is None else text
    for form in [pattern] if pattern else _SQL_FORMS:
        directives = re.sub(_LETTERS, lambda m: _DIRECTIVES[m[0]], form).replace("'", "")
        # strptime takes 1-digit months where Java's two letters want two digits, so the shape is checked first.
        shape = re.sub(_LETTERS, lambda m: f"[0-9]{{{len(m[0])}}}", re.escape(form.replace("'", "")))
        fraction = r"(\.\d{1,6})?" if pattern is None and form.endswith("ss") else ""
        if not re.fullmatch(shape + fraction, text):
            continue
        year = "" if "%Y" in directives else "1970 "  # Spark's where the pattern has none
        seconds = ".%f" if "." in text and fraction else ""
        try:
            return dt.datetime.strptime(year + text, ("%Y " if year else "") + directives + seconds)
        except ValueError:
            continue
    return None


def _padded(text: str) -> str:
    """A time with two digits for its month, day, hour, minute and second, which all databases read with one, too."""
    return re.sub("(?<![0-9.])([0-9])(?![0-9])", r"0\1", text.strip())


def parse_instant(text: str) -> dt.datetime | None:
    """The instant in UTC of a text with an offset; ``None`` if it has none, or is no time.

    Example:
        >>> parse_instant("2023-11-05 01:40:00-07:00")
        datetime.datetime(2023, 11, 5, 8, 40)
    """
    match = _OFFSET.fullmatch(text.strip())
    local = parse_timestamp(match[1]) if match else None
    if match is None or local is None:
        return None
    hours, minutes = int(match[3] or 0), int(match[4] or 0)
    offset = dt.timedelta(hours=hours, minutes=minutes)
    try:
        return local + offset if match[2] == "-" else local - offset
    except OverflowError:
        return None


def constant_as(constant: Constant, type_: DataType) -> Constant | None:
    """The constant in another type; ``None`` where something would be lost, or a text is not of that type."""
    value = constant.value
    if value is not None and INSTANT in (constant.type, type_) and constant.type != type_:
        return _constant_of_zone(constant, type_)
    match value, type_.kind:
        case None, _:
            return Constant(None, type_)
        case bool(), _:
            return None
        case ((int() | Decimal()), Kind.DOUBLE):
            return Constant(float(value), DOUBLE)
        case ((int() | Decimal()), (Kind.INTEGER | Kind.DECIMAL)) if fits(value, type_):
            return exact_constant(value, type_)
        case str(), Kind.DATE:
            date = parse_date(_padded(value))
            return Constant(date, DATE) if date else None
        case str(), Kind.TIMESTAMP:
            time = parse_timestamp(value)
            return Constant(time, TIMESTAMP) if time else None
        case dt.datetime(), Kind.DATE if value.time() == dt.time():
            return Constant(value.date(), DATE)
        case dt.date(), Kind.TIMESTAMP if not isinstance(value, dt.datetime):
            return Constant(dt.datetime.combine(value, dt.time()), TIMESTAMP)
    return None


def _constant_of_zone(constant: Constant, type_: DataType) -> Constant | None:
    """An instant as another constant, or another one as an instant, in the zone of the text."""
    if constant.type == INSTANT:
        shown = in_zone(constant, TIMESTAMP) if type_.temporal else None
        if not isinstance(shown, Constant):
            return None
        return shown if type_ == TIMESTAMP else constant_as(shown, type_)
    if isinstance(constant.value, str):
        instant, clock = parse_instant(constant.value), parse_timestamp(constant.value)
        if instant is not None or clock is None:
            return None if instant is None else Constant(instant, INSTANT)
        constant = Constant(clock, TIMESTAMP)
    made = in_zone(constant, INSTANT) if constant.type.temporal else None
    return made if isinstance(made, Constant) else None


def fold(expression: Call) -> Constant | None:
    """The value of a call on constants, none of them NULL; ``None`` where it is not certain.

    What a value is as text is Spark's to say, but for integers and truth values.
    """
    type_ = expression.type
    match expression.function, [a.value for a in expression.arguments if isinstance(a, Constant)]:
        case ("+" | "-" | "*") as operator, [left, right]:
            return _fold_arithmetic(operator, left, right, type_)
        case "neg", [int() | Decimal() as value] if fits(_negated(value), type_):
            return exact_constant(_negated(value), type_)
        case "neg", [float() as value]:
            return Constant(-value, DOUBLE)
        case "abs", [int() | Decimal() as value] if fits(size := _negated(value) if value < 0 else value, type_):
            return exact_constant(size, type_)
        case (("/" | "/_ieee"), [float() as left, float() as right]) if right:
            return _finite(left / right)
        case "||", [*texts] if all(isinstance(text, str) for text in texts):
            return Constant("".join(map(str, texts)), STRING)
        case (("lower" | "upper") as case_, [str() as text]) if text.isascii():  # of others Java's rules differ
            return Constant(getattr(text, case_)(), STRING)
        case "length", [str() as text]:
            return Constant(len(text), type_)
        case "cast", [value]:
            return _fold_cast(value, type_)
        case (("to_date" | "to_timestamp"), [str() as text, str() as pattern]):
            return _read(text, pattern, type_)
        case "date_format", [dt.date() as time, str() as pattern] if (known := pattern_of(pattern)).writes is not None:
            return Constant(known.text(_micros(time)), STRING)
        case (("add_months" | "add_months_to_timestamp"), [dt.date() as time, int() as months]):
            return _time(months_later, time, months, type_)
        case function, [dt.datetime(), str() as zone] if function in (CLOCK_OF, INSTANT_OF, LAST_INSTANT_OF):
            first, is_last = expression.arguments[0], function == LAST_INSTANT_OF
            found = clock_of(first, zone) if function == CLOCK_OF else instant_of(first, zone, is_last)
            return found if isinstance(found, Constant) else None
        case "add_seconds", [dt.datetime() as time, int() as seconds]:
            return _time(lambda time, seconds: time + dt.timedelta(seconds=seconds), time, seconds, type_)
        case operator, [left, right] if operator in _COMPARISONS:
            return _fold_comparison(operator, left, right)
    return None


def _read(text: str, pattern: str, type_: DataType) -> Constant | None:
    """The time that a text is under a pattern, NULL where it is none; ``None`` where only Spark knows."""
    known = pattern_of(pattern)
    if known.readers is None:
        return None
    micros = known.time(text)
    if micros is None:
        return Constant(None, type_)
    try:
        time = _EPOCH + dt.timedelta(microseconds=micros)
    except OverflowError:  # before the year 1 or after 9999
        return None
    return Constant(time.date() if type_ == DATE else time, type_)


def _micros(time: dt.date) -> int:
    """The microseconds since 1970."""
    moment = time if isinstance(time, dt.datetime) else dt.datetime.combine(time, dt.time())
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)


def months_later(time: dt.date, months: int) -> dt.date:
    """The same day of another month, or its last; a timestamp keeps its time of day.

    Raises:
        ValueError, OverflowError: that is before the year 1 or after 9999.

    Example:
        >>> months_later(dt.date(2020, 1, 31), 1)
        datetime.date(2020, 2, 29)
    """
    year, month = divmod(time.year * 12 + time.month - 1 + months, 12)
    return time.replace(year=year, month=month + 1, day=min(time.day, calendar.monthrange(year, month + 1)[1]))


def _time(move: Callable[[Any, int], dt.date], time: dt.date, by: int, type_: DataType) -> Constant | None:
    try:
        return Constant(move(time, by), type_)
    except (ValueError, OverflowError):
        return None


def _fold_arithmetic(operator: str, left: Value, right: Value, type_: DataType) -> Constant | None:
    if isinstance(left, bool) or isinstance(right, bool):
        return None
    if isinstance(left, dt.date) and type_ == DATE and isinstance(right, int):
        try:
            return Constant(left + dt.timedelta(days=right if operator == "+" else -right), DATE)
        except OverflowError:
            return None
    if isinstance(left, float) and isinstance(right, float):
        return _finite({"+": left + right, "-": left - right, "*": left * right}[operator])
    if not (isinstance(left, (int, Decimal)) and isinstance(right, (int, Decimal))) or not type_.exact:
        return None
    operation = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}[operator]
    value = operation(Decimal(left), Decimal(right))
    return exact_constant(value, type_) if fits(value, type_) else None


def _finite(value: float) -> Constant | None:
    """A DOUBLE, which all compute alike."""
    return Constant(value, DOUBLE) if math.isfinite(value) else None


def _negated(value: int | Decimal) -> int | Decimal:
    """A number with its sign changed; a plain minus sign would round a Decimal to 28 digits."""
    return value.copy_negate() if isinstance(value, Decimal) and value else -value


def _fold_cast(value: Value, type_: DataType) -> Constant | None:
    match value, type_.kind:
        case str(), (Kind.DATE | Kind.TIMESTAMP):
            return constant_as(Constant(value, STRING), type_)
        case str(), (Kind.INTEGER | Kind.DECIMAL) if PLAIN_NUMBER.fullmatch(value):
            parsed = Decimal(value)
            return exact_constant(parsed, type_) if fits(parsed, type_) else None
        case bool(), Kind.STRING:
            return Constant("true" if value else "false", STRING)
        case bool(), Kind.INTEGER:
            return Constant(int(value), type_)
        case bool(), _:
            return None
        case ((int() | Decimal()), (Kind.INTEGER | Kind.DECIMAL)) if fits(value, type_):
            return exact_constant(value, type_)
        case ((int() | Decimal()), Kind.DOUBLE):
            return Constant(float(value), DOUBLE)
        case int(), Kind.STRING:
            return Constant(str(value), STRING)
    return None


def _fold_comparison(operator: str, left: object, right: object) -> Constant | None:
    if isinstance(left, str) and isinstance(right, str):
        # Spark orders strings by their bytes, and UTF-8 bytes order as code points do.
        left, right = left.encode(), right.encode()
    comparable = type(left) is type(right) or {type(left), type(right)} == {int, Decimal}
    if not comparable or isinstance(left, float):
        return None
    sign = (left > right) - (left < right)  # type: ignore[operator]
    return Constant(compares(operator, sign), BOOLEAN)


def compares(operator: str, sign: int) -> bool:
    """Whether a comparison is true of two values, of which the first is less (-1), equal (0) or greater (1)."""
    return {"=": sign == 0, "<>": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]
