"""Window clauses bound: between which times each stream of a statement is seen (PSoup 3.1, TelegraphCQ 4.1.1).

A window of a stream is two comparisons of its time with the window's ends, as one could write them into WHERE. The time
of a stream is its event time (physical), or for a stream that has none the number of the row (logical).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from workbench.errors import SqlError, nearest
from workbench.sql.algebra.coercion import TypeClash, is_null
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.binder.joins.from_clause import FromClause
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import COMPARE, ScalarBinder
from workbench.sql.binder.scope import Item, scope_of
from workbench.sql.functions.calls import call
from workbench.sql.logical import StreamInput, StreamWindow
from workbench.sql.predicates.cnf import PredSet, conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.source_text import Place
from workbench.sql.syntax.window_clause import BeginEnd, ClausePart, ForLoop, WindowClause, WindowIs
from workbench.sql.windows.evaluation import MAX_DUE, Endless, computable, loop_instants, value_at
from workbench.sql.windows.stream_time import ROW, at_instant, instant, is_time, loop_variable, now_of, row_number_key


@dataclass
class StreamWindows:
    """The window clause of a statement.

    Attributes:
        clause: the parsed clause.
        context: the statement.
        declared: the windows put on streams so far.
    """

    clause: WindowClause
    context: QueryContext
    declared: list[StreamWindow] = field(default_factory=list)

    def on(self, from_: FromClause, item: Item) -> PredSet:
        """The windows on the streams of an item of a FROM clause, as conditions."""
        windows = [self._on_input(from_, item, i) for i in item.inputs]
        return conjunction(*(window for window in windows if window is not None))

    def check(self) -> None:
        """Raises SqlError when a window is on what is not in FROM; call it when the whole statement is bound."""
        if not self.declared and isinstance(self.clause, BeginEnd):
            raise SqlError("there is no stream to put the window on", **self.clause.place)
        known = {window.stream.lower() for window in self.declared}
        for window in self.clause.windows if isinstance(self.clause, ForLoop) else ():
            if window.stream.lower() not in known:
                hint = nearest(window.stream, sorted(known))
                raise SqlError(f"{window.stream} is not in FROM", **window.place, hint=hint)

    def _on_input(self, from_: FromClause, item: Item, position: int) -> PredSet | None:
        """The window on one input of a FROM item; ``None`` when it has none."""
        relation = from_.inputs[position]
        window = self._window_is(item.alias, relation.stream if isinstance(relation, StreamInput) else "")
        if isinstance(self.clause, ForLoop) and window is None:
            return None
        if not isinstance(relation, StreamInput):
            if window is None and not item.named:
                return None  # a subquery of the text has the window inside
            place = window.place if window is not None else self.clause.place
            raise SqlError(f"{item.alias} has groups, and no rows of a stream to put a window on", **place,
                           hint="put the window on the streams it is made of, in its own text")  # fmt: skip
        if relation.stream in self.context.schema.tables:
            if window is None:
                return None
            message = f"{relation.stream} is a table, and has no windows"
            raise SqlError(message, **window.place, hint="leave its window out")
        return self._between(item, relation.stream, position, window)

    def _window_is(self, alias: str, stream: str) -> WindowIs | None:
        """The loop's window on a FROM item, by its alias or by the name of its stream."""
        if isinstance(self.clause, BeginEnd):
            return None
        names = {alias.lower(), stream.lower()} - {""}
        return next((w for w in self.clause.windows if w.stream.lower() in names), None)

    def _between(self, item: Item, stream: str, position: int, window: WindowIs | None) -> PredSet:
        """The comparisons of a stream's time with both ends of its window."""
        event_time = self.context.schema.time(stream)
        if event_time is None and stream in self.context.schema.corrected:
            # Where rows are taken back, "the last 100" would need those that had left the window already.
            message = f"{stream} takes rows back, so its rows cannot be counted by a window"
            hint = "give the stream event times (time=…), and write the window over them"
            raise SqlError(message, **self._place(window), hint=hint)
        other = next((name for name in sorted(self.context.streams) if self.context.schema.time(name)), None)
        if event_time is None and other is not None:
            # One number for both would be a time there and a row's number here.
            message = f"the rows of {stream} are counted, and {other} has event times: a window has one notion of time"
            hint = f"add {stream} with time=…, the column that has its event times"
            raise SqlError(message, **self._place(window), hint=hint)
        time = event_time or ROW
        column = Column(time.name, time.type, position)
        loop = None
        if isinstance(self.clause, BeginEnd):
            parts, name = (self.clause.begin, self.clause.end), item.alias
            now = now_of([row_number_key(stream)], INTEGER) if event_time is None else self._clock
            ends = [self._bind(part, {}, now) for part in parts]
        else:
            assert window is not None
            parts, name, loop = (window.left, window.right), window.stream, self._loop
            names = {self.clause.variable.lower(): loop_variable(loop.type), "st": self._registered_at}
            ends = [at_instant(self._bind(part, names, loop.arguments[3]), loop) for part in parts]
        tests: list[Expression] = []
        for operator, end, part in zip((">=", "<="), ends, parts, strict=True):
            try:
                tests.append(call(operator, column, end))
            except TypeClash as clash:
                raise SqlError(clash.message, **part.place, hint=clash.hint) from None
        left, right = (t.arguments[1] if isinstance(t, Call) else e for t, e in zip(tests, ends, strict=True))
        self.declared.append(StreamWindow(name, left, right, loop))
        return normal_form(call("and", *tests))

    def _place(self, window: WindowIs | None) -> Place:
        """Where the window of a stream stands in the text."""
        if isinstance(self.clause, BeginEnd):
            return self.clause.begin.place
        assert window is not None
        return window.place

    @cached_property
    def _loop(self) -> Call:
        """The loop as an expression, checked."""
        clause = self.clause
        assert isinstance(clause, ForLoop)
        now, names = self._clock, {"st": self._registered_at}
        start = self._bind(clause.start, names, now)
        if not is_time(start.type):
            message = f"a loop counts times, not {start.type}"
            raise SqlError(message, **clause.start.place, hint="begin with ST, a number or a date")
        names = {**names, clause.variable.lower(): loop_variable(start.type)}
        condition: Expression = Constant(True, BOOLEAN)
        if clause.condition is not None:
            condition = self._bind(clause.condition, names, now)
            if condition.type != BOOLEAN:
                raise SqlError(f"a condition is needed, not {condition.type}", **clause.condition.place, hint=COMPARE)
        change = self._bind(clause.change, names, now)
        if change.type.kind is not start.type.kind:
            message = f"the loop begins with {start.type} and goes on with {change.type}"
            raise SqlError(message, **clause.change.place)
        loop = instant(start, condition, change, now)
        try:
            loop_instants(loop).due(self.context.schema.event_times, MAX_DUE)
        except Endless:
            if len(loop_instants(loop)) >= MAX_DUE:
                hint = "begin it at ST, or let it go on in longer steps"
                message = f"the loop has more than {MAX_DUE:,} instants so far"
                raise SqlError(message, **clause.start.place, hint=hint) from None
            name = clause.variable
            hint = f"give it a condition that ends it, as in for ({name} = ST; {name} > ST - 50; …)"
            place = clause.condition.place if clause.condition is not None else clause.place
            raise SqlError("the loop does not end", **place, hint=hint) from None
        return loop

    @property
    def _clock(self) -> Call:
        """What the loop follows: the time of its streams, or else the number of their rows."""
        if self.context.clashing_times:
            message = f"now is no one time here: {self.context.clashing_times}"
            raise SqlError(message, **self.clause.place, hint="use streams whose times compare")
        return self.context.now or now_of(map(row_number_key, self.context.streams), INTEGER)

    @property
    def _registered_at(self) -> Expression:
        """ST, the time at which the query was registered."""
        return Constant(value_at(self._clock, self.context.schema.event_times), self._clock.type)

    def _bind(self, part: ClausePart, names: dict[str, Expression], now: Expression) -> Expression:
        """An expression of the clause, over ``names`` and now."""

        def now_at(node: exp.Expr) -> Expression:
            return now

        scope = scope_of(self.context.source, names)
        bound = ScalarBinder(scope, self.context.schema, now_at=now_at).bind(part.tree)
        if is_null(bound):
            hint = "write a constant in its place"
            raise SqlError("this is not known: nothing has arrived yet", **part.place, hint=hint)
        if not computable(bound):
            hint = "add, subtract, truncate and compare times"
            raise SqlError("this function is not known in a window", **part.place, hint=hint)
        return bound
