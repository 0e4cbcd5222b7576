"""Kinds of expressions that PostgreSQL alone has, beside a PostgreSQL, batch by batch, with corrections."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest
import servers
from oracle.on_postgres import Values, compare
from pyspark.sql import SparkSession

HISTORY, BATCH = 40, 30
TYPES = {
    "k": ("INTEGER", pa.int64()), "id": ("BIGINT", pa.int64()), "n": ("INTEGER", pa.int64()),
    "x": ("DOUBLE PRECISION", pa.float64()), "m": ("NUMERIC(15,2)", pa.decimal128(15, 2)), "s": ("TEXT", pa.string()),
}  # fmt: skip
TEXTS = ("", "a", "ab", "abc,b", "foo bar", "Foo", "a1b22", "x  y\tz", "aaa", "1.50", "b", "o,o", "line\nend")
EXPRESSIONS = {
    "joined": ("ARRAY[n, 1] || k", "k || ARRAY[n]", "ARRAY[n] || '{7,8}'", "ARRAY[n] || NULL",
               "string_to_array(s, ',') || s", "ARRAY[[1, 2], [n, 4]] || ARRAY[5, 6]",
               "array_append(ARRAY[n], k)", "array_to_string(ARRAY[n, k], ',', NULL)",
               "array_prepend(k, ARRAY[n])", "array_cat(ARRAY[k], ARRAY[n, 3])"),
    "found": ("array_position(ARRAY[1, NULL, 3, 2], n)", "array_position(ARRAY[n, 2], NULL)",
              "array_positions(ARRAY[n, 2, k, NULL], 2)", "array_positions(ARRAY[n, 2, k, NULL], NULL)",
              "array_remove(ARRAY[n, 2, k, NULL], n)", "array_replace(ARRAY[n, 2, k], k, 7)",
              "array_remove(ARRAY[n, 2], NULL)", "trim_array(ARRAY[n, 2, k], 1)", "array_upper(ARRAY[n, k], 1)",
              "array_fill(n, ARRAY[2])", "'{{1,2},{3,4}}'::int[]"),
    "sets": ("ARRAY[n, k] @> '{2}'", "ARRAY[n] <@ ARRAY[1, 2, NULL]", "ARRAY[n, k] && ARRAY[2, 3]",
             "string_to_array(s, ',') @> '{o}'", "ARRAY[n, 2] = '{1,2}'"),
    "any": ("n > ANY (ARRAY[1, k])", "n <> ANY ('{1,NULL}')", "n <= ALL (ARRAY[2, k])", "n = SOME (ARRAY[k, NULL])",
            "n <> ALL ('{}')", "x > ALL (ARRAY[n, k])"),
    "numeric": ("round(x::numeric, 2)", "round(x::numeric)", "round((x / 7)::numeric, 5)", "n::numeric", "m::numeric",
                "m::text", "(n > 1)::text", "m || s", "ARRAY[n, 1.5]::numeric[]", "float8(n)", "text(n)"),
    "matched": ("s ~ 'o+'", "s !~ '^[[:alpha:]]+$'", "s ~* 'FOO|B$'", "s SIMILAR TO '%(b|o)_*'",
                "regexp_like(s, 'A.?B', 'i')", "s LIKE 'a_b%' ESCAPE '_'", "s ~ 'a.*d$'"),
    "replaced": ("regexp_replace(s, '[a-c]', '<\\&>')", "regexp_replace(s, '([a-z])([0-9])', '\\2\\1', 'g')",
                 "regexp_replace(s, 'o|a', 'X', 2)", "regexp_replace(s, '\\s+', ' ', 'g')",
                 "regexp_replace(s, 'a|o', 'X', 1, 1, 'g')",
                 "regexp_replace(s, 'F|B', '$', 1, 0, 'i')", "regexp_replace(s, '(.)\\1', '\\1')"),
    "parts": ("regexp_substr(s, '[a-z]+', 1, 2)", "regexp_count(s, '[ab]', 2)", "regexp_instr(s, 'b')",
              "regexp_match(s, '([a-z])([0-9]+)')", "regexp_split_to_array(s, '[ ,]')",
              "substring(s FROM '[a-z]([0-9])')",
              "substring(s FROM '[^,]*,')", "regexp_instr(s, '[0-9]+', 1, 1, 1)"),
    "texts": ("left(s, -2)", "right(s, -2)", "left(s, n - 2)", "right(s, n - 2)", "substr(s, n - 2, k)",
              "substr(s, -1, 3)", "substr(s, n)", "split_part(s, 'o', -1)", "split_part(s, '', 1)",
              "overlay(s PLACING 'X' FROM 2 FOR 1)",
              "string_to_array(s, 'o', '')", "string_to_array(s, NULL)", "concat_ws('-', s, n)", "s::varchar(2)",
              "num_nulls(n, s, x)"),
    "numbers": ("round(x)", "trunc(x)", "div(n - 3, 2)", "n << 2", "(n - 3) >> 1", "(n > 2)::int",
                "array_length(ARRAY[[n, 1], [2, 3]], 2)", "make_date(2000 + n, k, 15)",
                "extract(century FROM make_date(1998 + n, k, 1))", "extract(decade FROM make_date(1998 + n, k, 1))",
                "extract(year FROM age(make_date(1998 + n, k, 15), date '2000-02-16'))",
                "extract(month FROM age(make_date(1998 + n, k, 15), date '2000-02-16'))"),
    "intervals": tuple(f"make_date(2000 + n, k, 28) + interval '{text}'" for text in (
        "2 days ago", "P1Y2M", "PT15M", "1-2", "@ 5 minutes", "12", "1 day 2.5 hours", "1 hour 0.25 minutes ago")),
    "bytes": ("encode(convert_to(s, 'UTF8'), 'hex')", "decode(repeat(md5(s), 4), 'hex')", "sha256(s::bytea)::text",
              "encode(decode(repeat(md5(s), 4), 'hex'), 'base64')", "convert_from(decode('4F6B', 'hex'), 'utf8') || s",
              "length(convert_to(s, 'UTF8'))", "decode('Zm9v' || chr(10) || 'YmFy', 'base64')",
              "'\\x0aFF'::bytea", "'a\\\\b\\001'::bytea", "sha224('a')",
              "md5(s::bytea)"),
    "rows": ("(n, k) < (2, 3)", "(n, k) >= (k, n)", "ROW(n, k) = ROW(1, 2)", "(n, m) IS NULL", "(n, m) IS NOT NULL",
             "(k, n) BETWEEN (1, 2) AND (3, NULL)", "(k, n) IN ((1, 2), (2, NULL))", "(k, n) <> (2, 3)"),
}  # fmt: skip
ASKED = {
    **{
        name: f"SELECT id, {', '.join(f'{e} AS c{i}' for i, e in enumerate(expressions))} FROM t"
        for name, expressions in EXPRESSIONS.items()
    },
    "whole rows": "SELECT row_to_json(r)::text AS a, r::text AS b, md5((r.*)::text) AS c, r IS NULL AS e,"
    " (to_jsonb(r) - 'id')::text AS d, json_build_object('r', r)::text AS f FROM (SELECT id, n, m, s, x, k > 1 AS yes,"
    " make_date(2000 + n, k, 1) AS day FROM t) AS r",
    "rows of groups": "SELECT k, json_agg(r ORDER BY r.id)::text AS a, count(r) AS b, count(DISTINCT (r.n, r.s)) AS c"
    " FROM (SELECT k, id, n, s FROM t) AS r GROUP BY k",
    "objects of groups": "SELECT k, json_object_agg(id, s ORDER BY id)::text AS a, jsonb_object_agg('a' || n, m)"
    " FILTER (WHERE n > 1)::text AS b, json_object_agg(s, n) FILTER (WHERE s IS NULL AND s IS NOT NULL) AS c,"
    " sum(n)::bigint AS e, concat(n > 1, s) || (k > 1) AS f FROM t GROUP BY k, n, s",
    "numbers of groups": "SELECT k, round(var_pop((n / 3::float8)::numeric)::numeric, 5) AS a,"
    " avg(NULL::float8) AS c, string_agg(s, E'\\n\\t' ORDER BY id) AS d FROM t GROUP BY k",
    "constant ends": "SELECT id, sum(n) OVER (ORDER BY id ROWS (1 < 2)::int PRECEDING) AS a, sum(n) OVER (ORDER BY"
    " make_date(2000 + n, k, 1) RANGE BETWEEN '1 month' PRECEDING AND CURRENT ROW) AS b FROM t",
    "bytes joined": "SELECT k, string_agg(s::bytea, '\\x00' ORDER BY id) AS a,"
    " string_agg(s::bytea, NULL ORDER BY s::bytea DESC) AS b,"
    " string_agg(DISTINCT md5(s)::bytea, decode('0a', 'hex') ORDER BY md5(s)::bytea) AS c,"
    " string_agg(s, NULL ORDER BY id) AS d FROM t GROUP BY k",
    "no buckets": "SELECT id, ntile(NULL) OVER (ORDER BY id) AS a, nth_value(n, NULL) OVER (ORDER BY id) AS b,"
    " lag(n, NULL) OVER (ORDER BY id) AS c FROM t",
    "steps of a limit": "WITH RECURSIVE r (n, d) AS (SELECT n, 0 FROM t UNION ALL SELECT n + 1, d + 1 FROM r)"
    " SELECT d FROM r LIMIT 300",
    "new steps of a limit": "WITH RECURSIVE r (n) AS (SELECT max(n) FROM t UNION SELECT n + 2 FROM r)"
    " SELECT n, n::text AS a FROM r LIMIT 12 OFFSET 2",
    "rank of a value": "SELECT k, rank(2) WITHIN GROUP (ORDER BY n) AS a, dense_rank(2) WITHIN GROUP (ORDER BY n DESC)"
    " AS b, percent_rank(2) WITHIN GROUP (ORDER BY n) AS c FROM t GROUP BY k",
    "rank of values": "SELECT k, rank(2, 'b') WITHIN GROUP (ORDER BY n, s) AS a,"
    " rank(NULL::int, 'b') WITHIN GROUP (ORDER BY n DESC, s NULLS FIRST) AS b,"
    " cume_dist(2, NULL::text) WITHIN GROUP (ORDER BY n DESC NULLS LAST, s) AS c,"
    " dense_rank(NULL::int) WITHIN GROUP (ORDER BY n) AS d,"
    " percent_rank(NULL::int, 1) WITHIN GROUP (ORDER BY n, k) AS e,"
    " rank(NULL::int) WITHIN GROUP (ORDER BY n) AS f, dense_rank(3) WITHIN GROUP (ORDER BY n NULLS FIRST) AS g FROM t"
    " GROUP BY k",
    "rounded averages": "SELECT k, round(avg(x)::numeric, 3) AS a, sum(round(x::numeric, 1)) AS b,"
    " min(n ORDER BY s) AS c FROM t GROUP BY k",
    "ranks with frames": "SELECT id, rank() OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a,"
    " lag(id) OVER (ORDER BY id ROWS 3 PRECEDING) AS b,"
    " sum(n) OVER (ORDER BY id RANGE BETWEEN 2::bigint PRECEDING AND 1::smallint FOLLOWING) AS c FROM t",
    "rows counted": "SELECT a.k, count(b.*) AS c, count(a.*) AS d FROM t AS a LEFT JOIN t AS b ON b.id = a.id + 1"
    " GROUP BY a.k",
    "ordered": "SELECT id, n FROM t ORDER BY n USING >, id USING <",
    "alias of a join": "SELECT j.a, j.f FROM ((SELECT id, n FROM t) AS a JOIN (SELECT id AS e, k FROM t) AS b"
    " ON a.id = b.e) AS j (a, d, e, f) WHERE j.d > 1",
    "some names": "SELECT j.key, j.n FROM (SELECT id, n FROM t) AS j (key)",
}


def rows_of(many: int, random: Random) -> list[Values]:
    """Rows with NULLs and duplicates, of which some take back earlier ones; the weight is last."""

    def maybe(value: object) -> object:
        return None if random.random() < 0.1 else value

    made, there = list[Values](), list[Values]()
    while len(made) < many:
        if there and random.random() < 0.2:
            made.append((*there.pop(random.randrange(len(there))), -1))
            continue
        double = random.choice([random.uniform(-9, 9), random.randint(-40, 40) / 8, random.uniform(-1, 1) * 10**9])
        exact = Decimal(random.randint(-(10**6), 10**6)) / 100
        text = random.choice(TEXTS) + random.choice(["", "", random.choice(TEXTS)])
        row = (random.randint(1, 3), len(made), maybe(random.randint(1, 4)), maybe(double), maybe(exact), maybe(text))
        there.append(row)
        made.append((*row, 1))
    return made


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with servers.postgres_by_bytes() as address:
        yield address


def test_answers_are_those_of_postgres(postgres: str, spark: SparkSession) -> None:
    compare(postgres, spark, TYPES, rows_of(HISTORY + BATCH, Random(17)), ASKED, HISTORY, BATCH)
