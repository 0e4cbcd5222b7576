"""Calls of duckdb over rows have DuckDB's values: regular expressions, parts of texts, bits, parts of times.

The calls and the rows follow from the seed of the run. What is refused is not compared; what is an error here, and no
refusal, must be one of DuckDB. A row for which DuckDB has an error is NULL.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from workbench.arrow.stored_values import read_stored
from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.schema import Schema

SEED = int(os.environ["ARGUS_SEED"])
ROWS = 25
COLUMNS = (("s", STRING), ("u", STRING), ("n", INTEGER), ("k", INTEGER), ("x", DOUBLE), ("t", TIMESTAMP))
STATISTICS = ("product", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "sem", "skewness", "kurtosis",
              "kurtosis_pop")  # fmt: skip
"""Of lists, which DuckDB computes of rounded sums."""
TYPES = {"s": pa.string(), "u": pa.string(), "n": pa.int64(), "k": pa.int64(), "x": pa.float64(),
         "t": pa.timestamp("us")}  # fmt: skip
UNITS = ("y", "yr", "years", "mon", "months", "w", "weeks", "d", "days", "h", "hrs", "m", "mins", "s", "sec")
SIGNS = ("a", "b", "c", "A", "1", "2", "é", "ß", " ", "\u00a0", "\u3000", "\n", "-", ".", "/", "_", "(", "\t", "😀")
ATOMS = (
    *(
        "a",
        "b",
        "c",
        "1",
        "é",
        ".",
        "[ab]",
        "[^a]",
        "[a-c1]",
        "\\d",
        "\\w",
        "\\s",
        "\\S",
        "[[:alpha:]]",
        "[]a]",
        "[^]b]",
    ),
    *(
        "\\.",
        "\\Q.\\E",
        "(?:ab)",
        "(a|b)",
        "(b)",
        "(?P<x>c)",
        "(?i:Ab)",  # a|(?i:A) does not match A in DuckDB 2.0
        "\\p{L}",
        "/",
        "-",
        "\\x61",
        "[\\d-]",
        "\\[",
        "|",
    ),
    *("^", "$", "\\b", "\\A", "\\z", "(", ")", "\\1", "(?=a)", "a{2}", "\\B"),
)


def pattern(random: Random) -> str:
    """A pattern of a few parts; some are none."""
    plain = len(ATOMS) - 11 if random.random() < 0.7 else len(ATOMS)
    parts = (random.choice(ATOMS[:plain]) + random.choice(["", "", "", "*", "+", "?", "{1,2}", "*?", "+?"])
             for _ in range(random.randint(0 if random.random() < 0.1 else 1, 4)))  # fmt: skip
    return "".join(parts)


def text(random: Random, most: int = 7) -> str:
    return "".join(random.choice(SIGNS) for _ in range(random.randrange(most)))


def quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def place(random: Random) -> str:
    return random.choice([*map(str, range(-4, 5)), "k"])


def of_pattern(form: str) -> Callable[[Random], str]:
    def written(random: Random) -> str:
        options = random.choice(["", "", "", ", 'i'", ", 's'", ", 'c'", ", 'il'", ", 'q'"])
        by = random.choice(["", "-", "<\\0>", "[\\1]", "\\\\", "\\2", "$1", "\\x"])
        return form.format(p=quoted(pattern(random)), o=options, g=random.randrange(3), r=quoted(by),
                           e=random.choice(["", ", 'g'", ", 'gi'", ", 'i'"]))  # fmt: skip

    return written


def of_places(form: str) -> Callable[[Random], str]:
    return lambda random: form.format(*(place(random) for _ in range(3)), q=quoted(text(random, 3)))


FORMS: dict[str, Callable[[Random], str]] = {
    **{form: of_pattern(form) for form in (
        "regexp_matches(s, {p}{o})", "s ~ {p}", "regexp_full_match(s, {p}{o})", "s SIMILAR TO {p}",
        "NOT s SIMILAR TO {p}",
        "regexp_extract(s, {p})", "regexp_extract(s, {p}, {g})", "regexp_extract(s, {p}, {g}{o})",
        "regexp_replace(s, {p}, {r}{e})", "regexp_replace(s, {p}, {r})", "regexp_extract_all(s, {p})",
        "regexp_extract_all(s, {p}, {g})", "string_split_regex(s, {p})", "regexp_split_to_array(s, {p})",
        "regexp_extract(s, {p}, ['v']).v",
    )},
    **{form: of_places(form) for form in (
        "substring(s, {0})", "substr(s, {0}, {1})", "left(s, {0})", "right(s, {0})", "s[{0}]", "s[{0}:{1}]", "s[:{0}]",
        "s[{0}:]", "trim(s)", "ltrim(s)", "rtrim(s)", "trim(s, {q})", "contains(s, {q})", "contains(s, u)",
        "chr(n::INTEGER)", "chr(k::INTEGER)", "unicode(s)", "ord(s)", "n << {0}", "n >> {0}", "k << {0}", "n // {0}",
        "(k * 0) << 64",
        "n // k",
        "x // {0}",
        "gcd(n, k)",
        "lcm(n, k)", "to_base(n, 16)", "to_base(n, 36)", "to_base(k, 2, 5)", "isnan(x)", "isinf(x)", "isfinite(x)",
        "strlen(s)", "hex(n)", "hex(s)", "bin(n)", "suffix(s, {q})", "s ^@ {q}",
        "split_part(s, {q}, {0})", "split_part(s, u, k)", "url_encode(s)", "url_decode(s)", "strip_accents(s)",
        "url_decode(url_encode(s))", "nfc_normalize(s)", "parse_filename(s)", "parse_dirname(s)", "parse_dirpath(s)",
        "parse_path(s)", "parse_path('/' || s || '/b')", "format_bytes(n)", "formatReadableSize(k * 1000)",
        "formatReadableDecimalSize(n)", "bar(x, -5, 10, 7)", "bar(k, -5, {0})", "bar(k, x, 10, 7)",
        "bar(k, -5, x, 2.5)", "bar(x, -1e308, 1e308)", "jaro_similarity(s, u)",
        "jaro_winkler_similarity(s, u)", "jaro_winkler_similarity('ab' || s, 'ab1' || u)", "trunc(x)", "trunc(x, 1)",
        "trunc(x, -1)", "signbit(x)", "nextafter(x, {0})", "divide(n, k)", "add(k, {0})", "subtract(k, {0})",
        "multiply(k, {0})", "constant_or_null(5, s)", "try(k + {0})",
    )},
    **{form: of_places(form) for form in (
        "era(t)", "julian(t)", "nanosecond(t)", "epoch_ns(make_timestamp(k))",
        "make_timestamp(2020 + k, 3, 1 + k * 6, 4, 5, 6.25)",
        "make_timestamp(2020, 2, 28 + k, 20 + k, 55 + k, 57.5 + k)", "make_timestamp(k)",
        "time_bucket(INTERVAL '1 month', t)",
        "time_bucket(INTERVAL '7 months', make_timestamp(2020 + k, 6 + k, 1, 4, 5, 6))",
        "time_bucket(INTERVAL '1 year', t)", "time_bucket(INTERVAL '1 week', t::DATE)", "strftime('%Y-%m', t)",
        "date_sub('month', t, make_timestamp(2020 + k, 6 + k, 28, 4, 5, 6))",
        "date_sub('month', last_day(t), last_day(make_timestamp(2016, 6 + k, 2, 4, 5, 6)))",
        "date_sub('quarter', TIMESTAMP '2016-02-29 10:00:00', t)", "date_sub('year', t::DATE, DATE '2020-02-29')",
        "[k, {0}][-1]", "[k, {0}][k]", "[s, u][{0}]", "MAP {{1: k, 2: {0}}}[k]",
        "list_cat([k], [{0}])", "list_select([k, 7], [{0}])", "list_bit_and([k, {0}])", "list_bit_or([k, {0}])",
        "list_bit_xor([k, n])", "list_bool_and([k > 0, x > 0])", "list_bool_or([k > 0, x > 0])",
        "list_position([k, NULL, {0}], NULLIF(n, 3))", "list_position([NULL, k], NULL)",
        "list_string_agg([s, u])", "list_aggr([s, u], 'string_agg', '-')", "array_to_string([k, {0}], '-')",
        "list_sort(list_distinct([k, NULL, {0}, k]))", "list_sort(array_distinct([s, u]))",
        "array_position([k, {0}], {0})",
        "list_sort(list_intersect([k, {0}, NULL], [{0}, NULL, 3]))", "list_intersect([k], NULLIF([n], [3]))",
        "list_sort(array_intersect([s, u], [s, NULL]))", "concat_ws('-', k, x, s, t::DATE, t, k > 0, NULL)",
        "concat_ws(s, u, [s, NULL])", "x || s", "concat(x, (k / 4)::DECIMAL(9,2), t)", "k || ' ' || t",
        "concat(NULLIF([k], [3]))", "concat(NULLIF([k], [3]), [n])", "epoch(t)",
        "epoch(t - TIMESTAMP '2016-02-29 10:07:00')", "epoch(INTERVAL '90' MINUTE)", "isfinite(t)", "isinf(t::DATE)",
        "generate_series(t, t + INTERVAL 5 HOUR, INTERVAL '90 minutes')[{0}]",
        "range(t::DATE, t::DATE + 3, INTERVAL 1 DAY)[-1]",
        "range(t, t + INTERVAL 3 DAY, INTERVAL 12 HOUR)[-1]",
        "string_split_regex(s, NULL)", "regexp_split_to_array(u, NULL)", "(k, s) = ROW({0}, u)", "(k, s)[1]",
        "MAP_FROM_ENTRIES([(1, k), (2, {0})])[2]", "to_timestamp(k * 100000) = t",
        "s.trim().length()", "(k + {0}).abs()", "[k, n].list_max()", "(s || u).left(2)",
        "s.replace('a', u).contains(u)", "concat(s, k > 0, u)", "(k > 0) || s",
        "TRY_CAST(k * 99 AS UTINYINT)", "TRY_CAST(x AS UINTEGER)",
        "TRY_CAST(s AS USMALLINT)", "TRY_CAST(k > 0 AS UTINYINT)",
        "{{'a': k, 'b': s}}['b']", "{{'a': k, 'b': s}}['a']",
    )},
    **{f"{part}(t)": lambda random, part=part: f"{part}(t)" for part in (
        *("dayofweek", "weekday", "isodow", "week", "weekofyear", "yearweek", "isoyear", "century", "decade"),
        *("millennium", "microsecond", "millisecond", "dayofyear", "year", "quarter"),
    )},
    "extract": lambda random: f"EXTRACT({random.choice(('isoyear', 'yearweek', 'milliseconds', 'dow'))} FROM t)",
    "glob": lambda random: "s GLOB {}".format(quoted("".join(
        random.choice(("a", "b", "*", "?", "[ab]", "[!a]", "[!b-a]", "[--z]", "é", ".", "(", "1")) for _ in range(4)
    ))),
    **{form: lambda random, form=form: form.format(random.choice(UNITS)) for form in (
        "date_trunc('{}', t)", "date_part('{}', t)", "date_diff('{}', TIMESTAMP '2016-02-29 10:07:00', t)",
        "date_sub('{}', TIMESTAMP '2016-02-29 10:07:00', t)", "t + INTERVAL '2 {}'",
    )},
}  # fmt: skip


def rows(random: Random) -> pa.RecordBatch:
    numbers = (0, 1, -1, 3, 12, 97, 0xE9, 0xD800, 0x1F600, 2**31, 2**62, 2**63 - 1, -(2**62))
    start = dt.datetime(1, 1, 3) if random.random() < 0.2 else dt.datetime(2015, 12, 20)
    values: dict[str, Callable[[], Any]] = {
        "s": lambda: text(random), "u": lambda: text(random, 2), "n": lambda: random.choice(numbers),
        "k": lambda: random.randrange(-5, 6), "x": lambda: random.choice((0.0, 1.5, -7.25, 1e300, float("nan"),
                                                                          float("inf"), -float("inf"))),
        "t": lambda: start + dt.timedelta(days=random.randrange(800), microseconds=random.randrange(86_400 * 10**6)),
    }  # fmt: skip
    drawn = {name: [None if random.random() < 0.1 else value() for _ in range(ROWS)] for name, value in values.items()}
    return pa.RecordBatch.from_pydict({name: pa.array(drawn[name], TYPES[name]) for name in TYPES})


def test_statistics_of_lists_are_near_those_of_duckdb(database: duckdb.DuckDBPyConnection) -> None:
    random, wrong = Random(SEED), list[str]()
    for name in STATISTICS:
        for _ in range(40):
            values = [random.choice([None, random.randrange(-9, 10), random.randrange(100) / 4]) for _ in range(7)]
            of, sql = values[: random.randrange(8)], f"SELECT list_{name}(?::DOUBLE[])"
            (theirs,) = database.execute(sql, [of]).fetchall()[0]
            function = FUNCTIONS[f"list_{name}"].python
            assert function is not None
            ours: Any = function(of)
            if (ours is None) is not (theirs is None) or (
                ours is not None and not math.isclose(ours, theirs, rel_tol=1e-7, abs_tol=1e-9)
            ):
                wrong.append(f"{name} of {of} is {ours}, of DuckDB {theirs}")
    assert not wrong, "\n".join(wrong[:20])


def plain(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and value != value else value


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def asked(database: duckdb.DuckDBPyConnection, sql: str) -> list[Any] | None:
    """DuckDB's values; ``None`` where it has an error."""
    try:
        return [plain(row[0]) for row in database.execute(f"SELECT {sql} FROM r ORDER BY i").fetchall()]
    except duckdb.Error:
        return None


