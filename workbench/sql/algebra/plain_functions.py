"""Functions that are one for one with Spark's of the same name: the types of their arguments and of their result.

``functions`` adds them to its own, ``render/plain_functions`` has their Spark SQL where it is not just a call, and
``binder/plain_functions`` says which syntax node each of them is.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    STRING,
    TIMESTAMP,
    DataType,
    decimal,
)


@dataclass(frozen=True)
class Plain:
    """The type of the result, and those of the arguments; ``last`` repeats: the last one stands for any number."""

    result: DataType
    parameters: tuple[DataType, ...]
    last_repeats: bool = False
    strict: bool = True


def _all(names: str, result: DataType, *parameters: DataType) -> dict[str, Plain]:
    return {name: Plain(result, parameters) for name in names.split()}


PLAIN: dict[str, Plain] = {
    **_all("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh degrees radians cot sec csc", DOUBLE, DOUBLE),
    **_all("cbrt log1p expm1 rint floor_of_double ceil_of_double", DOUBLE, DOUBLE),
    **_all("atan2 hypot", DOUBLE, DOUBLE, DOUBLE),
    "isnan": Plain(BOOLEAN, (DOUBLE,), strict=False),
    "nanvl": Plain(DOUBLE, (DOUBLE, DOUBLE), strict=False),
    **_all("pmod bit_and_of bit_or_of bit_xor_of shiftleft shiftright getbit", INTEGER, INTEGER, INTEGER),
    "shiftrightunsigned": Plain(INTEGER, (INTEGER, INTEGER)),
    **_all("bit_not bit_count factorial", INTEGER, INTEGER),
    **_all("bin chr", STRING, INTEGER),
    **_all("unhex unbase64 encode", BINARY, STRING),
    **_all("base64_of_bytes hex_of_bytes md5_of_bytes sha1_of_bytes decode_bytes", STRING, BINARY),
    "sha2_of_bytes": Plain(STRING, (BINARY, INTEGER)),
    **_all("crc32_of_bytes length_of_bytes", INTEGER, BINARY),
    "concat_bytes": Plain(BINARY, (BINARY, BINARY)),
    **_all("initcap reverse soundex md5 sha1", STRING, STRING),
    **_all("ascii octet_length bit_length crc32 json_array_length", INTEGER, STRING),
    **_all("right sha2", STRING, STRING, INTEGER),
    **_all("startswith endswith contains", BOOLEAN, STRING, STRING),
    **_all("levenshtein find_in_set regexp_count regexp_instr", INTEGER, STRING, STRING),
    **_all("translate regexp_replace", STRING, STRING, STRING, STRING),
    **_all("regexp_substr get_json_object", STRING, STRING, STRING),
    **_all("substring_index split_part regexp_extract", STRING, STRING, STRING, INTEGER),
    "luhn_check": Plain(BOOLEAN, (STRING,)),
    **_all("base64 hex_of_text url_encode try_url_decode quote make_valid_utf8 try_validate_utf8 mask", STRING, STRING),
    **_all("hex space", STRING, INTEGER),
    "repeat": Plain(STRING, (STRING, INTEGER)),
    "is_valid_utf8": Plain(BOOLEAN, (STRING,)),
    "overlay": Plain(STRING, (STRING, STRING, INTEGER, INTEGER)),
    "elt": Plain(STRING, (INTEGER, STRING), last_repeats=True, strict=False),
    "try_parse_url": Plain(STRING, (STRING, STRING), last_repeats=True),
    **dict.fromkeys(("hash", "xxhash64"), Plain(INTEGER, (STRING,), last_repeats=True, strict=False)),
    "width_bucket": Plain(INTEGER, (DOUBLE, DOUBLE, DOUBLE, INTEGER)),
    "instant_of_text": Plain(TIMESTAMP, (STRING,)),
    "months_between": Plain(DOUBLE, (TIMESTAMP, TIMESTAMP, BOOLEAN)),
    "convert_timezone": Plain(TIMESTAMP, (STRING, STRING, TIMESTAMP)),
    "make_date": Plain(DATE, (INTEGER, INTEGER, INTEGER)),
    "make_timestamp": Plain(TIMESTAMP, (INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, decimal(16, 6))),
    **_all("weekday unix_date", INTEGER, DATE),
    **_all("monthname dayname", STRING, DATE),
    "next_day": Plain(DATE, (DATE, STRING)),
    **_all("unix_seconds unix_millis unix_micros", INTEGER, TIMESTAMP),
    **_all("timestamp_seconds timestamp_millis timestamp_micros", TIMESTAMP, INTEGER),
    "interval_of_micros": Plain(INTERVAL, (INTEGER,)),
    "micros_of_interval": Plain(INTEGER, (INTERVAL,)),
    "seconds_between": Plain(decimal(20, 6), (TIMESTAMP, TIMESTAMP)),
}  # fmt: skip
"""Function -> its types; ``seconds_between(a, b)`` is EXTRACT(EPOCH FROM (a - b))."""
