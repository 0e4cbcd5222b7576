"""Linear combinations: exact expressions to combinations of terms, and back (T6.2.1).

A comparison can be solved for its columns only where no step overflows or rounds (``exact_arithmetic``). A part that
is no exact sum, product or quotient counts as one opaque term.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from workbench.sql.algebra.exact_arithmetic import (
    MAX_SHIFT,
    days,
    exact_call,
    exact_constant_of,
    exact_value,
    is_exact_decimal,
    is_exact_sum,
    is_lossless,
    widened_expression,
)
from workbench.sql.algebra.expressions import Call, Constant, Expression, reading_order
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DATE, INTEGER, Kind

Terms = tuple[tuple[Expression, Fraction], ...]


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A sum of terms times coefficients, and a constant. Make one with ``linear`` or ``linear_form``.

    ``terms`` are in reading order and have no coefficient 0. ``cancelled`` are terms that have: they do not
    change the value, but where one of them is NULL, so is the whole.
    """

    terms: Terms
    constant: Fraction
    cancelled: tuple[Expression, ...] = ()

    def plus(self, other: LinearForm) -> LinearForm:
        """The sum of two combinations."""
        absent = [(e, Fraction(0)) for e in (*self.cancelled, *other.cancelled)]
        return linear_form([*self.terms, *other.terms, *absent], self.constant + other.constant)

    def times(self, factor: Fraction) -> LinearForm:
        """The combination multiplied by a number."""
        absent = [(e, Fraction(0)) for e in self.cancelled]
        return linear_form([*((e, k * factor) for e, k in self.terms), *absent], self.constant * factor)


def linear_form(terms: Iterable[tuple[Expression, Fraction]], constant: Fraction) -> LinearForm:
    """A combination, equal terms added up."""
    total: dict[Expression, Fraction] = {}
    for expression, coefficient in terms:
        total[expression] = total.get(expression, Fraction(0)) + coefficient
    ordered = sorted(total, key=reading_order)
    terms_ = tuple((e, total[e]) for e in ordered if total[e])
    return LinearForm(terms_, constant, tuple(e for e in ordered if not total[e]))


@cached(2**14)
def linear(expression: Expression) -> LinearForm:
    """An expression of an exact type as a linear combination; dates count as days since 1970-01-01 (T6.2.1).

    Args:
        expression: an INTEGER, DECIMAL or DATE.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> a = Column("a", INTEGER)
        >>> form = linear(Call("+", (Call("*", (Constant(2, INTEGER), a), INTEGER), Constant(3, INTEGER)), INTEGER))
        >>> [(text(e), str(k)) for e, k in form.terms], str(form.constant)
        ([('a', '2')], '3')
    """
    return _linear(widened_expression(expression))


def _linear(expression: Expression) -> LinearForm:
    """Of a widened expression, in which whatever can be looked through is exact for every value."""
    alone = LinearForm(((expression, Fraction(1)),), Fraction(0))
    if isinstance(expression, Call) and any(widened_expression(a) != a for a in expression.arguments):
        # It was left as it is for what its arguments would become; alone they would mean something else.
        return alone
    match expression:
        case Constant(value) if (exact := exact_value(value)) is not None:
            return LinearForm((), exact)
        case Call("+" | "-" as sign, (left, right)) if is_exact_sum(expression):
            return _linear(left).plus(_linear(right).times(Fraction(1 if sign == "+" else -1)))
        case Call("*", (factor, Constant() as other) | (Constant() as other, factor)) if is_exact_decimal(expression):
            return _linear(factor).times(_fraction(other))
        case Call("/", (divided, Constant() as divisor)) if is_exact_decimal(expression):
            return _linear(divided).times(1 / _fraction(divisor))
        case Call("neg", (inner,)) if expression.type.kind is Kind.DECIMAL:
            return _linear(inner).times(Fraction(-1))
        case Call("cast", (inner,)) if is_lossless(inner.type, expression.type):
            return _linear(inner)
    return alone


def _fraction(constant: Constant) -> Fraction:
    exact = exact_value(constant.value)
    assert exact is not None
    return exact


# From a combination back to an expression.


def linear_expression(form: LinearForm) -> Expression | None:
    """An expression that computes a combination without ever overflowing or rounding; ``None`` when 38 digits are few.

    A single date, plus days or not, is a DATE. Other dates are taken as differences, in pairs or from 1970-01-01.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> d, e = Column("d", DATE), Column("e", DATE)
        >>> text(linear_expression(linear_form([(d, Fraction(1)), (e, Fraction(-1))], Fraction(0))))
        '(d - e)'
    """
    if len(form.terms) == 1 and form.terms[0][1] == 1:
        shifted = _shifted(form.terms[0][0], form.constant)
        if shifted is not None:
            return shifted
    parts = _without_dates(form.terms)
    constant = exact_constant_of(form.constant)
    signed = [*((e, k) for e, k in parts if k > 0), *((e, k) for e, k in parts if k < 0)]
    # A sum begins with a positive term, or else with its constant.
    total: Expression | None = None if signed and signed[0][1] > 0 else constant
    if constant is None or (total is None and not signed):
        return None
    started = total is not None
    for expression, coefficient in signed:
        term = _multiplied(expression, abs(coefficient))
        if term is None:
            return None
        total = term if total is None else exact_call("+" if coefficient > 0 else "-", total, term)
        if total is None:
            return None
    if started or not form.constant or total is None:
        return total
    size = exact_constant_of(abs(form.constant))
    return size and exact_call("+" if form.constant > 0 else "-", total, size)


def _shifted(expression: Expression, constant: Fraction) -> Expression | None:
    """A term alone, or a date and a number of days."""
    if not constant:
        return expression
    if expression.type != DATE or abs(constant) > MAX_SHIFT or constant.denominator != 1:
        return None
    return Call("+" if constant > 0 else "-", (expression, Constant(abs(int(constant)), INTEGER)), DATE)


def _multiplied(expression: Expression, factor: Fraction) -> Expression | None:
    constant = exact_constant_of(factor)
    return expression if factor == 1 else constant and exact_call("*", expression, constant)


def _without_dates(terms: Terms) -> list[tuple[Expression, Fraction]]:
    """The terms with dates of opposite sign paired to differences, what is left over counted from 1970-01-01."""
    parts = [(e, k) for e, k in terms if e.type != DATE]
    later = [(e, k) for e, k in terms if e.type == DATE and k > 0]
    earlier = [(e, -k) for e, k in terms if e.type == DATE and k < 0]
    while later and earlier:
        (a, i), (b, j) = later.pop(0), earlier.pop(0)
        both = min(i, j)
        parts.append((Call("-", (a, b), INTEGER), both))
        later[:0] = [(a, i - both)] if i > both else []
        earlier[:0] = [(b, j - both)] if j > both else []
    parts += [(days(e), k) for e, k in later] + [(days(e), -k) for e, k in earlier]
    return sorted(parts, key=lambda part: reading_order(part[0]))
