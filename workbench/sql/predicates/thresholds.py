"""Comparisons of monotone functions with a constant, as comparisons of what the function is of (T6.2.1).

``a / 2 > 5`` of an INTEGER is a comparison of a DOUBLE, which cannot be solved by arithmetic, since DOUBLE rounds. Yet
rounding keeps the order, so the quotient passes 5 at one value of ``a``. It is found by evaluating the function as the
engine does, rounding included; hence the comparison of ``a`` with it is true for exactly the same rows. A DOUBLE is
solved as well, ``x * 0.1 > 5`` for ``x > 50``, where the function rises: NaN is beyond every number on both sides.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.sql.algebra.exact_arithmetic import exact_constant_of, exact_value, is_bounded_quotient
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, MAX_PRECISION, Kind
from workbench.sql.predicates.cnf import FLIPPED, Literal, Operator

Number = float | Fraction
_ORDERS = (Operator.LT, Operator.LE, Operator.GT, Operator.GE)
_INFINITE = 0x7FF << 52
"""The place of infinity in the order of DOUBLEs."""
_EXACT_QUOTIENTS = 10**18
"""Spark divides decimals to 39 digits and then rounds to those of the type; by less than this both round alike."""


@dataclass(frozen=True, slots=True)
class _Monotone:
    """A function that never falls, or never rises.

    Attributes:
        base: the expression of an exact type, or DOUBLE, that it is a function of.
        rises: its direction.
        value: gives its value, as the engine computes it.
    """

    base: Expression
    rises: bool
    value: Callable[[Number], Number]

    def then(self, value: Callable[[Number], Number], rises: bool = True) -> _Monotone:
        """The function of its values."""
        inner = self.value
        return replace(self, rises=self.rises == rises, value=lambda x: value(inner(x)))


@cached(2**14)
def threshold(literal: Literal) -> Literal:
    """A monotone function compared with a constant, as its argument compared with one; any other literal as it is.

    Args:
        literal: with a constant at its right, where it has one.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> third = Call("/", (Call("cast", (Column("a", INTEGER),), DOUBLE), Constant(3.0, DOUBLE)), DOUBLE)
        >>> str(threshold(Literal(third, Operator.GE, Constant(1.0, DOUBLE))))
        'a >= 3'
        >>> str(threshold(Literal(third, Operator.LT, Constant(0.5, DOUBLE))))
        'a < 2'
    """
    if not isinstance(literal.right, Constant) or not isinstance(literal.left, Call):
        return literal
    bound, function = _number(literal.right), _monotone(literal.left)
    if bound is None or function is None or function.base == literal.left:
        return literal
    if function.base.type == DOUBLE and not function.rises:
        return literal
    operator = literal.operator
    if operator in _ORDERS and not function.rises:
        operator = FLIPPED[operator]
    right = _argument(function, bound, operator)
    return literal if right is None else Literal(function.base, right[0], right[1])


def _argument(function: _Monotone, bound: Number, operator: Operator) -> tuple[Operator, Constant] | None:
    """How the argument compares, and with what; ``None`` where no constant says it."""
    in_doubles = function.base.type == DOUBLE
    scale = function.base.type.scale if function.base.type.kind is Kind.DECIMAL else 0
    step, most = Fraction(1, 10**scale), _INFINITE if in_doubles else 10 ** (MAX_PRECISION - 1)

    def distance(units: int) -> int:
        """The sign of how far the function is beyond the bound, in its direction."""
        value = function.value(_double(units) if in_doubles else units * step)
        return ((value > bound) - (value < bound)) * (1 if function.rises else -1)

    reaches = _first(lambda units: distance(units) >= 0, most)
    exceeds = _first(lambda units: distance(units) > 0, most)
    if reaches is None or exceeds is None:
        return None
    match operator:
        case Operator.GT:
            at = Fraction(exceeds - 1)
        case Operator.LE if exceeds - 1 >= reaches:
            at = Fraction(exceeds - 1)
        case Operator.LE | Operator.LT:
            at, operator = Fraction(exceeds if operator is Operator.LE else reaches), Operator.LT
        case Operator.GE if reaches < exceeds:
            at = Fraction(reaches)
        case Operator.GE:
            at, operator = Fraction(reaches - 1), Operator.GT
        case _ if reaches == exceeds and not in_doubles:
            at = reaches - Fraction(1, 2)  # between two values, so equal to none
        case _ if reaches == exceeds - 1:
            at = Fraction(reaches)
        case _:
            return None
    if in_doubles:
        return None if abs(at) == _INFINITE else (operator, Constant(_double(int(at)), DOUBLE))
    constant = exact_constant_of(at * step)
    return None if constant is None else (operator, constant)


def _first(holds: Callable[[int], bool], most: int) -> int | None:
    """The least number, of at most a size, from which on a condition holds; ``None`` where it is the same for all."""
    below, at = -most, most
    if holds(below) or not holds(at):
        return None
    while at - below > 1:
        middle = (below + at) // 2
        below, at = (below, middle) if holds(middle) else (middle, at)
    return at


def _double(place: int) -> float:
    """The DOUBLE at a place in the order of all, 0.0 being at 0."""
    (size,) = struct.unpack("<d", struct.pack("<q", abs(place)))
    return math.copysign(size, place)


def _number(expression: Expression) -> Number | None:
    """The value of a constant that is a number."""
    if not isinstance(expression, Constant) or expression.type == DATE:
        return None
    value = expression.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return exact_value(value)


def _monotone(expression: Expression) -> _Monotone | None:
    """The expression as a monotone function of a part of it; ``None`` where it is none."""
    match expression:
        case Call("cast", (inner,)) if expression.type == DOUBLE and inner.type.exact and inner.type != DATE:
            return _itself(inner).then(float)
        case Call("neg", (inner,)) if expression.type == DOUBLE:
            return _then(inner, lambda x: -x, rises=False)
        case Call("+" | "-" | "*" | "/" | "/_ieee" as operator, (left, right)) if expression.type == DOUBLE:
            return _in_doubles(operator[0], left, right)
        case Call("div", (inner, Constant(int() as divisor))) if abs(divisor) > 1 and inner.type == INTEGER:
            return _then(inner, lambda x: Fraction(math.trunc(Fraction(x) / divisor)), rises=divisor > 0)
        case Call("/", (inner, Constant() as divided)) if is_bounded_quotient(expression):
            by = exact_value(divided.value)
            if by is None or not 0 < abs(by.numerator) < _EXACT_QUOTIENTS:
                return None
            unit = 10**expression.type.scale
            return _then(inner, lambda x: _half_up(Fraction(x) / by * unit) / unit, rises=by > 0)
    return None


def _in_doubles(operator: str, left: Expression, right: Expression) -> _Monotone | None:
    """Arithmetic of a DOUBLE with a constant."""
    constant = _number(right)
    if isinstance(constant, float):
        match operator:
            case "+":
                return _then(left, lambda x: x + constant)
            case "-":
                return _then(left, lambda x: x - constant)
            case "*" if constant:
                return _then(left, lambda x: x * constant, rises=constant > 0)
            case "/" if constant:
                return _then(left, lambda x: x / constant, rises=constant > 0)
        return None
    constant = _number(left)
    if not isinstance(constant, float) or operator == "/":
        return None
    return _then(right, lambda x: constant - x, rises=False) if operator == "-" else _in_doubles(operator, right, left)


def _then(inner: Expression, value: Callable[..., Number], rises: bool = True) -> _Monotone | None:
    known = (inner.type.exact or inner.type == DOUBLE) and not isinstance(inner, Constant)
    return _itself(inner).then(value, rises) if known else None


def _itself(expression: Expression) -> _Monotone:
    return _monotone(expression) or _Monotone(expression, rises=True, value=lambda x: x)


def _half_up(number: Fraction) -> Fraction:
    """Rounded to a whole number, halves away from zero."""
    return Fraction(math.floor(abs(number) + Fraction(1, 2)) * (1 if number > 0 else -1))
