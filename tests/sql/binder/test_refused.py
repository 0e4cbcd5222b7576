"""What is refused, with its message and place, and that nothing else is said than where and what."""

from __future__ import annotations

import re
import warnings

import pytest
from sql.bind_schema import SCHEMA
from sql.fixtures import pairs

from workbench.errors import SqlError, SqlWarning
from workbench.sql.algebra.types import DOUBLE, INTEGER, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema


@pytest.mark.parametrize(("dialect", "sql", "expected"), pairs("refused.sql"))
def test_refused_with_message_and_caret(dialect: str, sql: str, expected: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, dialect, SCHEMA)
    shown = [line for line in str(caught.value).split("\n") if not line.startswith("hint:")]
    assert "\n".join([shown[0], *(line[2:] for line in shown[1:])]) == expected


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("select zz from (select a as amount from T) q", "there are amount"),
        ("select amuont from (select a as amount from T) q", "did you mean amount?"),
        ("select a from T, U", "write T.a or U.a"),
        ("select zipdistanse(s, s) from T", "did you mean zipdistance?"),
        ("select a from T where a = '1,000'", "write 1.000 or 1000, without quotes"),
        ("select a from T where a = '1.5'", "write 1.5, without quotes"),
        ("select a from T where a in ('1.5')", "write 1.5, without quotes"),
        ("select a from T where s = AA", "if it is a text, write 'AA'"),
        ("select a from T where s in ('b', AA)", "if it is a text, write 'AA'"),
        (
            "select a from T where ts > '2013-13-01'",
            "there is no month 13: dates are year-month-day",
        ),
        (
            "select abs(a) filter (where a > 1) from T",
            "as in COUNT(*) FILTER (WHERE …)",
        ),
        ("select 1 from T where s = 5", "write '5' in quotes"),
        ("select a from T where d > 20021120", "write DATE '2002-11-20'"),
        ("select a from T where d > a", "no integer converts to a date"),
        ("select date '2002-13-01' from T", "there is no month 13: dates are year-month-day"),
        ("select a from T sort by a", "write ORDER BY"),
        ("select distinct a from T order by b", "select it as well"),
        ("select a, b a from T order by a", "give one of them another name"),
        ("select a from T limit a + 1", "as in LIMIT 10"),
        ("select a from T fetch first 3 rows with ties", "say by what rows are equal"),
        ("select a from T where sum(a) over () > 1", "a condition on it stands in QUALIFY, at the end"),
        ("select sum(a) over (order by a, b range 2 preceding) from T", "order by one of them alone"),
        ("select lag(sum(a) over ()) over (order by b) from T", "compute the inner one in a subquery"),
        (
            "select a from T where a in (select rank() over (order by count(*)) from U where U.k < T.a)",
            "leave OVER out: there is one row",
        ),
        (
            "select row_number() over (order by a) in (select k from U) from T",
            "let a subquery in FROM select it",
        ),
        (
            "select T.a from T asof join U on T.a = U.a",
            "write ON t.k = u.k AND t.ts >= u.ts, with the names of both tables",
        ),
        (
            "select T.a from T asof join U on b > k",
            "write ON t.k = u.k AND t.ts >= u.ts, with the names of both tables",
        ),
        ("values (1, 2), (3)", "select as many columns in each"),
        ("select *", "name a stream"),
        ("values " + ", ".join(f"({i})" for i in range(101)), "add_table adds a table of your own"),
        (
            "select trunc(m) from T",
            "TRUNC takes a date and a unit, as in TRUNC(d, 'MM'); of numbers there are FLOOR and CEIL",
        ),
        (
            "select first(s) from (select distinct s from T) v",
            "write the order inside, FIRST(x ORDER BY t); only rows of one stream that takes none back arrive in one",
        ),
        ("select sum(a order by b) from T", "its answer depends on no order; leave it out"),
    ],
)
def test_hints(sql: str, hint: str | None) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, "spark", SCHEMA)
    assert caught.value.hint == hint


@pytest.mark.parametrize("dialect", ["spark", "hive", "oracle", "postgres", "duckdb", "bigquery", "trino"])
@pytest.mark.parametrize("constant", ["DATE '2002-13-01'", "TIMESTAMP '2002-02-30 10:00:00'"])
def test_a_constant_that_is_no_date_is_an_error_in_every_dialect(dialect: str, constant: str) -> None:
    sql = f"select {constant} from T"
    with pytest.raises(SqlError, match=r"'2002-.*' is not ") as caught:
        bind(sql, dialect, SCHEMA)
    assert caught.value.position is not None
    assert sql[caught.value.position :].startswith("'2002")


def test_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(SqlError, match="unknown dialect orcle") as caught:
        bind("select 1 from T", "orcle", SCHEMA)
    assert caught.value.hint == "did you mean oracle?"


def test_the_place_in_a_text_of_several_lines_and_statements() -> None:
    sql = "create view v as select a from T;\nselect a,\n  zz\nfrom v"
    with pytest.raises(SqlError) as caught:
        bind(sql, "spark", SCHEMA)
    assert caught.value.position == sql.index("zz") and caught.value.length == 2


def test_two_queries_in_one_text() -> None:
    with pytest.raises(SqlError, match="two queries"):
        bind("select a from T; select b from T", "spark", SCHEMA)


