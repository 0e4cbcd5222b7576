"""Expressions: columns, constants and calls; immutable, typed, compared by value.

``bind`` builds them from SQL text. A column names the input it comes from by position (``source``): in a query block
the position in FROM, in a join node 0 (left) or 1 (right), and 0 wherever there is only one input.

An expression has two texts. ``identity`` is its canonical form, with types and with every name and string quoted: two
expressions have one identity exactly when they are equal. Ids, stored names and orders derive from it. ``text`` is for
people: it leaves types out, and a column called ``upper(s)`` reads like the call.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeGuard

from workbench.sql.algebra.types import DataType
from workbench.sql.interning import Interned

Value = int | Decimal | float | str | bool | dt.date | dt.datetime | None


_AFTER_GROUPS = 500_000
"""Inputs that are joined with groups, and not with rows, have sources from here on."""
_LEVEL = 1_000_000
"""Sources of columns of the outer query begin here, those of the next outer query twice as far (``Column.level``)."""


class Origin(IntEnum):
    """Sources of columns that no input has, in a query block; inputs are numbered from 0.

    Attributes:
        ALIAS: what several columns of a subquery in FROM have in common, by the name of one of them.
        ANALYTIC: the values of analytic functions that the block calls.
        GROUPED: statistics and groups, until the block is bound.
        COMPARED: statistics that subqueries are compared with. Its columns have a level, so it is above 0.
    """

    ALIAS = -3
    ANALYTIC = -2
    GROUPED = -1
    COMPARED = _AFTER_GROUPS - 1


@dataclass(frozen=True, eq=False)
class Column(Interned):
    """A column of an input, or of an ``Origin``."""

    name: str
    type: DataType
    source: int = 0

    @property
    def level(self) -> int:
        """How many queries farther out its input is: 0 for one of the query that reads it, 1 for the outer query.

        Example:
            >>> from workbench.sql.algebra.types import INTEGER
            >>> column = Column("a", INTEGER, 2)
            >>> column.level, column.outward().level, column.outward().inward() == column
            (0, 1, True)
        """
        return max(self.source, 0) // _LEVEL

    @property
    def group_input(self) -> int | None:
        """The number of its input among those that are joined with groups; ``None`` for other inputs."""
        return None if self.level or self.source < _AFTER_GROUPS else self.source - _AFTER_GROUPS

    def outward(self) -> Column:
        """The column as a subquery sees it."""
        return replace(self, source=self.source + _LEVEL)

    def inward(self) -> Column:
        """The column as the outer query sees it; one of its own inputs as it is."""
        return replace(self, source=self.source - _LEVEL) if self.level else self

    @cached_property
    def _identity(self) -> str:
        return f"{self.source}{json.dumps(self.name)}:{self.type}"

    @cached_property
    def _text(self) -> str:
        return f"{self.source}:{self.name}" if self.source else self.name


@dataclass(frozen=True, eq=False)
class Constant(Interned):
    """A value known when the query is registered; ``None`` is NULL.

    0.0 and -0.0 are two constants of DOUBLE, since functions tell them apart. DECIMAL has one zero, Python's two.
    """

    value: Value
    type: DataType

    def __post_init__(self) -> None:
        if isinstance(self.value, Decimal) and self.value.is_zero():
            object.__setattr__(self, "value", self.value.copy_abs())

    @staticmethod
    def interning_key(value: Value, type_: DataType) -> tuple[Any, ...]:
        """The value with its class, and the type; a float as it is written, where NaN is itself and 0.0 not -0.0."""
        return type(value), repr(value) if isinstance(value, float) else value, type_

    @cached_property
    def _identity(self) -> str:
        return f"={_constant_identity(self.value)}:{self.type}"

    @cached_property
    def _text(self) -> str:
        return _constant_text(self)


@dataclass(frozen=True, eq=False)
class Call(Interned):
    """A scalar function or operator applied to arguments.

    ``function`` is a name of ``sql/algebra/functions.py``, or the id of a function of the analyst, which has a version.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: DataType

    @cached_property
    def _identity(self) -> str:
        return f"{json.dumps(self.function)}({','.join(map(identity, self.arguments))}):{self.type}"

    @cached_property
    def _columns(self) -> frozenset[Column]:
        return frozenset[Column]().union(*map(columns, self.arguments))

    @cached_property
    def _calls(self) -> frozenset[str]:
        return frozenset([self.function]).union(*map(calls, self.arguments))

    @cached_property
    def _text(self) -> str:
        match self:
            case Call("variable", (Constant(name),)):
                return f"x{str(name).removeprefix(VARIABLE)}"
            case Call("within", (inner,)):
                return text(inner)
            case Call("lambda", (*variables, body)):
                names = ", ".join(map(text, variables))
                return f"{names if len(variables) == 1 else f'({names})'} -> {text(body)}"
            case Call(function, (left, right)) if not function[0].isalpha():
                return f"({text(left)} {function} {text(right)})"
            case Call(function, arguments, type_):
                # A cast says its target; other result types follow from the arguments.
                target = f" as {type_}" if function == "cast" else ""
                return f"{shown_function(function)}({', '.join(text(a) for a in arguments)}{target})"


