"""The logical query: what a query asks, bound to streams, typed, in CNF, before any decision how to share it.

``bind`` makes it from SQL text; ``sharing`` folds it into the network. Plain subqueries, views and CTEs (selection,
join, projection) are merged into the block that uses them. An input that is a query has grouping, DISTINCT or a set
operator. The order of a query inside another becomes that of what reads it: inside others, ``Ordered`` is only what is
limited.

Queries that are equal are one object (``interning``): a query that stands in several places, such as a view, or the
subqueries that unnesting repeats, is one part of a graph, and every pass goes through it once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.sql.algebra.analytic import AnalyticCall
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Expression,
    Origin,
    calls,
    column_name,
    columns,
    reading_order,
    sources,
)
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DataType
from workbench.sql.interning import Interned
from workbench.sql.predicates.cnf import TRUE, PredSet, map_expressions, predicate_expressions


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
    """A stream or table by name; its columns are referred to by their stored names.

    ``columns``: names and types of all of them; ``append_only``: whether it takes no row back. The name says which
    stream it is, so they do not count in comparisons.
    """

    stream: str
    columns: tuple[tuple[str, DataType], ...] = field(default=(), compare=False, repr=False)
    append_only: bool = field(default=True, compare=False, repr=False)

    def children(self) -> tuple[Input, ...]:
        """The queries it reads: none."""
        return ()

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions it computes: none."""
        return ()

    def map(self, change: InputChange) -> StreamInput:
        """The same, since it reads nothing."""
        return self


@dataclass(frozen=True, slots=True)
class Grouping:
    """GROUP BY expressions over the inputs, and the basic statistics needed of each group.

    After grouping, expressions refer to the columns ``column_name(group)`` and ``column_name(statistic)`` of source 0.
    No expressions and some statistics: one group, present even when no row is.
    """

    groups: tuple[Expression, ...]
    statistics: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True)
class Analyzed:
    """A column with the values of an analytic function: it is called so, and of source ``Origin.ANALYTIC``."""

    name: str
    call: AnalyticCall


def _with_streams(*args: Any) -> tuple[Any, ...]:
    """What a query is: its fields, and all that is known of its streams, of which comparisons see the names."""
    inputs = args[0] if isinstance(args[0], tuple) else ()
    known = ((item.columns, item.append_only) for item in inputs if isinstance(item, StreamInput))
    return (*args, *known)


@dataclass(frozen=True, eq=False)
class Block(Interned):
    """One SELECT: join the inputs, keep what satisfies ``where``, group, keep what satisfies ``having``, project.

    Columns in ``where`` and ``grouping`` name their input by ``source``; so do those in ``outputs`` when there is no
    grouping. A column of an input that is itself a query is called by the stored name of that query's output.

    ``window`` and ``having_window`` are the parts of WHERE and HAVING that compare times with now (``windows``).

    ``single``: whether each group of a grouped block must have one row; ``checks_of`` makes the check of it.

    ``analytics`` are computed after HAVING, from the rows or groups that are left; ``qualify`` and ``outputs`` may read
    them.
    """

    inputs: tuple[Input, ...]
    where: PredSet
    outputs: tuple[Output, ...]
    grouping: Grouping | None = None
    having: PredSet = TRUE
    distinct: bool = False
    window: PredSet = TRUE
    having_window: PredSet = TRUE
    analytics: tuple[Analyzed, ...] = ()
    qualify: PredSet = TRUE
    single: bool = False

    interning_key = _with_streams

    @property
    def is_plain(self) -> bool:
        """Whether it selects, joins and projects, and does nothing else."""
        return self.grouping is None and not self.distinct and not self.analytics

    def children(self) -> tuple[Input, ...]:
        """The inputs it joins."""
        return self.inputs

    def row_expressions(self) -> tuple[Expression, ...]:
        """The expressions over rows of the inputs, in which columns name an input: all but those over groups."""
        own = (*predicate_expressions(self.where), *predicate_expressions(self.window))
        if self.grouping is None:
            return (*own, *self.result_expressions())
        return (*own, *self.grouping.groups, *(a for s in self.grouping.statistics for a in s.arguments))

    def result_expressions(self) -> tuple[Expression, ...]:
        """The expressions over the groups; over the rows of the inputs, where it does not group."""
        conditions = (self.having, self.having_window, self.qualify)
        return (
            *(output.expression for output in self.outputs),
            *(expression for condition in conditions for expression in predicate_expressions(condition)),
            *(e for analyzed in self.analytics for e in analyzed.call.expressions),
        )

    def expressions(self) -> tuple[Expression, ...]:
        """All expressions it computes itself."""
        over_groups = () if self.grouping is None else self.result_expressions()
        return (*self.row_expressions(), *over_groups)

    def map(self, change: InputChange) -> Block:
        """The block over changed inputs."""
        return replace(self, inputs=tuple(map(change, self.inputs)))


