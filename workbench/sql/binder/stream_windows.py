"""Window clauses bound: between which times each stream of a statement is seen (PSoup 3.1, TelegraphCQ 4.1.1).

A window of a stream is two comparisons of its time with the window's ends, as one could write them into WHERE. The time
of a stream is its event time (physical), or for a stream that has none the number of the row (logical).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from workbench.errors import SqlError, nearest
from workbench.sql.algebra.coercion import TypeClash, is_null
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.binder.fixpoint import STEP_BEFORE
from workbench.sql.binder.joins.from_clause import FromClause
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import COMPARE, ScalarBinder
from workbench.sql.binder.scope import Item, scope_of
from workbench.sql.functions.calls import call
from workbench.sql.logical import StreamInput, StreamWindow
from workbench.sql.predicates.cnf import PredSet, conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.source_text import Place
from workbench.sql.syntax.window_clause import BeginEnd, ClausePart, ForLoop, ForLoops, WindowClause, WindowIs
from workbench.sql.windows.evaluation import MAX_DUE, Endless, computable, loop_instants, value_at
from workbench.sql.windows.stream_time import (
    ROW,
    at_instant,
    common_time,
    instant,
    is_time,
    loop_variable,
    now_of,
    row_number_key,
)

_ROWS, _TIMES = "rows", "times"
"""What the time of a stream without event times counts; the unit of dates and timestamps."""


@dataclass
class StreamWindows:
    """The window clause of a statement.

    Attributes:
        clause: the parsed clause.
        context: the statement.
        aliases: names of FROM by their aliases, all in lower case.
        declared: the windows put on streams so far.
    """

    clause: WindowClause
    context: QueryContext
    aliases: Mapping[str, str]
    declared: list[StreamWindow] = field(default_factory=list)

    def on(self, from_: FromClause, item: Item) -> PredSet:
        """The windows on the streams of an item of a FROM clause, as conditions."""
        windows = [self._on_input(from_, item, i) for i in item.inputs]
        return conjunction(*(window for window in windows if window is not None))

    def check(self) -> None:
        """Raises SqlError when a window is on what is not in FROM; call it when the whole statement is bound."""
        if not self.declared and isinstance(self.clause, BeginEnd):
            raise SqlError("there is no stream to put the window on", **self.clause.place)
        known, named = {window.stream.lower() for window in self.declared}, set[str]()
        for _, window in self._every:
            if window.stream.lower() not in known:
                hint = nearest(window.stream, sorted(known))
                raise SqlError(f"{window.stream} is not in FROM", **window.place, hint=hint)
            if window.stream.lower() in named and len(self._loops) > 1:
                raise SqlError(f"{window.stream} has two windows", **window.place, hint="leave one of them out")
            named.add(window.stream.lower())

    def _on_input(self, from_: FromClause, item: Item, position: int) -> PredSet | None:
        """The window on one input of a FROM item; ``None`` when it has none."""
        relation = from_.inputs[position]
        if isinstance(relation, StreamInput) and relation.stream == STEP_BEFORE:
            return None  # its rows are made of streams that have their windows
        loop, window = self._window_is(item.alias, relation.stream if isinstance(relation, StreamInput) else "")
        if self._loops and window is None:
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
        return self._between(item, relation.stream, position, loop, window)

    @property
    def _loops(self) -> tuple[ForLoop, ...]:
        return self.clause.loops if isinstance(self.clause, ForLoops) else ()

    @property
    def _every(self) -> list[tuple[ForLoop, WindowIs]]:
        return [(loop, window) for loop in self._loops for window in loop.windows]

    def _window_is(self, alias: str, stream: str) -> tuple[ForLoop, WindowIs] | tuple[None, None]:
        """The loop and the window of a FROM item, by its alias or by the name of its stream."""
        names = {alias.lower(), stream.lower()} - {""}
        return next(((loop, w) for loop, w in self._every if w.stream.lower() in names), (None, None))

    def _between(
        self, item: Item, stream: str, position: int, for_loop: ForLoop | None, window: WindowIs | None
    ) -> PredSet:
        """The comparisons of a stream's time with both ends of its window."""
        moved = self.clause if isinstance(self.clause, BeginEnd) else window
        assert moved is not None
        event_time = None if moved.counted else self.context.schema.time(stream)
        if event_time is None and stream in self.context.schema.corrected:
            # Where rows are taken back, "the last 100" would need those that had left the window already.
            message = f"{stream} takes rows back, so its rows cannot be counted by a window"
            hint = "give the stream event times (time=…), and write the window over them"
            raise SqlError(message, **self._place(window), hint=hint)
        self._check_unit(stream, for_loop, window)
        unit = self._unit(stream, moved.counted)
        time = event_time or ROW
        column = Column(time.name, time.type, position)
        loop = None
        if isinstance(self.clause, BeginEnd):
            parts, name = (self.clause.begin, self.clause.end), item.alias
            now = now_of([row_number_key(stream)], INTEGER) if event_time is None else self._clock(unit)
            ends = [self._bind(part, {}, now) for part in parts]
        else:
            assert for_loop is not None and window is not None
            first = self._first(for_loop)
            parts, name, loop = (window.left, window.right), window.stream, self._loop(for_loop, first[1])
            names = {for_loop.variable.lower(): loop_variable(loop.type), "st": self._registered_at(first[1])}
            ends = [at_instant(self._bind(part, names, loop.arguments[3]), loop) for part in parts]
        tests: list[Expression] = []
        for operator, end, part in zip((">=", "<="), ends, parts, strict=True):
            try:
                tests.append(call(operator, column, end))
            except TypeClash as clash:
                if for_loop is not None and unit != self._first(for_loop)[1]:
                    raise self._two_notions((stream, unit), self._first(for_loop), window) from None
                raise SqlError(clash.message, **part.place, hint=clash.hint) from None
        left, right = (t.arguments[1] if isinstance(t, Call) else e for t, e in zip(tests, ends, strict=True))
        self.declared.append(StreamWindow(name, left, right, loop))
        return normal_form(call("and", *tests))

    def _place(self, window: WindowIs | None) -> Place:
        """The place of a stream's window in the text."""
        if isinstance(self.clause, BeginEnd):
            return self.clause.begin.place
        assert window is not None
        return window.place

    def _check_unit(self, stream: str, loop: ForLoop | None, window: WindowIs | None) -> None:
        """Check that what one clause, or one loop, moves has one notion of time, or that its ends convert the time.

        One number for two would be a time here and a row's number there. A day or an instant is no number, so there
        the types of the ends tell whether they are converted.
        """
        if loop is not None and window is not None:
            unit, moved = self._unit(stream, window.counted), self._first(loop)
            if _TIMES in {unit, moved[1]}:
                return
            others = [moved]
        else:
            by_rows = isinstance(self.clause, BeginEnd) and self.clause.counted
            unit = self._unit(stream, by_rows)
            others = [(other, self._unit(other, by_rows)) for other in sorted(self.context.streams)]
        for other, of_other in others:
            if unit != of_other and _ROWS in {unit, of_other}:
                raise self._two_notions((stream, unit), (other, of_other), window)

    def _two_notions(self, one: tuple[str, str], other: tuple[str, str], window: WindowIs | None) -> SqlError:
        """The error of a window that has two notions of time."""
        (counted, unit), (timed, _) = sorted((one, other), key=lambda moved: moved[1] != _ROWS)
        if unit == _ROWS:
            message = f"the rows of {counted} are counted, and {timed} has event times"
        else:
            message = f"the times of {one[0]} and {other[0]} do not compare"
        hint = "give each its own loop: for (…) { WindowIs(…); } for (…) { WindowIs(…); }"
        if window is not None and _TIMES in {one[1], other[1]}:
            convert = "UNIX_SECONDS(t)" if one[1] != _TIMES else "TIMESTAMP_SECONDS(t)"
            hint += f". Or convert t: WindowIs({window.stream}, {convert} - …, {convert})"
        return SqlError(f"{message}: a window has one notion of time", **self._place(window), hint=hint)

    def _first(self, loop: ForLoop) -> tuple[str, str]:
        """The stream that a loop moves first, whose notion of time its variable has, and this notion."""
        window = loop.windows[0]
        stream = self.aliases.get(window.stream.lower(), window.stream)
        return stream, self._unit(stream, window.counted)

    def _unit(self, stream: str, counted: bool = False) -> str:
        """The unit of a stream's time."""
        time = None if counted else self.context.schema.time(stream)
        return _ROWS if time is None else _TIMES if time.type.temporal else "numbers"

    def _loop(self, clause: ForLoop, unit: str) -> Call:
        """A loop of windows of streams of one notion of time as an expression, checked."""
        now, names = self._clock(unit), {"st": self._registered_at(unit)}
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

    def _clock(self, unit: str) -> Call:
        """What windows follow: the time of the statement's streams of their unit, or the number of their rows."""
        if not self._loops:
            if self.context.clashing_times:
                message = f"now is no one time here: {self.context.clashing_times}"
                raise SqlError(message, **self.clause.place, hint="use streams whose times compare")
            return self.context.now or now_of(map(row_number_key, self.context.streams), INTEGER)
        named = (window.stream.lower() for _, window in self._every if window.counted)
        counted = {self.aliases.get(name, name) for name in named}
        alike = [other for other in self.context.streams if self._unit(other, other.lower() in counted) == unit]
        if unit == _ROWS:
            return now_of(map(row_number_key, alike), INTEGER)
        type_ = common_time(time.type for other in alike if (time := self.context.schema.time(other)) is not None)
        assert type_ is not None
        return now_of(alike, type_)

    def _registered_at(self, unit: str) -> Expression:
        """ST, the time at which the query was registered."""
        clock = self._clock(unit)
        return Constant(value_at(clock, self.context.schema.event_times), clock.type)

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
