"""Expressions and predicates of one row of each input, in plain Python."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from sharing import scalars
from sharing.scalars import plain
from sharing.small_streams import Row

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, Value
from workbench.sql.algebra.types import BOOLEAN, Kind
from workbench.sql.predicates.cnf import Literal, Operator, ORPred

Sides = tuple[Row, ...]
"""One row of each input, by position."""

NOW = {Kind.DATE: (dt.date(2002, 1, 5)), Kind.TIMESTAMP: dt.datetime(2002, 1, 5), Kind.INTEGER: 5}
"""What time it is in every stream: the largest event time of the data."""


@cache
def compiled(expression: Expression) -> Callable[[Sides], Value]:
    """The expression as a function of one row of each input."""
    match expression:
        case Column(name, type_, source):
            if type_.kind in (Kind.DOUBLE, Kind.DATE, Kind.TIMESTAMP):
                return lambda sides: plain(sides[source][name])
            return lambda sides: sides[source][name]
        case Constant(constant):
            value = plain(constant)
            return lambda sides: value
        case Call():
            inner = [compiled(a) for a in expression.arguments]
            called = lru_cache(10_000, typed=True)(scalars.function(expression, plain(NOW.get(expression.type.kind))))
            return lambda sides: called(*[argument(sides) for argument in inner])


@cache
def _test(literal: Literal) -> Callable[[Sides], bool]:
    left = compiled(literal.left)
    match literal.operator:
        case Operator.HOLDS:
            return lambda sides: left(sides) is True
        case Operator.IS_NULL:
            return lambda sides: left(sides) is None
        case Operator.IS_NOT_NULL:
            return lambda sides: left(sides) is not None
    assert literal.right is not None
    both = compiled(Call(str(literal.operator), literal.expressions, BOOLEAN))
    return lambda sides: both(sides) is True


def satisfies(sides: Sides, predicates: Iterable[ORPred]) -> bool:
    """Whether every disjunction is true, not unknown."""
    return all(any(_test(literal)(sides) for literal in p.literals) for p in predicates)


def forget() -> None:
    """Let go of what was compiled, and of the values it gave."""
    compiled.cache_clear()
    _test.cache_clear()