@pytest.mark.parametrize(
    ("dialect", "sql", "message", "marked"),
    [
        ("postgres", "select s @? 'x' from T", "the operator @? is not supported", "s @? 'x'"),
        ("bigquery", 'select b"abc" from T', "a constant of bytes is not supported", 'b"abc"'),
        ("spark", "select nvl2(a, b) from T", "an argument is missing", "nvl2(a, b)"),
        ("spark", "select regexp_replace(s, 'a') from T", "an argument is missing", "regexp_replace(s, 'a')"),
        ("spark", "create temporary view v as select a from T", "TEMPORARY of a view is not supported", "temporary"),
        (
            "spark",
            "create view v (k comment 'x') as select a from T",
            "COMMENT of a view's column is not supported",
            "'x'",
        ),
    ],
)
def test_messages_speak_the_words_of_the_text(dialect: str, sql: str, message: str, marked: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, dialect, SCHEMA)
    assert caught.value.message == message
    assert caught.value.position is not None
    assert marked.startswith(sql[caught.value.position :][: caught.value.length])


@pytest.mark.parametrize("test", ["a = null", "(null) <> a", "a < NULL"])
def test_a_comparison_with_null_is_warned_of(test: str) -> None:
    with pytest.warns(SqlWarning, match="is true for no row"):
        bind(f"select a from T where {test}", "spark", SCHEMA)


@pytest.mark.parametrize(
    ("sql", "joined"),
    [
        ("select x.a from T x join T y", "y"),
        ("select x.a from T x, T y where x.a > 1 and y.a > 1", "y"),
        ("select x.a from T x, T y, T z where x.a = y.a", "z"),
        ("select x.a from T x, T y, T z where x.a = z.a", "y"),
        ("select x.a from T x join T y on x.a = x.a", "y"),
        ("select x.a from T x cross join T y join T z", "z"),
        ("select x.a from T x, T y where x.a in (select u.a from T u cross join T v)", "y"),
    ],
)
def test_a_join_of_all_pairs_is_warned_of(sql: str, joined: str) -> None:
    with pytest.warns(SqlWarning, match=f"no condition joins {joined}") as warned:
        bind(sql, "spark", SCHEMA)
    assert len(warned) == 1 and "CROSS JOIN" in str(warned[0].message)


@pytest.mark.parametrize(
    "sql",
    [
        "select x.a from T x cross join T y",
        "select x.a from T x cross join (select a from T) y",
        "select x.a from T x, T y, T z where x.a = z.a and y.a = z.a",
        "select x.a from T x, T y where x.a = 1 or y.a = 1",
        "select x.a from T x, (select max(a) as m from T) y",
        "select a from T where a in (select x.a from T x, T y where x.a = T.a and y.a = T.a)",
        "select x.a from T x left join T y on x.a = y.a join T z on z.a = y.a",
        "select x.a from T x left join T y on true",
        "select x.a from T x join T y using (a)",
        "select x.a from T x, lateral (select y.a from T y where y.a = x.a) z",
    ],
)
def test_joins_that_are_meant_are_not_warned_of(sql: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SqlWarning)
        bind(sql, "spark", SCHEMA)


def test_what_has_no_stream_needs_one_all_the_same() -> None:
    with pytest.raises(SqlError) as caught:
        bind("select 1", "spark", Schema())
    assert caught.value.message == "there is no stream yet"


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        ("duckdb", "select arg_max(a) from T", "ARG_MAX takes 2 arguments, not 1"),
        ("duckdb", "select min_by() from T", "MIN_BY takes 2 arguments, not 0"),
        ("spark", "select max_by(a) from T", "MAX_BY takes 2 arguments, not 1"),
        ("spark", "select make_interval() from T", "an interval of nothing"),
        (
            "spark",
            "select substr(s) from T",
            r"substr takes 2 to 3 arguments, not 1\n(.*\n)*hint: write substr\(str, pos",
        ),
        ("spark", "select d from T where d in (select a, b from T)", "1 value is compared with 2 columns"),
        ("spark", "select a from T where a > 'x'", "'x' is not an integer|cannot be compared"),
        ("spark", "select max_by(a) from T", r"not 1\n(.*\n)*hint: write max_by\(x, y\)"),
    ],
)
def test_arguments_that_are_missing_are_named(dialect: str, sql: str, message: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, dialect, SCHEMA)
    assert re.search(message, str(caught.value)), str(caught.value)


ODD = Schema(
    {"my rides": (("fare €", DOUBLE), ("started at", TIMESTAMP)), "rides": (("fare €", DOUBLE), ("n", INTEGER))}
)


@pytest.mark.parametrize(
    ("dialect", "sql", "hint"),
    [
        ("spark", "select n from rides where Fare € > 12", "a name that is no plain word stands in quotes: `fare €`"),
        ("oracle", "select n from rides where fare €  > 12", 'a name that is no plain word stands in quotes: "fare €"'),
        ("spark", "select * from my rides t u", "a name that is no plain word stands in quotes: `my rides`"),
        ("spark", "select fare from rides", "did you mean `fare €`?"),
        ("oracle", "select r.fare from rides r", 'did you mean "fare €"?'),
        ("spark", "select m from rides", "there are fare €, n"),
    ],
)
def test_a_name_that_needs_quotes_is_shown_with_them(dialect: str, sql: str, hint: str) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, dialect, ODD)
    assert caught.value.hint == hint
