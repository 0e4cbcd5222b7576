"""SQL text to the logical query: names resolved, types found, views and plain subqueries merged, predicates in CNF.

Nothing is ever ignored: a part of the text that has no meaning here is refused by name, with a caret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from workbench.errors import SqlError, UnsupportedError, nearest
from workbench.sql.algebra.coercion import TypeClash, is_null, unify
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Constant
from workbench.sql.algebra.types import DataType
from workbench.sql.binder.select import bind_block
from workbench.sql.binder.stream_windows import StreamWindows
from workbench.sql.logical import (
    Block,
    LogicalQuery,
    Output,
    SetOperation,
    StreamInput,
    StreamWindow,
    output_columns,
    streams_of,
)
from workbench.sql.render.spark_sql import to_spark
from workbench.sql.schema import Schema
from workbench.sql.syntax.caret import SourceText
from workbench.sql.syntax.extent import refuse_shape
from workbench.sql.syntax.parse import CreateView, Statement, parse
from workbench.sql.windows.stream_time import common_time, now_of


@dataclass(frozen=True)
class Bound:
    """The statements of a text: views in order, the one query if there is one, and the windows of its clause."""

    views: tuple[tuple[str, LogicalQuery], ...]
    query: LogicalQuery | None
    windows: tuple[StreamWindow, ...] = ()

    def named(self, name: str) -> dict[str, LogicalQuery]:
        """What the text adds to the names of FROM: its views, and its query (or else its last view) under ``name``.

        Raises:
            SqlError: there is neither.
        """
        if self.query is None and not self.views:
            raise SqlError("there is no query in this text", hint="write a SELECT, or a CREATE VIEW")
        return {**dict(self.views), name: self.query if self.query is not None else self.views[-1][1]}


def bind(sql: str, dialect: str, schema: Schema) -> Bound:
    """Bind the statements of a text; later ones may use the views of earlier ones.

    Args:
        sql: any number of CREATE VIEW and at most one query, separated by semicolons.
        dialect: a dialect name of sqlglot.
        schema: streams, views, functions and aggregates that may be used.

    Raises:
        SqlError: syntax, an unknown or ambiguous name, or types that do not go together.
        UnsupportedError: a construct that is not evaluated.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> bound = bind("SELECT a FROM t WHERE a > 1", "spark", Schema({"t": (("a", INTEGER),)}))
        >>> str(bound.query.where)
        'a > 1'
    """
    binder = QueryBinder(SourceText(sql), dialect.lower(), schema)
    views: list[tuple[str, LogicalQuery]] = []
    query: LogicalQuery | None = None
    windows: tuple[StreamWindow, ...] = ()
    for statement in parse(sql, dialect):
        if isinstance(statement, CreateView):
            _check_view(statement, binder)
            view = binder.statement(statement)[0]
            view = renamed(view, statement.columns, binder.source, statement.expression)
            views.append((statement.name, view))
            binder = binder.knowing({statement.name.lower(): view})
        elif query is not None:
            raise SqlError("there are two queries in one text", **binder.source.of(statement.expression),
                           hint="register them one by one, or make one a view")  # fmt: skip
        else:
            query, windows = binder.statement(statement)
            _refuse_long(query)
    if query is None and not views:
        raise SqlError("there is no query", hint="write a SELECT")
    return Bound(tuple(views), query, windows)


def _refuse_long(query: LogicalQuery) -> None:
    """Refuse now what Spark could not be told when the answer is read."""
    for output in query.outputs if isinstance(query, Block) else ():
        try:
            to_spark(output.expression, lambda column: column.name)
        except UnsupportedError as error:
            raise UnsupportedError(f"column {output.name}: {error.message}", hint=error.hint) from None


def _check_view(view: CreateView, binder: QueryBinder) -> None:
    """Refuse a view that hides a stream, stands twice in a text, or is made of one of its own name."""
    name, place = view.name.lower(), binder.source.word(re.escape(view.name))
    if binder.schema.stream(name) is not None:
        raise SqlError(f"{view.name} is a stream", **place, hint="give the view another name")
    if name in binder.local and not view.replace:
        hint = "write CREATE OR REPLACE VIEW, or give one of them another name"
        raise SqlError(f"the view {view.name} is there already", **place, hint=hint)
    inner = {cte.alias.lower() for cte in view.expression.find_all(exp.CTE)}
    own = next((t for t in view.expression.find_all(exp.Table) if t.name.lower() == name and name not in inner), None)
    if own is not None:
        raise binder.source.error(f"the view {view.name} is made of itself", own, "give the new view another name")


@dataclass(frozen=True)
class QueryBinder:
    """Binds queries.

    Attributes:
        local: the views and CTEs of the text, by name in lower case.
        now: what ``now()`` means in this statement; ``None`` where no stream of it has event times.
        times: the streams' event times where they are of kinds that do not compare, so that there is no now.
        streams: the streams this statement reads.
        windows: its window clause, if it has one.
    """

    source: SourceText
    dialect: str
    schema: Schema
    local: Mapping[str, LogicalQuery] = field(default_factory=dict)
    now: Call | None = None
    times: str = ""
    streams: frozenset[str] = frozenset()
    windows: StreamWindows | None = None

    def knowing(self, more: Mapping[str, LogicalQuery]) -> QueryBinder:
        """The binder with more names, which hide earlier ones."""
        return replace(self, local={**self.local, **more})

    def statement(self, statement: Statement) -> tuple[LogicalQuery, tuple[StreamWindow, ...]]:
        """A query or view with its window clause."""
        binder = self._timed(statement.expression)
        if statement.clause is None:
            return binder.query(statement.expression), ()
        windows = StreamWindows(statement.clause, binder)
        found = replace(binder, windows=windows).query(statement.expression)
        windows.check()
        return found, tuple(windows.declared)

    def _timed(self, statement: exp.Expr) -> QueryBinder:
        """The binder for a statement, in all of which now is the largest event time of the streams it reads."""
        streams: set[str] = set()
        for table in statement.find_all(exp.Table):
            query = self.local.get(table.name.lower()) or self.schema.view(table.name)
            stream = self.schema.stream(table.name)
            if query is not None:
                streams |= streams_of(query)
            elif stream is not None:
                streams.add(stream[0])
        types = {name: time.type for name in streams if (time := self.schema.time(name)) is not None}
        type_ = common_time(types.values())
        grow = frozenset(streams - self.schema.tables)
        differing = ", ".join(f"{name} {time}" for name, time in sorted(types.items())) if type_ is None else ""
        return replace(self, now=None if type_ is None else now_of(types, type_), times=differing, streams=grow)

    def current(self, node: exp.Expr) -> Call:
        """What now means where ``node`` asks for it.

        Raises:
            SqlError: no stream of the statement has event times, or they are of kinds that do not compare.
        """
        if self.times:
            raise self.source.error(f"now is no one time here: {self.times}", node, "use streams whose times compare")
        if self.now is None:
            hint = "say which column has the time: add_stream(..., time=...)"
            raise self.source.error("there is no now: no stream of this query has a time", node, hint)
        return self.now

    def query(self, node: exp.Expr) -> LogicalQuery:
        """A SELECT, a set operation, or one in parentheses."""
        binder = self._with(node.args.get("with_"))
        match node:
            case exp.Select():
                found: LogicalQuery = bind_block(node, binder)
            case exp.SetOperation():
                found = binder._set_operation(node)
            case exp.Subquery():
                self.source.refuse_others(node, {"this", "with_"}, "parentheses")
                return binder.query(node.this)
            case exp.Table() | exp.Values():
                self.source.refuse("a table in place of a SELECT", node, "write SELECT * FROM it")
            case _:
                self.source.refuse(node.key.upper(), node)
        refuse_shape(found, self.source, node)
        return found

    def _with(self, with_: exp.With | None) -> QueryBinder:
        if with_ is None:
            return self
        self.source.refuse_others(with_, {"expressions"}, "WITH")
        binder, seen = self, set[str]()
        for cte in with_.expressions:
            if cte.alias.lower() in seen:
                raise self.source.error(f"{cte.alias} stands twice in WITH", cte, "give one of them another name")
            seen.add(cte.alias.lower())
            self.source.refuse_others(cte, {"this", "alias"}, "a CTE")
            bound = renamed(binder.query(cte.this), alias_columns(cte), self.source, cte)
            binder = binder.knowing({cte.alias.lower(): bound})
        return binder

    def relation(self, table: exp.Table) -> tuple[str, LogicalQuery | StreamInput, tuple[tuple[str, DataType], ...]]:
        """What a name in FROM means: its name, the query or stream, and its columns.

        Raises:
            SqlError: nothing has that name.
        """
        name = table.name
        if not isinstance(table.this, exp.Identifier):
            self.source.refuse("a table function", table)
        if table.args.get("db") is not None:
            raise self.source.error(f"unknown stream {table.db}.{name}", table, "streams have names of one part")
        query = self.local.get(name.lower()) or self.schema.view(name)
        if query is not None:
            return name, query, tuple((n.lower(), t) for n, t in output_columns(query))
        stream = self.schema.stream(name)
        if stream is not None:
            stored = tuple((stored_name(column), type_) for column, type_ in stream[1])
            return name, StreamInput(stream[0], stored), stream[1]
        known = [*self.schema.streams, *self.schema.views, *self.local]
        hint = nearest(name, known) or (f"there are {', '.join(known[:8])}" if known else "add one with add_stream")
        raise self.source.error(f"unknown stream {name}", table, hint)

    # ---- set operations ----------------------------------------------------------------------------------------------

    def _set_operation(self, node: exp.SetOperation) -> LogicalQuery:
        operator = type(node).__name__.lower()
        self.source.refuse_others(node, {"this", "expression", "distinct", "with_"}, operator.upper())
        all_ = not node.args.get("distinct")
        branches: list[LogicalQuery] = []
        for side in (node.this, node.expression):
            branch = self.query(side)
            if (
                operator == "union"
                and isinstance(branch, SetOperation)
                and (branch.operator, branch.all) == ("union", all_)
            ):
                branches += branch.branches
            else:
                branches.append(branch)
        return self._combined(operator, all_, branches, node)

    def _combined(self, operator: str, all_: bool, branches: list[LogicalQuery], node: exp.Expr) -> SetOperation:
        shapes = [output_columns(branch) for branch in branches]
        if len({len(shape) for shape in shapes}) > 1:
            counts = " and ".join(str(len(shape)) for shape in shapes)
            raise self.source.error(
                f"{operator.upper()} of queries with {counts} columns", node, "select as many columns in each"
            )
        names = tuple(name for name, _ in shapes[0])
        types = tuple(self._common(operator, i, branches, node) for i in range(len(names)))
        return SetOperation(operator, all_, tuple(_null_typed(b, types) for b in branches), names, types)

    def _common(self, operator: str, index: int, branches: list[LogicalQuery], node: exp.Expr) -> DataType:
        """The type of a column that is not NULL in every branch."""
        values = [
            b.outputs[index].expression if isinstance(b, Block) and is_null(b.outputs[index].expression)
            else Column("value", output_columns(b)[index][1]) for b in branches
        ]  # fmt: skip
        try:
            return unify(values)[1]
        except TypeClash as clash:
            name = output_columns(branches[0])[index][0]
            raise self.source.error(f"{operator.upper()}, column {name}: {clash.message}", node, clash.hint) from None


def _null_typed(query: LogicalQuery, types: tuple[DataType, ...]) -> LogicalQuery:
    """A branch whose constant NULLs have the type of the column."""
    if not isinstance(query, Block) or not any(is_null(o.expression) for o in query.outputs):
        return query
    outputs = tuple(
        Output(o.name, Constant(None, type_)) if is_null(o.expression) else o
        for o, type_ in zip(query.outputs, types, strict=True)
    )
    return replace(query, outputs=outputs)


def alias_columns(node: exp.Expr) -> tuple[str, ...]:
    """The column names of ``AS alias(a, b)``."""
    alias = node.args.get("alias")
    return tuple(c.name for c in alias.args.get("columns") or ()) if isinstance(alias, exp.TableAlias) else ()


def renamed(query: LogicalQuery, names: tuple[str, ...], source: SourceText, node: exp.Expr) -> LogicalQuery:
    """The query with other output names; none keeps its own."""
    if not names:
        return query
    if len(names) != len(output_columns(query)) or len({n.lower() for n in names}) != len(names):
        raise source.error(
            f"{len(names)} different column names are needed for {len(output_columns(query))} columns", node
        )
    if isinstance(query, SetOperation):
        return replace(query, names=names)
    return replace(query, outputs=tuple(Output(n, o.expression) for n, o in zip(names, query.outputs, strict=True)))
