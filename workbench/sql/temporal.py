"""Date and time functions of SQL text: formats, parts, truncation and shifts, in one form for every dialect."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from workbench.sql import coercion, formats
from workbench.sql.coercion import TypeClash
from workbench.sql.expressions import Constant, Expression
from workbench.sql.functions import call, cast
from workbench.sql.operators import shift
from workbench.sql.types import DATE, STRING, TIMESTAMP, Kind, decimal

if TYPE_CHECKING:
    from workbench.sql.scalar import ScalarBinder

_UNITS = {"YEAR": "YEAR", "YYYY": "YEAR", "SYYYY": "YEAR", "YY": "YEAR", "QUARTER": "QUARTER", "Q": "QUARTER",
          "MONTH": "MONTH", "MON": "MONTH", "MM": "MONTH", "WEEK": "WEEK", "IW": "WEEK", "DD": "DAY", "DDD": "DAY",
          "DAY": "DAY", "HOUR": "HOUR", "HH24": "HOUR", "MINUTE": "MINUTE", "MI": "MINUTE",
          "SECOND": "SECOND"}  # fmt: skip
_PARTS = {"YEAR": "year", "MONTH": "month", "DAY": "day", "QUARTER": "quarter", "WEEK": "week", "DOW": "dayofweek",
          "DAYOFWEEK": "dayofweek", "DOY": "dayofyear", "DAYOFYEAR": "dayofyear", "HOUR": "hour", "MINUTE": "minute",
          "SECOND": "second"}  # fmt: skip


def _pattern(binder: ScalarBinder, node: exp.Expr, convert: Callable[[str], str]) -> Constant:
    """A constant format as a Java pattern."""
    # Formats that the parser translated have lost their place, so the call is pointed at.
    place = node if "start" in node.meta or node.parent is None else node.parent
    if not (isinstance(node, exp.Literal) and node.is_string):
        binder.source.refuse("a format that is not a constant string", place)
    if binder.dialect == "oracle" and re.search("%-?[aAbB]", node.this):
        binder.source.refuse(
            "a date format with names of months or days", place, "formats of digits are, such as YYYY-MM-DD"
        )
    try:
        return Constant(convert(node.this), STRING)
    except ValueError as error:
        binder.source.refuse(str(error), place, "formats of digits are, such as YYYY-MM-DD")


def _unwrapped(node: exp.Expr) -> exp.Expr:
    """sqlglot wraps arguments of Spark's date functions in conversions that our types make needless."""
    wrappers = (exp.TsOrDsToDate, exp.TimeStrToTime, exp.TsOrDsToTimestamp)
    while isinstance(node, wrappers) and not node.args.get("format"):
        node = node.this
    return node


def _to_char(b: ScalarBinder, node: exp.ToChar) -> Expression:
    value = b.bind(node.this)
    format_ = node.args.get("format")
    if value.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        if format_ is None:
            b.source.refuse("TO_CHAR of a date without a format", node, "TO_CHAR(d, 'YYYYMMDD')")
        return call("date_format", value, _pattern(b, format_, formats.from_oracle))
    if format_ is not None:
        b.source.refuse("TO_CHAR of a number with a format", node)
    return cast(value, STRING)


def _time_to_str(b: ScalarBinder, node: exp.TimeToStr) -> Expression:
    return call("date_format", b.bind(_unwrapped(node.this)), _pattern(b, node.args["format"], formats.from_strftime))


def _to_date(b: ScalarBinder, node: exp.Expr) -> Expression:
    """TO_DATE of text under a format; without one a cast."""
    value = b.bind(_unwrapped(node.this))
    format_ = node.args.get("format")
    if format_ is None or value.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        return cast(value, DATE)
    return _parsed(b, node, "to_date", value, format_)


def _parsed(b: ScalarBinder, node: exp.Expr, name: str, value: Expression, format_: exp.Expr) -> Expression:
    made = call(name, value, _pattern(b, format_, formats.from_strftime))
    if isinstance(value, Constant) and not isinstance(made, Constant):
        raise b.source.error(f"'{value.value}' is not of the format", node)
    return made


def _str_to_time(b: ScalarBinder, node: exp.StrToTime) -> Expression:
    value, format_ = b.bind(node.this), node.args.get("format")
    if isinstance(value, Constant) and isinstance(value.value, str):
        # A TIMESTAMP literal arrives here too, with a format that has a fraction.
        literal = formats.parse_timestamp(value.value)
        if literal is not None and (format_ is None or "%f" in format_.name):
            return Constant(literal, TIMESTAMP)
    if format_ is None:
        return cast(value, TIMESTAMP)
    return _parsed(b, node, "to_timestamp", value, format_)


def _date_literal(b: ScalarBinder, node: exp.DateStrToDate) -> Expression:
    value = b.bind(node.this)
    try:
        return coercion.coerce(value, DATE) if isinstance(value, Constant) else cast(value, DATE)
    except TypeClash:
        raise b.source.error(f"'{node.this.name}' is not a date", node.this, "dates are year-month-day") from None


def _part(name: str) -> Callable[[ScalarBinder, Any], Expression]:
    return lambda b, node: call(name, b.bind(_unwrapped(node.this)))


def _extract(b: ScalarBinder, node: exp.Extract) -> Expression:
    unit = node.name.upper()
    if unit not in _PARTS:
        b.source.refuse(f"EXTRACT of {unit}", node)
    return call(_PARTS[unit], b.bind(node.expression))


