"""Date and time functions of SQL text: formats, parts, truncation and shifts, in one form for every dialect."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial

from sqlglot import exp

from workbench.errors import UnsupportedError, nearest, with_article
from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import TypeClash, is_null
from workbench.sql.algebra.constant_texts import typed_text
from workbench.sql.algebra.counted import counted_number
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.folding import constant_as, parse_instant
from workbench.sql.algebra.hints import literal_hint
from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INSTANT,
    INTEGER,
    INTERVAL,
    MONTHS,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    Kind,
    decimal,
)
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import as_moment
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, reads_name, unwrapped
from workbench.sql.functions.results import to_digits
from workbench.sql.functions.times import interval_arithmetic
from workbench.sql.functions.times.intervals import IntervalPart, add_interval, interval_parts, unit_called
from workbench.sql.functions.times.time_differences import named_unit, part_of_difference, time_difference
from workbench.sql.functions.times.time_texts import iso_text
from workbench.sql.functions.times.times_of_day import on_clock
from workbench.sql.functions.times.times_of_duckdb import era, julian
from workbench.sql.functions.times.zoned import at_clock, epoch_units, in_utc, session_timestamp
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

_UNITS = {"YEAR": "YEAR", "YYYY": "YEAR", "SYYYY": "YEAR", "YY": "YEAR", "QUARTER": "QUARTER", "Q": "QUARTER",
          "MONTH": "MONTH", "MON": "MONTH", "MM": "MONTH", "WEEK": "WEEK", "IW": "WEEK", "DD": "DAY", "DDD": "DAY",
          "DAY": "DAY", "HOUR": "HOUR", "HH24": "HOUR", "MINUTE": "MINUTE", "MI": "MINUTE",
          "SECOND": "SECOND"}  # fmt: skip
_PARTS = {"YEAR": "year", "MONTH": "month", "DAY": "day", "QUARTER": "quarter", "WEEK": "week", "DOW": "dayofweek",
          "DAYOFWEEK": "dayofweek", "DOY": "dayofyear", "DAYOFYEAR": "dayofyear", "HOUR": "hour", "MINUTE": "minute",
          "SECOND": "second"}  # fmt: skip
_SHORT_PARTS = {"Y": "YEAR", "YR": "YEAR", "YRS": "YEAR", "QTR": "QUARTER", "MON": "MONTH", "MONS": "MONTH",
                "W": "WEEK", "D": "DAY", "H": "HOUR", "HR": "HOUR", "HRS": "HOUR", "M": "MINUTE", "MIN": "MINUTE",
                "MINS": "MINUTE", "S": "SECOND", "SEC": "SECOND", "SECS": "SECOND",
                "DOW_ISO": "DAYOFWEEK_ISO"}  # fmt: skip
"""Short names of parts in spark."""
_LONG_PARTS = {"DECADE": (10, 0), "CENTURY": (100, 99), "MILLENNIUM": (1000, 999)}
"""Part -> how many years it has, and how many of its first one are not there."""
_EXACT_PARTS = ("MICROSECOND", "MILLISECOND", "ISOYEAR", "YEARWEEK")
_START = Constant(dt.datetime(1970, 1, 1), TIMESTAMP)


# ---- casts -----------------------------------------------------------------------------------------------------------


def cast_to_time(b: ExpressionBinder, value: Expression, type_: DataType, node: exp.Expr) -> Expression:
    """A cast to DATE, TIMESTAMP or TIMESTAMP WITH TIME ZONE; a constant must be one.

    A TIMESTAMP of spark is an instant, and of a text in UTC what its clock shows, which says as much.

    Raises:
        SqlError: the constant is no time.
        UnsupportedError: Oracle would keep the time of day, or read the text by a setting of the session.
    """
    if b.rules.date_has_time and type_ == DATE and value.type == TIMESTAMP:
        b.source.refuse("a TIMESTAMP as a DATE", node, "Oracle keeps its time of day; TRUNC(x) is its day")
    names_zone_less = isinstance(node, exp.Cast) and node.args["to"].this == exp.DType.TIMESTAMPNTZ
    of_session = type_ == TIMESTAMP and b.rules.timestamp_is_instant and not names_zone_less
    if isinstance(value, Constant) and isinstance(value.value, str):
        if of_session and (instant := parse_instant(value.value)) is not None:
            return session_timestamp(Constant(instant, INSTANT))
        if value.value.strip().lower() == "epoch" and (b.rules.clock_in_intervals or type(node) is exp.Cast):
            return cast(Constant(dt.date(1970, 1, 1), DATE), type_)
        clock = constant_as(Constant(value.value.strip().removesuffix("Z"), STRING), TIMESTAMP)
        try:
            return coercion.coerce(_as_iso(b, value, type_), type_)
        except TypeClash:
            if (
                clock is not None
                and b.rules.exact
                and not b.rules.date_has_time
                and (type_ == DATE or (type_ == TIMESTAMP and b.rules.clock_in_intervals))
            ):
                return cast(clock, type_)
            form = "year-month-day, as in 2002-11-20" if type_ == DATE else "written as 2002-11-20 10:00:00"
            what = f"'{value.value}' is not {with_article(str(type_))}"
            raise b.source.error(what, node, literal_hint(value.value, type_) or f"{type_}s are {form}") from None
    if b.rules.times_by_setting and value.type == STRING:
        b.source.refuse(f"text as a {type_.kind.upper()} without a format", node, f"TO_{type_.kind.upper()}(x, format)")
    if of_session and value.type in (STRING, INSTANT):
        return session_timestamp(cast(value, INSTANT)) if value.type == STRING else value
    return cast(_as_iso(b, value, type_), type_)


def _as_iso(b: ExpressionBinder, value: Expression, type_: DataType) -> Expression:
    """A text as the dialect's database reads it as a time, in ISO 8601.

    Raises:
        TypeClash: the text is a constant, and none.
    """
    if value.type != STRING or is_null(value) or not b.rules.time_texts:
        return value
    kind = "instant" if type_ == INSTANT else type_.kind.value
    if isinstance(value, Constant) and isinstance(value.value, str):
        text = iso_text(value.value, kind, b.rules.time_texts)
        if text is None:
            raise TypeClash(f"'{value.value}' is not {with_article(str(type_))}", value)
        has_zone = kind == "timestamp" and text != iso_text(value.value, "instant", b.rules.time_texts)
        return value if has_zone else Constant(text, STRING)
    return call(f"iso_time_in_{b.rules.time_texts}", value, Constant(kind, STRING))


# ---- parts and truncation --------------------------------------------------------------------------------------------


def part(name: str) -> Callable[[ExpressionBinder, exp.Expr], Expression]:
    """YEAR(x), MONTH(x) and their like."""
    return lambda b, node: call(name, _of_clock(b.bind(unwrapped(node.this)), name))


def _of_clock(value: Expression, part: str) -> Expression:
    """A time, of which a part is taken; of a TIME those of a clock."""
    if part.lower() not in ("hour", "minute", "second"):
        return value
    is_clock = isinstance(value, Constant) and constant_as(value, TIMESTAMP) is None
    return on_clock(coercion.as_counted(value, TIME) or value if is_clock else value)


@reads(exp.Extract, parts="this expression")
def extract(b: ExpressionBinder, node: exp.Extract) -> Expression:
    """EXTRACT(part FROM x), and DATE_PART(part, x) where it is parsed as that."""
    found = _extracted(b, node)
    if not b.rules.extract_is_numeric:
        return found
    if (b.source.called(node) or "").upper() == "DATE_PART":
        return cast(found, DOUBLE)
    return cast(found, decimal(10, 0)) if found.type.kind is Kind.INTEGER else found


def _extracted(b: ExpressionBinder, node: exp.Extract) -> Expression:
    unit = node.name.upper()
    if b.rules.explodes:
        unit = _SHORT_PARTS.get(unit, unit)
        if unit == "DAYOFWEEK_ISO":
            return call("+", call("weekday", b.bind(node.expression)), Constant(1, INTEGER))
        if unit == "YEAROFWEEK":
            return _exact_part(b, b.bind(node.expression), "ISOYEAR")
    unit = unit if unit in _PARTS else unit_called(b, unit) or unit.removesuffix("S")
    unit = {"CENTURIE": "CENTURY"}.get(unit, unit)
    if unit == "EPOCH":
        return _epoch(b, node)
    if (found := part_of_difference(b, node.expression, unit)) is not None:
        return found
    if unit in ("DOW", "ISODOW") and b.rules.day_of_week:
        return _day_of_week(b.bind(node.expression), unit)
    if (
        unit in _LONG_PARTS
        and b.rules.day_of_week
        and (long := _long_part(b, b.bind(node.expression), unit)) is not None
    ):
        return long
    if unit in _EXACT_PARTS and b.rules.day_of_week:
        return _exact_part(b, b.bind(node.expression), unit)
    if unit in ("ERA", "JULIAN") and b.rules.day_of_week:
        return era(b.bind(node.expression)) if unit == "ERA" else julian(b.bind(node.expression))
    if unit not in _PARTS:
        hint = "DOW is the day of the week" if unit in ("WEEKDAY", "DAYNAME") else nearest(unit, _PARTS)
        place = b.source.keyword(unit) if unit.isidentifier() else b.source.of(node)
        hint = hint or f"there are {', '.join(_PARTS)}"
        raise UnsupportedError(f"EXTRACT of {unit} is not supported", **place, hint=hint)
    if unit == "SECOND" and b.rules.second == "fraction":
        return _second(b, coercion.as_time(on_clock(b.bind(node.expression))))
    if unit == "SECOND" and not b.rules.second:
        whole = "TO_CHAR(x, 'SS')" if b.rules.date_has_time else "SECOND(x)"
        b.source.refuse("EXTRACT of SECOND", node, f"it has a fraction; {whole} has none")
    return call(_PARTS[unit], _of_clock(b.bind(node.expression), unit))


def _long_part(b: ExpressionBinder, value: Expression, unit: str) -> Expression:
    """DECADE, CENTURY and MILLENNIUM, which begin with a year 1, of times and of intervals of months."""
    years, in_first = _LONG_PARTS[unit]
    if value.type == MONTHS:
        return call("div", counted_number(value), Constant(12 * years, INTEGER))
    year = call("year", _of_clock(value, "YEAR"))
    return call("div", call("+", year, Constant(in_first, INTEGER)), Constant(years, INTEGER))


def _second(b: ExpressionBinder, time: Expression, digits: int = 6) -> Expression:
    """The second of a time with its microseconds, as a DECIMAL(8,6), or in a unit of which there are fewer digits."""
    step = Constant(Decimal(1).scaleb(-digits), decimal(digits, digits))
    return cast(call("*", cast(_microsecond(b, time), decimal(8, 0)), step), decimal(8, digits))


def _microsecond(b: ExpressionBinder, time: Expression) -> Expression:
    """The microseconds of a time since its minute."""
    second, micros = Constant(1_000_000, INTEGER), call("unix_micros", in_utc(b, time))
    return call("+", call("*", call("second", time), second), call("pmod", micros, second))


def _exact_part(b: ExpressionBinder, value: Expression, unit: str) -> Expression:
    """MICROSECOND and MILLISECOND, which count from the minute, ISOYEAR and YEARWEEK, of weeks of ISO 8601."""
    if unit in ("MICROSECOND", "MILLISECOND"):
        time = coercion.as_time(on_clock(value))
        if unit == "MICROSECOND":
            return _microsecond(b, time)
        thousand = Constant(1_000, INTEGER)
        return _second(b, time, 3) if b.rules.second == "fraction" else call("div", _microsecond(b, time), thousand)
    day = cast(coercion.as_time(value), DATE)
    thursday = call("+", day, call("-", Constant(4, INTEGER), _day_of_week(day, "ISODOW")))
    year = call("year", thursday)
    return year if unit == "ISOYEAR" else call("+", call("*", year, Constant(100, INTEGER)), call("week", day))


def _extract_as(*names: str, **nodes: type[exp.Expr]) -> None:
    """Let duckdb read names, and syntax nodes, that are parts of a time."""

    def bind(part: str) -> Callable[[ExpressionBinder, exp.Expr], Expression]:
        def part_of(b: ExpressionBinder, node: exp.Expr) -> Expression:
            values = node.expressions if isinstance(node, exp.Anonymous) else node.expressions or [node.this]
            if len(values) != 1:
                raise b.source.error(f"{part.upper()} takes 1 argument, not {len(values)}", node)
            return b.bind(exp.Extract(this=exp.var(part), expression=values[0].copy()))

        return part_of

    for name in names:
        reads_call(name, dialects=ONLY_DUCKDB)(bind({"weekday": "dow"}.get(name, name)))
    for part, node in nodes.items():
        reads(node, dialects=ONLY_DUCKDB)(bind(part))


def _day_of_week(value: Expression, unit: str) -> Expression:
    """DOW is 0 on Sunday and 6 on Saturday, ISODOW 1 on Monday and 7 on Sunday."""
    one, day = Constant(1, INTEGER), call("dayofweek", value)
    if unit == "DOW":
        return call("-", day, one)
    return call("+", call("%", call("+", day, Constant(5, INTEGER)), Constant(7, INTEGER)), one)


def _epoch(b: ExpressionBinder, node: exp.Extract) -> Expression:
    """EXTRACT(EPOCH FROM t), the seconds since 1970, or of the difference of two timestamps, the seconds between."""
    sides = time_difference(b, node.expression)
    if sides is None and (value := b.bind(node.expression)).type == INTERVAL:
        seconds = interval_arithmetic.seconds(value)
    else:
        seconds = call("seconds_between", *(interval_arithmetic.subtracted(*sides) if sides else (value, _START)))
    return cast(seconds, DOUBLE) if b.rules.epoch_is_double else seconds


@reads(exp.DateTrunc, exp.TimestampTrunc, parts="this unit")
def truncate_time(b: ExpressionBinder, node: exp.DateTrunc | exp.TimestampTrunc) -> Expression:
    """TRUNC(d, unit), whose result is a DATE, and DATE_TRUNC(unit, x), whose result is a TIMESTAMP."""
    unit = node.args["unit"].name
    value = b.bind(unwrapped(node.this))
    to_date = isinstance(node, exp.DateTrunc)
    # Hive's DATE_TRUNC is parsed as the truncation of a date, and Spark 2's TRUNC as that of a timestamp.
    called = (b.source.called(node) or "").upper() if b.rules.trunc_by_name else ""
    if called in ("TRUNC", "DATE_TRUNC"):
        to_date = called == "TRUNC"
    if b.rules.times_by_setting and unit.upper() in ("DAY", "D", "DY", "WW", "W"):
        hint = "where a week begins depends on the database; IW is the week from Monday, DD the day"
        b.source.refuse(f"truncation to {unit}", node, hint)
    name = _UNITS.get(unit.upper()) or (_UNITS.get(unit_called(b, unit) or "") if b.rules.clock_in_intervals else None)
    if name is None:
        hint = nearest(unit, _UNITS) or "a unit is YEAR, QUARTER, MONTH, WEEK …, the first of DATE_TRUNC('MONTH', d)"
        given = unwrapped(node.this)
        if unit.isdecimal():
            hint = "numbers have ROUND(x, 2), and FLOOR(x * 100) / 100 leaves the other digits out"
        if isinstance(given, exp.Literal) and given.name.upper() in _UNITS:
            hint = f"the unit stands first: DATE_TRUNC('{given.name}', {unit.lower()})"
        b.source.refuse(f"truncation to {unit}", node, hint)
    if to_date and not b.rules.trunc_to_day and name == "DAY":
        hint = "Spark gives NULL; CAST(x AS DATE) is the day, and DATE_TRUNC('DAY', x) a timestamp"
        b.source.refuse(f"truncation to {unit}", node, hint)
    value = coercion.as_time(value)
    if not to_date:
        clock = call("trunc_timestamp", coercion.coerce(value, TIMESTAMP), Constant(name, STRING))
        return at_clock(b, value, clock, name) if value.type == INSTANT else clock
    if name in ("HOUR", "MINUTE", "SECOND"):
        hint = "a result of it is a DATE, a day" + ("" if b.rules.date_has_time else "; DATE_TRUNC gives a TIMESTAMP")
        b.source.refuse(f"truncation of a date to {unit}", node, hint)
    value = cast(value, DATE)
    return value if name == "DAY" else call("trunc_date", value, Constant(name, STRING))


@reads_name("trunc")
def trunc(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """TRUNC without a unit, of a date to its day or of a number to its digits: the type decides."""
    if not arguments:
        raise TypeClash("TRUNC takes 1 to 2 arguments, not 0")
    value = arguments[0]
    if value.type.temporal and len(arguments) == 1:
        return cast(value, DATE)
    if b.rules.numeric_keeps_digits and value.type == DOUBLE and len(arguments) == 1:
        below = call("<", value, Constant(0.0, DOUBLE))
        return call("case", below, call("ceil_of_double", value), call("floor_of_double", value))
    if b.rules.rounds_in_double and value.type == DOUBLE:
        return call("trunc_in_duckdb", *arguments)
    if value.type.kind not in (Kind.INTEGER, Kind.DECIMAL):
        if value.type.temporal:
            raise TypeClash("TRUNC takes no unit", value, hint=f"as in DATE_TRUNC('month', x) of {value.type}s")
        raise TypeClash(
            f"TRUNC needs a date or an exact number, not {value.type}", value, hint="as in CAST(x AS DECIMAL)"
        )
    return to_digits(b, "truncate", *arguments)


# ---- shifts and differences ------------------------------------------------------------------------------------------


@reads(exp.TsOrDsAdd, exp.DateAdd, exp.DateSub, exp.TimestampAdd, parts="this expression unit")
def date_add(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """DATE_ADD and DATE_SUB; a date plus days is the same expression however it was written."""
    value, amount = unwrapped(node.this), node.expression
    if isinstance(node, exp.TimestampAdd):
        length = exp.Interval(this=amount, unit=node.args.get("unit"))
        return add_interval(b, as_moment(b.bind(value)), _passing(b, length), 1, node)
    sign = -1 if isinstance(node, exp.DateSub) else 1
    unit = named_unit(b, node)
    texts = isinstance(amount, exp.Literal) and amount.is_string and node.args.get("unit") is not None
    is_given = node.args.get("unit") is not None and b.rules.unit_is_given
    if isinstance(amount, exp.Interval) and is_given:
        raise b.source.error("an interval has its unit already", node, "leave the third argument out")
    if isinstance(amount, exp.Interval) or unit != "DAY" or texts:
        if isinstance(amount, exp.Interval):
            return add_interval(b, b.bind(value), interval_parts(b, amount) or (), sign, node)
        return add_interval(
            b, b.bind(value), _passing(b, exp.Interval(this=amount, unit=node.args.get("unit"))), sign, node
        )
    day, days = coercion.coerce(b.bind(value), DATE), b.bind(amount)
    return call("+" if sign == 1 else "-", day, typed_text(days, [INTEGER]) or days)


def _passing(b: ExpressionBinder, length: exp.Interval) -> list[IntervalPart]:
    return [replace(part, passes=True) for part in interval_parts(b, length) or ()]


@reads(exp.MonthsBetween, parts="this expression roundoff", dialects=SPARK_FAMILY)
def months_between(b: ExpressionBinder, node: exp.MonthsBetween) -> Expression:
    """MONTHS_BETWEEN(later, earlier[, rounded to 8 digits]), by months of 31 days."""
    times = (coercion.as_time(b.bind(unwrapped(n))) for n in (node.this, node.expression))
    rounds = b.bind(node.args["roundoff"]) if node.args.get("roundoff") is not None else Constant(True, BOOLEAN)
    return call("months_between", *(coercion.coerce(time, TIMESTAMP) for time in times), rounds)


@reads_call("date_part", "datepart", dialects=SPARK_FAMILY | {"duckdb"})
def date_part(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """DATE_PART('YEAR', x), as EXTRACT(YEAR FROM x)."""
    unit, *values = node.expressions or [exp.null()]
    if len(values) != 1 or not isinstance(unit, exp.Literal) or not unit.name:
        raise b.source.error("DATE_PART takes a constant part and a time", node, "as in DATE_PART('YEAR', t)")
    part_of_time = exp.Extract(this=exp.var(unit.name), expression=values[0].copy())
    part_of_time.parent = node.parent
    part_of_time.meta.update(node.meta)
    return extract(b, part_of_time)


@reads(exp.AddMonths, parts="this expression")
def add_months(b: ExpressionBinder, node: exp.AddMonths) -> Expression:
    """ADD_MONTHS, which may move the last day of a month to the last day of a month."""
    value, months = _day(b, b.bind(node.this), node), b.bind(node.expression)
    moved = call("add_months", value, months)
    if not b.rules.months_keep_last_day:
        return moved
    return call("case", call("=", value, call("last_day", value)), call("last_day", moved), moved)


@reads(exp.NextDay, parts="this expression", dialects=SPARK_FAMILY)
def next_day(b: ExpressionBinder, node: exp.NextDay) -> Expression:
    """NEXT_DAY(d, 'MON'), the first such day after a date."""
    if not isinstance(node.expression, exp.Literal) or node.expression.name.upper() not in _DAYS:
        b.source.refuse("NEXT_DAY of what is no constant day", node, "as in NEXT_DAY(d, 'MON')")
    return call("next_day", *b.parts(node, "this", "expression"))


@reads(exp.LastDay)
def last_day(b: ExpressionBinder, node: exp.LastDay) -> Expression:
    """The last day of a date's month."""
    return call("last_day", _day(b, b.bind(unwrapped(node.this)), node))


