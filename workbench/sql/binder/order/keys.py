"""ORDER BY: the expressions that rows are ordered by, and the hidden columns that an answer needs for it.

An unqualified name means a column of the select list before one of FROM, and a number a position in the list. NULL
stands where the dialect puts it unless NULLS FIRST or LAST says otherwise; sqlglot notes that on every key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from sqlglot import ErrorLevel, exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.column_names import stored_name, unique_names
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.ordering import SortKey, without_repetition
from workbench.sql.binder.protocols import outside_subqueries
from workbench.sql.functions.collation import note_key
from workbench.sql.functions.order_of_parts import placed
from workbench.sql.functions.reading import QUERIES
from workbench.sql.logical import Output
from workbench.sql.syntax.source_text import SourceText

T = TypeVar("T")

Named = tuple[str, Expression]

_HIDDEN = "order"
"""The name of an output that an answer is ordered by and does not show."""


def distinct_on_keys(
    columns: Sequence[exp.Expr], keys: Sequence[SortKey], read: Callable[[exp.Expr], list[SortKey]], source: SourceText
) -> list[SortKey]:
    """The keys of DISTINCT ON.

    Args:
        columns: of which each combination has one row.
        keys: of ORDER BY.
        read: keys of an ORDER BY, as ``sort_keys``.
        source: the text, for errors.

    Raises:
        SqlError: ORDER BY must begin with these columns, and does not.
    """
    on = read(exp.Order(expressions=[exp.Ordered(this=node) for node in columns])) if columns else []
    wanted = {key.expression for key in on}
    if source.rules.distinct_on_begins_order and any(key.expression not in wanted for key in keys[: len(wanted)]):
        listed = ", ".join(node.sql(source.dialect) for node in columns)
        hint = f"ORDER BY {listed}, … ; a query around it orders its rows otherwise"
        raise source.error("ORDER BY does not begin with the columns of DISTINCT ON", columns[0], hint)
    return on


def sort_keys(
    order: exp.Expr | None,
    items: Sequence[Named],
    bind: Callable[[exp.Expr], Expression],
    source: SourceText,
    called: Sequence[Named] = (),
) -> list[SortKey]:
    """The keys of an ORDER BY, which may refer to a select list.

    Args:
        order: the clause, if there is one.
        items: the select list.
        bind: of expressions that are neither a name nor a position in it.
        source: the text, for errors.
        called: items of the select list without an alias, by the names that they have besides (``function_name``).

    Raises:
        SqlError: a position that the select list does not have, a name that is unknown or means two columns of it, or
            an array of which the dialect has no order here.
    """
    if order is None:
        return []
    source.refuse_others(order, {"expressions"}, "ORDER BY")
    keys: list[SortKey] = []
    for node in order.expressions:
        source.refuse_others(node, {"this", "desc", "nulls_first"}, "ORDER BY")
        direction = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
        if isinstance(node.this, exp.Var) and node.this.name.upper() == "ALL":
            keys += [SortKey(placed(expression, source), *direction) for _, expression in items]
            continue
        selected = _selected(node.this, items, source, called)
        value = bind(node.this) if selected is None else selected
        note_key(source, node, value)
        keys.append(SortKey(placed(value, source), *direction))
    if whole := next((key.expression for key in keys if not key.expression.type.ordered), None):
        clash = coercion.no_order(whole)
        raise source.error(clash.message, order, clash.hint)
    return keys


def hidden_outputs(items: Sequence[Named], keys: Sequence[SortKey]) -> list[Named]:
    """A select list with what it is ordered by and does not show, after what it shows; names are unique."""
    shown = {expression for _, expression in items}
    hidden = dict.fromkeys(k.expression for k in keys if k.expression not in shown)
    names = unique_names([*(name for name, _ in items), *(_HIDDEN for _ in hidden)])
    return list(zip(names, [*(expression for _, expression in items), *hidden], strict=True))


def over_outputs(keys: Sequence[SortKey], outputs: Sequence[Output]) -> tuple[SortKey, ...]:
    """Keys over the columns of a query whose outputs they are made of.

    Raises:
        KeyError: one reads a column that is no output.
    """
    columns = {o.expression: Column(stored_name(o.name), o.type) for o in reversed(outputs)}

    def over(expression: Expression) -> Expression:
        match expression:
            case _ if expression in columns:
                return columns[expression]
            case Column():
                raise KeyError(expression.name)
            case Constant():
                return expression
            case Call():
                return replace(expression, arguments=tuple(map(over, expression.arguments)))

    return without_repetition(key.map(over) for key in keys)


def item_at(node: exp.Literal, items: Sequence[T], clause: str, source: SourceText) -> T:
    """The item of a select list whose position a number of ORDER BY or GROUP BY is.

    Raises:
        SqlError: the list has no such position.

    Example:
        >>> item_at(exp.Literal.number(2), ["a", "b"], "ORDER BY", SourceText("SELECT a, b FROM t ORDER BY 2"))
        'b'
    """
    position = int(node.name) if node.name.isdigit() and len(node.name) < 10 else 0
    if not 1 <= position <= len(items):
        hint = "the only position is 1" if len(items) == 1 else f"positions go from 1 to {len(items)}"
        raise source.error(f"{clause} {node.name} is not a position in the select list", node, hint)
    return items[position - 1]


def function_name(node: exp.Expr, source: SourceText) -> str:
    """The name of an item of the select list without an alias: that of its function, where the dialect does so."""
    while isinstance(node, (exp.Paren, exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        node = node.this
    if not source.rules.names_calls or not isinstance(node, exp.Func):
        return ""
    is_call = not isinstance(node, (exp.Cast, exp.Case, exp.Connector))
    return (source.called(node) or node.sql_name()).lower() if is_call else ""


def _selected(node: exp.Expr, items: Sequence[Named], source: SourceText, called: Sequence[Named]) -> Expression | None:
    """The column of the select list that a name or a position means, if it means one."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return item_at(node, items, "ORDER BY", source)[1]
    if not isinstance(node, exp.Column) or node.table:
        return None
    meant = {expression for name, expression in [*items, *called] if name.lower() == node.name.lower()}
    if len(meant) > 1:
        raise source.error(f"{node.name} stands twice in the select list", node, "give one of them another name")
    return meant.pop() if meant else None


def shown_name(node: exp.Expr, source: SourceText) -> str:
    """The name of an item of the select list: its alias, or its text."""
    if isinstance(node, exp.Alias):
        if isinstance(node.args["alias"], exp.Placeholder):
            source.refuse(
                "a colon behind a value", node, "x.a is a field of a struct, GET_JSON_OBJECT(s, '$.a') reads JSON"
            )
        return node.alias
    inner = node.unnest()
    if isinstance(inner, exp.Column):
        return inner.name
    queries = [part for part in outside_subqueries(node) if isinstance(part, QUERIES)]
    begins_inside = queries and queries != [node] and not any("start" in p.meta for p in outside_subqueries(node))
    return (None if begins_inside else source.select_item(node)) or node.sql(
        dialect=source.dialect, unsupported_level=ErrorLevel.IGNORE
    )
