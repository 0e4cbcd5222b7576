"""Equality of NULL with NULL, in a form by which rows are found."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from workbench.sql.algebra.coercion import empty_array
from workbench.sql.algebra.expressions import Call, Constant, Expression, Value
from workbench.sql.algebra.types import STRING, DataType, Kind
from workbench.sql.functions.calls import call
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.predicates.normal_form import normal_form


def equal(left: Expression, right: Expression) -> PredSet:
    """That two values are equal, or both NULL.

    A value that stands for NULL may be there as well, so whether they are NULL is compared too.
    """
    same_nulls = call("=", call("is_null", left), call("is_null", right))
    filler = _filler(left.type)
    return normal_form(
        call("and", same_nulls, call("=", call("coalesce", left, filler), call("coalesce", right, filler)))
    )


def _filler(type_: DataType) -> Expression:
    """Some value of a type."""
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
