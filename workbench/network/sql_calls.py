"""Calls of functions that SQL text has under another name, or as an operator, as an analyst writes them.

The workbench has one function for each meaning: what duckdb and postgres call alike is two of them, and a test of
EXPLODE is one that no text names. Texts for people have the words of SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.sql.algebra.expressions import Call, Constant, Expression, shown_function
from workbench.sql.algebra.zones import OF_ZONES
from workbench.sql.functions.calls import SESSION_START
from workbench.sql.windows.stream_time import SLIDING, TUMBLING, duration_text

_UNREAD = "_unread"
"""The end of the names of tests whether a function of JSON cannot read what it asks for."""
_OF_DIALECTS = ("_in_duckdb", "_in_postgres", "_of_bytes", "_ieee")
"""Ends of names that tell functions of one word apart."""
_WINDOWS = {TUMBLING: "WINDOW_START", SLIDING: "WINDOW", SESSION_START: "SESSION_START"}
_TEMPLATES = {
    # places of arrays and maps
    "has_place": "EXPLODE({0})", "with_places": "{0}", "run_lengths": "LIST_HISTOGRAM({0})",
    "series": "GENERATE_SERIES({0}, {1}, {2})", "date_series": "SEQUENCE({0}, {1}, INTERVAL {2} DAYS)",
    "month_series": "SEQUENCE({0}, {1}, INTERVAL {2} MONTHS)", "sort_parts": "SORT_ARRAY({0})",
    "timestamp_series": "GENERATE_SERIES({0}, {1}, INTERVAL {2} MICROSECONDS)",
    "no_map": "MAP_FROM_ENTRIES({0}) IS NULL",
    "list_inner_product": "LIST_DOT_PRODUCT({0}, {1})", "order_of_parts": "{0}",
    # texts
    "part_in_duckdb": "SUBSTRING({all})", "character_in_duckdb": "{0}[{1}]", "between_in_duckdb": "{0}[{1}:{2}]",
    "hex_in_postgres": "TO_HEX({0})", "hex_of_text": "HEX({0})", "length_of_bytes": "OCTET_LENGTH({0})",
    "concat_bytes": "{0} || {1}", "jaro_winkler_in_duckdb": "JARO_WINKLER_SIMILARITY({0}, {1})",
    **dict.fromkeys(("double_text", "decimal_text", "timestamp_text", "double_text_in_postgres", "text_with_offset"),
                    "CAST({0} AS STRING)"),
    "decode_bytes": "DECODE({all})", "base32_of_bytes": "TO_BASE32({0})", "array_reverse": "REVERSE({0})",
    "json_of_members": "JSON_GROUP_OBJECT({0})",
    "record_text_in_postgres": "CAST(({all}) AS TEXT)",
    "bytes_of_text_in_postgres": "CAST({0} AS BYTEA)", "bytes_of_hex_in_postgres": "DECODE({0}, 'hex')",
    "bytes_of_base64_in_postgres": "DECODE({0}, 'base64')", "base64_in_postgres": "ENCODE({0}, 'base64')",
    "glob": "{0} GLOB {1}", "re2_found": "REGEXP_MATCHES({all})", "re2_part": "REGEXP_EXTRACT({all})",
    "re2_parts": "REGEXP_EXTRACT_ALL({all})", "re2_replaced": "REGEXP_REPLACE({all})",
    "re2_split": "STRING_SPLIT_REGEX({all})",
    # numbers
    "left_shift": "{0} << {1}", "right_shift": "{0} >> {1}", "bit_and_of": "{0} & {1}", "bit_or_of": "{0} | {1}",
    "bit_xor_of": "{0} ^ {1}", "bit_not": "~{0}", "ones_of_bits": "BIT_COUNT({0})", "is_infinite": "ISINF({0})",
    "is_nan_in_duckdb": "ISNAN({0})", "least_scale": "MIN_SCALE({0})", "round_scaled": "ROUND({all})",
    **dict.fromkeys(("bucket_of_doubles", "bucket_of_decimals", "bucket_of_thresholds"), "WIDTH_BUCKET({all})"),
    "integer_in_duckdb": "CAST({0} AS BIGINT)", "double_in_duckdb": "CAST({0} AS DOUBLE)",
    **dict.fromkeys(("decimal_in_duckdb", "decimal_digits"), "CAST({0} AS DECIMAL({1}, {2}))"),
    **dict.fromkeys(("number_in_format", "number_in_model"), "TO_CHAR({0}, {1})"),
    **dict.fromkeys(("number_of_format", "number_of_model", "number_of_format_digits", "number_of_model_digits"),
                    "TO_NUMBER({0}, {1})"),
    "fifteen_digits": "CAST({0} AS NUMERIC)", "average": "{0} / {1}", "numeric_quotient": "{0} / {1}",
    "rounded_numeric": "ROUND({all})",
    "truncate": "TRUNC({all})", "ceil_of_double": "CEIL({0})", "floor_of_double": "FLOOR({0})",
    "variance_pop": "VAR_POP({all})", "variance_samp": "VAR_SAMP({all})",
    # times
    "trunc_timestamp": "DATE_TRUNC({1}, {0})", "trunc_date": "DATE_TRUNC({1}, {0})",
    "add_months_to_timestamp": "ADD_MONTHS({0}, {1})", "micros_of_seconds": "{0} * INTERVAL 1 SECOND",
    "seconds_between": "DATEDIFF(SECOND, {0}, {1})", "months_between_in_duckdb": "DATEDIFF('month', {0}, {1})",
    **dict.fromkeys(("iso_time_in_duckdb", "iso_time_in_postgres"), "{0}"),
    "stretch_of_months": "TIME_BUCKET(INTERVAL {1} MONTHS, {0})", "made_timestamp": "MAKE_TIMESTAMP({all})",
    "add_seconds": "{0} + INTERVAL {1} SECONDS", **dict.fromkeys(OF_ZONES, "{0} AT TIME ZONE {1}"),
    "interval_of_micros": "{0} * INTERVAL 1 MICROSECOND", "interval_of_months": "{0} * INTERVAL 1 MONTH",
    **dict.fromkeys(("micros_of_interval", "micros_of_time"), "EXTRACT(MICROSECONDS FROM {0})"),
    "months_of_interval": "EXTRACT(MONTHS FROM {0})", "time_of_micros": "CAST({0} AS TIME)",
    "periods_overlap": "({0}, {1}) OVERLAPS ({2}, {3})",
    # JSON
    "json_at": "{0} -> {1}", "json_elements": "{0} -> {1}", "json_has": "{0} -> {1} IS NOT NULL",
    "json_is": "{0} -> {1} = {2}", "json_has_element": "{0} -> {1} @> {2}",
    "json_repeats_key": "{0} IS JSON WITH UNIQUE KEYS", "json_length": "JSON_ARRAY_LENGTH({0})",
    "json_text": "{0} ->> {1}", "json_part": "{0} -> {1}", "json_text_in_duckdb": "{0} ->> {1}",
    "json_scalar": "JSON_VALUE({0}, {1})",
    "json_object_of": "JSON_OBJECT({all})", "json_array_of": "JSON_ARRAY({all})",
    "json_built_object": "JSONB_BUILD_OBJECT({all})", "json_built_array": "JSONB_BUILD_ARRAY({all})",
    "json_length_in_duckdb": "JSON_ARRAY_LENGTH({all})", "json_keys_at": "JSON_KEYS({all})",
    "json_of_text": "CAST({0} AS JSON)", "to_json_in_duckdb": "TO_JSON({0})",
    "jsonb_of_text": "CAST({0} AS JSONB)", "jsonb_at": "{0} -> {1}", "jsonb_equal": "{0} = {1}",
    "jsonb_joined": "{0} || {1}", "jsonb_without": "{0} - {1}", "jsonb_without_place": "{0} - {1}",
    "jsonb_without_path": "{0} #- {1}", "jsonb_with_value": "JSONB_SET({0}, {2}, {1})",
    "jsonb_strip_nulls_of": "JSONB_STRIP_NULLS({0})", "jsonb_pretty_of": "JSONB_PRETTY({0})",
}  # fmt: skip
"""By the name of a function its call; ``{all}`` stands for all arguments."""


def has_operands(call: Call) -> bool:
    """Whether a call is written with an operator, so that arguments with operators need parentheses."""
    return "(" not in _TEMPLATES.get(call.function.removesuffix(_UNREAD), "(").partition("{0}")[0]


def sql_call(call: Call, arguments: Sequence[str]) -> str:
    """Write a call in SQL from the texts of its arguments.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import BOOLEAN, STRING, TIMESTAMP
        >>> sql_call(Call("between_in_duckdb", (), STRING), ["s", "3", "9"])
        's[3:9]'
        >>> sql_call(Call("left_in_duckdb", (), STRING), ["s", "3"])
        'LEFT(s, 3)'
    """
    function = call.function.removesuffix(_UNREAD)
    if function != call.function:
        return f"{sql_call(replace(call, function=function), arguments)} IS NULL"
    if function in _WINDOWS:
        time, *lengths = map(_length, call.arguments, arguments)
        return f"{_WINDOWS[function]}({', '.join([time, *lengths])})"
    if (template := _TEMPLATES.get(function)) is not None:
        there = [*arguments, *[""] * (4 - len(arguments))]
        return template.format(*there, all=", ".join(arguments)).replace("(, )", "")
    for end in _OF_DIALECTS:
        function = function.removesuffix(end)
    return f"{shown_function(function).upper()}({', '.join(arguments)})"


def interval(seconds: int) -> str:
    """A length of time in SQL."""
    return f"INTERVAL {duration_text(seconds).upper()}"


def _length(argument: Expression, text: str) -> str:
    return interval(argument.value) if isinstance(argument, Constant) and isinstance(argument.value, int) else text
