"""The page of a batch says of which functions the engine evaluates calls by itself, without Spark."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import product
from pathlib import Path

from workbench.engine.physical.stored.values import computed_value
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    array_of,
    decimal,
    map_of,
    struct_of,
)
from workbench.sql.functions import DECLARED
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import Function

PAGE = Path(__file__).parents[4] / "docs" / "design" / "batch.md"
SOME_CONSTANTS = {
    "trunc_date",
    "trunc_timestamp",
    "date_format",
    "power",
    "regexp_extract",
    "regexp_replace",
    "try_to_binary",
    "get_json_object",
    "try_parse_url",
}
"""Functions with kernels for some constants: the calls below have others."""

VALUES: list[Expression] = [
    *(Column(str(type_), type_) for type_ in (BOOLEAN, INTEGER, DOUBLE, STRING, DATE, TIMESTAMP)),
    *(Column(f"decimal{digits}", decimal(*digits)) for digits in ((15, 2), (20, 4), (38, 0))),
    *(
        Column(str(type_), type_)
        for type_ in (array_of(STRING), struct_of([("x", DOUBLE)]), map_of(STRING, INTEGER), BINARY)
    ),
    Constant(3, INTEGER),
    Constant(Decimal("1.5"), decimal(2, 1)),
    Constant("a%", STRING),
    Constant(dt.date(2026, 1, 1), DATE),
]
COLUMNS = [value for value in VALUES if isinstance(value, Column)]


def calls_of(function: Function) -> Iterator[Expression]:
    """Calls with all pairs of values, and with some longer lists of arguments; those that are of the wrong types are no
    calls."""
    truth, integer, text, number = COLUMNS[0], COLUMNS[1], COLUMNS[3], COLUMNS[6]
    one, three = Constant(1, INTEGER), Constant(3, INTEGER)
    longer = [(truth, integer, integer), (integer, number, COLUMNS[7]), (text, one, three)]
    for arguments in [*((value,) for value in VALUES), *product(VALUES, repeat=2), *longer]:
        with suppress(TypeClash, AssertionError, IndexError):
            yield call(function.name, *arguments)
    if function.name == "cast":
        for value, other in product(COLUMNS, repeat=2):
            with suppress(TypeClash):
                yield cast(value, other.type)


def test_the_page_names_the_functions_with_kernels() -> None:
    evaluated = {
        function.name
        for function in DECLARED
        if function.name != "variable"  # it stands in a lambda alone
        and any(isinstance(c, Call) and c.function == function.name and computed_value(c) for c in calls_of(function))
    }
    said = PAGE.read_text(encoding="utf-8").partition("Functions with kernels:")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([^`]+)`", said)) == evaluated | SOME_CONSTANTS
