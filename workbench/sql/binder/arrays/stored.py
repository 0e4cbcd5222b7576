"""Where an array would be a column, which nothing stores."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import UnsupportedError
from workbench.sql.algebra.coercion import AS_TEXT
from workbench.sql.algebra.expressions import text
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.logical import Block, LogicalQuery, Ordered, SetOperation, StreamInput, output_columns, parts_of
from workbench.sql.syntax.source_text import SourceText


def refuse_stored(query: LogicalQuery, source: SourceText) -> None:
    """Refuse arrays where they would be stored: in an answer, a group, a statistic, or rows of a query inside.

    Raises:
        UnsupportedError: by the name of the column.
    """
    for name, type_ in _stored(query):
        if type_.kind is Kind.ARRAY:
            hint = f"{AS_TEXT} makes a text of an array of texts, and x[0] is its first element"
            what = f"the array {name} as a column, a group or in an order is not supported"
            raise UnsupportedError(what, **source.keyword(name, name.partition("(")[0]), hint=hint)


def _stored(query: LogicalQuery) -> Iterator[tuple[str, DataType]]:
    yield from output_columns(query)
    for part in parts_of(query):
        if isinstance(part, Block):
            for relation in part.inputs:
                if not isinstance(relation, StreamInput):
                    yield from output_columns(relation)
            expressions = [e for a in part.analytics for e in (*a.call.arguments, *a.call.over.expressions)]
            if part.grouping is not None:
                expressions += part.grouping.groups
                expressions += [a for s in part.grouping.statistics for a in s.arguments]
            if part.distinct or part.analytics:
                expressions += [o.expression for o in part.outputs]
            yield from ((text(e), e.type) for e in expressions)
        elif isinstance(part, SetOperation):
            yield from zip(part.names, part.types, strict=True)
        elif isinstance(part, Ordered) and isinstance(part.query, Block):
            yield from ((text(o.expression), o.type) for o in part.query.outputs[part.columns :])
