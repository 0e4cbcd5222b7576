"""What other dialects mean differently is refused, and never taken for what Spark or Oracle mean."""

from __future__ import annotations

import re
import time
import warnings

import pytest
from sql.bind_schema import SCHEMA
from sql.fixtures import pairs

from workbench.errors import SqlError, SqlWarning, UnsupportedError
from workbench.sql.algebra.expressions import text
from workbench.sql.binder.pipeline import bind
from workbench.sql.checks import checks_of
from workbench.sql.logical import Block


def bound(expression: str, dialect: str) -> str:
    query = bind(f"SELECT {expression} AS v FROM T", dialect, SCHEMA).query
    assert isinstance(query, Block)
    return text(query.outputs[0].expression)


@pytest.mark.parametrize(
    ("dialect", "reason"),
    [
        ("mysql", "upper and lower case"),
        ("TSQL", "upper and lower case"),
        ("redshift", "blanks at their end"),
        ("exasol", "empty text for NULL"),
        ("sqlite", "types of their own"),
        ("dremio", "not compared"),
    ],
)
def test_dialects_refused_as_a_whole(dialect: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason) as caught:
        bind("SELECT a FROM T", dialect, SCHEMA)
    assert caught.value.hint and "spark or oracle" in caught.value.hint


DIFFERENT = [
    ("trino", "log(x)"),
    ("trino", "greatest(a, b)"),
    ("bigquery", "least(a, b)"),
    ("hive", "least(a, b)"),
    ("trino", "substr(s, 0, 2)"),
    ("presto", "substr(s, -2)"),
    ("trino", "substr(s, a)"),
    ("trino", "m / 3"),
    ("trino", "extract(dow from d)"),
    ("trino", "day_of_week(d)"),
    ("bigquery", "extract(week from d)"),
    ("bigquery", "date_trunc(d, week)"),
    ("trino", "cast(m as int)"),
    ("trino", "cast(round(m, 1) as int)"),
    ("bigquery", "cast(round(m, 1) as int64)"),
    ("postgres", "cast(x as numeric)"),
    ("hive", "trunc(d, 'DD')"),
    ("trino", "cast(s as int)"),
    ("duckdb", "len(list_filter(string_split(s, ','), lambda v: v::int > 1))"),
    ("spark", "size(transform(split(s, ','), v -> conv(v, 16, 10)))"),
    ("trino", "trim(s)"),
    ("trino", "avg(m)"),
    ("trino", "avg(a)"),
    ("postgres", "to_char(d, 'TMMon')"),
    ("trino", "ts + interval '1 day 2 hours'"),
    ("spark", "ts + interval '01:30:00'"),
    ("postgres", "ts + interval '1 moon'"),
    ("duckdb", "ts + interval '1 day 3'"),
    ("spark", "ts + interval '1 day 01:30'"),
    ("oracle", "ts + interval '1 day 01:30'"),
    ("trino", "ts - interval '3 days ago'"),
    ("duckdb", "ts + s::interval"),
    ("spark", "d + interval '1 day 2 hours'"),
    ("trino", "ascii(s)"),
    ("postgres", "s collate \"de_DE\" < 'b'"),
    ("duckdb", "s collate nocase < 'b'"),
    ("postgres", 'max(s collate "en-x-icu")'),
    ("postgres", "(s->'a')::int"),
    ("postgres", "s->>s"),
    ("postgres", "s->>-1"),
    ("postgres", "s::json ? 'a'"),
    ("duckdb", "mad(m)"),
    ("duckdb", "round(x, a)"),
    ("duckdb", "round(x, -1)"),
    ("duckdb", "time_bucket(interval '0 day', ts)"),
    ("postgres", "date_bin('1 day', ts, ts)"),
    ("postgres", "split(s, ',')"),
    ("postgres", "posexplode(array[a])"),
    ("duckdb", "posexplode_outer([a])"),
    ("duckdb", "string_split(s, s)"),
    ("presto", "filter(s, x -> x > 1)"),
    ("postgres", "s::json @> '{}'"),
    ("postgres", "s ?| ARRAY[s]"),
    ("postgres", "s <@ '{}'"),
    ("spark", "json_extract_path_text(s, 'a')"),
    ("spark", "upper(json_extract_scalar(s, '$.a'))"),
    ("spark", "s->>'a'"),
    ("postgres", 's #>> \'{a,"b""}\''),
    ("postgres", "s ->> 'it''s'"),
    ("postgres", "s @> s"),
    ("postgres", "s @> '[{}]'"),
    ("postgres", "s ? s"),
    ("postgres", "s #>> '{0,1,2,3}'"),
    ("duckdb", "s->>'0'"),
    ("duckdb", "jsonb_typeof(s)"),
    ("duckdb", "s @> '{}'"),
    ("duckdb", "jsonb_extract_path_text(s, 'a')"),
    ("postgres", "json_extract_path_text(s)"),
    ("postgres", "jsonb_array_elements(s)"),
    ("duckdb", "s->>'/a'"),
    ("duckdb", "s->>'$.a.*'"),
    ("bigquery", "jsonb_typeof(s)"),
    ("trino", "json_extract_scalar(s, '$.a')"),
]


