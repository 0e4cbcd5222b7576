"""Lists of the rows of a group of which a query reads the number of elements, the least or the greatest one alone.

| form | written as |
|---|---|
| ``SIZE(COLLECT_LIST(x))`` | ``COUNT(x)`` |
| ``SIZE(COLLECT_SET(x))`` | ``COUNT(DISTINCT x)`` |
| ``LEN(LIST(x) FILTER (WHERE c))`` | ``NULLIF(COUNT_IF(c), 0)`` |
| ``JSON_ARRAY_LENGTH(JSON_AGG(x))`` | ``NULLIF(COUNT(*), 0)`` |
| ``ARRAY_MAX(COLLECT_LIST(x))`` | ``MAX(x)`` |

So no list is made, which would cost a batch all rows of its groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    call_arguments,
    column_name,
    columns,
    is_call,
    substituted,
    walk,
)
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.aggregates import Keep, expand
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block

_ENDS = {"array_max": "max", "array_min": "min"}


def without_whole_lists(expression: Expression, statistics: dict[AggregateCall, None]) -> Expression:
    """An expression over statistics, to which those are added that it reads in the place of lists.

    Args:
        expression: over the columns of statistics.
        statistics: those that are kept; lists stay among them, since another expression may read them
            (``without_unread_lists``).
    """
    lists = {column_name(s): s for s in statistics if s.function == "array_agg"}
    return substituted(expression, dict(_meanings(expression, lists, statistics.setdefault))) if lists else expression


def without_unread_lists(block: Block) -> Block:
    """A grouped block without the lists that none of its expressions reads."""
    assert block.grouping is not None
    read = {column.name for expression in block.result_expressions() for column in columns(expression)}
    kept = tuple(s for s in block.grouping.statistics if s.function != "array_agg" or column_name(s) in read)
    return replace(block, grouping=replace(block.grouping, statistics=kept))


def _meanings(
    expression: Expression, lists: Mapping[str, AggregateCall], keep: Keep
) -> Iterator[tuple[Expression, Expression]]:
    """The calls that need no list, and what they mean."""
    for part in walk(expression):
        if is_call(part, "array_size") or _is_json_length(part) or (isinstance(part, Call) and part.function in _ENDS):
            of = part.arguments[0]
            of = of.arguments[0] if is_call(of, "json_of_group") else of
            column, *empty = call_arguments(of) if is_call(of, "coalesce") or is_call(of, "nullif") else (of,)
            if not isinstance(column, Column) or column.name not in lists or not all(map(_is_empty, empty)):
                continue
            counts, value, *_ = lists[column.name].arguments
            if part.function in _ENDS:
                if not value.type.is_text_when_stored:
                    yield part, expand(_ENDS[part.function], (_where(counts, value),), False, keep)
            elif (number := _number(counts, value, lists[column.name].distinct, keep)) is not None:
                yield part, number if is_call(of, "coalesce") else call("nullif", number, Constant(0, INTEGER))


def _is_json_length(part: Expression) -> TypeGuard[Call]:
    """JSON_ARRAY_LENGTH(JSON_AGG(x))."""
    return is_call(part, "json_length") and is_call(part.arguments[0], "json_of_group") and _is_whole(part.arguments[1])


def _is_whole(path: Expression) -> bool:
    return isinstance(path, Constant) and path.value == "$"


def _number(counts: Expression, value: Expression, distinct: bool, keep: Keep) -> Expression | None:
    """How many elements a list has; ``None`` where NULL is one value of several."""
    if _is_known(counts, value):
        return expand("count", (value,), distinct, keep)
    if distinct:
        return None
    name, arguments = ("count", ()) if isinstance(counts, Constant) else ("count_if", (counts,))
    return expand(name, arguments, False, keep)


def _where(counts: Expression, value: Expression) -> Expression:
    """The values that are in a list; NULL is no end of one."""
    if isinstance(counts, Constant) or _is_known(counts, value):
        return value
    return call("case", counts, value, Constant(None, value.type))


def _is_empty(expression: Expression) -> bool:
    return is_call(expression, "array") and not expression.arguments


def _is_known(counts: Expression, value: Expression) -> bool:
    """Whether a row counts where its value is not NULL."""
    return counts == call("not", call("is_null", value))
