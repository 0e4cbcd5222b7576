"""Structs: STRUCT(a AS x, b), NAMED_STRUCT('x', a), and their fields, ``s.x``."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from workbench.errors import SqlError, nearest
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import INTEGER, Kind, struct_of
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.binder.scope import Scope
from workbench.sql.binder.window_functions import bind_part, is_window
from workbench.sql.functions.calls import call
from workbench.sql.syntax.dialects import SPARK_FAMILY


def struct(b: ExpressionBinder, node: exp.Struct) -> Expression:
    """A struct of named values; the parser gives names to those that have none."""
    if b.dialect not in (*SPARK_FAMILY, "duckdb"):
        b.source.refuse(f"a struct in {b.dialect}", node, "write it in spark: STRUCT(a AS x, b AS y)")
    named: list[tuple[str, Expression]] = []
    for place, part in enumerate(node.expressions, start=1):
        if isinstance(part, exp.PropertyEQ):
            named.append((part.this.name, b.bind(part.expression)))
        elif b.dialect == "duckdb":
            raise b.source.error("a field of a struct has a name", part, "write {'x': a}")
        else:
            named.append((f"col{place}", b.bind(part)))
    try:
        type_ = struct_of([(name, value.type) for name, value in named])
    except SqlError as error:
        raise b.source.error(error.message, node, error.hint) from None
    return Call("struct", tuple(value for _, value in named), type_)


def to_json(b: ExpressionBinder, node: exp.JSONFormat) -> Expression:
    """TO_JSON(s) of a struct, an array or a map, as Spark writes it."""
    if b.dialect not in SPARK_FAMILY:
        b.source.refuse(f"TO_JSON in {b.dialect}", node, "write it in spark")
    return call("to_json", b.bind(node.this))


def fields(value: Expression) -> list[tuple[str, Expression]]:
    """The fields of a struct by their names."""
    return [(name, call("field", value, Constant(place, INTEGER))) for place, (name, _) in enumerate(value.type.fields)]


def starred(
    scope: Scope, star: exp.Star, node: exp.Expr, bind: Callable[[exp.Expr], Expression]
) -> list[tuple[str, Expression]]:
    """The columns of ``*``, ``t.*`` or ``s.*``, with what EXCEPT, REPLACE and RENAME say of them."""
    scope.source.refuse_others(star, {"except_", "replace", "rename"}, "*")
    named = _columns_of_star(scope, node)

    def column(node: exp.Expr) -> str:
        name, known = node.name.lower(), [column for column, _ in named]
        if name not in known:
            raise scope.source.error(f"* has no column {node.name}", node, nearest(name, known))
        return name

    left_out = {column(n) for n in star.args.get("except_") or ()}
    renamed = {column(n.this): n.alias for n in star.args.get("rename") or ()}
    replaced = {column(n.args["alias"]): bind(n.this) for n in star.args.get("replace") or ()}
    return [(renamed.get(n, n), replaced.get(n, e)) for n, e in named if n not in left_out]


def _columns_of_star(scope: Scope, node: exp.Expr) -> list[tuple[str, Expression]]:
    """The columns of ``*``, of ``t.*``, or of ``s.*`` with a struct ``s``.

    Raises:
        SqlError: there is no such item in FROM, nor a struct.
    """
    whole = column_before_field(node) if isinstance(node, exp.Column) else None
    if whole is None:
        return list(scope.columns)
    is_item = not whole.table and any(item.alias.lower() == whole.name.lower() for item in scope.items)
    if not is_item and scope.has(whole) and (named := fields(scope.resolve(whole))):
        return named
    return list(scope.item(whole.name, node).columns.items())


def column_before_field(node: exp.Column) -> exp.Column | None:
    """``t.s`` of ``t.s.f``, which may be a column with a field."""
    outer = [node.args[key].copy() for key in ("table", "db", "catalog") if node.args.get(key) is not None]
    return exp.Column(**dict(zip(("this", "table", "db"), outer, strict=False))) if outer else None


def after_dot(b: ExpressionBinder, node: exp.Dot) -> Expression:
    """What stands after a dot: a field, or the start or end of a window."""
    if is_window(node.this) or not isinstance(node.expression, exp.Identifier):
        return bind_part(b, node)
    return field(b, b.bind(node.this), node.expression.name, node)


def field(b: ExpressionBinder, value: Expression, name: str, node: exp.Expr) -> Expression:
    """A field of a struct, by its name.

    Raises:
        SqlError: it has no such field, or is no struct.
    """
    if not value.type.fields:
        hint = f"TRANSFORM(x, v -> v.{name}) has those of an array" if value.type.kind is Kind.ARRAY else None
        hint = (
            f"{node.sql()[: -len(name) - 1]}['{name}'] is a value of the map" if value.type.kind is Kind.MAP else hint
        )
        raise b.source.error(f"the value before .{name} is no struct, but {value.type}", node, hint)
    names = [known for known, _ in value.type.fields]
    if name.lower() not in names:
        hint = nearest(name, names) or f"it has {', '.join(names[:8])}"
        raise b.source.error(f"the struct has no field {name}", node, hint)
    return call("field", value, Constant(names.index(name.lower()), INTEGER))
