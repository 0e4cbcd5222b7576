"""What the columns of views are called. Views are merged into the blocks that read them, so nodes compute their columns
from those of streams; texts for an analyst say the column (``GROUP BY ip``), and not what computes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from workbench.sql.algebra.column_names import quoted
from workbench.sql.algebra.expressions import Call, Column, Expression, column_name, columns, map_columns
from workbench.sql.logical import Block, LogicalQuery, Ordered, StreamInput
from workbench.sql.predicates.canonical import canonical_expression

_Computed = tuple[str, Expression]


@dataclass(frozen=True)
class ViewNames:
    """The names of what views compute of one stream.

    Attributes:
        names: by the stream in lower case and the expression over its columns by their stored names, of source 0.
    """

    names: Mapping[tuple[str, Expression], str] = field(default_factory=dict)

    @staticmethod
    def of(views: Mapping[str, LogicalQuery]) -> ViewNames:
        """The names that some views give.

        An expression that views call differently has none, nor has one whose name means something else too: a column
        of its stream, or what another view computes of it.

        Args:
            views: by name, bound.

        Example:
            >>> from workbench.sql.algebra.types import STRING
            >>> from workbench.sql.binder.pipeline import bind
            >>> from workbench.sql.schema import Schema
            >>> view = bind("CREATE VIEW v AS SELECT LOWER(a) AS low FROM t", "spark", Schema({"t": (("a", STRING),)}))
            >>> [*ViewNames.of(dict(view.views)).names.values()]
            ['low']
        """
        names, meant = defaultdict[_Computed, dict[str, str]](dict), defaultdict[tuple[str, str], set[Expression]](set)
        for view in views.values():
            for (stream, expression), name in _computed(view):
                stored = canonical_expression(expression)
                meant[stream, name.lower()].add(stored)
                for form in (expression, stored):
                    names[stream, form].setdefault(name.lower(), name)
        return ViewNames(
            {
                (stream, expression): quoted(name)
                for (stream, expression), called in names.items()
                for lower, name in called.items()
                if len(called) == len(meant[stream, lower]) == 1
            }
        )

    def name(self, stream: str, expression: Expression) -> str:
        """The name of an expression over a stream's columns by their stored names; empty where it has none."""
        return self.names.get((stream.lower(), map_columns(expression, _of_stream)), "")


UNNAMED = ViewNames()
"""Of no views."""


def _computed(view: LogicalQuery) -> Iterator[tuple[_Computed, str]]:
    """The expressions of a view over a stream, with their names."""
    block = view.query if isinstance(view, Ordered) else view
    if not isinstance(block, Block):
        return
    groups = {column_name(group): group for group in block.grouping.groups} if block.grouping else {}
    for output in block.outputs:
        value: Expression | None = output.expression
        if block.grouping is not None:
            value = groups.get(value.name) if isinstance(value, Column) else None
        read = {column.source for column in columns(value)} if isinstance(value, Call) else set()
        source = read.pop() if len(read) == 1 else -1
        item = block.inputs[source] if 0 <= source < len(block.inputs) else None
        # What has no alias is called as it is written.
        is_named = output.name.isidentifier()
        if value is not None and is_named and isinstance(item, StreamInput) and not _has(item, output.name):
            yield (item.stream.lower(), map_columns(value, _of_stream)), output.name


def _has(stream: StreamInput, name: str) -> bool:
    return name.lower() in (column.lower() for column, _ in stream.columns)


def _of_stream(column: Column) -> Column:
    return Column(column.name, column.type)
