"""TIME_BUCKET_GAPFILL in GROUP BY: a row for each time bucket of a key, also for those without rows.

::

    SELECT k, TIME_BUCKET_GAPFILL(INTERVAL '1' HOUR, t) AS hour, COUNT(*), LOCF(MAX(x)), INTERPOLATE(AVG(y))
    FROM s WHERE t >= TIMESTAMP '2026-03-02 09:00' AND t < TIMESTAMP '2026-03-02 17:00' GROUP BY k, hour

is bound as a query without it, over groups with the start of the next group of their key::

    n:  SELECT k, hour, …, LEAD(hour) OVER (PARTITION BY k ORDER BY hour) AS next FROM groups
    SELECT k, hour + i * width, … FROM n, GENERATE_SERIES(0, (next - hour) / width - 1) AS i

So a batch costs the groups that it changes and the gaps next to them, also where rows are retracted. Aggregates are
NULL in the rows of a gap, but LOCF has the value of the group before it, and INTERPOLATE is on the line between the
groups on both sides. A key has rows from the first time to the last one that the function, or WHERE, gives; without
these from its own first group, or to its last. Expressions of aggregates are computed after gaps are filled:
``COALESCE(SUM(x), 0)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from workbench.sql.algebra.analytic import AnalyticCall, Over
from workbench.sql.algebra.coercion import coerce
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, Origin
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DOUBLE, INTEGER
from workbench.sql.binder.aggregates.aggregation import is_aggregate
from workbench.sql.binder.protocols import QueryContext, outside_subqueries
from workbench.sql.binder.scalar import ScalarBinder, is_now
from workbench.sql.binder.scope import Scope
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.times.time_differences import (
    OF_GROUPS,
    micros_of,
    moment_at,
    moment_of,
    start_of_bucket,
    width_of_bucket,
)
from workbench.sql.logical import Analyzed, Block, LogicalQuery, Output, SetQuery, output_columns
from workbench.sql.predicates.cnf import TRUE
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.query_limits import MOST_ROWS

_GAPFILL, _CARRIED, _BETWEEN = "time_bucket_gapfill", "locf", "interpolate"
_ROWS = "__groups"
_STRETCHES, _PAGES, _PAGE, _PLACE, _LAST = (f"__{name}" for name in ("stretches", "pages", "page", "place", "last"))
_NEXT = "__next_"
_LATER = ("order", "limit", "offset", "fetch")
"""Clauses over filled rows."""
_ENDS: Mapping[type[exp.Expr], int] = {exp.GTE: 0, exp.GT: 0, exp.LT: 1, exp.LTE: 1}
"""Comparison of a time with a constant -> which end it says."""


@dataclass(frozen=True)
class Filled:
    """A SELECT over rows in which gaps are filled.

    Attributes:
        select: without groups.
        name: of what it reads.
        rows: what that is.
    """

    select: exp.Select
    name: str
    rows: LogicalQuery


def gaps_filled(select: exp.Select, context: QueryContext) -> Filled | None:
    """A SELECT that groups by TIME_BUCKET_GAPFILL without it; ``None`` of another.

    Raises:
        SqlError: names or types in it are wrong.
        UnsupportedError: it has a clause, or a width, that is not evaluated there.
    """
    group = select.args.get("group")
    if group is None:
        return None
    for node in (node for part in (*select.expressions, group) for node in outside_subqueries(part)):
        if isinstance(node, exp.Anonymous) and node.name.lower() == _GAPFILL:
            return None if node.meta.get(OF_GROUPS) else _GapFilling(select, context, node).filled()
    return None


@dataclass
class _GapFilling:
    """Rewrites a SELECT.

    Attributes:
        function: the call of TIME_BUCKET_GAPFILL.
        inner: the columns of the groups, by what they are in the text: what is grouped by, and aggregates.
        shown: those that are read of filled rows: the column of the groups, and LOCF, INTERPOLATE or nothing.
    """

    select: exp.Select
    context: QueryContext
    function: exp.Anonymous
    inner: dict[exp.Expr, str] = field(default_factory=dict)
    shown: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.source = self.context.source
        self.aliases = {item.alias.lower(): item.unalias() for item in self.select.expressions if item.alias}

    def filled(self) -> Filled:
        """The SELECT over filled rows, and these."""
        select, source = self.select, self.source
        if others := [key for key in ("distinct", "qualify", "windows", "laterals") if select.args.get(key)]:
            hint = "let a subquery in FROM fill the gaps"
            source.refuse(f"{others[0].upper()} beside TIME_BUCKET_GAPFILL", self.function, hint)
        source.refuse_others(select.args["group"], {"expressions"}, "GROUP BY of TIME_BUCKET_GAPFILL")
        if not 2 <= len(self.function.expressions) <= 4:
            hint = "as in TIME_BUCKET_GAPFILL(INTERVAL '1' HOUR, t), and the first and last time if WHERE has none"
            raise source.error("TIME_BUCKET_GAPFILL takes 2 to 4 arguments", self.function, hint)
        for node in select.args["group"].expressions:
            self.inner.setdefault(self._grouped(node), f"__g{len(self.inner)}")
        if self.function not in self.inner:
            raise source.error("TIME_BUCKET_GAPFILL is no group", self.function, "GROUP BY its alias or its number")
        self.keys = tuple(self.inner.values())
        items = [self._item(item) for item in select.expressions]
        outer = exp.select(*items, copy=False).from_(exp.to_table(_ROWS))
        for key in _LATER:
            if (clause := select.args.get(key)) is not None:
                outer.set(key, clause.transform(self._over))
        return Filled(outer, _ROWS, self._rows())

    def _grouped(self, node: exp.Expr) -> exp.Expr:
        """The expression of an item of GROUP BY, which may be a position or an alias of the select list."""
        items = self.select.expressions
        if isinstance(node, exp.Literal) and node.name.isdigit() and 0 < int(node.name) <= len(items):
            return items[int(node.name) - 1].unalias()
        named = self.aliases.get(node.name.lower()) if isinstance(node, exp.Column) and not node.table else None
        return node if named is None else named

    def _item(self, item: exp.Expr) -> exp.Expr:
        """An item of the select list over filled rows, with its name."""
        over = item.transform(self._over)
        known = {*self.shown.values(), *self.aliases}
        for node in outside_subqueries(over):
            if isinstance(node, exp.Column) and node.name.lower() not in known:
                hint = "add it to GROUP BY, or use an aggregate of it"
                raise self.source.error(f"{node.name} is neither a group nor in an aggregate", node, hint)
        if isinstance(over, exp.Alias):
            return over
        name = item.name if isinstance(item, exp.Column) else self.source.select_item(item) or item.sql()
        return exp.alias_(over, name, quoted=True, copy=False)

    def _over(self, node: exp.Expr) -> exp.Expr:
        """A group, an aggregate, or LOCF or INTERPOLATE of one as a column of filled rows; other nodes as they are."""
        how = node.name.lower() if _is(node, _CARRIED, _BETWEEN) else ""
        if how and len(node.expressions) != 1:
            raise self.source.error(f"{how.upper()} takes an aggregate", node, f"as in {how.upper()}(AVG(x))")
        name = self._group(node)
        if name is None and (how or is_aggregate(node, self.context.schema)):
            name = self.inner.setdefault(node.expressions[0] if how else node, f"__g{len(self.inner)}")
        if name is None:
            return node
        column = exp.column(exp.to_identifier(self.shown.setdefault((name, how), f"{name}{how}"), quoted=True))
        column.meta.update(self._place(node))
        return column

    def _place(self, node: exp.Expr) -> dict[str, int]:
        spans = [n.meta for n in node.walk() if "start" in n.meta]
        return {"start": min(m["start"] for m in spans), "end": max(m["end"] for m in spans)} if spans else {}

    def _group(self, node: exp.Expr) -> str | None:
        """The column of a group; ``t.k`` is the group ``k``, too."""
        for group, name in self.inner.items():
            same = group == node
            if isinstance(group, exp.Column) and isinstance(node, exp.Column) and not (group.table and node.table):
                same = group.name.lower() == node.name.lower()
            if same and name in self.keys:
                return name
        return None

    # ---- rows --------------------------------------------------------------------------------------------------------

    def _rows(self) -> LogicalQuery:
        """The rows of groups and gaps, with the columns of ``shown``."""
        b = ScalarBinder(Scope(self.source), self.context.schema)
        width = Constant(width_of_bucket(b, self.function.expressions[0]), INTEGER)
        groups = self._groups()
        type_ = _column(groups, self.inner[self.function]).type
        ends = [None if node is None else coerce(moment_of(b, node), type_) for node in self._ends()]
        rows: LogicalQuery = self._numbered(groups, ends, width)
        # Two series, since one has MOST_ROWS elements at most; a check finds gaps that are longer than both.
        rows = self._series(rows, Constant(0, INTEGER), _column(rows, _PAGES), _PAGE)
        first = call("*", _column(rows, _PAGE), Constant(MOST_ROWS, INTEGER))
        page = call("+", first, Constant(MOST_ROWS - 1, INTEGER))
        last = call("-", _column(rows, _STRETCHES), Constant(1, INTEGER))
        rows = self._series(rows, first, call("least", last, page), _PLACE)
        place, stretches = _column(rows, _PLACE), _column(rows, _STRETCHES)
        is_group = call("=", place, Constant(0, INTEGER))
        outputs = []
        for (name, how), shown in self.shown.items():
            value: Expression = _column(rows, name)
            if name == self.inner[self.function]:
                later = call("+", micros_of(value), call("*", place, width))
                value = moment_at(later, type_)
            elif how == _BETWEEN:
                if not value.type.numeric:
                    node = next(node for node, known in self.inner.items() if known == name)
                    raise self.source.error(
                        f"INTERPOLATE needs a number, not {value.type}", node, "LOCF takes any value"
                    )
                own, following = (cast(v, DOUBLE) for v in (value, _column(rows, f"{_NEXT}{name}")))
                share = call("/", call("*", call("-", following, own), cast(place, DOUBLE)), cast(stretches, DOUBLE))
                value = call("case", is_group, own, call("+", own, share))
            elif not how and name not in self.keys:
                value = call("case", is_group, value, Constant(None, value.type))
            outputs.append(Output(shown, value))
        return Block((rows,), TRUE, tuple(outputs))

    def _groups(self) -> LogicalQuery:
        """The groups of the text that are between the times that the function names."""
        inner, groups = self.select.copy(), []
        for key in _LATER:
            inner.set(key, None)
        for node, name in self.inner.items():
            own = node.copy()
            if node == self.function:
                own.meta[OF_GROUPS] = True
            groups += [own.copy()] if name in self.keys else []
            inner.append("expressions", exp.alias_(own, name, copy=False))
        inner.set("expressions", inner.expressions[-len(self.inner) :])
        inner.set("group", exp.Group(expressions=groups))
        time, *named = self.function.expressions[1:]
        for end, node in enumerate(named):
            if not isinstance(node, exp.Null):
                inner = inner.where((exp.GTE, exp.LT)[end](this=time.copy(), expression=node.copy()), copy=False)
        return self.context.query(inner)

    def _ends(self) -> tuple[exp.Expr | None, exp.Expr | None]:
        """From which time on, and up to which, all keys have rows, where the text says it by constants."""
        time, *named = self.function.expressions[1:]
        ends: list[exp.Expr | None] = [None, None]
        where = self.select.args.get("where")
        for test in where.this.flatten() if where is not None and isinstance(where.this, exp.And) else ():
            self._end_of(test, time, ends)
        if where is not None:
            self._end_of(where.this, time, ends)
        for end, node in enumerate(named):
            ends[end] = ends[end] if isinstance(node, exp.Null) else node
        return ends[0], ends[1]

    def _end_of(self, test: exp.Expr, time: exp.Expr, ends: list[exp.Expr | None]) -> None:
        """Note the end that a condition sets."""
        if isinstance(test, exp.Between) and test.this == time:
            self._end_of(exp.GTE(this=time.copy(), expression=test.args["low"].copy()), time, ends)
        if type(test) in _ENDS and test.this == time and not any(map(_is_no_constant, test.expression.walk())):
            ends[_ENDS[type(test)]] = test.expression

    def _numbered(self, groups: LogicalQuery, ends: list[Expression | None], width: Constant) -> Block:
        """Groups with the next group of their key, and the number of buckets up to it."""
        by, (start, end) = self.inner[self.function], ends
        keys = [name for name in self.keys if name != by]
        read = [name for name, _ in output_columns(groups)]
        # The empty group of the begin is no bucket before a group that is at the begin itself.
        order = [by]
        if start is not None:
            groups, order = _with_begins(groups, keys, by, start_of_bucket(start, width)), [by, _LAST]
        over = Over.of(tuple(_column(groups, n) for n in keys), [SortKey(_column(groups, n)) for n in order])
        following = {
            name: AnalyticCall("lead", (_column(groups, name), Constant(1, INTEGER)), _column(groups, name).type, over)
            for name in [by, *(name for name, how in self.shown if how == _BETWEEN)]
        }
        later = {name: Column(made.name, made.type, Origin.ANALYTIC) for name, made in following.items()}
        upto = micros_of(later[by])
        own = micros_of(_column(groups, by))
        last = call("+", own, width) if end is None else micros_of(end)
        length = call("-", call("coalesce", upto, last), own)
        stretches = call("div", call("+", length, call("-", width, Constant(1, INTEGER))), width)
        pages = call("div", call("-", stretches, Constant(1, INTEGER)), Constant(MOST_ROWS, INTEGER))
        outputs = [
            *(Output(name, _column(groups, name)) for name in read),
            *(Output(f"{_NEXT}{name}", later[name]) for name in following),
            Output(_STRETCHES, stretches),
            Output(_PAGES, pages),
        ]
        calls = tuple(Analyzed(made.name, made) for made in dict.fromkeys(following.values()))
        is_there = normal_form(call(">", stretches, Constant(0, INTEGER)))
        return Block((groups,), TRUE, tuple(outputs), analytics=calls, qualify=is_there)

    def _series(self, rows: LogicalQuery, first: Expression, last: Expression, name: str) -> LogicalQuery:
        """Rows joined with a series of numbers from one of their values to another."""
        ends = {f"{name}_from": first, f"{name}_to": last}
        outputs = [Output(own, _column(rows, own)) for own, _ in output_columns(rows)]
        outputs += [Output(own, value) for own, value in ends.items()]
        numbers = exp.GenerateSeries(**dict(zip(("start", "end"), map(exp.column, ends), strict=True)))
        alias = exp.TableAlias(this=exp.to_identifier(f"{name}s"), columns=[exp.to_identifier(name)])
        select = exp.select("*").from_(exp.to_table(_ROWS))
        select.append("joins", exp.Join(this=exp.Table(this=numbers, alias=alias), kind="CROSS"))
        return self.context.knowing(_ROWS, Block((rows,), TRUE, tuple(outputs))).query(select)


def _with_begins(groups: LogicalQuery, keys: list[str], by: str, start: Expression) -> SetQuery:
    """Groups, with an empty group at the begin of each key."""
    columns = output_columns(groups)
    key = tuple(Output(name, _column(groups, name)) for name in keys)
    begins = Block((groups,), TRUE, key or (Output(_LAST, Constant(0, INTEGER)),), distinct=True)
    own = [*(Output(name, _column(groups, name)) for name, _ in columns), Output(_LAST, Constant(1, INTEGER))]
    empty = [
        Output(name, start if name == by else _column(begins, name) if name in keys else Constant(None, type_))
        for name, type_ in columns
    ]
    branches = (
        Block((groups,), TRUE, tuple(own)),
        Block((begins,), TRUE, (*empty, Output(_LAST, Constant(0, INTEGER)))),
    )
    return SetQuery("union", True, branches, (*(n for n, _ in columns), _LAST), (*(t for _, t in columns), INTEGER))


def _column(rows: LogicalQuery, name: str) -> Column:
    """A column of rows that are the only input."""
    return Column(stored_name(name), dict(output_columns(rows))[name])


def _is(node: exp.Expr, *names: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in names


def _is_no_constant(node: exp.Expr) -> bool:
    return isinstance(node, (exp.Column, exp.Query)) or is_now(node)
