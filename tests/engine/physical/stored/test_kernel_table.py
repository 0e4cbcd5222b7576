"""Each kernel has the values, the NULLs and the bits of Spark, for every type that it accepts."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.arrow.stored_values import to_texts
from workbench.arrow.types import to_shown
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.physical.stored.kernels.lambdas import LAMBDA_KERNELS
from workbench.engine.physical.stored.kernels.table import KERNELS, kernel_of
from workbench.engine.physical.stored.values import computed_value
from workbench.engine.spark.local_session import engine_session
from workbench.engine.storage.layout import Layout
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, columns
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    JSON,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    array_of,
    decimal,
    integer,
    map_of,
    struct_of,
)
from workbench.sql.functions.arrays.arrays import variable
from workbench.sql.functions.calls import call, cast

MONEY, WIDE = decimal(15, 2), decimal(38, 4)
EDGES: dict[DataType, list[Any]] = {
    INTEGER: [0, 1, -1, 2, -3, 7, 10, 2**31, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63)],
    DOUBLE: [
        *(0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 2.675, 1.005, -1.005, 0.285, 1e-9, 5e-324, 1e15, 2.0**52 + 0.5, 2.0**53),
        *(9.2e18, 2.0**63, -(2.0**63), 1e300, math.inf, -math.inf, math.nan, 0.1 + 0.2, 123456.785, 0.4999999999999999),
    ],
    MONEY: [Decimal(n) / 100 for n in (0, 1, -1, 5, -5, 50, -50, 149, 150, 151, 250, -250, 10**15 - 1)],
    WIDE: [Decimal(n) / 10_000 for n in (0, 5, -5, 50, 55_550, -55_550, 10**30, 10**34 + 4_999)],
    STRING: [
        *(
            "",
            "a",
            "A",
            " a ",
            "  ",
            "abc",
            "ABC",
            "a.c",
            "a\nc",
            "é",
            "É",
            "ß",
            "ﬁ",
            "ΑΣ",
            "İ",
            "i",
            "日本",
            "😀b",
            "x\ty",
        ),
        *(
            "10-5",
            "c\n",
            "c\r\n",
            "\r\n",
            "c\n\r",
            "b\u2028",
            "foo(bar)",
            "aa",
            "\u2028",
            "b\u0085",
            "a%b",
            "Straße",
            "ǅ",
            "ŉ",
            "e\u0301",
        ),
    ],
    DATE: [dt.date(*d) for d in ((1, 1, 1), (1582, 10, 15), (1900, 2, 28), (1969, 12, 31), (1970, 1, 1), (2000, 2, 29))]
    + [
        dt.date(*d) for d in ((2020, 12, 31), (2021, 1, 3), (2021, 1, 4), (2024, 2, 29), (2026, 12, 28), (9999, 12, 31))
    ],
    TIMESTAMP: [
        *(dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(1970, 1, 1, 0, 0, 0, 1)),
        *(
            dt.datetime(2024, 2, 29, 12, 30, 45, 123_456),
            dt.datetime(2021, 1, 3, 23),
            dt.datetime(9999, 12, 31, 23, 59),
            *(dt.datetime(2023, 3, 26, hour, 30) for hour in (0, 1, 2, 3)),
            *(dt.datetime(2023, 10, 29, hour, 30) for hour in (0, 1, 2, 3)),
            *(dt.datetime(1893, 3, 31, 23, 6, 32), dt.datetime(2024, 4, 7, 1, 45), dt.datetime(2050, 7, 1)),
        ),
    ],
    BOOLEAN: [True, False],
}
NUMBERS, TEXTS, MOMENTS, DAYS = array_of(INTEGER), array_of(STRING), array_of(TIMESTAMP), array_of(DATE)
PLAIN_LISTS = (NUMBERS, TEXTS, MOMENTS, DAYS, array_of(DOUBLE))
POINT = struct_of([("x", DOUBLE), ("day", DATE), ("tags", TEXTS), ("data", BINARY)])
RATES = map_of(STRING, MONEY)
PARTS: dict[DataType, list[Any]] = {
    NUMBERS: [[], [1], [None], [3, -1, None, 3, 2**63 - 1], [0, 0]],
    TEXTS: [[], [""], ["a", None, "b"], ["b", "a", "é", '"', "\n", "a"], [None, None]],
    array_of(DOUBLE): [[], [math.nan, 1.5], [-0.0, 0.0, None], [math.inf, -math.inf, 5e-324]],
    DAYS: [[dt.date(1969, 12, 31), None, dt.date(1, 1, 1)], [dt.date(9999, 12, 31)], []],
    MOMENTS: [[dt.datetime(1969, 12, 31, 23, 59, 59), None], [dt.datetime(9999, 12, 31)]],
    array_of(NUMBERS): [[[1, None], None, []], []],
    POINT: [
        {"x": 0.1, "day": dt.date(1, 1, 1), "tags": ["a", None], "data": b"\x00a"},
        {"x": None, "day": None, "tags": None, "data": None},
        {"x": math.nan, "day": dt.date(2024, 2, 29), "tags": [], "data": b""},
    ],
    array_of(struct_of([("k", STRING), ("n", INTEGER)])): [[{"k": "a", "n": 1}, None, {"k": None, "n": 2}], []],
    RATES: [[("a", Decimal("1.50")), ("b", None)], [], [("", Decimal("-0.01")), ("a", None)]],
}
EDGES.update({type_: to_texts(pa.array(values, to_shown(type_)), type_).to_pylist() for type_, values in PARTS.items()})
COLUMNS = {type_: (Column(f"a{at}", type_), Column(f"b{at}", type_)) for at, type_ in enumerate(EDGES)}
CAST_TO = [*map(integer, (8, 16, 32)), decimal(3, 0), decimal(5, 2), decimal(18, 6), decimal(38, 10)]
"""Types that values are cast to besides those of the columns."""
MATCHED = (
    *(
        "a",
        "[^a]",
        "[^a-c ]+",
        "(a)(b)?",
        "(b|a)c",
        "a$|é",
        r"\s$",
        "^.",
        "a*",
        "b*$",
        "x*|b",
        r"[0-9]{2}",
        "(?i)A",
        "(?i)B+|É",
    ),
    *("(?i)(A|(c))", r"\w{2,}", r"\d{1,3}", ".", "a.?", "(?i)K", r"[^@ ]+@[a-z.]+", ".*", "(.*)b"),
)
"""Patterns that match nothing, ends of lines, in any case, and several times."""
CONSTANTS: dict[str, list[tuple[Any, DataType]]] = {
    **{name: [(exponent, DOUBLE) for exponent in (-1.0, 0.0, 0.5, 1.0, 2.0)] for name in ("power", "power_ieee")},
    "add_seconds": [(n, INTEGER) for n in (0, 1, -3_600, 10**9, 2**62)],
    **{name: [(n, INTEGER) for n in (0, 1, -13, 120_001)] for name in ("add_months", "add_months_to_timestamp")},
    "round_scaled": [(n, INTEGER) for n in (0, 1, 2, 6, 15)],
    **{name: [(n, INTEGER) for n in (-25, -19, -3, -1, 0, 1, 2, 6, 15)] for name in ("round", "bround", "truncate")},
    "rounded_numeric": [(n, INTEGER) for n in (0, 2, 5)],
    "right": [(n, INTEGER) for n in (-1, 0, 1, 2, 9)],
    "trunc_date": [(unit, STRING) for unit in ("YEAR", "yy", "quarter", "MON", "mm", "week")],
    "trunc_timestamp": [
        (unit, STRING)
        for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "dd", "HOUR", "minute", "SECOND", "millisecond")
    ],
    "date_format": [
        (pattern, STRING)
        for pattern in (
            *("yyyy-MM-dd", "yyyy-MM", "dd/MM/yyyy HH:mm:ss", "EEE", "EEEE, dd MMM yyyy", "MMMM", "HH:mm"),
            *("y-M-d'T'H:m:s.SSS", "yy", "yyyyyy", "yyy", "L/LL", "SSSSSSSSS", "S", "'o''clock' ''"),
        )
    ],
    **{name: [("yyyy-MM-dd", STRING)] for name in ("to_date", "to_timestamp")},
    **{name: [(pattern, STRING) for pattern in MATCHED] for name in ("regexp_substr", "regexp_instr", "regexp_count")},
    "ilike": [(pattern, STRING) for pattern in ("", "%", "A%", "%É%", "%C_", "_", "%.%", "%İ%")],
    "rlike": [
        (pattern, STRING)
        for pattern in (
            *(*MATCHED, "^[^a]$", "^[^a]{2}$"),
            *(r"\A\s*[a-z]+\s*\z", r"[a-c]\sc", r"\w\d", r"\A[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*\z"),
            "a.c",
            "^a",
            "[a-c]+",
            "b|é",
            "(a|A)b*",
            "foo\\(",
            "a+",
            "\\.",
            "^.$",
            "(c|b)$",
            "a$|é",
            "[0-9]-[0-9]",
            "A.*",
        )
    ],
    "replace": [("a", STRING), ("é", STRING), ("bc", STRING)],
    "like": [(pattern, STRING) for pattern in ("", "%", "a%", "%é%", "%c_", "_", "(", "%.%")],
    "window_start": [(seconds, INTEGER) for seconds in (1, 60, 86_400)],
    **{name: [(text, STRING) for text in ("", "a", "é", "b", "%")] for name in ("contains", "startswith", "endswith")},
}


ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
PLACES = [COLUMNS[INTEGER][0], *(Constant(n, INTEGER) for n in (-2, -1, 0, 1, 2, 9, 2**40))]
COUNT = call("pmod", COLUMNS[INTEGER][0], Constant(10**9, INTEGER))
TOTAL, SQUARES, WHOLE = COLUMNS[MONEY][0], COLUMNS[WIDE][0], COLUMNS[INTEGER][0]
DIVISORS = (Constant(3, INTEGER), Constant(-60, INTEGER), Constant(Decimal("0.07"), decimal(2, 2)), COUNT)
DATA = call("field", COLUMNS[POINT][0], Constant(3, INTEGER))
OF_BYTES = ("hex_of_bytes", "length_of_bytes", "md5_of_bytes", "sha1_of_bytes", "base64_of_bytes", "crc32_of_bytes")
NAMED = call("struct", *(COLUMNS[type_][0] for type_ in (TEXTS, INTEGER, MONEY, DATE, STRING, BOOLEAN)))
SOME_JSON = Constant('{"a": [1, {"b": 2.50}], "": null}', JSON)
OTHERS: dict[str, list[tuple[Expression, ...]]] = {
    **{
        name: [
            *((left, right) for left, right in itertools.permutations((WHOLE, TOTAL, SQUARES), 2)),
            *((number, by) for number in (TOTAL, SQUARES, WHOLE) for by in DIVISORS),
            *((by, number) for number in (TOTAL, SQUARES, WHOLE) for by in DIVISORS),
        ]
        for name in ("/", "%", "numeric_quotient")
    },
    "average": [(COLUMNS[type_][1], COUNT) for type_ in (MONEY, DOUBLE, INTEGER)],
    **{name: [(COUNT, TOTAL, SQUARES)] for name in KERNELS if name.startswith(("variance", "stddev"))},
    "substr": [
        (COLUMNS[STRING][0], Constant(start, INTEGER), Constant(length, INTEGER))
        for start, length in ((1, 2), (1, 0), (2, 1), (3, 9))
    ]
    + [(COLUMNS[STRING][0], COLUMNS[INTEGER][0], *more) for more in ((), (COLUMNS[INTEGER][1],))],
    **{name: [(*COLUMNS[STRING], COLUMNS[INTEGER][0])] for name in ("split_part", "substring_index")},
    **{
        name: [(COLUMNS[STRING][0], Constant(length, INTEGER), COLUMNS[STRING][1]) for length in (-1, 0, 4)]
        for name in ("lpad", "rpad")
    },
    "repeat": [(COLUMNS[STRING][0], COLUMNS[INTEGER][0])],
    "overlay": [(*COLUMNS[STRING], *COLUMNS[INTEGER])],
    "sha2": [(COLUMNS[STRING][0], Constant(n, INTEGER)) for n in (0, 224, 256, 384, 512, 1)],
    "sha2_of_bytes": [(DATA, Constant(n, INTEGER)) for n in (0, 224, 256, 384, 512, 1)],
    **{name: [(DATA,)] for name in (*OF_BYTES, "base64_in_postgres")},
    "unhex": [(call(name, COLUMNS[STRING][0]),) for name in ("hex_of_text", "lower")],
    "make_date": [
        (COLUMNS[INTEGER][0], Constant(month, INTEGER), Constant(day, INTEGER))
        for month, day in ((2, 29), (1, 31), (13, 1))
    ]
    + [
        (Constant(year, INTEGER), *days)
        for year in (-4, 0, 1900, 2024, 290_000, -290_000, 292_277, -292_278, 400_000, -5_900_000)
        for days in (COLUMNS[INTEGER], (Constant(1, INTEGER), Constant(1, INTEGER)))
    ],
    "base64": [(call("||", COLUMNS[STRING][0], Constant("abc" * n, STRING)),) for n in (12, 18, 19, 20, 60)],
    "in": [(COLUMNS[type_][0], COLUMNS[type_][1], Constant(1, INTEGER)) for type_ in (INTEGER, DOUBLE, MONEY)],
    "field": [(COLUMNS[POINT][0], Constant(at, INTEGER)) for at in range(4)],
    **{
        name: [(COLUMNS[type_][0], place) for type_ in PARTS if type_.kind is Kind.ARRAY for place in PLACES]
        for name in ("get", "element_at", "has_place")
    },
    **{
        name: [(COLUMNS[type_][0], COLUMNS[type_.element][0]) for type_ in PLAIN_LISTS]
        for name in ("array_contains", "array_position")
    },
    **{name: [(COLUMNS[RATES][0], COLUMNS[STRING][0])] for name in ("map_value", "map_contains_key")},
    "array_join": [
        (COLUMNS[TEXTS][0], COLUMNS[STRING][1]),
        (COLUMNS[TEXTS][0], Constant(", ", STRING), COLUMNS[STRING][0]),
    ],
    "slice": [(COLUMNS[NUMBERS][0], place, count) for place in PLACES for count in PLACES],
    "sequence": [
        (COLUMNS[INTEGER][0], end, *step)
        for end in (*PLACES, COLUMNS[INTEGER][0], call("+", COLUMNS[INTEGER][0], Constant(9, INTEGER)))
        for step in ((), *((place,) for place in PLACES))
    ],
    "array_repeat": [
        (value, count)
        for value in (COLUMNS[INTEGER][0], COLUMNS[TEXTS][0], COLUMNS[POINT][0], COLUMNS[DATE][0])
        for count in (*PLACES[1:], call("pmod", COLUMNS[INTEGER][1], Constant(7, INTEGER)))
    ],
    **{
        name: [(COLUMNS[TIMESTAMP][0], Constant(zone, STRING)) for zone in ZONES]
        for name in ("clock_of", "instant_of", "last_instant_of")
    },
    **{
        name: [(COLUMNS[TIMESTAMP][0], Constant(zone, STRING), COLUMNS[TIMESTAMP][1]) for zone in ZONES]
        for name in ("kept_instant_of", "instant_by_offset_of")
    },
    "convert_timezone": [
        (*(Constant(zone, STRING) for zone in pair), COLUMNS[TIMESTAMP][0]) for pair in itertools.permutations(ZONES, 2)
    ],
    "months_between": [(*COLUMNS[TIMESTAMP], Constant(is_rounded, BOOLEAN)) for is_rounded in (True, False)],
    "next_day": [(COLUMNS[DATE][0], Constant(day, STRING)) for day in ("MO", "tue", "Friday", "SU")],
    "width_bucket": [
        (COLUMNS[DOUBLE][0], *ends, number)
        for ends in (COLUMNS[DOUBLE], (Constant(-1.5, DOUBLE), Constant(8.25, DOUBLE)), (COLUMNS[DOUBLE][1],) * 2)
        for number in (
            Constant(10, INTEGER),
            COLUMNS[INTEGER][0],
            call("pmod", COLUMNS[INTEGER][1], Constant(9, INTEGER)),
        )
    ],
    "sort_array": [(COLUMNS[type_][0], Constant(up, BOOLEAN)) for type_ in PLAIN_LISTS for up in (True, False)],
    **{
        name: [(COLUMNS[type_][0], COLUMNS[type_.element][0]) for type_ in PLAIN_LISTS]
        for name in ("array_append", "array_prepend", "array_remove")
    },
    "array_insert": [(COLUMNS[type_][0], at, COLUMNS[type_.element][0]) for type_ in PLAIN_LISTS for at in PLACES],
    **{
        name: [
            (call("array", *(call("struct", *COLUMNS[key]), call("struct", *reversed(COLUMNS[key])), *more)),)
            for key in (INTEGER, STRING, MONEY)
            for more in ((), (Constant(None, struct_of([("col1", key), ("col2", key)])),))
        ]
        for name in ("map_from_entries", "no_map")
    },
    "regexp_extract": [
        (COLUMNS[STRING][0], Constant(pattern, STRING), Constant(group, INTEGER))
        for pattern in MATCHED
        for group in range(1 + pattern.count("("))
        if not pattern.startswith("(?i)") or group < pattern.count("(")
    ],
    "regexp_extract_all": [
        (COLUMNS[STRING][0], Constant(pattern, STRING), Constant(group, INTEGER))
        for pattern in MATCHED
        for group in range(1 + pattern.count("("))
        if not pattern.startswith("(?i)") or group < pattern.count("(")
    ],
    "mask": [(COLUMNS[STRING][0], *(Constant(by, STRING) for by in signs)) for signs in ((), "U", ("U", None), "Uldo")],
    "elt": [(COUNT, *COLUMNS[STRING]), (call("pmod", WHOLE, Constant(4, INTEGER)), *COLUMNS[STRING])],
    "format_string": [
        (Constant(form, STRING), COLUMNS[STRING][0], WHOLE, COLUMNS[BOOLEAN][0])
        for form in (
            "%s: %d%%",
            "%-9s|%9.1s|%3$s%n",
            "%2$,d %2$09d %2$+d %2$(,d %2$ d|%1$4s",
            "%2$s%2$22d|%2$-22d",
            "x",
        )
    ],
    "format_number": [
        (COLUMNS[type_][0], Constant(digits, INTEGER)) for type_ in (INTEGER, MONEY, WIDE) for digits in (0, 1, 2, 7)
    ],
    "chr": [(COLUMNS[INTEGER][0],), (call("pmod", WHOLE, Constant(300, INTEGER)),)],
    "concat_bytes": [(DATA, call("encode", COLUMNS[STRING][0])), (DATA, DATA)],
    "base32_of_bytes": [(DATA,)],
    "make_timestamp": [
        (
            *(call("pmod", COLUMNS[INTEGER][at], Constant(by, INTEGER)) for at, by in parts),
            Constant(Decimal(seconds), decimal(16, 6)),
        )
        for parts in (((0, 9_999), (1, 14), (0, 32), (1, 25), (0, 61)), ((0, 7), (1, 13), (0, 29), (1, 24), (0, 60)))
        for seconds in ("0.000000", "59.999999", "60.000000", "60.000001", "-1.000000")
    ],
    "regexp_replace": [
        (COLUMNS[STRING][0], Constant(pattern, STRING), Constant(by, STRING))
        for pattern, by in zip(MATCHED, itertools.cycle(("<$0>", "", "é$0$0-")))
    ]
    + [(COLUMNS[STRING][0], Constant("(a)|(b)", STRING), Constant("[$2$1]", STRING))],
    "concat_ws": [(Constant(", ", STRING), *COLUMNS[STRING]), (Constant("", STRING), COLUMNS[STRING][0])],
    "split": [(COLUMNS[STRING][0], Constant(pattern, STRING)) for pattern in ("a", "-", "\\.", " ", "bc")],
    "array": [(COLUMNS[type_][0], COLUMNS[type_][1], COLUMNS[type_][0]) for type_ in EDGES],
    "map_of": [
        (call("array", *(call("struct", Constant(key, STRING), COLUMNS[MONEY][at]) for at, key in enumerate("ab"))),)
    ],
    **{name: [(COLUMNS[DATE][0], by) for by in PLACES] for name in "+-"},
    "struct": [(COLUMNS[POINT][0], COLUMNS[DATE][0], COLUMNS[TEXTS][0])],
    "to_json": [
        (of,) for of in (NAMED, *(COLUMNS[type_][0] for type_ in PARTS if type_ not in (array_of(DOUBLE), POINT)))
    ],
    "to_json_in_duckdb": [
        (of, Constant(str(of.type), STRING))
        for of in (NAMED, *(columns_[0] for type_, columns_ in COLUMNS.items() if type_ != POINT))
    ],
    "order_of_parts": [
        (columns_[0], Constant(str(type_), STRING), Constant(last, BOOLEAN))
        for type_, columns_ in COLUMNS.items()
        for last in (True, False)
        if type_.kind in (Kind.ARRAY, Kind.STRUCT)
    ],
    "decimal_in_duckdb": [(COLUMNS[STRING][0], Constant(9, INTEGER), Constant(2, INTEGER))],
    "decimal_digits": [(COLUMNS[STRING][0], Constant(9, INTEGER), Constant(2, INTEGER))],
    "conv": [(COLUMNS[STRING][0], COLUMNS[INTEGER][0], Constant(16, INTEGER))],
    "json_object_of": [(COLUMNS[STRING][0], COLUMNS[STRING][1])],
    "to_json_in_postgres": [(COLUMNS[type_][0], Constant(str(type_), STRING)) for type_ in (STRING, INTEGER, TEXTS)],
    "json_of_group": [(COLUMNS[TEXTS][0], Constant(str(TEXTS), STRING))],
    "json_built_object": [(COLUMNS[STRING][0], COLUMNS[STRING][1])],
    "json_built_array": [(COLUMNS[STRING][0], COLUMNS[STRING][1])],
    "number_in_format": [(COLUMNS[MONEY][0], Constant("$9,999.99", STRING))],
    "number_in_model": [(COLUMNS[MONEY][0], Constant("S9G999D99", STRING), Constant(64, INTEGER))],
    **{
        f"{name}{digits}": [(COLUMNS[STRING][0], Constant(form, STRING), Constant(6, INTEGER), Constant(2, INTEGER))]
        for name, form in (("number_of_format", "9999.99"), ("number_of_model", "9999D99"))
        for digits in ("", "_digits")
    },
    "series": [
        (COLUMNS[INTEGER][0], COLUMNS[INTEGER][1], Constant(step, INTEGER), Constant(step > 2, BOOLEAN))
        for step in (0, 1, -2, 3)
    ],
    "ones_of_bits": [(COLUMNS[INTEGER][0], Constant(bits, INTEGER)) for bits in (16, 64)],
    **{name: [(COLUMNS[type_][0],) for type_ in (TEXTS, NUMBERS)] for name in ("run_lengths", "list_entropy")},
    **{
        f"{name}_in_duckdb": [(COLUMNS[STRING][0], COLUMNS[INTEGER][0])]
        for name in ("part", "left", "right", "character")
    },
    "between_in_duckdb": [(COLUMNS[STRING][0], COLUMNS[INTEGER][0], COLUMNS[INTEGER][1])],
    **{
        name: [(COLUMNS[STRING][0], Constant("[a-c](é)?", STRING), *more)]
        for name, more in (
            *(("glob", ()), ("re2_found", ()), ("re2_split", ()), ("re2_part", (Constant(1, INTEGER),))),
            *(
                ("re2_parts", (Constant(0, INTEGER),)),
                ("re2_replaced", (Constant("<\\0>", STRING), Constant(-1, INTEGER))),
            ),
        )
    },
    "jsonb_without_place": [(SOME_JSON, COLUMNS[INTEGER][0])],
    "jsonb_without_path": [(SOME_JSON, COLUMNS[TEXTS][0])],
    "jsonb_with_value": [(SOME_JSON, SOME_JSON, COLUMNS[TEXTS][0], Constant(True, BOOLEAN))],
    "split_part_in_postgres": [(COLUMNS[STRING][0], COLUMNS[STRING][1], COLUMNS[INTEGER][0])],
    **{
        name: [(COLUMNS[STRING][0], Constant(4, INTEGER), COLUMNS[STRING][1])]
        for name in ("lpad_in_postgres", "rpad_in_postgres")
    },
    "overlay_in_postgres": [(*COLUMNS[STRING], COLUMNS[INTEGER][0], Constant(1, INTEGER))],
    "format_in_postgres": [(Constant("%2$5s %1$L%%", STRING), *COLUMNS[STRING])],
    "hex_in_postgres": [(COLUMNS[INTEGER][0], Constant(64, INTEGER))],
    "bucket_of_doubles": [(*COLUMNS[DOUBLE], Constant(9.5, DOUBLE), Constant(7, INTEGER))],
    "bucket_of_decimals": [(*COLUMNS[MONEY], Constant(Decimal("9.5"), decimal(2, 1)), Constant(7, INTEGER))],
    "bucket_of_thresholds": [(COLUMNS[INTEGER][0], COLUMNS[NUMBERS][0])],
    "least_scale": [(COLUMNS[type_][0],) for type_ in (MONEY, WIDE)],
    "periods_overlap": [(*COLUMNS[TIMESTAMP], *reversed(COLUMNS[TIMESTAMP]))],
    "split_part_in_duckdb": [(COLUMNS[STRING][0], COLUMNS[STRING][1], place) for place in PLACES],
    "made_timestamp": [
        (
            Constant(2024, INTEGER),
            *(
                call("pmod", COLUMNS[INTEGER][at], Constant(by, INTEGER))
                for at, by in ((0, 14), (1, 32), (0, 25), (1, 61))
            ),
            COLUMNS[DOUBLE][0],
        )
    ],
    "stretch_of_months": [(COLUMNS[DATE][0], Constant(months, INTEGER)) for months in (1, 3, 7, 1200)],
    **{f"list_bool_{name}": [(call("array", *COLUMNS[BOOLEAN], Constant(None, BOOLEAN)),)] for name in ("and", "or")},
    "decimal_text": [(COLUMNS[type_][0],) for type_ in (MONEY, WIDE)],
    "strptime_in_duckdb": [(COLUMNS[STRING][0], Constant("%d/%b/%Y %H:%M", STRING))],
    "printf_in_duckdb": [(Constant("%5d|%s", STRING), COLUMNS[INTEGER][0], COLUMNS[STRING][0])],
    "format_in_duckdb": [(Constant("{:>5}|{:.2f}", STRING), COLUMNS[STRING][0], COLUMNS[MONEY][0])],
}
"""Calls of arguments of several types."""


OF_CHOSEN = {
    "mask",
    "format_string",
    *("to_json_in_postgres", "json_of_group", "json_built_object", "json_built_array", "number_in_format"),
    *("number_in_model", "number_of_format", "number_of_model", "number_of_format_digits", "number_of_model_digits"),
    *("ones_of_bits", "run_lengths", "list_entropy", "glob", "re2_found", "re2_split", "re2_part", "re2_parts"),
    *("re2_replaced", "series", "format_in_postgres", "hex_in_postgres", "bucket_of_thresholds", "least_scale"),
    "stretch_of_months",
    "order_of_parts",
    "map_of",
    "json_object_of",
    "to_json_in_duckdb",
    "decimal_in_duckdb",
    "decimal_text",
    "strptime_in_duckdb",
    "printf_in_duckdb",
    "format_in_duckdb",
}
"""Functions of values that are checked before: each key once, a type, a format."""


def calls() -> Iterator[Call]:
    """Calls of every function of the table over columns of every type, and over its constants."""
    for name in sorted(KERNELS):
        for given in OTHERS.get(name, []):
            if isinstance(found := call(name, *given), Call):
                yield found
        for a, b in COLUMNS.values() if name not in OF_CHOSEN else ():
            arguments: list[tuple[Expression, ...]] = [(a,), (a, b), (a, b, a)]
            for value, kind in CONSTANTS.get(name, []):
                by = Constant("<>", STRING) if name == "replace" else None
                arguments.append((a, Constant(value, kind), *([by] if by is not None else [])))
            for given in arguments:
                with suppress(TypeClash, AssertionError, IndexError):
                    if isinstance(found := call(name, *given), Call) and found.function == name:
                        yield found
            for other in (*EDGES, *CAST_TO) if name == "cast" else ():
                with suppress(TypeClash):
                    if isinstance(found := cast(a, other), Call):
                        yield found


ACCEPTED = [c for c in dict.fromkeys(calls()) if kernel_of(c) is not None and computed_value(c) is not None]


def rows() -> pa.RecordBatch:
    """All pairs of values of each type, some by chance, each missing once in a while."""
    random = Random(7)
    arrays: dict[str, list[Any]] = {}
    count = max((len(values) + 1) ** 2 for values in EDGES.values())
    for type_, values in EDGES.items():
        pairs = list(itertools.product([None, *values], repeat=2))
        pairs += [(random.choice(values), random.choice(values)) for _ in range(count - len(pairs))]
        for column, drawn in zip(COLUMNS[type_], zip(*pairs, strict=True), strict=True):
            arrays[column.name] = list(drawn)
    schema = Layout({column.name: column.type for pair in COLUMNS.values() for column in pair}).arrow
    return pa.RecordBatch.from_pydict(arrays, pa.schema([schema.field(name) for name in arrays]))


def plain(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values of Python, which has no times beyond the year 9999: microseconds."""
    whole = {pa.timestamp("us"): pa.int64(), pa.date32(): pa.int32()}.get(values.type)
    return (values if whole is None else values.cast(whole)).to_pylist()


