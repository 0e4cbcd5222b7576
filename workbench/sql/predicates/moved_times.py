"""Orders of times that are moved by constant lengths, as orders of exact numbers of microseconds (T6.2.1).

So `t2 - t1 < INTERVAL '1' HOUR` is a bound of one difference, however it is written, and implies one of 90 minutes. A
timestamp that is moved may leave its range; the exact number of its microseconds has none.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction

from workbench.sql.algebra.exact_arithmetic import exact_call, exact_constant_of
from workbench.sql.algebra.expressions import Call, Constant, Expression, columns
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import Literal, Operator

_ORDERS = (Operator.LT, Operator.LE, Operator.GT, Operator.GE)
_SECOND = 1_000_000
_EPOCH = dt.datetime(1970, 1, 1)


def in_micros(literal: Literal) -> Literal:
    """An order of two times, of which one at least is moved, as one of exact numbers; any other literal as it is.

    An equality stays one of times, which joins look up, and a time beside now is a window.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import TIMESTAMP
        >>> a, b = Column("a", TIMESTAMP), Column("b", TIMESTAMP)
        >>> later = Call("add_seconds", (a, Constant(60, INTEGER)), TIMESTAMP)
        >>> str(in_micros(Literal(later, Operator.GT, b)))
        '(cast(unix_micros(a) as decimal(19,0)) + 60000000) > unix_micros(b)'
    """
    if literal.right is None or literal.operator not in _ORDERS or not any(map(_adds_interval, literal.expressions)):
        return literal
    left, right = _micros(literal.left), _micros(literal.right)
    return literal if left is None or right is None else replace(literal, left=left, right=right)


def time_comparison(literal: Literal) -> Literal:
    """A comparison of the microseconds of one time with a number, as one of times; any other literal as it is.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import TIMESTAMP
        >>> micros = Call("unix_micros", (Column("a", TIMESTAMP),), INTEGER)
        >>> str(time_comparison(Literal(micros, Operator.GT, Constant(60_000_000, INTEGER))))
        "a > timestamp '1970-01-01 00:01:00'"
    """
    match literal.left, literal.right:
        case Call("unix_micros", (time,)), Constant(value=int() as micros):
            try:
                return replace(
                    literal, left=time, right=Constant(_EPOCH + dt.timedelta(microseconds=micros), time.type)
                )
            except OverflowError:
                return literal
    return literal


def with_interval(literal: Literal) -> Literal:
    """A bound of the difference of two times in microseconds as an analyst writes it; any other literal as it is.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import TIMESTAMP
        >>> a, b = (Call("unix_micros", (Column(name, TIMESTAMP),), INTEGER) for name in "ab")
        >>> str(with_interval(Literal(exact_call("-", a, b), Operator.GT, Constant(-60_000_000, INTEGER))))
        'add_seconds(a, 60) > b'
    """
    match literal.left, literal.right:
        case (
            Call("-", (Call("cast", (Call("unix_micros", (left,)),)), Call("cast", (Call("unix_micros", (right,)),)))),
            Constant(value=int() as micros),
        ) if micros % _SECOND == 0:
            seconds = Constant(abs(micros) // _SECOND, INTEGER)
            if micros > 0:
                return replace(literal, left=left, right=Call("add_seconds", (right, seconds), right.type))
            return replace(
                literal, left=Call("add_seconds", (left, seconds), left.type) if micros else left, right=right
            )
    return literal


def _adds_interval(side: Expression) -> bool:
    match side:
        case Call("add_seconds", (_, Constant(value=int()))):
            return True
    return False


def _micros(time: Expression) -> Expression | None:
    """The exact number of a time's microseconds; ``None`` of now, which is neither a row's nor a constant."""
    match time:
        case Constant(value=dt.datetime() as value):
            return exact_constant_of(Fraction((value - _EPOCH) // dt.timedelta(microseconds=1)))
        case Call("add_seconds", (start, Constant(value=int() as seconds))):
            inner, by = _micros(start), exact_constant_of(Fraction(seconds * _SECOND))
            return inner and by and exact_call("+", inner, by)
    return Call("unix_micros", (time,), INTEGER) if columns(time) else None
