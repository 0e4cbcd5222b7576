"""EXPLODE and UNNEST in FROM: a row for each element of an array whose elements are written out.

::

    FROM t LATERAL VIEW EXPLODE(ARRAY(a, b)) x AS v             spark; POSEXPLODE gives the places too, from 0
    FROM t CROSS JOIN UNNEST(ARRAY[a, b]) WITH ORDINALITY AS x(v, n)         the places from 1
    FROM t, (VALUES (1), (2)) AS p(n)                           what both are, with v = ELEMENT_AT(ARRAY(a, b), n)

So it is a join with places that never change, and is shared, corrected and explained as joins are. Such an array has an
element, so OUTER changes nothing.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import INTEGER, Kind
from workbench.sql.binder.joins.semijoins import Clause
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Scope
from workbench.sql.logical import output_columns
from workbench.sql.syntax.limits import MOST_ROWS


def function_of(node: exp.Expr) -> exp.Explode | exp.Unnest | None:
    """The function of arrays that an item of FROM is, if it is one."""
    function = node.this if isinstance(node, (exp.Lateral, exp.Table)) else node
    return function if isinstance(function, (exp.Explode, exp.Unnest)) else None


def add_elements(
    clause: Clause, node: exp.Expr, context: QueryContext, scope: Scope
) -> tuple[list[str], list[Expression]]:
    """Join a clause with the elements of an array.

    Args:
        clause: gets an input with the places of the elements.
        node: the item of FROM, whose function is ``function_of`` it.
        context: the statement.
        scope: the names that the elements may read.

    Returns:
        The names and values of the columns.

    Raises:
        SqlError: the elements have no common type.
        UnsupportedError: the elements are not written out, or are too many.
    """
    function, source = function_of(node), context.source
    assert function is not None
    source.refuse_others(node, {"this", "expressions", "alias", "view", "outer", "offset", "ordinality"}, "FROM")
    arrays = function.expressions if isinstance(function, exp.Unnest) else [function.this, *function.expressions]
    if len(arrays) != 1:
        source.refuse(f"{function.key.upper()} of several arrays", function, "join one UNNEST for each")
    elements = _elements(arrays[0], context, scope)
    rows = [exp.Tuple(expressions=[exp.Literal.number(place)]) for place, _ in enumerate(elements, start=1)]
    query = context.query(exp.Values(expressions=rows))
    ((name, type_),) = output_columns(query)
    place = Column(stored_name(name), type_, clause.add_input(query))
    try:
        value = call("element_at", call("array", *elements), place)
    except TypeClash as clash:
        raise source.error(clash.message, arrays[0], clash.hint) from None
    if value.type.kind is Kind.ARRAY:
        source.refuse("an array of arrays in FROM", arrays[0], "write the elements of one array")
    return _named(node, function, value, place, source.dialect)


def _elements(array: exp.Expr, context: QueryContext, scope: Scope) -> list[Expression]:
    if not isinstance(array, exp.Array) or not array.expressions:
        hint = "write its elements, as in EXPLODE(ARRAY(a, b)); EXISTS(x, v -> …) and AGGREGATE read those of others"
        context.source.refuse("rows of an array whose elements are not written out", array, hint)
    context.source.refuse_others(array, {"expressions", "bracket_notation"}, "an array")
    if len(array.expressions) > MOST_ROWS:
        context.source.refuse(f"rows of more than {MOST_ROWS} elements", array, "add_table adds a table of your own")
    b = ScalarBinder(scope, context.schema, now_at=context.now_at)
    return [b.bind(element) for element in array.expressions]


def _named(
    node: exp.Expr, function: exp.Expr, value: Expression, place: Column, dialect: str
) -> tuple[list[str], list[Expression]]:
    """The columns as the dialect calls them; the names after AS are not here."""
    if isinstance(function, exp.Posexplode):
        return ["pos", "col"], [call("-", place, Constant(1, INTEGER)), value]
    alone = (node.alias or "unnest") if dialect == "postgres" else "unnest" if dialect == "duckdb" else "col"
    offset = function.args.get("offset")
    if isinstance(offset, exp.Identifier):  # the parser takes it off the names after AS
        node.args["alias"].append("columns", offset)
    if offset or node.args.get("ordinality"):
        return [alone, "ordinality"], [value, place]
    return [alone], [value]
