"""Which syntax nodes are bound, and by what: the one place where handlers are registered.

A function that is one for one with a syntax node, or a name, says so in its declaration (``functions``). Here is what
else text means. A node that is not listed is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING
from workbench.sql.binder import functions, operators, temporal
from workbench.sql.binder.arrays import binary, databases, json_paths, lambdas, maps, structs
from workbench.sql.binder.arrays import calls as arrays
from workbench.sql.binder.numbers.results import shifted, whole
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.binder.times import interval_arithmetic, time_differences
from workbench.sql.functions.calls import FUNCTIONS, call
from workbench.sql.functions.declaration import Function

Bind = Callable[[ExpressionBinder, Any], Expression]


@dataclass(frozen=True)
class Handler:
    """What binds a syntax node, and the parts of the node that it deals with; other parts are refused."""

    parts: tuple[str, ...]
    bind: Bind


def _handler(parts: str, bind: Bind) -> Handler:
    return Handler(tuple(parts.split()), bind)


def _regular(function: Function, parts: tuple[str, ...]) -> Handler:
    """A function on the node's parts, in order; refused in dialects in which it may mean something else."""

    def bind(b: ExpressionBinder, node: exp.Expr) -> Expression:
        functions.refuse_elsewhere(b, function.name, node)
        return call(function.name, *b.parts(node, *parts))

    return Handler(parts, bind)


def _shift(function: str) -> Bind:
    def bind(b: ExpressionBinder, node: exp.Binary | exp.Anonymous) -> Expression:
        functions.refuse_elsewhere(b, function, node)
        parts = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
        return shifted(b, function, parts[0], [b.bind(part) for part in parts])

    return bind


