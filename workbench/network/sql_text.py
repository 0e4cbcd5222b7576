"""Nodes as SQL: what each computes from its parents, as an analyst would write it.

Parents are called by their ids, so that the statements of a query's nodes, read from the source down, are the query
factored the way it runs (T Table 3.1). The text is for people; ids come from ``expressions.identity``.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.network.nodes import Aggregate, Analytic, Join, Node, Selection, SetOperation, Source, Window
from workbench.sql.algebra.analytic import AnalyticCall, Over
from workbench.sql.algebra.column_names import display_name, quoted
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    column_name,
    reading_order,
    shown_function,
    text,
)
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet
from workbench.sql.windows.bounds import time_and_end

SIDE_NAMES = ("l", "r")
"""What a join's statement calls its left and its right parent."""

INFIX = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>", "like", "ilike", "rlike"), 4),
    "||": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
    "div": 7,
}
"""Operators written between their operands: how strongly they bind."""
ASSOCIATIVE = {"or", "and", "||", "+", "*"}
NOT, TEST, NEGATIVE = 3, 4, 8
"""How strongly NOT, IS NULL and IN, and a minus sign bind."""


def node_sql(node: Node) -> str:
    """The statement that computes a node from its parents.

    Example:
        >>> node_sql(Source("FedWireTrans"))
        'SELECT * FROM FedWireTrans'
    """
    match node:
        case Source():
            return f"SELECT * FROM {quoted(node.stream)}"
        case Selection():
            return f"SELECT * FROM {node.parent} WHERE {predicates_sql(node.predicates)}"
        case Join():
            on = f" ON {predicates_sql(node.tested, SIDE_NAMES)}" if node.tested else ""
            return f"SELECT * FROM {node.left} l {'' if on else 'CROSS '}JOIN {node.right} r{on}"
        case Aggregate():
            return _aggregate_sql(node)
        case SetOperation():
            branches = (f"SELECT {_named(values)} FROM {parent}" for parent, values in node.direct)
            return f" {node.operator.upper()} ".join(branches)
        case Window():
            return f"SELECT * FROM {node.parent} WHERE {window_sql(node.within)}"
        case Analytic():
            values = "".join(f", {analytic_sql(function)} AS {function.name}" for function in node.in_order)
            bound = f" QUALIFY {predicates_sql(node.bound)}" if node.bound else ""
            return f"SELECT *{values} FROM {node.parent}{bound}"


def analytic_sql(function: AnalyticCall) -> str:
    """An analytic function as SQL."""
    inner = ", ".join(map(expression_sql, function.arguments)) or ("*" if function.function == "count" else "")
    nulls = " IGNORE NULLS" if function.ignore_nulls else ""
    frame = "" if function.frame is None else function.frame.text
    parts = " ".join(part for part in (over_sql(function.over), frame) if part)
    return f"{function.function.upper()}({inner}){nulls} OVER ({parts})"


def over_sql(over: Over) -> str:
    """What stands in the parentheses of OVER; the order of peers is left out."""
    partition = f"PARTITION BY {', '.join(map(expression_sql, over.partition))}" if over.partition else ""
    keys = [expression_sql(key.expression) + key.direction for key in over.order]
    order = f"ORDER BY {', '.join(keys)}" if keys else ""
    return " ".join(part for part in (partition, order) if part)


def window_sql(window: PredSet) -> str:
    """The comparisons of a window, each with the row's time first."""
    ends = (time_and_end(end) for end in window)
    return " AND ".join(f"{expression_sql(time)} {operator} {expression_sql(end)}" for time, operator, end in ends)


def predicates_sql(predicates: PredSet, sides: tuple[str, ...] = ()) -> str:
    """A conjunction; columns are written with the name of their side when ``sides`` are given."""
    return " AND ".join(or_pred_sql(p, sides) for p in predicates) or "TRUE"


def or_pred_sql(predicate: ORPred, sides: tuple[str, ...] = ()) -> str:
    """A disjunction, in parentheses when it has more than one literal."""
    inner = " OR ".join(_literal_sql(literal, sides) for literal in predicate.literals)
    return f"({inner})" if len(predicate.literals) > 1 else inner


