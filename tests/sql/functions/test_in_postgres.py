"""Calls of postgres over rows have PostgreSQL's values: texts, numbers, times, JSON.

The calls and the rows follow from the seed of the run. What is refused is not compared; what is an error here, and no
refusal, must be one of PostgreSQL. A row for which PostgreSQL has an error is NULL.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import servers

from workbench.arrow.stored_values import read_stored
from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, JSON, STRING, TIMESTAMP, decimal, integer
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SEED = int(os.environ["ARGUS_SEED"])
ROWS = 25
TYPES: dict[str, tuple[Any, pa.DataType, str]] = {
    "s": (STRING, pa.string(), "text"),
    "u": (STRING, pa.string(), "text"),
    "n": (INTEGER, pa.int64(), "bigint"),
    "k": (integer(32), pa.int64(), "int"),
    "x": (DOUBLE, pa.float64(), "float8"),
    "m": (decimal(12, 2), pa.decimal128(12, 2), "numeric(12,2)"),
    "t": (TIMESTAMP, pa.timestamp("us"), "timestamp"),
    "v": (TIMESTAMP, pa.timestamp("us"), "timestamp"),
    "d": (DATE, pa.date32(), "date"),
    "j": (JSON, pa.string(), "jsonb"),
    "h": (JSON, pa.string(), "jsonb"),
}
COLUMNS = tuple((name, type_) for name, (type_, _, _) in TYPES.items())
SIGNS = (*"abcAZ12 -._/'\\,%", "é", "É", "\n", "😀")


def text(random: Random, most: int = 8) -> str:
    return "".join(random.choice(SIGNS) for _ in range(random.randrange(most)))


def quoted(value: str) -> str:
    return "'" + value.replace("'", "''").replace("%", "%") + "'"


def of_places(form: str) -> Callable[[Random], str]:
    """A form with places {0} to {2}, a text {q}, and a number with a fraction {f}."""

    def written(random: Random) -> str:
        places = (random.choice([*map(str, range(-3, 7)), "k", "k"]) for _ in range(3))
        return form.format(*places, q=quoted(text(random, 3)), f=random.choice(["0.5", "-3", "10", "7.25"]))

    return written


def of_json(random: Random, depth: int = 2) -> Any:
    """A value of JSON."""
    if depth and random.random() < 0.7:
        if random.random() < 0.6:
            return {random.choice(("a", "b", "aa", "0", "é")): of_json(random, depth - 1) for _ in range(3)}
        return [of_json(random, depth - 1) for _ in range(random.randrange(4))]
    return random.choice((None, True, False, 1, 0, -2, 1.5, 1e20, "", "a", 'x"\\y', "é\n", "1"))


def of_keys(form: str) -> Callable[[Random], str]:
    """A form with a key {k}, a place {n}, a path {p}, and a value of JSON {v}."""

    def written(random: Random) -> str:
        path = ",".join(random.choice(("a", "b", "0", "1", "-1", "aa", "5")) for _ in range(random.randrange(1, 3)))
        value = json.dumps(of_json(random, 1), ensure_ascii=False).replace("'", "''")
        return form.format(k=random.choice("ab"), n=random.randrange(3), p=f"'{{{path}}}'", v=f"'{value}'")

    return written


def a_format(random: Random) -> str:
    parts = (random.choice(["%s", "%L", "%%", "a", " ", "%1$s", "%2$-6s", "%10s", "%-4L", "%s", "%3$L"])
             for _ in range(random.randrange(1, 5)))  # fmt: skip
    return f"format({quoted(''.join(parts))}, {random.choice(['s', 'n', 'd', 'm', 'x'])}, s, u)"


FORMS: dict[str, Callable[[Random], str]] = {
    "format": a_format,
    **{form: of_places(form) for form in (
        "initcap(s)", "reverse(s)", "chr(k)", "chr(n::int)", "to_hex(n)", "to_hex(k)", "to_hex(-1)", "quote_literal(s)",
        "quote_nullable(s)", "quote_literal(n)", "split_part(s, {q}, {0})", "split_part(s, u, k)",
        "split_part(s, '-', {0})", "overlay(s placing u from {0})", "overlay(s placing u from {0} for {1})",
        "lpad(s, {0}, u)", "rpad(s, {0}, {q})", "lpad(s, {0})", "lpad(n::text, 6, '0')", "left(s, {0})",
        "right(s, {0})", "substr(s, {0}, {1})", "substr(s, {0})", "translate(s, 'abc', {q})", "position({q} in s)",
        "strpos(s, u)", "repeat(s, {0})", "ascii(s)", "x::text", "s || x", "concat(s, x, n)", "concat_ws('-', s, x, d)",
        "gcd(n, k)", "lcm(n, k)", "lcm(k, {0})", "factorial({0})", "scale(m)", "min_scale(m)", "min_scale({f})",
        "width_bucket(x, {f}, 20, 7)", "width_bucket(m, {f}, 20, 7)", "width_bucket(m, 10, {f}, k)",
        "width_bucket(n, 0, 100, 5)", "width_bucket(x, array[-1.5, 0, 2.5]::float8[])",
        "width_bucket(m, array[-1.5, 0, 2.5]::numeric[])", "asinh(x)", "acosh(x)", "atanh(x / 100)", "atanh(k)",
        "n & k", "n | {0}", "n # k", "~n", "octet_length(s)", "bit_length(s)", "md5(s)", "sign(x)", "mod(n, k)",
        "div(n, k)", "round(m, 1)", "trunc(m, 1)", "ceil(m)", "floor(x)", "'bar'::name", "s = 'a'::name",
    )},
    **{form: of_keys(form) for form in (
        "j -> '{k}'", "j -> {n}", "j #> {p}", "j -> '{k}' -> {n}", "jsonb_extract_path(j, '{k}', '0')", "j || h",
        "j || {v}", "{v} || j", "j - '{k}'", "j - {n}", "j - (-1)", "j #- {p}", "jsonb_set(j, {p}, {v})",
        "jsonb_set(j, {p}, h, false)", "jsonb_strip_nulls(j)", "jsonb_pretty(j)", "to_jsonb(s)", "to_jsonb(n)",
        "to_jsonb(x)", "to_jsonb(m)", "to_jsonb(t)", "to_jsonb(d)", "to_jsonb(j)", "j = h", "j <> {v}",
        "j -> '{k}' = {v}", "j -> '{k}' = h -> '{k}'", "jsonb_build_object('b', n, 'a', s, 'aa', j)",
        "jsonb_build_array(s, x, j, null)", "(j -> '{k}')::text", "j - '{k}' || {v}", "j::text",
    )},
    **{form: of_places(form) for form in (
        "to_timestamp(x)", "to_timestamp(n)", "to_timestamp(m)", "to_timestamp(k + {f})", "isfinite(t)", "isfinite(d)",
        "(t, v) overlaps (v, t)", "(t, v) overlaps (timestamp '2020-01-05', timestamp '2020-01-05')",
        "(d, d + {0}) overlaps (d + 1, d + {1})", "(t, interval '3 days') overlaps (v, interval '1 hour')",
        "(t, v) overlaps (v, v)", "(t, t) overlaps (v, v)", "t + (k || ' days')::interval",
        "t - (k || ' hours')::interval", "extract(epoch from t)", "make_date(2020, {0}, {1})",
    )},
}  # fmt: skip


def rows(random: Random) -> pa.RecordBatch:
    numbers = (0, 1, -1, 3, 12, 97, 0xE9, 0xD800, 0x1F600, 2**31, 2**62, 2**63 - 1, -(2**62), 1_600_000_000)
    start = dt.datetime(2020, 1, 1)

    def moment() -> dt.datetime:
        return start + dt.timedelta(days=random.randrange(9), microseconds=random.randrange(3) * 43_200_500_001)

    values: dict[str, Callable[[], Any]] = {
        "s": lambda: text(random),
        "u": lambda: text(random, 3),
        "n": lambda: random.choice(numbers),
        "k": lambda: random.randrange(-5, 12),
        "x": lambda: random.choice((
            *(0.0, -0.0, 1.0, 1.5, -7.25, 19.9, 1e15, 123456789.987, 1e-5, 0.1, 1e300, 20.0),
            *(float("nan"), float("inf"), -float("inf"), random.gauss(0, 9)),
        )),
        "m": lambda: Decimal(random.choice((0, 50, -725, 2000, 1999, random.randrange(-3000, 3000)))).scaleb(-2),
        "t": moment, "v": moment, "d": lambda: moment().date(),
        **dict.fromkeys("jh", lambda: json.dumps(of_json(random), ensure_ascii=False)),
    }  # fmt: skip
    drawn = {name: [None if random.random() < 0.1 else value() for _ in range(ROWS)] for name, value in values.items()}
    return pa.RecordBatch.from_pydict({name: pa.array(drawn[name], arrow) for name, (_, arrow, _) in TYPES.items()})


def plain(value: Any) -> Any:
    """A value as it is compared: NaN equals itself, an instant has no zone."""
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None) if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
    return "NaN" if isinstance(value, float) and value != value else value


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("psycopg.types.json")
    with servers.postgres() as address, psycopg.connect(address, autocommit=True) as connected:
        psycopg.types.json.set_json_loads(lambda data: data if isinstance(data, str) else data.decode(), connected)
        connected.execute("SET timezone = 'UTC'")
        connected.execute("CREATE TABLE r (i int, " + ", ".join(f"{n} {of}" for n, (_, _, of) in TYPES.items()) + ")")
        yield connected


def asked(connection: Any, sql: str) -> tuple[list[Any], int]:
    """PostgreSQL's values, NULL for the rows that are errors, and how many these are."""
    import psycopg

    try:
        return [plain(row[0]) for row in connection.execute(f"SELECT {sql} FROM r ORDER BY i").fetchall()], 0
    except psycopg.Error:
        pass
    values, errors = [], 0
    for i in range(ROWS):
        try:
            values.append(plain(connection.execute(f"SELECT {sql} FROM r WHERE i = {i}").fetchone()[0]))
        except psycopg.Error:
            values.append(None)
            errors += 1
    return values, errors