@dataclass(frozen=True)
class RecursionRule:
    """How rows of a recursive query follow from the rows of the step before: by a join with other inputs.

    Columns of an input are called c1, c2, … by their places; their ``source`` is the input.

    Attributes:
        inputs: for each the number of its branch; 0 says the rows of the step before.
        where: what a combination of rows satisfies.
        values: of the new row.
    """

    inputs: tuple[int, ...]
    where: PredSet
    values: tuple[Expression, ...]

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions it computes."""
        return (*predicate_expressions(self.where), *self.values)

    def map(self, change: Callable[[Expression], Expression]) -> RecursionRule:
        """The rule with all that it computes changed."""
        return replace(self, where=map_expressions(self.where, change), values=tuple(map(change, self.values)))


@dataclass(frozen=True, eq=False)
class SetQuery(Interned):
    """UNION, INTERSECT or EXCEPT of queries with as many columns each; or a SEMIJOIN or ANTIJOIN, which no text names.

    UNION chains of one kind are flattened to any number of branches; the others have two. ``all`` keeps duplicates.
    SEMIJOIN and ANTIJOIN keep rows of the first branch, each as often as it is there: those that some other branch has
    too, or those that no other has.
    RECURSION begins with the rows of the first branch, and each step has what the ``rules`` make of the step before and
    of the other branches, which have columns of their own; without ``all`` a row is in the first step that has it.
    ``names`` and ``types`` are those of its columns; a branch value of another type is cast.
    ``beyond``: of the first steps of a recursive query, the rows that it has beyond them. They are not evaluated here:
    ``checks_of`` finds out whether there are any.
    """

    operator: str
    all: bool
    branches: tuple[LogicalQuery, ...]
    names: tuple[str, ...]
    types: tuple[DataType, ...]
    beyond: LogicalQuery | None = None
    rules: tuple[RecursionRule, ...] = ()

    def children(self) -> tuple[LogicalQuery, ...]:
        """The branches it evaluates; ``beyond`` is not one of them."""
        return self.branches

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that its rules compute."""
        return tuple(e for rule in self.rules for e in rule.expressions())

    def map(self, change: InputChange) -> SetQuery:
        """The set operator over changed branches, and with ``beyond`` changed."""
        beyond = None if self.beyond is None else as_query(change(self.beyond))
        return replace(self, branches=tuple(as_query(change(branch)) for branch in self.branches), beyond=beyond)


