"""What functions and operators give, in plain Python: total, as in Spark SQL, and exact where planning relies on it.

A DATE is its days since 1970 and a TIMESTAMP its microseconds, so that also those beyond the year 9999 have a value.
NULL is ``None``. Functions that planning does not look into need only be functions: of one value they give one value.
"""

from __future__ import annotations

import calendar
import datetime as dt
import decimal
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from workbench.sql.algebra.arithmetic import decimal_of
from workbench.sql.algebra.counted import MADE_OF_NUMBERS, NUMBERS_OF_COUNTED
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.time_patterns import pattern_of
from workbench.sql.algebra.types import DataType, Kind

NAN = float("nan")
"""The one NaN: it is equal to itself as a key of a dictionary, as NaN is in SQL."""

DAY = 86_400_000_000
"""Microseconds."""

_CONTEXT = decimal.Context(prec=200, rounding=decimal.ROUND_HALF_UP, Emax=9999, Emin=-9999)
_EPOCH = dt.datetime(1970, 1, 1)
_400_YEARS = 146_097
_UNITS = {"SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000}


def plain(value: Any) -> Any:
    """The one value that stands for all equal ones: -0.0 is 0.0, NaN is NaN, and times are numbers."""
    match value:
        case float():
            return NAN if value != value else value + 0.0
        case dt.datetime():
            return (value - _EPOCH) // dt.timedelta(microseconds=1)
        case dt.date():
            return (value - _EPOCH.date()).days
    return value


def function(call: Call, now: Any = None) -> Callable[..., Any]:
    """A call's function of the values of its arguments."""
    name, type_, types = call.function, call.type, [a.type for a in call.arguments]
    if name in _OF_NULLS:
        return _OF_NULLS[name]
    if name == "average":
        return lambda total, count: _average(type_, total, count)
    if name == "now":
        return lambda *_: now
    if name in "+-*/%":
        inner = _arithmetic(
            name, type_, [decimal_of(a) if type_.kind is Kind.DECIMAL else a.type for a in call.arguments]
        )
    elif name == "cast":
        inner = lambda value: cast(value, types[0], type_)  # noqa: E731
    elif name in _COMPARISONS:
        inner = _COMPARISONS[name]
    elif name in ("like", "ilike"):
        inner = _like(name)
    elif name in _OF_TIMES:
        scale = DAY if types[0].kind is Kind.TIMESTAMP else 1
        inner = lambda value, *more: _OF_TIMES[name](value, scale, *more)  # noqa: E731
    else:
        made = _OTHERS.get(name)
        inner = (lambda *values: made(type_, *values)) if made else (lambda *values: _any(name, values))

    def total(*values: Any) -> Any:
        return None if None in values else inner(*values)

    return total


# -- comparisons and logic -----------------------------------------------------------------------------------------


def compared(left: Any, right: Any) -> int:
    """-1, 0 or 1; beside a DOUBLE all are DOUBLE; NaN equals itself and is greater than any number."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        nans = left != left, right != right
        if any(nans):
            return nans[0] - nans[1]
    return (left > right) - (left < right)


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "=": lambda a, b: compared(a, b) == 0,
    "<>": lambda a, b: compared(a, b) != 0,
    "<": lambda a, b: compared(a, b) < 0,
    "<=": lambda a, b: compared(a, b) <= 0,
    ">": lambda a, b: compared(a, b) > 0,
    ">=": lambda a, b: compared(a, b) >= 0,
}


def _and(*values: Any) -> Any:
    return False if False in values else None if None in values else True


def _or(*values: Any) -> Any:
    return True if True in values else None if None in values else False


def _equal(left: Any, right: Any) -> bool:
    return left is right if left is None or right is None else compared(left, right) == 0


def _in(left: Any, *choices: Any) -> Any:
    return _or(*(None if left is None or c is None else compared(left, c) == 0 for c in choices))


def _case(*parts: Any) -> Any:
    for condition, value in zip(parts[0:-1:2], parts[1:-1:2], strict=True):
        if condition is True:
            return value
    return parts[-1]


def _extreme(sign: int) -> Callable[..., Any]:
    def found(*values: Any) -> Any:
        best = None
        for value in values:
            if value is not None and (best is None or sign * compared(value, best) > 0):
                best = value
        return best

    return found


def _average(type_: DataType, total: Any, count: Any) -> Any:
    if total is None or not count:
        return None
    return plain(float(total) / float(count)) if type_.kind is Kind.DOUBLE else _fitted(Fraction(total) / count, type_)


def _variance(n: Any, s: Any, q: Any) -> Any:
    if not n or s is None or q is None:
        return None
    return plain(float((Fraction(n) * Fraction(q) - Fraction(s) ** 2) / Fraction(n) ** 2))


_OF_NULLS: dict[str, Callable[..., Any]] = {
    "and": _and,
    "or": _or,
    "not": lambda value: None if value is None else not value,
    "is_null": lambda value: value is None,
    "<=>": _equal,
    "in": _in,
    "case": _case,
    "coalesce": lambda *values: next((v for v in values if v is not None), None),
    "greatest": _extreme(1),
    "least": _extreme(-1),
    "nullif": lambda a, b: None if a is not None and b is not None and compared(a, b) == 0 else a,
    "variance_pop": _variance,
}
"""Functions that look at NULLs themselves."""


# -- numbers -------------------------------------------------------------------------------------------------------


def _arithmetic(operator: str, type_: DataType, types: list[DataType]) -> Callable[[Any, Any], Any]:
    def computed(left: Any, right: Any) -> Any:
        match type_.kind:
            case Kind.DATE:  # of days, which are 32 bits
                days, by = (left, right) if types[0].kind is Kind.DATE else (right, left)
                moved = days + by if operator == "+" else days - by
                return moved if abs(by) < 2**31 and abs(moved) < 2**31 else None
            case Kind.DOUBLE:
                return plain(_float(operator, float(left), float(right)))
            case Kind.INTEGER:
                found = _whole(operator, left, right)
                return found if found is not None and -(2**63) <= found < 2**63 else None
        a, b = (_fitted(Fraction(v), t) for v, t in zip((left, right), types, strict=True))
        if a is None or b is None or (operator in "/%" and not b):
            return None
        exact = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b,
                 "%": lambda: a - b * math.trunc(a / b)}[operator]()  # fmt: skip
        return _fitted(exact, type_)

    return computed


def _float(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if right == 0:
        return None
    if operator == "/":
        return left / right
    return NAN if math.isinf(left) or left != left or right != right else math.fmod(left, right)


def _whole(operator: str, left: int, right: int) -> int | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if not right:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return left - right * quotient if operator == "%" else quotient


def _fitted(value: Fraction | Decimal | None, type_: DataType) -> Decimal | None:
    """An exact number in a DECIMAL type, rounded half up; NULL when it has too many digits."""
    if value is None:
        return None
    scaled = Fraction(value) * 10**type_.scale
    whole = math.floor(abs(scaled) + Fraction(1, 2)) * (-1 if scaled < 0 else 1)
    if abs(whole) >= 10**type_.precision:
        return None
    return _CONTEXT.scaleb(Decimal(whole), -type_.scale)


def cast(value: Any, source: DataType, target: DataType) -> Any:
    """A value in another type; NULL where it does not convert."""
    if value is None or source == target:
        return value
    match source.kind, target.kind:
        case Kind.DATE, Kind.TIMESTAMP:
            return value * DAY
        case Kind.TIMESTAMP, Kind.DATE:
            return value // DAY
        case _, Kind.STRING:
            return str(value).lower() if isinstance(value, bool) else str(value)
        case Kind.STRING, Kind.BOOLEAN:
            return {"true": True, "false": False}.get(value.lower())
        case Kind.STRING, (Kind.DATE | Kind.TIMESTAMP):
            try:
                moment = dt.datetime.fromisoformat(value)
            except ValueError:
                return None
            return plain(moment if target.kind is Kind.TIMESTAMP else moment.date())
        case Kind.STRING, _:
            try:
                value = float(value) if target.kind is Kind.DOUBLE else Fraction(value)
            except (ValueError, ZeroDivisionError):
                return None
    if target.kind is Kind.BOOLEAN:
        return value != 0
    if target.kind is Kind.DOUBLE:
        return plain(float(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if target.kind is Kind.DECIMAL:
        return _fitted(Fraction(value), target)
    whole = math.trunc(Fraction(value))
    return whole if -(2**63) <= whole < 2**63 else None


def _number(type_: DataType, value: Any) -> Any:
    """A result in its type; NULL where it does not fit."""
    if type_.kind is Kind.DECIMAL:
        return _fitted(Fraction(value), type_)
    if type_.kind is Kind.INTEGER:
        return int(value) if -(2**63) <= value < 2**63 else None
    return plain(float(value))


def _rounded(type_: DataType, value: Any, digits: int = 0) -> Any:
    digits = max(-60, min(digits, 60))
    if isinstance(value, float):
        return plain(round(value, digits)) if math.isfinite(value) else value
    step = Fraction(1, 10**digits) if digits >= 0 else Fraction(10**-digits)
    steps = Fraction(value) / step
    return _number(type_, math.floor(abs(steps) + Fraction(1, 2)) * (-1 if steps < 0 else 1) * step)


def _to_whole(rounding: Callable[[Any], int]) -> Callable[..., Any]:
    def found(type_: DataType, value: Any) -> Any:
        return None if isinstance(value, float) and not abs(value) < 9.2e18 else _number(type_, rounding(value))

    return found


def _substr(type_: DataType, value: str, start: int, length: int | None = None) -> str:
    first = start - 1 if start > 0 else max(0, len(value) + start) if start < 0 else 0
    return value[first : None if length is None else max(first, first + length)]


_OTHERS: dict[str, Callable[..., Any]] = {
    "pmod": lambda type_, value, by: value % by,
    "within": lambda type_, value: value if -(2 ** (type_.bits - 1)) <= value < 2 ** (type_.bits - 1) else None,
    "timestamp_micros": lambda type_, micros: micros,
    **dict.fromkeys((*MADE_OF_NUMBERS, *NUMBERS_OF_COUNTED), lambda type_, value: value),
    "neg": lambda type_, value: _number(type_, -value),
    "abs": lambda type_, value: _number(type_, abs(value)),
    "sign": lambda type_, value: value if value != value else float((value > 0) - (value < 0)),
    "div": lambda type_, a, b: (
        _number(type_, q) if (q := _whole("div", math.trunc(a), math.trunc(b))) is not None else None
    ),
    "round": _rounded,
    "floor": _to_whole(math.floor),
    "ceil": _to_whole(math.ceil),
    "sqrt": lambda type_, value: math.sqrt(value) if value >= 0 else None,
    "to_date": lambda type_, value, pattern: None if (t := pattern_of(pattern).time(value)) is None else t // DAY,
    "rlike": lambda type_, value, pattern: bool(re.search(pattern, value)),
    "upper": lambda type_, value: value.upper(),
    "lower": lambda type_, value: value.lower(),
    "length": lambda type_, value: len(value),
    "trim": lambda type_, value, *_: value.strip(" "),
    "||": lambda type_, a, b: a + b,
    "replace": lambda type_, value, old, new: value.replace(old, new) if old else value,
    "contains": lambda type_, value, part: part in value,
    "substr": _substr,
}
"""Functions of values that are not NULL, after their result type."""


def total(values: list[Any], type_: DataType) -> Any:
    """The sum of values in whatever order; NULL when it does not fit."""
    if type_.kind is not Kind.DOUBLE:
        return _number(type_, sum(map(Fraction, values)))
    special = {v for v in values if not math.isfinite(v)}
    if special:
        return next(iter(special)) if len(special) == 1 else NAN
    exact = sum(map(Fraction, values))
    try:
        return plain(float(exact))
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


# -- texts and times -----------------------------------------------------------------------------------------------


def _like(name: str) -> Callable[[str, str], bool]:
    def matches(value: str, pattern: str) -> bool:
        if name == "ilike":
            value, pattern = value.lower(), pattern.lower()
        parts = {"%": ".*", "_": "."}
        return bool(re.fullmatch("".join(parts.get(c, re.escape(c)) for c in pattern), value, re.DOTALL))

    return matches


def _day(value: int, scale: int) -> tuple[dt.date, int]:
    """A time's day in years that Python has, and by how many times 400 years it was moved."""
    days = value // scale
    moved = 0 if -700_000 <= days <= 2_900_000 else days // _400_YEARS
    return dt.date(1970, 1, 1) + dt.timedelta(days - moved * _400_YEARS), moved


def _back(day: dt.date, moved: int) -> int:
    return (day - dt.date(1970, 1, 1)).days + moved * _400_YEARS


def _truncated(value: int, scale: int, unit: str) -> int:
    if unit in _UNITS:
        return value // _UNITS[unit] * _UNITS[unit]
    day, moved = _day(value, scale)
    match unit:
        case "YEAR":
            day = day.replace(month=1, day=1)
        case "QUARTER":
            day = day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
        case "MONTH":
            day = day.replace(day=1)
        case "WEEK":
            return (value // scale - day.weekday()) * scale
    return _back(day, moved) * scale


def _months_later(value: int, scale: int, months: int) -> int | None:
    if abs(months) > 120_000:
        return None
    day, moved = _day(value, scale)
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= years <= 9999:
        return None
    last = calendar.monthrange(years, month + 1)[1]
    return _back(dt.date(years, month + 1, min(day.day, last)), moved) * scale + value % scale


def _last_day(value: int, scale: int) -> int:
    day, moved = _day(value, scale)
    return _back(day.replace(day=calendar.monthrange(day.year, day.month)[1]), moved)


_OF_TIMES: dict[str, Callable[..., Any]] = {
    "year": lambda value, scale: (found := _day(value, scale))[0].year + 400 * found[1],
    "month": lambda value, scale: _day(value, scale)[0].month,
    "day": lambda value, scale: _day(value, scale)[0].day,
    "dayofweek": lambda value, scale: _day(value, scale)[0].isoweekday() % 7 + 1,
    "hour": lambda value, scale: value // _UNITS["HOUR"] % 24 if scale == DAY else 0,
    "trunc_date": _truncated,
    "trunc_timestamp": _truncated,
    "add_months": _months_later,
    "add_months_to_timestamp": _months_later,
    "last_day": _last_day,
    "date_format": lambda value, scale, pattern: pattern_of(pattern).text(value * DAY // scale),
    "unix_micros": lambda value, scale: value,
    "add_seconds": lambda value, scale, seconds: value + seconds * 1_000_000,
    "window_start": lambda value, scale, seconds: value - value % (seconds * 1_000_000),
}
"""Functions of a time that is not NULL, after its microseconds a day or 1."""


def _any(name: str, values: tuple[Any, ...]) -> Any:
    """A function of the analyst's, of anything; each version gives something else."""
    name, _, version = name.partition("@")
    assert name.startswith("user_"), f"not evaluated here: {name}"
    return sum(value if isinstance(value, int) else len(str(value)) for value in values) % 7 - int(version)
