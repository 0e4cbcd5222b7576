"""Rows of the catalog become objects whose fields are of their types, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import get_type_hints

import pytest

from workbench.catalog.records import RecordRows

VALUES = (None, 0, 1, 7, -1.5, "", "text", "7", b"", b"\xff", 2**62)


@dataclass(frozen=True)
class Stored:
    name: str
    number: int
    part: float
    sure: bool
    raw: bytes
    perhaps: str | None
    any_number: int | float | None


GOOD: dict[str, object] = {
    "name": "a", "number": 3, "part": 0.5, "sure": 1, "raw": b"a", "perhaps": None, "any_number": 2.5,
}  # fmt: skip
TYPES = get_type_hints(Stored)


@pytest.mark.parametrize("field", [field.name for field in fields(Stored)])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_field_is_of_its_type_or_refused(field: str, value: object) -> None:
    """SQLite lets any value stand in any column."""
    try:
        read = RecordRows(Stored).fields(tuple((GOOD | {field: value}).values()))
    except (TypeError, ValueError):
        return
    assert isinstance(read[field], TYPES[field]) and read[field] == value


def test_what_was_stored_comes_back() -> None:
    stored = Stored("a", 3, 0.5, True, b"a", None, 2.5)
    assert Stored(**RecordRows(Stored).fields(RecordRows(Stored).row(stored))) == stored
