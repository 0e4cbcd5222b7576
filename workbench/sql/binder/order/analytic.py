"""Analytic functions of SQL text: ``rank() OVER (PARTITION BY … ORDER BY …)``, neighbours, and aggregates over frames.

A call becomes a column of source ``Origin.ANALYTIC``, and the block says which call has its values. An aggregate
becomes the calls of its basic statistics: AVG over a frame is a SUM and a COUNT over it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.analytic import (
    DISTRIBUTIONS,
    NEIGHBOURS,
    POSITIONS,
    RANKS,
    ROW_ORDER,
    AnalyticCall,
    Frame,
    FrameEnd,
    Over,
)
from workbench.sql.algebra.coercion import coerce, is_null, refuse_maps, unify
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    Origin,
    column_name,
    columns,
    map_columns,
)
from workbench.sql.algebra.expressions import reading_order as order_of_texts
from workbench.sql.algebra.hints import literal_hint
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DATE, DOUBLE, INSTANT, INTEGER, Kind, of_any_bits
from workbench.sql.algebra.zones import UTC, zoning
from workbench.sql.binder.aggregates.aggregation import Aggregation, is_aggregate
from workbench.sql.binder.meant import of_window
from workbench.sql.binder.order.keys import sort_keys
from workbench.sql.binder.protocols import AggregateBinder
from workbench.sql.functions.aggregate_rules import DESCENDING, KeptAs, rule_of
from workbench.sql.functions.aggregates import AGGREGATES
from workbench.sql.functions.elsewhere import usual_call
from workbench.sql.functions.reading import QUERIES, ExpressionBinder
from workbench.sql.functions.times.intervals import IntervalPart, interval_parts
from workbench.sql.logical import Analyzed
from workbench.sql.predicates.canonical import canonical_expression
from workbench.sql.schema import Schema
from workbench.sql.syntax.source_text import SourceText

_BY_NODE: dict[type[exp.Expr], str] = {
    exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank", exp.Ntile: "ntile",
    exp.PercentRank: "percent_rank", exp.CumeDist: "cume_dist", exp.Lag: "lag", exp.Lead: "lead",
    exp.FirstValue: "first_value", exp.First: "first_value", exp.LastValue: "last_value", exp.Last: "last_value",
    exp.NthValue: "nth_value",
}  # fmt: skip
_COUNTING = ("row_number", "ntile", *NEIGHBOURS, *POSITIONS)
_SHARES = ("percent_rank", "cume_dist")
_OF_ORDER = frozenset({*RANKS, *DISTRIBUTIONS, *NEIGHBOURS, "nth_value"})
"""Functions that go by the place of a row in its partition."""
_QUANTILES = ("median", "percentile", "percentile_disc")
SortKeys = tuple[SortKey, ...]

_DIGITS = 34
"""Digits of a distance at most: Spark rounds what it changes the sign of."""
_UNITS = {"months": "MONTH", "days": "DAY", "seconds": "SECOND"}
"""What parts of an interval count, and the unit of a frame's end."""
_SECONDS_OF_DAY = 86_400


def has_own_aggregate(root: exp.Expr, schema: Schema) -> bool:
    """Whether an expression has an aggregate of groups, and not only aggregates over frames."""
    waiting: list[exp.Expr] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, QUERIES):
            continue  # it groups by itself
        if isinstance(node, exp.Window):
            # Of the function itself only the arguments count.
            function = _function_of(node)
            waiting += [part for part in node.iter_expressions() if part is not node.this]
            waiting += function.iter_expressions()
            continue
        if is_aggregate(node, schema):
            return True
        waiting += node.iter_expressions()
    return False


def without_over(expression: Expression) -> list[Expression]:
    """The largest parts of an expression that no function with OVER is in, constants left out.

    Example:
        >>> rank = Column("rank", INTEGER, Origin.ANALYTIC)
        >>> scores = Call("+", (Column("a", INTEGER), Column("b", INTEGER)), INTEGER)
        >>> without_over(Call("*", (scores, rank), INTEGER)) == [scores]
        True
    """
    if isinstance(expression, Constant):
        return []
    if all(column.source != Origin.ANALYTIC for column in columns(expression)):
        return [expression]
    return [part for a in expression.arguments for part in without_over(a)] if isinstance(expression, Call) else []


def over_values(expression: Expression, values: Mapping[Expression, Column]) -> Expression:
    """An expression over the columns that have its parts ``without_over``."""
    if expression in values:
        return values[expression]
    if not isinstance(expression, Call):
        return expression
    return replace(expression, arguments=tuple(over_values(a, values) for a in expression.arguments))