Expression = Column | Constant | Call

VARIABLE = "->"
"""Names of variables of lambdas begin so, and names of columns never do."""


@dataclass(frozen=True)
class AggregateCall:
    """A basic statistic of a group: COUNT(*) has no arguments (T4.2, Table 4.2)."""

    function: str
    arguments: tuple[Expression, ...]
    type: DataType
    distinct: bool = False

    @cached_property
    def _identity(self) -> str:
        inner = ",".join(map(identity, self.arguments))
        return f"{json.dumps(self.function)}[{'distinct ' if self.distinct else ''}{inner}]:{self.type}"

    @cached_property
    def _text(self) -> str:
        inner = ", ".join(map(text, self.arguments)) or "*"
        return f"{self.function}({'distinct ' if self.distinct else ''}{inner})"


def joined_with_groups(number: int) -> int:
    """The source of an input that is joined with groups, by its number among those.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> Column("a", INTEGER, joined_with_groups(2)).group_input
        2
    """
    return _AFTER_GROUPS + number


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all below it, parents first."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Call):
            waiting += reversed(part.arguments)


def columns(expression: Expression) -> frozenset[Column]:
    """Every column the expression reads."""
    match expression:
        case Column():
            return frozenset([expression])
        case Constant():
            return frozenset()
        case Call():
            return expression._columns


def sources(expression: Expression) -> frozenset[int]:
    """Positions of the inputs the expression reads."""
    return frozenset(column.source for column in columns(expression))


def calls(expression: Expression) -> frozenset[str]:
    """Names of all functions called in the expression."""
    return expression._calls if isinstance(expression, Call) else frozenset()


def is_call(expression: Expression, function: str) -> TypeGuard[Call]:
    """Whether an expression is a call of this function."""
    return isinstance(expression, Call) and expression.function == function


def call_arguments(expression: Expression) -> tuple[Expression, ...]:
    """The arguments of a call; none of what is no call."""
    return expression.arguments if isinstance(expression, Call) else ()


def map_columns(expression: Expression, change: Callable[[Column], Expression]) -> Expression:
    """The expression with every column replaced by what ``change`` gives for it."""
    match expression:
        case Column():
            return change(expression)
        case Constant():
            return expression
        case Call():
            mapped = tuple(map_columns(a, change) for a in expression.arguments)
            same = all(a is b for a, b in zip(mapped, expression.arguments, strict=True))
            return expression if same else Call(expression.function, mapped, expression.type)


