"""Which syntax nodes are calls of built-in aggregates, by one name for all spellings, and with what arguments.

sqlglot has a node for most aggregates and plain names for some, and wraps WITHIN GROUP, ORDER BY and DISTINCT around
them in ways of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from workbench.sql.functions.aggregates import AGGREGATES
from workbench.sql.syntax.source_text import SourceText

_NODES = {node: aggregate.name for aggregate in AGGREGATES.values() for node in aggregate.nodes}
_NAMES = {name: aggregate.name for aggregate in AGGREGATES.values() for name in aggregate.names}
_PARTS = {"this", "expressions", "expression", "quantile", "separator", "accuracy"}
_FLAGS = {"big_int", "deterministic", "nulls_excluded"}
"""Parts that the parser sets by the dialect; where an argument stands there, the call has too many."""

"""How different rows of several values are counted, where COUNT takes one."""


@dataclass(frozen=True)
class AggregateSyntax:
    """A call of an aggregate: its arguments, whether they are DISTINCT, and what its values are ordered by.

    ``ignore_nulls``: whether it says IGNORE NULLS, as all but FIRST and LAST do anyway. ``limit``: of ARRAY_AGG.
    """

    name: str
    parts: list[exp.Expr]
    distinct: bool = False
    order: tuple[exp.Ordered, ...] = ()
    ignore_nulls: bool = False
    limit: exp.Expr | None = None


def aggregate_name(node: exp.Expr) -> str | None:
    """The name of the built-in aggregate that a node calls; ``None`` when it calls none.

    Example:
        >>> import sqlglot
        >>> aggregate_name(sqlglot.parse_one("every(a)")), aggregate_name(sqlglot.parse_one("abs(a)"))
        ('bool_and', None)
    """
    if isinstance(node, (exp.WithinGroup, exp.IgnoreNulls)):
        return aggregate_name(node.this)
    if isinstance(node, exp.Anonymous):
        return _NAMES.get(node.name.lower())
    return _NODES.get(type(node))


def read_aggregate(name: str, node: exp.Expr, source: SourceText) -> AggregateSyntax:
    """The parts of an aggregate's call; ``name`` is that of ``node``, also of one of the analyst's.

    Raises:
        UnsupportedError: the call has a part that is not evaluated.
    """
    match node:
        case exp.IgnoreNulls():
            return replace(read_aggregate(name, node.this, source), ignore_nulls=True)
        case exp.WithinGroup():
            return _within_group(name, node, source)
        case exp.Anonymous():
            source.refuse_others(node, {"this", "expressions"}, node.name.upper())
            parts = list(node.expressions)
        case _:
            flags = {flag for flag in _FLAGS if not isinstance(node.args.get(flag), exp.Expr)}
            source.refuse_others(node, _PARTS | flags, name.upper())
            keys = ("this", "expression", "expressions", "quantile", "separator", "accuracy")
            found = [node.args.get(key) for key in keys]
            parts = [p for one in found for p in (one if isinstance(one, list) else [one]) if p is not None]
    if len(parts) == 1 and isinstance(parts[0], exp.Star):
        source.refuse_others(parts[0], set(), "COUNT(*)")
        return AggregateSyntax(name, [])
    order: tuple[exp.Ordered, ...] = ()
    limit = parts[0].expression if name == "array_agg" and parts and isinstance(parts[0], exp.Limit) else None
    if limit is not None:
        parts[0] = parts[0].this
    if parts and isinstance(parts[0], exp.Order):
        order = tuple(parts[0].expressions)
        parts[0] = parts[0].this
    distinct = bool(parts) and isinstance(parts[0], exp.Distinct)
    counted = parts[0].expressions if distinct else parts
    if len(counted) > 1 and name == "count" and (row := source.rules.counts_rows_as):
        of_rows = "COUNT(*) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)"
        hint = f"COUNT(DISTINCT {row}), or COUNT(*) over a SELECT DISTINCT" if distinct else of_rows
        raise source.error("COUNT takes one value", counted[1], f"write {hint}")
    if distinct:
        source.refuse_others(parts[0], {"expressions"}, "DISTINCT")
        return AggregateSyntax(name, [*parts[0].expressions, *parts[1:]], True, order, limit=limit)
    return AggregateSyntax(name, parts, isinstance(node, exp.ArrayUniqueAgg), order, limit=limit)


def _within_group(name: str, node: exp.WithinGroup, source: SourceText) -> AggregateSyntax:
    """PERCENTILE_CONT(p), PERCENTILE_DISC(p) and MODE() WITHIN GROUP (ORDER BY x)."""
    order = tuple(node.expression.expressions)
    if name not in ("percentile", "percentile_disc", "mode"):
        source.refuse(f"{name.upper()} WITHIN GROUP", node, "write the order behind the arguments: (x ORDER BY y)")
    if len(order) != 1:
        source.refuse("WITHIN GROUP by several expressions", node)
    called = node.this
    source.refuse_others(called, () if name == "mode" else ("this",), f"{name.upper()} WITHIN GROUP")
    if name == "mode":
        if order[0].args.get("desc"):
            source.refuse(
                "MODE of a descending order", node, "of values that are as frequent MODE(x) takes the smallest"
            )
        return AggregateSyntax(name, [order[0].this])
    if isinstance(called, exp.Anonymous):  # without a share
        return AggregateSyntax(name, [order[0].this])
    if name == "percentile_disc":
        return AggregateSyntax(name, [order[0].this, called.this], False, order)
    if not order[0].args.get("desc"):
        return AggregateSyntax(name, [order[0].this, called.this])
    # Descending, a share is counted from the other end.
    share = called.this.transform(_from_the_other_end)
    if any(isinstance(part, exp.Expr) and not isinstance(part, (exp.Literal, exp.Array)) for part in share.walk()):
        source.refuse("a share that is no plain number, in a descending order", called, "as in PERCENTILE_CONT(0.9)")
    return AggregateSyntax(name, [order[0].this, share])


def _from_the_other_end(share: exp.Expr) -> exp.Expr:
    is_number = isinstance(share, exp.Literal) and not share.is_string
    return exp.Literal.number(str(1 - Decimal(share.name))) if is_number else share