def _day(b: ExpressionBinder, value: Expression, node: exp.Expr) -> Expression:
    """A date; Oracle keeps the time of day of a timestamp, which must be cut off first."""
    if b.rules.date_has_time and value.type == TIMESTAMP:
        b.source.refuse(f"{b.source.called(node)} of a TIMESTAMP", node, "Oracle keeps its time of day; take TRUNC(x)")
    return coercion.coerce(value, DATE)


_NAMES = {
    "dayofweek": ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
    "month": ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
              "November", "December"),
}  # fmt: skip
"""The names that duckdb gives days and months, in whatever language."""
_DAYS = {name.upper()[:length] for name in _NAMES["dayofweek"] for length in (2, 3, 9)}


def name_of(function: str, part: str) -> Callable[[ExpressionBinder, exp.Expr], Expression]:
    """DAYNAME and MONTHNAME, of three letters or whole."""

    def bind(b: ExpressionBinder, node: exp.Expr) -> Expression:
        if not b.rules.full_names_of_days:
            return call(function, b.bind(node.this))
        return call("elt", call(part, b.bind(node.this)), *(Constant(name, STRING) for name in _NAMES[part]))

    return bind


_PARTS_OF_TIMES: dict[type[exp.Expr], str] = {
    exp.Year: "year", exp.Quarter: "quarter", exp.Month: "month", exp.WeekOfYear: "week", exp.Day: "day",
    exp.DayOfMonth: "day", exp.DayOfWeek: "dayofweek", exp.DayOfYear: "dayofyear", exp.Hour: "hour",
    exp.Minute: "minute", exp.Second: "second",
}  # fmt: skip
for _node, _part in _PARTS_OF_TIMES.items():
    reads(_node)(part(_part))