HANDLERS: dict[type[exp.Expr], Handler] = {
    **{node: _regular(function, parts) for function in FUNCTIONS.values() for node, parts in function.syntax},
    # Columns and constants.
    exp.Paren: _handler("this", lambda b, n: b.bind(n.this)),
    exp.Column: _handler("this table join_mark db catalog", lambda b, n: b.column(n)),
    exp.Dot: _handler("this expression", structs.after_dot),
    exp.Literal: _handler("this is_string", operators.literal),
    exp.RawString: _handler("this", operators.string_literal),
    exp.National: _handler("this", operators.string_literal),
    exp.Null: _handler("", lambda b, n: Constant(None, STRING)),
    exp.Boolean: _handler("this", lambda b, n: Constant(bool(n.this), BOOLEAN)),
    # Operators.
    **{node: _handler("this expression", databases.any_of(symbol, operators.comparison(symbol))) for node, symbol in {
        exp.EQ: "=", exp.NEQ: "<>"}.items()},
    **{node: _handler("this expression", operators.comparison(symbol)) for node, symbol in {
        exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}.items()},
    exp.NullSafeNEQ: _handler(
        "this expression", lambda b, n: call("not", call("<=>", *b.parts(n, "this", "expression")))),
    exp.Mul: _handler("this expression", interval_arithmetic.times),
    exp.IntDiv: _handler("this expression", interval_arithmetic.integer_division),
    exp.Add: _handler("this expression", operators.plus_minus),
    exp.Sub: _handler("this expression", operators.plus_minus),
    exp.Div: _handler("this expression", operators.divide),
    exp.Mod: _handler("this expression", functions.remainder),
    exp.Neg: _handler("this", operators.minus_sign),
    exp.And: _handler("this expression", operators.connective),
    exp.Or: _handler("this expression", operators.connective),
    exp.Not: _handler("this", lambda b, n: call("not", b.condition(n.this))),
    exp.Is: _handler("this expression negate", operators.is_test),
    exp.In: _handler("this expressions query unnest field is_global", operators.in_list),
    exp.Between: _handler("this low high symmetric", operators.between),
    exp.Collate: _handler("this expression", operators.collate),
    exp.Like: _handler("this expression negate", operators.like),
    exp.ILike: _handler("this expression negate", operators.like),
    exp.RegexpLike: _handler("this expression", operators.like),
    exp.Escape: _handler("this expression", operators.escaped_like),
    exp.DPipe: _handler("this expression", operators.concatenation),
    exp.Concat: _handler("expressions", operators.concatenation),
    # Conditional functions and conversions.
    exp.Case: _handler("this ifs default", functions.case),
    exp.If: _handler("this true false", functions.if_),
    exp.DecodeCase: _handler("expressions", functions.decode),
    exp.Nullif: _handler("this expression", operators.null_if),
    exp.Nvl2: _handler("this true false", functions.nvl2),
    exp.Greatest: _handler("this expressions", functions.greatest_or_least),
    exp.Least: _handler("this expressions", functions.greatest_or_least),
    exp.Cast: _handler("this to", functions.cast_),
    exp.TryCast: _handler("this to", functions.cast_),
    exp.ToNumber: _handler("this", temporal.to_number),
    # Functions of numbers.
    exp.Abs: _handler("this", operators.function_of_number("abs")),
    **{node: _handler("this", whole(node.__name__.lower())) for node in (exp.Floor, exp.Ceil)},
    exp.Log: _handler("this expression", functions.log),
    exp.Round: _handler("this decimals", functions.rounded),
    exp.Trunc: _handler("this decimals", lambda b, n: temporal.trunc(b, b.parts(n, "this", "decimals"))),
    # Functions of texts.
    exp.Length: _handler("this", functions.length),
    exp.Substring: _handler("this start length", functions.substring),
    exp.Left: _handler("this expression", functions.left),
    exp.StrPosition: _handler("this substr position occurrence", functions.position),
    exp.Trim: _handler("this expression position", functions.trim),
    exp.Pad: _handler("this expression fill_pattern", functions.pad),
    exp.Replace: _handler("this expression replacement", functions.replace),
    # Functions of dates and times.
    exp.ToChar: _handler("this format", temporal.to_char),
    exp.TimeToStr: _handler("this format", temporal.date_format),
    exp.StrToDate: _handler("this format", temporal.to_date),
    exp.TsOrDsToDate: _handler("this format", temporal.to_date),
    exp.Date: _handler("this", temporal.to_date),
    exp.StrToTime: _handler("this format", temporal.to_timestamp),
    exp.DateStrToDate: _handler("this", temporal.date_literal),
    **{node: _handler("this", temporal.part(part)) for node, part in {
        exp.Year: "year", exp.Quarter: "quarter", exp.Month: "month", exp.WeekOfYear: "week", exp.Day: "day",
        exp.DayOfMonth: "day", exp.DayOfWeek: "dayofweek", exp.DayOfYear: "dayofyear", exp.Hour: "hour",
        exp.Minute: "minute", exp.Second: "second"}.items()},
    exp.Interval: _handler("this unit", interval_arithmetic.literal),
    exp.ToDays: _handler("this", interval_arithmetic.literal),
    exp.MakeInterval: _handler("year month week day hour minute second", interval_arithmetic.literal),
    exp.Extract: _handler("this expression", temporal.extract),
    exp.DateTrunc: _handler("this unit", temporal.truncate_time),
    exp.TimestampTrunc: _handler("this unit", temporal.truncate_time),
    **dict.fromkeys((exp.TsOrDsAdd, exp.DateAdd, exp.DateSub, exp.TimestampAdd),
                    _handler("this expression unit", temporal.date_add)),
    exp.DateBin: _handler("this expression unit", time_differences.bucket),
    **{node: _handler("this", temporal.name_of(name, part)) for node, (name, part) in {
        exp.Dayname: ("dayname", "dayofweek"), exp.Monthname: ("monthname", "month")}.items()},
    exp.DateDiff: _handler("this expression unit", time_differences.date_diff),
    **{node: _handler("this expression", _shift(name)) for node, name in {
        exp.BitwiseLeftShift: "shiftleft", exp.BitwiseRightShift: "shiftright"}.items()},
    **dict.fromkeys((exp.RegexpExtract, exp.RegexpReplace, exp.RegexpCount, exp.RegexpSubstr, exp.RegexpInstr),
                    _handler("this expression group replacement null_if_pos_overflow", functions.regular_expression)),
    # Functions of arrays.
    exp.ArraySize: _handler("this expression", databases.size),
    exp.ArrayToString: _handler("this expression null", databases.joined),
    exp.ArrayContains: _handler("this expression", databases.contains),
    **dict.fromkeys((exp.Split, exp.StringToArray), _handler("this expression", databases.parts)),
    exp.Bracket: _handler("this expressions offset returns_list_for_maps", arrays.element),
    exp.ArrayInsert: _handler("this position expression", arrays.inserted),
    exp.RegexpSplit: _handler("this expression limit", arrays.split),
    exp.RegexpExtractAll: _handler("this expression group", functions.regular_expression),
    exp.ArraySort: _handler("this expression asc nulls_first", arrays.sorted_),
    exp.Reverse: _handler("this", arrays.reverse),
    exp.Identifier: _handler("this", lambda b, n: b.variable(n)),
    exp.Transform: _handler("this expression", lambdas.over_elements("transform")),
    exp.ArrayFilter: _handler("this expression", lambdas.over_elements("filter")),
    exp.Exists: _handler("this expression", lambdas.over_elements("exists")),
    exp.Reduce: _handler("this initial merge finish", lambdas.reduced),
    exp.JSONExtractScalar: _handler("this expression only_json_types json_type", json_paths.text),
    exp.JSONBExtractScalar: _handler("this expression", json_paths.text),
    **dict.fromkeys((exp.JSONExtract, exp.JSONBExtract),
                    _handler("this expression only_json_types", json_paths.value)),
    exp.JSONBContainsTopKey: _handler("this expression", json_paths.has_key),
    **dict.fromkeys((exp.ArrayContainsAll, exp.ArrayContainedBy),
                    _handler("this expression", json_paths.contains)),
    exp.JSONBContainsAnyTopKeys: _handler("this expression", json_paths.has_keys("or")),
    exp.JSONBContainsAllTopKeys: _handler("this expression", json_paths.has_keys("and")),
    exp.ParseUrl: _handler(
        "this part_to_extract key", lambda b, n: functions.parse_url(b, b.parts(n, "this", "part_to_extract", "key"))),
    exp.Overlay: _handler("this expression from_ for_", functions.overlay),
    exp.Hex: _handler("this", binary.hex_),
    exp.HexString: _handler("this is_integer", binary.constant),
    **{node: _handler("this length", binary.of_bytes(*names)) for node, names in binary.OF_TEXT_OR_BYTES.items()},
    **{node: _handler("this charset", binary.in_utf8(name)) for node, name in {
        exp.Encode: "encode", exp.Decode: "decode_bytes"}.items()},
    exp.GenerateSeries: _handler("start end step is_end_exclusive", arrays.sequence),
    exp.JSONFormat: _handler("this", structs.to_json),
    exp.Struct: _handler("expressions", structs.struct),
    # Functions of maps.
    **dict.fromkeys((exp.VarMap, exp.Map, exp.ToMap), _handler("this keys values", maps.map_constructor)),
    exp.MapFromEntries: _handler("this", maps.of_entries),
    exp.StrToMap: _handler("this pair_delim key_value_delim", maps.of_text),
    **dict.fromkeys((exp.MapKeys, exp.MapContainsKey), _handler("this key", maps.key_of)),
    exp.DateFromUnixDate: _handler("this", temporal.date_from_days),
    exp.MonthsBetween: _handler("this expression roundoff", temporal.months_between),
    exp.StrToUnix: _handler("this format", temporal.unix_timestamp),
    exp.UnixToStr: _handler("this format", temporal.from_unixtime),
    exp.ConvertTimezone: _handler("source_tz target_tz timestamp", temporal.convert_timezone),
    exp.AtTimeZone: _handler("this zone", temporal.of_utc),
    exp.FromTimeZone: _handler("this zone", temporal.of_utc),
    exp.Initcap: _handler("this expression", functions.capitalized),
    exp.Pi: _handler("", lambda b, n: Constant(math.pi, DOUBLE)),
    exp.TimestampDiff: _handler("this expression unit", time_differences.timestamp_diff),
    exp.TimeToUnix: _handler("this", time_differences.epoch),
    exp.UnixToTime: _handler("this scale", time_differences.epoch_of_scale),
    exp.LastDay: _handler("this", temporal.last_day),
    exp.AddMonths: _handler("this expression", temporal.add_months),
}  # fmt: skip
"""Syntax node -> what binds it."""

