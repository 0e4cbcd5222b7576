"""All pairs of types in all that compares or joins values: a clash with a place in the text, or a meaning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import count

import pytest
from long import LONG, one_in
from sql.type_pairs import (
    DIALECTS,
    FAMILIES,
    QUERIES,
    SCHEMA,
    STORED,
    USING,
    VALUES,
    Operand,
    compare,
    operands,
    written,
)

from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind

OF_OTHERS = ("sum", "difference", "max by")
"""Forms that take values of different types that do not compare."""
OF_MAPS = ("case", "coalesce", "array", "lag", "union all")
"""Forms that take two maps, which do not compare."""


def pairs(form: str) -> Iterator[tuple[Operand, Operand, str]]:
    """Pairs of operands, each in one dialect, two columns or a column and a constant; in all of them where LONG is."""
    number = count(len(form))
    for constants in (False, True):
        for place, (a, b) in enumerate(operands(constants)):
            for dialect in DIALECTS if LONG else [DIALECTS[next(number) % 3]]:
                if LONG or (place + len(form)) % 5 == 0 or (a.type in "dt" and not constants):
                    yield a, b, dialect


def refused(sql: str, dialect: str) -> SqlError | None:
    """Why a text is refused; ``None`` where it is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            bind(sql, dialect, SCHEMA)
        except SqlError as error:
            return error
    return None


@pytest.mark.parametrize("form", one_in(2, [*VALUES, *QUERIES]))
def test_two_types_compare_or_clash(form: str) -> None:
    for a, b, dialect in pairs(form):
        sql = written(form, a, b, dialect)
        sql = sql if form in QUERIES else f"SELECT M.id, {sql} AS v FROM M"
        error = refused(sql, dialect)
        assert error is None or error.position is not None, sql
        if error is None and form not in OF_OTHERS:
            of_maps = form in OF_MAPS and a.type == b.type == "h"
            is_taken = as_texts(form, a, b) if dialect == "spark" else dialect == "duckdb" and truth_is_number(a, b)
            assert compare(a, b) or of_maps or is_taken, sql


def truth_is_number(a: Operand, b: Operand) -> bool:
    """Whether a BOOLEAN is compared with a number, as 0 or 1."""
    return "p" in (a.type, b.type) and bool({a.type, b.type} & set("im"))


def as_texts(form: str, a: Operand, b: Operand) -> bool:
    """Whether spark reads a constant text as bytes, or matches a value as a text."""
    bytes_and_text = {a.type, b.type} == {"b", "s"} and (a if a.type == "s" else b).constant
    return bytes_and_text or (form == "like" and a.type in "ixmpdt" and b.type == "s")


def test_columns_of_one_name_join_where_they_compare() -> None:
    for a in STORED:
        for b in STORED:
            second = "Kother" if a == b else f"K{b}"
            error = refused(USING.format(a=a, b=b).replace(f"JOIN K{b}", f"JOIN K{b} AS {second}"), "spark")
            assert (error is None) == any(a in family and b in family for family in FAMILIES), (a, b)
            assert error is None or error.position is not None


CLASHES = {
    "t > 20240103": "timestamp cannot be compared with integer",
    "t = i": "timestamp cannot be compared with integer",
    "t IN (1, 2)": "timestamp cannot be compared with integer",
    "NULLIF(t, 5) IS NULL": "timestamp cannot be compared with integer",
    "t > 2024-01-03": "timestamp cannot be compared with integer",
    "t BETWEEN 1.5 AND x": "timestamp cannot be compared with",
    "t = p": "timestamp cannot be compared with boolean",
    "t = b": "timestamp cannot be compared with binary",
    "ARRAY_CONTAINS(TRANSFORM(a, v -> d), t)": "date is needed, not timestamp",
    "ARRAY_CONTAINS(a, m)": "integer is needed, not decimal",
    "MAP(d, 1)[t] = 1": "date is needed, not timestamp",
    "MAP(1.5, 1)[m] = 1": r"decimal\(2,1\) is needed, not decimal\(9,2\)",
}


@pytest.mark.parametrize(("condition", "what"), CLASHES.items())
def test_a_clash_has_its_place(condition: str, what: str) -> None:
    with pytest.raises(SqlError, match=what) as clash:
        bind(f"SELECT id FROM M WHERE {condition}", "spark", SCHEMA)
    assert clash.value.position
