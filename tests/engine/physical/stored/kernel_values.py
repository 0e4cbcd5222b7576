"""Values at the ends of all types, columns of them, and the constants that kernels are asked with."""

from __future__ import annotations

import datetime as dt
import math
import os
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
from long import LONG

from workbench.arrow.stored_values import to_texts
from workbench.arrow.types import to_shown
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    DataType,
    array_of,
    decimal,
    integer,
    map_of,
    struct_of,
)

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
_PATTERNS = (
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
    *(r"\s+", r"\W+", r"\S", r"\D{2}", r"[\s.,;]+", r"[^\w]", r"[\d\-\]]", " +", r"\.+", r"\ ", ", *", r"[^\s]+$"),
    *(
        "(?s)a.c",
        r"(?s)\A[\-\.a-c]+\z",
        r"(?si)(?:A|\.)+c?",
        "(?i)É|ab?",
        "é|c",
        "(?:a|b)+(c?)",
        "[?&](a*)",
        "(?:b|é)$",
    ),
    *(r"(?s)\A(?:a.*|(b)?)\z", r"[-a]{2}", r"\:|\#"),
    *(
        r"\b[a-z]+\b",
        r"(\w+?)\b",
        r"(?i)\bA",
        r"a(?=b|\s)",
        r"(?!a)\w",
        r"(?<=[a-c])\W",
        r"(?<!a)c",
        r"(?:a|b)+?(c?)\b",
    ),
)
"""Patterns that match nothing, ends of lines, in any case, and several times."""
MATCHED = _PATTERNS if LONG else tuple(Random(os.environ["ARGUS_SEED"]).sample(_PATTERNS, len(_PATTERNS) // 2))
"""Half of them in each run, since each stands in five functions; all where ``ARGUS_LONG=all`` is set."""
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
            *("h a", "hh:mm a", "K k", "KK-kk", "D", "DD", "yyyy-DDD", "yyyy-'Q'q", "QQ"),
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
