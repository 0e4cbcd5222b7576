"""Capitals and small letters of all signs, each by itself and beside others, as DuckDB and PostgreSQL have them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest
import servers

from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import STRING
from workbench.sql.functions.calls import call

psycopg = pytest.importorskip("psycopg")
SINCE_UNICODE_16 = "ƛɤ"
"""Letters that have capitals in newer databases."""
LETTERS = [
    chr(code)
    for code in range(1, 0x110000)
    if unicodedata.category(chr(code)) not in ("Cs", "Cn", "Co") and chr(code) not in SINCE_UNICODE_16
]
TEXTS = [*LETTERS, *(f"a{letter}B" for letter in LETTERS), "ΑΣ", "ΑΣ Σ", "straße", ""]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with servers.postgres() as found:
        yield found


def changed(name: str) -> dict[str, str]:
    """Each text by its letters in another case."""
    rows = pa.RecordBatch.from_pydict({"s": TEXTS})
    return dict(zip(TEXTS, evaluate(call(name, Column("s", STRING)), rows).to_pylist(), strict=True))


@pytest.mark.parametrize("name", ["upper", "lower"])
def test_letters_are_those_of_duckdb(name: str) -> None:
    with duckdb.connect() as database:
        database.register("t", pa.table({"s": TEXTS}))
        there = dict(database.execute(f"SELECT s, {name}(s) FROM t").fetchall())
    assert changed(f"{name}_in_duckdb") == there


@pytest.mark.parametrize("name", ["upper", "lower"])
def test_letters_are_those_of_postgres(address: str, name: str) -> None:
    with psycopg.connect(address) as connection:
        asked = f"SELECT s, {name}(s COLLATE pg_c_utf8) FROM unnest(%s::text[]) s"
        there = dict(connection.execute(asked, [TEXTS]).fetchall())
    assert changed(f"{name}_in_postgres") == there
