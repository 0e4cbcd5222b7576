"""Functions that are one for one with Spark's: their SQL gives what Spark gives, with ANSI mode on and off."""

from __future__ import annotations

import datetime as dt

import pytest
from pyspark.sql import SparkSession
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError
from workbench.sql.algebra.expressions import text
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.render.spark_sql import to_spark

_MICROS = "unix_micros(timestamp '1970-01-01 00:00:00Z' + {})"
"""The microseconds of an interval."""
SAME = [
    "cbrt(x)", "sin(x)", "cos(x)", "tan(x)", "asin(x)", "acos(x)", "atan(x)", "sinh(x)", "cosh(x)", "tanh(x)",
    "asinh(x)",
    "acosh(x)", "atanh(x)", "degrees(x)", "radians(x)", "cot(x)", "sec(x)", "csc(x)", "log1p(x)", "expm1(x)", "rint(x)",
    "isnan(x)",
    "atan2(x, a)", "hypot(x, a)", "nanvl(x, 1)", "a & b", "a | b", "a ^ b", "~a", "shiftleft(a, 2)", "shiftright(a, 2)",
    "bit_count(a)", "bin(a)", "chr(a)", "initcap(s)", "reverse(s)", "soundex(s)", "md5(s)", "sha1(s)", "sha2(s, 256)",
    "ascii(s)", "octet_length(s)", "bit_length(s)", "crc32(s)", "right(s, 2)", "startswith(s, 'a')", "endswith(s, 'b')",
    "contains(s, 'a')", "levenshtein(s, 'abc')",
    "to_base32(s)", "to_base32(unhex(s))",
    "length(x)", "length(a)", "length(d)", "length(ts)", "concat_ws('-', s, a, d)", "pmod(x, 3)", "pmod(a, 2.5D)",
    "jaro_winkler_similarity(s, 'abc')", "find_in_set(s, 'x,ab')", "translate(s, 'ab', 'xy')",
    "regexp_count(s, '[a-z]')", "regexp_instr(s, 'b')", "regexp_substr(s, '[a-c]+')", "regexp_extract(s, '(a)(b)', 2)",
    "regexp_extract(s, '(a)(b)')", "regexp_replace(s, '(a)(.)', '$2$1')", "substring_index(s, ',', -1)",
    "split_part(s, ',', 2)", "split_part(s, ',', -1)", "get_json_object(s, '$.k[0].v')", "luhn_check(s)",
    "concat_ws('-', s, 'x', upper(s))", "weekday(d)", "monthname(d)", "dayname(d)", "next_day(d, 'TUE')",
    "unix_date(d)", "equal_null(a, b)",
    "timestampdiff(MINUTE, ts, TIMESTAMP_NTZ '2020-01-01 00:00:00')", "nullifzero(a)", "zeroifnull(a)",
    "ts + a * interval '1' minute", "d + interval '2' month * b", "pi()", "e()", "btrim(s)",
    "base64(s)", "hex(s)", "hex(a)", "url_encode(s)", "try_url_decode(s)", "quote(s)", "is_valid_utf8(s)",
    "make_valid_utf8(s)", "try_validate_utf8(s)", "mask(s)", "mask(s, 'Q', null, 'd', '*')", "mask(s, null)",
    "s like '%' || s", "s like any ('a%', '%b', null)", "s not like any ('a%', null)", "s ilike all ('A%', '%B')",
    "s not ilike all ('Q%', null)", "date_format(ts, 'QQQ D F EEE a hh')", "date_format(d, '[yyyy G] kk KK XXX z O')",
    "unix_date(d + interval '1-2' year to month)", "ts - interval '1 02:03:04.567' day to second",
    "ts + interval '3' month * a",
    "ts + make_dt_interval(a, 1, 2, 3.25)", "unix_date(d - interval '2' year)",
    "ts + interval 1 month - interval '2:03' minute to second",
    "extract(year from interval '1' month * a)", "extract(month from interval '1' month * a)",
    "extract(second from ts - timestamp_ntz '2002-11-20 00:00:07')", "signum(interval '1' month * a)",
    "cast(ts - timestamp_ntz '2002-11-20 00:00:07' as string)", "cast(interval '1-2' year to month * a as string)",
    "cast(interval '1 02' day to hour as int)", "cast(interval '1-2' year to month as decimal(9,1))",
    "interval '1' month * a > interval '1' year", "interval '1' month * a in (interval '5' month, interval '-7' month)",
    "timestampdiff(MONTH, ts, timestamp_ntz '2020-01-31 12:00:00')", "timestampdiff(YEAR, d, ts)",
    "timestampdiff(QUARTER, timestamp_ntz '2020-01-31 01:00:00', ts)", "timediff(MILLISECOND, ts, d)",
    "datediff(MONTH, ts, d)", "make_timestamp_ntz(d, cast(ts as time))", "hour(cast(ts as time))",
    "extract(second from cast(ts as time))", "time_diff('MINUTE', cast(ts as time), time'12:00')",
    "cast(time_trunc('HOUR', cast(ts as time)) as string)", "cast(cast(ts as time(1)) as string)",
    "cast(cast(ts as time) as int)", "cast(cast(ts as time) as decimal(8,1))", "cast(ts as time) = '01:30:00.25'",
    "cast(case when hour(ts) < 20 then cast(ts as time) + interval '3' hour end as string)",
    "cast(to_time(date_format(ts, 'HH-mm'), 'HH-mm') as string)", "cast(time'12:30 am' as string)",
    "ceil(cast(x as decimal(12,5)), 2)", "floor(cast(x as decimal(12,5)), 1)", "ceil(a, -1)",
    "floor(3.14115, -3)", "ceil(cast(b as int), -2)",
    "floor(cast(a as decimal(9,2)) * -1.5, 4)", "to_date('2009-07-30 04:17:52')",
    "cast('2009-7-3 4:17:52' as date)", "date 'epoch'",
    "d > '1999-2-1'", "ts >= timestamp_ntz '1969-12-31 23:59:9.5'",
    "repeat(s, 3)", "space(3)",
    "overlay(s placing 'xy' from 2)",
    "overlay(s, 'xy', 2, 3)", "try_parse_url('https://example.org/p?page=' || a || '#x', 'QUERY', 'page')",
    "try_parse_url(s, 'HOST')", "hash(s, 'x')", "xxhash64(s)",
    "hash(x, a, d, ts, s)", "xxhash64(a, x, d, ts)", "hash(cast(a as int), cast(b as smallint), a > 1, x)",
    "xxhash64(cast(a as int), cast(x as decimal(12,5)), a > b)",
    "hash(cast(x as decimal(30,5)), cast(a as decimal(9,1)))",
    "to_json(sort_array(array(struct(s, a), struct('b' as s, b as a), null)))", "width_bucket(x, -5D, 5D, 4L)",
    "to_json(sort_array(array(array(x, null), array(x), array()), false))",
    "to_json(array_sort(array(struct(x), null)))",
    "to_json(transform(split(s, ''), (e, i) -> concat(e, cast(i as string))))",
    "to_json(filter(array(a, b), (e, i) -> e > i))", "date_add(timestamp'2011-11-11 12:12:12', 1)",
    "next_day(timestamp_ntz'2011-11-11 12:12:12', 'Mon')", "last_day(to_timestamp('2011-11-11 12:12:12'))",
    *(f"extract({part} from {time})" for part in ("y", "yr", "qtr", "mon", "w", "d", "dow_iso", "yearofweek")
      for time in ("d", "ts")),
    *(f"date_part('{part}', ts)" for part in ("h", "hr", "m", "min", "s", "sec", "dayofweek_iso")),
    "shiftrightunsigned(a, 60)",
    "bround(x, 0)", "bround(2.5, 0)", "negative(a)", "positive(a)", "mod(a, 3)", "try_mod(a, b)", "bigint(a)",
    "date_part('YEAR', d)", "extract(second from ts)", "date_part('SECOND', ts)", "extract(second from d)",
    "months_between(d, ts)", "months_between(ts, d, false)", "unix_timestamp(ts)",
    "from_unixtime(a)", "from_unixtime(a, 'yyyyMMdd')", "convert_timezone('UTC', 'Europe/Berlin', ts)",
    "try_make_timestamp_ntz(2000, b, 29, 1, 2, 3.25)", "date_from_unix_date(a)",
    "array_join(split(s, ',') || array('z', null), '|', '?')", "array_join(concat(split(s, ','), array(s)), '|')",
    "str_to_map('x:' || a || ',y:' || s || ',z', ',', ':')['x']", "str_to_map('x:' || a || ',y', ',', ':')['y']",
    "map_keys(str_to_map('x:' || a || ',y'))[1]", "map_keys(map(coalesce(s, ''), a))[0]", "map('x', a, 'y', b)['y']",
    "map_values(map_from_arrays(array('x', 'y'), array(a, b)))[1]", "map_contains_key(map('x', a), s)",
    "map_entries(map('x', a))[0].value", "to_json(map_concat(map('x', b), map('y', a, 'z', null)))",
    "map_from_entries(array(struct('x', a), null)) is null", "element_at(map(1, s), b)",
    "map_from_entries(array(struct('x' as k, a as v)))['x']",
    "to_json(map_filter(map('x', a, 'y', b), (k, v) -> v > 1))",
    "to_json(transform_values(map('x', a), (k, v) -> k || v))",
    "to_json(transform_keys(map('x', a), (k, v) -> upper(k)))", "to_json(map(coalesce(d, date '2000-01-01'), s))",
    "aggregate(map_values(map('x', 1, 'y', 2)), 0, (n, x) -> n + x)",
    "exists(split('a,b', ','), v -> str_to_map('a=' || s || ';c=d', ';', '=')[v] = s)",
    "json_array_length(s)", "concat_ws('-', split(s, ','), s)", "split(s, ',', 2)[1]",
    *(f"array_join({array}, '|', '?')" for array in (
        "json_object_keys(s)", "split(s, '[,b]')", "sort_array(split(s, ','))", "sort_array(split(s, ','), false)",
        "array_sort(split(s, ','))", "array_distinct(split(s, ''))", "reverse(split(s, ','))",
        "array_compact(array(s, null))", "array_append(split(s, ','), s)", "array_prepend(split(s, ','), null)",
        "array_remove(split(s, ','), 'b')", "array_insert(split(s, ','), -1, s)",
        "array_union(split(s, ','), array('b'))",
        "array_intersect(split(s, ','), array('b'))", "array_except(split(s, ','), array('b'))",
        "slice(split(s, ','), -2, 2)", "flatten(array(split(s, ','), array(s, null)))",
        "regexp_extract_all(s, '(a)(.)', 2)", "transform(split(s, ','), x -> upper(x) || s)",
        "transform(sequence(b, 1 + b), x -> cast(x + a as string))", "filter(split(s, ','), x -> x > 'a')",
        "zip_with(split(s, ','), split(s, 'b'), (x, y) -> coalesce(x, '-') || coalesce(y, '+'))",
        "array_repeat(s, 2)")),
    "exists(split(s, ','), x -> exists(split(x, ''), y -> y || 'b' = x))", "forall(split(s, ','), x -> x <> 'ab')",
    "exists(array(a, b), x -> x > 5)", "aggregate(split(s, ','), 0, (n, x) -> n + octet_length(x), n -> n * 2)",
    "array_max(array(x, a))", "array_min(array(a, b))", "arrays_overlap(split(s, ','), array('b', null))",
    "array_contains(split(s, ','), 'b')", "array_contains(array(a, null), 5)", "array_position(split(s, ','), 'b')",
    "try_element_at(split(s, ','), 2)", "try_element_at(split(s, ','), -3)", "get(split(s, ','), -1)",
]  # fmt: skip
"""Texts that Spark evaluates itself, without raising."""
OTHER = {
    "make_date(2000 + a, b, 29)": "try_cast(concat(lpad(cast(2000 + a as string), 4, '0'), '-', b, '-29') as date)",
    "make_timestamp(2000, b, 29, 1, 2, 3.25)": "try_cast(concat('2000-', b, '-29 01:02:03.25') as timestamp_ntz)",
    "s || chr(92) || 'x' like s || chr(92) || 'x'": "cast(if(s is null, null, null) as boolean)",
    **{f"to_timestamp({text}, '{pattern}')": f"cast(try_to_timestamp({text}, '{pattern}') as timestamp_ntz)"
       for text, pattern in (("'2020-' || abs(a) || '0 1 pm'", "yyyy-DDD h a"), ("s", "yyyy[-MM]XXX"),
                             ("'2020-01-01+0' || abs(b)", "yyyy-MM-dd[x]"))},
    "pmod(a, b)": "case when b <> 0 then pmod(a, b) end",
    "getbit(a, b)": "case when b between 0 and 63 then getbit(a, cast(b as int)) end",
    "factorial(b)": "factorial(cast(b as int))",
    "split_part(s, ',', b)": "case when b <> 0 then split_part(s, ',', cast(b as int)) end",
    "elt(b, s, 'x')": "case when b between 1 and 2 then elt(cast(b as int), s, 'x') end",
    "from_utc_timestamp(ts, 'Europe/Berlin')": "convert_timezone('UTC', 'Europe/Berlin', ts)",
    "to_utc_timestamp(ts, 'Europe/Berlin')": "convert_timezone('Europe/Berlin', 'UTC', ts)",
    **{f"interval '5' month * {n}": f"cast(interval '5' month * {n} as bigint)"
       for n in ("a", "(b / 3)", "2.5", "'2'")},
    "interval '-7' month / b": "cast(try_divide(interval '-7' month, b) as bigint)",
    "interval '7-5' year to month / 2.5": "cast(interval '7-5' year to month / 2.5 as bigint)",
    "abs(interval '1' month * a)": "cast(abs(interval '1' month * a) as bigint)",
    "interval '1' month * a + interval '1' year": "a + 12",
    "cast(a as interval year)": "a * 12",
    "cast(-10.7 as interval month)": "-11L",
    **{f"interval '1 02:03:04.5' day to second {by}": _MICROS.format(f"interval '1 02:03:04.5' day to second {by}")
       for by in ("* (b / 7)", "* 1.5", "* 3", "/ 7", "/ 2.5")},
    **{time: _MICROS.format(f"({time} - time'00:00')") for time in (
        "cast(ts as time)", "cast(concat('T', b, ':', a, ':7.12345678 pM') as time)")},
    "make_time(b, 5, 7.25)":
        f"case when b between 0 and 23 then {_MICROS} end".format("(make_time(b, 5, 7.25) - time'00:00')"),
    "make_time(b, 5, 60)": "cast(null as bigint)",
    "cast(ts as time) + interval '20' hour":
        f"case when hour(ts) < 4 then {_MICROS} end".format("(cast(ts as time) + interval '20' hour - time'00:00')"),
    "to_unix_timestamp(d)": "unix_date(d) * 86400L",
    "repeat(s, a * 100000)": "case when a * 100000 * length(s) <= 100000 then repeat(s, cast(a * 100000 as int)) end",
    "element_at(str_to_map('x:1,x:' || a), 'x')": "cast(null as string)",
    "str_to_map(s, ',', ':')[s]": "cast(null as string)",
    "map(s, 1, 'ab', 2)['ab']": "case when s is not null and s <> 'ab' then 2L end",
    "size(map_from_arrays(split(s, ','), array(1)))": "case when array_size(split(s, ',')) = 1 then 1L end",
    "size(map_concat(map(coalesce(s, ''), 1), map('ab', 2)))": "case when coalesce(s, '') <> 'ab' then 2L end",
    "size(split(s, ','))": "array_size(split(s, ','))",
    "split(s, ',')[b]": "get(split(s, ','), cast(b as int))",
    "element_at(split(s, ','), b)": "case when b <> 0 then try_element_at(split(s, ','), cast(b as int)) end",
    "aggregate(array(a, 2.5), 0, (n, x) -> n + x)": "cast(a + 2.5 as decimal(38,1))",
    "size(sequence(a, a * 1000000))": "case when a between -0 and 0 then 1L end",
    "array_join(slice(split(s, ','), 1, b), '')": "if(b >= 0, array_join(slice(split(s, ','), 1, b), ''), null)",
    "unix_seconds(ts)": "cast(floor(unix_micros(cast(ts as timestamp)) / 1000000) as bigint)",
    "timestamp_seconds(a)": "cast(timestamp_seconds(a) as timestamp_ntz)",
    "extract(epoch from ts)": "cast(unix_micros(cast(ts as timestamp)) / 1000000D as decimal(20,6))",
    "extract(epoch from (ts - TIMESTAMP '2002-11-20 00:00:00'))":
        "cast(timestampdiff(MICROSECOND, timestamp_ntz '2002-11-20 00:00:00', ts) / 1000000D as decimal(20,6))",
    "ts - TIMESTAMP '2002-11-20 00:00:00' <= INTERVAL '90' MINUTE":
        "timestampdiff(MICROSECOND, timestamp_ntz '2002-11-20 00:00:00', ts) <= 5400000000",
}  # fmt: skip
"""Texts that Spark does not know, or at which it raises, and what they mean in Spark."""

