"""JSON that postgres writes has the texts of PostgreSQL, over random values."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pytest
import servers

from workbench.sql.functions.calls import FUNCTIONS

EXTREME = [0.0, -0.0, 1e15, 1e-5, 1e-4, 123456.789]
TYPES: dict[str, tuple[str, Any]] = {
    "integer": ("bigint", lambda r: r.randrange(-(10**12), 10**12)),
    "double": ("float8", lambda r: r.choice([*EXTREME, r.gauss(0, 1) * 10 ** r.randrange(-20, 20)])),
    "decimal(9,2)": ("numeric(9,2)", lambda r: Decimal(r.randrange(-10**6, 10**6)).scaleb(-2)),
    "boolean": ("boolean", lambda r: r.random() < 0.5),
    "string": ("text", lambda r: "".join(r.choice('ab"\\/é日\n\t\x01\x1f\x7f') for _ in range(r.randrange(6)))),
}  # fmt: skip


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    psycopg = pytest.importorskip("psycopg")
    with servers.postgres() as address, psycopg.connect(address, autocommit=True) as connected:
        yield connected


@pytest.mark.parametrize("type_", TYPES)
def test_values_are_written_as_in_postgres(connection: Any, type_: str) -> None:
    of_postgres, value = TYPES[type_]
    random = Random(type_)
    rows = [[value(random) for _ in range(3)] for _ in range(60)]
    cast = f"%s::{of_postgres}"
    asked = (
        f"SELECT to_json({cast})::text, json_build_object('a\"', {cast}, 'b', {cast})::text,"
        f" json_build_array({cast}, NULL)::text, array_to_json(ARRAY[{cast}, NULL])::text,"
        f" (SELECT json_agg(v ORDER BY i)::text FROM (VALUES (1, {cast}), (2, NULL), (3, {cast})) AS q (i, v))"
    )
    write = {name: FUNCTIONS[name].python for name in ("to_json_in_postgres", "json_built_object", "json_built_array",
                                                        "json_of_group")}  # fmt: skip
    for row in rows:
        expected = list(connection.execute(asked, [*row, row[0], row[1], row[0], row[2]]).fetchone())
        one, two, three = (write["to_json_in_postgres"](each, type_) for each in row)
        found = [
            one, write["json_built_object"]('a"', two, "b", three), write["json_built_array"](one, None),
            write["to_json_in_postgres"]([row[1], None], f"array<{type_}>"),
            write["json_of_group"]([row[0], None, row[2]], f"array<{type_}>"),
        ]  # fmt: skip
        assert found == expected
