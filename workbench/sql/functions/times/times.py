"""Functions of dates, times and intervals; an interval is its microseconds."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from workbench.sql.algebra.coercion import coerce
from workbench.sql.algebra.counted import MADE_OF_NUMBERS, NUMBERS_OF_COUNTED
from workbench.sql.algebra.expressions import Call, Constant
from workbench.sql.algebra.time_patterns import pattern_of
from workbench.sql.algebra.types import INTEGER, DataType
from workbench.sql.algebra.zones import BY_OFFSET_OF, CLOCK_OF, INSTANT_OF, KEPT_INSTANT_OF, LAST_INSTANT_OF
from workbench.sql.functions.declaration import Arguments, Render, as_moment, each, function, read_twice
from workbench.sql.syntax.dialects import ONLY_POSTGRES, SPARK_FAMILY

_MICROS = "unix_micros(cast({0} as timestamp))"
_CLOCK = "convert_timezone('UTC', {1}, {0})"
_FIRST = "convert_timezone({1}, 'UTC', {0})"
_DAY_LATER = f"({_FIRST} + interval '1' day)"
_LAST = f"({{0}} - ({_CLOCK.replace('{0}', _DAY_LATER)} - {_DAY_LATER}))"
"""The instant by the offset that the zone has a day after the first one: no clock is changed twice in a day."""
_KEPT = f"({{0}} - ({_CLOCK.replace('{0}', '{2}')} - {{2}}))"
"""The instant by the offset that the zone has at another one."""
_OFFSET = "(unix_seconds(cast({0} as timestamp)) - unix_seconds(cast({1} as timestamp)))"
_TWO_DIGITS = "lpad(cast({} as string), 2, '0')"
MOST_YEARS = 290_000
"""Up to these, before our time and after it, a date has microseconds; Spark raises in the first year beyond."""
_HAS_MICROS = f"{{0}} between -{MOST_YEARS} and {MOST_YEARS}"
_MANY_YEARS = "{1} between -120000 and 120000"
"""Ten thousand years each way, in months; Spark raises where a date leaves its range."""


def _reading(body: str) -> Render:
    """A text as a time under a pattern; Spark raises where the year has too many digits for microseconds."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        pattern = expression.arguments[1]
        beyond = pattern_of(str(pattern.value)).beyond if isinstance(pattern, Constant) else None
        if beyond is None:
            return body.format(*arguments)
        escaped = beyond.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
        is_beyond = "({0} rlike '^" + escaped.replace("{", "{{").replace("}", "}}") + "')"
        return read_twice(f"(case when not {is_beyond} then {body} end)")(expression, arguments)

    return render


def _as_first(arguments: Arguments) -> tuple[Arguments, DataType]:
    """A time that is moved is of the type that it was."""
    time, seconds = as_moment(arguments[0]), coerce(arguments[1], INTEGER)
    return (time, seconds), time.type


