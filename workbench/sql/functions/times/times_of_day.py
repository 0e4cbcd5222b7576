"""The type TIME in SQL text: literals, casts, parts, and the functions of spark that take one.

A TIME is kept as its microseconds since midnight, of which all is computed: its parts are those of the timestamp that
is as long after 1970 began.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from workbench.errors import with_article
from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.counted import counted_number, of_number, time_of_text
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DATE, INTEGER, STRING, TIME, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.algebra.zones import zoning
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, reads_name
from workbench.sql.functions.times.interval_arithmetic import in_day
from workbench.sql.functions.times.zoned import zone_of
from workbench.sql.syntax.dialects import ONLY_POSTGRES, SPARK_FAMILY

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_UNITS = {"HOUR": 3_600 * _SECOND, "MINUTE": 60 * _SECOND, "SECOND": _SECOND, "MILLISECOND": 1_000, "MICROSECOND": 1}
_MOST_DIGITS = 6
_TEXT = r"(?i)^\s*T?([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?\s*([ap]m)?\s*$"
"""The pattern of a text that may be a time of the day in Spark."""


def cast_to_time_of_day(
    b: ExpressionBinder, value: Expression, node: exp.Expr, digits: int = _MOST_DIGITS
) -> Expression:
    """A cast to TIME: of a text, of a timestamp, or of a TIME.

    Args:
        b: the binder.
        value: what is cast.
        node: its syntax, for errors.
        digits: those of seconds behind the point, where the type says them; others are cut off in spark.

    Raises:
        SqlError: a constant is no time of the day.
        UnsupportedError: the database rounds, or reads more texts than are read here.
    """
    return _cut(b, _as_time_of_day(b, value, node), digits, node)


def _as_time_of_day(b: ExpressionBinder, value: Expression, node: exp.Expr) -> Expression:
    if coercion.is_null(value):
        return Constant(None, TIME)
    if value.type == TIME:
        return value
    if value.type.kind is Kind.TIMESTAMP:
        clock = coercion.coerce(value, TIMESTAMP)
        return of_number(call("pmod", call("unix_micros", clock), Constant(_DAY, INTEGER)), TIME)
    if value.type != STRING:
        raise TypeClash(f"{value.type} cannot be cast to {TIME}", value, "write TIME '10:30:00'")
    if isinstance(value, Constant):
        micros = time_of_text(value.value)
        if micros is None or (not b.rules.half_days_in_times and str(value.value).rstrip()[-1] in "mM"):
            what = f"'{value.value}' is not {with_article(str(TIME))}"
            raise b.source.error(what, node, "times are written as TIME '10:30:00'")
        return of_number(Constant(micros, INTEGER), TIME)
    if not b.rules.half_days_in_times:
        b.source.refuse(
            "a text as a TIME", node, "databases read more than clocks: CAST it AS TIMESTAMP, and that AS TIME"
        )
    return _read(value)


def _read(text: Expression) -> Expression:
    """The time of the day that a text is, NULL where it is none."""
    zero, empty = Constant(0, INTEGER), Constant("", STRING)

    def part(place: int) -> Expression:
        return call("regexp_extract", text, Constant(_TEXT, STRING), Constant(place, INTEGER))

    def number(place: int) -> Expression:
        return call("coalesce", cast(part(place), INTEGER), zero)

    half, hour, minute, second = call("lower", part(5)), number(1), number(2), number(3)
    fraction = cast(call("substr", call("||", part(4), Constant("000000", STRING)), Constant(1, INTEGER),
                         Constant(_MOST_DIGITS, INTEGER)), INTEGER)  # fmt: skip
    twelve, is_half = Constant(12, INTEGER), call("not", call("=", half, empty))
    known = [
        call("rlike", text, Constant(_TEXT, STRING)),
        call("<", hour, call("case", is_half, Constant(13, INTEGER), Constant(24, INTEGER))),
        call("or", call("not", is_half), call(">", hour, zero)),
        *(call("<", part_, Constant(60, INTEGER)) for part_ in (minute, second)),
    ]
    afternoon = call("case", call("=", half, Constant("pm", STRING)), twelve, zero)
    hours = call("case", is_half, call("+", call("%", hour, twelve), afternoon), hour)
    minutes = call("+", call("*", hours, Constant(60, INTEGER)), minute)
    seconds = call("+", call("*", minutes, Constant(60, INTEGER)), second)
    micros = call("+", call("*", seconds, Constant(_SECOND, INTEGER)), fraction)
    return of_number(call("case", call("and", *known), micros, Constant(None, INTEGER)), TIME)


def _cut(b: ExpressionBinder, time: Expression, digits: int, node: exp.Expr) -> Expression:
    if digits >= _MOST_DIGITS or coercion.is_null(time):
        return time
    cut = _whole(counted_number(time), 10 ** (_MOST_DIGITS - digits))
    if not b.rules.half_days_in_times and cut != counted_number(time):
        b.source.refuse(f"a TIME of {digits} digits", node, "databases round it: leave the digits out")
    return of_number(cut, TIME)


def _whole(number: Expression, unit: int) -> Expression:
    return call("-", number, call("%", number, Constant(unit, INTEGER)))


def cast_from_time_of_day(b: ExpressionBinder, time: Expression, type_: DataType, node: exp.Expr) -> Expression:
    """A TIME as a text, or in spark as the number of its seconds.

    Raises:
        TypeClash: it is neither.
    """
    micros = counted_number(time)
    if type_ == STRING:
        return text_of_time(time)
    if type_.kind is Kind.INTEGER and b.rules.half_days_in_times:
        return cast(call("div", micros, Constant(_SECOND, INTEGER)), type_)
    if type_.kind is Kind.DECIMAL and b.rules.half_days_in_times:
        return cast(in_seconds(micros), type_)
    raise TypeClash(f"{TIME} cannot be cast to {type_}", time, "EXTRACT(HOUR FROM x) and its like are numbers")


def in_seconds(micros: Expression) -> Expression:
    """Microseconds as seconds with six digits behind the point."""
    start = call("timestamp_micros", Constant(0, INTEGER))
    return call("seconds_between", call("timestamp_micros", micros), start)


def text_of_time(time: Expression) -> Expression:
    """A TIME as databases write it, ``10:30:00.5``."""
    if coercion.is_null(time):
        return Constant(None, STRING)
    return call("substr", coercion.as_string(on_clock(time)), Constant(len("1970-01-01 ") + 1, INTEGER))


def on_clock(value: Expression) -> Expression:
    """The timestamp in 1970 that shows a TIME; any other value as it is."""
    return call("timestamp_micros", counted_number(value)) if value.type == TIME else value


# ---- functions of spark ----------------------------------------------------------------------------------------------


@reads_name("make_time", takes=3, dialects=SPARK_FAMILY)
def make_time(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """MAKE_TIME(hour, minute, second), NULL of numbers that are none."""
    hour, minute, second = *arguments[:2], cast(arguments[2], decimal(16, 6))
    start = [Constant(1970, INTEGER), Constant(1, INTEGER), Constant(1, INTEGER)]
    made = call("unix_micros", call("make_timestamp", *start, hour, minute, second))
    # A timestamp may be of the second 60, which is the next minute's first.
    return in_day(call("case", call("<", second, Constant(60, INTEGER)), made, Constant(None, INTEGER)))


@reads(exp.TimeTrunc, parts="this unit", dialects=SPARK_FAMILY)
def time_trunc(b: ExpressionBinder, node: exp.TimeTrunc) -> Expression:
    """TIME_TRUNC('HOUR', t)."""
    # The parser has the arguments in another order.
    micros = counted_number(_argument(b, node.args["unit"]))
    return of_number(_by_unit(b, node.this, node, lambda unit: _whole(micros, unit)), TIME)


@reads(exp.TimeDiff, parts="this expression unit", dialects=SPARK_FAMILY)
def time_diff(b: ExpressionBinder, node: exp.TimeDiff) -> Expression:
    """TIME_DIFF('HOUR', from, to), whole units toward zero."""
    start, end = (counted_number(_argument(b, node.args[key])) for key in ("expression", "unit"))
    between = call("-", end, start)
    return _by_unit(b, node.this, node, lambda unit: call("div", between, Constant(unit, INTEGER)))


def _by_unit(b: ExpressionBinder, unit: exp.Expr, node: exp.Expr, of: Callable[[int], Expression]) -> Expression:
    """What ``of`` makes of the microseconds of a unit, which may be of the row; NULL of a text that is none."""
    bound = b.bind(unit)
    if coercion.is_null(bound):
        return Constant(None, INTEGER)
    name = str(bound.value).upper() if isinstance(bound, Constant) else ""
    if name not in _UNITS and (bound.type != STRING or name):
        b.source.refuse("this unit of a TIME", node, f"there are {', '.join(_UNITS)}")
    if name:
        return of(_UNITS[name])
    word = call("upper", bound)
    pairs = ((call("=", word, Constant(known, STRING)), of(size)) for known, size in _UNITS.items())
    return call("case", *(part for pair in pairs for part in pair), Constant(None, INTEGER))


def _argument(b: ExpressionBinder, node: exp.Expr) -> Expression:
    # The parser takes a column for the name of a unit.
    value = b.bind(exp.column(node.this) if isinstance(node, exp.Var) else node)
    time = coercion.as_counted(value, TIME)
    if time is None:
        raise TypeClash(f"a TIME is needed, not {value.type}", value, "write TIME '10:30:00'")
    return time


@reads(exp.Time, parts="this", dialects=SPARK_FAMILY)
def time_of(b: ExpressionBinder, node: exp.Time) -> Expression:
    """TIME(x), a cast."""
    return cast_to_time_of_day(b, b.bind(node.this), node)


@reads(
    exp.TimestampFromParts, parts="this expression year month day hour min sec", dialects=SPARK_FAMILY | ONLY_POSTGRES
)
def make_timestamp(b: ExpressionBinder, node: exp.TimestampFromParts) -> Expression:
    """MAKE_TIMESTAMP of six numbers, or of a date and a TIME."""
    return _timestamp_of(b, [part for part in node.args.values() if isinstance(part, exp.Expr)])


@reads_call("make_timestamp_ntz", "try_make_timestamp_ntz", "try_make_timestamp", dialects=SPARK_FAMILY)
def make_timestamp_by_name(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """The same; what is no timestamp is NULL."""
    return _timestamp_of(b, node.expressions)


def _timestamp_of(b: ExpressionBinder, nodes: list[exp.Expr]) -> Expression:
    arguments = [b.bind(node) for node in nodes]
    if len(arguments) == 3:
        if any(map(coercion.is_null, arguments)):
            return Constant(None, TIMESTAMP)
        zones = (Constant(zone, STRING) for zone in (zone_of(b, nodes[2]), zoning().zone))
        return call("convert_timezone", *zones, _timestamp_of(b, nodes[:2]))
    if not 1 <= len(arguments) <= 2:
        return call("make_timestamp", *arguments)
    since = call("unix_micros", coercion.coerce(coercion.coerce(arguments[0], DATE), TIMESTAMP))
    time = counted_number(_argument(b, nodes[1])) if len(arguments) == 2 else Constant(0, INTEGER)
    return call("timestamp_micros", call("+", since, time))
