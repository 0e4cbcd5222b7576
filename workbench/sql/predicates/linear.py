"""Linear combinations: exact expressions to combinations of terms, and back (T6.2.1).

A comparison can be solved for its columns only where no step overflows or rounds (``exact_arithmetic``). A product of
sums is the sum of their products, so a term is a product of parts; a part that is no exact sum, product or quotient is
opaque.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
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

MOST_TERMS = 16
"""Of a product of sums; one that has more is opaque."""

Terms = tuple[tuple[Expression, Fraction], ...]


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A sum of terms times coefficients, and a constant. Make one with ``linear`` or ``linear_form``.

    ``terms`` are in reading order and have no coefficient 0. ``cancelled`` are terms that have, and that read
    something that no other term reads: they do not change the value, but where one of them is NULL, so is the whole.
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

    def product(self, other: LinearForm) -> LinearForm | None:
        """The sum of the products of their terms; ``None`` where one needs more than 38 digits, or is of a date."""
        if not self.terms or not other.terms:
            number, form = (self, other) if not self.terms else (other, self)
            return form.times(number.constant).plus(replace(number, constant=Fraction(0)))
        if len(self.terms) * len(other.terms) > MOST_TERMS:
            return None
        products = [(_monomial(x, y), j * k) for x, j in self.terms for y, k in other.terms]
        known = [(e, k) for e, k in products if e is not None]
        if len(known) < len(products):
            return None
        known += [(e, k * other.constant) for e, k in self.terms if other.constant]
        known += [(e, k * self.constant) for e, k in other.terms if self.constant]
        absent = [(e, Fraction(0)) for e in (*self.cancelled, *other.cancelled)]
        return linear_form([*known, *absent], self.constant * other.constant)


def linear_form(terms: Iterable[tuple[Expression, Fraction]], constant: Fraction) -> LinearForm:
    """A combination, equal terms added up."""
    total: dict[Expression, Fraction] = {}
    for expression, coefficient in terms:
        total[expression] = total.get(expression, Fraction(0)) + coefficient
    ordered = sorted(total, key=reading_order)
    terms_ = tuple((e, total[e]) for e in ordered if total[e])
    read = {factor for e, _ in terms_ for factor in factors_of(e)}
    return LinearForm(
        terms_, constant, tuple(e for e in ordered if not total[e] and not read.issuperset(factors_of(e)))
    )


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
        case Call("*", (left, right)) if is_exact_decimal(expression):
            return _linear(left).product(_linear(right)) or alone
        case Call("/", (divided, Constant() as divisor)) if is_exact_decimal(expression):
            return _linear(divided).times(1 / _fraction(divisor))
        case Call("neg", (inner,)) if expression.type.kind is Kind.DECIMAL:
            return _linear(inner).times(Fraction(-1))
        case Call("cast", (inner,)) if is_lossless(inner.type, expression.type):
            return _linear(inner)
    return alone


def polynomial(expression: Expression) -> LinearForm:
    """As ``linear``, but INTEGER arithmetic that 38 digits are few for is looked through, as if it had them.

    It is what such arithmetic means wherever it does not overflow.
    """
    match expression:
        case Call("+" | "-" | "*" as operator, (left, right)) if overflows(expression):
            one, other = polynomial(left), polynomial(right)
            if operator == "*":
                return one.product(other) or linear(expression)
            return one.plus(other.times(Fraction(1 if operator == "+" else -1)))
        case Call("neg", (inner,)) if overflows(expression):
            return polynomial(inner).times(Fraction(-1))
        case Call("cast", (inner,)) if overflows(expression):
            return polynomial(inner)
    return linear(expression)


def overflows(expression: Expression) -> bool:
    """Whether it is exact arithmetic with a part, of INTEGER, that overflows for some values and cannot be widened."""
    match expression:
        case Call("+" | "-" | "*" | "neg", arguments, type_) if type_.kind is Kind.INTEGER:
            return widened_expression(expression).type.kind is Kind.INTEGER or any(map(overflows, arguments))
        case Call("+" | "-" | "*", arguments) if is_exact_decimal(expression):
            return any(map(overflows, arguments))
        case Call("cast", (inner,)) if is_lossless(inner.type, expression.type):
            return overflows(inner)
    return False


def _monomial(one: Expression, other: Expression) -> Expression | None:
    """The product of two terms, in reading order of all factors; ``None`` without a type that holds every product."""
    first, *others = sorted((*factors_of(one), *factors_of(other)), key=reading_order)
    if DATE in (first.type, *(factor.type for factor in others)):
        return None
    product: Expression | None = first
    for factor in others:
        product = product and exact_call("*", product, factor)
    return product


def factors_of(term: Expression) -> tuple[Expression, ...]:
    """The factors of a term, without conversions.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> square = exact_call("*", Column("a", INTEGER), Column("a", INTEGER))
        >>> [text(factor) for factor in factors_of(square)]
        ['a', 'a']
    """
    match term:
        case Call("*", (left, right)) if is_exact_decimal(term):
            return (*factors_of(left), *factors_of(right))
        case Call("cast", (inner,)) if is_lossless(inner.type, term.type):
            return factors_of(inner)
    return (term,)


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
