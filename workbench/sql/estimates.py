"""Queries that a sample of their rows estimates: COUNT, SUM and AVG of the rows of one stream.

These are sums over rows, so a row that was drawn with a known chance stands for those that were not (Horvitz and
Thompson, 1952). The largest of a sample says nothing of the largest of all; of a join, pairs are drawn and not rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.errors import QueryError
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Expression, column_name
from workbench.sql.logical import Block, Grouping, LogicalQuery, Ordered, Output, StreamInput
from workbench.sql.predicates.cnf import TRUE

_HINT = "COUNT, SUM and AVG over one stream can be estimated, in groups and with WHERE"


@dataclass(frozen=True)
class Statistic:
    """An aggregate whose value is estimated.

    Attributes:
        name: of its column.
        function: ``"count"``, ``"sum"`` or ``"average"``.
        argument: which argument of the query's rows it is of; ``None``: of the rows themselves.
    """

    name: str
    function: str
    argument: int | None


@dataclass(frozen=True)
class Estimable:
    """A query that can be estimated.

    Attributes:
        stream: whose rows it counts.
        rows: the query of these rows, before they are grouped: their groups, and then the arguments.
        groups: names of the columns that are groups, and which group each is.
        width: how many groups there are; columns of ``rows`` after them are arguments.
        statistics: the other columns.
    """

    stream: str
    rows: Block
    groups: tuple[tuple[str, int], ...]
    width: int
    statistics: tuple[Statistic, ...]

    def rows_with(self, key: Column) -> Block:
        """The query of the rows with one more column, by which they were drawn."""
        return replace(self.rows, outputs=(*self.rows.outputs, Output("_key", key)))


def estimable(query: LogicalQuery) -> Estimable:
    """The outputs of a query that can be estimated.

    Raises:
        QueryError: something cannot; the message says what.
    """
    if isinstance(query, Ordered) and query.keeps_all:
        query = query.query
    if not isinstance(query, Block) or query.grouping is None:
        raise QueryError("a query without COUNT, SUM or AVG has nothing to estimate", hint=_HINT)
    source = _single_stream(query)
    grouping = query.grouping
    arguments = list(dict.fromkeys(call.arguments[0] for call in grouping.statistics if call.arguments))
    meanings = _meanings(grouping, arguments)
    shown = [(output.name, _meaning(output.expression, meanings)) for output in query.outputs]
    for name, meaning in shown:
        if meaning is None:
            raise QueryError(f"column {name} cannot be estimated from a sample", hint=_HINT)
    columns = [*grouping.groups, *arguments]
    outputs = tuple(Output(f"_{place}", expression) for place, expression in enumerate(columns))
    return Estimable(
        source.stream,
        Block(query.inputs, query.where, outputs),
        tuple((name, meaning) for name, meaning in shown if isinstance(meaning, int)),
        len(grouping.groups),
        tuple(Statistic(name, *meaning) for name, meaning in shown if isinstance(meaning, tuple)),
    )


def _single_stream(query: Block) -> StreamInput:
    source = query.inputs[0]
    reasons = {
        "a join": len(query.inputs) > 1,
        "a query over another": not isinstance(source, StreamInput),
        "a window": (query.window, query.having_window) != (TRUE, TRUE),
        "HAVING": query.having != TRUE,
        "DISTINCT": query.distinct,
        "an analytic function": bool(query.analytics) or query.qualify != TRUE,
        "a subquery that is a value": query.single,
    }
    for what, found in reasons.items():
        if found:
            raise QueryError(f"{what} cannot be estimated from a sample", hint=_HINT)
    assert isinstance(source, StreamInput)
    return source


_Meaning = int | tuple[str, int | None]
"""Of an output: the group that it is, or the function and its argument."""


def _meanings(grouping: Grouping, arguments: list[Expression]) -> Mapping[tuple[str, ...], _Meaning]:
    """What can be estimated, by the columns of the groups that it is made of."""
    found: dict[tuple[str, ...], _Meaning] = {(column_name(group),): at for at, group in enumerate(grouping.groups)}
    plain = [call for call in grouping.statistics if call.function in ("count", "sum") and not call.distinct]
    for call in plain:
        found[(column_name(call),)] = call.function, _argument(call, arguments)
    for total in plain:
        for count in plain:
            if (total.function, count.function) == ("sum", "count") and total.arguments == count.arguments:
                found["average", column_name(total), column_name(count)] = "average", _argument(total, arguments)
    return found


def _argument(call: AggregateCall, arguments: list[Expression]) -> int | None:
    return arguments.index(call.arguments[0]) if call.arguments else None


def _meaning(expression: Expression, meanings: Mapping[tuple[str, ...], _Meaning]) -> _Meaning | None:
    """What an output is; a group only as it is, since another expression of it is another value."""
    found = meanings.get(_key(expression))
    return None if isinstance(found, int) and not isinstance(expression, Column) else found


def _key(expression: Expression) -> tuple[str, ...]:
    """The columns of an output, where it is one, or the average of two; otherwise what no statistic is called."""
    match expression:
        case Column():
            return (expression.name,)
        case Call("cast", (inner,)) if expression.type.numeric:  # a sum of integers is one
            return _key(inner)
        case Call("average", (Column() as total, Column() as count)):
            return "average", total.name, count.name
    return ()
