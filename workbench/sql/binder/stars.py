"""Expands ``*``, ``t.*``, ``s.*`` and COLUMNS(…) to columns, and reads what follows a dot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.algebra.types import struct_of
from workbench.sql.binder.protocols import outside_subqueries
from workbench.sql.binder.scope import Scope
from workbench.sql.binder.window_functions import bind_part, is_window_call
from workbench.sql.functions.reading import PATTERN_HINT, ExpressionBinder, reads
from workbench.sql.functions.structs import column_before_field, field, fields


def starred(
    scope: Scope, star: exp.Star, node: exp.Expr, bind: Callable[[exp.Expr], Expression]
) -> list[tuple[str, Expression]]:
    """The columns of ``*``, ``t.*`` or ``s.*``, with what EXCEPT, REPLACE and RENAME say of them."""
    scope.source.refuse_others(star, {"except_", "replace", "rename"}, "*")
    named = _columns_of_star(scope, node, bind)

    def column(node: exp.Expr) -> str:
        name, known = node.name.lower(), [column for column, _ in named]
        if name not in known:
            raise scope.source.error(f"* has no column {node.name}", node, _near(name, known))
        return name

    _refuse_nameless(star, scope)
    paths = [_path(n, scope) for n in star.args.get("except_") or ()]
    left_out = {column(path[0]) for path in paths if len(path) == 1}
    for first, *inner in (path for path in paths if len(path) > 1):
        place = [n for n, _ in named].index(column(first))
        named[place] = (named[place][0], _without_field(scope, named[place][1], inner))
    renamed = {column(n.this): n.alias for n in star.args.get("rename") or ()}
    replaced = {column(n.args["alias"]): bind(n.this) for n in star.args.get("replace") or ()}
    return [(renamed.get(n, n), replaced.get(n, e)) for n, e in named if n not in left_out]


def _refuse_nameless(star: exp.Star, scope: Scope) -> None:
    """Refuse a value of REPLACE that names no column to replace."""
    for value in star.args.get("replace") or ():
        if not value.alias:
            raise scope.source.error("REPLACE does not say of which column", value, "write REPLACE (kg * 2 AS kg)")


def _path(node: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """The names that EXCEPT writes with dots between: of a column and of fields in it, behind that of its FROM item."""
    whole = node.this if isinstance(node, exp.Dot) else node
    parts = list(whole.parts) if isinstance(whole, exp.Column) else [whole]
    parts += [node.expression] if isinstance(node, exp.Dot) else []
    is_item = len(parts) > 1 and any(item.alias.lower() == parts[0].name.lower() for item in scope.items)
    return parts[1:] if is_item else parts


def _without_field(scope: Scope, value: Expression, path: Sequence[exp.Expr]) -> Expression:
    """A struct without one of its fields, or without one of a field of it; of NULL one whose fields are NULL."""
    first, *inner = path
    name, known = first.name.lower(), fields(value)
    if name not in dict(known):
        raise scope.source.error(f"the struct has no field {first.name}", first, _near(name, [n for n, _ in known]))
    kept = [(n, _without_field(scope, e, inner) if n == name else e) for n, e in known if n != name or inner]
    if not kept:
        scope.source.refuse("a struct without fields", first, "leave the struct out")
    return Call("struct", tuple(e for _, e in kept), struct_of([(n, e.type) for n, e in kept]))


def for_each_column(nodes: Iterable[exp.Expr], scope: Scope) -> list[exp.Expr]:
    """Items of a list, those with COLUMNS(…) once for each column that it names, which are called as these are.

    ``MAX(COLUMNS('^a'))`` is ``MAX(a1) AS a1, MAX(a2) AS a2``. In an alias ``\\1`` is what the first group has matched.

    Raises:
        SqlError: no column is meant, or one that is not there.
        UnsupportedError: an item has two of them that differ, or one that is spread over arguments.
    """
    return [each for node in nodes for each in _for_each_column(node, scope)]


def _for_each_column(node: exp.Expr, scope: Scope) -> list[exp.Expr]:
    for place in [part for part in outside_subqueries(node) if isinstance(part, exp.PositionalColumn)]:
        column = scope.column_at(place)
        node = column if place is node else node
        place.replace(column)
    found = [part for part in outside_subqueries(node) if isinstance(part, exp.Columns) or _by_pattern(part, scope)]
    if not found:
        return [node]
    first, *others = found
    scope.source.refuse_others(first, {"this", "table"}, "COLUMNS")
    if any(other != first for other in others):
        scope.source.refuse("different COLUMNS in one item", others[0], "write an item for each")
    pattern = first.this.name if isinstance(first.this, exp.Literal) else None
    items: list[exp.Expr] = []
    named = _named_by(first, scope) if isinstance(first, exp.Columns) else _by_pattern(first, scope)
    for name, value in named:
        item = node.unalias().transform(lambda part, to=value: to.copy() if part == first else part)
        matched = re.search(pattern, name) if pattern is not None else None
        shown = matched.expand(node.alias) if matched and "\\" in node.alias else node.alias or name
        items.append(exp.alias_(item, shown, quoted=True, copy=False))
    if not items:
        raise scope.source.error(
            "COLUMNS names no column", first, f"there are {', '.join(n for n, _ in scope.columns)}"
        )
    return items


def _by_pattern(node: exp.Expr, scope: Scope) -> list[tuple[str, exp.Expr]]:
    """The columns that a quoted name is a pattern of, as Spark may read one that is no column; else none.

    Raises:
        SqlError: which ones it names depends on upper and lower case, which names of columns here do not tell.
    """
    if not scope.source.rules.explodes or not isinstance(node, exp.Column) or not node.this.args.get("quoted"):
        return []
    pattern = node.name
    known = [name for name, _ in (scope.columns_of(node.table) or () if node.table else scope.columns)]
    if pattern.lower() in known or re.fullmatch(r"[\w ]+", pattern):
        return []
    try:
        exactly, found = ([n for n in known if re.fullmatch(pattern, n, flags)] for flags in (0, re.IGNORECASE))
    except re.error:
        return []
    if exactly != found:
        hint = "names of columns are in lower case here: write the pattern so"
        raise scope.source.error(f"{pattern} names columns by upper and lower case", node, hint)
    return [(name, exp.column(exp.to_identifier(name, quoted=True), table=node.args.get("table"))) for name in found]


def _named_by(columns: exp.Columns, scope: Scope) -> list[tuple[str, exp.Expr]]:
    """The columns that COLUMNS names by a pattern, a list or ``*``, and the expression for each."""
    given, known = columns.this, [name for name, _ in scope.columns]
    match given:
        case exp.Star():
            scope.source.refuse_others(given, {"except_", "replace", "rename"}, "*")
            _refuse_nameless(given, scope)
            left_out = {node.name.lower() for node in given.args.get("except_") or ()}
            renamed = {node.this.name.lower(): node.alias for node in given.args.get("rename") or ()}
            replaced = {node.alias.lower(): exp.paren(node.this) for node in given.args.get("replace") or ()}
            if wrong := sorted((left_out | renamed.keys() | replaced.keys()) - {*known}):
                raise scope.source.error(f"* has no column {wrong[0]}", columns, _near(wrong[0], known))
            return [(renamed.get(n, n), replaced.get(n, _column(n))) for n in known if n not in left_out]
        case exp.Literal() if given.is_string:
            try:
                pattern = re.compile(given.name)
            except re.error as error:
                raise scope.source.error(f"not a regular expression: {error}", given, PATTERN_HINT) from None
            return [(name, _column(name)) for name in known if pattern.search(name)]
        case exp.Array() if all(isinstance(node, exp.Literal) and node.is_string for node in given.expressions):
            return [(node.name.lower(), _column(node.name.lower())) for node in given.expressions]
    scope.source.refuse("COLUMNS of that", columns, "write COLUMNS(*), COLUMNS('^a') or COLUMNS(['a', 'b'])")


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _columns_of_star(
    scope: Scope, node: exp.Expr, bind: Callable[[exp.Expr], Expression]
) -> list[tuple[str, Expression]]:
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
    inner = whole.table and not is_item and scope.has(exp.column(whole.args["table"].copy()))
    if inner and (named := fields(bind(whole))):
        return named
    if not is_item and not whole.table and (outer := scope.columns_of(whole.name)) is not None:
        return outer
    if whole.table:
        raise scope.source.error(f"{whole.table}.{whole.name} is not in FROM", node, "a session has one schema")
    return list(scope.item(whole.name, node).columns.items())


@reads(exp.Dot, parts="this expression")
def after_dot(b: ExpressionBinder, node: exp.Dot) -> Expression:
    """The part after a dot: a field, or the start or end of a window."""
    if is_window_call(node.this) or not isinstance(node.expression, exp.Identifier):
        return bind_part(b, node)
    return field(b, b.bind(node.this), node.expression.name, node)


def _near(name: str, known: Sequence[str]) -> str:
    """The column that may be meant, or the first of those that there are."""
    return nearest(name, known) or f"it has {', '.join(known[:12])}{', …' if len(known) > 12 else ''}"
