"""The clauses of one SELECT; ``pipeline`` says in which order they are bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra.expressions import Column, Constant, Expression, column_name, map_columns, reading_order
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.binder.aggregates.aggregation import (
    Aggregation,
    Groups,
    computed_groups,
    in_one_order,
    over_grouping,
)
from workbench.sql.binder.aggregates.dependent_groups import with_dependent_groups
from workbench.sql.binder.aggregates.whole_lists import without_unread_lists, without_whole_lists
from workbench.sql.binder.hardly_meant import warn_of_slips
from workbench.sql.binder.joins.after_groups import AfterGroups
from workbench.sql.binder.joins.all_pairs import warn_of_all_pairs
from workbench.sql.binder.joins.alternatives import conjunct_of
from workbench.sql.binder.joins.from_clause import FromClause, bind_from
from workbench.sql.binder.joins.resolving import resolved
from workbench.sql.binder.joins.selected_elements import add_selected
from workbench.sql.binder.joins.subquery_conditions import SubqueryConditions
from workbench.sql.binder.joins.subquery_parts import conjuncts
from workbench.sql.binder.joins.subquery_values import FromRows, SubqueryValues
from workbench.sql.binder.meant import not_grouped, of_qualify
from workbench.sql.binder.order.aliases import KnownAliases, SelectAliases, item_with_subquery
from workbench.sql.binder.order.analytic import Analytics, has_own_aggregate, over_values, without_over
from workbench.sql.binder.order.keys import (
    Named,
    distinct_on_keys,
    function_name,
    hidden_outputs,
    item_at,
    over_outputs,
    shown_name,
    sort_keys,
)
from workbench.sql.binder.order.limit import CLAUSES, Limit, limit_of, limited
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scalar import ScalarBinder, is_now
from workbench.sql.binder.scope import Scope
from workbench.sql.binder.set_operations import union_of
from workbench.sql.binder.stars import for_each_column, starred
from workbench.sql.binder.stream_windows import StreamWindows
from workbench.sql.binder.window_functions import name_parts, without_ends
from workbench.sql.checks import GROUP_ROWS
from workbench.sql.functions.arrays.maps import refuse_compared
from workbench.sql.functions.calls import call
from workbench.sql.logical import Analyzed, Block, Grouping, LogicalQuery, Ordered, Output, SetQuery, StreamInput
from workbench.sql.predicates.cnf import TRUE, PredSet, conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.syntax.grouping_sets import grouping_sets
from workbench.sql.windows.bounds import NoWindow, split_bounds, without_trivial_bounds
from workbench.sql.windows.overlapping import without_overlap
from workbench.sql.windows.stream_time import ROW, is_sliding, is_window, row_number_key

_HANDLED = {"expressions", "from_", "joins", "where", "group", "having", "distinct", "with_", *CLAUSES}
_HANDLED |= {"qualify", "windows", "laterals", "hint"}


@dataclass
class _SelectItem:
    """A column of the select list.

    Attributes:
        scalar: the binder that bound it, which knows the columns that the item names.
        called: what else ORDER BY may call it.
    """

    name: str
    expression: Expression
    scalar: ScalarBinder
    called: str = ""


class SelectBinder:
    """Binds the clauses of one SELECT; each method is a step, and leaves its result for those after it.

    Raises:
        UnsupportedError: the SELECT has a part that is not evaluated.
        SqlError: nothing is selected.
    """

    def __init__(self, select: exp.Select, context: QueryContext) -> None:
        self._select, self._context, self._source = select, context, context.source
        self._source.refuse_others(select, _HANDLED, "SELECT")
        if select.args.get("hint") is not None:
            hint = "leave it out; the plan is chosen from all queries together"
            self._source.note("a hint has no effect", select.args["hint"], hint)
        if not select.expressions:
            raise self._source.error("nothing is selected", select, "name columns after SELECT, or write *")
        self._where = self._window = TRUE
        self._keys: tuple[SortKey, ...] = ()
        self._listed: Groups = ()
        self._sets: list[Groups] = [()]
        self._on: tuple[Expression, ...] = ()
        distinct = select.args.get("distinct")
        on = None if distinct is None else distinct.args.get("on")
        self._distinct = distinct is not None and on is None
        self._distinct_on: list[exp.Expr] = on.expressions if isinstance(on, exp.Tuple) else [on] if on else []
        self._aggregation = Aggregation()
        self._analytics = Analytics.of(select, self._source)
        self._items: list[_SelectItem] = []
        self._computed_groups: dict[Expression, Column] = {}
        self._by_text: dict[exp.Expr, Expression] = {}

    @cached_property
    def is_grouped(self) -> bool:
        """Whether rows are grouped: by GROUP BY, or into one group by an aggregate or HAVING."""
        args, rules = self._select.args, self._source.rules
        roots = [*self._select.expressions, *filter(None, map(args.get, ("having", "order", "qualify")))]
        groups = args.get("group") or (args.get("having") if rules.having_makes_group else None)
        return groups is not None or any(has_own_aggregate(root, self._context.schema) for root in roots)

    def bind_from(self, windows: StreamWindows | None) -> None:
        """FROM with the window clause: the inputs, the scope of all other clauses, and the conditions of joins.

        EXPLODE of the select list is a join, too, whose columns no other clause sees.
        """
        on = None if windows is None else windows.on
        self._from = bind_from(self._select, self._context, self._subqueries_of, on)
        self._scope = self._from.scope
        self._select.set("expressions", for_each_column(self._select.expressions, self._scope))
        self._distinct_on = [node.unalias() for node in for_each_column(self._distinct_on, self._scope)]
        warn_of_slips(self._select, self._scope, self._source)
        exploded = add_selected(self._from, self._select, self._context, self._scope)
        self._exploded, self._scope = exploded.items, replace(self._scope, hidden=exploded.hidden)
        self._aggregation.order, self._aggregation.mixed = self._from.order, self._from.mixed
        self._aggregation.arrival = self._from.arrival
        self._analytics.order = () if self._from.mixed or self.is_grouped else self._from.order
        self._after_groups = AfterGroups(self._from)
        self._of_groups = SubqueryValues(self._after_groups, self._context)

    def _subqueries_of(self, clause: FromClause, scope: Scope) -> SubqueryValues:
        return SubqueryValues(FromRows(clause, scope), self._context)

    def bind_where(self) -> None:
        """WHERE with the conditions of FROM, in normal form, its window split off."""
        where = self._select.args.get("where")
        if where is not None:
            scope = self._scope
            if self._source.rules.alias_in_where:
                scope = replace(scope, aliases=self._aliases())
            self._bind_conjuncts(where.this, scope)
        for node, scope in self._from.later:
            self._bind_conjuncts(node, scope)
        self._where, window = self._split(conjunction(*self._from.conditions))
        if self._context.outer is None:
            warn_of_all_pairs(self._select, self._from, self._where, self._source)
        owners: dict[Expression, frozenset[str]] = {}
        for i, relation in enumerate(self._from.inputs):
            if isinstance(relation, StreamInput):
                owners[replace(ROW, source=i)] = frozenset([row_number_key(relation.stream)])
                if (time := self._context.schema.time(relation.stream)) is not None:
                    owners[replace(time, source=i)] = frozenset([relation.stream.lower()])
        self._window = without_trivial_bounds(conjunction(window, *self._from.windows), owners, self._where)

    def _bind_conjuncts(self, condition: exp.Expr, scope: Scope) -> None:
        """Conditions of WHERE, or of ON with subqueries; one that asks for partners is a join."""
        known, subqueries = self._context.schema, self._subqueries_of(self._from, scope)
        scalar = ScalarBinder(scope, known, now_at=self._context.now_at, subqueries=subqueries)
        partners = SubqueryConditions(self._from, self._context, scope)
        for node in conjuncts(condition):
            if not partners.condition(node, scalar):
                self._from.conditions.append(conjunct_of(node, scalar))

    def bind_groups(self) -> None:
        """GROUP BY: its expressions, each once, in reading order; and the parts of a window that is a group."""
        group = self._select.args.get("group")
        if group is None:
            return
        aliases = self._aliases(grouped=True)
        subqueries = self._subqueries_of(self._from, self._scope)
        scope = replace(self._scope, aliases=aliases)
        scalar = ScalarBinder(scope, self._context.schema, grouped=True, subqueries=subqueries)
        if group.args.get("all") and not group.expressions:
            self._source.refuse_others(group, {"all"}, "GROUP BY ALL")
            if self._scope.has(exp.column("all")):
                raise self._source.error("all is a column here", group, "in quotes it is that column; name the groups")
            self._listed = self._plain_items(scalar, aliases)
            self._sets = [self._listed]
        else:
            nodes, sets = grouping_sets(group, self._source)
            bound = self._bound_groups(nodes, scalar)
            if any(len(grouping) < len(nodes) for grouping in sets) and not any(map(is_window, bound.values())):
                self._scope = self._scope.by_names()
                scope = replace(self._scope, aliases=self._aliases(grouped=True))
                scalar = ScalarBinder(scope, self._context.schema, grouped=True)
                bound = self._bound_groups(nodes, scalar)
            self._listed = without_ends(dict.fromkeys(bound.values()))
            self._sets = [without_ends(dict.fromkeys(bound[node] for node in grouping)) for grouping in sets]
        self._computed_groups = computed_groups(self._listed)
        refuse_compared(self._listed, "GROUP BY", group, self._source)
        self._name_window()

    def _bound_groups(self, nodes: Iterable[exp.Expr], scalar: ScalarBinder) -> dict[exp.Expr, Expression]:
        """The groups of GROUP BY, by their nodes."""
        self._by_text.clear()
        bound, first = {node: self._group(node, scalar) for node in nodes}, dict[Expression, Expression]()
        commute = self._source.rules.operands_commute
        return {node: first.setdefault(in_one_order(g) if commute else g, g) for node, g in bound.items()}

    def _aliases(self, grouped: bool = False) -> SelectAliases:
        def bind(node: exp.Expr, scope: Scope) -> Expression:
            return ScalarBinder(scope, self._context.schema, grouped=grouped).bind(node)

        return SelectAliases(self._select.expressions, self._scope, bind)

    def bind_select_list(self) -> None:
        """The select list, with ``*`` and ``t.*`` written out; an item knows the aliases before it."""
        rules = self._source.rules
        known = KnownAliases(rules.last_alias_counts)
        scope = replace(self._scope, aliases=known)
        subqueries = self._subqueries_of(self._from, scope if rules.alias_in_where else self._scope)
        for node in self._select.expressions:
            scalar = self._scalar(scope, subqueries)
            for name, value in self._bound_item(node, scalar):
                self._items.append(_SelectItem(name, value, scalar, function_name(node, self._source)))
            if isinstance(node, exp.Alias) and rules.alias_in_select_list:
                known.add(node.alias, self._items[-1].expression)
        if self._distinct:
            refuse_compared((item.expression for item in self._items), "DISTINCT", self._select, self._source)

    def _bound_item(self, node: exp.Expr, scalar: ScalarBinder) -> list[Named]:
        """The columns of an item; what repeats a group with a subquery is it: bound again, it is another input."""
        if node in self._exploded:
            return list(self._exploded[node])
        star = node.this if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) else node
        if isinstance(star, exp.Star):
            return self._starred(star, node)
        group = self._by_text.get(node.unalias().unnest()) if node.find(exp.Query) else None
        return [(shown_name(node, self._source), scalar.bind(node.unalias()) if group is None else group)]

    def bind_order(self) -> None:
        """DISTINCT ON and ORDER BY, which may name items, or the order of FROM; what else they read is selected."""
        items = [(item.name, item.expression) for item in self._items]
        aliases, preferred = {name.lower(): value for name, value in items}, self._source.rules.alias_in_order
        scope = replace(self._scope, aliases=aliases, preferred=preferred)
        scalar = self._scalar(scope, None if self._distinct else self._subqueries_of(self._from, self._scope))
        order, called = self._select.args.get("order"), [(i.called, i.expression) for i in self._items if i.called]
        read = partial(sort_keys, items=items, bind=scalar.bind, source=self._source, called=called)
        keys = read(order)
        if order is None and not self.is_grouped and not self._distinct:
            keys = [] if self._from.mixed else list(self._from.order)
        on = distinct_on_keys(self._distinct_on, keys if order else [], read, self._source)
        named = hidden_outputs(items, () if self._distinct else [*on, *keys])
        binders = [item.scalar for item in self._items] + [scalar] * (len(named) - len(items))
        self._outputs = [_SelectItem(*item, binder) for item, binder in zip(named, binders, strict=True)]
        try:
            self._keys = over_outputs(keys, outputs := [Output(*item) for item in named])
            self._on = tuple(key.expression for key in over_outputs(on, outputs))
        except KeyError as missing:
            message = f"SELECT DISTINCT is ordered by {missing.args[0]}, which it does not select"
            raise self._source.error(message, self._select.args["order"], "select it as well") from None

    def bind_qualify(self) -> None:
        """QUALIFY, which may name items of the select list."""
        aliased = {item.name.lower(): item.expression for item in self._items}
        scalar = self._scalar(replace(self._scope, aliases=aliased))
        qualify = self._select.args.get("qualify")
        self._qualifying = Constant(True, BOOLEAN) if qualify is None else scalar.condition(qualify.this), scalar
        if qualify is not None and not self._analytics.calls:
            raise self._source.error("QUALIFY without OVER", qualify.this, of_qualify(self._select))

    def plain_block(self) -> Block:
        """The block of a SELECT that is not grouped."""
        if (having := self._select.args.get("having")) is not None:
            meant = "QUALIFY" if self._analytics.calls else "WHERE"
            raise self._source.error("HAVING without GROUP BY or an aggregate", having.this, f"use {meant}")
        outputs = [(item.name, item.expression) for item in self._outputs]
        return self._block(outputs, None, TRUE, self._analytics.analyzed(), normal_form(self._qualifying[0]))

    def grouped(self) -> Block | SetQuery:
        """A grouped SELECT, all its groupings together: HAVING is bound, and it and the outputs are rewritten."""
        if self._analytics.calls and (len(self._sets) > 1 or any(map(is_sliding, self._listed))):
            return self._over_all_groups()
        condition = self._having()
        if len(self._sets) == 1 and self._source.rules.groups_by_key:
            read = [*(item.expression for item in self._outputs), *([condition[0]] if condition else ())]
            self._listed = with_dependent_groups(self._listed, read, self._from.inputs, self._context.schema.keys)
            self._sets = [self._listed]
        blocks = [self._joined_with_subqueries(self._grouped_block(groups, condition)) for groups in self._sets]
        return blocks[0] if len(blocks) == 1 else union_of(blocks)

    def _over_all_groups(self) -> Block:
        """OVER the groups of several groupings, or of overlapping windows, which are rows of one query together."""
        calls, (qualify, scalar) = self._analytics.analyzed(), self._qualifying
        read = [(item.expression, item.scalar) for item in self._outputs]
        read += [(e, scalar) for e in (qualify, *(e for analyzed in calls for e in analyzed.call.expressions))]
        binders = {value: binder for e, binder in reversed(read) for value in without_over(e)}
        values = {value: Column(f"v{i}", value.type) for i, value in enumerate(reversed(binders), start=1)}
        groups = copy(self)
        groups._analytics, groups._qualifying = replace(self._analytics, calls={}), (Constant(True, BOOLEAN), scalar)
        groups._outputs = [_SelectItem(column.name, value, binders[value]) for value, column in values.items()]
        groups._distinct = False
        outputs = tuple(Output(item.name, over_values(item.expression, values)) for item in self._outputs)
        analytics = tuple(Analyzed(a.name, a.call.map(lambda e: over_values(e, values))) for a in calls)
        qualified = normal_form(over_values(qualify, values))
        return Block(
            (groups.grouped(),), TRUE, outputs, distinct=self._distinct, analytics=analytics, qualify=qualified
        )

    def _grouped_block(self, groups: Groups, condition: tuple[Expression, ScalarBinder] | None) -> Block:
        computed = {group: self._computed(group) for group in groups}

        def over(expression: Expression, scalar: ScalarBinder) -> Expression:
            shown = without_whole_lists(expression, self._aggregation.statistics)
            return over_grouping(shown, computed, self._listed, self._not_grouped(scalar))

        outputs = [(item.name, over(item.expression, item.scalar)) for item in self._outputs]
        # What subqueries beside aggregates are compared with stays with the block until they are joined.
        rows = {group: group for group in computed.values()}, tuple(map(self._computed, self._listed))
        of_qualify, scalar = self._qualifying
        outputs += [("", over_grouping(e, *rows, self._not_grouped(scalar))) for e in self._after_groups.compared]
        having = TRUE if condition is None else normal_form(over(*condition))
        qualify, analytics = over(of_qualify, scalar), self._analytics.analyzed(lambda e: over(e, scalar))
        statistics = self._aggregation.statistics
        if not groups and len(self._sets) > 1 and not self._source.rules.several_groupings_of_nothing:
            statistics = {**statistics, GROUP_ROWS: None}
            some = call(">", Column(column_name(GROUP_ROWS), INTEGER), Constant(0, INTEGER))
            having = conjunction(having, normal_form(some))
        if not groups and not statistics:
            statistics = {GROUP_ROWS: None}  # the total of no rows is a row
        sorted_groups = tuple(sorted(set(computed.values()), key=reading_order))
        grouping = Grouping(sorted_groups, tuple(sorted(statistics, key=reading_order)))
        return without_unread_lists(self._block(outputs, grouping, having, analytics, normal_form(qualify)))

    def _joined_with_subqueries(self, block: Block) -> Block:
        """A grouped block without windows that overlap, its groups joined with subqueries beside aggregates."""
        assert block.grouping is not None
        if any(map(is_sliding, block.grouping.groups)) and self._after_groups.reads_groups:
            what = "a subquery beside sliding windows that reads the outer query"
            self._source.refuse(what, self._select.args["group"], "group in a subquery in FROM")
        return self._after_groups.around(without_overlap(block))

    def in_order(self, query: Block | SetQuery) -> LogicalQuery:
        """The query in the order of ORDER BY, with the rows that DISTINCT ON and LIMIT leave."""
        limit = limit_of(self._select, self._source, ScalarBinder(Scope(self._source), self._context.schema).bind)
        if not self._on and not self._keys and limit == Limit() and self._select.args.get("order") is None:
            return query
        first: LogicalQuery = query
        if self._on:
            # DISTINCT ON before LIMIT, which counts the rows that it leaves.
            first = Ordered(query, len(self._outputs), self._keys, limit=1, on=self._on)
        return limited(first, len(self._items), self._keys, limit)

    # ---- parts of the steps ------------------------------------------------------------------------------------------

    def _computed(self, group: Expression) -> Expression:
        """A group as it is computed, without names of what FROM computes."""
        return map_columns(group, lambda column: self._scope.computed.get(column, column))

    def _split(self, predicates: PredSet) -> tuple[PredSet, PredSet]:
        """The predicates that do not read now, and the window."""
        try:
            return split_bounds(predicates)
        except NoWindow as why:
            self._source.refuse(why.what, next(filter(is_now, self._select.walk()), self._select), why.hint)

    def _having(self) -> tuple[Expression, ScalarBinder] | None:
        having = self._select.args.get("having")
        if having is None:
            return None
        aliased = {item.name.lower(): item.expression for item in self._items}
        scope = replace(self._scope, aliases=aliased, preferred=self._source.rules.alias_in_having)
        known, groups = self._context.schema, self._computed_groups
        scalar = ScalarBinder(
            scope, known, self._aggregation, self._context.now_at, of_groups=self._of_groups, groups=groups
        )
        return scalar.condition(having.this), scalar

    def _scalar(self, scope: Scope, subqueries: SubqueryValues | None = None) -> ScalarBinder:
        """Binds expressions of the select list, ORDER BY and QUALIFY."""
        aggregation = self._aggregation if self.is_grouped else None
        known = self._context.schema
        groups, analytics = self._computed_groups, self._analytics
        return ScalarBinder(
            scope, known, aggregation, None, False, analytics, subqueries, self._of_groups, groups=groups
        )

    def _block(
        self,
        outputs: list[Named],
        grouping: Grouping | None,
        condition: PredSet,
        analytics: Iterable[Analyzed],
        qualify: PredSet,
    ) -> Block:
        named = tuple(Output(*item) for item in outputs)
        having, having_window = self._split(condition)
        windows = self._window, having_window
        calls = tuple(analytics)
        block = Block((), self._where, named, grouping, having, self._distinct, *windows, calls, qualify)
        return resolved(self._from.trees, block)

    def _name_window(self) -> None:
        """Name the parts of a window that is a group, and leave out rows without a time, which are in no window."""
        starts = [g for g in self._listed if is_window(g)]
        if len(starts) > 1:
            self._source.refuse("GROUP BY two windows", self._select.args["group"], "write a query for each of them")
        for start in starts:
            name_parts(start, self._scope, self._aggregation.keep)
            self._where = conjunction(self._where, normal_form(call("not", call("is_null", start.arguments[0]))))

    def _plain_items(self, scalar: ScalarBinder, aliases: SelectAliases) -> Groups:
        """GROUP BY ALL: the items of the select list that have no aggregate and are written as no constants."""
        found: dict[Expression, None] = {}
        for place, node in enumerate(self._select.expressions):
            star = node.this if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) else node
            if isinstance(star, exp.Star):
                found.update(dict.fromkeys(expression for _, expression in self._starred(star, node)))
            elif not aliases.has_aggregate(place, self._context.schema):
                value = scalar.bind(node.unalias())
                if not isinstance(value, Constant) or node.find(exp.Column) is not None:
                    found[value] = None
        return tuple(found)

    def _starred(self, star: exp.Star, node: exp.Expr) -> list[Named]:
        return starred(self._scope, star, node, ScalarBinder(self._scope, self._context.schema).bind)

    def _group(self, node: exp.Expr, scalar: ScalarBinder) -> Expression:
        """A group; GROUP BY 1 means the first select item (in Oracle it would be a constant, which is never meant)."""
        if not isinstance(node, exp.Literal) or node.is_string:
            return self._bound_group(item_with_subquery(node, self._select.expressions, self._scope) or node, scalar)
        if not self._source.rules.group_by_position:
            self._source.refuse("GROUP BY a position", node, "repeat the expression")
        items: list[exp.Expr | Expression] = []
        for item in self._select.expressions:
            star = item.this if isinstance(item, exp.Column) else item
            starred = self._starred(star, item) if isinstance(star, exp.Star) else None
            items += [item.unalias()] if starred is None else [expression for _, expression in starred]
        return self._bound_group(item_at(node, items, "GROUP BY", self._source), scalar)

    def _bound_group(self, group: exp.Expr | Expression, scalar: ScalarBinder) -> Expression:
        return self._by_text.setdefault(group.unnest(), scalar.bind(group)) if isinstance(group, exp.Expr) else group

    def _not_grouped(self, scalar: ScalarBinder) -> Callable[[Column], SqlError]:
        return lambda column: not_grouped(column, scalar.columns, self._select, self._source)
