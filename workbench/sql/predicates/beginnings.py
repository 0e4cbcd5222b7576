"""Predicates by which a text begins with another: STARTSWITH, LIKE of a pattern of the row, first parts of a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, sources
from workbench.sql.algebra.types import INTEGER, Kind
from workbench.sql.predicates.cnf import Literal, Operator, ORPred

_FIRST_PARTS = {"substr": 3, "part_in_duckdb": 3, "left_in_duckdb": 2}
"""Functions of a first part of a text, and how many arguments they have then."""


@dataclass(frozen=True)
class Beginning:
    """A text of one input that begins with a text of the other, or with the constant part of a pattern.

    Attributes:
        long: the text.
        short: what it begins with.
        is_pattern: whether that is a pattern of LIKE.
    """

    long: Expression
    short: Expression
    is_pattern: bool = False


@lru_cache(maxsize=4_096)
def beginning_of(predicate: ORPred) -> Beginning | None:
    """What holds of all pairs that satisfy a predicate over two inputs; ``None``: nothing of this kind.

    Example:
        ``STARTSWITH(l.number, r.prefix)``, ``l.path LIKE r.pattern`` and ``LEFT(l.s, LENGTH(r.s)) = r.s`` have one.
    """
    if len(predicate.literals) != 1 or (found := _of_literal(predicate.literals[0])) is None:
        return None
    each = sources(found.long), sources(found.short)
    texts = found.long.type.kind is found.short.type.kind is Kind.STRING
    return found if texts and all(len(some) == 1 for some in each) and each[0] != each[1] else None


def _of_literal(literal: Literal) -> Beginning | None:
    match literal:
        case Literal(Call("startswith", (long, short)), Operator.HOLDS, None):
            return Beginning(long, short)
        case Literal(Call("like", (long, pattern)), Operator.HOLDS, None):
            return Beginning(long, pattern, is_pattern=True)
        case Literal(Call("case", (_, Constant(None), Call("like", (long, pattern)))), Operator.HOLDS, None):
            return Beginning(long, pattern, is_pattern=True)
        case Literal(left, Operator.EQ, Column() | Constant() | Call() as right):
            for part, short in ((left, right), (right, left)):
                if (whole := _text_of_part(part, short)) is not None:
                    return Beginning(whole, short)
    return None


def _text_of_part(part: Expression, short: Expression) -> Expression | None:
    """The text of which a value is the first part, as long as another text is."""
    size = Call("length", (short,), INTEGER)
    match part:
        case Call("case", (Call(">=", (length, Constant(0))), value, *_)) if length == size:
            return _text_of_part(value, short)
        case Call("case", (_, Constant(None), value)):
            return _text_of_part(value, short)
        case Call(name, (long, *middle, length)) if length == size and len(middle) + 2 == _FIRST_PARTS.get(name):
            return long if middle in ([], [Constant(1, INTEGER)]) else None
    return None
