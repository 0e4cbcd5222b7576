"""Rewrites forms of Spark as plain SQL before anything is bound.

| form | written as |
|---|---|
| ``GROUPING__ID`` beside ROLLUP, CUBE or GROUPING SETS | ``GROUPING_ID()`` |
| ``ANY_VALUE(x) OVER (… ORDER BY y)`` | ``FIRST_VALUE(x) OVER (… ORDER BY y)``, which it is in Spark |
| ``x LEFT SEMI JOIN y ON`` a condition with a subquery | ``WHERE EXISTS (SELECT 1 FROM y WHERE …)``, of ANTI with NOT |
| ``STACK(2, a, b, c, d)`` | ``INLINE(ARRAY(STRUCT(a AS col0, b AS col1), STRUCT(c AS col0, d AS col1)))`` |
| ``ANY(p)``, but behind LIKE | ``BOOL_OR(p)`` |
| ``JSON_TUPLE(s, 'a', 'b')`` | ``INLINE`` of one struct of GET_JSON_OBJECT, ``c0`` and ``c1`` |
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from workbench.sql.syntax.shorthands import put_in_place

_SUBQUERIES = (exp.Exists, exp.Subquery, exp.Select, exp.SetOperation)
_MATCHES = (exp.Like, exp.ILike, exp.RegexpLike)
_GROUPING_ID = "grouping__id"


def with_forms_of_spark(tree: exp.Expr) -> exp.Expr:
    """A tree in which these forms are rewritten.

    Example:
        >>> import sqlglot
        >>> tree = sqlglot.parse_one("SELECT ANY_VALUE(x) OVER (ORDER BY y) FROM t", read="spark")
        >>> with_forms_of_spark(tree).sql("spark")
        'SELECT FIRST_VALUE(x) OVER (ORDER BY y) FROM t'
    """
    for node in list(tree.find_all(exp.Anonymous, exp.Any, exp.Stack, exp.AnyValue, exp.Select)):
        match node:
            case exp.Stack(this=exp.Literal() as count) if not count.is_string and count.name.isdigit():
                _write_stack(node, int(count.name))
            case exp.Anonymous() if node.name.lower() == "json_tuple":
                _write_json_tuple(node)
            case exp.Any(this=exp.Paren(this=condition)) if not isinstance(node.parent, _MATCHES):
                put_in_place(node, exp.LogicalOr(this=condition.copy()))
            case exp.AnyValue() if _is_ordered(node):
                put_in_place(node, exp.FirstValue(this=node.this.copy()))
            case exp.Select():
                _write_grouping_id(node)
                _write_semijoins(node)
    return tree


def _is_ordered(node: exp.AnyValue) -> bool:
    """Whether it has an OVER with an order, written there or in a named window."""
    window = node.parent
    while isinstance(window, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        window = window.parent
    if not isinstance(window, exp.Window) or isinstance(node.parent, exp.Filter):
        return False
    select = node.find_ancestor(exp.Select)
    named = {w.name.lower(): w for w in (select.args.get("windows") or () if select is not None else ())}
    while not window.args.get("order"):
        name = window.args.get("alias")
        following = named.pop(name.name.lower(), None) if name is not None else None
        if following is None:
            return False
        window = following
    return True


def _write_grouping_id(select: exp.Select) -> None:
    group = select.args.get("group")
    if group is None or group.find(exp.Cube, exp.Rollup, exp.GroupingSets) is None:
        return
    parts = [*select.expressions, *(select.args.get(part) for part in ("having", "order", "qualify"))]
    for part in (p for p in parts if p is not None):
        for column in list(part.find_all(exp.Column)):
            if not column.table and column.name.lower() == _GROUPING_ID:
                called = exp.GroupingId(expressions=[])
                called.meta.update(column.this.meta)
                column.replace(exp.alias_(called, _GROUPING_ID) if column.parent is select else called)


def _write_semijoins(select: exp.Select) -> None:
    """Write semijoins and antijoins whose ON has a subquery as conditions of WHERE, which only the left side shows."""
    joins: list[exp.Join] = select.args.get("joins") or []
    for join in list(joins):
        on, later = join.args.get("on"), joins[joins.index(join) + 1 :]
        if join.kind not in ("SEMI", "ANTI") or on is None or on.find(*_SUBQUERIES) is None:
            continue
        if any(other.side in ("RIGHT", "FULL") for other in later):
            continue
        joins.remove(join)
        one = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=join.this), where=exp.Where(this=on))
        found = exp.Exists(this=one)
        test = found if join.kind == "SEMI" else exp.Not(this=found)
        where = select.args.get("where")
        select.set("where", exp.Where(this=test if where is None else exp.and_(where.this, test, copy=False)))


def _write_stack(node: exp.Stack, rows: int) -> None:
    values = [value.copy() for value in node.expressions]
    width = -(-len(values) // max(rows, 1))
    values += [exp.null() for _ in range(rows * width - len(values))]
    named = [_struct("col", values[at : at + width]) for at in range(0, len(values), width)] if width else []
    if named:
        put_in_place(node, exp.Inline(this=exp.Array(expressions=named)))


def _write_json_tuple(node: exp.Anonymous) -> None:
    text, *keys = node.expressions or [exp.null()]
    if not keys or not all(isinstance(key, exp.Literal) and re.fullmatch(r"\w+", key.name) for key in keys):
        return
    values = [exp.func("get_json_object", text.copy(), exp.Literal.string(f"$.{key.name}"), dialect="spark")
              for key in keys]  # fmt: skip
    put_in_place(node, exp.Inline(this=exp.Array(expressions=[_struct("c", values)])))


def _struct(prefix: str, values: Sequence[exp.Expr]) -> exp.Expr:
    named = [exp.PropertyEQ(this=exp.to_identifier(f"{prefix}{i}"), expression=v.copy()) for i, v in enumerate(values)]
    return exp.Struct(expressions=named)
