"""MATCH_RECOGNIZE: rows that follow each other in an order and match a pattern.

::

    FROM transfers MATCH_RECOGNIZE (
        PARTITION BY account ORDER BY at
        MEASURES FIRST(A.at) AS begin, SUM(B.amount) AS sum
        ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A B{2,}) WITHIN INTERVAL '1' HOUR
        DEFINE A AS kind = 'login', B AS B.amount < PREV(B.amount))

is a subquery of FROM whose values are analytic functions, calls of ``MATCH`` over the partitions: so they are shared,
kept and taken back as these are. What a condition reads of nothing but the row that is tested becomes an argument of
the calls, as any expression of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from workbench.sql.algebra.analytic import AnalyticCall, Over
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, Origin, column_name, map_columns
from workbench.sql.algebra.patterns import (
    EXCLUDED,
    MATCH,
    SHOWN,
    MatchPattern,
    NavigatedValue,
    Navigation,
    navigation_name,
)
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING
from workbench.sql.binder.aggregates.aggregation import Aggregation, is_aggregate
from workbench.sql.binder.order.keys import sort_keys
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import QUERIES
from workbench.sql.logical import Analyzed, Block, LogicalQuery, Output, output_columns, unordered
from workbench.sql.predicates.cnf import TRUE
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.match_clauses import NAVIGATIONS
from workbench.sql.syntax.row_patterns import PatternSyntaxError, RowPattern, pattern_variable

_ROWS = "__matches"
_PLACES = {NAVIGATIONS["FIRST"]: "first", NAVIGATIONS["LAST"]: "last"}
_MOVED = {"PREV": -1, "NEXT": 1}
_STATISTICS: dict[str, NavigatedValue] = {"count": "count", "sum": "sum", "min": "min", "max": "max"}
_OVERLAPS = "with ALL ROWS PER MATCH matches do not overlap: write AFTER MATCH SKIP PAST LAST ROW, or ONE ROW PER MATCH"


def without_matches(select: exp.Select, context: QueryContext) -> tuple[exp.Select, str, LogicalQuery] | None:
    """A SELECT whose FROM is no MATCH_RECOGNIZE any more, and what it reads in its place; ``None`` of another.

    Raises:
        SqlError: names or types are wrong, or the pattern is none.
        UnsupportedError: a part of it is not evaluated.
    """
    node, from_ = select.args.get("match"), select.args.get("from_")
    if node is None or from_ is None:
        return None
    if select.args.get("joins"):
        hint = "FROM (SELECT * FROM t MATCH_RECOGNIZE (…)) m JOIN …; a subquery can be what it goes through, too"
        context.source.refuse("MATCH_RECOGNIZE beside joins", node, hint)
    rows = context.query(exp.select("*").from_(from_.this.copy()))
    block = _Recognized(node, from_.this.alias_or_name, unordered(rows), context).block()
    select = select.copy()
    select.set("match", None)
    table = exp.to_table(_ROWS)
    table.set("alias", node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(from_.this.alias_or_name)))
    select.set("from_", exp.From(this=table))
    return select, _ROWS, block


@dataclass
class _Recognized:
    """Binds one MATCH_RECOGNIZE.

    Attributes:
        arguments: what conditions read of rows.
        navigations: that conditions read.
        calls: the values of measures, by name.
    """

    node: exp.MatchRecognize
    alias: str
    rows: LogicalQuery
    context: QueryContext
    arguments: list[Expression] = field(default_factory=list)
    navigations: list[Navigation] = field(default_factory=list)
    calls: dict[str, AnalyticCall] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.source = self.context.source
        known = {name.lower(): Column(stored_name(name), type_) for name, type_ in output_columns(self.rows)}
        self.scope = Scope(self.source)
        self.scope.add(Item(self.alias, known), self.node)
        self.b = ScalarBinder(self.scope, self.context.schema, now_at=self.context.now_at)
        self.known = known

    def block(self) -> Block:
        """The rows, or the matches, with their measures."""
        node, source = self.node, self.source
        used = {"partition_by", "order", "measures", "rows", "after", "pattern", "define", "alias", "subset", "within"}
        source.refuse_others(node, used, "MATCH_RECOGNIZE")
        if node.args.get("pattern") is None or node.args.get("order") is None:
            hint = "MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES … PATTERN (A B+) DEFINE A AS …)"
            raise source.error("MATCH_RECOGNIZE needs ORDER BY and PATTERN", node, hint)
        try:
            self.pattern = RowPattern.of(node.args["pattern"].name)
        except PatternSyntaxError as error:
            raise source.error(f"PATTERN: {error}", node, error.hint) from None
        self.subsets = self._subsets()
        rows = node.args["rows"].name if node.args.get("rows") is not None else "ONE ROW PER MATCH"
        self.all_rows = rows.startswith("ALL")
        partition = [self._partition(part) for part in node.args.get("partition_by") or ()]
        over = Over.of(tuple(partition), sort_keys(node.args["order"], (), self.b.bind, source))
        skip, to = self._skip()
        if self.all_rows and skip != "past":
            source.refuse("ALL ROWS PER MATCH of matches that overlap", node, _OVERLAPS)
        conditions = self._conditions()
        recognized = MatchPattern(
            self.pattern.variables,
            conditions,
            tuple(self.navigations),
            self.pattern.steps,
            skip,
            to,
            self.all_rows,
            len(self.arguments),
        )
        self.call = AnalyticCall(MATCH, tuple(self.arguments), INTEGER, over, pattern=recognized)
        measures = [self._measure(measure) for measure in node.args.get("measures") or ()]
        state = self._keep(Navigation("state", INTEGER), None)
        outputs = self._outputs(measures)
        names = [output.name.lower() for output in outputs]
        if twice := next((name for at, name in enumerate(names) if name in names[:at]), None):
            raise source.error(f"{twice} is a column of the rows and a measure", node, "give the measure another name")
        analytics = tuple(Analyzed(name, made) for name, made in self.calls.items())
        return Block((self.rows,), TRUE, tuple(outputs), analytics=analytics, qualify=normal_form(_kept(rows, state)))

    def _outputs(self, measures: list[Output]) -> list[Output]:
        """The columns of the answer: a match has those of the partition, all rows have all; then the measures."""
        by = [part.name.lower() for part in self.node.args.get("partition_by") or ()]
        if not self.all_rows:
            return [*(Output(name, self.known[name]) for name in by), *measures]
        keys = [
            key.this.name.lower() for key in self.node.args["order"].expressions if isinstance(key.this, exp.Column)
        ]
        first = list(dict.fromkeys([*by, *keys]))
        rest = [name for name in self.known if name not in first]
        return [Output(n, self.known[n]) for n in first] + measures + [Output(n, self.known[n]) for n in rest]

    def _partition(self, part: exp.Expr) -> Expression:
        if not isinstance(part, exp.Column):
            self.source.refuse(
                "PARTITION BY an expression in MATCH_RECOGNIZE", part, "let a subquery in FROM compute it"
            )
        return self.b.bind(part)

    def _subsets(self) -> dict[str, tuple[str, ...]]:
        """Names for several variables."""
        subsets: dict[str, tuple[str, ...]] = {}
        for name, variables in self.node.args.get("subset") or ():
            for variable in variables:
                if variable not in self.pattern.variables:
                    raise self.source.error(f"SUBSET: {variable} is not in PATTERN", self.node)
            subsets[name] = tuple(variables)
        return subsets

    def _numbers(self, name: str, node: exp.Expr) -> tuple[int, ...]:
        """The numbers of a variable, or of the variables of a subset."""
        names = self.subsets.get(name, (name,))
        unknown = [other for other in names if other not in self.pattern.variables]
        if unknown:
            hint = f"PATTERN has {', '.join(self.pattern.variables)}"
            raise self.source.error(f"{name} is no variable of the pattern", node, hint)
        return tuple(sorted(self.pattern.variables.index(other) for other in names))

    def _skip(self) -> tuple[str, tuple[int, ...]]:
        """Where the next match may begin."""
        after = self.node.args.get("after")
        words = after.name.split() if after is not None else ["AFTER", "MATCH", "SKIP", "PAST"]
        match words[3:]:
            case ["TO", "NEXT", *_]:
                return "next", ()
            case ["TO", ("FIRST" | "LAST") as which, name]:
                return which.lower(), self._numbers(pattern_variable(name), self.node)
        return "past", ()

    # ---- conditions --------------------------------------------------------------------------------------------------

    def _conditions(self) -> tuple[Expression, ...]:
        """The condition of each variable; TRUE of one without a definition."""
        defined: dict[str, exp.Expr] = {}
        for item in self.node.args.get("define") or ():
            name = pattern_variable(item.args["alias"].name, item.args["alias"].args.get("quoted"))
            if name in self.subsets or name not in self.pattern.variables:
                raise self.source.error(
                    f"{name} is defined, and not in PATTERN", item, "define variables of the pattern"
                )
            if name in defined:
                raise self.source.error(f"{name} is defined twice", item)
            defined[name] = item.this
        conditions = []
        for number, name in enumerate(self.pattern.variables):
            condition: Expression = Constant(True, BOOLEAN)
            if name in defined:
                condition = self._bound(defined[name], self._navigated, number, False)
                if condition.type != BOOLEAN:
                    raise self.source.error(f"{name} needs a condition, not {condition.type}", defined[name])
            conditions.append(condition)
        within = self.node.args.get("within")
        if within is None:
            return tuple(conditions)
        if (key := self.node.args["order"].expressions[0]).args.get("desc"):
            self.source.refuse("WITHIN of times in descending order", self.node, "ORDER BY the time")
        begin = exp.Anonymous(this=NAVIGATIONS["FIRST"], expressions=[key.this.copy()])
        near = exp.LT(this=exp.Sub(this=key.this.copy(), expression=begin), expression=within.copy())
        limits = [self._bound(near, self._navigated, number, False) for number in range(len(conditions))]
        return tuple(call("and", *pair) for pair in zip(conditions, limits, strict=True))

    def _navigated(self, navigation: Navigation, argument: Expression | None) -> Column:
        """The column of conditions that has a value of the match so far."""
        if argument is not None:
            if argument not in self.arguments:
                self.arguments.append(argument)
            navigation = replace(navigation, argument=self.arguments.index(argument))
        if navigation not in self.navigations:
            self.navigations.append(navigation)
        return Column(navigation_name(self.navigations.index(navigation)), navigation.type)

    # ---- measures ----------------------------------------------------------------------------------------------------

    def _measure(self, measure: exp.Expr) -> Output:
        item = measure.this
        if not isinstance(item, exp.Alias):
            raise self.source.error("a measure needs a name", measure, "as in MEASURES LAST(A.x) AS x")
        final = not self.all_rows or measure.args.get("window_frame") == "FINAL"
        return Output(item.alias, self._bound(item.this, self._keep, None, final))

    def _keep(self, navigation: Navigation, argument: Expression | None) -> Column:
        """The column of the rows that has a value of their match."""
        arguments = self.call.arguments
        if argument is not None:
            if argument not in arguments:
                arguments = (*arguments, argument)
            navigation = replace(navigation, argument=arguments.index(argument))
        made = replace(self.call, arguments=arguments, type=navigation.type, value=navigation)
        self.calls[made.name] = made
        return Column(made.name, made.type, Origin.ANALYTIC)

    # ---- expressions -------------------------------------------------------------------------------------------------

    def _bound(
        self,
        node: exp.Expr,
        keep: Callable[[Navigation, Expression | None], Column],
        variable: int | None,
        final: bool,
    ) -> Expression:
        """An expression over the values that it reads of a match.

        Args:
            node: the expression.
            keep: gives the column of a value.
            variable: the one that it defines.
            final: whether it sees all rows of a match.
        """
        values: dict[str, Expression] = {}

        def placed(value: Expression, of: exp.Expr) -> exp.Expr:
            name = f"__v{len(values)}"
            values[name] = value
            column = exp.column(name)
            column.parent = of.parent
            spans = [n.meta for n in of.walk() if "start" in n.meta]
            if spans:
                column.this.meta.update({"start": min(m["start"] for m in spans), "end": max(m["end"] for m in spans)})
            return column

        def changed(part: exp.Expr) -> exp.Expr:
            if isinstance(part, (*QUERIES, exp.Window)):
                self.source.refuse("a subquery or OVER in MATCH_RECOGNIZE", part, "compute it in FROM before")
            if variable is not None and (own := self._of_tested_row(part, variable)) is not None:
                return placed(keep(Navigation("last", own.type), own), part)
            if (value := self._value(part, keep, final)) is not None:
                return placed(value, part)
            for key, child in list(part.args.items()):
                if isinstance(child, exp.Expr):
                    part.set(key, changed(child))
                elif isinstance(child, list):
                    part.set(key, [changed(each) if isinstance(each, exp.Expr) else each for each in child])
            return part

        root = exp.Paren(this=node.copy())
        root.parent = self.node
        over = changed(root)
        scope = Scope(self.source)
        scope.add(Item("", values), node)
        return ScalarBinder(scope, self.context.schema, now_at=self.context.now_at).bind(over)

    def _of_tested_row(self, node: exp.Expr, variable: int) -> Expression | None:
        """An expression of nothing but the row that is tested; ``None`` of another."""
        read = list(node.find_all(exp.Column))
        own = self.pattern.variables[variable]
        for column in read:
            if column.table and pattern_variable(column.table, column.args["table"].args.get("quoted")) != own:
                return None
        others = (exp.Window, *QUERIES)
        if (
            not read
            or isinstance(node, exp.Star)
            or any(
                isinstance(n, others) or _is_navigation(n) or is_aggregate(n, self.context.schema) for n in node.walk()
            )
        ):
            return None
        return self.b.bind(self._unqualified(node))

    def _value(
        self, node: exp.Expr, keep: Callable[[Navigation, Expression | None], Column], final: bool
    ) -> Expression | None:
        """The value of the match that a node reads; ``None`` where it only computes."""
        if is_aggregate(node, self.context.schema):
            return self._statistic(node, keep, final)
        name = node.name.upper() if isinstance(node, exp.Anonymous) else ""
        if name == "MATCH_NUMBER" and not node.expressions:
            if keep == self._navigated:
                self.source.refuse("MATCH_NUMBER() in DEFINE", node, "it is a measure")
            return keep(Navigation("number", INTEGER), None)
        if isinstance(node, exp.Anonymous) and name in _MOVED:
            inner, by = self._arguments(node, 1)
            place, offset, value = self._place(inner)
            shift = by * _MOVED[name]
        elif isinstance(node, exp.Column) or name in _PLACES or name == "CLASSIFIER":
            place, offset, value = self._place(node)
            shift = 0
        else:
            return None
        if isinstance(value, exp.Anonymous):
            if shift:
                self.source.refuse("PREV or NEXT of CLASSIFIER()", node, "a row beside the match has none")
            if len(value.expressions) > 1:
                raise self.source.error("CLASSIFIER takes a variable at most", value)
            of = [pattern_variable(v.name) for v in value.expressions]
            variables = self._numbers(of[0], value) if of else ()
            if place == "first":
                self.source.refuse("FIRST of CLASSIFIER()", node, "CLASSIFIER() is that of the row")
            return keep(Navigation("classifier", STRING, -1, variables, offset, 0, final), None)
        argument, variables = self._of_rows(value)
        found: NavigatedValue = "first" if place == "first" else "last"
        return keep(Navigation(found, argument.type, -1, variables, offset, shift, final), argument)

    def _arguments(self, node: exp.Anonymous, default: int) -> tuple[exp.Expr, int]:
        """The argument of a navigation, and by how many rows it moves."""
        parts = node.expressions
        if not 1 <= len(parts) <= 2:
            raise self.source.error("a value and a number of rows are needed", node, "as in PREV(A.x, 2)")
        by = parts[1] if len(parts) == 2 else exp.Literal.number(default)
        if not isinstance(by, exp.Literal) or not by.name.isdigit() or len(by.name) > 6:
            raise self.source.error("it goes on by a whole number of rows", by, "as in PREV(A.x, 2)")
        return parts[0], int(by.name)

    def _place(self, node: exp.Expr) -> tuple[str, int, exp.Expr]:
        """FIRST or LAST, by how many rows it moves, and its argument."""
        if not isinstance(node, exp.Anonymous) or node.name.upper() not in _PLACES:
            return "last", 0, node
        inner, by = self._arguments(node, 0)
        return _PLACES[node.name.upper()], by, inner

    def _of_rows(self, node: exp.Expr) -> tuple[Expression, tuple[int, ...]]:
        """An expression of the rows of one variable, or of all."""
        names = _variables(node)
        if len(names) > 1:
            self.source.refuse(
                "a value of rows of several variables", node, "read one of each: FIRST(A.x) + FIRST(B.x)"
            )
        for inner in node.walk():
            if _is_navigation(inner):
                self.source.refuse(
                    "a navigation inside this one", inner, "PREV and NEXT are of FIRST or LAST, not within"
                )
        name = next(iter(names), "")
        return self.b.bind(self._unqualified(node)), self._numbers(name, node) if name else ()

    def _statistic(
        self, node: exp.Expr, keep: Callable[[Navigation, Expression | None], Column], final: bool
    ) -> Expression:
        """An aggregate of the rows of one variable, or of all."""
        names = _variables(node)
        if len(names) > 1:
            self.source.refuse(
                "an aggregate of rows of several variables", node, "SUBSET U = (A, B) names both together"
            )
        name = next(iter(names), "")
        variables = self._numbers(name, node) if name else ()
        own = Aggregation()
        result = own.bind(self._unqualified(node), self.b)
        assert result is not None
        columns: dict[str, Column] = {}
        for statistic in own.statistics:
            found = _STATISTICS.get(statistic.function)
            if statistic.distinct or found is None:
                hint = "COUNT, SUM, AVG, MIN and MAX are evaluated of the rows of a match"
                self.source.refuse(f"{self.source.called(node) or node.key.upper()} there", node, hint)
            argument = statistic.arguments[0] if statistic.arguments else None
            read = Navigation(found, statistic.type, -1, variables, 0, 0, final)
            columns[column_name(statistic)] = keep(read, argument)
        return map_columns(result, lambda column: columns.get(column.name, column))

    def _unqualified(self, node: exp.Expr) -> exp.Expr:
        """A node without the names of variables."""

        def change(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column) and part.table:
                if isinstance(part.this, exp.Star):
                    return exp.Star()
                part = part.copy()
                part.set("table", None)
            return part

        copy = node.transform(change)
        copy.parent = node.parent
        return copy


def _variables(node: exp.Expr) -> set[str]:
    """The variables whose rows columns are of; the empty name means all rows."""
    read = node.find_all(exp.Column)
    return {pattern_variable(c.table, c.args["table"].args.get("quoted")) if c.table else "" for c in read}


def _is_navigation(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() in (*_PLACES, *_MOVED, "CLASSIFIER", "MATCH_NUMBER")


def _kept(rows: str, state: Column) -> Expression:
    """Which rows are shown."""
    shown = call("<", state, Constant(EXCLUDED, INTEGER))
    if rows.startswith("ONE"):
        return shown
    if rows.endswith("UNMATCHED ROWS"):
        return call("or", call("is_null", state), shown)
    return call("=", state, Constant(SHOWN, INTEGER)) if "OMIT" in rows else shown
