"""Expressions and statistics as JSON text and back, exactly: types, spelling of constants, everything.

The JSON is made for reading too: ``{"call": "+", "arguments": […], "type": "integer"}``. One value has one text, so the
text, or a digest of it, tells expressions apart. The canonical text of an expression does not: it leaves types out.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from workbench.sql.algebra.aggregates import STATISTICS
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, Value
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType, Kind

_MANY = 1 << 16
"""How many decoded texts are cached."""
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def expression_json(expression: Expression) -> str:
    """An expression as JSON text.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> expression_json(Column("a", INTEGER))
        '{"column":"a","type":"integer"}'
    """
    return _dump(_tree(expression))


@cached(_MANY)
def expression_of(stored: str) -> Expression:
    """The expression of a JSON text: the inverse of ``expression_json``."""
    return _expression(json.loads(stored))


def expressions_json(expressions: Iterable[Expression]) -> str:
    """Several expressions as one JSON array."""
    return _dump([_tree(e) for e in expressions])


@cached(_MANY)
def expressions_of(stored: str) -> tuple[Expression, ...]:
    """The inverse of ``expressions_json``."""
    return tuple(map(_expression, json.loads(stored)))


def statistic_json(statistic: AggregateCall) -> str:
    """A basic statistic as JSON text."""
    tree = {"statistic": statistic.function, "arguments": [_tree(a) for a in statistic.arguments]}
    return _dump({**tree, "type": str(statistic.type), "distinct": statistic.distinct})


@cached(_MANY)
def statistic_of(stored: str) -> AggregateCall:
    """The inverse of ``statistic_json``."""
    tree = json.loads(stored)
    if tree["statistic"] not in STATISTICS:  # it would become SQL of Spark
        raise ValueError(f"{tree['statistic']!r} is no statistic")
    arguments = tuple(map(_expression, tree["arguments"]))
    return AggregateCall(tree["statistic"], arguments, type_of(tree["type"]), tree["distinct"])


@cached(_MANY)
def type_of(name: str) -> DataType:
    """The type of that name.

    Example:
        >>> type_of("decimal(15,2)")
        DataType(kind=<Kind.DECIMAL: 'decimal'>, precision=15, scale=2)
    """
    match = re.fullmatch(r"decimal\((\d+),(\d+)\)", name)
    return DataType(Kind.DECIMAL, int(match[1]), int(match[2])) if match else DataType(Kind(name))


def _dump(tree: object) -> str:
    return _ENCODER.encode(tree)


def _tree(expression: Expression) -> dict[str, object]:
    match expression:
        case Column(name, type_, source):
            tree: dict[str, object] = {"column": name, "type": str(type_)}
            return {**tree, "source": source} if source else tree
        case Constant(value, type_):
            return {"constant": plain_value(value), "type": str(type_)}
        case Call(function, arguments, type_):
            return {"call": function, "arguments": [_tree(a) for a in arguments], "type": str(type_)}


def _expression(tree: dict[str, Any]) -> Expression:
    type_ = type_of(tree["type"])
    if "column" in tree:
        return Column(tree["column"], type_, tree.get("source", 0))
    if "constant" in tree:
        return Constant(value_of(tree["constant"]), type_)
    return Call(tree["call"], tuple(map(_expression, tree["arguments"])), type_)


def plain_value(value: Value) -> object:
    """What JSON has stays as it is; the rest says its Python type, which the SQL type alone would not tell."""
    match value:
        case Decimal():
            return {"decimal": str(value)}
        case float():
            return {"float": repr(value)}
        case dt.datetime():
            return {"timestamp": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case _:
            return value


def value_of(tree: Any) -> Value:
    """The inverse of ``plain_value``."""
    match tree:
        case {"decimal": digits}:
            return Decimal(digits)
        case {"float": "nan"}:
            # The one NaN object of the process: a NaN equals nothing else.
            return math.nan
        case {"float": digits}:
            return float(digits)
        case {"timestamp": moment}:
            return dt.datetime.fromisoformat(moment)
        case {"date": day}:
            return dt.date.fromisoformat(day)
        case _:
            return tree
