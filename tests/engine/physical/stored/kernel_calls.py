"""The calls that kernels are compared by: every function of the table, over columns of every type."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from functools import cache

from engine.physical.stored.kernel_values import (
    CAST_TO,
    COLUMNS,
    CONSTANTS,
    EDGES,
    MATCHED,
    MONEY,
    NUMBERS,
    PARTS,
    PLAIN_LISTS,
    POINT,
    RATES,
    TEXTS,
    WIDE,
)

from workbench.engine.physical.stored.kernels.table import KERNELS, kernel_of
from workbench.engine.physical.stored.values import computed_value
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    JSON,
    STRING,
    TIMESTAMP,
    Kind,
    array_of,
    decimal,
    struct_of,
)
from workbench.sql.functions.calls import call, cast

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
PLACES = [COLUMNS[INTEGER][0], *(Constant(n, INTEGER) for n in (-2, -1, 0, 1, 2, 9, 2**40))]
COUNT = call("pmod", COLUMNS[INTEGER][0], Constant(10**9, INTEGER))
TOTAL, SQUARES, WHOLE = COLUMNS[MONEY][0], COLUMNS[WIDE][0], COLUMNS[INTEGER][0]
DIVISORS = (Constant(3, INTEGER), Constant(-60, INTEGER), Constant(Decimal("0.07"), decimal(2, 2)), COUNT)
DATA = call("field", COLUMNS[POINT][0], Constant(3, INTEGER))
OF_BYTES = ("hex_of_bytes", "length_of_bytes", "md5_of_bytes", "sha1_of_bytes", "base64_of_bytes", "crc32_of_bytes")
PAIRS = array_of(struct_of([("k", STRING), ("n", INTEGER)]))
NAMED = call("struct", *(COLUMNS[type_][0] for type_ in (TEXTS, INTEGER, MONEY, DATE, STRING, BOOLEAN)))
SOME_JSON = Constant('{"a": [1, {"b": 2.50}], "": null}', JSON)
INSTANTS = [[call("instant_of", clock, Constant(zone, STRING)) for clock in COLUMNS[TIMESTAMP]] for zone in ZONES]
OTHERS: dict[str, list[tuple[Expression, ...]]] = {
    **{
        name: [(COLUMNS[a][0], COLUMNS[b][1]) for a, b in itertools.permutations((INTEGER, MONEY, WIDE), 2)]
        for name in ("=", "<>", "<", "<=", ">", ">=", "<=>", "nullif", "coalesce", "least", "greatest")
    },
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
    **{name: [(first,) for first, _ in INSTANTS] for name in ("unix_seconds", "unix_millis", "unix_micros")},
    "seconds_between": [tuple(pair) for pair in INSTANTS],
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
    "sort_parts": [
        (COLUMNS[type_][0], Constant(up, BOOLEAN), Constant(str(type_.element), STRING))
        for type_ in PARTS
        if type_.element is not None and not type_.element.ordered and type_.comparable
        for up in (True, False)
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
        for group in range(1 + re.compile(pattern.replace(r"\z", r"\Z")).groups)
    ],
    "regexp_extract_all": [
        (COLUMNS[STRING][0], Constant(pattern, STRING), Constant(group, INTEGER))
        for pattern in MATCHED
        for group in range(1 + re.compile(pattern.replace(r"\z", r"\Z")).groups)
    ],
    **{
        name: [(text, *more) for text in (call("to_json", NAMED), call("to_json", COLUMNS[TEXTS][0]), *COLUMNS[STRING])]
        for name, more in (("json_array_length", ()), ("json_object_keys", ()))
    },
    "get_json_object": [
        (text, Constant(path, STRING))
        for text in (call("to_json", NAMED), call("to_json", COLUMNS[PAIRS][0]))
        for path in ("$", "$.col1[1]", "$.col4", "$[*].k", "$[0].n", "$.col1[*]")
    ],
    "try_parse_url": [
        (call("||", Constant(before, STRING), COLUMNS[STRING][0]), Constant(part, STRING), *more)
        for before in ("", "https://u@a.example:80/", "//a?k=1&", "http://")
        for part, more in (
            *((part, ()) for part in ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO")),
            ("QUERY", (Constant("k", STRING),)),
        )
    ],
    "try_to_binary": [(COLUMNS[STRING][0], Constant(form, STRING)) for form in ("hex", "BASE64", "utf-8")],
    "unbase64": [(call("base64", COLUMNS[STRING][0]),)],
    "decode_bytes": [(DATA,), (call("unhex", COLUMNS[STRING][0]),)],
    "mask": [(COLUMNS[STRING][0], *(Constant(by, STRING) for by in signs)) for signs in ((), "U", ("U", None), "Uldo")],
    "elt": [(COUNT, *COLUMNS[STRING]), (call("pmod", WHOLE, Constant(4, INTEGER)), *COLUMNS[STRING])],
    "format_string": [
        (Constant(form, STRING), COLUMNS[STRING][0], WHOLE, COLUMNS[BOOLEAN][0])
        for form in (
            "%s: %d%%",
            "%-9s|%9.1s|%3$s%n",
            "%2$,d %2$09d %2$+d %2$(,d %2$ d|%1$4s",
            "%2$s%2$22d|%2$-22d",
            "%1$S|%1$.1s|%3$-7S|%2$x %2$022X %2$24o",
            "x",
        )
    ]
    + [
        (Constant(form, STRING), COLUMNS[DOUBLE][0], COLUMNS[MONEY][0])
        for form in (
            "%s|%1$12.3S|%2$s|%2$.2s",
            "%.2f %1$,.0f %1$(,9.3f|%1$+012.1f|%1$-12f|%1$ f",
            "%.2e %1$(E|%1$+014.3e|%1$.0E",
            "%g %1$.3G|%1$012.4g|%1$.17g|%1$.0g",
        )
    ],
    "format_number": [
        (COLUMNS[type_][0], Constant(digits, INTEGER))
        for type_ in (INTEGER, MONEY, WIDE, DOUBLE)
        for digits in (0, 1, 2, 3, 7)
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
    "concat_ws": [
        (Constant(", ", STRING), *COLUMNS[STRING]),
        (Constant("", STRING), COLUMNS[STRING][0]),
        (Constant(", ", STRING), *COLUMNS[TEXTS]),
        (COLUMNS[STRING][0], COLUMNS[TEXTS][0], COLUMNS[STRING][1], COLUMNS[TEXTS][1]),
        (COLUMNS[STRING][0], COLUMNS[STRING][1]),
        (COLUMNS[STRING][0],),
    ],
    "split": [
        (COLUMNS[STRING][0], Constant(pattern, STRING), *limit)
        for pattern in (*MATCHED, "-", r"\.", " ", "bc", r"\#", "")
        for limit in ((), *((Constant(most, INTEGER),) for most in (-1, 0, 1, 2) if pattern in ("", "a", r"\s+")))
    ],
    "array": [(COLUMNS[type_][0], COLUMNS[type_][1], COLUMNS[type_][0]) for type_ in EDGES],
    "map_of": [
        (call("array", *(call("struct", Constant(key, STRING), COLUMNS[MONEY][at]) for at, key in enumerate("ab"))),)
    ],
    **{name: [(COLUMNS[DATE][0], by) for by in PLACES] for name in "+-"},
    "struct": [(COLUMNS[POINT][0], COLUMNS[DATE][0], COLUMNS[TEXTS][0])],
    "to_json": [(of,) for of in (NAMED, *(COLUMNS[type_][0] for type_ in PARTS if type_ != POINT))],
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
    "json_of_members": [(call("array", *COLUMNS[STRING]), Constant(blank, STRING)) for blank in ("", " ")],
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
    **{
        f"{name}_series": [(COLUMNS[DATE][0], COLUMNS[DATE][1], Constant(step, INTEGER)) for step in steps]
        for name, steps in (("date", (0, 9, -2)), ("month", (1, -2, 400)))
    },
    "timestamp_series": [
        (*COLUMNS[TIMESTAMP][:2], Constant(hours * 3_600_000_000, INTEGER), Constant(a, BOOLEAN), Constant(b, BOOLEAN))
        for hours in (6, -24, 90_000)
        for a, b in itertools.product((True, False), repeat=2)
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
    *("date_series", "month_series", "timestamp_series", "sort_parts", "json_of_members"),
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


def every_call() -> Iterator[Call]:
    """Every function of the table, called with columns of every type, and over its constants."""
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


@cache
def accepted_calls() -> tuple[Call, ...]:
    """Those that have a kernel, each once."""
    return tuple(c for c in dict.fromkeys(every_call()) if kernel_of(c) is not None and computed_value(c) is not None)
