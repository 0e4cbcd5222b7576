"""Columns of random inputs: their types, and values that meet often or lie at the ends of a type's range."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal

D = Decimal
BIGGEST = 2**63 - 1
NULLS = 0.12
"""The share of values that are NULL."""


@dataclass(frozen=True)
class Flavour:
    """What the values of a column are like.

    Attributes:
        type: their type.
        draw: one of the usual values.
        rare: values that a few rows have.
        tame: whether arithmetic, sums and casts stay in range and are exact, so that both sides agree to the last bit.
    """

    type: DataType
    draw: Callable[[Random], object]
    rare: tuple[object, ...] = ()
    tame: bool = True

    def value(self, chosen: Random, extremes: float = 0.15) -> object:
        """One value, never NULL."""
        return chosen.choice(self.rare) if self.rare and chosen.random() < extremes else self.draw(chosen)


def _one_of(*values: object) -> Callable[[Random], object]:
    return lambda chosen: chosen.choice(values)


def _day(chosen: Random) -> dt.date:
    return dt.date(2002, 11, 1) + dt.timedelta(days=chosen.randrange(40))


def _moment(chosen: Random) -> dt.datetime:
    return dt.datetime(2002, 11, 1) + dt.timedelta(minutes=chosen.randrange(30 * 96) * 15)


FLAVOURS = {
    "key": Flavour(INTEGER, lambda chosen: chosen.randrange(4)),
    "small": Flavour(INTEGER, lambda chosen: chosen.randrange(-20, 50), (0,)),
    "big": Flavour(
        INTEGER, _one_of(BIGGEST, -BIGGEST - 1, BIGGEST - 1, 2**53 + 1, 2**62, -(2**62), 0, 1, -1, 7), tame=False
    ),
    "money": Flavour(
        decimal(15, 2),
        lambda chosen: D(chosen.randrange(-40, 40) * 25).scaleb(-2),
        (D("9999999999999.99"), D("-9999999999999.99"), D("0.00"), D("0.01")),
    ),
    "wide": Flavour(
        decimal(38, 4),
        _one_of(D("9" * 34 + ".9999"), D("-" + "9" * 34 + ".9999"), D("0.0001"), D("0.0000"), D("12.5000")),
        tame=False,
    ),
    "digits": Flavour(decimal(38, 0), _one_of(D("9" * 38), D("-" + "9" * 38), D(0), D(10**37), D(BIGGEST)), tame=False),
    "share": Flavour(decimal(5, 5), lambda chosen: D(chosen.randrange(-9, 9)).scaleb(-5), (D("0.99999"),)),
    "rate": Flavour(decimal(18, 8), lambda chosen: D(chosen.randrange(-(10**9), 10**9)).scaleb(-8), (D("0.00000001"),)),
    "dust": Flavour(decimal(30, 12), lambda chosen: D(chosen.randrange(-99, 99)).scaleb(-12), (D("7.000000000001"),)),
    "eighths": Flavour(DOUBLE, lambda chosen: chosen.randrange(-40, 40) / 8, (0.0, -0.0, 1e6)),
    "wild": Flavour(
        DOUBLE,
        _one_of(math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e300, -1e300, 1.7976931348623157e308, 0.1, 2.0**63),
        tame=False,
    ),
    "letter": Flavour(STRING, _one_of("a", "b", "c", "ab", "B"), ("",)),
    "text": Flavour(
        STRING,
        _one_of(
            "",
            " ",
            "O'Brien",
            'say "hi"',
            "a\nb",
            "a\tb",
            "back\\slash",
            "100%",
            "a_b",
            "\U0001f600",
            "é",
            "e\u0301",
            "x" * 3000,
            "NULL",
            "null",
            "a`b",
            "${x}",
            "{0}",
            "-- x",
            ";",
        ),
        ("a\0b", "\0", "\ufffd", "\u200b", "\r\n", "\uffff"),
        tame=False,
    ),
    "written": Flavour(STRING, _one_of("12", "-7", "abc", "", "9223372036854775807", "9223372036854775808", "0012")),
    "day": Flavour(DATE, _day),
    "edge day": Flavour(
        DATE,
        _one_of(
            dt.date(1, 1, 1),
            dt.date(9999, 12, 31),
            dt.date(1969, 12, 31),
            dt.date(1970, 1, 1),
            dt.date(1582, 10, 4),
            dt.date(1582, 10, 5),
            dt.date(1582, 10, 10),
            dt.date(1582, 10, 15),
            dt.date(2000, 2, 29),
            dt.date(1900, 3, 1),
        ),
        tame=False,
    ),
    "moment": Flavour(TIMESTAMP, _moment),
    "edge moment": Flavour(
        TIMESTAMP,
        _one_of(
            dt.datetime(1, 1, 1),
            dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
            dt.datetime(1970, 1, 1),
            dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
            dt.datetime(1582, 10, 10, 12),
            dt.datetime(2002, 11, 5, 1, 2, 3, 4),
        ),
        tame=False,
    ),
    "flag": Flavour(BOOLEAN, _one_of(True, False)),
}
"""All flavours by name: steps name them, so that a step is plain data."""


@dataclass(frozen=True)
class InputColumn:
    """A column of an input: what the analyst calls it, and what is in it."""

    name: str
    flavour: str

    @property
    def type(self) -> DataType:
        """Its type."""
        return FLAVOURS[self.flavour].type


def random_rows(chosen: Random, columns: tuple[InputColumn, ...], number: int) -> tuple[tuple[object, ...], ...]:
    """A number of rows; one in seven comes again."""
    made: list[tuple[object, ...]] = []
    for _ in range(number):
        if made and chosen.random() < 0.15:
            made.append(chosen.choice(made))
            continue
        drawn = ((None if chosen.random() < NULLS else FLAVOURS[c.flavour].value(chosen)) for c in columns)
        made.append(tuple(drawn))
    return tuple(made)


def alike_rows(chosen: Random, columns: tuple[InputColumn, ...], number: int) -> tuple[tuple[object, ...], ...]:
    """A number of rows that differ from one before in one column at most."""
    made: list[tuple[object, ...]] = list(random_rows(chosen, columns, min(number, 2)))
    while len(made) < number:
        row, place = list(chosen.choice(made)), chosen.randrange(len(columns))
        if chosen.random() < 0.6:
            row[place] = None if chosen.random() < NULLS else FLAVOURS[columns[place].flavour].value(chosen)
        made.append(tuple(row))
    return tuple(made)


def taken_back(
    chosen: Random, rows: tuple[tuple[object, ...], ...]
) -> tuple[tuple[tuple[object, ...], ...], tuple[int, ...]]:
    """The rows with some of them taken back later, and for each the place of the row that it takes back, else -1."""
    made: list[tuple[object, ...]] = []
    takes: list[int] = []
    there: list[int] = []
    for row in rows:
        there.append(len(made))
        made.append(row)
        takes.append(-1)
        while there and chosen.random() < 0.35:
            place = there.pop(chosen.randrange(len(there)))
            made.append(made[place])
            takes.append(place)
    return tuple(made), tuple(takes)


def arrow_table(columns: tuple[InputColumn, ...], rows: tuple[tuple[object, ...], ...], names: list[str]) -> pa.Table:
    """Rows as Arrow, with exactly the columns' types."""
    arrays = [pa.array([row[i] for row in rows], to_arrow(column.type)) for i, column in enumerate(columns)]
    return pa.Table.from_arrays(arrays, names=names)
