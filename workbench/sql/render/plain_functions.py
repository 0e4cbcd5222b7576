"""The Spark SQL of the functions of ``algebra/plain_functions``, where it is not a call of the name alone.

As all texts of functions they are total: Spark raises where a date does not exist or a position is 0; these are NULL.
"""

from __future__ import annotations

from workbench.sql.algebra.plain_functions import PLAIN
from workbench.sql.algebra.types import INTEGER

MOST = 100_000
"""Characters of a text that ``repeat`` or ``space`` makes."""
_MICROS = "unix_micros(cast({0} as timestamp))"
_INT = "try_cast({%d} as int)"
_OTHER = {
    "pmod": "(case when {1} <> 0 then pmod({0}, {1}) end)",
    "bit_and_of": "({0} & {1})",
    "bit_or_of": "({0} | {1})",
    "bit_xor_of": "({0} ^ {1})",
    "bit_not": "(~ {0})",
    "shiftleft": f"shiftleft({{0}}, {_INT % 1})",
    "shiftright": f"shiftright({{0}}, {_INT % 1})",
    "shiftrightunsigned": f"shiftrightunsigned({{0}}, {_INT % 1})",
    "base64": "base64(cast({0} as binary))",
    "hex_of_text": "hex(cast({0} as binary))",
    "unbase64": "try_to_binary({0}, 'base64')",
    "encode": "encode({0}, 'UTF-8')",
    "base64_of_bytes": "base64({0})",
    "hex_of_bytes": "hex({0})",
    "md5_of_bytes": "md5({0})",
    "sha1_of_bytes": "sha1({0})",
    "sha2_of_bytes": f"sha2({{0}}, {_INT % 1})",
    "crc32_of_bytes": "crc32({0})",
    "length_of_bytes": "cast(octet_length({0}) as bigint)",
    "decode_bytes": "try_validate_utf8(cast({0} as string))",
    "concat_bytes": "concat({0}, {1})",
    "repeat": f"(case when try_multiply({{1}}, length({{0}})) <= {MOST} then repeat({{0}}, {_INT % 1}) end)",
    "space": f"(case when {{0}} <= {MOST} then space({_INT % 0}) end)",
    "overlay": f"overlay({{0}} placing {{1}} from {_INT % 2} for {_INT % 3})",
    "months_between": "months_between(cast({0} as timestamp), cast({1} as timestamp), {2})",
    # Beyond 2^52 all are whole.
    **{f"{name}_of_double": f"(case when abs({{0}}) < {2**52}D then cast({name}({{0}}) as double) else {{0}} end)"
       for name in ("floor", "ceil")},
    "getbit": f"cast((case when {{1}} between 0 and 63 then getbit({{0}}, {_INT % 1}) end) as bigint)",
    "factorial": f"factorial({_INT % 0})",
    "right": f"right({{0}}, {_INT % 1})",
    "md5": "md5(cast({0} as binary))",
    "sha1": "sha1(cast({0} as binary))",
    "sha2": f"sha2(cast({{0}} as binary), {_INT % 1})",
    "crc32": "crc32(cast({0} as binary))",
    "substring_index": f"substring_index({{0}}, {{1}}, {_INT % 2})",
    "split_part": f"(case when {{2}} <> 0 then split_part({{0}}, {{1}}, {_INT % 2}) end)",
    "regexp_extract": f"regexp_extract({{0}}, {{1}}, {_INT % 2})",
    "make_date": f"cast(try_make_timestamp_ntz({_INT % 0}, {_INT % 1}, {_INT % 2}, 0, 0, 0) as date)",
    "make_timestamp": "try_make_timestamp_ntz(" + ", ".join(_INT % i for i in range(5)) + ", {5})",
    # A time of day alone would be one of the day on which it is evaluated; Spark's other cast has no such values.
    "instant_of_text":
        "(case when try_cast({0} as timestamp_ntz) is not null"
        " then cast(try_cast({0} as timestamp) as timestamp_ntz) end)",
    "unix_seconds": f"cast(floor({_MICROS} / 1000000) as bigint)",
    "unix_millis": f"cast(floor({_MICROS} / 1000) as bigint)",
    "unix_micros": _MICROS,
    "timestamp_seconds": "cast(timestamp_micros(try_multiply({0}, 1000000L)) as timestamp_ntz)",
    "timestamp_millis": "cast(timestamp_micros(try_multiply({0}, 1000L)) as timestamp_ntz)",
    "timestamp_micros": "cast(timestamp_micros({0}) as timestamp_ntz)",
    **dict.fromkeys(("interval_of_micros", "micros_of_interval"), "{0}"),  # an interval is its microseconds
    "seconds_between":
        "cast(cast(try_subtract(unix_micros(cast({0} as timestamp)), unix_micros(cast({1} as timestamp)))"
        " as decimal(19,0)) * cast('0.000001' as decimal(7,6)) as decimal(20,6))",
}  # fmt: skip


def _text(name: str) -> str:
    arguments = ", ".join(f"{{{i}}}" for i in range(len(PLAIN[name].parameters)))
    plain = f"{name}({arguments})"
    return f"cast({plain} as bigint)" if PLAIN[name].result == INTEGER else plain


PLAIN_SQL: dict[str, str] = {
    **{name: _text(name) for name, plain in PLAIN.items() if not plain.last_repeats},
    **_OTHER,
}
"""Function -> a format string over the texts of its arguments."""
