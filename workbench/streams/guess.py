"""The type that text values suggest."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    MAX_PRECISION,
    STRING,
    TIMESTAMP,
    DataType,
    decimal,
)
from workbench.streams.convert import convert

# In this order: of types that as many values fit, the first is taken.
_CANDIDATES = (INTEGER, decimal(MAX_PRECISION, 0), DOUBLE, BOOLEAN, DATE, TIMESTAMP)


def guess_type(values: pa.Array) -> DataType:
    """The type most values fit, or STRING when more than a few do not.

    A few is 5 in 100, or one of at least four, so that one bad value does not turn a column of amounts into text.
    Numbers written with leading zeros are codes and stay STRING: a ZIP code 02139 is not 2139. Whole numbers beyond 64
    bits are decimal(38,0).

    Args:
        values: a column of text; NULL and empty text say nothing.

    Example:
        >>> [str(guess_type(pa.array(column))) for column in (["1", "2.5"], ["02139", "10001"], ["2005-01-31", None])]
        ['double', 'string', 'date']
    """
    text = values.filter(pc.fill_null(pc.match_substring_regex(values, r"\S"), False))
    if not len(text) or pc.any(pc.match_substring_regex(text, r"^\s*[+-]?0\d[\d.]*\s*$")).as_py():
        return STRING
    fraction = pc.any(pc.match_substring(text, ".")).as_py()
    misfits = {}
    for type_ in _CANDIDATES:
        if not (fraction and type_.kind is _CANDIDATES[1].kind):
            _, misfit = convert(text, type_)
            misfits[type_] = 0 if misfit is None else int(misfit.sum())
    best = min(misfits, key=lambda type_: misfits[type_])
    few = max(len(text) // 20, len(text) >= 4)
    return best if misfits[best] <= few else STRING
