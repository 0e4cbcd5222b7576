"""Translate a logical query into the network: which roots compute it, and what it reads of them.

Operator by operator from the inputs up (T9.2): selections become part of what is required of a root, joins are found
or created one pair at a time, groups and set operators are found by what they compute. Which selection nodes a
tree needs for all that is required of it is settled afterwards (``place_selections``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from workbench.network.network import QueryPlan
from workbench.network.nodes import (
    FIRST_IS_APART,
    Branch,
    NodeId,
    Read,
    Recursion,
    SetOperation,
    SetOperator,
    Source,
)
from workbench.network.roll_up import computed_column
from workbench.network.sql_text import predicate_texts
from workbench.optimizer.predicate_inference import infer
from workbench.sharing.aggregates import find_aggregate, find_grouping
from workbench.sharing.analytic.compared_shares import with_compared_shares
from workbench.sharing.analytic.find import find_analytic, first_rows, order_of
from workbench.sharing.condition_names import names_in, near_miss
from workbench.sharing.draft import Draft
from workbench.sharing.join_inputs import join_inputs
from workbench.sharing.join_parts import JoinInput, restricted
from workbench.sharing.windows import windowed, windows_around_joins
from workbench.sql import logical
from workbench.sql.algebra.analytic import Over
from workbench.sql.algebra.coercion import is_integer_of
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    Origin,
    map_columns,
    reading_order,
)
from workbench.sql.algebra.ordering import SortKey, without_repetition
from workbench.sql.algebra.types import DataType
from workbench.sql.logical import (
    Block,
    LogicalQuery,
    Ordered,
    Output,
    RecursionRule,
    StreamInput,
    analytic_steps,
    analyzed_values,
    values_read,
)
from workbench.sql.predicates.cnf import TRUE, PredSet, map_predicates, predicate_sources

Values = Callable[[Column], Expression]
"""A column as a block names it, as an expression over the root that is read."""


@dataclass(frozen=True)
class Translation:
    """A query in the network: its read, and its outputs over the columns of that root.

    ``window`` is still to be applied to the rows, by a node or when the answer is read.
    """

    read: Read
    outputs: tuple[Output, ...]
    window: PredSet = TRUE
    order: tuple[SortKey, ...] = ()


def translate_query(draft: Draft, name: str, query: LogicalQuery, eager: bool) -> QueryPlan:
    """The plan of a query over roots of the network, which gets those that it lacks.

    Args:
        draft: the network.
        name: of the query.
        query: bound, not yet planned.
        eager: whether a window that is the last thing of the query becomes a node too. It does in any case where rows
            may be retracted: only rows that stay can be windowed when the answer is read.
    """
    translation = _Translator(draft).query(with_compared_shares(query))
    read, window = translation.read, translation.window
    if eager or not draft.monotone(read.root):
        read, window = windowed(draft, read, window), TRUE
    return QueryPlan(name, read, translation.outputs, (), window, translation.order)


@dataclass
class _Translator:
    """Translates one query and the queries inside it.

    Attributes:
        draft: the network, which gets what the query needs.
        translated: the queries inside that are translated, by their identity as objects: a view that is read by two
            views, each of which is read twice, is there eight times, and translated once.
    """

    draft: Draft
    translated: dict[int, Translation] = field(default_factory=dict)

    def query(self, query: LogicalQuery) -> Translation:
        """Translate a query, or one inside another."""
        if (known := self.translated.get(id(query))) is not None:
            return known
        match query:
            case Block():
                made = self._block(query)
            case logical.SetQuery():
                made = self._set_operation(query)
            case Ordered():
                made = self._ordered(query)
        self.translated[id(query)] = made
        return made

    def _ordered(self, query: Ordered) -> Translation:
        """ORDER BY is part of how an answer is read, and no node computes it; LIMIT keeps the first rows."""
        inner = self.query(query.query)
        values = {stored_name(output.name): output.expression for output in inner.outputs}
        shown = inner.outputs[: query.columns]

        def over(expression: Expression) -> Expression:
            return self._over_root(expression, lambda column: values[column.name])

        keys = without_repetition(key.map(over) for key in query.keys)
        if query.keeps_all:
            return replace(inner, outputs=shown, order=keys)
        # The window comes first: rows are counted of those in the window. Peers are in the order of what is shown, so
        # that the first rows are the same for all readers.
        read = windowed(self.draft, inner.read, inner.window)
        first = Over.of(tuple(sorted(map(over, query.on), key=reading_order)), keys, tie_breakers(keys, shown))
        read = first_rows(self.draft, read, first, query.limit, query.offset, query.with_ties)
        return Translation(read, shown, order=keys)

    def _block(self, block: Block) -> Translation:
        """SELECT … FROM … WHERE … GROUP BY … HAVING, in the order in which SQL evaluates them."""
        draft = self.draft
        # Inference comes first: an inferred condition is a selection of one more input, and an inferred equality keeps
        # a window above the join.
        where = self._conditions(block)
        below, above = windows_around_joins(block, where)
        inputs = [self._input(item, i, below) for i, item in enumerate(block.inputs)]
        joined = join_inputs(draft, inputs, where, draft.stored(block.where))
        read = joined.parts[0].read
        values: Values = joined.over_root
        window = map_predicates(above, values)
        if block.grouping is not None:
            # The window comes below the groups: a group is one of the rows in the window.
            groups = {g: self._over_root(g, values) for g in block.grouping.groups}
            statistics = {s: self._statistic_over_root(s, values) for s in block.grouping.statistics}
            read, named = find_grouping(draft, read, groups, statistics, window)
            values = named.__getitem__
            window = map_predicates(block.having_window, values)
        # HAVING reads groups and statistics, so it comes above the aggregate; it is empty without one.
        read = restricted(draft, read, map_predicates(block.having, values))
        if block.analytics:
            # The window comes first: neighbours and ranks are those of the rows in the window.
            read, values = self._analyzed(block, windowed(draft, read, window), values)
            window = TRUE
        outputs = tuple(replace(o, expression=self._over_root(o.expression, values)) for o in block.outputs)
        if not block.distinct:
            return Translation(read, outputs, window)
        # DISTINCT is grouping by the outputs, without statistics; it counts rows in the window only.
        aggregate = find_aggregate(draft, windowed(draft, read, window), (o.expression for o in outputs))
        return Translation(
            Read(aggregate.id), tuple(replace(o, expression=computed_column(o.expression)) for o in outputs)
        )

    def _analyzed(self, block: Block, read: Read, values: Values) -> tuple[Read, Values]:
        """The analytic functions of a block, one node for each order of its rows, and QUALIFY above them."""
        calls = {a.name: a.call.map(lambda e: self._over_root(e, values)) for a in block.analytics}
        known: list[Expression] = [self._over_root(value, values) for value in analyzed_values(block)]
        for step in analytic_steps(block):
            own = [calls[analyzed.name] for analyzed in step]
            (over,) = {call.over for call in own}
            if any(call.tells_peers_apart for call in own):
                over = Over.of(over.partition, over.order, with_their_columns(known))
            over = order_of(self.draft, read, over)
            own = [replace(call, over=over) for call in own]
            calls |= {analyzed.name: call for analyzed, call in zip(step, own, strict=True)}
            known += [Column(call.name, call.type) for call in own]
            read = Read(find_analytic(self.draft, read, over, own).id)

        def with_functions(column: Column) -> Expression:
            if column.source != Origin.ANALYTIC:
                return values(column)
            return Column(calls[column.name].name, column.type)

        return restricted(self.draft, read, map_predicates(block.qualify, with_functions)), with_functions

    def _conditions(self, block: Block) -> PredSet:
        """WHERE in canonical form, with what follows from it."""
        draft = self.draft
        for literal in (literal for p in block.where for literal in p.literals):
            if draft.options.canonicalize and (why := near_miss(block, literal)):
                draft.record.note(f"near miss: {why}")
        stated = draft.stored(block.where)
        if not draft.options.transitivity:
            return stated
        conditions = draft.stored(infer(stated))
        inferred = PredSet(tuple(p for p in conditions if p not in stated.or_preds))
        for text in predicate_texts(inferred, names_in(block, draft.views)):
            draft.record.note(f"inferred: {text}")
        return conditions

    def _input(self, item: logical.Input, position: int, below: PredSet) -> JoinInput:
        """One input, with the part of a window that is applied below joins."""
        if isinstance(item, StreamInput):
            owner = "" if self.draft.options.sharing else self.draft.owner
            source = self.draft.put(
                Source(item.stream, owner, item.append_only, self.draft.constraints.get(item.stream, ()))
            )
            if not item.append_only:
                self.draft.record.note(f"{item.stream} takes rows back: plans for append-only streams do not serve it")
            if item.columns:
                self.draft.stream_columns[source.id] = dict(item.columns)
            whole = JoinInput(Read(source.id))
        else:
            inner = self.query(item)
            values = {stored_name(output.name): output.expression for output in inner.outputs}
            whole = JoinInput(windowed(self.draft, inner.read, inner.window), values)
        own = PredSet(tuple(p for p in below if predicate_sources(p) == {position}))
        return replace(whole, read=windowed(self.draft, whole.read, map_predicates(own, whole.over_root)))

    def _over_root(self, expression: Expression, values: Values) -> Expression:
        return self.draft.stored_expression(map_columns(expression, values))

    def _statistic_over_root(self, statistic: AggregateCall, values: Values) -> AggregateCall:
        return replace(statistic, arguments=tuple(self._over_root(a, values) for a in statistic.arguments))

    def _set_operation(self, query: logical.SetQuery) -> Translation:
        operator = SetOperator(f"{query.operator} all" if query.all else query.operator)
        node: SetOperation
        if query.rules:
            first, *others = query.branches
            ordered = (self._branch(first, query.types), *(self._branch(branch) for branch in others))
            rules = tuple(self._rule(rule) for rule in query.rules)
            node = self.draft.find_or_put(Recursion(operator, ordered, direct_of(ordered), rules=rules))
        else:
            branches = [self._branch(branch, query.types) for branch in _flattened(query)]
            kept = 1 if operator in FIRST_IS_APART else 0
            ordered = (*branches[:kept], *sorted(branches[kept:], key=lambda branch: branch.identity))
            node = self.draft.find_or_put(SetOperation(operator, ordered, direct_of(ordered)))
        self.draft.mark_dirty(node.id, *(branch.read.root for branch in ordered))
        named = zip(query.names, node.columns, strict=True)
        return Translation(Read(node.id), tuple(Output(name, column) for name, column in named))

    def _branch(self, query: LogicalQuery, types: Sequence[DataType] | None = None) -> Branch:
        """A branch, its columns cast to types where these are given."""
        inner = self.query(query)
        read = windowed(self.draft, inner.read, inner.window)
        own = [output.expression for output in inner.outputs]
        values = zip(own, types or [value.type for value in own], strict=True)
        cast = (v if v.type == t or is_integer_of(v.type, t) else Call("cast", (v,), t) for v, t in values)
        return Branch(read, tuple(map(self.draft.stored_expression, cast)))

    def _rule(self, rule: RecursionRule) -> RecursionRule:
        values = tuple(map(self.draft.stored_expression, rule.values))
        return replace(rule, where=self.draft.stored(rule.where), values=values)


def direct_of(branches: Iterable[Branch]) -> tuple[tuple[NodeId, tuple[Expression, ...]], ...]:
    """The direct form of branches of which nothing is placed yet: each reads its root."""
    return tuple((branch.read.root, branch.values) for branch in branches)


def tie_breakers(keys: Iterable[SortKey], shown: Iterable[Output]) -> tuple[Expression, ...]:
    """The outputs beyond the keys of the order, each once, and their columns: with all as keys, peers are equal."""
    known = {key.expression for key in keys}
    return tuple(e for e in with_their_columns(output.expression for output in shown) if e not in known)


def with_their_columns(expressions: Iterable[Expression]) -> tuple[Expression, ...]:
    """Expressions and then the values they are made of, each once: rows that are equal in these are equal rows."""
    own = [expression for expression in dict.fromkeys(expressions) if not isinstance(expression, Constant)]
    read = (value for e in own for value in sorted({*values_read(e)}, key=reading_order))
    return tuple(dict.fromkeys([*own, *read]))


def _flattened(query: logical.SetQuery) -> list[LogicalQuery]:
    """Branches with a nested operator of the same kind taken apart: A - B - C has three (T7.2.1).

    SEMIJOIN is not: rows of A that B and C have are not those that B or C has.
    """
    if query.operator == "semijoin":
        return list(query.branches)
    kind = (query.operator, query.all, query.types)
    branches: list[LogicalQuery] = []
    for place, branch in enumerate(query.branches):
        # Only INTERSECT is taken apart in any place: A - (B - C) is something else.
        anywhere = place == 0 or query.operator == "intersect"
        if isinstance(branch, logical.SetQuery) and anywhere and (branch.operator, branch.all, branch.types) == kind:
            branches += _flattened(branch)
        else:
            branches.append(branch)
    return branches
