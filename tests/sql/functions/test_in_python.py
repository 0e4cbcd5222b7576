"""Functions that Python evaluates have the values of DuckDB: texts of JSON, casts of texts, formats, distances."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from random import Random
from typing import Any

import duckdb
import pytest

from workbench.sql.functions.calls import FUNCTIONS

Values = tuple[Any, ...]
NUMBERS = [
    *("1", "-1", "0", "-0", "1.5", "2.50", "1e3", "1E+2", "1e-7", "123456789.125", "1e400", "-0.0", "01", "1.", ".5"),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775809", "+1", "5e-324", "1e21", "1e20"),
]
TEXTS = ["a", "é", "\\n", "\\u0041", "\\ud83d\\ude00", "\\ud800", "\\/", "/", "\x7f", "\\q", "日", "\u2028", "'"]


def json(random: Random, depth: int = 0) -> str:
    """A text that mostly is JSON."""
    kind = random.randrange(12 if depth < 4 else 7)
    blank = random.choice(["", "", " ", "\n"])
    if kind < 3:
        return random.choice([*NUMBERS, repr(random.uniform(-1, 1) * 10 ** random.randrange(-30, 30))])
    if kind < 5:
        return f'"{random.choice(TEXTS)}"'
    if kind < 7:
        return random.choice(["true", "false", "null", "nan", "inf", "-Infinity", "Null", "{}", "[]"])
    parts = [json(random, depth + 1) for _ in range(random.randrange(4))]
    comma = random.choice(["", "", "", ","]) if parts else ""
    if kind < 9:
        return f"[{blank}{','.join(parts)}{comma}]"
    members = (f'{blank}"{random.choice("abc")}"{blank}:{part}' for part in parts)
    return f"{{{','.join(members)}{comma}}}"


def number(random: Random) -> str:
    """A text that mostly is a number."""
    if random.random() < 0.1:
        return random.choice(["", ".", "1_0", "0x1F", "nan", "-inf", " 12\n", "1e400", "9223372036854775807.5", "12a"])
    digits = "".join(random.choice("0123456789") for _ in range(random.randrange(random.choice([3, 6, 21]))))
    fraction = f".{random.randrange(10 ** random.choice([1, 3, 9]))}" if random.random() < 0.5 else ""
    exponent = f"e{random.randrange(-9, 9)}" if random.random() < 0.2 else ""
    return random.choice(["", "-", "+"]) + digits + fraction + exponent


def word(random: Random) -> str:
    return "".join(random.choice("abcé日 .") for _ in range(random.randrange(7)))


def double(random: Random) -> float:
    return random.choice([0.5, 2.5, -2.675, 1e15, 1e16, 1e-5, random.uniform(-1, 1) * 10 ** random.randrange(-20, 18)])


def members(random: Random) -> Values:
    texts = [json(random), json(random)]
    return tuple(None if random.random() < 0.1 else text for text in texts)


PATHS = ("$", "$['a']", "$['b'][0]", "$['a'][-1]['c']", "$[1]")
OF_DUCKDB = {"$": "$", "$['a']": "$.a", "$['b'][0]": "$.b[0]", "$['a'][-1]['c']": "$.a[#-1].c", "$[1]": "$[1]"}
ASKED: dict[str, tuple[str, Callable[[Random], Values]]] = {
    "json_valid": ("json_valid(?)", lambda r: (json(r),)),
    "json_pretty": ("json_pretty(?)", lambda r: (json(r),)),
    "json_merge_patch": ("json_merge_patch(?::VARCHAR, ?::VARCHAR)", members),
    "integer_in_duckdb": ("TRY_CAST(? AS BIGINT)", lambda r: (number(r),)),
    "double_in_duckdb": ("TRY_CAST(? AS DOUBLE)", lambda r: (number(r),)),
    "double_text": ("CAST(? AS DOUBLE)::VARCHAR", lambda r: (double(r),)),
    "timestamp_text": ("make_timestamp(?)::VARCHAR", lambda r: (r.randrange(-(10**17), 10**18),)),
    "levenshtein_of_bytes": ("levenshtein(?, ?)", lambda r: (word(r), word(r))),
    "damerau_levenshtein": ("damerau_levenshtein(?, ?)", lambda r: (word(r), word(r))),
    "hamming": ("hamming(?, ?)", lambda r: (word(r), word(r))),
    "jaccard": ("jaccard(?, ?)", lambda r: (word(r), word(r))),
    "regexp_escape": ("regexp_escape(?)", lambda r: (word(r) + r.choice("\\-_\n\x00a0"),)),
    "even": ("even(?::DOUBLE)", lambda r: (double(r),)),
}
"""Function -> the same in DuckDB, and arguments by chance."""
AT_PATHS = {
    "json_part": "json_extract(?, ?)::VARCHAR",
    "json_text_in_duckdb": "json_extract_string(?, ?)",
    "json_type_in_duckdb": "json_type(?, ?)",
    "json_length_in_duckdb": "json_array_length(?, ?)",
    "json_exists": "json_exists(?, ?)",
    "json_scalar": "json_value(?, ?)::VARCHAR",
}
FORMATS = {
    "printf_in_duckdb": {
        int: ("%d", "%5d|", "%-7d|", "%+d", "%05d", "%,d", "%_d", "%'d", "%x", "%o", "%ld"),
        float: ("%f", "%.2f", "%9.3f|", "%,.1f", "%e", "%.3g", "%+.0f"),
        Decimal: ("%f", "%.1f", "%e"),
        str: ("%s", "%5s|", "%-5s|", "%.2s"),
        bool: ("%s", "%6s|"),
    },
    "format_in_duckdb": {
        int: ("{}", "{:d}", "{:5}|", "{:<5}|", "{:^7}|", "{:+}", "{:05d}", "{:,}", "{:_}", "{:t|}", "{:x}"),
        float: ("{}", "{:.2f}", "{:9.3f}|", "{:e}", "{:.3g}", "{:*>9.1f}"),
        Decimal: ("{}", "{:.1f}"),
        str: ("{}", "{:>5}|", "{:^5}|", "{{{}}}", "{0} {0}", "{:.2}"),
        bool: ("{}",),
    },
}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def bits(value: object) -> object:
    return ("NaN" if value != value else struct.pack("d", value)) if isinstance(value, float) else value


def differing(database: duckdb.DuckDBPyConnection, name: str, sql: str, rows: list[tuple[Values, Values]]) -> list[str]:
    """The rows, of our arguments and of DuckDB's, for which the values differ; what it refuses is NULL."""
    function, wrong = FUNCTIONS[name], []
    assert function.python is not None
    for ours, theirs in rows:
        try:
            expected = database.execute(f"SELECT {sql}", list(theirs)).fetchall()[0][0]
        except duckdb.Error:
            expected = None
        found = None if function.strict and None in ours else function.python(*ours)
        if bits(found) != bits(expected):
            wrong.append(f"{name}{ours} is {found!r}, of DuckDB {expected!r}")
    return wrong


