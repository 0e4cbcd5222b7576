"""Expressions and predicates as Spark SQL text that never raises (``docs/design/isolation.md``).

The text of a function is in its declaration (``functions``); here are columns, constants, literals and predicates.
With ANSI mode on or off an overflow, a division by zero or a bad conversion gives NULL for that expression.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import DOUBLE, DataType, Kind
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.functions.conditions import comparison_sides
from workbench.sql.functions.declaration import IN_PYTHON, Function, let, variable_sql
from workbench.sql.functions.numeric_quotients import struct_sql
from workbench.sql.functions.stored_values import from_stored, to_stored
from workbench.sql.predicates.cnf import Literal, Operator, ORPred

_MAX_CHARACTERS = 4_000_000
"""Characters of an expression in Spark's SQL."""

_PYTHON = re.compile(rf"`(?:{IN_PYTHON}|[^`]+@[0-9]+[?]?`)")
"""A function of Python: one of ours, or of the analyst."""
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|->|[()\[\],]", re.DOTALL)

Naming = Callable[[Column], str]

NO_ARGUMENTS = "x''"
"""The argument of a user function without arguments: Spark counts its rows by their columns. None is given bytes."""


def to_spark(expression: Expression, column: Naming, wanted: str | None = None) -> str:
    """Spark SQL for an expression's value as it is stored, which is the value itself unless its type says otherwise.

    Args:
        expression: any expression.
        column: the text for a column, quoted as needed.
        wanted: a condition as Spark SQL, without which functions of the analyst are not called and give NULL.
            ``None``: they are called for every row, also where they stand in a CASE, of which Spark knows nothing.

    Raises:
        UnsupportedError: the text would be endless: some functions stand there several times for one call.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> to_spark(Call("+", (Column("a", INTEGER), Constant(1, INTEGER)), INTEGER), lambda c: c.name)
        'try_add(a, 1L)'
    """
    if not expression.type.is_text_when_stored:
        return value_to_spark(expression, column, wanted)
    match expression:
        case Column():
            return column(expression)
        case Constant():
            return f"cast(null as {expression.type.stored})"
        case Call("coalesce" | "nullif" as name, arguments):
            # One of them is chosen by its text, which reads none of them.
            return f"{name}({', '.join(to_spark(a, column, wanted) for a in arguments)})"
        case _:
            return to_stored(value_to_spark(expression, column, wanted), expression.type)


def value_to_spark(expression: Expression, column: Naming, wanted: str | None = None) -> str:
    """Spark SQL for an expression's value as part of another expression; arguments and errors as of ``to_spark``.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER, array_of
        >>> value_to_spark(Column("a", array_of(INTEGER)), lambda c: c.name)
        "from_json(a, 'array<bigint>')"
    """
    match expression:
        case Column():
            stored = column(expression)
            return from_stored(stored, expression.type) if expression.type.is_text_when_stored else stored
        case Constant(value, type_):
            return _constant(value, type_)
        case Call(name, arguments):
            rendered = [value_to_spark(a, column, wanted) for a in arguments]
            if sum(map(len, rendered)) > _MAX_CHARACTERS:
                what = "an expression that is too long when it is written for Spark is not supported"
                raise UnsupportedError(what, hint="compute a part of it in a view with GROUP BY")
            function = FUNCTIONS.get(name)
            if function is None:  # one of the analyst's
                given = ", ".join(rendered) or NO_ARGUMENTS
                if wanted is None:
                    return f"{user_function(name)}({given})"
                return f"{guarded_function(name)}({wanted}, {given})"
            return _outside_of_lambdas(function, expression, rendered)


def _outside_of_lambdas(function: Function, called: Call, arguments: list[str]) -> str:
    """A call whose arguments in Python stand in no lambda, where Spark takes none: they are computed before it."""
    in_python = {place for place, argument in enumerate(arguments) if _PYTHON.search(argument)}
    written = function.render(called, arguments)
    if not in_python or not has_python_in_lambda(written):
        return written
    names = {place: f"f{number}" for number, place in enumerate(sorted(in_python))}
    before = variable_sql("p")
    given = [f"{before}.{names[place]}" if place in names else text for place, text in enumerate(arguments)]
    computed = struct_sql(**{name: arguments[place] for place, name in names.items()})
    return let(before, computed, function.render(called, given))


def has_python_in_lambda(sql: str) -> bool:
    """Whether a text of Spark calls a function of Python, or of the analyst, in a lambda.

    Example:
        >>> has_python_in_lambda("transform(a, x -> `python:double`('f', x))")
        True
        >>> has_python_in_lambda("transform(`python:array<double>`('f', a), x -> x + 1)")
        False
    """
    depth, lambdas = 0, list[int]()
    for token in _TOKEN.finditer(sql):
        match token[0]:
            case "->":
                lambdas.append(depth)
            case "(" | "[":
                depth += 1
            case ")" | "]" | ",":
                while lambdas and lambdas[-1] == depth:
                    lambdas.pop()
                depth -= token[0] != ","
            case text if lambdas and _PYTHON.match(text):
                return True
    return False


def user_function(name: str) -> str:
    """Spark's name of a function of the analyst, by its id; no name reaches one of Spark's own, which run Java code.

    Raises:
        SqlError: it is no id of a function, but some other text.

    Example:
        >>> user_function("halved@1")
        '`halved@1`'
    """
    if not re.fullmatch(r"[^`]+@\d+", name):
        raise SqlError(f"{name!r} is no function of the session")
    return f"`{name}`"


def guarded_function(name: str) -> str:
    """Spark's name of it where its first argument says whether it is called at all.

    Example:
        >>> guarded_function("halved@1")
        '`halved@1?`'
    """
    return user_function(name)[:-1] + "?`"


def literal_to_spark(literal: Literal, column: Naming, wanted: str | None = None) -> str:
    """Boolean Spark SQL for one literal predicate; ``wanted`` as in ``to_spark``."""
    left = to_spark(literal.left, column, wanted)
    match literal.operator:
        case Operator.HOLDS:
            return left
        case Operator.IS_NULL | Operator.IS_NOT_NULL:
            return f"({left} {literal.operator})"
    assert literal.right is not None
    a, b = comparison_sides(literal.left, literal.right, left, to_spark(literal.right, column, wanted))
    return f"({a} {literal.operator} {b})"


def or_pred_to_spark(or_pred: ORPred, column: Naming) -> str:
    """Boolean Spark SQL for a disjunction."""
    parts = [literal_to_spark(x, column) for x in or_pred.literals]
    return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"


def predicates_to_spark(predicates: Iterable[ORPred], column: Naming) -> str:
    """Boolean Spark SQL for a conjunction, in this order; the empty one is ``true``."""
    return " and ".join(or_pred_to_spark(p, column) for p in predicates) or "true"


def _constant(value: object, type_: DataType) -> str:
    match value:
        case None:
            return f"cast(null as {type_.spark})"
        case bool():
            return str(value).lower()
        case int() if type_.kind is Kind.INTEGER:
            return f"{value}L" if value != -(2**63) else "(-9223372036854775807L - 1L)"
        case int() | Decimal():
            return f"cast('{value:f}' as {type_})"
        case float():
            return f"{value!r}D" if math.isfinite(value) else f"cast('{value}' as {DOUBLE})"
        case dt.datetime():
            return f"timestamp_ntz '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"date '{value.isoformat()}'"
        case _:
            return _string(str(value))


def _string(value: str) -> str:
    """A string literal; a dollar sign is written by its code, since Spark substitutes ``${...}`` in SQL text."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return "'" + escaped.replace("\0", "\\u0000").replace("$", "\\u0024") + "'"
