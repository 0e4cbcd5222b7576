"""Differences of two times in whole units, and the parts of one.

Databases count differently: DATEDIFF(unit, a, b) of Spark, as TIMESTAMPDIFF, and DATE_SUB of DuckDB count whole units
toward zero, DATE_DIFF of DuckDB the borders of units that lie between.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import NoReturn

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra import coercion
from workbench.sql.algebra.counted import counted_number
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.hints import on_a_clock
from workbench.sql.algebra.types import (
    DATE,
    DOUBLE,
    INSTANT,
    INTEGER,
    INTERVAL,
    MONTHS,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    decimal,
)
from workbench.sql.algebra.zones import UTC, clock_of, zoning
from workbench.sql.functions.calls import call, cast, instant_of_micros
from workbench.sql.functions.elsewhere import usual_call
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, reads_name, unwrapped
from workbench.sql.functions.times.interval_arithmetic import note_clocks, subtracted
from workbench.sql.functions.times.intervals import interval_parts, unit_called
from workbench.sql.functions.times.times_of_day import in_seconds
from workbench.sql.functions.times.times_of_duckdb import months_between, months_in_unit, start_of_months
from workbench.sql.syntax.dialects import DATABASES, EXAMINED, ONLY_DUCKDB, ONLY_POSTGRES, SPARK_FAMILY

_MICROS = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
           "DAY": 86_400_000_000, "WEEK": 604_800_000_000}  # fmt: skip
_IN_YEAR = {"YEAR": 1, "QUARTER": 4, "MONTH": 12}
MONDAY = Constant(dt.datetime(2000, 1, 3), TIMESTAMP)
_NEXT = {"HOUR": "DAY", "MINUTE": "HOUR", "SECOND": "MINUTE"}
_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_ONE_UNIT = re.compile(r" *([0-9]+) +(\w+?)s? *")
OF_GROUPS = "of_groups"
"""A mark of a call of TIME_BUCKET_GAPFILL that makes the groups whose gaps are filled."""
_WHOLE = "SECOND, MINUTE, HOUR, DAY and WEEK are"


@reads(exp.TimestampDiff, parts="this expression unit", dialects=SPARK_FAMILY)
def timestamp_diff(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """TIMESTAMPDIFF(unit, from, to) of Spark, and DATEDIFF with a unit: whole units, toward zero."""
    unit = named_unit(b, node)
    later, earlier = (b.bind(unwrapped(side)) for side in (node.this, node.expression))
    note_clocks(b, later, earlier, node)
    later, earlier = _time(later), _time(earlier)
    if unit in _MONTHS:
        return call("div", _whole_months(later, earlier), Constant(_MONTHS[unit], INTEGER))
    if unit not in _MICROS:
        called = (b.source.called(node) or "TIMESTAMPDIFF").upper()
        b.source.refuse(f"{called} in {unit}", node, f"there are {', '.join([*_MICROS, *_MONTHS])}")
    return _whole_units(later, earlier, unit)


@reads_call("timediff", dialects=SPARK_FAMILY, hint="TIMESTAMPDIFF(MINUTE, a, b)")
def time_diff_of_spark(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """TIMEDIFF(unit, from, to), as TIMESTAMPDIFF."""
    if len(node.expressions) != 3 or not isinstance(node.expressions[0], exp.Column):
        raise coercion.TypeClash("TIMEDIFF takes a unit and two times", hint="as in TIMEDIFF(MINUTE, a, b)")
    unit, earlier, later = node.expressions
    difference = exp.TimestampDiff(this=later.copy(), expression=earlier.copy(), unit=exp.var(unit.name))
    difference.parent = node.parent
    return timestamp_diff(b, difference)


def _whole_months(later: Expression, earlier: Expression) -> Expression:
    """The whole months between two timestamps, rounded toward zero, as Java's ``ChronoUnit.MONTHS``."""
    days, times = [cast(side, DATE) for side in (later, earlier)], [_in_day(side) for side in (later, earlier)]
    one = Constant(1, INTEGER)
    # A day that is not over, from the time of day at which it began, does not count.
    last = call("case", call("and", call(">", *days), call("<", *times)), call("-", days[0], one),
                call("and", call("<", *days), call(">", *times)), call("+", days[0], one), days[0])  # fmt: skip
    counted = [
        call("+", call("*", _period(day, "MONTH"), Constant(32, INTEGER)), call("day", day)) for day in (last, days[1])
    ]
    return call("div", call("-", *counted), Constant(32, INTEGER))


