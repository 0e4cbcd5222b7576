"""Syntax errors: message, marked text and hint."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError, WorkbenchError
from workbench.sql.binder.pipeline import bind
from workbench.sql.syntax.parse import parse
from workbench.sql.syntax.source_text import SourceText


@pytest.mark.parametrize(
    ("sql", "message", "marked", "hint"),
    [
        ("select a\nform T\nwhere a > 1", "unexpected form", "form", "did you mean FROM?"),
        ("selec a from T", "unexpected selec", "selec", "did you mean SELECT?"),
        ("select a b c from T", "unexpected c", "c", "is a comma missing before c?"),
        (
            "select map('a', a, 'b') from T",
            "this MAP(…) cannot be read",
            "map('a', a, 'b')",
            "something may be missing in the parentheses, or be one too many",
        ),
        ("select a from T x were a > 1", "unexpected were", "were", "did you mean WHERE?"),
        ("select a from T group a", "unexpected group", "group", "did you mean GROUP BY?"),
        ("select a from T where", "the text ends after where", "where", "go on after where, or leave it out"),
        ("select a from T where a > 1 and ;", "the text ends after and", "and", "go on after and, or leave it out"),
        ("select a from T where a = = 1", "unexpected =", "=", "= stands twice: leave one out"),
        ("select a from T where (a > 1", "a parenthesis is not closed", "(", "write ) where it ends"),
        ("select sum(a from T", "a parenthesis is not closed", "(", "write ) where it ends"),
        ("select a from T where a > 1)", "unexpected )", ")", "it closes nothing: leave it out, or one before it"),
        ("select top 10 a from T", "unexpected 10", "10", "leave TOP out, and write LIMIT 10 at the end"),
        (
            "select a from T where a > 1.000,50",
            "unexpected 50",
            "50",
            "a number has a point before its fraction and nothing between thousands: 1000.50",
        ),
        ("select a from T where d > d - 7 days", "unexpected days", "days", "write INTERVAL '7' DAY"),
        (
            "x as select a from T",
            "unexpected select",
            "select",
            "%%argus x names a query, and CREATE VIEW x AS SELECT … a view",
        ),
        ("select a from T where a => 1", "unexpected =>", "=>", "write >= for at least"),
        ("select a from T where a between 1 , 2", "unexpected ,", ",", "write AND between the two: BETWEEN 1 AND 2"),
        (
            "select a from T where s like *a*",
            "unexpected a",
            "a",
            "a pattern is a text, in which % stands for anything: LIKE '%a%'",
        ),
        ("select a from T order a", "unexpected order", "order", "did you mean ORDER BY?"),
        ("select sum(a b) from T", "expected )", "b", "a comma or a sign is missing between a and b"),
        ("select cast(a int) from T", "expected AS after CAST", "int", "write AS before int"),
        (
            "select a, from T",
            "nothing stands between , and from",
            ",",
            "leave the comma out, or write what belongs before from",
        ),
        ("select a from T join U on", "the text ends after on", "on", "go on after on, or leave it out"),
        ("select a from T join U on where a > 1", "nothing stands between on and where", "on", None),
        (
            "with x as select 1 select a from x",
            "unexpected select",
            "select",
            "a query stands in parentheses: as (SELECT …)",
        ),
        ("select a as from T", "unexpected T", "T", "a name is missing between as and from"),
        ("select case when a > 1 then 2 from T", "expected END after CASE", "2", "write END after 2"),
        (
            "select a from T where a in (1, 2,)",
            "nothing stands between , and )",
            ",",
            "leave the comma out, or write what belongs before )",
        ),
    ],
)
def test_what_is_wrong_where_and_what_was_meant(sql: str, message: str, marked: str, hint: str | None) -> None:
    with pytest.raises(SqlError) as caught:
        bind(sql, "spark", SCHEMA)
    error = caught.value
    assert error.message == f"syntax error: {message}"
    assert error.position is not None
    assert sql[error.position : error.position + error.length] == marked
    assert error.hint == hint


@pytest.mark.parametrize(
    ("sql", "dialect", "hint"),
    [
        ("select a from T where a > 5€", "spark", "a number has no sign of a currency: write 5"),
        ("select a from T where a > €5", "spark", "a number has no sign of a currency: write 5"),
        ("select a from T where a > $5", "spark", "a number has no sign of a currency: write 5"),
        ("select unique a from T", "spark", "write DISTINCT"),
        ("select a from T where a > %s", "spark",
         "in Python write the value into the text, f'… > {value}'; in a cell :name is that of a variable"),
        ("select a from T union T", "spark", "UNION stands between two queries: UNION SELECT * FROM T"),
        ("select a from T where exists (T where a > 1)", "spark",
         "a query stands in its parentheses: EXISTS (SELECT 1 FROM T WHERE …)"),
        ("select max(a, b) from T", "spark",
         "the largest of a row is GREATEST(a, b); MAX_BY(x, t) is the x where t is the greatest"),
        ("select nvl(a) from T", "oracle", "NVL(x, 0) is 0 where x is NULL"),
        ("select a from T limit 3 order by a", "spark", "move ORDER BY … before LIMIT"),
        ("select a from T order by a where a > 1", "duckdb", "move WHERE … before ORDER BY"),
        ("select a from T group by a where a > 1", "spark", "HAVING is the condition of groups"),
        ("select case when a > 1 2 else 3 end from T", "spark", "as in CASE WHEN a > 3 THEN 1 ELSE 0 END"),
        ("select T.a from T outer join U on T.a = U.a", "spark",
         "LEFT, RIGHT or FULL says of which side rows are kept: LEFT OUTER JOIN"),
        ("select T.a from T left U on T.a = U.a", "spark", "write LEFT JOIN"),
        ("select top(5) * from T", "spark", "leave top out, and write LIMIT 5 at the end"),
        ("select convert(int, a) from T", "spark", "write CAST(a AS int)"),
        ("select sum(a) over (group by b) from T", "spark", "write PARTITION BY"),
        ("select a from T where a > 1 and and b > 2", "spark", "and stands twice: leave one out"),
        ("select * from", "spark", "name a stream, table or query after FROM"),
        ("selct a from T", "spark", "did you mean SELECT?"),
        ("select `a` from T", "postgres",
         'names stand in double quotes in this dialect: "name"; in backticks in spark and bigquery'),
        ("select a from T where 'a' > 3", "spark", "'a' is a text; a without quotes is a number or a column"),
        ("select * from read_csv('x.csv')", "duckdb",
         "a file is read as a stream or table first, as in %argus stream NAME FILE"),
        ("select s.upper() from T", "spark", "a function stands before its value: UPPER(s)"),
        ("select a from T group by a, sum(a)", "spark", "leave it out of GROUP BY"),
        ("select a from T where s = 'a' || a > 3", "spark", "OR is between conditions"),
        ("select * from x with x as (select a from T)", "spark", "WITH stands before SELECT"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_other_languages_write_is_said_in_this_one(sql: str, dialect: str, hint: str) -> None:
    with pytest.raises(WorkbenchError) as caught:
        bind(sql, dialect, SCHEMA)
    assert (caught.value.hint or "").lower() == hint.lower()
    assert caught.value.position is not None


@pytest.mark.parametrize(
    "sql",
    [
        "select a as limit from T order by limit",
        "select T.a, row_number() over (partition by a order by b) as n from T where a > 1 group by a, b order by n",
        "(select a from T order by a limit 3) union all select a from T where a > 1",
        "select case when a > 1 then case when b > 1 then 1 else 2 end end as end from T",
        "select a from (select a from T limit 3) where a > 1 order by a limit 2",
        "select case when case when a > 1 then a > 2 end then 3 else 4 end from T",
        "select case when case a when 1 then 2 else 3 end > 2 then case when a > 1 then 3 end end from T",
        "select case when (case when a > 1 then 1 end) > 0 then 1 end from T",
        "select case a when case when a > 1 then 2 end then 3 end from T",
    ],
)
def test_clauses_in_their_order_are_read(sql: str) -> None:
    assert len(parse(SourceText(sql, "spark"))) == 1


def test_a_quote_that_nothing_closes_is_marked() -> None:
    with pytest.raises(SqlError) as caught:
        bind("select a from T where s = 'O'Neil'", "spark", SCHEMA)
    assert caught.value.position == 33


def test_a_comma_may_end_a_list_where_the_dialect_says_so() -> None:
    assert len(parse(SourceText("select a, from T", "duckdb"))) == 1


@pytest.mark.parametrize("sql", ["select 'a, from' from T", "select a /* , */ from T", "select a from T -- on"])
def test_commas_in_texts_and_comments_are_none(sql: str) -> None:
    assert len(parse(SourceText(sql, "spark"))) == 1


TEXTS = (
    "select a , b from T where a > 3 group by a , b having count ( * ) > 1 order by a limit 5",
    "with x as ( select a from T ) select case when a > 3 then 1 else 2 end as c from x",
    "select T.a from T join T u on T.a = u.a where T.a in ( 1 , 2 ) and T.a between 1 and 2",
    "select a as n , sum ( a ) over ( partition by b order by a ) as s from T",
)


def with_a_slip(words: list[str]) -> Iterator[str]:
    """A text with one word left out, written twice, in the place of its neighbour, or the last one."""
    for at in range(len(words)):
        yield " ".join(words[:at] + words[at + 1 :])
        yield " ".join([*words[:at], words[at], *words[at:]])
        yield " ".join(words[:at] + words[at : at + 2][::-1] + words[at + 2 :])
        yield " ".join(words[: at + 1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_after_any_slip_one_reads_where_and_what_to_try(text: str, dialect: str) -> None:
    for slipped in with_a_slip(text.split()):
        try:
            bind(slipped, dialect, SCHEMA)
        except WorkbenchError as error:
            assert error.hint and "^" in str(error), f"{slipped}: {error}"


def test_what_sqlglot_takes_for_a_command_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(WorkbenchError):
        parse(SourceText("OPTIMIZE t"))
    assert not caplog.records and logging.getLogger("sqlglot").level == logging.NOTSET
