"""Functions of dates, times and intervals; an interval is its microseconds."""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.functions.declaration import each, function

_MICROS = "unix_micros(cast({0} as timestamp))"
_MANY_YEARS = "{1} between -120000 and 120000"
"""Ten thousand years each way, in months; Spark raises where a date leaves its range."""

DECLARED = [
    *each("year month", "(time): integer", kernel=True),
    *each("quarter day dayofweek dayofyear hour minute second", "(time): integer"),
    function("week(time): integer", "cast(weekofyear({0}) as bigint)"),
    *each("monthname dayname", "(date): string"),
    function("weekday(date): integer", names="weekday",
             help="weekday(date) Returns the day of the week for date/timestamp (0 = Monday, 1 = Tuesday, ..., 6 = "
                  "Sunday).",
             example="SELECT weekday('2009-07-30') → 3"),
    function("unix_date(date): integer", nodes=[exp.UnixDate]),
    function("date_format(time, any): string"),
    function("to_date(string, string): date", "try_to_date({0}, {1})"),
    function("to_timestamp(string, string): timestamp", "cast(try_to_timestamp({0}, {1}) as timestamp_ntz)"),
    # A time of day alone would be one of the day on which it is evaluated; Spark's other cast has no such values.
    function("instant_of_text(string): timestamp",
             "(case when try_cast({0} as timestamp_ntz) is not null"
             " then cast(try_cast({0} as timestamp) as timestamp_ntz) end)"),
    function("trunc_date(date, string): date", "trunc({0}, {1})"),
    function("trunc_timestamp(timestamp, string): timestamp", "cast(date_trunc({1}, {0}) as timestamp_ntz)"),
    function("last_day(date): date"),
    function("next_day(date, string): date", nodes=[exp.NextDay]),
    function("add_months(date, integer): date", f"(case when {_MANY_YEARS} then add_months({{0}}, {{int1}}) end)"),
    function("add_months_to_timestamp(timestamp, integer): timestamp",
             f"(case when {_MANY_YEARS} then {{0}} + make_ym_interval(0, {{int1}}) end)"),
    function("add_seconds(timestamp, integer): timestamp",
             f"cast(timestamp_micros(try_add({_MICROS}, try_multiply({{1}}, 1000000L))) as timestamp_ntz)"),
    function("window_start(timestamp, integer): timestamp",
             f"cast(timestamp_micros({_MICROS} - pmod({_MICROS}, {{1}} * 1000000L)) as timestamp_ntz)", kernel=True),
    function("months_between(timestamp, timestamp, boolean): double",
             "months_between(cast({0} as timestamp), cast({1} as timestamp), {2})"),
    function("convert_timezone(string, string, timestamp): timestamp"),
    function("make_date(integer, integer, integer): date",
             "cast(try_make_timestamp_ntz({int0}, {int1}, {int2}, 0, 0, 0) as date)", names="make_date",
             help="make_date(year, month, day) Create date from year, month and day fields.",
             example="SELECT make_date(2013, 7, 15) → 2013-07-15"),
    function("make_timestamp(integer, integer, integer, integer, integer, decimal(16,6)): timestamp",
             "try_make_timestamp_ntz({int0}, {int1}, {int2}, {int3}, {int4}, {5})", nodes=[exp.TimestampFromParts],
             names="make_timestamp_ntz try_make_timestamp_ntz try_make_timestamp"),
    function("unix_seconds(timestamp): integer", f"cast(floor({_MICROS} / 1000000) as bigint)",
             nodes=[exp.UnixSeconds],
             help="unix_seconds(timestamp) Returns the number of seconds since 1970-01-01 00:00:00 UTC."),
    function("unix_millis(timestamp): integer", f"cast(floor({_MICROS} / 1000) as bigint)", nodes=[exp.UnixMillis],
             help="unix_millis(timestamp) Returns the number of milliseconds since 1970-01-01 00:00:00 UTC."),
    function("unix_micros(timestamp): integer", _MICROS, nodes=[exp.UnixMicros],
             help="unix_micros(timestamp) Returns the number of microseconds since 1970-01-01 00:00:00 UTC."),
    *(function(f"timestamp_{unit}(integer): timestamp",
               f"cast(timestamp_micros(try_multiply({{0}}, {micros}L)) as timestamp_ntz)", names=f"timestamp_{unit}")
      for unit, micros in (("seconds", 1_000_000), ("millis", 1_000))),
    function("timestamp_micros(integer): timestamp", "cast(timestamp_micros({0}) as timestamp_ntz)",
             names="timestamp_micros",
             help="timestamp_micros(microseconds) Creates timestamp from the number of microseconds since UTC epoch.",
             example="SELECT timestamp_micros(1230219000123123) → 2008-12-25 07:30:00.123123"),
    # EXTRACT(EPOCH FROM (a - b)).
    function("seconds_between(timestamp, timestamp): decimal(20,6)",
             "cast(cast(try_subtract(unix_micros(cast({0} as timestamp)), unix_micros(cast({1} as timestamp)))"
             " as decimal(19,0)) * cast('0.000001' as decimal(7,6)) as decimal(20,6))"),
    function("interval_of_micros(integer): interval", "{0}", inner=True),
    function("micros_of_interval(interval): integer", "{0}", inner=True),
]  # fmt: skip
