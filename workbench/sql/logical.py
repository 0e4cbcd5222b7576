"""The logical query: what a query asks, bound to streams, typed, in CNF, before any decision how to share it.

``bind`` makes it from SQL text; ``sharing`` folds it into the network. Plain sub-queries, views and CTEs (selection,
join, projection) are already merged into the block that uses them, so that text that was factored differently looks
the same here; what remains as an input of its own has grouping, DISTINCT or a set operator.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

from workbench.sql.expressions import AggregateCall, Call, Expression
from workbench.sql.predicates import TRUE, PredSet
from workbench.sql.types import DataType


@dataclass(frozen=True, slots=True)
class Output:
    """A result column: its name as the analyst wrote it, and the expression that gives it."""

    name: str
    expression: Expression

    @property
    def type(self) -> DataType:
        """The column's type."""
        return self.expression.type


@dataclass(frozen=True, slots=True)
class StreamInput:
    """A stream or table by name; its columns are referred to by their own names."""

    stream: str


@dataclass(frozen=True, slots=True)
class Grouping:
    """GROUP BY expressions over the inputs, and the basic statistics needed of each group.

    After grouping, expressions refer to the columns ``column_name(group)`` and ``column_name(statistic)`` of source 0.
    No expressions and some statistics: one group, present even when no row is.
    """

    groups: tuple[Expression, ...]
    statistics: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One SELECT: join the inputs, keep what satisfies ``where``, group, keep what satisfies ``having``, project.

    Columns in ``where`` and ``grouping`` name their input by ``source``; so do those in ``outputs`` when there is no
    grouping. A column of an input that is itself a query is called by that query's output name, folded to lower case.

    ``window`` and ``having_window`` are the parts of WHERE and HAVING that compare times with now (``windows``).
    """

    inputs: tuple[Input, ...]
    where: PredSet
    outputs: tuple[Output, ...]
    grouping: Grouping | None = None
    having: PredSet = TRUE
    distinct: bool = False
    window: PredSet = TRUE
    having_window: PredSet = TRUE


@dataclass(frozen=True, slots=True)
class SetOperation:
    """UNION, INTERSECT or EXCEPT of queries with as many columns each.

    UNION chains of one kind are flattened to any number of branches; the others have two. ``all`` keeps duplicates.
    ``outputs`` gives names and common types; a branch value of another type is cast.
    """

    operator: str
    all: bool
    branches: tuple[LogicalQuery, ...]
    names: tuple[str, ...]
    types: tuple[DataType, ...]


LogicalQuery = Block | SetOperation
Input = StreamInput | Block | SetOperation


def streams_of(query: LogicalQuery | Input) -> frozenset[str]:
    """The streams and tables that a query reads."""
    match query:
        case StreamInput():
            return frozenset([query.stream])
        case Block():
            return frozenset().union(*map(streams_of, query.inputs))
        case SetOperation():
            return frozenset().union(*map(streams_of, query.branches))


def output_columns(query: LogicalQuery) -> tuple[tuple[str, DataType], ...]:
    """Names and types of the result."""
    match query:
        case Block():
            return tuple((o.name, o.type) for o in query.outputs)
        case SetOperation():
            return tuple(zip(query.names, query.types, strict=True))


def functions_called(query: LogicalQuery) -> frozenset[str]:
    """Names of all functions that are called anywhere in a query."""
    found: set[str] = set()
    left: list[object] = [query]
    while left:
        match left.pop():
            case tuple() | list() | frozenset() as parts:
                left += parts
            case part if is_dataclass(part):
                if isinstance(part, Call):
                    found.add(part.function)
                left += (getattr(part, field.name) for field in fields(part))
    return frozenset(found)
