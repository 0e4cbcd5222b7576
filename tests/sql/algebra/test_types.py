"""Names of types: every spelling a file, a function or a CAST may use, and what is refused."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.types import (
    BINARY,
    INTEGER,
    INTERVAL,
    array_of,
    decimal,
    parse_expression_type,
    parse_type,
    struct_of,
)
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("double", "double"),
        ("Double  Precision", "double"),
        ("Decimal(15, 2)", "decimal(15,2)"),
        (" number ( 15 ) ", "decimal(15,0)"),
        ("NUMBER", "decimal(38,0)"),
        ("numeric(38,38)", "decimal(38,38)"),
        ("bigint", "integer"),
        ("LONG", "integer"),
        ("int32", "integer"),
        ("string", "string"),
        ("varchar2(20)", "string"),
        ("char", "string"),
        ("date", "date"),
        ("timestamp", "timestamp"),
        ("timestamp(6)", "timestamp"),
        ("timestamp_ntz", "timestamp"),
        ("boolean", "boolean"),
    ],
)
def test_type_names(name: str, expected: str) -> None:
    assert str(parse_type(name)) == expected


@pytest.mark.parametrize(
    "name", ["number of", "decimal(39,0)", "decimal(2,3)", "decimal(0)", "decimal(", "integer(3)", "array", ""]
)
def test_what_is_no_type(name: str) -> None:
    with pytest.raises(SqlError) as raised:
        parse_type(name)
    assert raised.value.hint


def test_the_hint_names_the_nearest_type() -> None:
    with pytest.raises(SqlError, match="unknown type dobule") as raised:
        parse_type("dobule")
    assert raised.value.hint == "did you mean double?"


@pytest.mark.parametrize(
    ("dialect", "name", "expected"),
    [
        ("spark", "decimal", "decimal(10,0)"),
        ("spark", "decimal(15,2)", "decimal(15,2)"),
        ("oracle", "number", "decimal(38,10)"),
        ("oracle", "varchar2(3)", "string"),
        ("spark", "timestamp_ntz", "timestamp"),
    ],
)
def test_types_of_casts(dialect: str, name: str, expected: str) -> None:
    query = bind(f"select cast(s as {name}) from T", dialect, SCHEMA).query
    assert isinstance(query, Block)
    assert str(query.outputs[0].expression.type) == expected


@pytest.mark.parametrize(
    ("dialect", "name"),
    [("oracle", "char"), ("postgres", "char(3)"), ("spark", "timestamp(3)"), ("spark", "array<int>")],
)
def test_casts_that_are_refused(dialect: str, name: str) -> None:
    with pytest.raises(UnsupportedError, match="the type"):
        bind(f"select cast(s as {name}) from T", dialect, SCHEMA)


def test_the_name_of_a_type_says_all_of_it() -> None:
    odd = struct_of([("a`b,<c>:", array_of(decimal(5, 2))), ("", BINARY), ("a b", struct_of([("x", INTERVAL)]))])
    for type_ in (odd, array_of(odd), struct_of([("x", odd), ("y", INTEGER)])):
        assert parse_expression_type(str(type_)) == type_
    spelled = parse_expression_type(" STRUCT < A int , `B c` : DECIMAL(5, 2) > ")
    assert str(spelled) == "struct<a:integer,`b c`:decimal(5,2)>"
    assert str(parse_expression_type("array<varbinary>")) == "array<binary>"


@pytest.mark.parametrize(
    "text", ["struct<>", "struct<a>", "struct<a:int,A:int>", "array<>", "struct<a:word>", "array<int", "struct<a:int,>"]
)
def test_what_is_no_type_of_parts(text: str) -> None:
    with pytest.raises(SqlError):
        parse_expression_type(text)
