"""The columns of a block's conditions as an analyst knows them: queries inside hand columns of streams on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.network.sql_text import Names, bare, part_sql
from workbench.network.view_names import ViewNames
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Expression, column_name, map_columns, sources
from workbench.sql.logical import Block, Input, Ordered, SetQuery, StreamInput, output_columns
from workbench.sql.predicates.canonical import why_not_canonical
from workbench.sql.predicates.cnf import Literal


def near_miss(block: Block, literal: Literal) -> str | None:
    """Why arithmetic of a block's comparison was not solved, if any was left (``why_not_canonical``)."""
    if not any(isinstance(side, Call) for side in literal.expressions):
        return None

    def read(column: Column) -> Expression:
        _, value = _handed_on(block.inputs, column)
        return value if isinstance(value, Column) else column

    right = None if literal.right is None else map_columns(literal.right, read)
    return why_not_canonical(replace(literal, left=map_columns(literal.left, read), right=right))


def names_in(block: Block, views: ViewNames) -> Names:
    """The columns of a block's inputs, with the stream's name or the input's number where there are several.

    What a query inside computes of a row is written out, as in captions: it may be the binder that has named it.
    """
    return _names(block.inputs, views, len(block.inputs) > 1)


def _names(inputs: Sequence[Input], views: ViewNames, qualified: bool) -> Names:
    streams = [item.stream if isinstance(item, StreamInput) else "" for item in inputs]

    def name(part: Column | Call) -> str:
        read = sources(part)
        source = min(read, default=len(streams))
        of_input = 0 <= source < len(streams)  # and not a statistic, or a value of OVER
        stream = streams[source] if of_input and len(read) == 1 else ""
        if isinstance(part, Call):
            own = views.name(stream, part)
        else:
            within, value = _handed_on(inputs, part)
            if not isinstance(value, Column):
                return part_sql(value, _names(within, views, qualified))
            stream, own = stream or _stream_of(within, value), bare(value)
        if not qualified or not own or not of_input:
            return own
        return f"{stream if streams.count(stream) <= 1 and stream else f't{source + 1}'}.{own}"

    return name


def _stream_of(inputs: Sequence[Input], column: Column) -> str:
    """The stream that a column is from; "" where a query computes it."""
    item = inputs[column.source] if 0 <= column.source < len(inputs) else None
    return item.stream if isinstance(item, StreamInput) else ""


def _handed_on(inputs: Sequence[Input], column: Column) -> tuple[Sequence[Input], Expression]:
    """Where a column comes from: the inputs of a query inside, and what it is there."""
    item = inputs[column.source] if 0 <= column.source < len(inputs) else None
    match item:
        case Ordered(query=query):
            return _handed_on([query], replace(column, source=0))
        case SetQuery(names=names, branches=(first, *_)):
            places = {stored_name(name): place for place, name in enumerate(names)}
            if (place := places.get(column.name)) is not None:
                name = stored_name(output_columns(first)[place][0])
                within, found = _handed_on([first], replace(column, name=name, source=0))
                if isinstance(found, Column):  # other branches may compute something else
                    return within, found
        case Block(inputs=inner, outputs=outputs, grouping=grouping):
            value = {stored_name(output.name): output.expression for output in outputs}.get(column.name)
            if grouping is not None:
                groups = {column_name(group): group for group in grouping.groups}
                value = groups.get(value.name) if isinstance(value, Column) else None
            if isinstance(value, Column):
                return _handed_on(inner, value)
            if isinstance(value, Call):
                return inner, value
    return inputs, column