ROWS = [
    (5, 2, 0.5, "ab", dt.date(2002, 11, 20), dt.datetime(2002, 11, 20, 1, 30, 0, 250000)),
    (-7, 0, -2.5, "abc,ab,b", dt.date(1969, 12, 31), dt.datetime(1969, 12, 31, 23, 59, 59)),
    (0, 13, float("nan"), '{"k": [{"v": "é"}]}', dt.date(2000, 2, 29), dt.datetime(2000, 2, 29)),
    (66, -1, 1e300, "79927398713", dt.date(1, 6, 3), dt.datetime(2024, 1, 31, 12)),
    (None, 70, float("-inf"), "", None, None),
    (1, None, None, None, dt.date(9999, 12, 1), None),
]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_values_are_those_of_spark(spark: SparkSession, ansi: str) -> None:
    frame = spark.createDataFrame(ROWS, "a bigint, b bigint, x double, s string, d date, ts timestamp_ntz").coalesce(1)
    texts = {**{sql: sql for sql in SAME}, **OTHER}
    query = bind(
        "SELECT " + ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(texts)) + " FROM T", "spark", SCHEMA
    ).query
    assert isinstance(query, Block)
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.timeType.enabled", "true")
    try:
        spark.conf.set("spark.sql.ansi.enabled", "false")
        expected = frame.selectExpr(*texts.values()).collect()
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        found = frame.selectExpr(*(to_spark(o.expression, lambda c: c.name) for o in query.outputs)).collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
        spark.conf.unset("spark.sql.timeType.enabled")
    for at, sql in enumerate(texts):
        assert [repr(row[at]) for row in found] == [repr(row[at]) for row in expected], sql


