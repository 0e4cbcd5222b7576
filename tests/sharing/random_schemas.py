"""Random streams: columns of all kinds, under names that look like something else, with extreme values."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal

from sharing.expression_values import NOW
from sharing.scalars import NAN
from sharing.small_streams import Data, Row

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Value
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.schema import Schema, UserFunction

NAMES = {"k": INTEGER, "v": INTEGER, "a": INTEGER, "s": STRING, "d": DATE, "ts": TIMESTAMP, "x": DOUBLE,
         "m": decimal(9, 2), "b": BOOLEAN, "w": STRING}  # fmt: skip
HOSTILE = ("a.b", "count", "c1", "amount_2", "k_1", "two words", "it's", 'say "hi"', "select", "ünï", "1st", "_",
           "line\nbreak", "o0")  # fmt: skip
EXPRESSIONS = ("upper(s)", "lower(s)", "year(d)", "(a * k)", "(k + 1)", "(k * 2)", "count(*)", "1:k", "k_2", "5",
               "true", "sum(k)", "'a'", "-k", "abs(k)", "length(s)", "(not b)", "(d + 1)")  # fmt: skip
"""Names that are the text of an expression, or look like it."""

TYPES = (INTEGER, INTEGER, INTEGER, STRING, STRING, DATE, TIMESTAMP, DOUBLE, BOOLEAN, decimal(9, 2), decimal(9, 2))
WIDE = (decimal(38, 0), decimal(38, 10), decimal(5, 0), decimal(4, 4))

FUNCTIONS = {"user_f": UserFunction("user_f", INTEGER), "user_g": UserFunction("user_g", INTEGER)}

_LARGEST = 2**63 - 1
_DAY = dt.date(2002, 1, 1)
_USUAL: Mapping[Kind, tuple[Value, ...]] = {
    Kind.BOOLEAN: (False, True),
    Kind.INTEGER: (-1, 0, 1, 2, 3, 4),
    Kind.DECIMAL: (0, 1, -1, 2),
    Kind.DOUBLE: (-0.5, 0.0, -0.0, 0.125, 2.0, NAN),
    Kind.STRING: ("", "a", "A", "ab", "b"),
    Kind.DATE: tuple(_DAY + dt.timedelta(n) for n in range(5)),
    Kind.TIMESTAMP: tuple(dt.datetime(2002, 1, 1) + dt.timedelta(hours=h) for h in (0, 1, 23, 24, 95, 96)),
}
_EXTREME: Mapping[Kind, tuple[Value, ...]] = {
    Kind.BOOLEAN: (True,),
    Kind.INTEGER: (_LARGEST, -_LARGEST - 1, _LARGEST - 1, 2**62),
    Kind.DOUBLE: (NAN, -0.0, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), 2.0**63),
    Kind.STRING: ("é", "a'b", "%", "_", " a", "\N{GRINNING FACE}", "upper(s)"),
    Kind.DATE: (dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2000, 2, 29)),
    Kind.TIMESTAMP: (dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999_999)),
}


def schema(chosen: random.Random, expressions: bool, types_differ: bool) -> Schema:
    """Two to four streams.

    Args:
        chosen: the source of chance.
        expressions: whether columns may be called like expressions.
        types_differ: whether columns of one name may have different types in different streams.
    """
    names = [*NAMES, *chosen.sample(HOSTILE, 3), *(chosen.sample(EXPRESSIONS, 5) if expressions else ())]
    fixed = {name: NAMES.get(name) or _type(chosen) for name in names}
    # What looks like an expression stands beside the column that it would be of.
    common = list(dict.fromkeys(chosen.sample(sorted(NAMES), 4) + chosen.sample(names, 5)))
    streams, times = {}, {}
    for stream in chosen.sample(("r", "S", "t", "u_1"), chosen.randint(2, 4)):
        own = sorted(
            {
                *chosen.sample(common, chosen.randint(2, min(5, len(common)))),
                *chosen.sample(names, chosen.randint(0, 2)),
            }
        )
        columns = tuple(
            (name, _type(chosen) if types_differ and chosen.random() < 0.4 else fixed[name]) for name in own
        )
        streams[stream] = columns
        dated = [name for name, type_ in columns if type_ in (DATE, TIMESTAMP)]
        if dated and chosen.random() < 0.5:
            times[stream] = chosen.choice(dated)
    return Schema(streams=streams, times=times, functions=FUNCTIONS)


def _type(chosen: random.Random) -> DataType:
    return chosen.choice(WIDE if chosen.random() < 0.05 else TYPES)


def rows(chosen: random.Random, of: Schema, number: int) -> Data:
    """Rows of all streams by the stored names of columns: some NULLs, extremes, equal rows; none is after now."""
    return {name.lower(): _stream(chosen, columns, of.times.get(name), number) for name, columns in of.streams.items()}


def _stream(chosen: random.Random, columns: Sequence[tuple[str, DataType]], time: str | None, number: int) -> list[Row]:
    extreme = chosen.choice((0.0, 0.05, 0.3))
    made = []
    for _ in range(chosen.randint(0, number) if chosen.random() < 0.1 else number):
        row = {stored_name(name): _value(chosen, type_, 0.0 if name == time else extreme) for name, type_ in columns}
        made.append(row)
    if time is not None:
        kind = dict(columns)[time].kind
        made += [{**made[0], stored_name(time): NOW[kind]}] if made else []
    return [*made, *chosen.sample(made, min(len(made), 1))]


def _value(chosen: random.Random, type_: DataType, extreme: float) -> Value:
    if chosen.random() < 0.1:
        return None
    if type_.kind is Kind.DECIMAL:
        step = Decimal(1).scaleb(-type_.scale)
        largest = (10**type_.precision - 1) * step
        if chosen.random() < extreme:
            return chosen.choice((largest, -largest, largest - step))
        usual = chosen.choice((0, 1, -1, 2, 3)) if type_.precision > type_.scale else 0
        return usual + chosen.choice((0, 0, 1, -1)) * step
    return chosen.choice((_EXTREME if chosen.random() < extreme else _USUAL)[type_.kind])
