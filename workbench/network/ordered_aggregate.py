"""LISTAGG, ARRAY_AGG and PERCENTILE_DISC as SQL for analysts: with the order of their values, and which rows count."""

from __future__ import annotations

from collections.abc import Callable

from workbench.sql.algebra.expressions import AggregateCall, Call, Constant, Expression
from workbench.sql.functions.aggregate_rules import ARRAYS, DESCENDING

ORDERED_AGGREGATES = frozenset(
    {"percentile_disc_desc", *(f"{name}{end}" for name in ("listagg", *ARRAYS) for end in ("", DESCENDING))}
)


def ordered_aggregate_sql(call: AggregateCall, sql: Callable[[Expression], str]) -> str:
    """A call of one of ``ORDERED_AGGREGATES``; ``sql`` writes its parts.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import BOOLEAN, INTEGER, array_of
        >>> parts = (Constant(True, BOOLEAN), Column("k", INTEGER), Column("id", INTEGER))
        >>> ordered_aggregate_sql(AggregateCall("array_agg_desc", parts, array_of(INTEGER)), lambda part: part.name)
        'ARRAY_AGG(k ORDER BY id DESC)'
    """
    function, down = call.function.removesuffix(DESCENDING), call.function.endswith(DESCENDING)
    if function == "percentile_disc":
        ordered, share = call.arguments
        return f"PERCENTILE_DISC({sql(share)}) WITHIN GROUP (ORDER BY {sql(ordered)} DESC)"
    limit = ""
    if function == "listagg":
        value, separator, *keys = call.arguments
        name, inner, condition = "LISTAGG", f"{sql(value)}, {sql(separator)}", ""
    else:
        *limits, counts, value = call.arguments[: ARRAYS[function]]
        keys = [*call.arguments[ARRAYS[function] :]]
        name, condition = _counted(counts, value, call.distinct, sql)
        inner, limit = sql(value), "".join(f" LIMIT {sql(part)}" for part in limits)
    if down and not keys:
        keys = [value]
    order = f" ORDER BY {', '.join(sql(key) + ' DESC' * down for key in keys)}" if keys else ""
    distinct = "DISTINCT " if call.distinct and name != "COLLECT_SET" else ""
    return f"{name}({distinct}{inner}{order}{limit}){condition}"


def _counted(
    counts: Expression, value: Expression, distinct: bool, sql: Callable[[Expression], str]
) -> tuple[str, str]:
    """What an aggregate is called by which rows count, and its FILTER."""
    condition = ""
    match counts:
        case Call("case", (wanted, then, Constant(None))):
            counts, condition = then, f" FILTER (WHERE {sql(wanted)})"
    match counts:
        case Call("not", (Call("is_null", (same,)),)) if same == value:
            return "COLLECT_SET" if distinct else "COLLECT_LIST", condition
    return "ARRAY_AGG", condition
