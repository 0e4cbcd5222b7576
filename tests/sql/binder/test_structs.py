"""What structs and bytes are not: refused by name, with a hint. Their answers are in tests/oracle."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.types import BINARY, DOUBLE, INTEGER, STRING, array_of, struct_of
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

_ITEM = struct_of([("sku", STRING), ("price", DOUBLE)])
SCHEMA = Schema({"T": (("a", INTEGER), ("s", struct_of([("x", INTEGER), ("i", _ITEM)])), ("items", array_of(_ITEM)),
                       ("b", BINARY), ("t", STRING))})  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "sql", "message", "hint"),
    [
        ("spark", "select s.y from T", "the struct has no field y", "it has x, i"),
        ("spark", "select s.i.skw from T", "the struct has no field skw", "did you mean sku?"),
        ("spark", "select T.s.i.sku.z from T", "the value before .z is no struct, but string", None),
        ("spark", "select items.sku from T", "the value before .sku is no struct", "TRANSFORM(x, v -> v.sku)"),
        ("spark", "select z.y from T", "z is not in FROM", "FROM has T"),
        ("bigquery", "select a from T order by s", "structs have no order", "take a field, s.f"),
        ("bigquery", "select s < s from T", "structs have no order", "take a field, s.f"),
        ("bigquery", "select max(s) from T", "MAX of structs, which have no order", "take a field, s.f"),
        ("spark", "select greatest(s, s) from T", "structs have no order", "take a field, s.f"),
        ("spark", "select s = struct(a as x) from T", "cannot be compared with struct<x:integer>", "the same names"),
        ("spark", "select array_contains(items, items[0]) from T", "an element of type struct is not compared", None),
        ("spark", "select cast(s as string) from T", "cannot be cast to string", "s.x is a field"),
        ("spark", "select struct(a, a as A) from T", "two fields of one name: a, a", "a name of its own"),
        ("spark", "select struct() from T", "a struct without fields", "STRUCT(a AS x, b AS y)"),
        ("duckdb", "select struct_pack(a) from T", "a field of a struct has a name", "{'x': a}"),
        ("bigquery", "select struct(a as x) from T", "a struct in bigquery", "write it in spark"),
        ("spark", "select b = items[0].sku from T", "binary cannot be compared with string", "CAST(... AS binary)"),
        ("spark", "select b + 1 from T", "numbers", None),
        ("spark", "select X'0G' from T", "", None),
        ("spark", "select encode(t, 'latin1') from T", "this character set", "UTF-8"),
        ("postgres", "select X'0A' from T", "a constant of bytes in postgres", "write it in spark"),
        ("duckdb", "select cast(t as blob) from T", "in duckdb", "write it in spark"),
    ],
)
def test_what_is_refused(dialect: str, sql: str, message: str, hint: str | None) -> None:
    with pytest.raises(SqlError) as raised:
        bind(sql, dialect, SCHEMA)
    assert message in raised.value.message
    assert hint is None or hint in (raised.value.hint or "")


def test_a_from_item_comes_before_a_column_of_its_name() -> None:
    with pytest.raises(SqlError, match=r"unknown column s\.x"):
        bind("select s.x from T join T s on true", "spark", SCHEMA)
