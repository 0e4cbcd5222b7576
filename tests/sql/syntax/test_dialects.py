"""Tokens: places, heads of loops, functions called window, and quotes or comments that never end."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot.tokenizer_core import TokenType

from workbench.errors import SqlError
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.dialects import EXAMINED, tokenize


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
def test_two_hyphens_count_down_in_the_head_of_a_loop_and_begin_a_comment_elsewhere(dialect: str) -> None:
    sql = "select a from P\nfor (t = 9; t > 1; t--) { WindowIs(P, 1, t) -- it's\n}"
    tokens = tokenize(sql, dialect)
    assert [sql[token.start : token.end + 1] for token in tokens[-14:]] == [
        "t", "-", "-", ")", "{", "WindowIs", "(", "P", ",", "1", ",", "t", ")", "}"
    ]  # fmt: skip
    assert tokens[-1].line == 3


def test_for_inside_of_a_function_begins_no_loop() -> None:
    assert tokenize("select substring(s from 1 for (2)) from T -- it's", "spark")[-1].text == "T"


def test_window_is_a_function_before_a_parenthesis_alone() -> None:
    kinds = [t.token_type for t in tokenize("window (d), window, 'window('", "spark") if "window" in t.text]
    assert kinds == [TokenType.VAR, TokenType.WINDOW, TokenType.STRING]


@pytest.mark.parametrize("dialect", sorted(EXAMINED))
@pytest.mark.parametrize(
    ("sql", "unclosed"),
    [
        ("select 'abc", "'abc"),
        ("select 'a', 'b from t", "'b from t"),
        ("select /* a", "/* a"),
        ("select '/*', /* a", "/* a"),
    ],
)
def test_a_quote_or_comment_that_never_ends_is_pointed_at(dialect: str, sql: str, unclosed: str) -> None:
    with pytest.raises(SqlError, match="a quote or comment is not closed") as caught:
        tokenize(sql, dialect)
    assert caught.value.position is not None and sql[caught.value.position :] == unclosed


def test_the_page_says_the_tier_of_each_dialect() -> None:
    lines = (Path(__file__).parents[3] / "docs" / "reference" / "sql.md").read_text().splitlines()
    (exact,), (others,) = (
        [line for line in lines if line.startswith(f"| {tier} |")] for tier in ("exact", "the same or refused")
    )
    for name, record in DIALECTS.items():
        cell = (exact if record.exact else others).split("|")[2]
        assert f"`{name}`" in cell, name