for _node, _function in {exp.UnixSeconds: "unix_seconds", exp.UnixMillis: "unix_millis",
                         exp.UnixMicros: "unix_micros"}.items():  # fmt: skip
    reads(_node, dialects=SPARK_FAMILY)(partial(epoch_units, _function))
reads(exp.Dayname, dialects=SPARK_FAMILY | ONLY_DUCKDB)(name_of("dayname", "dayofweek"))
reads(exp.Monthname, dialects=SPARK_FAMILY | ONLY_DUCKDB)(name_of("monthname", "month"))
reads(exp.DateStrToDate)(lambda b, node: cast_to_time(b, b.bind(node.this), DATE, node.this))
reads(exp.DateFromUnixDate, dialects=SPARK_FAMILY)(
    lambda b, node: call("+", Constant(dt.date(1970, 1, 1), DATE), coercion.coerce(b.bind(node.this), INTEGER))
)
reads(exp.Trunc, parts="this decimals")(lambda b, node: trunc(b, b.parts(node, "this", "decimals")))
_extract_as(
    "weekday", "yearweek", "isoyear", "century", "decade", "millennium", "microsecond", "millisecond", "era", "julian"
)
_extract_as(dow=exp.DayOfWeek, isodow=exp.DayOfWeekIso, week=exp.WeekOfYear)
_extract_as(week=exp.Week)
reads(exp.DateFromParts, parts="year month day", dialects=ONLY_DUCKDB)(
    lambda b, node: call("make_date", *b.parts(node, "year", "month", "day"))
)
