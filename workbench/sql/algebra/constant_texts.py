"""Constant texts that are compared or computed with values of other types: read as all databases do, or as Spark alone
does.

Spark casts a text to what stands beside it: an INTEGER beside integers, a DOUBLE beside other numbers, and else that
type (``AnsiTypeCoercion`` of Spark 4). Whether a constant is such a value is known when it is bound; of a column
only its rows could say, so a column of texts beside numbers stays refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal

from workbench.sql.algebra.arithmetic import fits, number
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.folding import PLAIN_NUMBER
from workbench.sql.algebra.types import BINARY, BOOLEAN, DOUBLE, INTEGER, DataType, Kind

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DIGITS_OF_DOUBLE = 15
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_READS: ContextVar[bool] = ContextVar("reads_constant_texts", default=False)


@contextmanager
def reading_constant_texts(reads: bool) -> Iterator[None]:
    """Bind a text in a dialect in which constant texts are read so, or are not."""
    token = _READS.set(reads)
    try:
        yield
    finally:
        _READS.reset(token)


def typed_text(text: Expression, types: Iterable[DataType]) -> Expression | None:
    """What a constant text is beside values of some types; ``None`` of what is no such text, or no value of the type.

    Example:
        >>> from workbench.sql.algebra.types import STRING, decimal
        >>> with reading_constant_texts(True):
        ...     [typed_text(Constant(" 7", STRING), [type_]).value for type_ in (INTEGER, decimal(3, 1))]
        [7, 7.0]
    """
    if not isinstance(text, Constant) or not isinstance(text.value, str):
        return None
    kinds = {type_.kind for type_ in types}
    if kinds == {Kind.BOOLEAN}:
        word = (text.value.strip() if _READS.get() else text.value).lower()
        return Constant(word in _TRUE, BOOLEAN) if word in _TRUE + _FALSE else None
    if not _READS.get():
        return None
    if kinds == {Kind.INTEGER}:
        return _integer(text.value.strip())
    if kinds and kinds <= {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE}:
        return _double(text.value.strip())
    return Call("cast", (text,), BINARY) if kinds == {Kind.BINARY} else None


_NO_DIGITS = re.compile("nan|-?inf(inity)?", re.IGNORECASE)
"""DOUBLEs that are written as words."""


def _integer(digits: str) -> Constant | None:
    if not re.fullmatch("[+-]?[0-9]{1,40}", digits) or not fits(int(digits), INTEGER):
        return None
    return Constant(int(digits), INTEGER)


def _double(digits: str) -> Constant | None:
    value = float(digits) if _NUMBER.fullmatch(digits) else math.inf
    return Constant(value, DOUBLE) if math.isfinite(value) else None


def with_typed_texts(values: Sequence[Expression]) -> tuple[Expression, ...]:
    """Values in which constant texts have the types that the dialect gives them because of the others."""
    others = [v.type for v in values if not (isinstance(v, Constant) and (v.value is None or isinstance(v.value, str)))]
    return tuple(typed_text(value, others) or value for value in values)


def number_of_text(side: Expression, beside: Sequence[DataType]) -> Expression | None:
    """The number that a constant text means among numbers of some types, where all databases read the same.

    They read a text as the type of what is beside it: a fraction is no INTEGER, DECIMAL is cut to its digits, and Spark
    compares it as DOUBLE, which has 15 digits of any. 'NaN' and 'Infinity' are numbers beside a DOUBLE.
    """
    if DOUBLE in beside and isinstance(side, Constant) and _NO_DIGITS.fullmatch(str(side.value)):
        return Call("cast", (side,), DOUBLE)
    as_double = double_of_text(side)
    if as_double is None or DOUBLE in beside:
        return as_double
    assert isinstance(side, Constant)
    value = Decimal(str(side.value))
    of_decimals = [type_ for type_ in beside if type_.kind is Kind.DECIMAL]
    digits = max((type_.scale for type_ in of_decimals), default=0)
    exact = -int(value.as_tuple().exponent) <= digits and len(value.as_tuple().digits) <= _DIGITS_OF_DOUBLE
    if not exact or any(type_.precision > _DIGITS_OF_DOUBLE for type_ in of_decimals):
        return None
    return number(value)


def double_of_text(side: Expression) -> Constant | None:
    """The DOUBLE that a constant text is, where all databases read it as the same number."""
    if not isinstance(side, Constant) or not isinstance(side.value, str) or not PLAIN_NUMBER.fullmatch(side.value):
        return None
    return Constant(float(side.value), DOUBLE)
