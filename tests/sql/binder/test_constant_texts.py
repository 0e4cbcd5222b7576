"""Constant texts beside values of other types: what spark reads them as, and what is refused."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.expressions import text
from workbench.sql.algebra.types import BINARY, BOOLEAN, DATE, DOUBLE, INTEGER, STRING, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, SetQuery, output_columns
from workbench.sql.schema import Schema

COLUMNS = {"i": INTEGER, "m": decimal(20, 2), "x": DOUBLE, "p": BOOLEAN, "b": BINARY, "d": DATE, "s": STRING}
SCHEMA = Schema({"t": tuple(COLUMNS.items())})
VALUES = {"i": "'7'", "m": "'1.5'", "x": "' -2.5e1 '", "p": "'Yes'", "b": "'abc'"}
"""A column, and a text that is a value of its type."""
WRONG = {
    "i": ("'1.5'", "'a'", "''", "'9223372036854775808'"),
    "m": ("'1,5'", "'1e999'"),
    "x": ("'one'",),
    "p": ("'2'",),
}
FORMS = {
    "=": "{a} = {b}",
    "<=>": "{b} <=> {a}",
    "<": "{b} < {a}",
    "between": "{a} BETWEEN {b} AND {b}",
    "in": "{a} IN ({a}, {b})",
    "in of texts": "{b} IN ({a})",
    "case": "CASE WHEN i > 1 THEN {a} ELSE {b} END",
    "coalesce": "COALESCE({a}, {b})",
    "if": "IF(i > 1, {b}, {a})",
    "nullif": "NULLIF({a}, {b})",
}


def expression(written: str) -> str:
    query = bind(f"SELECT {written} AS v FROM t", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return text(query.outputs[0].expression)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", VALUES)
def test_a_text_that_is_a_value_is_read_and_a_text_that_is_none_is_refused(form: str, column: str) -> None:
    expression(FORMS[form].format(a=column, b=VALUES[column]))
    for wrong in WRONG.get(column, ()):
        with pytest.raises(SqlError):
            expression(FORMS[form].format(a=column, b=wrong))


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_texts_beside_a_number_is_refused(form: str) -> None:
    with pytest.raises(SqlError):
        expression(FORMS[form].format(a="i", b="s"))


@pytest.mark.parametrize("dialect", ["hive", "duckdb", "postgres", "oracle"])
@pytest.mark.parametrize("written", ["CASE WHEN i > 1 THEN i ELSE '7' END", "m IN ('1.5', '2')", "p = '2'", "i + '1'"])
def test_other_dialects_read_them_otherwise(written: str, dialect: str) -> None:
    with pytest.raises(SqlError):
        bind(f"SELECT {written} AS v FROM t", dialect, SCHEMA)


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("i + '2'", "i + 2"), ("'2' * i", "2 * i"), ("x - '2.5'", "x - 2.5e0"),
        ("m % '2'", "CAST(m AS DOUBLE) % 2e0"),
        ("i / '2'", "i / 2"), ("'1' + '2'", "1e0 + 2e0"), ("-'3'", "-3e0"),
        ("ABS('3')", "ABS(3e0)"), ("SQRT('4')", "SQRT(4e0)"),
        ("PMOD(i, '3')", "PMOD(i, 3)"), ("i & '3'", "i & 3"), ("DATE_ADD(d, '3')", "d + 3"),
        ("DATE_SUB(d, '3')", "DATE_SUB(d, 3)"),
        ("i LIKE '1%'", "CAST(i AS STRING) LIKE '1%'"), ("d LIKE '19%'", "CAST(d AS STRING) LIKE '19%'"),
        ("m > '0.123'", "m > 0.123e0"), ("GREATEST(i, '3')", "GREATEST(i, 3)"),
    ],
)  # fmt: skip
def test_it_means_the_value(written: str, same: str) -> None:
    assert expression(written) == expression(same)


@pytest.mark.parametrize("written", ["d + '1'", "ARRAY_CONTAINS(ARRAY(i), '1')", "d > '1'"])
def test_what_spark_refuses_stays_refused(written: str) -> None:
    with pytest.raises(SqlError):
        expression(written)


def test_columns_of_set_operators_have_the_type_of_the_others() -> None:
    query = bind("SELECT i FROM t UNION SELECT '4' UNION SELECT NULL", "spark", SCHEMA).query
    assert isinstance(query, SetQuery) and query.types == (INTEGER,)
    assert [type_ for branch in query.branches for _, type_ in output_columns(branch)] == [INTEGER] * 3
    with pytest.raises(SqlError, match="no common type"):
        bind("SELECT i FROM t UNION SELECT 'four'", "spark", SCHEMA)
    with pytest.raises(SqlError, match="no common type"):
        bind("SELECT i FROM t UNION SELECT s FROM t", "spark", SCHEMA)