def bits(value: object) -> object:
    if not isinstance(value, float):
        return value
    return "NaN" if value != value else struct.pack("d", value)


AT_ONCE = 200
"""Columns of one plan of Spark, which takes longer for each the more there are."""


def compared(spark: SparkSession, batch: pa.RecordBatch, asked: list[Call]) -> list[str]:
    """What differs from Spark."""
    known = [*itertools.chain(*COLUMNS.values()), *(column for c in asked for column in columns(c))]
    ddl = Layout({column.name: column.type for column in known}).ddl(batch.schema.names)
    frame = engine_session(spark).createDataFrame(pa.Table.from_batches([batch]), ddl).coalesce(1)
    wrong, spark_values = [], list[pa.ChunkedArray]()
    for some in (asked[at : at + AT_ONCE] for at in range(0, len(asked), AT_ONCE)):
        spark_values += frame.selectExpr(*(f"{over_rows(c)} AS c{at}" for at, c in enumerate(some))).toArrow().columns
    for c, expected in zip(asked, spark_values, strict=True):
        value = computed_value(c)
        assert value is not None
        found = value.values(batch)
        assert found.type == Layout({"c": c.type}).arrow.field("c").type, c
        for row, (one, other) in enumerate(zip(plain(found), plain(expected), strict=True)):
            if bits(one) != bits(other):
                read = [
                    batch.column(a.name)[row].as_py() if isinstance(a, Column) else getattr(a, "value", a)
                    for a in c.arguments
                ]
                wrong.append(f"{c.function}({', '.join(map(repr, read))}) is {one!r}, of Spark {other!r}")
    return wrong


