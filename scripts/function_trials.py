"""Trials of functions: which calls of a function are bound, by calling it with columns and constants of our types."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.schema import Schema

SCHEMA = Schema(
    {"t": (("a", INTEGER), ("m", decimal(15, 2)), ("x", DOUBLE), ("s", STRING), ("d", DATE), ("ts", TIMESTAMP),
           ("p", BOOLEAN))},
    times={"t": "ts"},
)  # fmt: skip
ARGUMENTS = ("a", "x", "s", "d", "ts", "p", "'MON'", "1", "0.5", "SPLIT(s, ',')")
LONGER = (
    "a, a, a",
    "s, s, s",
    "s, '(a)', 1",
    "s, ',', 1",
    "s, 'a', 'b'",
    "p, a, a",
    "a, a, a, a, a, a",
    "MINUTE, ts, ts",
    "'minute', ts, ts",
    "s, '%Y'",
    "SPLIT(s, ','), v -> v = s",
    "SPLIT(s, ','), 0, (n, v) -> n",
    "SPLIT(s, ','), SPLIT(s, ','), (v, w) -> v",
    "SPLIT(s, ','), 1, s",
    "SPLIT(s, ','), 1, 2",
    "ARRAY(SPLIT(s, ','))",
)
NOW = ("now", "current_timestamp", "current_date")
"""Functions of stream time, which stand in conditions."""
ARRAY = "an array"
"""What calls are bound to that give arrays, which are no columns of an answer."""
SPELLED = {
    "between": "a BETWEEN 1 AND 2",
    "case": "CASE WHEN p THEN 1 END",
    "when": "CASE WHEN p THEN 1 END",
    "in": "a IN (1, 2)",
    "div": "a DIV 2",
    "struct": "STRUCT(a, s)",
    "named_struct": "NAMED_STRUCT('x', a)",
    "encode": "ENCODE(s, 'UTF-8')",
    "timezone": "TIMEZONE('UTC', ts)",
    "decode": "DECODE(a, 1, 'b')",
    "mod": "MOD(a, 2)",
    "convert_timezone": "CONVERT_TIMEZONE('UTC', 'Europe/Berlin', ts)",
    "from_utc_timestamp": "FROM_UTC_TIMESTAMP(ts, 'Europe/Berlin')",
    "to_utc_timestamp": "TO_UTC_TIMESTAMP(ts, 'Europe/Berlin')",
    "map": "MAP('k', a)",
    "map_concat": "MAP_CONCAT(MAP('j', a), MAP('k', a))",
    "map_contains_key": "MAP_CONTAINS_KEY(MAP('k', a), s)",
    "map_entries": "MAP_ENTRIES(MAP('k', a))",
    "map_filter": "MAP_FILTER(MAP('k', a), (k, v) -> v > 1)",
    "map_from_arrays": "MAP_FROM_ARRAYS(ARRAY('k'), ARRAY(a))",
    "map_from_entries": "MAP_FROM_ENTRIES(ARRAY(STRUCT('k', a)))",
    "map_keys": "MAP_KEYS(MAP('k', a))",
    "map_values": "MAP_VALUES(MAP('k', a))",
    "transform_keys": "TRANSFORM_KEYS(MAP('k', a), (k, v) -> UPPER(k))",
    "transform_values": "TRANSFORM_VALUES(MAP('k', a), (k, v) -> v + 1)",
    **{name: f"{name.upper()}(ARRAY(STRUCT(a, s)))" for name in ("inline", "inline_outer")},
    **{name: f"{name.upper()}(SPLIT(s, ','))" for name in ("posexplode", "posexplode_outer")},
    **{name: f"{name.upper()}(2000, 1, a, 1, 2, 3)" for name in ("make_timestamp", "make_timestamp_ntz")},
    **{name: f"ts + {name.upper()}(0, 1)" for name in ("make_interval", "make_ym_interval")},
    "width_bucket": "WIDTH_BUCKET(x, 0, 10, 5)",
    "date_part": "DATE_PART('YEAR', d)",
    "datepart": "DATEPART('YEAR', d)",
    "bigint": "BIGINT(x)",
    "and": "p AND p",
    "or": "p OR p",
    "not": "NOT p",
    "like": "s LIKE 'a'",
    "ilike": "s ILIKE 'a'",
    "rlike": "s RLIKE 'a'",
    "extract": "EXTRACT(YEAR FROM d)",
    "position": "POSITION('a' IN s)",
    "percentile_cont": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a)",
    "date_trunc": "DATE_TRUNC('MONTH', ts)",
    "percentile_disc": "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY a)",
    "trunc": "TRUNC(d, 'MM')",
    "!": "NOT p",
    "grouping": "GROUPING(a)",
    "grouping_id": "GROUPING_ID(a)",
    "to_date": "TO_DATE(s, 'yyyy-MM-dd')",
    "to_timestamp": "TO_TIMESTAMP(s, 'yyyy-MM-dd')",
    "date_format": "DATE_FORMAT(d, 'yyyy')",
    "to_char": "TO_CHAR(d, 'YYYY')",
    "to_number": "TO_NUMBER(s, '999'); TO_NUMBER(s)",
    "try_to_number": "TRY_TO_NUMBER(s, '999')",
    "to_varchar": "TO_VARCHAR(m, '999.00')",
    "from_json": "FROM_JSON(s, 'a INT')",
    "get_json_object": "GET_JSON_OBJECT(s, '$.a')",
    "cast": "CAST(a AS STRING)",
    "lpad": "LPAD(s, 5)",
    "rpad": "RPAD(s, 5)",
    "date_add": "DATE_ADD(d, 1)",
    "date_sub": "DATE_SUB(d, 1)",
    "trim": "TRIM(s)",
    "count": "COUNT(*)",
    "window": "window(ts, '1 hour')",
    "session_window": "session_window(ts, '1 hour')",
    "timestampadd": "TIMESTAMPADD(MINUTE, 5, ts)",
    "mode": "mode(a); MODE() WITHIN GROUP (ORDER BY a)",
    "string_agg": "string_agg(a); string_agg(a, ', ')",
    **{name: f"{name}(s, a)" for name in ("json_object_agg", "jsonb_object_agg", "json_group_object", "row")},
    "datetrunc": "datetrunc('MON', d); datetrunc('MON', ts)",
    **{name: f"{name}(s, '$.a')" for name in ("json_exists", "json_value")},
    "list_cat": "list_cat(SPLIT(s, ','), SPLIT(s, ','))",
    "overlay": "OVERLAY(s PLACING 'a' FROM 1)",
    **{name: f"ts > {name}()" for name in NOW},
}
"""Functions whose calls have a form of their own; several are tried one after the other."""
_AS_TEXT = re.compile(
    r"function='cast', arguments=\(Column\(name='\w+', type=[^<]*<Kind\.[^>]*>[^<]*, source=0\),\),"
    r" type=DataType\(kind=<Kind.STRING"
)
"""A column that a text is made of, in what a call is bound to."""
_OF_TEXT = re.compile(r"(?<!SPLIT)[( ]s[,)]")
"""A text among the arguments of a call."""


def shown(name: str, dialect: str) -> str:
    """The call that shows a function: the first that is bound, of a text where that one makes a text of its column."""
    calls = readings(name, dialect)
    first, meaning = next(calls, ("", ""))
    if not _AS_TEXT.search(meaning):
        return first
    return next((call for call, meaning in calls if _OF_TEXT.search(call) and not _is_text(meaning)), first)


def _is_text(meaning: str) -> bool:
    """Whether a call gives a column, or makes a text of one."""
    return bool(_AS_TEXT.search(meaning)) or "expression=Column(name='s', " in meaning


def reading(name: str, dialect: str = "spark") -> tuple[str, str] | None:
    """The first call of a function that is bound, and what it is bound to as text; ``None`` when there is none."""
    return next(readings(name, dialect), None)


def readings(name: str, dialect: str = "spark") -> Iterator[tuple[str, str]]:
    """All calls of a function that are bound, each with what it is bound to; calls with OVER when no other is."""
    plain = False
    for call in _calls(name):
        bound, refused = _bound(call, dialect)
        if not refused:
            yield call, bound
            plain = True
        elif refused in (f"unknown function {name}", f"{name.upper()} is not supported"):
            break
    for arguments in () if plain else ("", "a", "4", "a, 1"):
        call = f"{name}({arguments}) OVER (ORDER BY a NULLS FIRST)"
        bound, refused = _bound(call, dialect)
        if not refused:
            yield call, bound


def refusal(call: str, dialect: str) -> str:
    """Why a call is not bound; empty when it is."""
    return _bound(call, dialect)[1]


def is_grouped(call: str, dialect: str) -> bool:
    """Whether a call alone makes groups of the rows, as that of an aggregate does."""
    try:
        query = bind(f"SELECT {call} AS v FROM t", dialect, SCHEMA).query
    except WorkbenchError:
        return False
    return isinstance(query, Block) and query.grouping is not None


def query_of(call: str) -> str:
    """A query that makes a call."""
    if call.endswith(tuple(f"{name}()" for name in NOW)):
        return f"SELECT 1 AS v FROM t WHERE {call}"
    if "window(" in call:
        return f"SELECT {call.split('(')[0]}.start AS v FROM t GROUP BY {call}"
    if call.lower().startswith(("prev(", "next(", "classifier(", "match_number(")):
        return f"SELECT v FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {call} AS v PATTERN (z))"
    if call.lower().startswith(("time_bucket_gapfill", "locf", "interpolate")):
        group = call if call.lower().startswith("time") else "TIME_BUCKET_GAPFILL(INTERVAL '1' HOUR, ts)"
        return f"SELECT {call} AS v FROM t GROUP BY {group}"
    if call.lower().startswith(("inline", "posexplode")):  # several columns
        return f"SELECT {call} FROM t"
    return f"SELECT {call} AS v FROM t" + (" GROUP BY a" if call.lower().startswith("grouping") else "")


def _calls(name: str) -> list[str]:
    if name in SPELLED:
        return SPELLED[name].split("; ")
    if not name.isidentifier():
        return [f"a {name} a", f"s {name} s", f"p {name} p", f"{name} a", f"{name} p"]
    lists = [", ".join(c) for n in range(3) for c in itertools.product(ARGUMENTS, repeat=n)]
    return [f"{name}({arguments})" for arguments in (*lists, *LONGER)]


def _bound(call: str, dialect: str) -> tuple[str, str]:
    """What a call is bound to, and why it is not."""
    try:
        return repr(bind(query_of(call), dialect, SCHEMA)), ""
    except WorkbenchError as error:
        # An array is no column of an answer; arguments of other functions may be arrays.
        return (ARRAY, "") if error.message.startswith("the array v as a column") else ("", error.message)
