"""Calls of functions: ``call`` builds every typed expression.

It coerces arguments, finds the type and folds constants. An expression has no other functions but those of
``FUNCTIONS`` and the analyst's own.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.sql.algebra import arithmetic, coercion
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression, calls
from workbench.sql.algebra.folding import fold
from workbench.sql.algebra.types import INSTANT, STRING, TIMESTAMP, DataType
from workbench.sql.algebra.zones import UTC, in_zone, instant_of, zoning
from workbench.sql.functions.declaration import Function

FUNCTIONS: dict[str, Function] = {}
"""Every function by its name in expressions; the package fills it from the modules that declare them."""
NOW = "now"
"""The event time of streams, which is no function of values and has no declaration."""
SESSION_START = "session_start"
"""The start of the session that a row is in, which depends on the other rows of its group, and has none either."""
WITHIN = "within"
"""An integer, or NULL where the type of the result has no such number."""
_OFFSET_IN_TEXT = r"[T ][0-9][0-9:.]*\s*[^0-9:.\s]"
"""The pattern of a text of a time in which something stands behind the clock."""

NUMBER_OF_TEXT = (
    "CAST(… AS DOUBLE) makes a number of a text as 1.5; a column of texts as 4,5% or $1,200 is read as numbers where "
    "its stream is added with --type COLUMN=double"
)
"""A hint where a text stands for a number."""


def call(name: str, *arguments: Expression) -> Expression:
    """The typed expression for a function applied to arguments, folded when that is exact.

    Raises:
        TypeClash: the arguments are of the wrong number or types.
        KeyError: there is no such function.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> call("+", Constant(1, INTEGER), Constant(2, INTEGER)).value
        3
    """
    function = FUNCTIONS[name]
    if not function.least <= len(arguments) <= function.most:
        needed = f"{function.least}" if function.least == function.most else f"{function.least} to {function.most}"
        plural = "" if needed == "1" else "s"
        called = name.removesuffix("_of_bytes").removesuffix("_of_text")
        raise TypeClash(f"{called} takes {needed} argument{plural}, not {len(arguments)}")
    coerced, type_ = function.rule(arguments)
    return _value(Call(name, coerced, type_))


def fold_calls(expression: Expression) -> Expression:
    """An expression in which columns have become constants: its calls on constants as values where these are certain.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> nothing = Call("*", (Constant(2, INTEGER), Call("neg", (Constant(None, INTEGER),), INTEGER)), INTEGER)
        >>> fold_calls(nothing).value is None
        True
    """
    if not isinstance(expression, Call):
        return expression
    return _value(replace(expression, arguments=tuple(map(fold_calls, expression.arguments))))


def _value(called: Call) -> Expression:
    """A call of a function, or its value where it is one of constants and certain."""
    if not called.arguments or not all(isinstance(a, Constant) for a in called.arguments):
        return called
    if is_strict(called.function) and any(map(coercion.is_null, called.arguments)):
        return Constant(None, called.type)
    return fold(called) or called


def cast(expression: Expression, type_: DataType) -> Expression:
    """The expression converted; values that cannot be give NULL.

    Raises:
        TypeClash: there is no conversion between the types at all.
    """
    if expression.type == type_:
        return expression
    coercion.check_cast(expression, type_)
    if coercion.is_null(expression):
        return Constant(None, type_)
    if INSTANT in (expression.type, type_):
        return _cast_in_zone(expression, type_)
    result = Call("cast", (expression,), type_)
    return fold(result) or result


def instant_of_micros(micros: Expression) -> Expression:
    """The instant that many microseconds after 1970 in UTC, whatever clocks show in the text's zone."""
    return instant_of(call("timestamp_micros", micros), UTC, takes_last=False)


def _cast_in_zone(expression: Expression, type_: DataType) -> Expression:
    """An instant as a text or another time, or one of these as an instant, by the clock of the text's zone."""
    if type_ == STRING:
        return coercion.as_string(expression)
    if expression.type != STRING:
        converted = in_zone(expression, type_)
        return converted if isinstance(converted, Constant) else _folded(converted)
    with_offset = call("instant_of_text", expression)
    if zoning().zone == UTC or isinstance(with_offset, Constant):
        return with_offset
    has_offset = call("rlike", expression, Constant(_OFFSET_IN_TEXT, STRING))
    return call("case", has_offset, with_offset, in_zone(cast(expression, TIMESTAMP), INSTANT))


def _folded(expression: Expression) -> Expression:
    return (fold(expression) if isinstance(expression, Call) else None) or expression


def is_strict(name: str) -> bool:
    """Whether a function is NULL as soon as one argument is, as far as that is known.

    Example:
        >>> [is_strict(name) for name in ("upper", "coalesce", "half@1")]
        [True, False, False]
    """
    return name in FUNCTIONS and FUNCTIONS[name].strict


def within(expression: Expression, type_: DataType) -> Expression:
    """An integer that is computed, NULL where it does not fit into a type of fewer bits.

    Comparisons read what is computed, as if every integer had room (``_comparison``).
    """
    if isinstance(expression, Constant):
        fitting = isinstance(expression.value, int) and arithmetic.fits(expression.value, type_)
        return Constant(expression.value if fitting else None, type_)
    return Call(WITHIN, (expression,), type_)


def calls_functions(expression: Expression) -> bool:
    """Whether an expression calls a function of the analyst.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> [calls_functions(Call(name, (Column("a", DOUBLE),), DOUBLE)) for name in ("sqrt", "half@1")]
        [False, True]
    """
    return not calls(expression) <= FUNCTIONS.keys()