@pytest.mark.parametrize(("dialect", "expression"), DIFFERENT)
def test_constructs_that_differ_are_refused_with_a_hint(dialect: str, expression: str) -> None:
    with pytest.raises(UnsupportedError, match="is not supported") as caught:
        bound(expression, dialect)
    assert caught.value.hint and caught.value.position is not None


@pytest.mark.parametrize(("dialect", "expression", "expected"), pairs("dialects.sql"))
def test_what_is_the_same_is_read(dialect: str, expression: str, expected: str) -> None:
    assert bound(expression, dialect) == expected


IN_ORDER = [
    "s < 'b'",
    "s between 'a' and 'b'",
    "max(s)",
    "min(s) filter (where a > 1)",
    "max(s) over ()",
    "greatest('a', s)",
    "string_agg(s, ',' order by s)",
    "percentile_disc(0.5) within group (order by s)",
    "row_number() over (order by a, s)",
]


@pytest.mark.parametrize("around", ["{}", "{} OVER ()", "{} OVER (ORDER BY a NULLS FIRST)", "{} FILTER (WHERE a > 1)"])
@pytest.mark.parametrize("aggregate", ["AVG(a)", "AVG(m)", "SKEWNESS(m)", "KURTOSIS(m)"])
@pytest.mark.parametrize("dialect", ["bigquery", "presto", "trino"])
def test_an_aggregate_that_differs_is_refused_whatever_stands_around_it(
    dialect: str, aggregate: str, around: str
) -> None:
    with pytest.raises(UnsupportedError, match=r"AVG of exact numbers|this statistic"):
        bound(around.format(aggregate), dialect)


@pytest.mark.parametrize("expression", IN_ORDER)
def test_the_order_of_texts_in_postgres_is_noted_once(expression: str) -> None:
    with pytest.warns(SqlWarning, match='in the order of their bytes here, as with COLLATE "C"') as warned:
        bind(f"SELECT {expression} AS v, {expression} AS w FROM T ORDER BY 1", "postgres", SCHEMA)
    assert len(warned) == 1
    with_collation = expression.replace("s <", 's collate "C" <').replace("s bet", 's collate "C" bet')
    with_collation = re.sub(r"(\(|by |, )s\b(?!,)", r'\1s collate "C"', with_collation)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SqlWarning)
        bound(with_collation, "postgres")
        bound(expression, "duckdb")


def test_a_timestamp_that_would_be_rounded_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="TIMESTAMP"):
        bound("cast('2002-01-01 00:00:00.25' as timestamp(1))", "trino")


def test_the_empty_text_is_null_in_oracle_alone() -> None:
    for dialect, where in (("oracle", "false"), ("spark", "s = ''")):
        query = bind("SELECT s FROM T WHERE s = ''", dialect, SCHEMA).query
        assert isinstance(query, Block) and str(query.where) == where


def test_variance_of_one_value_is_zero_under_its_short_name_in_oracle() -> None:
    assert bound("variance(a)", "oracle").startswith("case((count_a_c9a23f1d = 1), 0.0d, variance_samp(")
    assert bound("stddev(x)", "oracle").startswith("case((count_x_9ff24305 = 1), 0.0d, stddev_samp_x")
    for same in (bound("var_samp(a)", "oracle"), bound("variance(a)", "spark")):
        assert same.startswith("variance_samp(")


