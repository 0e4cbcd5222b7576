"""Whole rows of postgres, by the name of an item of FROM: ``ROW_TO_JSON(t)``, ``JSON_AGG(t)``, ``t::text``.

A row is a struct of the item's columns where JSON or a text is made of it, or where it is tested or counted. As a value
of the answer it is refused: PostgreSQL's records have no names.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import struct_of
from workbench.sql.binder.scope import Scope
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.syntax.shorthands import may_lack_rows

_MAKE_JSON = (
    "row_to_json to_json to_jsonb json_of_group jsonb_of_group json_build_array jsonb_build_array json_build_object "
    "jsonb_build_object"
)
_WRAPPERS = (exp.Paren, exp.Order, exp.Ordered, exp.Distinct, exp.ArrayAgg, exp.Filter)
_TEXTS = (exp.DType.TEXT, exp.DType.VARCHAR)


def row_of(b: ExpressionBinder, scope: Scope, node: exp.Column) -> Call | None:
    """The columns of an item of FROM as a struct, where a name, or ``t.*``, is that of one; ``None`` elsewhere.

    Raises:
        UnsupportedError: an outer join may lack its rows, and then there is none.
    """
    starred = isinstance(node.this, exp.Star)
    if (not starred and (node.table or scope.has(node))) or not _is_taken(node):
        return None
    name = node.table if starred else node.name
    columns = scope.columns_of(name)
    if columns is None:
        return None
    if may_lack_rows(node, name):
        hint = f"make it of the columns of {name}, in a subquery that is joined"
        b.source.refuse(f"the whole row of {name}, which an outer join may lack,", node, hint)
    values = [b.bind(exp.column(column, table=name, quoted=True)) for column, _ in columns]
    type_ = struct_of([(column, value.type) for (column, _), value in zip(columns, values, strict=True)])
    return Call("struct", tuple(values), type_)


def _is_taken(node: exp.Column) -> bool:
    """Whether a whole row is used where JSON or a text is made of it, or where it is tested or counted."""
    at = node.parent
    while isinstance(at, _WRAPPERS):
        at = at.parent
    match at:
        case exp.Anonymous():
            return at.name.lower() in _MAKE_JSON.split()
        case exp.Cast():
            return at.args["to"].this in _TEXTS and not at.args["to"].expressions
        case exp.Is():
            return isinstance(at.expression, exp.Null)
    return isinstance(at, exp.Count) and isinstance(node.parent, exp.Count)