@pytest.mark.parametrize(
    ("sql", "dialect", "message"),
    [
        ("array_max(array(struct(a as x)))", "spark", "elements of type struct have no order"),
        ("array_min(array(split(s, ',')))", "spark", "elements of type array have no order"),
        ("split(s, ',') = array(a)", "spark", "type clash: array<string> cannot be compared with array<integer>"),
        ("collect_list(a, b)", "spark", "COLLECT_LIST takes at most 1 argument"),
        ("array_agg(a order by b, a desc)", "spark", "ARRAY_AGG in two directions is not supported"),
        (
            "array_agg(distinct a order by b)",
            "spark",
            "ARRAY_AGG of DISTINCT values ordered by something else is not supported",
        ),
        ("array_length(array[a])", "postgres", "ARRAY_LENGTH takes an array and 1"),
        ("array_length(array[a], 2)", "duckdb", "the length of an inner array is not supported"),
        ("cardinality(array[array[a]])", "postgres", "CARDINALITY of arrays of arrays"),
        ("list_contains(array[a], s)", "duckdb", "type clash: integer is needed, not string"),
        ("a = any(array[a])", "spark", "BOOL_OR of arrays, which have no order"),
        ("cast(split(s, ',') as string)", "spark", "array<string> cannot be cast to string"),
        ("'a' || split(s, ',')", "spark", "array<string> cannot be cast to string"),
        ("zipdistance(split(s, ','))", "spark", "function zipdistance is given an array"),
        ("split(s, s)[0]", "spark", "a pattern that is not a constant string is not supported"),
        ("split(s, '(')[0]", "spark", "not a regular expression: missing ), unterminated subpattern at position 0"),
        ("s[0]", "spark", "an array is needed, not string"),
        ("len(list_transform(string_split(s, ','), s))", "duckdb", "a lambda is needed"),
        ("size(transform(split(s, ','), x -> sum(a)))", "spark", "SUM is an aggregate, which cannot stand here"),
        ("aggregate(split(s, ','), 0, (n, x) -> x)", "spark", "the start is integer, and the lambda gives string"),
        ("array_contains(split(s, ','), 5)", "spark", "type clash: string is needed, not integer"),
        ("split_part(s, ',', 2)", "trino", "SPLIT_PART in trino is not supported"),
        ("regexp_extract(s, 'ab', 1)", "spark", "the pattern has 0 groups"),
        ("regexp_replace(s, 'a', '$1')", "spark", "this replacement is not supported"),
        ("next_day(d, s)", "spark", "NEXT_DAY of what is no constant day is not supported"),
        ("make_interval(0, 1, 0, 1)", "spark", "MAKE_INTERVAL as a value is not supported"),
        ("interval '1 month 1 day'", "spark", "an interval of months and days as a value is not supported"),
        (
            "interval '1' month > interval '1' day",
            "spark",
            "type clash: interval year to month cannot be compared with interval",
        ),
        ("interval '1-12' year to month", "spark", "this interval is not supported"),
        ("interval '-106751991 04:00:54.775808' day to second", "spark", "an interval that is too long"),
        ("interval '-1 02:00' day to minute", "postgres", "this interval is not supported"),
        ("interval '1' month * 1.5", "postgres", "an interval times or by what is no INTEGER is not supported"),
        ("extract(hour from interval '25 hours')", "duckdb", "EXTRACT of HOUR of this interval is not supported"),
        ("cast(min(ts - ts) as string)", "spark", "a cast of an interval to string is not supported"),
        ("cast('1 day' as interval)", "spark", "an interval without fields is not supported"),
        ("time '24:00'", "spark", "'24:00' is not a time"),
        ("time '1:00 pm'", "duckdb", "'1:00 pm' is not a time"),
        ("cast(s as time)", "postgres", "a text as a TIME is not supported"),
        ("cast(d as time)", "spark", "date cannot be cast to time"),
        ("cast(ts as time(3))", "postgres", "a TIME of 3 digits is not supported"),
        ("cast(ts as time) - cast(ts as time)", "duckdb", "- of time and time"),
        ("sum(cast(ts as time))", "spark", "SUM of a time"),
        ("time_trunc('DAY', cast(ts as time))", "spark", "this unit of a TIME is not supported"),
        ("ts - ts > 5", "spark", "type clash: interval cannot be compared with integer"),
        ("ts - ts > '5 minutes'", "spark", "type clash: interval cannot be compared with string"),
        ("sum(ts - d) + 1", "spark", "+ of interval and integer"),
        ("avg(ts - d)", "postgres", "AVG of intervals is not supported"),
        ("corr(ts - d, 1)", "spark", "CORR of an interval"),
        ("(ts - d) / 2", "duckdb", "an interval divided by a number is not supported"),
        ("(ts - d) * x", "duckdb", "an interval times or by what is no INTEGER is not supported"),
        ("(ts - d) || 'x'", "spark", "interval cannot be cast to string"),
        ("sqrt(ts - d)", "spark", "type clash: double is needed, not interval"),
        ("coalesce(ts - d, 0)", "spark", "type clash: interval and integer have no common type"),
        ("coalesce(ts - d, '1')", "spark", "type clash: interval and string have no common type"),
        ("extract(hour from d - d)", "spark", "EXTRACT of HOUR of a difference of dates is not supported"),
        ("extract(day from d - d)", "postgres", "EXTRACT of DAY of a difference of dates is not supported"),
        ("ts + x * interval '1' day", "spark", "an interval times what is no INTEGER is not supported"),
    ],
)
def test_refused(sql: str, dialect: str, message: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(f"SELECT {sql} FROM T", dialect, SCHEMA)
    assert caught.value.message == message


def test_a_difference_of_times_that_is_compared_with_an_interval_moves_the_other_time() -> None:
    query = bind("SELECT a FROM T WHERE ts - d < INTERVAL '5' MINUTE", "spark", SCHEMA).query
    assert isinstance(query, Block)
    assert "add_seconds(cast(d as timestamp), 300)" in str(query.where)


@pytest.mark.parametrize("test", ["{} > INTERVAL '5' MINUTE", "{} BETWEEN INTERVAL '5' MINUTE AND INTERVAL '1' HOUR"])
def test_a_difference_of_intervals_is_one(test: str) -> None:
    inner = "SELECT a, ts - CAST(d AS TIMESTAMP) AS i, ts - TIMESTAMP '2002-01-01 00:00:00' AS j FROM T"
    query = bind(f"SELECT a FROM ({inner}) t WHERE {test.format('(i - j)')}", "spark", SCHEMA).query
    assert isinstance(query, Block) and "300000000" in str(query.where)


def test_functions_that_are_the_same_in_all_dialects_are_read_there() -> None:
    query = bind("SELECT sin(x) FROM T", "postgres", SCHEMA).query
    assert isinstance(query, Block) and text(query.outputs[0].expression) == "sin(x)"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT median(split(s, ',')) FROM T",
        "SELECT greatest(split(s, ','), split(s, '-')) FROM T",
    ],
)
def test_arrays_are_not_chosen_among(sql: str) -> None:
    with pytest.raises(SqlError, match=r"no order|order of arrays") as caught:
        bind(sql, "spark", SCHEMA)
    assert caught.value.position is not None and "x[0]" in str(caught.value.hint)


def test_lambdas_are_equal_whatever_their_variables_are_called() -> None:
    texts = [f"SELECT exists(split(s, ','), {v} -> {v} = 'a') AS e FROM T" for v in ("x", "word")]
    queries = [bind(sql, "spark", SCHEMA).query for sql in texts]
    assert queries[0] == queries[1]
    assert isinstance(queries[0], Block)
    assert text(queries[0].outputs[0].expression) == "exists(split(s, ','), x0 -> (x0 = 'a'))"


def test_an_array_of_a_plain_subquery_is_read_by_the_query_around() -> None:
    query = bind("SELECT x[0] AS y FROM (SELECT split(s, ',') AS x FROM T)", "spark", SCHEMA).query
    assert isinstance(query, Block) and text(query.outputs[0].expression) == "get(split(s, ','), 0)"
