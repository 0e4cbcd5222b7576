"""Syntax errors: message, marked text and hint."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind
from workbench.sql.syntax.parse import parse
from workbench.sql.syntax.source_text import SourceText


@pytest.mark.parametrize(
    ("sql", "message", "marked", "hint"),
    [
        ("select a\nform T\nwhere a > 1", "unexpected T", "T", "did you mean FROM?"),
        ("selec a from T", "unexpected selec", "selec", "did you mean SELECT?"),
        ("select a b c from T", "unexpected c", "c", "is a comma missing before c?"),
        (
            "select map('a', a, 'b') from T",
            "this MAP(…) cannot be read",
            "map('a', a, 'b')",
            "something may be missing in the parentheses, or be one too many",
        ),
        ("select a from T x were a > 1", "unexpected were", "were", "did you mean WHERE?"),
        ("select a from T group a", "unexpected a", "a", "did you mean GROUP BY?"),
        ("select a from T where", "the text ends after where", "where", "go on after where, or leave it out"),
        ("select a from T where a > 1 and ;", "the text ends after and", "and", "go on after and, or leave it out"),
        ("select a from T where a = = 1", "unexpected =", "=", None),
        ("select a from T where (a > 1", "a parenthesis is not closed", "(", "write ) where it ends"),
        ("select sum(a from T", "a parenthesis is not closed", "(", "write ) where it ends"),
        ("select a from T where a > 1)", "unexpected )", ")", None),
        ("select sum(a b) from T", "expected )", "b", None),
        ("select cast(a int) from T", "expected AS after CAST", "int", None),
        ("select a, from T", "nothing stands between , and from", ",", None),
        ("select a from T join U on", "the text ends after on", "on", "go on after on, or leave it out"),
        ("select a from T join U on where a > 1", "nothing stands between on and where", "on", None),
        ("select a from T where a in (1, 2,)", "nothing stands between , and )", ",", None),
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


def test_a_comma_may_end_a_list_where_the_dialect_says_so() -> None:
    assert len(parse(SourceText("select a, from T", "duckdb"))) == 1


@pytest.mark.parametrize("sql", ["select 'a, from' from T", "select a /* , */ from T", "select a from T -- on"])
def test_commas_in_texts_and_comments_are_none(sql: str) -> None:
    assert len(parse(SourceText(sql, "spark"))) == 1