def expression_sql(expression: Expression | AggregateCall, sides: tuple[str, ...] = ()) -> str:
    """An expression with no more parentheses than it needs.

    Example:
        >>> from workbench.sql.algebra.types import DATE
        >>> expression_sql(Column("tran_date", DATE, 1), SIDE_NAMES)
        'r.tran_date'
    """
    return _sql(expression, sides, 0)


def _literal_sql(literal: Literal, sides: tuple[str, ...]) -> str:
    if literal.operator is Operator.HOLDS:
        return _sql(literal.left, sides, NOT)
    left = _sql(literal.left, sides, TEST + 1)
    right = "" if literal.right is None else f" {_sql(literal.right, sides, TEST + 1)}"
    return f"{left} {literal.operator.upper()}{right}"


def _sql(expression: Expression | AggregateCall, sides: tuple[str, ...], outer: int) -> str:
    """The expression, in parentheses when it binds less than ``outer``, what is around it."""
    match expression:
        case Column():
            name = quoted(display_name(expression.name))
            return f"{sides[expression.source]}.{name}" if sides else name
        case Constant():
            return text(expression)
        case AggregateCall():
            inner = ", ".join(_sql(a, sides, 0) for a in expression.arguments) or "*"
            # The total of counts is a sum, which is 0 and not NULL of nothing.
            function = "SUM" if expression.function == "total" else expression.function.upper()
            return f"{function}({'DISTINCT ' if expression.distinct else ''}{inner})"
        case Call():
            sql, own = _call(expression, sides)
            return f"({sql})" if own < outer else sql


def _call(call: Call, sides: tuple[str, ...]) -> tuple[str, int]:
    """A call, and how strongly its outermost operator binds."""

    def sql(argument: Expression, outer: int = 0) -> str:
        return _sql(argument, sides, outer)

    match call.function, call.arguments:
        case function, (first, *rest) if function in INFIX and rest:
            own = INFIX[function]
            nested = own if function in ASSOCIATIVE else own + 1
            leftmost = own + 1 if own == TEST else own  # comparisons do not chain
            return f" {function.upper()} ".join([sql(first, leftmost), *(sql(a, nested) for a in rest)]), own
        case "not", (condition,):
            return f"NOT {sql(condition, NOT)}", NOT
        case "neg", (value,):
            return f"-{sql(value, NEGATIVE)}", NEGATIVE
        case "is_null", (value,):
            return f"{sql(value, TEST + 1)} IS NULL", TEST
        case "in", (value, *choices):
            return f"{sql(value, TEST + 1)} IN ({', '.join(map(sql, choices))})", TEST
        case "case", (*pairs, otherwise):
            whens = (f"WHEN {sql(c)} THEN {sql(v)} " for c, v in zip(pairs[::2], pairs[1::2], strict=True))
            return f"CASE {''.join(whens)}ELSE {sql(otherwise)} END", NEGATIVE
        case "cast", (value,):
            return f"CAST({sql(value)} AS {str(call.type).upper()})", NEGATIVE
        case function, arguments:
            return f"{shown_function(function).upper()}({', '.join(map(sql, arguments))})", NEGATIVE


def _aggregate_sql(node: Aggregate) -> str:
    groups = [(node.direct_group(g), column_name(g)) for g in node.groups]
    if not node.statistics:
        return f"SELECT DISTINCT {_as_columns(groups)} FROM {node.parent}"
    statistics = [(node.direct_statistic(s), column_name(s)) for s in sorted(node.statistics, key=reading_order)]
    grouped = f" GROUP BY {', '.join(expression_sql(g) for g, _ in groups)}" if groups else ""
    return f"SELECT {_as_columns([*groups, *statistics])} FROM {node.parent}{grouped}"


def _as_columns(named: Iterable[tuple[Expression | AggregateCall, str]]) -> str:
    parts = ((expression_sql(expression), quoted(display_name(name))) for expression, name in named)
    return ", ".join(sql if sql == name else f"{sql} AS {name}" for sql, name in parts)


def _named(values: Iterable[Expression]) -> str:
    return ", ".join(f"{expression_sql(value)} AS c{i}" for i, value in enumerate(values, start=1))