@pytest.mark.parametrize(
    "expression",
    [
        "trunc(d, 'DAY')", "trunc(d, 'W')", "cast(ts as date)", "add_months(ts, 1)", "last_day(ts)", "to_char(m)",
        "s || x", "s || d", "cast(d as varchar2(20))", "cast(s as date)", "to_date(s)", "log(x)",
        "to_date(s, 'RR-MM-DD')", "to_timestamp(s, 'YYYY-MM-DD HH24:MI:SS.FF')", "extract(second from ts)",
    ],
)  # fmt: skip
def test_refused_in_oracle(expression: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        bound(expression, "oracle")
    assert caught.value.hint and caught.value.position is not None


@pytest.mark.parametrize(
    "expression",
    [
        "trunc(d, 'DAY')", "trunc(d, 'DD')", "trunc(ts, 'HOUR')", "date_format(ts, 'YYYY')",
        "to_date(s, 'Q yyyy')",
    ],
)  # fmt: skip
def test_refused_in_spark(expression: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        bound(expression, "spark")
    assert caught.value.hint and caught.value.position is not None


def test_a_timestamp_moved_by_months_keeps_its_time_of_day() -> None:
    for dialect, interval in (("spark", "interval 1 year"), ("oracle", "interval '1' year")):
        query = bind(f"SELECT ts + {interval} v, d + {interval} w FROM T", dialect, SCHEMA).query
        assert isinstance(query, Block)
        assert [str(o.type) for o in query.outputs] == ["timestamp", "date"]


def test_a_doubled_quote_is_a_quote() -> None:
    for dialect in ("spark", "databricks", "oracle", "postgres"):
        assert bound("'it''s'", dialect) == "'it''s'"
    assert bound('"a""b" || s', "spark") == "('a\"b' || s)"
    assert bound("'a' 'b'", "spark") == "'ab'"


@pytest.mark.parametrize(
    ("sql", "checks"),
    [
        ("SELECT SUM(m / b) OVER (PARTITION BY a) AS v FROM T", 1),
        ("SELECT RANK() OVER (ORDER BY m / b) AS v FROM T", 1),
        ("SELECT a FROM T QUALIFY ROW_NUMBER() OVER (PARTITION BY m / b ORDER BY a) = 1", 1),
        ("SELECT RANK() OVER (ORDER BY AVG(m)) AS v FROM T GROUP BY b", 1),
        ("SELECT AVG(m) OVER (PARTITION BY m / b ORDER BY a) AS v FROM T", 2),
        ("SELECT a FROM T", 0),
    ],
)
def test_quotients_of_postgres_are_checked_also_in_over(sql: str, checks: int) -> None:
    query = bind(sql, "postgres", SCHEMA).query
    assert query is not None
    assert len(checks_of(query)) == checks


@pytest.mark.parametrize("sql", ["COUNT(1, b)", "COUNT(b, 1)", "COUNT(b)"])
def test_a_constant_is_never_null(sql: str) -> None:
    def statistics(expression: str) -> object:
        query = bind(f"SELECT {expression} AS v FROM T", "spark", SCHEMA).query
        assert isinstance(query, Block) and query.grouping is not None
        return query.grouping.statistics

    assert statistics(sql) == statistics("COUNT(b)") != statistics("COUNT(1)") == statistics("COUNT(*)")


def test_a_struct_of_many_fields_is_read_in_no_time() -> None:
    fields = ", ".join(f"'f{place}', a" for place in range(1_000))
    began = time.process_time()
    bound(f"NAMED_STRUCT({fields})", "spark")
    assert time.process_time() - began < 10  # tried one by one they took more than 20


@pytest.mark.parametrize("expression", ["m / a / b", "avg(m / a)", "avg(m / a) over ()", "sum(m) / avg(a)"])
def test_quotients_of_quotients_are_refused_in_postgres(expression: str) -> None:
    with pytest.raises(SqlError, match="a quotient of quotients"):
        bound(expression, "postgres")


@pytest.mark.parametrize(
    ("expression", "dialect", "value"),
    [
        ("EXTRACT(year FROM DATE '2020-01-02')", "spark", "year(date '2020-01-02')"),
        ("EXTRACT(MONTH FROM DATE '2020-01-02')", "postgres", "cast(month(date '2020-01-02') as decimal(10,0))"),
        ("OVERLAY('abc' PLACING 'x' FROM 1 FOR 1)", "spark", "overlay('abc', 'x', 1, 1)"),
        ("DATE_PART('year', DATE '2020-01-02')", "postgres", "cast(year(date '2020-01-02') as double)"),
        ("DECODE(a, 1, 1, 1)", "oracle", "case((a <=> 1), 1, 1)"),
    ],
)
def test_arguments_of_constants_alone_are_read(expression: str, dialect: str, value: str) -> None:
    assert bound(expression, dialect) == value


def test_a_path_behind_a_colon_is_no_alias() -> None:
    with pytest.raises(UnsupportedError, match="a colon behind a value") as raised:
        bind("SELECT s:a FROM T", "spark", SCHEMA)
    assert "GET_JSON_OBJECT" in (raised.value.hint or "")