def substituted(expression: Expression, values: Mapping[Expression, Expression]) -> Expression:
    """The expression with some of its calls replaced; inner parts are replaced first.

    Example:
        >>> from workbench.sql.algebra.types import STRING
        >>> upper = Call("upper", (Column("s", STRING),), STRING)
        >>> text(substituted(Call("lower", (upper,), STRING), {upper: Column("t", STRING)}))
        'lower(t)'
    """
    if not values or not isinstance(expression, Call):
        return expression
    arguments = tuple(substituted(argument, values) for argument in expression.arguments)
    same = all(a is b for a, b in zip(arguments, expression.arguments, strict=True))
    call = expression if same else Call(expression.function, arguments, expression.type)
    return values.get(call, call)


def identity(expression: Expression | AggregateCall) -> str:
    """The canonical form: equal exactly for equal expressions, with all types, names and strings quoted as in JSON.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING
        >>> identity(Call("+", (Column("a", INTEGER, 1), Constant(20, INTEGER)), INTEGER))
        '"+"(1"a":integer,=20:integer):integer'
        >>> identity(Call("upper", (Column("s", STRING),), STRING)) == identity(Column("upper(s)", STRING))
        False
    """
    return expression._identity


def reading_order(expression: Expression | AggregateCall) -> tuple[str, str]:
    """A key to sort by: the order of texts, which people read, and that of identities where texts are equal."""
    return expression._text, expression._identity


def text(expression: Expression | AggregateCall) -> str:
    """The expression as people read it; different expressions may have one text (see ``identity``).

    Columns of the first input are bare, those of input *n* > 0 are marked ``n:``.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> text(Call("+", (Column("a", INTEGER, 1), Constant(20, INTEGER)), INTEGER))
        '(1:a + 20)'
    """
    return expression._text


def is_function_of_user(function: str) -> bool:
    """Whether a call is of a function of the analyst's: only these have versions.

    Example:
        >>> is_function_of_user("distance@1"), is_function_of_user("sqrt")
        (True, False)
    """
    return "@" in function


def shown_function(function: str) -> str:
    """A function as people read it: the first version of one is just its name.

    Example:
        >>> shown_function("distance@1"), shown_function("distance@2")
        ('distance', 'distance@2')
    """
    return function.removesuffix("@1")


def _digits(value: Decimal) -> str:
    """A decimal without zeros at its end: equal ones look alike, however they were written."""
    digits = f"{value:f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits == "-0" else digits


def _constant_identity(value: Value) -> str:
    """A value of a known type."""
    match value:
        case str():
            return json.dumps(value)
        case Decimal():
            return _digits(value)
        case dt.date():
            return value.isoformat()
        case _:
            return repr(value)


def _constant_text(constant: Constant) -> str:
    value = constant.value
    if value is None:
        return f"null::{constant.type}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, dt.datetime):
        zone = "+00" if constant.type.zoned else ""
        return f"{constant.type} '{value.isoformat(sep=' ')}{zone}'"
    if isinstance(value, dt.date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, float):
        return f"{value!r}d"
    return _digits(value) if isinstance(value, Decimal) else str(value)


def digest(identity: str, length: int = 8) -> str:
    """A short stable digest of a canonical form; ``hash()`` would differ between processes."""
    return hashlib.sha256(identity.encode()).hexdigest()[:length]


_COMPUTED = re.compile(r"_[0-9a-f]{8}$")


def column_name(expression: Expression | AggregateCall) -> str:
    """A readable, safe and unique column name for a computed expression, such as ``sum_a_466e6fac``.

    A plain column keeps its own name, unless it looks computed itself: COUNT(*) of groups by COUNT(*) has two columns
    of that text.
    """
    if isinstance(expression, Column) and not expression.source and not _COMPUTED.search(expression.name):
        return expression.name
    readable = re.sub(r"[^a-z0-9]+", "_", text(expression).lower()).strip("_")[:24].rstrip("_")
    return f"{readable}_{digest(identity(expression))}"
