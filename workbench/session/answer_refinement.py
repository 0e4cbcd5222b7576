"""Which rows of an answer are meant, as an analyst says it: a condition over its columns, values, an order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import numpy as np
import pandas as pd
from sqlglot import exp

from workbench.engine.answers import Refinement
from workbench.errors import QueryError, nearest
from workbench.session.state import QueryRecord
from workbench.sql.algebra.column_names import stored_name, unique_names
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DataType
from workbench.sql.answer_condition import bind_condition
from workbench.sql.logical import output_columns
from workbench.sql.predicates.cnf import TRUE, PredSet, rename_predicates


def refinement_of(
    query: QueryRecord, where: str | Mapping[str, object] | None, sort: str | None = None, descending: bool = False
) -> Refinement:
    """What is asked for, by the positions of the answer's columns; arguments and errors as in ``Query.head``."""
    names = list(_columns(query))
    condition = TRUE
    if where is not None and (not isinstance(where, str) or where.strip()):
        stored = {stored_name(name): place for place, name in enumerate(names)}
        bound = bound_condition(query, where)
        condition = rename_predicates(bound, lambda column: Column(f"_{stored[column.name]}", column.type))
    return Refinement(condition, None if sort is None else names.index(_column(query, sort)), descending)


def bound_condition(query: QueryRecord, condition: str | Mapping[str, object]) -> PredSet:
    """A condition over the columns of an answer, or the values that these have, NULL being one of them.

    Raises:
        SqlError: the condition has a mistake.
        QueryError: there is no such column, or SQL has no literal for a value.
    """
    if not isinstance(condition, str):
        if not condition:
            return TRUE
        tests = [equals(_column(query, name), value) for name, value in condition.items()]
        condition = exp.and_(*tests).sql(dialect=query.dialect)
    return bind_condition(condition, query.dialect, tuple(_columns(query).items()), query.timezone)


def equals(name: str, value: object) -> exp.Expression:
    """SQL: a column has a value.

    Raises:
        QueryError: SQL has no literal for it.

    Example:
        >>> equals("n", 3).sql(), equals("n", None).sql(), equals("x", 0.5).sql()
        ('n = 3', 'n IS NULL', "x = CAST('0.5' AS DOUBLE)")
    """
    column = exp.column(exp.to_identifier(name))
    value = value.item() if isinstance(value, np.generic) else value
    match value:
        case list() | dict() | tuple() | bytes():
            raise QueryError(f"rows are not found by {name}", hint="leave it out: SQL has no literal for its values")
        case float():
            return column.eq(exp.cast(exp.Literal.string(repr(value)), "double"))
        case dt.timedelta():
            micros = exp.Literal.string(str(value // dt.timedelta(microseconds=1)))
            return column.eq(exp.Interval(this=micros, unit=exp.var("MICROSECOND")))
        case dt.time():
            return column.eq(exp.Literal.string(value.isoformat()))
        case dt.date() if not isinstance(value, dt.datetime):  # sqlglot writes years before 1000 without zeros
            return column.eq(exp.cast(exp.Literal.string(value.isoformat()), "date"))
    return column.is_(exp.null()) if pd.isna(value) else column.eq(exp.convert(value))


def _columns(query: QueryRecord) -> dict[str, DataType]:
    """The columns of the answer, names in lower case."""
    columns = output_columns(query.logical)
    names = unique_names([name for name, _ in columns])
    return {name.lower(): type_ for name, (_, type_) in zip(names, columns, strict=True)}


def _column(query: QueryRecord, name: str) -> str:
    names = _columns(query)
    if name.lower() not in names:
        hint = f'sort="{name[1:]}", descending=True' if name[1:].lower() in names and name[0] == "-" else None
        hint = hint or nearest(name, list(names)) or f"its columns are {', '.join(names)}"
        raise QueryError(f"the answer has no column {name}", hint=hint)
    return name.lower()
