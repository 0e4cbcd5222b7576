"""Expressions: immutable, typed, compared by value.

A closed family of three: a *column*, a *constant* and a *call*. SQL text becomes this once, in ``bind``; from there on
planning never touches a parse tree again, and two equal computations are equal objects.

A column names the input it comes from by position (``source``): in a query block the position in FROM, in a join node
0 (left) or 1 (right), and 0 wherever there is only one input.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cached_property

from workbench.sql.types import DataType


class Remembering:
    """Base of immutable values that planning looks up all the time: what follows from them is worked out once."""

    def __getstate__(self) -> dict[str, object]:
        # A hash holds in one process only, so what was remembered stays here.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


Value = int | Decimal | float | str | bool | dt.date | dt.datetime | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an input."""

    name: str
    type: DataType
    source: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A value known when the query is registered; ``None`` is NULL.

    0.0 and -0.0 are two constants, since functions tell them apart.
    """

    value: Value
    type: DataType

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant) or (self.type, self.value) != (other.type, other.value):
            return False
        return not isinstance(self.value, float) or repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((self.value, self.type))


@dataclass(frozen=True)
class Call(Remembering):
    """A scalar function or operator applied to arguments; ``function`` is a name of ``workbench.sql.functions``."""

    function: str
    arguments: tuple[Expression, ...]
    type: DataType

    @cached_property
    def _hash(self) -> int:
        return hash((self.function, self.arguments, self.type))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _text(self) -> str:
        match self:
            case Call(function, (left, right)) if not function[0].isalpha():
                return f"({text(left)} {function} {text(right)})"
            case Call(function, arguments, type_):
                # A cast says its target; other result types follow from the arguments.
                target = f" as {type_}" if function == "cast" else ""
                return f"{function}({', '.join(text(a) for a in arguments)}{target})"


Expression = Column | Constant | Call


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """A basic statistic of a group: COUNT(*) has no arguments (T4.2, Table 4.2)."""

    function: str
    arguments: tuple[Expression, ...]
    type: DataType
    distinct: bool = False


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all below it, parents first."""
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from walk(argument)


def columns(expression: Expression) -> frozenset[Column]:
    """Every column the expression reads."""
    return frozenset(part for part in walk(expression) if isinstance(part, Column))


def sources(expression: Expression) -> frozenset[int]:
    """Positions of the inputs the expression reads."""
    return frozenset(column.source for column in columns(expression))


def calls(expression: Expression) -> frozenset[str]:
    """Names of all functions called in the expression."""
    return frozenset(part.function for part in walk(expression) if isinstance(part, Call))


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


def text(expression: Expression | AggregateCall) -> str:
    """Canonical text: equal for equal expressions, different for different ones; identity and names derive from it.

    Columns of the first input are bare, those of input *n* > 0 are marked ``n:``. Constants carry their kind where the
    literal alone would not tell (1 and 1.0 and '1' differ).

    Example:
        >>> from workbench.sql.types import INTEGER
        >>> text(Call("+", (Column("a", INTEGER, 1), Constant(20, INTEGER)), INTEGER))
        '(1:a + 20)'
    """
    match expression:
        case Column():
            return f"{expression.source}:{expression.name}" if expression.source else expression.name
        case Constant():
            return _constant_text(expression)
        case AggregateCall():
            inner = ", ".join(text(a) for a in expression.arguments) or "*"
            return f"{expression.function}({'distinct ' if expression.distinct else ''}{inner})"
        case Call():
            return expression._text


def _constant_text(constant: Constant) -> str:
    value = constant.value
    if value is None:
        return f"null::{constant.type}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, dt.datetime):
        return f"timestamp '{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, float):
        return f"{value!r}d"
    return str(value)


def digest(canonical_text: str, length: int = 8) -> str:
    """A short stable digest; ``hash()`` would differ between processes."""
    return hashlib.sha256(canonical_text.encode()).hexdigest()[:length]


_COMPUTED = re.compile(r"_[0-9a-f]{8}$")


def column_name(expression: Expression | AggregateCall) -> str:
    """A readable, safe and unique column name for a computed expression; a plain column keeps its own name.

    A column that was computed itself gets a new one: COUNT(*) of groups by COUNT(*) has two columns of that text.

    Example:
        >>> from workbench.sql.types import INTEGER
        >>> column_name(AggregateCall("sum", (Column("a", INTEGER),), INTEGER))
        'sum_a_a9b435ea'
    """
    canonical = text(expression)
    if isinstance(expression, Column) and not expression.source and not _COMPUTED.search(expression.name):
        return expression.name
    readable = re.sub(r"[^a-z0-9]+", "_", canonical.lower()).strip("_")[:24].rstrip("_")
    return f"{readable}_{digest(canonical)}"