def _truncated(b: ScalarBinder, value: Expression, unit: str, node: exp.Expr, date: bool) -> Expression:
    if (b.dialect == "oracle" and unit.upper() in ("DAY", "D", "DY", "WW", "W")) or unit.upper() not in _UNITS:
        b.source.refuse(f"truncation to {unit}", node, "year, quarter, month, week and day are")
    name, value = _UNITS[unit.upper()], coercion.moment(value)
    if not date:
        return call("trunc_timestamp", coercion.coerce(value, TIMESTAMP), Constant(name, STRING))
    if name in ("HOUR", "MINUTE", "SECOND"):
        b.source.refuse(f"truncation of a date to {unit}", node)
    value = cast(value, DATE)
    return value if name == "DAY" else call("trunc_date", value, Constant(name, STRING))


def _date_trunc(b: ScalarBinder, node: exp.DateTrunc | exp.TimestampTrunc) -> Expression:
    unit = node.args["unit"].name
    value = b.bind(_unwrapped(node.this))
    return _truncated(b, value, unit, node, date=isinstance(node, exp.DateTrunc))


def _trunc(b: ScalarBinder, arguments: list[Expression]) -> Expression:
    """Oracle's TRUNC, of a date to its day or of a number to its digits: the type decides."""
    if arguments[0].type.kind in (Kind.DATE, Kind.TIMESTAMP) and len(arguments) == 1:
        return cast(arguments[0], DATE)
    return _trunc_number(*arguments)


def _trunc_number(value: Expression, digits: Expression | None = None) -> Expression:
    if value.type.kind not in (Kind.INTEGER, Kind.DECIMAL):
        raise TypeClash(f"TRUNC needs a date or an exact number, not {value.type}", value)
    return call("truncate", value, *([digits] if digits is not None else []))


def _numeric_trunc(b: ScalarBinder, node: exp.Trunc) -> Expression:
    digits = node.args.get("decimals")
    return _trunc(b, [b.bind(node.this), *([b.bind(digits)] if digits is not None else [])])


def _date_add(b: ScalarBinder, node: exp.Expr) -> Expression:
    """DATE_ADD and DATE_SUB; a date plus days is the same expression however it was written."""
    value, amount = _unwrapped(node.this), node.expression
    sign = -1 if isinstance(node, exp.DateSub) else 1
    unit = (node.args["unit"].name if node.args.get("unit") else "DAY").upper()
    if isinstance(amount, exp.Interval):
        return shift(b, b.bind(value), amount, sign)
    if unit not in ("DAY", "DAYS"):
        return shift(b, b.bind(value), exp.Interval(this=amount, unit=node.args["unit"]), sign)
    bound = b.bind(value)
    return call("+" if sign == 1 else "-", coercion.coerce(bound, DATE), b.bind(amount))


def _date_diff(b: ScalarBinder, node: exp.DateDiff) -> Expression:
    unit = (node.args["unit"].name if node.args.get("unit") else "DAY").upper()
    if unit not in ("DAY", "DAYS"):
        b.source.refuse(f"a date difference in {unit}", node, "in days it is")
    left, right = (coercion.coerce(b.bind(_unwrapped(n)), DATE) for n in (node.this, node.expression))
    return call("-", left, right)


def _add_months(b: ScalarBinder, node: exp.AddMonths) -> Expression:
    value, months = coercion.coerce(b.bind(node.this), DATE), b.bind(node.expression)
    moved = call("add_months", value, months)
    if b.dialect != "oracle":
        return moved
    # Oracle moves the last day of a month to the last day of a month.
    return call("case", call("=", value, call("last_day", value)), call("last_day", moved), moved)


def _to_number(b: ScalarBinder, node: exp.ToNumber) -> Expression:
    return cast(b.bind(node.this), decimal(38, 10))


HANDLERS: dict[str, tuple[str, Callable[[ScalarBinder, Any], Expression]]] = {
    "ToChar": ("this format", _to_char),
    "TimeToStr": ("this format", _time_to_str),
    "StrToDate": ("this format", _to_date),
    "TsOrDsToDate": ("this format", _to_date),
    "Date": ("this", _to_date),
    "StrToTime": ("this format", _str_to_time),
    "DateStrToDate": ("this", _date_literal),
    "Year": ("this", _part("year")),
    "Month": ("this", _part("month")),
    "Day": ("this", _part("day")),
    "DayOfMonth": ("this", _part("day")),
    "Quarter": ("this", _part("quarter")),
    "DayOfWeek": ("this", _part("dayofweek")),
    "DayOfYear": ("this", _part("dayofyear")),
    "WeekOfYear": ("this", _part("week")),
    "Hour": ("this", _part("hour")),
    "Minute": ("this", _part("minute")),
    "Second": ("this", _part("second")),
    "Extract": ("this expression", _extract),
    "DateTrunc": ("this unit", _date_trunc),
    "TimestampTrunc": ("this unit", _date_trunc),
    "Trunc": ("this decimals", _numeric_trunc),
    "TsOrDsAdd": ("this expression unit", _date_add),
    "DateAdd": ("this expression unit", _date_add),
    "DateSub": ("this expression unit", _date_add),
    "TimestampAdd": ("this expression unit", _date_add),
    "DateDiff": ("this expression unit", _date_diff),
    "LastDay": ("this", lambda b, n: call("last_day", coercion.coerce(b.bind(_unwrapped(n.this)), DATE))),
    "AddMonths": ("this expression", _add_months),
    "ToNumber": ("this", _to_number),
}
NAMED: dict[str, Callable[[ScalarBinder, list[Expression]], Expression]] = {"trunc": _trunc}
