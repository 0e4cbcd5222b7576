"""Aggregates whose values stand in an order: LISTAGG and ARRAY_AGG.

An aggregate depends on the bag of rows alone, so values of equal keys are in their own order, as are
all without ORDER BY.
"""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import BOOLEAN, STRING, Kind
from workbench.sql.binder.collation import note_key
from workbench.sql.binder.operators import as_text
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.syntax.aggregate_calls import AggregateSyntax
from workbench.sql.syntax.dialects import SPARK_FAMILY

IN_ORDER = ("listagg", "array_agg")
"""Aggregates whose values stand in an order."""


def counted_and_value(value: Expression, b: ExpressionBinder) -> list[Expression]:
    """Of ARRAY_AGG whether a row counts, and its value: in spark NULLs do not, and elsewhere they do."""
    counts = call("not", call("is_null", value)) if b.dialect in SPARK_FAMILY else Constant(True, BOOLEAN)
    return [counts, value]


def in_order(
    syntax: AggregateSyntax, arguments: list[Expression], node: exp.Expr, b: ExpressionBinder
) -> tuple[str, list[Expression]]:
    """The name that says the direction, and the arguments with the keys that values are ordered by.

    Args:
        syntax: the call.
        arguments: of LISTAGG a text and a separator, of ARRAY_AGG whether a row counts and its value.
        node: the call, for errors.
        b: binds the keys.

    Raises:
        SqlError: LISTAGG has too many arguments.
        UnsupportedError: keys go up and down, or are not the values where these are DISTINCT.
    """
    if syntax.name == "listagg":
        # Numbers are ordered by what they are, and not by their texts.
        given, keeps_nulls = b.bind(syntax.parts[0]), False
        arguments = _text_and_separator(arguments, node, b)
        value = arguments[0]
    else:
        given = value = arguments[1]
        keeps_nulls = b.dialect not in SPARK_FAMILY
    descending = {bool(key.args.get("desc")) for key in syntax.order}
    what = syntax.name.upper()
    if len(descending) > 1:
        b.source.refuse(f"{what} in two directions", node, "order all keys up, or all down")
    keys: list[Expression] = []
    for key in syntax.order:
        bound = b.bind(key.this)
        if not bound.type.ordered and bound != value:
            b.source.refuse(f"the order of {bound.type.kind}s", key, "order by an element or a field, as in x[0]")
        note_key(b.source, key, bound)
        # NULL is the smallest key, as in Spark; where it is to be the largest a key before it says so.
        if bool(key.args.get("nulls_first")) == bool(key.args.get("desc")) and (keeps_nulls or bound != value):
            keys.append(call("is_null", bound))
        if bound == value:
            break  # their own order is the last key, and no later one tells equal values apart
        if syntax.distinct and bound != given:
            b.source.refuse(f"{what} of DISTINCT values ordered by something else", node, "order it by the values")
        keys.append(bound)
        if bound == given:
            break
    return syntax.name + "_desc" * (True in descending), [*arguments, *keys]


def _text_and_separator(arguments: list[Expression], node: exp.Expr, b: ExpressionBinder) -> list[Expression]:
    if len(arguments) > 2:
        raise b.source.error(f"LISTAGG takes a text and a separator, not {len(arguments)} arguments", node)
    value, separator = (*arguments, Constant("", STRING))[:2]
    if b.dialect not in (*SPARK_FAMILY, "oracle") and value.type.kind not in (Kind.STRING, Kind.INTEGER, Kind.DATE):
        b.source.refuse("LISTAGG of such values", node, "databases write numbers and times differently")
    if not isinstance(separator, Constant) or separator.type != STRING:
        b.source.refuse("a separator that is not a constant text", node)
    return [as_text(b, value, node), separator]
