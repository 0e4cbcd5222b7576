"""The FROM clause: its items and joins, plain subqueries merged, and what their columns are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from workbench.errors import UnsupportedError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression, columns, digest, identity
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.binder.joins.asof import NEXT, as_plain
from workbench.sql.binder.joins.elements import add_elements, function_of, item_name, keeps_rows, with_test_inside
from workbench.sql.binder.joins.lateral import add_lateral
from workbench.sql.binder.joins.one_row import one_row
from workbench.sql.binder.joins.relations import NamedColumns, relation_of
from workbench.sql.binder.joins.semijoins import add_semijoin
from workbench.sql.binder.joins.subquery_parts import bound_subquery
from workbench.sql.binder.joins.trees import (
    COMPUTED,
    FromTree,
    Leaf,
    OuterJoin,
    Rows,
    shift,
    shift_predicates,
    trees_by_side,
)
from workbench.sql.binder.joins.trees import positions as positions_of
from workbench.sql.binder.joins.using import equal_columns, merged_columns
from workbench.sql.binder.protocols import QueryContext, SubqueryBinder, is_subquery
from workbench.sql.binder.scalar import ScalarBinder, is_now
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.logical import Block, Input, LogicalQuery, StreamInput, ordered_rows, output_columns
from workbench.sql.predicates.cnf import TRUE, ORPred, PredSet, conjunction, predicate_sources
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.predicates.null_safe import with_null_safe_keys
from workbench.sql.query_limits import MAX_JOINED
from workbench.sql.windows.bounds import NoWindow, split_bounds
from workbench.sql.windows.stream_time import ROW

WindowOn = Callable[["FromClause", Item], PredSet]
_LISTED = 8
"""Columns that a hint names."""
SubqueriesOf = Callable[["FromClause", Scope], SubqueryBinder]


def bind_from(
    select: exp.Select, context: QueryContext, subqueries: SubqueriesOf, window_on: WindowOn | None = None
) -> FromClause:
    """Bind the FROM clause of one SELECT.

    Args:
        select: the SELECT.
        context: the statement.
        subqueries: gives the binder of subqueries that are values, of a clause and the names that they see.
        window_on: gives what the window clause of the statement says of an item, if there is one.

    Raises:
        SqlError: names or types in it are wrong, or there is none to have the columns of ``*``.
        UnsupportedError: an item that is not evaluated.
    """
    clause = FromClause(context, subqueries, window_on)
    from_ = select.args.get("from_")
    if from_ is None:
        if any(isinstance(item, exp.Star) for item in select.expressions):
            raise context.source.error("* needs FROM", select, "name a stream")
        clause.add_input(one_row(select, context))
    else:
        start = clause.mark()
        clause.add(from_.this)
        clause.join_all(select.args.get("joins") or (), start)
    for view in select.args.get("laterals") or ():
        clause.add(view)
    there = {place for item in clause.scope.items for place in item.inputs}  # not the other side of a semijoin
    clause.order = tuple(key for key in clause.order if {c.source for c in columns(key.expression)} <= there)
    clause.mixed = bool(clause.order) and len(clause.scope.items) > 1
    return clause


@dataclass(frozen=True)
class ClausePosition:
    """How much of a FROM clause was there at some moment."""

    inputs: int
    trees: int
    items: int
    columns: int
    conditions: int
    windows: int


@dataclass
class FromClause:
    """A FROM clause, filled by ``bind_from``.

    Attributes:
        inputs: streams and queries, in order; their positions are those of columns in all expressions.
        trees: how they are joined.
        conditions: those of ON and USING of inner joins, and of merged subqueries.
        windows: those of merged subqueries.
        order: of the rows of an item that has one; ``mixed`` where there are other items, and no order is left.
        later: conditions of ON with subqueries that may as well stand in WHERE, with the names that they see. They are
            bound as those of WHERE.
        scope: what columns are called.
    """

    context: QueryContext
    subqueries: SubqueriesOf
    window_on: WindowOn | None = None
    inputs: list[Input] = field(default_factory=list)
    trees: list[FromTree] = field(default_factory=list)
    conditions: list[PredSet] = field(default_factory=list)
    windows: list[PredSet] = field(default_factory=list)
    later: list[tuple[exp.Expr, Scope]] = field(default_factory=list)
    order: tuple[SortKey, ...] = ()
    mixed: bool = False

    def __post_init__(self) -> None:
        self.source = self.context.source
        self.scope = Scope(self.source, outer=self.context.outer)

    @property
    def arrival(self) -> Column | None:
        """The number with which a row arrived, if the rows are of one stream that is never corrected."""
        match self.inputs:
            case [StreamInput(append_only=True)]:
                return ROW
        return None

    def mark(self) -> ClausePosition:
        """The present position in the clause."""
        scope, conditions, windows = self.scope, self.conditions, self.windows
        return ClausePosition(
            inputs=len(self.inputs),
            trees=len(self.trees),
            items=len(scope.items),
            columns=len(scope.columns),
            conditions=len(conditions),
            windows=len(windows),
        )

    def add(self, node: exp.Expr) -> None:
        """Add an item, and the joins in its parentheses."""
        start = self.mark()
        match node:
            case _ if function_of(node) is not None:
                offset = len(self.inputs)
                names, values = add_elements(self, node, self.context, self.scope)
                self._name_item(node, item_name(node), names, values, offset)
            case exp.Values() | exp.Table(this=exp.Values()):
                query = self.context.query(node if isinstance(node, exp.Values) else node.this)
                self._add_item(node, node.alias, query, tuple((n.lower(), t) for n, t in output_columns(query)))
            case exp.Table():
                self.source.refuse_others(node, {"this", "alias", "db", "catalog", "joins", "version"}, "FROM")
                relation, named = relation_of(node, self.context, self.scope)
                self._add_item(node, node.alias or node.this.name, relation, named)
            case exp.Subquery(this=exp.Table() | exp.Subquery() as inner) if _stands_for_itself(inner):
                self.source.refuse_others(node, {"this", "alias", "joins"}, "FROM")
                if node.alias and inner.alias:
                    self.source.refuse("an alias of an alias", node, "give the table one name")
                if node.alias:
                    inner.set("alias", node.args["alias"])
                self.add(inner)
            case exp.Subquery():
                self.source.refuse_others(node, {"this", "alias", "with_", "joins"}, "FROM")
                query = self.context.query(exp.Subquery(this=node.this, with_=node.args.get("with_")))
                self._add_item(node, node.alias, query, tuple((n.lower(), t) for n, t in output_columns(query)))
            case exp.Lateral(this=exp.Subquery()) if not node.args.get("view"):
                self.source.refuse_others(node, {"this", "alias"}, "LATERAL")
                query = bound_subquery(node.this, self.context, self.scope)
                offset, values = len(self.inputs), add_lateral(self, query)
                self._name_item(node, node.alias, [name.lower() for name, _ in output_columns(query)], values, offset)
            case _:
                words = {"Lateral": "LATERAL of that function"}
                hint = "FROM takes streams, tables, views, queries and subqueries; add_table adds rows of your own"
                self.source.refuse(words.get(type(node).__name__, node.key.upper()), node, hint)
        self.join_all(node.args.get("joins") or (), start)

    def add_input(self, relation: Input) -> int:
        """Add an input that has no name, to be joined by conditions on its position, which is returned."""
        self.inputs.append(relation)
        self.trees.append(Leaf(len(self.inputs) - 1, relation))
        return len(self.inputs) - 1

    def take(self, positions: Iterable[int]) -> tuple[FromTree, ...]:
        """Take the trees of some positions out of the clause, to be joined otherwise; the last where there are none."""
        wanted = frozenset(positions)
        taken = [tree for tree in self.trees if not wanted.isdisjoint(positions_of(tree))] or self.trees[-1:]
        self.trees = [tree for tree in self.trees if tree not in taken]
        return tuple(taken)

    def join_all(self, joins: Sequence[exp.Join], begin: ClausePosition) -> None:
        """Add the items of joins to the one after ``begin``. What stands after a comma is joined before the comma is.

        Where a dialect reads a comma as a CROSS JOIN, as Spark does, its parser says that.
        """
        start = begin
        for join in joins:
            if not any(join.args.get(part) for part in _PARTS_OF_JOIN) and self.source.joined_by(join.this) == ",":
                start = self.mark()
            self.join(join, start, begin)

    def join(self, join: exp.Join, start: ClausePosition, begin: ClausePosition) -> None:
        """Add the item of a join and its condition.

        Args:
            join: with the item.
            start: before the first item that it joins.
            begin: before the first item that its condition sees.
        """
        written, times = join, list[str]()  # columns that stand once, as the left side has them
        if join.args.get("method") == "ASOF":
            items = self.scope.items[start.items :]
            times = [name.name.lower() for name in join.args.get("using") or ()]
            join = as_plain(join, items[0].alias if len(items) == 1 else "", self.source)
        join = with_test_inside(join)
        side, kind, method = (str(join.args.get(k) or "") for k in ("side", "kind", "method"))
        known = (side in ("", "LEFT", "RIGHT", "FULL") and kind in ("", "INNER", "CROSS", "OUTER")) or (
            side in ("", "LEFT") and kind in ("SEMI", "ANTI")
        )
        if not known or method not in ("", "NATURAL"):
            name = f"{' '.join(w for w in (method, side, kind) if w)} JOIN"
            hint = "joins are INNER, LEFT, RIGHT, FULL, CROSS, SEMI, ANTI and ASOF"
            raise UnsupportedError(f"{name} is not supported", **self.source.keyword(method or side or kind), hint=hint)
        self.source.refuse_others(join, {"this", "on", "using", "kind", "side", "method"}, "JOIN")
        side = "" if keeps_rows(join) else side
        before = self.mark()
        self.add(join.this)
        sides = self.scope.columns[start.columns : before.columns], self.scope.columns[before.columns :]
        using = [(n.name.lower(), n) for n in join.args.get("using") or ()]
        if method:
            names = [name for name, _ in sides[1]]
            using = [(name, join) for name in dict.fromkeys(n for n, _ in sides[0]) if name in names]
        tied = self._take_tied(before)
        if tied and side in ("RIGHT", "FULL"):
            self.source.refuse(f"LATERAL in a {side} JOIN that reads its left side", join, "write a LEFT JOIN")
        condition, before = self._on(join, start, begin, before)
        if side in ("RIGHT", "FULL") and (self._reads_before(start) or _reads(condition, start)):
            hint = "databases refuse it, too: CROSS JOIN in the place of the comma lets it read that item"
            self.source.refuse(f"a {side} JOIN whose left side or condition reads an item before a comma", join, hint)
        condition = conjunction(
            tied, condition, *(equal_columns(name, node, sides, self.source) for name, node in using)
        )
        if side and kind not in ("SEMI", "ANTI") and self._reads_before(before):
            hint = "write a CROSS JOIN, or LEFT JOIN … ON TRUE"
            self.source.refuse(f"UNNEST in a {side} JOIN that reads its other side", join, hint)
        if kind in ("SEMI", "ANTI"):
            self._semijoin(join, condition, begin, before)
        elif side:
            kept = frozenset({"LEFT": (0,), "RIGHT": (1,), "FULL": (0, 1)}[side])
            self._outer_join(written, condition, kept, begin if side == "LEFT" else start, before)
            sides = self.scope.columns[start.columns : before.columns], self.scope.columns[before.columns :]
        else:
            self.conditions.append(condition)
        if kind not in ("SEMI", "ANTI"):
            names = times or [name for name, _ in using]
            self.scope.columns[start.columns :] = merged_columns(
                names, sides, side, self.source.rules.using_stays_in_place
            )
        self.scope.forget(NEXT)
        if using and (alias := using[0][1].meta.get("join")):
            together = dict(self.scope.columns[start.columns :])
            self.scope.add(Item(alias, {name: together[name] for name, _ in using}), join, with_columns=False)

    def _take_tied(self, before: ClausePosition) -> PredSet:
        """Take out of the clause the conditions that tie what was added after ``before`` to items before it."""
        added = conjunction(*self.conditions[before.conditions :])
        tied = PredSet(tuple(p for p in added if _reads(p, before)))
        self.conditions[before.conditions :] = [PredSet(tuple(p for p in added if p not in tied.or_preds))]
        return tied

    def _reads_before(self, mark: ClausePosition) -> bool:
        """Whether what was added reads items before it: an outer join could not leave these out."""
        added = self.scope.columns[mark.columns :]
        names = any(column.source < mark.inputs for _, value in added for column in columns(value))
        return names or any(_reads(condition, mark) for condition in self.conditions[mark.conditions :])

    def _on(
        self, join: exp.Join, start: ClausePosition, begin: ClausePosition, before: ClausePosition
    ) -> tuple[PredSet, ClausePosition]:
        """The condition of ON, which sees the items of its own parentheses; and where the right side begins with it.

        A name alone is of the items that are joined, or else of those before their comma.
        """
        on = join.args.get("on")
        if on is None:
            return TRUE, before
        known, joined = self.scope.columns[begin.columns : start.columns], self.scope.columns[start.columns :]
        own = {name for name, _ in joined}
        visible = [*((name, value) for name, value in known if name not in own), *joined]
        scope = replace(self.scope, items=self.scope.items[begin.items :], columns=visible)
        asks = any(map(is_subquery, on.walk()))
        if asks and _filters(join):
            self.later.append((on, scope))
            return TRUE, before
        outer = asks and join.args.get("kind") not in ("SEMI", "ANTI")
        left, right = range(begin.inputs, before.inputs), range(before.inputs, len(self.inputs))
        subqueries = self.subqueries(self, scope) if outer else None
        scalar = ScalarBinder(scope, self.context.schema, now_at=self.context.now_at, subqueries=subqueries)
        condition = with_null_safe_keys(normal_form(scalar.condition(on)))
        if not outer:
            return condition, before
        sides = trees_by_side(self.trees[begin.trees :], left, right)
        if sides is None:
            what = f"a subquery in ON of a {join.side} JOIN that reads both sides"
            self.source.refuse(what, on, "let a subquery in FROM select it")
        self.trees[begin.trees :] = [*sides[0], *sides[1]]
        return condition, replace(before, trees=begin.trees + len(sides[0]))

    def _outer_join(
        self, join: exp.Join, condition: PredSet, kept: frozenset[int], start: ClausePosition, before: ClausePosition
    ) -> None:
        """Join what was added after ``before`` by an outer join.

        A LEFT JOIN takes those inputs of the left side that its condition reads: inner joins of these with others come
        after it, which is the same, and so it is shared by queries that join other inputs.
        """
        on = Rows((), *self._split(condition, join))
        right = self._rows(join, before)
        if kept == {0}:
            read = [p for p in predicate_sources(condition) if p >= start.inputs and p not in right.positions]
            left = Rows(self.take(read or [before.inputs - 1]))
        else:
            left = self._rows(join, start)
        computed: dict[Column, Expression] = {}
        for side, (rows, begin, end) in enumerate(((left, start, before), (right, before, self.mark()))):
            if 1 - side in kept:
                computed |= self._nullable(rows.positions, begin, end)
        self.trees.append(OuterJoin((left, right), on, kept, computed))

    def _semijoin(self, join: exp.Join, condition: PredSet, start: ClausePosition, before: ClausePosition) -> None:
        """Keep the rows of the left side that have, or have no, partner in what was added after ``before``."""
        on = Rows((), *self._split(condition, join))
        right = self._rows(join, before)
        del self.scope.items[before.items :], self.scope.columns[before.columns :]
        left = [p for p in predicate_sources(condition) if start.inputs <= p < before.inputs]
        add_semijoin(self, left or [before.inputs - 1], [(right, on)], anti=join.kind == "ANTI")

    def _rows(self, join: exp.Join, start: ClausePosition) -> Rows:
        """Take out of the clause what was added after ``start``, with its conditions."""
        where, window = self._split(conjunction(*self.conditions[start.conditions :]), join)
        rows = Rows(tuple(self.trees[start.trees :]), where, conjunction(window, *self.windows[start.windows :]))
        del self.trees[start.trees :], self.conditions[start.conditions :], self.windows[start.windows :]
        return rows

    def _split(self, predicates: PredSet, node: exp.Expr) -> tuple[PredSet, PredSet]:
        """Conditions that do not read now, and the window."""
        try:
            return split_bounds(predicates)
        except NoWindow as why:
            self.source.refuse(why.what, next(filter(is_now, node.walk()), node), why.hint)

    def _nullable(
        self, positions: frozenset[int], begin: ClausePosition, end: ClausePosition
    ) -> dict[Column, Expression]:
        """Columns of their own for what names mean that is computed from these inputs, each with what is computed.

        They are NULL where the inputs are missing; what is computed from NULLs need not be.
        """
        own: dict[Expression, Column] = {}

        def column_for(expression: Expression) -> Expression:
            if not isinstance(expression, Column) and expression not in own:
                name = f"{COMPUTED}{digest(identity(expression))}"
                own[expression] = Column(name, expression.type, min(positions))
            return own.get(expression, expression)

        for item in self.scope.items[begin.items : end.items]:
            item.columns = {name: column_for(e) for name, e in item.columns.items()}
        named = self.scope.columns
        named[begin.columns : end.columns] = [(n, column_for(e)) for n, e in named[begin.columns : end.columns]]
        return {column: expression for expression, column in own.items()}

    def _add_item(self, node: exp.Expr, alias: str, relation: LogicalQuery | StreamInput, named: NamedColumns) -> None:
        """Add a FROM item; a plain block dissolves into this one."""
        relation, keys = (relation, ()) if isinstance(relation, StreamInput) else ordered_rows(relation)
        offset = len(self.inputs)
        if isinstance(relation, Block) and relation.is_plain:
            for inner in relation.inputs:
                self.add_input(inner)
            self.conditions.append(shift_predicates(relation.where, offset))
            self.windows.append(shift_predicates(relation.window, offset))
            meaning = {stored_name(o.name): shift(o.expression, offset) for o in relation.outputs}
        else:
            self.add_input(relation)
            known = named if isinstance(relation, StreamInput) else output_columns(relation)
            meaning = {stored_name(name): Column(stored_name(name), type_, offset) for name, type_ in known}
        self.order = self.order or tuple(key.map_columns(lambda column: meaning[column.name]) for key in keys)
        item = self._name_item(node, alias, [n for n, _ in named], [meaning[stored_name(n)] for n, _ in named], offset)
        if isinstance(relation, StreamInput) and (time := self.context.schema.time(relation.stream)) is not None:
            item.time = replace(time, source=offset)
        if self.window_on is not None:
            self.conditions.append(self.window_on(self, item))

    def _name_item(
        self, node: exp.Expr, alias: str, names: list[str], values: Sequence[Expression], offset: int
    ) -> Item:
        """Give a FROM item, whose inputs begin at ``offset``, and its columns their names."""
        if given := node.args["alias"].args.get("columns") if node.args.get("alias") is not None else None:
            fewer = len(given) < len(names) and self.source.rules.aliases_some_columns
            if len(given) != len(names) and not fewer:
                has = f"{alias} has {len(names)} column{'s' * (len(names) > 1)}, not {len(given)}"
                raise self.source.error(has, node, f"name each once: {alias}({', '.join(names[:_LISTED])})")
            names = [*(part.name.lower() for part in given), *names[len(given) :]]
        if len(self.inputs) > MAX_JOINED:
            what = f"a join of more than {MAX_JOINED} inputs, with views written out, is not supported"
            raise UnsupportedError(what, **self.source.of(node), hint="a view with GROUP BY is one input")
        item = Item(alias, dict(zip(names, values, strict=True)))
        item.inputs = range(offset, len(self.inputs))
        item.named = isinstance(node.this, exp.Identifier) and node.name.lower() not in self.context.of_with
        self.scope.add(item, node)
        return item


_PARTS_OF_JOIN = ("on", "using", "kind", "side", "method")


def _reads(condition: PredSet | ORPred, mark: ClausePosition) -> bool:
    """Whether a condition reads an input that was there before."""
    return any(source < mark.inputs for source in predicate_sources(condition))


def _filters(join: exp.Join) -> bool:
    """Whether the condition of a join can be moved to WHERE: no outer join keeps the rows that it drops."""
    select = join.parent
    if not isinstance(select, exp.Select) or join.args.get("kind") not in (None, "", "INNER"):
        return False
    return not join.args.get("side") and all(
        other.args.get("side") in (None, "", "LEFT") for other in select.args["joins"]
    )


def _stands_for_itself(node: exp.Expr) -> bool:
    """Whether what stands in parentheses is a table, or an item or join of its own name, and no query."""
    return isinstance(node, exp.Table) or bool(node.alias or node.args.get("joins"))