@dataclass(frozen=True, eq=False)
class Ordered(Interned):
    """A query whose rows have an order: its first ``columns`` outputs are the answer, and others may be ordered by.

    Attributes:
        query: the rows.
        columns: how many outputs are shown.
        keys: the order; they name outputs of the query by their stored names.
        limit: the most rows that are kept; ``None``: all.
        offset: the rows that are skipped before them.
        with_ties: whether rows that are equal to the last one in what they are ordered by are kept too.
        on: limit and offset count rows that are equal in these expressions (DISTINCT ON).
    """

    query: LogicalQuery
    columns: int
    keys: tuple[SortKey, ...]
    limit: int | None = None
    offset: int = 0
    with_ties: bool = False
    on: tuple[Expression, ...] = ()

    @property
    def keeps_all(self) -> bool:
        """Whether it has an order and no other meaning."""
        return self.limit is None and not self.offset

    def children(self) -> tuple[LogicalQuery, ...]:
        """The query whose rows it orders."""
        return (self.query,)

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions over the query's outputs that rows are ordered and counted by."""
        return (*(key.expression for key in self.keys), *self.on)

    def map(self, change: InputChange) -> Ordered:
        """The same order over a changed query."""
        return replace(self, query=as_query(change(self.query)))


@dataclass(frozen=True)
class StreamWindow:
    """The window of one stream: what it is called, its ends, and the loop it moves by, if any.

    An end that is ``None`` is open.
    """

    stream: str
    left: Expression | None
    right: Expression | None
    loop: Call | None = None


LogicalQuery = Block | SetQuery | Ordered
Input = StreamInput | Block | SetQuery | Ordered
InputChange = Callable[[Input], Input]


def parts_of(query: LogicalQuery | Input) -> tuple[Input, ...]:
    """A query and all that is inside it, each once, inner ones first: a view may be read several times."""
    parts: dict[int, Input] = {}
    waiting = [query]
    while waiting:
        missing = [item for item in waiting[-1].children() if id(item) not in parts]
        waiting += missing
        if not missing:
            part = waiting.pop()
            parts[id(part)] = part
    return tuple(parts.values())


def rebuilt(query: Input, change: InputChange) -> Input:
    """A query rebuilt from the inside out.

    Args:
        query: the query.
        change: what becomes of a part whose children are changed by then. It is called once for each part, and for
            those of ``SetOperation.beyond`` too.

    Example:
        >>> stream = StreamInput("F")
        >>> block = Block((Block((stream,), TRUE, ()),), TRUE, ())
        >>> rebuilt(block, lambda part: StreamInput("G") if part == stream else part).children()[0].children()
        (StreamInput(stream='G'),)
    """
    done: dict[int, Input] = {}

    def changed(part: Input) -> Input:
        for inner in parts_of(part) if id(part) not in done else ():
            if id(inner) not in done:
                done[id(inner)] = change(inner.map(changed))
        return done[id(part)]

    return changed(query)


def with_blocks(query: LogicalQuery, change: Callable[[Block], Block]) -> LogicalQuery:
    """A query whose SELECTs are changed, each once, inner ones first."""
    return as_query(rebuilt(query, lambda part: change(part) if isinstance(part, Block) else part))


def as_query(part: Input) -> LogicalQuery:
    """A part that is known to be a query."""
    assert not isinstance(part, StreamInput)
    return part


def listing(query: LogicalQuery) -> str:
    """A query as a text: a line for each query inside it, which has a number, the query itself last."""
    numbers: dict[int, int] = {}
    lines = []
    for number, part in enumerate(parts_of(query), start=1):
        numbers[id(part)] = number
        match part:
            case StreamInput():
                lines.append(f"#{number} {part}")
            case Block():
                lines.append(f"#{number} {replace(part, inputs=())} of {[numbers[id(i)] for i in part.inputs]}")
            case SetQuery():
                own = replace(part, branches=(), beyond=None)
                lines.append(f"#{number} {own} of {[numbers[id(b)] for b in part.branches]}")
            case Ordered():
                lines.append(f"#{number} {part.columns} columns of {numbers[id(part.query)]} by {part.keys}")
    return "\n".join(lines)


def streams_of(query: LogicalQuery | Input) -> frozenset[str]:
    """The streams and tables that a query reads."""
    return frozenset(item.stream for item in parts_of(query) if isinstance(item, StreamInput))