@pytest.mark.parametrize("name", ASKED)
def test_values_are_those_of_duckdb(database: duckdb.DuckDBPyConnection, name: str) -> None:
    sql, arguments = ASKED[name]
    random = Random(name)
    rows = [arguments(random) for _ in range(150)]
    assert not differing(database, name, sql, [(row, row) for row in rows])


@pytest.mark.parametrize("name", AT_PATHS)
def test_values_at_paths_are_those_of_duckdb(database: duckdb.DuckDBPyConnection, name: str) -> None:
    random = Random(name)
    rows = [((text := json(random), path), (text, OF_DUCKDB[path])) for path in PATHS for _ in range(40)]
    assert not differing(database, name, AT_PATHS[name], rows)


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_those_of_duckdb(database: duckdb.DuckDBPyConnection, name: str) -> None:
    random = Random(name)
    values: dict[type, list[Any]] = {
        int: [0, 1, -5, 255, 1234567, -1234567, 2**63 - 1, -(2**63)],
        float: [0.0, *(double(random) for _ in range(8)), float("inf"), float("nan")],
        Decimal: [Decimal("1.50"), Decimal("-0.05"), Decimal("123456.78")],
        str: ["", "abc", "é日x"],
        bool: [True, False],
    }
    types = {int: "?::BIGINT", float: "?::DOUBLE", Decimal: "?::DECIMAL(18,2)", str: "?", bool: "?"}
    wrong = []
    for kind, patterns in FORMATS[name].items():
        rows = [(pattern, value) for pattern in patterns for value in values[kind]]
        sql = f"{name.partition('_')[0]}(?, {types[kind]})"
        wrong += differing(database, name, sql, [(row, row) for row in rows])
    assert not wrong


@pytest.mark.parametrize(("precision", "scale"), [(5, 2), (18, 3), (38, 10), (4, 0)])
def test_texts_are_decimals_as_in_duckdb(database: duckdb.DuckDBPyConnection, precision: int, scale: int) -> None:
    random = Random(precision)
    texts = [t for t in (number(random) for _ in range(200)) if "e" not in t]
    rows = [((text, precision, scale), (text,)) for text in texts]
    assert not differing(database, "decimal_in_duckdb", f"TRY_CAST(? AS DECIMAL({precision},{scale}))", rows)


def test_keys_stand_as_often_as_in_the_object(database: duckdb.DuckDBPyConnection) -> None:
    texts = ['{"a": 1, "b": 2, "a": 3}', "[1]", "{}", '{"a": {"c": 1}}', "x"]
    assert not differing(database, "json_keys_at", "json_keys(?)", [((text, "$"), (text,)) for text in texts])


def test_json_that_is_very_deep_is_null() -> None:
    function = FUNCTIONS["json_part"]
    assert function.python is not None
    assert function.python("[" * 10_000 + "]" * 10_000, "$") is None