@pytest.mark.parametrize("form", FORMS)
def test_calls_have_the_values_of_duckdb(database: duckdb.DuckDBPyConnection, form: str) -> None:
    random, wrong = Random(f"{SEED} {form}"), list[str]()
    for _ in range(12 if "{p}" in form else 4):
        batch = rows(random)
        sql = FORMS[form](random)
        database.register("arrow", pa.table(batch).append_column("i", pa.array(range(ROWS))))
        database.execute("CREATE OR REPLACE TABLE r AS FROM arrow")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                query = bind(f"SELECT {sql} AS v FROM r", "duckdb", Schema(streams={"r": COLUMNS})).query
            except UnsupportedError:
                continue
            except SqlError as error:
                if asked(database, sql) is not None:
                    wrong.append(f"{sql} is an error here: {error.message}")
                continue
        expression = query.outputs[0].expression  # type: ignore[union-attr]
        if not has_kernels(expression):
            continue
        found = evaluate(expression, batch)
        found = read_stored(found, expression.type) if expression.type.is_text_when_stored else found
        ours, theirs, given = list(map(plain, found.to_pylist())), asked(database, f"TRY({sql})"), batch.to_pylist()
        if theirs is None:
            wrong.append(f"{sql} is an error of DuckDB, here {ours}")
            continue
        pairs = enumerate(zip(ours, theirs, strict=True))
        wrong += [f"{sql} of {given[i]} is {a!r}, of DuckDB {b!r}" for i, (a, b) in pairs if a != b]
    assert not wrong, "\n".join(wrong[:20])