def test_every_kernel_is_asked() -> None:
    assert {c.function for c in ACCEPTED} == set(KERNELS)


def test_values_are_those_of_spark(spark: SparkSession) -> None:
    wrong = compared(spark, rows(), ACCEPTED)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def written_values(random: Random) -> list[str]:
    """Texts of numbers, days and truth values, well written and not, with signs around them."""
    numbers = [
        *(
            "0",
            "-0",
            "+7",
            "007",
            "1.",
            ".5",
            "-.5",
            ".",
            "+",
            "-",
            "",
            " ",
            "1e3",
            "1E-3",
            "1e400",
            "1e-400",
            "-1e400",
        ),
        *(
            "1.5d",
            "2F",
            "1e3f",
            "0x1p3",
            "0x1.8P-1",
            "0x1p9999",
            "NaN",
            "nan",
            "-NaN",
            "+NaN",
            "-nan",
            "Infinity",
            "inf",
        ),
        *("-Inf", "+infinity", "infin", "1_000", "1,000", "1 2", "--1", "0.5e", "127", "128", "-128", "-129", "32768"),
        *("2147483647", "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808", "٥", "1٥", "５"),
        *(
            "9" * 38,
            "9" * 39,
            "-" + "0" * 5_000 + "7",
            "0." + "1" * 40,
            "1e37",
            "1e38",
            "1e39",
            "0e99999",
            "1e-99999",
            "4.9e-324",
            "2.5e-324",
        ),
        *("0.005", "0.015", "0.025", "-0.005", "999.995", "999.994999", "1e2147483648", "0.1234567890123456789012345"),
    ]
    days = [
        *(
            "2024-02-29",
            "2023-02-29",
            "2024-2-9",
            "2024-13-01",
            "2024-00-01",
            "2024-01-32",
            "2024",
            "2024-5",
            "202",
            "20240229",
        ),
        *(
            "0001-01-01",
            "0000-01-01",
            "-0001-03-01",
            "+2024-01-01",
            "12345-01-01",
            "9999999-12-31",
            "2024-01-01T",
            "2024-01-01 x",
        ),
        *(
            "2024-01 x",
            "2024T",
            "2024-01-01Z",
            "1582-10-10",
            "1900-02-29",
            "2000-02-29",
            "2024--01",
            "2024-01-",
            "99999999-01-01",
        ),
    ]
    truths = ["t", "TRUE", "Yes", "y", "1", "f", "False", "NO", "n", "0", "on", "2", "tr", "truE"]
    signs = ["", " ", "\t", "\n\r", "\x00", "\x1f", "\x7f", "\u00a0", "\u2003", "\u0085"]
    around = [f"{random.choice(signs)}{one}{random.choice(signs)}" for one in [*numbers, *days, *truths] * 3]
    plain = [f"{random.choice(['', '-'])}{random.randrange(10 ** random.randrange(1, 20))}" for _ in range(300)]
    fractions = [f"{one[: random.randrange(1, len(one) + 1)]}.{one[::-1]}".replace("-", "") for one in plain]
    return [*numbers, *days, *truths, *around, *plain, *fractions]


