"""Date and time functions of SQL text: formats, parts, truncation and shifts, in one form for every dialect."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from workbench.sql.algebra import coercion, formats
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.functions import call, cast
from workbench.sql.algebra.types import DATE, STRING, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.binder.operators import shift
from workbench.sql.syntax.dialects import SPARK_FAMILY

if TYPE_CHECKING:
    from workbench.sql.binder.scalar import ScalarBinder

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
    if binder.dialect not in SPARK_FAMILY and re.search("%-?[aAbB]", node.this):
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
        b.source.refuse("TO_CHAR of a number with a format", node, "without a format an integer is written as it is")
    return written(b, value, node)


def _time_to_str(b: ScalarBinder, node: exp.TimeToStr) -> Expression:
    return call("date_format", b.bind(_unwrapped(node.this)), _pattern(b, node.args["format"], formats.from_strftime))


def _to_date(b: ScalarBinder, node: exp.Expr) -> Expression:
    """TO_DATE of text under a format; without one a cast."""
    value = b.bind(_unwrapped(node.this))
    format_ = node.args.get("format")
    if format_ is None or value.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        return converted(b, value, DATE, node)
    # A DATE of Oracle has a time of day, which is a TIMESTAMP here.
    timed = b.dialect == "oracle" and re.search("%-?[HIMSp]", format_.name)
    return _parsed(b, node, "to_timestamp" if timed else "to_date", value, format_)


def converted(b: ScalarBinder, value: Expression, type_: DataType, node: exp.Expr) -> Expression:
    """A cast to DATE or TIMESTAMP; a constant must be one.

    Raises:
        SqlError: the constant is none.
        UnsupportedError: Oracle would keep the time of day, or read the text by a setting of the session.
    """
    if b.dialect == "oracle" and type_ == DATE and value.type == TIMESTAMP:
        b.source.refuse("a TIMESTAMP as a DATE", node, "Oracle keeps its time of day; TRUNC(x) is its day")
    if isinstance(value, Constant) and isinstance(value.value, str):
        try:
            return coercion.coerce(value, type_)
        except TypeClash:
            form = "year-month-day, as in 2002-11-20" if type_ == DATE else "written as 2002-11-20 10:00:00"
            what = f"'{value.value}' is not a {type_}"
            raise b.source.error(what, node, f"{type_}s are {form}") from None
    if b.dialect == "oracle" and value.type == STRING and type_.kind in (Kind.DATE, Kind.TIMESTAMP):
        b.source.refuse(f"text as a {type_.kind.upper()} without a format", node, f"TO_{type_.kind.upper()}(x, format)")
    return cast(value, type_)


def written(b: ScalarBinder, value: Expression, node: exp.Expr) -> Expression:
    """A value as text.

    Raises:
        UnsupportedError: Oracle writes fractions its own way, and dates by a setting of the session.
    """
    if b.dialect == "oracle" and not coercion.is_null(value):
        if value.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            b.source.refuse(f"a {value.type.kind.upper()} as text without a format", node, "TO_CHAR(x, 'YYYY-MM-DD')")
        if value.type.kind in (Kind.DECIMAL, Kind.DOUBLE):
            b.source.refuse("a number with a fraction as text", node, "Oracle writes .5 for 0.5; keep it a number")
    return coercion.as_string(value)


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
        return converted(b, value, TIMESTAMP, node)
    return _parsed(b, node, "to_timestamp", value, format_)


def _date_literal(b: ScalarBinder, node: exp.DateStrToDate) -> Expression:
    return converted(b, b.bind(node.this), DATE, node.this)


def _part(name: str) -> Callable[[ScalarBinder, Any], Expression]:
    return lambda b, node: call(name, b.bind(_unwrapped(node.this)))


def _extract(b: ScalarBinder, node: exp.Extract) -> Expression:
    unit = node.name.upper()
    if unit not in _PARTS:
        b.source.refuse(f"EXTRACT of {unit}", node, f"there are {', '.join(_PARTS)}")
    if unit == "SECOND":
        whole = "TO_CHAR(x, 'SS')" if b.dialect == "oracle" else "SECOND(x)"
        b.source.refuse("EXTRACT of SECOND", node, f"it has a fraction; {whole} has none")
    return call(_PARTS[unit], b.bind(node.expression))


def _truncated(b: ScalarBinder, value: Expression, unit: str, node: exp.Expr, date: bool) -> Expression:
    if b.dialect == "oracle" and unit.upper() in ("DAY", "D", "DY", "WW", "W"):
        hint = "where a week begins depends on the database; IW is the week from Monday, DD the day"
        b.source.refuse(f"truncation to {unit}", node, hint)
    if unit.upper() not in _UNITS:
        b.source.refuse(f"truncation to {unit}", node, "year, quarter, month and week are")
    if date and b.dialect in SPARK_FAMILY and _UNITS[unit.upper()] == "DAY":
        hint = "Spark gives NULL; CAST(x AS DATE) is the day, and DATE_TRUNC('DAY', x) a timestamp"
        b.source.refuse(f"truncation to {unit}", node, hint)
    name, value = _UNITS[unit.upper()], coercion.moment(value)
    if not date:
        return call("trunc_timestamp", coercion.coerce(value, TIMESTAMP), Constant(name, STRING))
    if name in ("HOUR", "MINUTE", "SECOND"):
        hint = "a result of it is a DATE, a day" + ("" if b.dialect == "oracle" else "; DATE_TRUNC gives a TIMESTAMP")
        b.source.refuse(f"truncation of a date to {unit}", node, hint)
    value = cast(value, DATE)
    return value if name == "DAY" else call("trunc_date", value, Constant(name, STRING))


def _date_trunc(b: ScalarBinder, node: exp.DateTrunc | exp.TimestampTrunc) -> Expression:
    unit = node.args["unit"].name
    value = b.bind(_unwrapped(node.this))
    date = isinstance(node, exp.DateTrunc)
    # Hive's DATE_TRUNC is parsed as the truncation of a date, and Spark 2's TRUNC as that of a timestamp.
    called = (b.source.called(node) or "").upper() if b.dialect in SPARK_FAMILY else ""
    if called in ("TRUNC", "DATE_TRUNC"):
        date = called == "TRUNC"
    return _truncated(b, value, unit, node, date=date)


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
    if unit not in ("DAY", "DAYS") or (isinstance(amount, exp.Literal) and amount.is_string and node.args.get("unit")):
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
    value, months = _day(b, b.bind(node.this), node), b.bind(node.expression)
    moved = call("add_months", value, months)
    if b.dialect != "oracle":
        return moved
    # Oracle moves the last day of a month to the last day of a month.
    return call("case", call("=", value, call("last_day", value)), call("last_day", moved), moved)


def _day(b: ScalarBinder, value: Expression, node: exp.Expr) -> Expression:
    """A date; Oracle keeps the time of day of a timestamp, which must be cut off first."""
    if b.dialect == "oracle" and value.type == TIMESTAMP:
        b.source.refuse(f"{b.source.called(node)} of a TIMESTAMP", node, "Oracle keeps its time of day; take TRUNC(x)")
    return coercion.coerce(value, DATE)


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
    "LastDay": ("this", lambda b, n: call("last_day", _day(b, b.bind(_unwrapped(n.this)), n))),
    "AddMonths": ("this expression", _add_months),
    "ToNumber": ("this", _to_number),
}
NAMED: dict[str, Callable[[ScalarBinder, list[Expression]], Expression]] = {"trunc": _trunc}
