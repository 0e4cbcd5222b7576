"""A condition over the rows of an answer, as an analyst types it to look at some of them."""

from __future__ import annotations

from workbench.errors import UnsupportedError
from workbench.sql.algebra.types import DataType
from workbench.sql.algebra.zones import UTC
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.schema import Schema

_ANSWER = "answer"
"""The name of the rows in errors, and in the condition if it uses one."""


def bind_condition(
    condition: str, dialect: str, columns: tuple[tuple[str, DataType], ...], timezone: str = UTC
) -> PredSet:
    """Bind a condition, as in WHERE, over some columns; it names them by their stored names.

    Args:
        condition: SQL.
        dialect: a dialect name of sqlglot.
        columns: names in lower case, and types.
        timezone: as in ``Schema``.

    Raises:
        SqlError: a mistake, with its place.
        UnsupportedError: it needs more than the columns of one row.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> str(bind_condition("n > 2 + 3", "spark", (("n", INTEGER),)))
        'n > 5'
    """
    end = "\n)" if "--" in condition else ")"  # a comment would hide it
    query = bind(
        f"SELECT * FROM {_ANSWER} WHERE ({condition}{end}", dialect, Schema({_ANSWER: columns}, timezone=timezone)
    ).query
    if not isinstance(query, Block) or len(query.inputs) != 1 or not query.is_plain or query.window:
        hint = "compare its columns with constants; register a query of its own for more: SELECT … FROM the query"
        raise UnsupportedError("a condition on an answer reads one of its rows at a time", hint=hint)
    return query.where