@pytest.mark.parametrize("form", FORMS)
def test_calls_have_the_values_of_postgres(connection: Any, form: str) -> None:
    random, wrong = Random(f"{SEED} {form}"), list[str]()
    for _ in range(3):
        batch = rows(random)
        sql = FORMS[form](random)
        connection.execute("TRUNCATE r")
        with connection.cursor() as cursor:
            places = ", ".join(["%s"] * (len(TYPES) + 1))
            given = [(i, *row.values()) for i, row in enumerate(batch.to_pylist())]
            cursor.executemany(f"INSERT INTO r VALUES ({places})", given)
        for name in ("j", "h"):  # as PostgreSQL has them
            texts = pa.array(asked(connection, f"{name}::text")[0], pa.string())
            batch = batch.set_column(batch.schema.get_field_index(name), name, texts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                query = bind(f"SELECT {sql} AS v FROM r", "postgres", Schema(streams={"r": COLUMNS})).query
            except UnsupportedError:
                continue
            except SqlError as error:
                if asked(connection, sql)[1] < ROWS:
                    wrong.append(f"{sql} is an error here: {error.message}")
                continue
        expression = query.outputs[0].expression  # type: ignore[union-attr]
        if not has_kernels(expression):
            continue
        found = evaluate(expression, batch)
        found = read_stored(found, expression.type) if expression.type.is_text_when_stored else found
        ours, (theirs, _) = list(map(plain, found.to_pylist())), asked(connection, sql)
        pairs = enumerate(zip(ours, theirs, strict=True))
        wrong += [f"{sql} of {given[i]} is {a!r}, of PostgreSQL {b!r}" for i, (a, b) in pairs if a != b]
    assert not wrong, "\n".join(wrong[:20])
