"""Aggregates of values in an order: LISTAGG and ARRAY_AGG.

An aggregate depends on the bag of rows alone, so values of equal keys are in their own order, as are
all without ORDER BY, unless the rows are those of one subquery, view or CTE in an order.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from workbench.sql.algebra.coercion import is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import BINARY, BOOLEAN, INTEGER, STRING, Kind
from workbench.sql.functions.aggregate_calls import AggregateSyntax
from workbench.sql.functions.aggregate_rules import DESCENDING
from workbench.sql.functions.bytes_of_postgres import bytes_of_text
from workbench.sql.functions.calls import call
from workbench.sql.functions.collation import note_key
from workbench.sql.functions.order_of_parts import placed
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.results import as_text
from workbench.sql.syntax.source_text import SourceText

IN_ORDER = ("listagg", "array_agg")
"""Aggregates whose values stand in an order."""
PLACED = ("first", "last")
"""Aggregates that give the value at an end of an order, which is that of arrival unless they have ORDER BY."""
FIRST_PLACE = Constant(1, INTEGER)
"""The place of the first element of an array."""


def counted_and_value(value: Expression, b: ExpressionBinder) -> list[Expression]:
    """Of ARRAY_AGG whether a row counts, and its value: in spark NULLs do not, and elsewhere they do."""
    counts = Constant(True, BOOLEAN) if b.rules.arrays_keep_nulls else call("not", call("is_null", value))
    return [counts, value]


def counted_and_value_in_order(
    syntax: AggregateSyntax, value: Expression, rows: Sequence[SortKey], arrival: Expression | None, b: ExpressionBinder
) -> list[Expression]:
    """Of FIRST and LAST: in an order whether a row counts, and its value; else the value, and the number of its row.

    Args:
        syntax: the call.
        value: its argument.
        rows: the order of the rows.
        arrival: the number of a row, where rows have one.
        b: the text.

    Raises:
        UnsupportedError: there is no order.
    """
    counts = call("not", call("is_null", value)) if syntax.ignore_nulls else Constant(True, BOOLEAN)
    if syntax.order or rows:
        return [counts, value]
    if arrival is None:
        name = syntax.name.upper()
        hint = (
            f"write the order inside, {name}(x ORDER BY t); only rows of one stream that takes none back arrive in one"
        )
        b.source.refuse(f"{name} of rows in no order", syntax.parts[0], hint)
    number = call("case", counts, arrival, Constant(None, arrival.type)) if syntax.ignore_nulls else arrival
    return [value, number]


def in_order(
    syntax: AggregateSyntax,
    arguments: list[Expression],
    node: exp.Expr,
    b: ExpressionBinder,
    rows: Sequence[SortKey] = (),
) -> tuple[str, list[Expression]]:
    """The name that says the direction, and the arguments with the keys that values are ordered by.

    FIRST is the array of the one first value, and LAST that of the first one in the other direction.

    Args:
        syntax: the call.
        arguments: of LISTAGG a text, or bytes, and a separator, of ARRAY_AGG whether a row counts and its value.
        node: the call, for errors.
        b: binds the keys.
        rows: the order of the rows, which is that of the values where the call has none.

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
        keeps_nulls = syntax.name in PLACED or b.rules.arrays_keep_nulls
    order = []
    for key in syntax.order:
        bound = b.bind(key.this)
        note_key(b.source, key, bound)
        by = placed(bound, b.source)
        if not by.type.ordered:
            b.source.refuse(f"the order of {bound.type.kind}s", key, "order by an element or a field, as in x[0]")
        order.append(SortKey(by, bool(key.args.get("desc")), bool(key.args.get("nulls_first"))))
        if bound in (value, given):
            break  # no later key tells equal values apart
        if syntax.distinct:
            what = f"{syntax.name.upper()} of DISTINCT values ordered by something else"
            b.source.refuse(what, node, "order it by the values")
    if syntax.distinct and b.rules.distinct_arrays_are_sorted and not order:
        note_key(b.source, node, value)
        order = [SortKey(placed(value, b.source), nulls_first=False)]  # it sorts them to find those that are equal
    name = "array_agg" if syntax.name in PLACED else syntax.name
    name, keys = with_keys(name, order or rows, (value, given), keeps_nulls, node, b.source)
    if syntax.name == "last":
        name = name.removesuffix(DESCENDING) if name.endswith(DESCENDING) else name + DESCENDING
    limit = FIRST_PLACE if syntax.name in PLACED else None if syntax.limit is None else b.bind(syntax.limit)
    if limit is None:
        return name, [*arguments, *keys]
    return name.replace("array_agg", "array_agg_limit"), [limit, *arguments, *keys]


def with_keys(
    name: str,
    order: Sequence[SortKey],
    values: Sequence[Expression],
    keeps_nulls: bool,
    node: exp.Expr,
    source: SourceText,
) -> tuple[str, list[Expression]]:
    """The name of an aggregate that says the direction, and the keys that its values are ordered by.

    Args:
        name: ``listagg`` or ``array_agg``.
        order: of the values.
        values: what is aggregated, and what was given for it: they tell apart what no later key does.
        keeps_nulls: whether NULLs are among the values.
        node: the call, for errors.
        source: the text.

    Raises:
        UnsupportedError: keys go up and down.
    """
    if len({key.descending for key in order}) > 1:
        source.refuse(f"{name.upper()} in two directions", node, "order all keys up, or all down")
    keys: list[Expression] = []
    for key in order:
        # NULL is the smallest key, as in Spark; where it is to be the largest a key before it says so.
        if key.nulls_first == key.descending and (keeps_nulls or key.expression != values[0]):
            keys.append(call("is_null", key.expression))
        if key.expression != values[0]:  # their own order is the last key
            keys.append(key.expression)
        if key.expression in values:
            break
    return name + DESCENDING * any(key.descending for key in order), keys


def _text_and_separator(arguments: list[Expression], node: exp.Expr, b: ExpressionBinder) -> list[Expression]:
    if len(arguments) > 2:
        raise b.source.error(f"LISTAGG takes a text and a separator, not {len(arguments)} arguments", node)
    value, separator = (*arguments, Constant(b.rules.separator, STRING))[:2]
    if is_null(separator):
        value = value if b.rules.null_separator_is_empty else Constant(None, STRING)
        separator = Constant("", STRING)
    if value.type == BINARY:
        return [call("hex_of_bytes", value), _digits(separator, node, b)]
    if not b.rules.lists_any_values and value.type.kind not in (Kind.STRING, Kind.INTEGER, Kind.DATE):
        b.source.refuse(
            f"{(b.source.called(node) or 'LISTAGG').upper()} of such values",
            node,
            f"CAST it AS {exp.DataType.build('TEXT').sql(b.dialect)} first",
        )
    if not isinstance(separator, Constant) or separator.type != STRING:
        b.source.refuse("a separator that is not a constant text", node, "it stands in quotes, as in ', '")
    return [as_text(b, value, node), separator]


def _digits(separator: Expression, node: exp.Expr, b: ExpressionBinder) -> Constant:
    """The hexadecimal digits of a separator of bytes, which order as the bytes do."""
    match bytes_of_text(separator):
        case Call("unhex", (Constant(str()) as digits,)):
            return digits
    b.source.refuse("a separator that is no constant of bytes", node, "as in DECODE('0A', 'hex')")
