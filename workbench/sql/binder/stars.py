"""The columns of ``*``, ``t.*`` and ``s.*``, and what stands after a dot."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.expressions import Expression
from workbench.sql.binder.scope import Scope
from workbench.sql.binder.window_functions import bind_part, is_window_call
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.functions.structs import column_before_field, field, fields


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


@reads(exp.Dot, parts="this expression")
def after_dot(b: ExpressionBinder, node: exp.Dot) -> Expression:
    """The part after a dot: a field, or the start or end of a window."""
    if is_window_call(node.this) or not isinstance(node.expression, exp.Identifier):
        return bind_part(b, node)
    return field(b, b.bind(node.this), node.expression.name, node)