def _in_day(time: Expression) -> Expression:
    return call("pmod", call("unix_micros", time), Constant(_MICROS["DAY"], INTEGER))


@reads(exp.DateBin, parts="this expression unit", dialects=DATABASES, hint="GROUP BY window(t, '15 minutes') in spark")
def bucket(b: ExpressionBinder, node: exp.DateBin) -> Expression:
    """TIME_BUCKET(width, t[, origin]) of duckdb, DATE_BIN(width, t, origin) of postgres: the start of a time bucket.

    Buckets of constant width begin at the origin, a constant, by default Monday, 3 January 2000, in duckdb. Buckets of
    instants are counted in UTC in every zone of the session.
    """
    origin_node, time = node.args.get("unit"), b.bind(node.expression)
    if isinstance(origin_node, exp.Var):
        b.source.refuse("an origin that is no constant", node, "as in TIMESTAMP '2000-01-03'")
    months = b.bind(node.this) if origin_node is None and not node.this.is_string else time
    number = counted_number(months) if months.type == MONTHS else None
    if isinstance(number, Constant) and isinstance(number.value, int):
        return start_of_months(b, time, number.value, node)
    width = Constant(width_of_bucket(b, node.this), INTEGER)
    if time.type not in (DATE, TIMESTAMP, INSTANT):
        b.source.refuse(f"a time bucket of {time.type}", node.expression, "dates and times have buckets")
    type_ = TIMESTAMP if b.rules.bucket_of_date_is_time and time.type == DATE else time.type
    time = cast(time, TIMESTAMP) if time.type == DATE else time
    origin = MONDAY if origin_node is None else coercion.coerce(coercion.as_time(b.bind(origin_node)), time.type)
    if not isinstance(origin, Constant) or origin.value is None:
        b.source.refuse("an origin that is no constant", node, "as in TIMESTAMP '2000-01-03'")
    return cast(start_of_bucket(time, width, origin), type_)


def width_of_bucket(b: ExpressionBinder, node: exp.Expr) -> int:
    """The microseconds of a constant width.

    Raises:
        UnsupportedError: it is none.
    """
    if node.is_string and (one := _ONE_UNIT.fullmatch(node.name)):
        node = exp.Interval(this=exp.Literal.string(one[1]), unit=exp.var(one[2].upper()))
    elif node.is_string:
        node = exp.Cast(this=node.copy(), to=exp.DataType.build("interval", dialect="postgres"))
    try:
        width = b.bind(node)
    except SqlError:
        width = Constant(None, INTERVAL)
    micros = counted_number(width) if width.type == INTERVAL else None
    if not isinstance(micros, Constant) or not isinstance(micros.value, int) or micros.value <= 0:
        b.source.refuse("a time bucket without a constant width", node, "as in INTERVAL '15 minutes'")
    return micros.value


def start_of_bucket(time: Expression, width: Constant, origin: Constant = MONDAY) -> Expression:
    """The start of the bucket of a time; buckets begin at multiples of the width from the origin."""
    since = call("-", micros_of(time), micros_of(origin))
    return moment_at(call("-", micros_of(time), call("pmod", since, width)), time.type)


def micros_of(moment: Expression) -> Expression:
    """The microseconds from 1970 in UTC to a TIMESTAMP or instant."""
    return call("unix_micros", clock_of(moment, UTC) if moment.type == INSTANT else moment)


def moment_at(micros: Expression, type_: DataType) -> Expression:
    """The TIMESTAMP, or instant, that many microseconds after 1970 in UTC."""
    return instant_of_micros(micros) if type_ == INSTANT else call("timestamp_micros", micros)