@dataclass
class Analytics:
    """Collects the analytic calls of one block while its expressions are bound.

    Attributes:
        named: the windows of the WINDOW clause, by name in lower case.
        source: the text, for errors.
        calls: the calls so far, by the name of their column.
        inside: whether the arguments of one are being bound, where no other may stand.
        order: of the rows, if they are those of one subquery, view or CTE that has one.
    """

    named: Mapping[str, exp.Window]
    source: SourceText
    calls: dict[str, AnalyticCall]
    inside: bool = False
    order: tuple[SortKey, ...] = ()

    @staticmethod
    def of(select: exp.Select, source: SourceText) -> Analytics:
        """The analytic functions of a SELECT, with its WINDOW clause."""
        windows = select.args.get("windows") or ()
        return Analytics({window.this.name.lower(): window for window in windows}, source, {})

    def bind(self, node: exp.Window, b: AggregateBinder) -> Expression:
        """A call as an expression over columns of source ``Origin.ANALYTIC``.

        Raises:
            SqlError: it stands inside another, has wrong arguments, or a frame that its order does not allow.
            UnsupportedError: the function, or a part of the call, is not evaluated.
        """
        if self.inside:
            raise b.source.error("an OVER cannot stand inside another", node, "compute the inner one in a subquery")
        self.inside = True
        try:
            function = node.this
            ignore_nulls = isinstance(function, exp.IgnoreNulls)
            if isinstance(function, (exp.IgnoreNulls, exp.RespectNulls)):
                function = function.this
            window, over, keys = self._over(node, b)
            name = _BY_NODE.get(type(function.this if isinstance(function, exp.Filter) else function))
            if name is None and ignore_nulls and isinstance(function, exp.AnyValue):
                name = "first_value"
            if name is None:
                return self._aggregate(function, over, keys, window, ignore_nulls, b)
            if isinstance(function, exp.Filter):
                b.source.refuse(f"FILTER of {name.upper()}", function, "FILTER stands behind an aggregate")
            if name == "ntile" and is_null(b.bind(function.this)):
                return Constant(None, INTEGER)
            return self._keep(self._call(name, function, over, keys, window, ignore_nulls, b))
        finally:
            self.inside = False

    def analyzed(
        self, change: Callable[[Expression], Expression] = lambda expression: expression
    ) -> tuple[Analyzed, ...]:
        """The calls of a block.

        Args:
            change: rewrites what calls are over, as the expressions of the block are.
        """
        return tuple(Analyzed(name, self._ordered(call).map(change)) for name, call in self.calls.items())

    def _ordered(self, call: AnalyticCall) -> AnalyticCall:
        """A call that counts rows, in the order of these where OVER has none."""
        counts = call.function in _COUNTING or (call.frame is not None and call.frame.unit == "rows")
        if not self.order or call.over.order or not counts:
            return call
        return replace(call, over=Over.of(call.over.partition, self.order))

    def _keep(self, call: AnalyticCall) -> Column:
        self.calls[call.name] = call
        return Column(call.name, call.type, Origin.ANALYTIC)

    # ---- OVER --------------------------------------------------------------------------------------------------------

    def _over(self, node: exp.Window, b: ExpressionBinder) -> tuple[exp.Window, Over, SortKeys]:
        """The window with what a named one adds to it, its partition and order, and the keys that frames go by."""
        b.source.refuse_others(node, {"this", "partition_by", "order", "spec", "alias", "over"}, "OVER")
        parts = {key: node.args.get(key) for key in ("partition_by", "order", "spec")}
        alias, seen = node.args.get("alias"), set[str]()
        while alias is not None:
            name = alias.name.lower()
            if name not in self.named or name in seen:
                raise b.source.error(f"unknown window {alias.name}", alias, of_window(alias.name, self.named, b.bind))
            seen.add(name)
            base = self.named[name]
            for key in parts:
                if parts[key] and base.args.get(key):
                    what = {"partition_by": "PARTITION BY", "order": "ORDER BY"}.get(key, "a frame")
                    raise b.source.error(f"the window {alias.name} has {what} already", node)
                parts[key] = parts[key] or base.args.get(key)
            alias = base.args.get("alias")
        partition = {b.bind(part) for part in parts["partition_by"] or ()}
        refuse_maps(*partition)
        for key in parts["order"].expressions if parts["order"] is not None else ():
            if isinstance(key.this, exp.Literal):
                raise b.source.error("ORDER BY in OVER takes expressions, not positions", key.this,
                                     "name a column, or leave it out: a constant orders nothing")  # fmt: skip
        keys = sort_keys(parts["order"], (), b.bind, b.source)
        by = tuple(sorted((p for p in partition if not isinstance(p, Constant)), key=order_of_texts))
        window = exp.Window(this=node.this, spec=parts["spec"], order=parts["order"])
        over = Over.of(by, keys)
        return window, over, over.order or tuple(keys)

    def _frame(self, window: exp.Window, over: Over, keys: SortKeys, b: ExpressionBinder) -> Frame | None:
        """The frame of an aggregate or a position; ``None``: the whole partition.

        Args:
            window: the call.
            over: its partition and order.
            keys: of the order; where that has none, since all rows of a partition are equal in them, those of the text.
            b: binds its ends.
        """
        spec = window.args.get("spec")
        if spec is None:
            running = window.args.get("order") is not None and over.order
            return Frame("range", None, FrameEnd("0")) if running else None
        exclude = "" if spec.args.get("exclude") is None else spec.args["exclude"].name.lower().replace("no others", "")
        unit = str(spec.args.get("kind") or "rows").lower()
        start = self._end(spec, "start", unit, keys, window, b)
        end = self._end(spec, "end", unit, keys, window, b) if spec.args.get("end") else FrameEnd("0")
        if start is None and end is None and not exclude:
            return None
        if start is not None and end is not None and start.unit == end.unit and float(start.by) > float(end.by):
            ends = (f"{spec.args[end]} {spec.args.get(f'{end}_side') or ''}".strip() for end in ("end", "start"))
            hint = f"write {unit.upper()} BETWEEN {' AND '.join(ends)}"
            raise b.source.error("this frame starts after it ends", window.this, hint)
        if unit != "rows" and not keys and any(e is not None and float(e.by) != 0 for e in (start, end)):
            raise b.source.error(f"{unit.upper()} needs ORDER BY", window.this)
        frame = Frame(unit, start, end, exclude)
        return frame if unit == "rows" or over.order else frame.of_peers

    def _end(
        self, spec: exp.Expr, which: str, unit: str, keys: SortKeys, window: exp.Window, b: ExpressionBinder
    ) -> FrameEnd | None:
        value, side = spec.args.get(which), str(spec.args.get(f"{which}_side") or "")
        if isinstance(value, str):
            if value.upper() == "CURRENT ROW":
                return FrameEnd("0")
            if (which == "start") is not (side.upper() == "PRECEDING"):
                raise b.source.error(f"a frame cannot {which} at UNBOUNDED {side}", window.this)
            return None
        assert isinstance(value, exp.Expr)
        sign = "-" if side.upper() == "PRECEDING" else ""
        of_time = unit == "range" and bool(keys) and keys[0].expression.type.temporal
        if of_time and value.is_string and b.rules.clock_in_intervals:
            value = exp.cast(value, exp.DType.INTERVAL)
        if (parts := interval_parts(b, value)) is not None:
            return self._interval(value, parts, sign, unit, keys, b)
        digits = _digits(value, b)
        if unit != "range":
            if not digits.isdigit():
                counted = f"as in {unit.upper()} BETWEEN 3 PRECEDING AND CURRENT ROW"
                raise b.source.error(f"a frame of {unit.upper()} counts with a whole number", value, counted)
            return FrameEnd(sign + str(int(digits)))
        key = self._range_key(keys, value, b)
        if key.type == DATE and digits.isdigit() and b.rules.difference_of_dates_is_interval:
            days = exp.Interval(this=exp.Literal.string(digits), unit=exp.var("DAY"))
            return self._interval(value, interval_parts(b, days) or [], sign, unit, keys, b)
        if not key.type.numeric or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", digits):
            hint = literal_hint(value.name, key.type) or "RANGE is of an order by numbers or times; ROWS counts rows"
            raise b.source.error("RANGE counts with a number, or with an INTERVAL of a time", value, hint)
        end = FrameEnd(sign + digits)
        distances = Frame(unit, end, None).distances(key.type)
        if len(digits.replace(".", "").strip("0")) > _DIGITS or (distances is not None and distances.farthest == 0):
            hint = "write a distance of fewer digits, or CAST what rows are ordered by AS a DECIMAL of fewer"
            raise b.source.error(f"RANGE cannot count with this distance around a {key.type}", value, hint)
        return end

    def _interval(
        self, value: exp.Expr, parts: list[IntervalPart], sign: str, unit: str, keys: SortKeys, b: ExpressionBinder
    ) -> FrameEnd:
        key = self._range_key(keys, value, b) if unit == "range" else None
        if key is None or not key.type.temporal:
            hint = "ORDER BY one column of times; ROWS BETWEEN 6 PRECEDING AND … counts rows"
            raise b.source.error("an INTERVAL stands in RANGE over a date or a timestamp", value, hint)
        counts, many = (parts[0].counts, parts[0].many) if len(parts) == 1 else ("", None)
        number = many.value if isinstance(many, Constant) else None
        of_days = counts == "seconds" and key.type.kind is Kind.DATE
        if counts not in _UNITS or not isinstance(number, int) or number < 0 or of_days:
            b.source.refuse("this interval", value, "write INTERVAL '3' DAY, with a whole number of one unit")
        within_day = counts == "seconds" and number < _SECONDS_OF_DAY
        if key.type == INSTANT and zoning().zone != UTC and not within_day:
            hint = "order by the time on a clock, CAST(t AS TIMESTAMP_NTZ), in postgres and duckdb CAST(t AS TIMESTAMP)"
            length = "months" if counts == "months" else "days"
            b.source.refuse(f"RANGE by {length} of {zoning().zone}, which differ in length", value, hint)
        return FrameEnd(f"{sign}{number}", _UNITS[counts])

    def _range_key(self, keys: SortKeys, node: exp.Expr, b: ExpressionBinder) -> Expression:
        if len(keys) != 1:
            hint = "order by one of them alone" if keys else "write ORDER BY in OVER, before RANGE"
            raise b.source.error("RANGE with a distance needs ORDER BY of one expression", node, hint)
        return keys[0].expression

    # ---- functions ---------------------------------------------------------------------------------------------------

    def _call(
        self,
        name: str,
        node: exp.Expr,
        over: Over,
        keys: SortKeys,
        window: exp.Window,
        ignore_nulls: bool,
        b: ExpressionBinder,
    ) -> AnalyticCall:
        framed = name in POSITIONS
        if window.args.get("spec") is not None and not framed and not b.rules.ranks_ignore_frames:
            raise b.source.error(f"{name.upper()} has no frame", node, "leave out ROWS, RANGE or GROUPS")
        if ignore_nulls and name not in (*NEIGHBOURS, *POSITIONS):
            b.source.refuse(f"IGNORE NULLS of {name.upper()}", node)
        if b.rules.ranks_need_order and not keys and name in _OF_ORDER:
            raise b.source.error(f"{name.upper()} needs an order", node, "write ORDER BY in OVER (…)")
        frame = self._frame(window, over, keys, b) if framed else None
        if name in RANKS or name in _SHARES:
            if given := next(node.iter_expressions(), None):
                hint = f"write {name.upper()}() OVER (ORDER BY {given.sql()})"
                raise b.source.error(f"{name.upper()} takes no arguments", given, hint)
            return AnalyticCall(name, (), DOUBLE if name in _SHARES else INTEGER, over)
        if name in DISTRIBUTIONS:
            return AnalyticCall(name, (self._whole(node.this, "NTILE", 1, b),), INTEGER, over)
        value = b.bind(node.this)
        if name in NEIGHBOURS:
            offset = node.args.get("offset")
            by = Constant(1, INTEGER) if offset is None else self._offset(offset, name.upper(), 0, b)
            if isinstance(by, Constant) and isinstance(by.value, int) and by.value < 0:
                name, by = NEIGHBOURS[name == "lag"], Constant(-by.value, INTEGER)
            default = node.args.get("default")
            if default is None:
                return AnalyticCall(name, (value, by), value.type, over, None, ignore_nulls)
            value, other = self._with_default(value, default, b)
            return AnalyticCall(name, (value, by, other), other.type, over, None, ignore_nulls)
        if name == "nth_value":
            b.source.refuse_others(node, {"this", "offset"}, "NTH_VALUE")
            arguments = (value, self._offset(node.args["offset"], "NTH_VALUE", 1, b))
            return AnalyticCall(name, arguments, value.type, over, frame, ignore_nulls)
        return AnalyticCall(name, (value,), value.type, over, frame, ignore_nulls)

    def _aggregate(
        self, node: exp.Expr, over: Over, keys: SortKeys, window: exp.Window, ignore_nulls: bool, b: AggregateBinder
    ) -> Expression:
        """An aggregate over a frame: its rule over the calls of its statistics."""
        if ignore_nulls:
            b.source.refuse("IGNORE NULLS of an aggregate", node, "every aggregate skips NULLs; leave it out")
        own = Aggregation()
        own.order = (SortKey(ROW_ORDER),) if over.order else self.order
        result = own.bind(node, b)
        if result is None or isinstance(node, (exp.Grouping, exp.GroupingId)):
            called = (b.source.called(node) or node.key).upper()
            known = (each.upper() for each in (*_COUNTING, *_SHARES, *_OF_ORDER, *AGGREGATES))
            hint = usual_call(called, b.source.dialect) or nearest(called, known)
            hint = hint or "OVER stands behind aggregates, RANK, ROW_NUMBER, LAG and their like"
            b.source.refuse(f"{called} with OVER", node, hint)
        frame = self._frame(window, over, keys, b)
        calls: dict[str, Column] = {}
        for statistic in own.statistics:
            framed = rule_of(replace(statistic, distinct=False)).framed
            if framed and statistic.distinct and frame is not None and (frame.exclude or (frame.start and frame.end)):
                hint = "it is read where a frame begins at the first row, or ends at the last one"
                b.source.refuse("DISTINCT over such a frame", node, hint)
            if frame is not None and not (framed or _is_of_values(statistic, b.rules.median_has_frames)):
                b.source.refuse(f"{statistic.function.upper()} over such a frame", node, "leave out ORDER BY in OVER")
            call = AnalyticCall(
                statistic.function, statistic.arguments, statistic.type, over, frame, distinct=statistic.distinct
            )
            calls[column_name(statistic)] = self._keep(call)
        return map_columns(result, lambda column: calls[column.name] if column.source == Origin.GROUPED else column)

    def _whole(self, node: exp.Expr, function: str, least: int | None, b: ExpressionBinder) -> Constant:
        bound = b.bind(node)
        value = bound.value if isinstance(bound, Constant) else None
        if isinstance(value, Decimal) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
            what = f"{function} takes a constant whole number" + ("" if least is None else f", {least} or more")
            turned = {"LAG": "write LEAD", "LEAD": "write LAG"}.get(function) if isinstance(value, int) else None
            raise b.source.error(what, node, turned or "write the number itself, as 3")
        return Constant(value, INTEGER)

    def _offset(self, node: exp.Expr, function: str, least: int, b: ExpressionBinder) -> Expression:
        """How many rows away: a constant, or where databases take it a value of the row."""
        if not b.rules.offsets_of_rows:
            return self._whole(node, function, least, b)
        bound = b.bind(node)
        if isinstance(bound, Constant) and bound.value is not None:
            return self._whole(node, function, least if function == "NTH_VALUE" else None, b)
        return coerce(bound, INTEGER)

    def _with_default(self, value: Expression, node: exp.Expr, b: ExpressionBinder) -> tuple[Expression, Expression]:
        """A value, and its default where there is no row, converted to one type."""
        bound, type_ = b.bind(node), of_any_bits(value.type)
        if b.rules.nullif_is_widened:
            (value, bound), type_ = unify((value, bound))
        return value, Constant(None, type_) if is_null(bound) else coerce(bound, type_)


def _digits(node: exp.Expr, b: ExpressionBinder) -> str:
    """The digits of a distance, as of ``2::bigint`` and ``2 + 1``; none of what is no constant number from 0 on."""
    literal = node.this if isinstance(node, exp.Cast) else node
    if (isinstance(literal, exp.Literal) and literal.is_string) or node.find(exp.Column, *QUERIES) is not None:
        return ""
    bound = canonical_expression(b.bind(node))
    if isinstance(bound, Constant) and bound.type.kind in (Kind.INTEGER, Kind.DECIMAL) and bound.value is not None:
        return str(bound.value)
    return literal.name if node is literal and isinstance(literal, exp.Literal) else ""


def _function_of(node: exp.Window) -> exp.Expr:
    """The function of a call, without FILTER, OVER and the like around it."""
    function: exp.Expr = node.this
    while isinstance(function, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)):
        function = function.this
    return function


def _is_of_values(statistic: AggregateCall, median_has_frames: bool) -> bool:
    """Whether the values of a frame give it."""
    name, of = statistic.function.removesuffix(DESCENDING), (KeptAs.VALUES, KeptAs.LEAST, KeptAs.GREATEST)
    return rule_of(statistic).kept in of and (median_has_frames or name not in _QUANTILES)