NAMED: dict[str, Callable[[ExpressionBinder, list[Expression]], Expression]] = {
    "isnull": lambda b, arguments: call("is_null", *arguments),
    "isnotnull": lambda b, arguments: call("not", call("is_null", *arguments)),
    "trunc": temporal.trunc,
    "nullifzero": lambda b, arguments: call("nullif", *arguments, Constant(0, INTEGER)),
    "zeroifnull": lambda b, arguments: call("coalesce", *arguments, Constant(0, INTEGER)),
    "octet_length": partial(binary.named, "octet_length", "length_of_bytes"),
    "crc32": partial(binary.named, "crc32", "crc32_of_bytes"),
    "btrim": lambda b, arguments: call("trim", *arguments),
    "split_index": functions.split_index,
    "e": functions.euler,
    "try_parse_url": functions.parse_url,
    "positive": functions.positive,
    **dict.fromkeys(("date_part", "datepart"), temporal.date_part),
    **dict.fromkeys(("date_sub", "datesub"), time_differences.date_sub),
    "epoch_us": time_differences.epoch_us,
    **{name: partial(functions.cast_named, type_) for name, type_ in functions.CASTS.items()},
    "try_to_timestamp": temporal.try_to_timestamp,
    "cardinality": databases.cardinality,
    **{name: partial(maps.read, name) for name in maps.NAMES},
    "map_contains": partial(maps.read, "map_contains_key"),
    "map_extract_value": partial(maps.read, "map_value"),
    **{name: partial(functions.named, function.name) for function in FUNCTIONS.values() for name in function.names},
}
"""Functions that the parser leaves as plain names, in lower case -> what binds a call on bound arguments."""

