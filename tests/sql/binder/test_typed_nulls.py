"""NULL that a cast gives a type counts as a value of that type."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, TIMESTAMP, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block

NULL_DOUBLE, NULL_DATE = "CAST(NULL AS DOUBLE PRECISION)", "CAST(NULL AS DATE)"


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
@pytest.mark.parametrize(
    ("sql", "type_"),
    [
        (f"{NULL_DATE} + a", DATE),
        (f"{NULL_DATE} - d", INTEGER),
        (f"d - {NULL_DATE}", INTEGER),
        (f"a + {NULL_DOUBLE}", DOUBLE),
        (f"ABS({NULL_DOUBLE})", DOUBLE),
        ("NULL + a", INTEGER),
        (f"CASE WHEN p THEN {NULL_DOUBLE} ELSE 7 END", DOUBLE),
        (f"CASE WHEN p THEN {NULL_DOUBLE} ELSE 7 END / 2", DOUBLE),
        (f"COALESCE({NULL_DOUBLE}, a)", DOUBLE),
        ("COALESCE(m, CAST(NULL AS DECIMAL(20,4)))", decimal(20, 4)),
        ("COALESCE(CAST(NULL AS TIMESTAMP), d)", TIMESTAMP),
        (f"COALESCE(NULL, {NULL_DATE})", DATE),
    ],
)
def test_a_typed_null_counts(sql: str, type_: DataType, dialect: str) -> None:
    query = bind(f"SELECT {sql} AS v FROM T", dialect, SCHEMA).query
    assert isinstance(query, Block)
    assert query.outputs[0].expression.type == type_


@pytest.mark.parametrize(
    "argument",
    [
        "CAST((DATE '2024-03-01' + INTERVAL '1' MONTH) AS DATE)",
        "EXTRACT(year FROM DATE '2024-01-01') + 1",
        "TRIM(BOTH 'a' FROM 'aba')",
    ],
)
@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_the_words_of_a_constant_argument_name_nothing(argument: str, dialect: str) -> None:
    assert bind(f"SELECT MAX({argument}) AS v FROM T", dialect, SCHEMA).query is not None
