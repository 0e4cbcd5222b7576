"""Window clauses bound: between which times each stream of a statement is seen (PSoup 3.1, TelegraphCQ 4.1.1).

A window of a stream is two comparisons of its time with the window's ends, as one could write them into WHERE. The time
of a stream is its event time (physical), or for a stream that has none the number of the row (logical).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.errors import SqlError, nearest
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.logical import StreamInput, StreamWindow
from workbench.sql.predicates.cnf import PredSet, conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.window_clause import BeginEnd, Clause, ForLoop, Piece, WindowIs, parsed
from workbench.sql.windows.evaluation import MOST_DUE, Endless, computable, sequence, value_at
from workbench.sql.windows.stream_time import ROW, at_instant, instant, is_time, now_of, rows_of, variable

if TYPE_CHECKING:
    from sqlglot import exp

    from workbench.sql.binder.from_clause import FromClause
    from workbench.sql.binder.pipeline import QueryBinder


@dataclass
class StreamWindows:
    """The window clause of a statement.

    Attributes:
        clause: as it was found.
        binder: of the statement.
        declared: the windows that were put on streams.
    """

    clause: Clause
    binder: QueryBinder
    declared: list[StreamWindow] = field(default_factory=list)

    def on(self, from_: FromClause) -> PredSet:
        """The windows on the streams of a FROM clause, as conditions."""
        found = [self._on_input(from_, item, i) for item in from_.scope.items for i in item.inputs]
        return conjunction(*(window for window in found if window is not None))

    def check(self) -> None:
        """Raises SqlError when a window is on what is not in FROM."""
        if not self.declared and isinstance(self.clause, BeginEnd):
            raise self._error("there is no stream to put the window on", Piece("BEGIN", self.clause.at))
        known = {window.stream.lower() for window in self.declared}
        for window in self.clause.windows if isinstance(self.clause, ForLoop) else ():
            name = window.stream.text.strip()
            if name.lower() not in known:
                raise self._error(f"{name} is not in FROM", window.stream, nearest(name, sorted(known)))

    def _on_input(self, from_: FromClause, item: Item, position: int) -> PredSet | None:
        found = from_.inputs[position]
        named = self._window_is(item.alias, found.stream if isinstance(found, StreamInput) else "")
        if isinstance(self.clause, ForLoop) and named is None:
            return None
        if not isinstance(found, StreamInput):
            if named is None and not item.named:
                return None  # a subquery of the text has the window inside
            place = named.stream if named is not None else Piece("BEGIN", self.clause.at)
            hint = "put the window on the streams it is made of, in its own text"
            raise self._error(f"{item.alias} has groups, and no rows of a stream to put a window on", place, hint)
        if found.stream in self.binder.schema.tables:
            if named is None:
                return None
            raise self._error(f"{found.stream} is a table, and has no windows", named.stream, "leave its window out")
        return self._between(item, found, position, named)

    def _window_is(self, alias: str, stream: str) -> WindowIs | None:
        """What the loop says of a FROM item, by its alias or by the name of its stream."""
        if isinstance(self.clause, BeginEnd):
            return None
        wanted = {alias.lower(), stream.lower()} - {""}
        return next((w for w in self.clause.windows if w.stream.text.strip().lower() in wanted), None)

    def _between(self, item: Item, found: StreamInput, position: int, named: WindowIs | None) -> PredSet:
        time = self.binder.schema.time(found.stream)
        column = Column(*((time or ROW).name, (time or ROW).type), position)
        if isinstance(self.clause, BeginEnd):
            pieces, loop = (self.clause.begin, self.clause.end), None
            name, now = item.alias, self._now_of(found.stream)
            ends = [self._bound(piece, {}, now) for piece in pieces]
        else:
            assert named is not None
            pieces, name, loop = (named.left, named.right), named.stream.text.strip(), self._loop
            inner = {self.clause.variable.lower(): variable(loop.type), "st": self._started}
            ends = [at_instant(self._bound(piece, inner, loop.arguments[3]), loop) for piece in pieces]
        tests: list[Expression] = []
        for operator, end, piece in zip((">=", "<="), ends, pieces, strict=True):
            try:
                tests.append(call(operator, column, end))
            except TypeClash as clash:
                raise self._error(clash.message, piece, clash.hint) from None
        left, right = (t.arguments[1] if isinstance(t, Call) else e for t, e in zip(tests, ends, strict=True))
        self.declared.append(StreamWindow(name, left, right, loop))
        return normal_form(call("and", *tests))

    @property
    def _loop(self) -> Call:
        """The loop as an expression, checked."""
        clause = self.clause
        assert isinstance(clause, ForLoop)
        now, started = self._clock, self._started
        start = self._bound(clause.start, {"st": started}, now)
        if not is_time(start.type):
            raise self._error(
                f"a loop counts times, not {start.type}", clause.start, "begin with ST, a number or a date"
            )
        inner = {clause.variable.lower(): variable(start.type), "st": started}
        always = Constant(True, BOOLEAN)
        condition = always if clause.condition.blank else self._bound(clause.condition, inner, now)
        if condition.type != BOOLEAN:
            raise self._error(f"a condition is needed, not {condition.type}", clause.condition)
        change = self._bound(clause.change, inner, now)
        if change.type.kind is not start.type.kind:
            raise self._error(f"the loop begins with {start.type} and goes on with {change.type}", clause.change)
        loop = instant(start, condition, change, now)
        try:
            sequence(loop).due(self.binder.schema.moment, MOST_DUE)
        except Endless:
            if len(sequence(loop)) >= MOST_DUE:
                what = f"the loop has more than {MOST_DUE:,} instants so far"
                raise self._error(what, clause.start, "begin it at ST, or let it go on in longer steps") from None
            hint = (
                f"give it a condition that ends it, as in for ({clause.variable} = ST; {clause.variable} > ST - 50; …)"
            )
            raise self._error("the loop does not end", clause.condition, hint) from None
        return loop

    @property
    def _clock(self) -> Call:
        """What the loop follows: the time of its streams, or else the number of their rows."""
        if self.binder.times:
            message = f"now is no one time here: {self.binder.times}"
            raise self._error(message, Piece("for", self.clause.at), "use streams whose times compare")
        if self.binder.now is not None:
            return self.binder.now
        return now_of(map(rows_of, self.binder.streams), INTEGER)

    @property
    def _started(self) -> Expression:
        """ST, the time at which the query was registered."""
        return Constant(value_at(self._clock, self.binder.schema.moment), self._clock.type)

    def _now_of(self, stream: str) -> Call:
        if self.binder.now is not None and self.binder.schema.time(stream) is not None:
            return self.binder.now
        return now_of([rows_of(stream)], INTEGER)

    def _bound(self, piece: Piece, names: dict[str, Expression], now: Expression) -> Expression:
        """An expression of the clause."""
        binder, source = self.binder, self.binder.source

        def current(node: exp.Expr) -> Expression:
            return now

        scope = Scope(source, [Item("", names)])
        scalar = ScalarBinder(scope, binder.schema, binder.dialect, now=current)
        found = scalar.bind(parsed(source.sql, piece, binder.dialect))
        if isinstance(found, Constant) and found.value is None:
            raise self._error("this is not known: nothing has arrived yet", piece, "write a constant in its place")
        if not computable(found):
            raise self._error(
                "this function is not known in a window", piece, "add, subtract, truncate and compare times"
            )
        return found

    def _error(self, message: str, piece: Piece, hint: str | None = None) -> SqlError:
        place = piece.at + len(piece.text) - len(piece.text.lstrip())
        length = max(1, len(piece.text.strip()))
        return SqlError(message, sql=self.binder.source.sql, position=place, length=length, hint=hint)
