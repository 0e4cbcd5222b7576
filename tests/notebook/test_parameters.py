"""Placeholders in SQL: text and typed literals."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import sqlglot

from workbench.errors import MagicError
from workbench.notebook.parameters import fill_placeholders, sql_literal


@pytest.mark.parametrize(
    ("value", "dialect", "expected"),
    [
        (5, "spark", "5"),
        (-5, "oracle", "-5"),
        (True, "spark", "TRUE"),
        (None, "oracle", "NULL"),
        (0.5, "spark", "0.5"),
        (1e-7, "oracle", "0.0000001"),
        (1e22, "oracle", "10000000000000000000000"),
        (Decimal("10.50"), "oracle", "10.50"),
        (Decimal("1E+3"), "oracle", "1000"),
        ("it's", "oracle", "'it''s'"),
        ("", "oracle", "''"),
        (dt.date(2002, 11, 27), "oracle", "TO_DATE('2002-11-27', 'YYYY-MM-DD')"),
        (dt.date(2002, 11, 27), "spark", "CAST('2002-11-27' AS DATE)"),
        (dt.datetime(2002, 11, 27, 1, 2, 3), "oracle", "CAST('2002-11-27 01:02:03.000000' AS TIMESTAMP)"),
        (np.int64(7), "spark", "7"),
        (np.float64(0.25), "spark", "0.25"),
        (pd.Timestamp("2002-11-27"), "spark", "CAST('2002-11-27 00:00:00.000000' AS TIMESTAMP)"),
    ],
)
def test_literals(value, dialect, expected):
    assert sql_literal(value, dialect) == expected


@pytest.mark.parametrize("dialect", ["oracle", "spark", "postgres", "mysql", "duckdb"])
@pytest.mark.parametrize("value", ["it's", "a\\", "\\'; DROP", 'x"y', "--", "line\nend", "{{x}} :y", "\\n"])
def test_text_comes_back_as_it_was_whatever_is_in_it(value, dialect):
    parsed = sqlglot.parse_one(f"SELECT {sql_literal(value, dialect)}", dialect=dialect).expressions[0]
    assert parsed.is_string and parsed.this == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), [1, 2], object(), pd.NaT])
def test_values_without_a_literal_are_refused(value):
    with pytest.raises(MagicError):
        sql_literal(value, "spark")


def test_a_time_with_a_zone_is_an_instant():
    time = dt.datetime(2002, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert sql_literal(time, "spark") == "CAST('2001-12-31 22:00:00.000000+00:00' AS TIMESTAMP WITH TIME ZONE)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a > :n", "a > 5"),
        ("a>:n AND b<:n", "a>5 AND b<5"),
        ("(:n)", "(5)"),
        ("c = ':n' AND a = :n", "c = ':n' AND a = 5"),
        ("c = 'it''s :n'", "c = 'it''s :n'"),
        ('"a:n" = :n', '"a:n" = 5'),
        ("a -- :n {{n}}\n= :n", "a -- :n {{n}}\n= 5"),
        ("/* :n\n{{n}} */ :n", "/* :n\n{{n}} */ 5"),
        ("a::n", "a::n"),
        ("path:n", "path:n"),
        ("FROM {{t}} x", "FROM fed x"),
        ("FROM {{ t }} x", "FROM fed x"),
        ("city = '{{t}}'", "city = 'fed'"),
        ("{{where}}", "a = 5"),
        ("s = :s", "s = 'a :n {{t}} '"),
    ],
)
def test_placeholders(sql, expected):
    variables = {"n": 5, "t": "fed", "where": "a = :n", "s": "a :n {{t}} "}
    assert fill_placeholders(sql, variables, "oracle") == expected


@pytest.mark.parametrize("sql", ["SELECT 1\nWHERE a > :amuont", "SELECT 1\nWHERE a > {{amuont}}"])
def test_an_unknown_name_is_shown_where_it_is(sql):
    with pytest.raises(MagicError) as caught:
        fill_placeholders(sql, {"amount": 5, "_amuont": 6}, "oracle")
    assert caught.value.position == sql.index("amuont") - (2 if "{{" in sql else 1)
    assert caught.value.hint == "did you mean amount?"
    assert "^" in str(caught.value)


def test_a_value_without_literal_is_shown_where_it_is():
    with pytest.raises(MagicError) as caught:
        fill_placeholders("a > :n", {"n": [1]}, "oracle")
    assert caught.value.position == 4 and "list" in caught.value.message