@reads_call("time_bucket_gapfill")
def gapfilled_bucket(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """TIME_BUCKET_GAPFILL(width, t) as a group: the bucket of a date, a time or an instant."""
    if not node.meta.get(OF_GROUPS):
        b.source.refuse("TIME_BUCKET_GAPFILL outside of GROUP BY", node, "GROUP BY it, and select from it")
    width, time = width_of_bucket(b, node.expressions[0]), moment_of(b, node.expressions[1])
    zone = zoning().zone
    if time.type == INSTANT and zone != UTC and _MICROS["HOUR"] % width:
        hint = f"{on_a_clock(b.dialect)} has the days and hours of that zone's clock"
        b.source.refuse(f"a time bucket of instants in {zone} that is no part of an hour", node.expressions[0], hint)
    return start_of_bucket(time, Constant(width, INTEGER))


def moment_of(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """A date or a time as a TIMESTAMP; an instant as it is.

    Raises:
        UnsupportedError: it is none of these.
    """
    time = coercion.as_time(b.bind(node))
    if time.type not in (DATE, TIMESTAMP, INSTANT):
        b.source.refuse(f"a time bucket of {time.type}", node, "dates and times have buckets")
    return time if time.type == INSTANT else cast(time, TIMESTAMP)


@reads_call("locf", "interpolate")
def refuse_filled(b: ExpressionBinder, node: exp.Anonymous) -> NoReturn:
    """LOCF and INTERPOLATE, which are values of groups whose gaps are filled.

    Raises:
        UnsupportedError: always, with what to write.
    """
    hint = "in a query with GROUP BY TIME_BUCKET_GAPFILL(INTERVAL '1' HOUR, t)"
    b.source.refuse(f"{node.name.upper()} outside of the select list of filled gaps", node, hint)


@reads(exp.DateDiff, exp.TimestampDiff, parts="this expression unit zone", dialects=ONLY_POSTGRES)
def refuse_date_diff(b: ExpressionBinder, node: exp.Expr) -> NoReturn:
    """DATEDIFF and TIMESTAMPDIFF in PostgreSQL, which has none.

    Raises:
        SqlError: always, with the difference of the same times.
    """
    given = [
        part.name.lower() if isinstance(part, exp.Var) else part.sql(b.dialect) for part in node.iter_expressions()
    ]
    words = [text.strip("'").upper().removesuffix("S") for text in given]
    times = [text for text, word in zip(given, words, strict=True) if word not in _MICROS and word not in _IN_YEAR]
    later, earlier = (*times[:2], "b", "a")[:2] if len(given) < 3 else (*times[::-1], "b", "a")[:2]
    seconds = next((_MICROS[word] // 1_000_000 for word in words if word in ("HOUR", "MINUTE", "SECOND")), None)
    hint = f"for days write CAST({later} AS DATE) - CAST({earlier} AS DATE)"
    if seconds is not None:
        hint = f"write EXTRACT(EPOCH FROM {later} - {earlier}) / {seconds}"
    raise b.source.error(f"there is no {b.called(node)} in postgres", node, hint)


@reads(exp.DateDiff, parts="this expression unit", dialects=EXAMINED - ONLY_POSTGRES)
def date_diff(b: ExpressionBinder, node: exp.DateDiff) -> Expression:
    """DATEDIFF in days, or with a unit, as the dialect counts it."""
    unit = named_unit(b, node)
    later, earlier = (coercion.as_time(b.bind(unwrapped(n))) for n in (node.this, node.expression))
    if unit == "DAY" and later.type == earlier.type == DATE:
        return call("-", later, earlier)  # the same in every dialect, and linear, so that it is shared
    if node.args.get("unit") is not None and b.rules.date_diff == "whole units":
        return timestamp_diff(b, node)
    if unit == "DAY":
        return call("-", cast(later, DATE), cast(earlier, DATE))
    if b.rules.date_diff == "borders" and unit == "WEEK":
        hint = "DATE_DIFF('day', a, b) // 7 is the same in all versions"
        b.source.note("a week is seven days since duckdb 2.0, and begins on Monday before", node, hint)
        return call("div", call("-", cast(later, DATE), cast(earlier, DATE)), Constant(7, INTEGER))
    if b.rules.date_diff != "borders" or unit not in (*_MICROS, *_IN_YEAR):
        b.source.refuse(f"a date difference in {unit}", node, "in days it is")
    if unit in _IN_YEAR:
        return call("-", _period(later, unit), _period(earlier, unit))
    later, earlier = (call("trunc_timestamp", _time(time), Constant(unit, STRING)) for time in (later, earlier))
    return _whole_units(later, earlier, unit)


@reads_name("date_sub", "datesub", takes=3, dialects=ONLY_DUCKDB)
def date_sub(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """DATE_SUB('minute', from, to) of DuckDB: whole units, toward zero."""
    named = str(arguments[0].value) if isinstance(arguments[0], Constant) else ""
    unit = unit_called(b, named) or named.upper().removesuffix("S")
    if months_in_unit(unit) is not None:
        return months_between(_time(arguments[1]), _time(arguments[2]), unit)
    if unit not in _MICROS:
        raise coercion.TypeClash("DATE_SUB takes a unit and two times", hint=f"{_WHOLE} units")
    return _whole_units(_time(arguments[2]), _time(arguments[1]), unit)


def time_difference(b: ExpressionBinder, node: exp.Expr) -> tuple[Expression, Expression] | None:
    """The two sides of a difference of times; ``None`` of anything else, as ``t - INTERVAL '1' DAY`` and ``d - 3``."""
    node = node.unnest()
    if not isinstance(node, exp.Sub) or interval_parts(b, node.expression) is not None:
        return None
    left, right = b.bind(node.this), b.bind(node.expression)
    if not all(side.type.temporal or (isinstance(side, Constant) and side.type == STRING) for side in (left, right)):
        return None
    return coercion.as_time(left), coercion.as_time(right)


def part_of_difference(b: ExpressionBinder, node: exp.Expr, unit: str) -> Expression | None:
    """EXTRACT(unit FROM x) of an interval, or of a - b: its days, and hours, minutes and seconds beside them, or its
    years, and months beside them.

    The difference of two dates is one in Spark, whose days are that number.
    """
    if unit in ("YEAR", "MONTH") and (months := _months_of_age(b, node)) is not None:
        return call("div" if unit == "YEAR" else "%", months, Constant(12, INTEGER))
    if unit in ("YEAR", "MONTH"):
        if time_difference(b, node) is not None or (value := b.bind(node)).type != MONTHS:
            return None
        year = Constant(12, INTEGER)
        return call("div" if unit == "YEAR" else "%", counted_number(value), year)
    if unit not in ("DAY", *_NEXT):
        return None
    sides = time_difference(b, node)
    if sides is not None and any(side.type.kind is Kind.TIMESTAMP for side in sides):
        micros = call("-", *(call("unix_micros", side) for side in subtracted(*sides)))
    elif sides is not None:
        if not b.rules.difference_of_dates_is_interval or unit != "DAY":
            b.source.refuse(
                f"EXTRACT of {unit} of a difference of dates", node, "it is a number of days: leave EXTRACT out"
            )
        return call("-", *sides)
    elif (value := b.bind(node)).type == INTERVAL:
        micros = counted_number(value)
        if b.rules.clock_in_intervals and unit in ("DAY", "HOUR") and not _has_days(micros):
            hint = "databases keep days and hours apart: 25 hours are no day there; take EXTRACT(EPOCH FROM x)"
            b.source.refuse(f"EXTRACT of {unit} of this interval", node, hint)
    else:
        return None
    if unit in _NEXT:
        micros = call("%", micros, Constant(_MICROS[_NEXT[unit]], INTEGER))
    if unit == "SECOND" and b.rules.second == "fraction":
        return cast(in_seconds(micros), decimal(8, 6))
    return call("div", micros, Constant(_MICROS[unit], INTEGER))


def _has_days(micros: Expression) -> bool:
    """Whether the days of an interval are all that it has: it is one of two times, or a column."""
    match micros:
        case Call("-", (Call("unix_micros"), Call("unix_micros"))) | Call(_, (Column(),)):
            return True
    return False


@reads(exp.UnixToTime, parts="this scale", dialects=ONLY_DUCKDB, hint="EXTRACT(EPOCH FROM t)")
def epoch_of_scale(b: ExpressionBinder, node: exp.UnixToTime) -> Expression:
    """EPOCH_MS(t) of DuckDB: milliseconds since 1970, rounded, or of an INTEGER, the time that is so long after."""
    value = b.bind(node.this)
    if node.args.get("scale") is None and value.type.kind is Kind.INTEGER:
        return instant_of_micros(call("*", value, Constant(1_000_000, INTEGER)))
    if node.args.get("scale") is None or node.args["scale"].name != "3":
        if node.args.get("scale") is None or node.args["scale"].name != "6" or value.type.kind is not Kind.INTEGER:
            called = (b.source.called(node) or "this function").upper()
            b.source.refuse(called, node, usual_call(called, b.dialect))
        return call("timestamp_micros", value)
    if value.type.kind is Kind.INTEGER:
        return call("timestamp_millis", value)
    micros = call("unix_micros", value)
    half = call("case", call("<", micros, Constant(0, INTEGER)), Constant(-500, INTEGER), Constant(500, INTEGER))
    return call("div", call("+", micros, half), Constant(1_000, INTEGER))


def named_unit(b: ExpressionBinder, node: exp.Expr) -> str:
    """The unit of a function's argument, of one; DAY where none is."""
    unit = node.args.get("unit")
    if unit is None:
        return "DAY"
    return unit_called(b, unit.name) or str(unit.name).upper().removesuffix("S")


def _whole_units(later: Expression, earlier: Expression, unit: str) -> Expression:
    micros = call("-", call("unix_micros", later), call("unix_micros", earlier))
    return call("div", micros, Constant(_MICROS[unit], INTEGER))


def _period(time: Expression, unit: str) -> Expression:
    """The number of a year, a quarter or a month among all."""
    year = call("year", time)
    if unit == "YEAR":
        return year
    return call("+", call("*", year, Constant(_IN_YEAR[unit], INTEGER)), call(unit.lower(), time))


def _time(value: Expression) -> Expression:
    return coercion.coerce(coercion.as_time(value), TIMESTAMP)


@reads(exp.TimeToUnix, dialects=ONLY_DUCKDB, hint="EXTRACT(EPOCH FROM t)")
def seconds_of(b: ExpressionBinder, node: exp.TimeToUnix) -> Expression:
    """EPOCH(t): the seconds since 1970, or those of an interval."""
    value = b.bind(node.this)
    if value.type != INTERVAL:
        return call("/", cast(call("unix_micros", value), DOUBLE), Constant(1e6, DOUBLE))
    day, micros = Constant(_MICROS["DAY"], INTEGER), counted_number(value)  # days are added to what is behind them
    seconds = call("/", cast(call("%", micros, day), DOUBLE), Constant(1e6, DOUBLE))
    return call("+", call("*", cast(call("div", micros, day), DOUBLE), Constant(86_400.0, DOUBLE)), seconds)


reads_name("epoch_us", dialects=ONLY_DUCKDB)(lambda b, arguments: call("unix_micros", *arguments))


def _months_of_age(b: ExpressionBinder, node: exp.Expr) -> Expression | None:
    """The whole months of AGE(later, earlier), toward zero; of AGE(x) until today. ``None`` of any other expression."""
    call_ = node.unnest()
    if not isinstance(call_, exp.Anonymous) or call_.name.lower() != "age" or not b.rules.has_age:
        return None
    sides = [exp.CurrentDate(), *call_.expressions] if len(call_.expressions) == 1 else call_.expressions
    if len(sides) != 2:
        raise b.source.error(f"AGE takes 1 to 2 arguments, not {len(sides)}", call_)
    return _whole_months(*(_time(b.bind(side)) for side in sides))


@reads_call("age")
def refuse_age(b: ExpressionBinder, node: exp.Anonymous) -> NoReturn:
    """AGE(later, earlier), an interval of months and days.

    Raises:
        UnsupportedError: always, with what to write instead.
    """
    b.source.refuse("AGE", node, "EXTRACT(YEAR FROM AGE(a, b)) and MONTH are read; a - b is the time between them")