OF_SYNTAX: dict[str, Callable[[ExpressionBinder, exp.Anonymous], Expression]] = {
    **{name: lambdas.named(name) for name in ("forall", "zip_with")},
    "map_concat": maps.concatenated,
    **{name: partial(maps.over_entries, name) for name in ("map_filter", "transform_keys", "transform_values")},
    "json_typeof": json_paths.named("json_type"),
    "jsonb_typeof": json_paths.named("json_type"),
    "jsonb_array_length": json_paths.named("json_length"),
    "jsonb_extract_path_text": json_paths.text,
    "jsonb_extract_path": json_paths.value,
    **dict.fromkeys(json_paths.ELEMENTS, json_paths.refuse_elements),
    "age": time_differences.refuse_age,
    "shiftrightunsigned": _shift("shiftrightunsigned"),
}
"""Functions that the parser leaves as plain names, of lambdas, maps, JSON or times -> what binds a call."""

IGNORED_PARTS = frozenset({
    "safe", "typed", "coalesce", "is_nvl", "fractions_supported", "big_int", "ignore_nulls", "zone", "nested",
    "preserve_end_of_month", "flatten", "charset", "sysdate", "is_left", "quoted", "date_part_boundary",
    "null_propagation", "is_length", "offset", "value_constructor",
})  # fmt: skip
"""Flags that sqlglot sets on every parse of a dialect: they describe the dialect, and handlers deal with them.

Where an expression stands in their place the call has too many arguments."""
