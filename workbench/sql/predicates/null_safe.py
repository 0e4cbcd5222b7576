"""Equality of NULL with NULL, in a form by which rows are found."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from workbench.sql.algebra.coercion import empty_array
from workbench.sql.algebra.expressions import Call, Constant, Expression, Value, sources
from workbench.sql.algebra.types import STRING, DataType, Kind
from workbench.sql.functions.calls import call
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet, conjunction, or_pred, pred_set
from workbench.sql.predicates.normal_form import normal_form


def equal(left: Expression, right: Expression) -> PredSet:
    """The condition that two values are equal, or both NULL.

    A value that stands for NULL may be there as well, so whether they are NULL is compared too.
    """
    same_nulls = call("=", call("is_null", left), call("is_null", right))
    filler = _filler(left.type)
    return normal_form(
        call("and", same_nulls, call("=", call("coalesce", left, filler), call("coalesce", right, filler)))
    )


def with_null_safe_keys(predicates: PredSet) -> PredSet:
    """The same predicates, in which each equality of two inputs for which NULL is equal to NULL is one by ``equal``.

    It may be written ``a <=> b``, and ``a = b OR (a IS NULL AND b IS NULL)``: then it is two predicates, ``a = b OR a
    IS NULL`` and ``a = b OR b IS NULL``.
    """
    found, kept = list[PredSet](), set(predicates)
    for predicate in predicates:
        sides, parts = _null_safe(predicate)
        inputs = [sources(side) for side in sides]
        if sides and kept.issuperset(parts) and list(map(len, inputs)) == [1, 1] and inputs[0] != inputs[1]:
            found.append(equal(*sides))
            kept.difference_update(parts)
    return conjunction(pred_set(kept), *found) if found else predicates


def _null_safe(predicate: ORPred) -> tuple[tuple[Expression, Expression] | tuple[()], list[ORPred]]:
    """The sides of an equality that a predicate may be a part of, and the predicates that it is."""
    match sorted(predicate.literals, key=lambda literal: literal.operator is Operator.IS_NULL):
        case [Literal(Call("<=>", (left, right)), Operator.HOLDS)]:
            return (left, right), [predicate]
        case [Literal(left, Operator.EQ, right) as same, Literal(null, Operator.IS_NULL)] if null in (left, right):
            other = right if null == left else left
            if other is not None:
                return (null, other), [or_pred([same, Literal(side, Operator.IS_NULL)]) for side in (null, other)]
    return (), []


def equal_sides(predicates: PredSet) -> dict[tuple[Expression, Expression], list[ORPred]]:
    """What predicates say to be equal, or both NULL (``equal``), each with the predicates that say it."""
    return {sides: parts for sides in map(_both_null, predicates) if sides and (parts := _equal(sides, predicates))}


def _both_null(predicate: ORPred) -> tuple[Expression, Expression] | None:
    """The sides of a test whether two values are both NULL, or neither."""
    match predicate.literals:
        case (Literal(Call("is_null", (left,)), Operator.EQ, Call("is_null", (right,))),):
            return left, right
    return None


def _equal(sides: tuple[Expression, Expression], predicates: PredSet) -> list[ORPred]:
    """The tests that two values are equal or both NULL; empty where there is but one of the two."""
    both = []
    for predicate in predicates:
        match predicate.literals:
            case (Literal(Call("coalesce", (left, one)), Operator.EQ, Call("coalesce", (right, other))),):
                if one == other and {left, right} == set(sides):
                    both.append(predicate)
    return [*both, *(p for p in predicates if _both_null(p) == sides)] if both else []


def _filler(type_: DataType) -> Expression:
    """A value of a type that represents NULL."""
    match type_.kind:
        case Kind.ARRAY:
            return empty_array(type_)
        case Kind.STRUCT:
            return Call("struct", tuple(_filler(field) for _, field in type_.fields), type_)
        case Kind.BINARY:
            return call("unhex", Constant("", STRING))
    day = dt.datetime(1970, 1, 1)
    values: dict[Kind, Value] = {
        Kind.BOOLEAN: False,
        Kind.STRING: "",
        Kind.DATE: day.date(),
        Kind.TIMESTAMP: day,
        Kind.DOUBLE: 0.0,
    }
    return Constant(values.get(type_.kind, Decimal(0) if type_.kind is Kind.DECIMAL else 0), type_)
