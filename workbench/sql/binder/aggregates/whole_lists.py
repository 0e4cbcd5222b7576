"""Lists of the rows of a group of which a query reads the number of elements, or those at an end, alone.

| form | written as |
|---|---|
| ``SIZE(COLLECT_LIST(x))`` | ``COUNT(x)`` |
| ``SIZE(COLLECT_SET(x))`` | ``COUNT(DISTINCT x)`` |
| ``LEN(LIST(x) FILTER (WHERE c))`` | ``NULLIF(COUNT_IF(c), 0)`` |
| ``JSON_ARRAY_LENGTH(JSON_AGG(x))`` | ``NULLIF(COUNT(*), 0)`` |
| ``ARRAY_MAX(COLLECT_LIST(x))`` | ``MAX(x)`` |
| ``LIST(x ORDER BY y)[-2]`` | ``LIST(x ORDER BY y DESC LIMIT 2)[2]`` |
| ``ELEMENT_AT(SORT_ARRAY(COLLECT_LIST(x)), -1)`` | ``COLLECT_LIST(x ORDER BY x DESC LIMIT 1)[0]`` |

So no whole list is made, which would cost a batch all rows of its groups. ``syntax/limited_lists.py`` finds those of
which a text takes the first elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
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
    map_columns,
    substituted,
    walk,
)
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.aggregate_rules import DESCENDING
from workbench.sql.functions.aggregates import Keep, expand
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block

_ENDS = {"array_max": "max", "array_min": "min"}
_LISTS = ("array_agg", f"array_agg{DESCENDING}")


def without_whole_lists(expression: Expression, statistics: dict[AggregateCall, None]) -> Expression:
    """An expression over statistics, to which those are added that it reads in the place of lists.

    Args:
        expression: over the columns of statistics.
        statistics: those that are kept; lists stay among them, since another expression may read them
            (``without_unread_lists``).
    """
    lists = {column_name(s): s for s in statistics if s.function in _LISTS}
    return substituted(expression, dict(_meanings(expression, lists, statistics.setdefault))) if lists else expression


def without_unread_lists(block: Block) -> Block:
    """A grouped block without the lists that none of its expressions reads."""
    assert block.grouping is not None
    read = {column.name for expression in block.result_expressions() for column in columns(expression)}
    kept = tuple(s for s in block.grouping.statistics if s.function not in _LISTS or column_name(s) in read)
    return replace(block, grouping=replace(block.grouping, statistics=kept))


def _meanings(
    expression: Expression, lists: Mapping[str, AggregateCall], keep: Keep
) -> Iterator[tuple[Expression, Expression]]:
    """The calls that need no list, and what they mean."""
    for part in walk(expression):
        if is_call(part, "element_at"):
            meaning = _element(part, lists, keep)
        elif (
            is_call(part, "array_size") or _is_json_length(part) or (isinstance(part, Call) and part.function in _ENDS)
        ):
            meaning = _number_or_end(part, lists, keep)
        else:
            continue
        if meaning is not None:
            yield part, meaning


def _number_or_end(part: Call, lists: Mapping[str, AggregateCall], keep: Keep) -> Expression | None:
    """How many elements a list has, or the least or the greatest one."""
    of = part.arguments[0]
    of = of.arguments[0] if is_call(of, "json_of_group") else of
    if (listed := _listed(of, lists)) is None:
        return None
    counts, value, *_ = listed.arguments
    if part.function in _ENDS:
        of_array = value.type.is_text_when_stored
        return None if of_array else expand(_ENDS[part.function], (_where(counts, value),), False, keep)
    if (number := _number(counts, value, listed.distinct, keep)) is None:
        return None
    return number if is_call(of, "coalesce") else call("nullif", number, Constant(0, INTEGER))


def _element(part: Call, lists: Mapping[str, AggregateCall], keep: Keep) -> Expression | None:
    """An element of a list, or of one in the order of its elements, from the elements up to its end."""
    array, place = part.arguments
    of, descending = _unsorted(array)
    listed = _listed(of, lists)
    if listed is None or not isinstance(place, Constant) or not isinstance(place.value, int) or not place.value:
        return None
    if of is not array and not _is_sorted_alike(listed):
        return None
    limited = _limited(listed, abs(place.value), descending != (place.value < 0))
    keep(limited)
    shown = map_columns(of, partial(replace, name=column_name(limited)))
    return call("get", shown, Constant(abs(place.value) - 1, INTEGER))


def _listed(of: Expression, lists: Mapping[str, AggregateCall]) -> AggregateCall | None:
    """The list that an expression has the elements of, which may be NULL where there are none, or empty."""
    column, *empty = call_arguments(of) if is_call(of, "coalesce") or is_call(of, "nullif") else (of,)
    return lists.get(column.name) if isinstance(column, Column) and all(map(_is_empty, empty)) else None


def _unsorted(array: Expression) -> tuple[Expression, bool]:
    """What SORT_ARRAY sorts, or an array itself; and whether it is sorted downwards."""
    if is_call(array, "sort_array") and isinstance(ascending := array.arguments[1], Constant):
        return array.arguments[0], ascending.value is False
    return array, False


def _is_sorted_alike(listed: AggregateCall) -> bool:
    """Whether the elements of a list stand in their own order, and none is NULL."""
    counts, value, *keys = listed.arguments
    return (
        listed.function == "array_agg" and not keys and _is_known(counts, value) and not value.type.is_text_when_stored
    )


def _limited(listed: AggregateCall, number: int, turned: bool) -> AggregateCall:
    """The list of some first elements, or where it is turned of the last ones, the last one first."""
    descending = listed.function.endswith(DESCENDING) != turned
    arguments = (Constant(number, INTEGER), *listed.arguments)
    return replace(listed, function="array_agg_limit" + DESCENDING * descending, arguments=arguments)


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