def test_casts_of_texts_and_numbers_are_those_of_spark(spark: SparkSession) -> None:
    random = Random(11)
    texts = written_values(random)
    count = len(texts)
    doubles = [random.choice([1.0, -1.0]) * random.random() * 10 ** random.randrange(-8, 25) for _ in range(count // 3)]
    doubles += [round(random.uniform(-1_000, 1_000), random.randrange(5)) for _ in range(count // 3)]
    doubles += [random.randrange(-99_999, 99_999) / 1_000 + random.choice([0.0, 5e-4]) for _ in range(count)]
    values: dict[DataType, list[Any]] = {
        STRING: texts,
        DOUBLE: doubles[:count],
        decimal(38, 10): [Decimal(random.randrange(-(10**random.randrange(1, 37)), 10**36)).scaleb(-10) for _ in texts],
        decimal(18, 6): [Decimal(random.randrange(-(10**random.randrange(1, 18)), 10**12)).scaleb(-6) for _ in texts],
        decimal(12, 8): [Decimal(random.randrange(-99, 99)).scaleb(-8) for _ in texts],
        integer(32): [random.randrange(-(2**31), 2**31) >> random.randrange(32) for _ in texts],
        TIMESTAMP: [
            dt.datetime(1, 1, 1) + dt.timedelta(random.randrange(3_000_000), 5, random.choice([0, 10**5, 10, 123_456]))
            for _ in texts
        ],
    }  # fmt: skip
    named = {type_: Column(f"v{at}", type_) for at, type_ in enumerate(values)}
    schema = Layout({column.name: column.type for column in named.values()}).arrow
    batch = pa.RecordBatch.from_pydict(
        {column.name: values[type_] for type_, column in named.items()},
        pa.schema([schema.field(column.name) for column in named.values()]),
    )
    to = [BOOLEAN, INTEGER, DOUBLE, STRING, DATE, *CAST_TO, decimal(38, 0), decimal(38, 37)]
    asked = [found for column in named.values() for type_ in to for found in casts_to(column, type_)]
    assert sum(c.arguments[0].type == STRING for c in asked) >= len(to) - 1
    wrong = compared(spark, batch, asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def casts_to(column: Column, type_: DataType) -> Iterator[Call]:
    """The cast of a column, where it has a kernel."""
    with suppress(TypeClash):
        found = cast(column, type_)
        if isinstance(found, Call) and found.function == "cast" and kernel_of(found) is not None:
            yield found


def over_elements(function: str, array: Expression, body: Callable[[Call], Expression], number: int = 1) -> Call:
    """A function of an array and a lambda of its elements."""
    assert array.type.element is not None
    of = variable(number, array.type.element)
    value = body(of)
    found = call(function, array, Call("lambda", (of, value), value.type))
    assert isinstance(found, Call)
    return found


def aggregated(array: Expression, start: Expression, body: Callable[[Call, Call], Expression]) -> Call:
    """AGGREGATE of an array by a lambda of two variables."""
    assert array.type.element is not None
    total, of = variable(1, start.type), variable(2, array.type.element)
    value = body(total, of)
    found = call("aggregate", array, start, Call("lambda", (total, of, value), value.type))
    assert isinstance(found, Call)
    return found


def over_nested_sum(array: Expression, start: Expression) -> Expression:
    """A sum within the lambda of another one."""
    inner, of = variable(3, INTEGER), variable(4, INTEGER)
    value = call("+", inner, call("coalesce", of, Constant(7, INTEGER)))
    return call("coalesce", call("aggregate", array, start, Call("lambda", (inner, of, value), INTEGER)), start)


@pytest.mark.parametrize("type_", [INTEGER, DOUBLE, MONEY])
def test_sums_of_long_arrays_are_those_of_short_ones(type_: DataType) -> None:
    random = Random(3)
    numbers = {
        INTEGER: lambda: random.choice([random.randrange(-9, 9), 2**61, -(2**62)]),
        DOUBLE: lambda: random.uniform(-1, 1) * 10 ** random.randrange(9),
        MONEY: lambda: Decimal(random.randrange(-(10**15), 10**15)) / 100,
    }[type_]
    lists = [[numbers() for _ in range(length)] for length in (0, 1, 63, 65, 200, 1_000)] + [
        [numbers(), None] * 40,
        None,
    ]
    start = type_ if type_.kind is not Kind.DECIMAL else decimal(38, 2)
    array = Column("xs", array_of(type_))
    whole = aggregated(array, Column("n", start), lambda total, x: cast(call("+", total, x), start))
    turned = aggregated(array, Column("n", start), lambda total, x: cast(call("+", x, total), start))
    texts = to_texts(pa.array(lists, to_shown(array.type)), array.type)
    starts = pa.array([numbers() for _ in lists], to_shown(start))
    batch = pa.RecordBatch.from_arrays([texts, starts], ["xs", "n"])
    found, expected = (computed_value(each) for each in (whole, turned))
    assert found is not None and expected is not None
    assert found.values(batch).to_pylist() == expected.values(batch).to_pylist()


def zipped(left: Expression, right: Expression, body: Callable[[Call, Call], Expression]) -> Call:
    """ZIP_WITH of two arrays."""
    assert left.type.element is not None and right.type.element is not None
    one, other = variable(1, left.type.element), variable(2, right.type.element)
    value = body(one, other)
    found = call("zip_with", left, right, Call("lambda", (one, other, value), value.type))
    assert isinstance(found, Call)
    return found


def lambdas() -> Iterator[Call]:
    """Lambdas over columns of arrays, with columns and other lambdas in them."""
    n, text, zero = COLUMNS[INTEGER][0], COLUMNS[STRING][0], Constant(0, INTEGER)
    numbers, texts, many = (COLUMNS[type_][0] for type_ in (NUMBERS, TEXTS, array_of(NUMBERS)))
    points = next(COLUMNS[type_][0] for type_ in PARTS if type_.element is not None and type_.element.fields)
    yield over_elements("transform", texts, lambda x: call("upper", x))
    yield over_elements("transform", numbers, lambda x: call("coalesce", x, n))
    yield over_elements("transform", COLUMNS[MOMENTS][0], lambda x: call("year", x))
    yield over_elements("transform", points, lambda x: call("field", x, zero))
    yield over_elements("transform", points, lambda x: x)
    yield over_elements("transform", numbers, lambda x: COLUMNS[DATE][0])
    yield over_elements("transform", COLUMNS[DAYS][0], lambda x: call("year", x))
    yield over_elements("transform", COLUMNS[DAYS][0], lambda x: call("last_day", x))
    yield over_elements("transform", many, lambda x: call("array_size", x))
    yield over_elements(
        "transform", many, lambda x: over_elements("filter", x, lambda y: call(">", y, call("get", x, zero)), 2)
    )
    doubles = COLUMNS[array_of(DOUBLE)][0]
    yield aggregated(numbers, n, lambda total, x: call("+", total, x))
    yield aggregated(numbers, zero, lambda total, x: call("+", total, call("coalesce", x, n)))
    yield aggregated(doubles, COLUMNS[DOUBLE][0], lambda total, x: call("*", total, call("coalesce", x, total)))
    yield aggregated(texts, text, lambda total, x: call("||", total, call("coalesce", x, text)))
    yield aggregated(texts, texts, lambda total, x: call("array_append", total, x))
    yield aggregated(many, zero, lambda total, x: over_nested_sum(x, total))
    for left, right in itertools.product((numbers, texts, doubles, many, points), repeat=2):
        yield zipped(left, right, lambda x, y: call("struct", x, y))
    yield zipped(numbers, COLUMNS[NUMBERS][1], lambda x, y: call("+", x, call("coalesce", y, n)))
    for function in ("filter", "exists", "forall"):
        yield over_elements(function, numbers, lambda x: call(">", x, n))
        yield over_elements(function, texts, lambda x: call("=", x, text))
        yield over_elements(function, texts, lambda x: call("is_null", x))


def test_lambdas_have_the_values_of_spark(spark: SparkSession) -> None:
    asked = [*lambdas()]
    assert {c.function for c in asked} == set(LAMBDA_KERNELS)
    assert all(computed_value(c) is not None for c in asked)
    wrong = compared(spark, rows(), asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def test_every_letter_has_the_case_that_spark_gives_it(spark: SparkSession) -> None:
    letters = [chr(code) for code in range(1, 0x1F000) if not 0xD800 <= code < 0xE000]
    text = Column("s", STRING)
    batch = pa.RecordBatch.from_pydict({"s": letters})
    wrong = compared(spark, batch, [Call(name, (text,), STRING) for name in ("upper", "lower")])
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


@pytest.mark.parametrize("seed", range(2))
def test_doubles_are_rounded_as_spark_rounds_them(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    near = [random.randrange(10**9) / 10 ** random.randrange(1, 9) for _ in range(3_000)]
    ties = [round(random.uniform(-1e4, 1e4), 3) // 0.01 * 0.01 + 0.005 for _ in range(3_000)]
    wild = [struct.unpack("d", random.randbytes(8))[0] for _ in range(3_000)]
    batch = pa.RecordBatch.from_pydict({"x": [*near, *ties, *wild]})
    asked = [Call("round", (Column("x", DOUBLE), Constant(n, INTEGER)), DOUBLE) for n in (0, 1, 2, 3, 8, 15)]
    wrong = compared(spark, batch, asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])


def test_functions_of_doubles_have_the_bits_of_spark(spark: SparkSession) -> None:
    random = Random(5)
    drawn = [
        [random.uniform(-1, 1) for _ in range(2_000)],
        [random.uniform(-30, 30) for _ in range(2_000)],
        [random.gauss(0, 300) for _ in range(2_000)],
        [struct.unpack("d", random.randbytes(8))[0] for _ in range(2_000)],
        [1 + random.gauss(0, 1e-4) for _ in range(2_000)],
        [random.randrange(-200, 200) / 4 for _ in range(2_000)],
    ]
    batch = pa.RecordBatch.from_pydict({"x": [*itertools.chain(*drawn)], "y": [*itertools.chain(*reversed(drawn))]})
    x, y = (Column(name, DOUBLE) for name in "xy")
    names = [
        "exp",
        "expm1",
        "ln",
        "log10",
        "log1p",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "cbrt",
        "atan",
        "asin",
        "acos",
        "degrees",
        "radians",
        "sign",
    ]
    asked = [Call(name, (x,), DOUBLE) for name in names]
    asked += [Call(name, (x, y), DOUBLE) for name in ("power", "power_ieee", "atan2", "hypot", "%_ieee", "nanvl")]
    wrong = compared(spark, batch, asked)
    assert not wrong, "\n".join([f"{len(wrong)} differ", *wrong[:40]])