DECLARED = [
    *each("year month", "(time): integer"),
    *each("quarter day dayofweek dayofyear hour minute second", "(time): integer"),
    function("week(time): integer", "cast(weekofyear({0}) as bigint)"),
    *each("monthname dayname", "(date): string"),
    function("weekday(date): integer", names="weekday",
             help="weekday(date) Returns the day of the week for date/timestamp (0 = Monday, 1 = Tuesday, ..., 6 = "
                  "Sunday).",
             example="SELECT weekday('2009-07-30') → 3"),
    function("unix_date(date): integer", nodes=[exp.UnixDate]),
    function("date_format(time, any): string"),
    function("to_date(string, string): date", _reading("try_to_date({0}, {1})")),
    function("to_timestamp(string, string): timestamp", _reading("cast(try_to_timestamp({0}, {1}) as timestamp_ntz)")),
    function(f"{CLOCK_OF}(any, string): timestamp", _CLOCK),
    function(f"{INSTANT_OF}(timestamp, string): timestamptz", _FIRST),
    function(f"{LAST_INSTANT_OF}(timestamp, string): timestamptz",
             read_twice(f"(case when {_CLOCK.replace('{0}', _LAST)} = {{0}} then {_LAST} else {_FIRST} end)")),
    # The instant at which a clock shows a time, of two the one with the offset that it has at another instant.
    function(f"{KEPT_INSTANT_OF}(timestamp, string, any): timestamptz",
             read_twice(f"(case when {_CLOCK.replace('{0}', _KEPT)} = {{0}} then {_KEPT} else {_FIRST} end)")),
    # The same, by that offset in any case.
    function(f"{BY_OFFSET_OF}(timestamp, string, any): timestamptz", read_twice(_KEPT)),
    # A clock's time and the instant, as databases write it: 2023-10-29 02:30:00+01.
    function("text_with_offset(timestamp, any): string", read_twice(
             f"concat(cast({{0}} as string), if({_OFFSET} < 0, '-', '+'),"
             f" {_TWO_DIGITS.format(f'abs({_OFFSET}) div 3600')},"
             f" if({_OFFSET} % 3600 = 0, '', concat(':', {_TWO_DIGITS.format(f'abs({_OFFSET}) div 60 % 60')})),"
             f" if({_OFFSET} % 60 = 0, '', concat(':', {_TWO_DIGITS.format(f'abs({_OFFSET}) % 60')})))")),
    # A time of day alone would be one of the day on which it is evaluated; Spark's other cast has no such values.
    function("instant_of_text(string): timestamptz",
             "(case when try_cast({0} as timestamp_ntz) is not null"
             " then cast(try_cast({0} as timestamp) as timestamp_ntz) end)"),
    function("trunc_date(date, string): date", "trunc({0}, {1})"),
    function("trunc_timestamp(timestamp, string): timestamp", "cast(date_trunc({1}, {0}) as timestamp_ntz)"),
    function("last_day(date): date"),
    function("next_day(date, string): date"),
    function("add_months(date, integer): date", f"(case when {_MANY_YEARS} then add_months({{0}}, {{int1}}) end)"),
    function("add_months_to_timestamp(timestamp, integer): timestamp",
             f"(case when {_MANY_YEARS} then {{0}} + make_ym_interval(0, {{int1}}) end)"),
    function("add_seconds(moment, integer)", rule=_as_first,
             spark=f"cast(timestamp_micros(try_add({_MICROS}, try_multiply({{1}}, 1000000L))) as timestamp_ntz)"),
    function("window_start(moment, integer)", rule=_as_first,
             spark=f"cast(timestamp_micros({_MICROS} - pmod({_MICROS}, {{1}} * 1000000L)) as timestamp_ntz)"),
    function("months_between(timestamp, timestamp, boolean): double",
             "months_between(cast({0} as timestamp), cast({1} as timestamp), {2})"),
    function("convert_timezone(string, string, timestamp): timestamp"),
    function("make_date(integer, integer, integer): date",
             f"(case when {_HAS_MICROS} then"
             " cast(try_make_timestamp_ntz({int0}, {int1}, {int2}, 0, 0, 0) as date) end)",
             names="make_date",
             dialects=SPARK_FAMILY | ONLY_POSTGRES,
             help="make_date(year, month, day) Create date from year, month and day fields.",
             example="SELECT make_date(2013, 7, 15) → 2013-07-15"),
    function("make_timestamp(integer, integer, integer, integer, integer, decimal(16,6)): timestamp",
             f"(case when {_HAS_MICROS} then"
             " try_make_timestamp_ntz({int0}, {int1}, {int2}, {int3}, {int4}, {5}) end)"),
    function("unix_seconds(moment): integer", f"cast(floor({_MICROS} / 1000000) as bigint)",
             help="unix_seconds(timestamp) Returns the number of seconds since 1970-01-01 00:00:00 UTC."),
    function("unix_millis(moment): integer", f"cast(floor({_MICROS} / 1000) as bigint)",
             help="unix_millis(timestamp) Returns the number of milliseconds since 1970-01-01 00:00:00 UTC."),
    function("unix_micros(moment): integer", _MICROS,
             help="unix_micros(timestamp) Returns the number of microseconds since 1970-01-01 00:00:00 UTC."),
    *(function(f"timestamp_{unit}(integer): timestamp",
               f"cast(timestamp_micros(try_multiply({{0}}, {micros}L)) as timestamp_ntz)")
      for unit, micros in (("seconds", 1_000_000), ("millis", 1_000))),
    function("timestamp_micros(integer): timestamp", "cast(timestamp_micros({0}) as timestamp_ntz)",
             help="timestamp_micros(microseconds) Creates timestamp from the number of microseconds since UTC epoch.",
             example="SELECT timestamp_micros(1230219000123123) → 2008-12-25 07:30:00.123123"),
    # EXTRACT(EPOCH FROM (a - b)).
    function("seconds_between(moment, moment): decimal(20,6)",
             "cast(cast(try_subtract(unix_micros(cast({0} as timestamp)), unix_micros(cast({1} as timestamp)))"
             " as decimal(19,0)) * cast('0.000001' as decimal(7,6)) as decimal(20,6))"),
    *(function(f"{name}(integer): {type_}", "{0}") for name, type_ in MADE_OF_NUMBERS.items()),
    *(function(f"{name}(any): integer", "{0}") for name in NUMBERS_OF_COUNTED),
]  # fmt: skip
