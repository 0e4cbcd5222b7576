"""UNION, INTERSECT and EXCEPT, and VALUES as UNION ALL; order and names of a query's columns.

Branches are flattened, and the types of their columns made common.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, coerce, is_untyped, unify, untyped_as
from workbench.sql.algebra.column_names import stored_name, unique_names
from workbench.sql.algebra.constant_texts import typed_text
from workbench.sql.algebra.expressions import Column, Constant, Expression, map_columns
from workbench.sql.algebra.ordering import without_repetition
from workbench.sql.algebra.types import STRING, DataType
from workbench.sql.binder.order.keys import Named, sort_keys
from workbench.sql.binder.order.limit import CLAUSES, Limit, limit_of, limited
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import scope_of
from workbench.sql.functions.arrays.maps import refuse_compared
from workbench.sql.logical import Block, LogicalQuery, Ordered, Output, SetQuery, output_columns, unordered
from workbench.sql.predicates.cnf import TRUE
from workbench.sql.query_limits import MOST_ROWS
from workbench.sql.syntax.source_text import SourceText

_FIRST = {"duckdb": 0}
_PREFIX = {"postgres": "column"}


def bind_set_operation(node: exp.SetOperation, context: QueryContext) -> SetQuery:
    """Bind a set operation; a chain of UNIONs of one kind becomes one operation with many branches.

    Raises:
        SqlError: the queries have different numbers of columns, or types that do not go together.
    """
    operator, source = type(node).__name__.lower(), context.source
    source.refuse_others(node, {"this", "expression", "distinct", "by_name", "with_", *CLAUSES}, operator.upper())
    all_ = not node.args.get("distinct")
    branches: list[LogicalQuery] = []
    for side in (node.this, node.expression):
        branch = unordered(context.query(side))
        if node.args.get("by_name") and branches:
            branch = _by_name(branches[0], branch, node, source)
        same = isinstance(branch, SetQuery) and (operator, all_) == (branch.operator, branch.all)
        if isinstance(branch, SetQuery) and operator == "union" and same:
            branches += branch.branches
        else:
            branches.append(branch)
    return operation_of(operator, all_, branches, node, source)


def operation_of(
    operator: str, all_: bool, branches: Sequence[LogicalQuery], node: exp.Expr, source: SourceText
) -> SetQuery:
    """A set operation of queries, their columns made of common types.

    Raises:
        SqlError: the queries have different numbers of columns, or types that do not go together.
    """
    shapes = [output_columns(branch) for branch in branches]
    if len({len(shape) for shape in shapes}) > 1:
        counts = " and ".join(str(len(shape)) for shape in shapes)
        message = f"{operator.upper()} of queries with {counts} columns"
        raise source.error(message, node, "select as many columns in each")
    names = tuple(name for name, _ in shapes[0])
    types = tuple(_common_type(operator, i, branches, node, source) for i in range(len(names)))
    if operator != "union" or not all_:
        refuse_compared(map(Column, names, types), operator.upper(), node, source)
    return SetQuery(operator, all_, tuple(_with_typed_constants(b, types) for b in branches), names, types)


def rows_of_values(node: exp.Values, context: QueryContext) -> LogicalQuery:
    """The rows of VALUES, of the types that their columns have in common; columns are col1, col2, …

    Raises:
        SqlError: rows have different numbers of values, or types that do not go together.
        UnsupportedError: there are too many.
    """
    source = context.source
    source.refuse_others(node, {"expressions", "alias"}, "VALUES")
    if len(node.expressions) > MOST_ROWS:
        source.refuse(f"VALUES of more than {MOST_ROWS} rows", node, "add_table adds a table of your own")
    first, prefix = _FIRST.get(source.dialect, 1), _PREFIX.get(source.dialect, "col")
    queries = []
    for row in node.expressions:
        values = row.expressions if isinstance(row, exp.Tuple) else [row.unnest()]
        names = (exp.to_identifier(f"{prefix}{i}") for i in itertools.count(first))
        named = [exp.Alias(this=value.copy(), alias=name) for value, name in zip(values, names, strict=False)]
        queries.append(context.query(exp.Select(expressions=named)))
    return queries[0] if len(queries) == 1 else operation_of("union", True, queries, node, source)


def _by_name(first: LogicalQuery, query: LogicalQuery, node: exp.Expr, source: SourceText) -> Block:
    """A query with its columns in the order of another's, as BY NAME matches them.

    Raises:
        SqlError: one of them has a column that the other lacks.
    """
    own = {name.lower(): Column(stored_name(name), type_) for name, type_ in output_columns(query)}
    wanted = [name for name, _ in output_columns(first)]
    different = sorted(own.keys() ^ {name.lower() for name in wanted})
    if different:
        message = f"BY NAME of queries of which one has no column {different[0]}"
        raise source.error(
            message, node, "select columns of the same names in each, NULL AS name for one that is missing"
        )
    return Block((unordered(query),), TRUE, tuple(Output(name, own[name.lower()]) for name in wanted))


def union_of(blocks: Sequence[Block]) -> SetQuery:
    """The rows of all groupings of one SELECT; the blocks have the same columns."""
    columns = output_columns(blocks[0])
    names, types = tuple(name for name, _ in columns), tuple(type_ for _, type_ in columns)
    return SetQuery("union", not blocks[0].distinct, tuple(blocks), names, types)


def _common_type(
    operator: str, index: int, branches: Sequence[LogicalQuery], node: exp.Expr, source: SourceText
) -> DataType:
    """The type of a column, to which constant NULLs and arrays without elements of a branch say nothing."""
    values = [
        b.outputs[index].expression if isinstance(b, Block) and _is_open(b.outputs[index].expression)
        else Column("value", output_columns(b)[index][1]) for b in branches
    ]  # fmt: skip
    try:
        return unify(values)[1]
    except TypeClash as clash:
        (name, one), (other_name, other) = (output_columns(branch)[index] for branch in (branches[0], branches[-1]))
        hint, right = clash.hint, node.args.get("expression")
        items = right.selects if isinstance(right, exp.Query) and len(branches) == 2 else []
        place = items[index] if len(items) == len(output_columns(branches[0])) else node
        shown = ", ".join(each for each, _ in output_columns(branches[0])[:8])
        if name.lower() in {called.lower() for called, _ in output_columns(branches[-1])} - {other_name.lower()}:
            hint = f"columns go by their places: select {shown} in each"
        elif STRING in (one, other) and one != other:
            text = "STRING" if source.rules.explodes else "VARCHAR"
            hint = f"CAST({name if other == STRING else other_name} AS {text}) makes a text of the other"
        raise source.error(f"{operator.upper()}, column {name}: {clash.message}", place, hint) from None


def _is_open(value: Expression) -> bool:
    """Whether the column says what type it has: a constant NULL, an array without elements, or a constant text."""
    return is_untyped(value) or (isinstance(value, Constant) and isinstance(value.value, str))


def _with_typed_constants(query: LogicalQuery, types: tuple[DataType, ...]) -> LogicalQuery:
    """A branch whose NULLs, empty arrays, and texts that stand for other values, have the type of the column."""
    if not isinstance(query, Block) or not any(_is_open(o.expression) for o in query.outputs):
        return query
    pairs = zip(query.outputs, types, strict=True)
    return replace(query, outputs=tuple(Output(o.name, _typed(o.expression, type_)) for o, type_ in pairs))


def _typed(value: Expression, type_: DataType) -> Expression:
    if is_untyped(value):
        return untyped_as(value, type_)
    read = typed_text(value, [type_]) if type_ != value.type else None
    return coerce(read, type_) if read is not None else value


def with_order_of_outputs(query: LogicalQuery, node: exp.Expr, context: QueryContext) -> LogicalQuery:
    """A UNION or a query in parentheses in the order of columns that it shows, or of expressions of these, and limited.

    Args:
        query: without the clauses of the node.
        node: may have ORDER BY, LIMIT and OFFSET.
        context: of the statement.
    """
    bind_constant = ScalarBinder(scope_of(context.source, {}), context.schema).bind
    order, limit = node.args.get("order"), limit_of(node, context.source, bind_constant)
    if order is None and limit == Limit():
        return query
    query = unordered(query)
    shown = output_columns(query)
    items: list[Named] = [(name, Column(stored_name(name), type_)) for name, type_ in shown]
    scope = scope_of(context.source, {name.lower(): value for name, value in items})
    keys = sort_keys(order, items, ScalarBinder(scope, context.schema).bind, context.source)
    return limited(query, len(shown), without_repetition(keys), limit)


def with_column_names(query: LogicalQuery, names: Sequence[str], source: SourceText, node: exp.Expr) -> LogicalQuery:
    """The query with other column names; with no names it keeps its own.

    Raises:
        SqlError: there are more or fewer names than columns, or two are the same.
    """
    if not names:
        return query
    count = len(output_columns(query))
    if len(names) != count or len({n.lower() for n in names}) != len(names):
        given = "twice one name" if len(names) == count else f"{len(names)} name{'s' * (len(names) > 1)}"
        shown = ", ".join(name for name, _ in output_columns(query)[:8])
        raise source.error(f"{given} for {count} column{'s' * (count > 1)}", node, f"name each of {shown}")
    if isinstance(query, Ordered):
        return _with_ordered_names(query, names, source, node)
    if isinstance(query, SetQuery):
        return replace(query, names=tuple(names))
    return replace(query, outputs=tuple(Output(n, o.expression) for n, o in zip(names, query.outputs, strict=True)))


def _with_ordered_names(query: Ordered, names: Sequence[str], source: SourceText, node: exp.Expr) -> Ordered:
    """A query with an order, whose keys call the columns by their new names."""
    old = [name for name, _ in output_columns(query.query)]
    new = unique_names([*names, *old[query.columns :]])
    renamed = {stored_name(a): stored_name(b) for a, b in zip(old, new, strict=True)}
    keys = tuple(key.map_columns(lambda column: replace(column, name=renamed[column.name])) for key in query.keys)
    on = tuple(map_columns(e, lambda column: replace(column, name=renamed[column.name])) for e in query.on)
    return replace(query, query=with_column_names(query.query, new, source, node), keys=keys, on=on)