def calls_of(query: LogicalQuery | Input) -> frozenset[str]:
    """Names of all functions that a query calls."""
    return frozenset().union(*(calls(e) for part in parts_of(query) for e in part.expressions()))


def analytic_steps(block: Block) -> tuple[tuple[Analyzed, ...], ...]:
    """The analytic functions of a block, in steps of functions with one order.

    Peers are in the order of all that is known of a row by then: ``analyzed_values``, and the functions of the steps
    before. So only equal rows are in no order, and every answer is a function of the bag of rows.
    """
    orders = sorted({a.call.over for a in block.analytics}, key=lambda over: (over.text, over.identity))
    return tuple(tuple(a for a in block.analytics if a.call.over == over) for over in orders)


def values_read(expression: Expression) -> Iterator[Expression]:
    """What an expression knows of a row: columns, and elements of arrays, of which a row need not have all.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> from workbench.sql.algebra.types import INTEGER, STRING
        >>> element = Call("element_at", (Column("words", STRING), Column("place", INTEGER)), STRING)
        >>> [text(value) for value in values_read(Call("concat", (Column("s", STRING), element), STRING))]
        ['s', 'element_at(words, place)']
    """
    match expression:
        case Call("element_at", (_, Column())) if Origin.ANALYTIC not in sources(expression):
            yield expression
        case Call(arguments=arguments) if "element_at" in calls(expression):
            yield from (value for argument in arguments for value in values_read(argument))
        case _:
            yield from columns(expression)


def analyzed_values(block: Block) -> tuple[Expression, ...]:
    """What a block reads of the rows it analyzes, that of its first outputs first."""
    expressions = [output.expression for output in block.outputs]
    expressions += sorted(
        {value for e in predicate_expressions(block.qualify) for value in values_read(e)}, key=reading_order
    )
    expressions += [argument for analyzed in block.analytics for argument in analyzed.call.arguments]
    read = (value for e in expressions for value in sorted({*values_read(e)}, key=reading_order))
    return tuple(dict.fromkeys(value for value in read if Origin.ANALYTIC not in sources(value)))


def unordered(query: LogicalQuery) -> LogicalQuery:
    """A query inside another: without its order, which has no meaning there, and what was only ordered by."""
    if not isinstance(query, Ordered) or not query.keeps_all:
        return query
    inner = query.query
    if not isinstance(inner, Block) or len(inner.outputs) == query.columns:
        return inner
    return replace(inner, outputs=inner.outputs[: query.columns])


def ordered_rows(query: LogicalQuery) -> tuple[LogicalQuery, tuple[SortKey, ...]]:
    """A query inside another with all that it is ordered by, after what it shows; and its order."""
    if not isinstance(query, Ordered):
        return query, ()
    if query.keeps_all:
        return query.query, query.keys
    return replace(query, columns=len(output_columns(query.query))), query.keys


def output_columns(query: LogicalQuery) -> tuple[tuple[str, DataType], ...]:
    """Names and types of the result."""
    match query:
        case Block():
            return tuple((o.name, o.type) for o in query.outputs)
        case SetQuery():
            return tuple(zip(query.names, query.types, strict=True))
        case Ordered():
            return output_columns(query.query)[: query.columns]


def identifying_columns(query: LogicalQuery | None) -> tuple[int, ...] | None:
    """The places of the columns that tell rows of an answer apart over time: its groups.

    Returns:
        ``None`` where all columns do: rows that are not grouped, or do not show all that they are grouped by.
    """
    match query:
        case Ordered(query=inner):
            return identifying_columns(inner)
        case Block(grouping=Grouping(groups=groups), outputs=outputs, distinct=False):
            named = {column_name(group) for group in groups}
            shown = {
                place: value.name
                for place, value in enumerate(output.expression for output in outputs)
                if isinstance(value, Column) and value.name in named
            }
            return tuple(shown) if named == set(shown.values()) else None
    return None
