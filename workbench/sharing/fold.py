"""Fold a logical query into the network: which roots compute it, and what it reads of them.

Operator by operator from the inputs up (T9.2): selections become part of what is wanted of a root, joins are found or
made one pair at a time, groups and set operators are found by what they compute. Which selection nodes a tree needs
for all that is wanted of it is settled afterwards (``arrange``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.network.nodes import ID_DIGITS, Aggregate, Branch, Join, Read, SetOperation, SetOperator, Source, Window
from workbench.network.roll_up import column_of, over_groups
from workbench.network.sql_text import SIDE_NAMES, or_pred_sql, predicates_sql
from workbench.optimizer.cardinality import is_key
from workbench.optimizer.predicate_inference import infer
from workbench.sharing.decisions import Record, Rule
from workbench.sharing.draft import Draft
from workbench.sharing.joins import Pair, Parts, starting
from workbench.sharing.slices import of_slices, slices_of
from workbench.sharing.strategies import Step, next_step, planned
from workbench.sql import logical
from workbench.sql.algebra.aggregates import of_parts
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Expression,
    column_name,
    digest,
    map_columns,
    text,
)
from workbench.sql.logical import Block, Grouping, LogicalQuery, Output, StreamInput
from workbench.sql.predicates.canonical import canonical_expression, why_not_canonical
from workbench.sql.predicates.cnf import TRUE, ORPred, PredSet, conjunction, map_predicates, pred_set, predicate_sources
from workbench.sql.predicates.implication import cover, difference


@dataclass(frozen=True)
class Folded:
    """A query in the network: what it reads, and its outputs over the columns of the root that is read.

    ``window`` is still to be imposed on the rows, by a node or when the answer is read.
    """

    read: Read
    outputs: tuple[Output, ...]
    window: PredSet = TRUE

    @property
    def values(self) -> Mapping[str, Expression]:
        """The outputs by their stored names, as a query around this one refers to them."""
        return {stored_name(output.name): output.expression for output in self.outputs}


@dataclass
class Fold:
    """Folds one query into a draft of the network.

    Attributes:
        draft: the network, which gets what the query needs.
        owner: the query's name, which marks what it may not share.
        record: the decisions taken.
        folded: the queries inside that are folded, by their identity as objects: a view that is read by two views of
            which each is read twice is there eight times, and folded once.
    """

    draft: Draft
    owner: str
    record: Record
    folded: dict[int, Folded] = field(default_factory=dict)

    def query(self, query: LogicalQuery) -> Folded:
        """Fold a query, or one inside another."""
        if id(query) not in self.folded:
            match query:
                case Block():
                    self.folded[id(query)] = self._block(query)
                case logical.SetOperation():
                    self.folded[id(query)] = self._set_operation(query)
        return self.folded[id(query)]

    def _block(self, block: Block) -> Folded:
        where = self._conditions(block)
        below, above = _window_below_joins(block, where)
        joined = self._joined(block, where, below)
        read = joined.parts[0].read
        values: Callable[[Column], Expression] = joined.over_root
        window = map_predicates(above, values)
        if block.grouping is not None:
            read, named = self._grouped(read, values, block.grouping, window)
            values = named.__getitem__
            window = map_predicates(block.having_window, values)
        read = self._where(read, map_predicates(block.having, values))
        outputs = tuple(
            replace(o, expression=self._expression(map_columns(o.expression, values))) for o in block.outputs
        )
        if block.distinct:
            return self._distinct(self.windowed(read, window), outputs)
        return Folded(read, outputs, window)

    # -- inputs and joins ----------------------------------------------------------------------------------------

    def _joined(self, block: Block, where: PredSet, below: PredSet) -> Parts:
        """All inputs of a block as one, each in its own part of a window."""
        whole, values = zip(*(self._input(item) for item in block.inputs), strict=True)
        said = self.draft.form(block.where)
        reads = [
            self._windowed_input(read, own, below, i) for i, (read, own) in enumerate(zip(whole, values, strict=True))
        ]
        written = [self.draft.estimates.rows(read) for read in self._all_placed(reads, values, said)]
        placed = self._all_placed(reads, values, where)
        parts = starting(placed, values, [p for p in where if len(predicate_sources(p)) > 1], written)
        plan = planned(self.draft, parts) if self.draft.options.strategy == "match-plan" and len(placed) > 1 else None
        while len(parts.parts) > 1:
            parts = self._next_join(parts, next_step(self.draft, parts, plan))
        return parts

    def _input(self, item: logical.Input) -> tuple[Read, Mapping[str, Expression] | None]:
        if isinstance(item, StreamInput):
            source = self.draft.put(Source(item.stream, "" if self.draft.options.sharing else self.owner))
            if item.columns:
                self.draft.streams[source.id] = dict(item.columns)
            return Read(source.id), None
        folded = self.query(item)
        return self.windowed(folded.read, folded.window), folded.values

    def _conditions(self, block: Block) -> PredSet:
        """WHERE in canonical form, with what follows from it."""
        for p in block.where:
            for literal in p.literals:
                if self.draft.options.canonicalize and (why := why_not_canonical(literal)):
                    self.record.note(f"near miss: {why}")
        known = self.draft.form(block.where)
        if not self.draft.options.transitivity:
            return known
        inferred = self.draft.form(infer(known))
        inputs = tuple(f"t{i}" for i in range(1, len(block.inputs) + 1))
        for p in difference(inferred, known):
            self.record.note(f"inferred: {or_pred_sql(p, inputs)}")
        return inferred

    def _all_placed(
        self, reads: Sequence[Read], values: Sequence[Mapping[str, Expression] | None], where: PredSet
    ) -> list[Read]:
        return [self._placed(read, own, where, i) for i, (read, own) in enumerate(zip(reads, values, strict=True))]

    def _placed(self, read: Read, values: Mapping[str, Expression] | None, where: PredSet, position: int) -> Read:
        """An input with all that reads it alone; what reads no input at all goes to the first."""

        def over_root(column: Column) -> Expression:
            return replace(column, source=0) if values is None else values[column.name]

        own = pred_set(p for p in where if _home(p) == position)
        return self._where(read, map_predicates(own, over_root))

    def _windowed_input(
        self, read: Read, values: Mapping[str, Expression] | None, below: PredSet, position: int
    ) -> Read:
        """The rows of an input that are in its part of a window."""

        def over_root(column: Column) -> Expression:
            return replace(column, source=0) if values is None else values[column.name]

        own = pred_set(p for p in below if predicate_sources(p) == {position})
        return self.windowed(read, map_predicates(own, over_root))

    def _where(self, read: Read, predicates: PredSet) -> Read:
        return Read(read.root, self.draft.form(conjunction(read.required, predicates))) if predicates else read

    def _next_join(self, parts: Parts, step: Step) -> Parts:
        if step.choice is None:
            join = self._new_join(step.pair)
            self.record.add(join.id, Rule.NEW, candidates=step.considered)
            return parts.joined(self.draft, step.pair, join)
        choice = step.choice
        join = choice.join
        if choice.predicates != join.predicates:
            join = self._weakened(join, choice.predicates)
        self.record.add(join.id, choice.rule, _residual(step.pair.required, join.predicates), step.considered)
        return parts.joined(self.draft, step.pair, join)

    def _new_join(self, pair: Pair) -> Join:
        draft = self.draft
        own = "" if draft.options.join_sharing else f" of {self.owner}"
        anchor = digest(pair.required.identity, ID_DIGITS) + own
        leaves = [_leaves(draft, root) for root in pair.roots]
        join = Join(*pair.roots, anchor, pair.required, *pair.roots, pair.required, leaves[0], leaves[1])
        present = draft.nodes.get(join.id)
        if isinstance(present, Join):
            # Its first reader wanted just this; since then it may have come to test something else.
            return self._weakened(present, cover([present.predicates, pair.required]))
        draft.touch(join.id, *pair.roots)
        draft.put(join)
        return join

    def _weakened(self, join: Join, predicates: PredSet) -> Join:
        """A join that tests less from now on."""
        if predicates == join.predicates:
            return join
        weaker = replace(join, predicates=predicates)
        self.draft.touch(join.id, *join.roots)
        self.draft.changed.add(join.id)
        self.draft.put(weaker)
        if self.draft.options.reroute:
            self._reroute(weaker)
        self.record.note(f"restructured: {join.id} no longer tests {_told(difference(join.predicates, predicates))}")
        return weaker

    def _reroute(self, weaker: Join) -> None:
        """Let queries that read other joins read this one, where it has come to have all their rows (T Figure 6.8a).

        What operators read stays: they would become other nodes, with all that is below them.
        """
        draft = self.draft
        for id_ in draft.catalog.joins_subsumed(*weaker.roots, weaker.predicates):
            answers = draft.catalog.reads_of(id_, "query")
            if id_ == weaker.id or not answers or not draft.monotone(id_):
                continue  # what was told of rows that are taken back is in the other join's log
            for name, _ in answers:
                plan = draft.queries[name]
                draft.queries[name] = replace(plan, read=replace(plan.read, root=weaker.id), nodes=())
                draft.catalog.put_read(draft.queries[name])
            draft.touch(id_)
            draft.abandoned[id_] = None
            told = ", ".join(name for name, _ in answers[:5])
            self.record.note(f"rerouted: {told}{', …' * (len(answers) > 5)} now read {weaker.id} instead of {id_}")

    # -- windows -------------------------------------------------------------------------------------------------

    def windowed(self, read: Read, window: PredSet) -> Read:
        """The rows read that are in a window, as a node that keeps them.

        A window on a source takes all of its rows: queries that test different things share it, with the tests below.
        """
        if not window:
            return read
        below = read.required if isinstance(self.draft.nodes[read.root], Source) else TRUE
        on = Read(read.root) if below else read
        node = Window(on, window, on.root)
        present = self.draft.nodes.get(node.id)
        self.draft.touch(node.id, on.root)
        self.draft.put(present if isinstance(present, Window) else node)
        return Read(node.id, below)

    # -- groups and sets -----------------------------------------------------------------------------------------

    def _grouped(
        self, read: Read, values: Callable[[Column], Expression], grouping: Grouping, window: PredSet
    ) -> tuple[Read, Mapping[Column, Expression]]:
        """An aggregate; what the query calls its columns is mapped to what the node calls them."""

        def over_root(expression: Expression) -> Expression:
            return self._expression(map_columns(expression, values))

        def statistic_over_root(statistic: AggregateCall) -> AggregateCall:
            return replace(statistic, arguments=tuple(map(over_root, statistic.arguments)))

        groups = {g: over_root(g) for g in grouping.groups}
        statistics = {s: statistic_over_root(s) for s in grouping.statistics}
        by = slices_of(self.draft, read, groups.values(), statistics.values(), window)
        if by is not None:
            # Groups of slices of time are shared whatever the window is, and a batch moves slices instead of rows.
            slices = self._aggregate(read, {*groups.values(), *by.values()}, statistics.values())
            read = self.windowed(Read(slices.id), of_slices(window, slices, by))
            groups = {asked: over_groups(made, slices.groups) for asked, made in groups.items()}
            statistics = {asked: of_parts(made, column_of(made)) for asked, made in statistics.items()}
        else:
            read = self.windowed(read, window)
        aggregate = self._aggregate(read, groups.values(), statistics.values())
        named: dict[Column, Expression] = {}
        for asked, made in (*groups.items(), *statistics.items()):
            named[Column(column_name(asked), asked.type)] = Column(column_name(made), made.type)
        return Read(aggregate.id), named

    def _distinct(self, read: Read, outputs: tuple[Output, ...]) -> Folded:
        """DISTINCT is grouping by the outputs, without statistics."""
        aggregate = self._aggregate(read, (o.expression for o in outputs), ())
        columns = tuple(replace(o, expression=Column(column_name(o.expression), o.type)) for o in outputs)
        return Folded(Read(aggregate.id), columns)

    def _aggregate(self, read: Read, groups: Iterable[Expression], statistics: Iterable[AggregateCall]) -> Aggregate:
        """The aggregate with these groups, found or made; statistics it does not have are added (T7.1.1)."""
        made = Aggregate(read, tuple(sorted(set(groups), key=text)), frozenset(statistics), read.root)
        present = self.draft.nodes.get(made.id)
        if isinstance(present, Aggregate):
            more = made.statistics - present.statistics
            if more:
                added = ", ".join(sorted(map(text, more)))
                self.record.add(made.id, Rule.STATISTICS, f"now also {added}")
            made = replace(present, statistics=present.statistics | made.statistics)
        self.draft.touch(made.id, read.root)
        self.draft.put(made)
        return made

    def _set_operation(self, query: logical.SetOperation) -> Folded:
        operator = SetOperator(f"{query.operator} all" if query.all else query.operator)
        branches = [self._branch(branch, query) for branch in _flattened(query)]
        kept = 1 if operator in (SetOperator.EXCEPT, SetOperator.EXCEPT_ALL) else 0
        ordered = (*branches[:kept], *sorted(branches[kept:], key=lambda branch: branch.identity))
        node = SetOperation(operator, ordered, tuple((branch.read.root, branch.values) for branch in ordered))
        present = self.draft.nodes.get(node.id)
        self.draft.touch(node.id, *(branch.read.root for branch in ordered))
        self.draft.put(present if isinstance(present, SetOperation) else node)
        named = zip(query.names, query.types, strict=True)
        outputs = tuple(Output(name, Column(f"c{i}", type_)) for i, (name, type_) in enumerate(named, start=1))
        return Folded(Read(node.id), outputs)

    def _branch(self, query: LogicalQuery, around: logical.SetOperation) -> Branch:
        folded = self.query(query)
        read = self.windowed(folded.read, folded.window)
        values = zip((o.expression for o in folded.outputs), around.types, strict=True)
        cast = (v if v.type == t else Call("cast", (v,), t) for v, t in values)
        return Branch(read, tuple(self._expression(value) for value in cast))

    def _expression(self, expression: Expression) -> Expression:
        return canonical_expression(expression) if self.draft.options.canonicalize else expression


def _flattened(query: logical.SetOperation) -> list[LogicalQuery]:
    """Branches with a nested operator of the same kind taken apart: A - B - C has three (T7.2.1)."""
    first, *others = query.branches
    nested = (first, *others) if query.operator == "intersect" else (first,)
    branches: list[LogicalQuery] = []
    for branch in query.branches:
        same = isinstance(branch, logical.SetOperation) and (branch.operator, branch.all, branch.types) == (
            query.operator,
            query.all,
            query.types,
        )
        branches += _flattened(branch) if same and any(branch is n for n in nested) else [branch]  # type: ignore[arg-type]
    return branches


def _home(predicate: ORPred) -> int | None:
    """The one input a selection predicate belongs to; ``None`` for a join predicate."""
    read = predicate_sources(predicate)
    return None if len(read) > 1 else next(iter(read), 0)


def _window_below_joins(block: Block, where: PredSet) -> tuple[PredSet, PredSet]:
    """The part of a block's window that is imposed before inputs are joined, and the rest.

    Windows are imposed last, so that queries that differ in them share their joins. But where no equality finds an
    input's pairs, each of its rows meets all others there ever were, unless the windows come first (PSoup 5.2.2).
    """
    found = frozenset[int]().union(*(predicate_sources(p) for p in where if is_key(p)))
    alone = [frozenset([i]) for i in range(len(block.inputs)) if len(block.inputs) > 1 and i not in found]
    below = [p for p in block.window if predicate_sources(p) in alone]
    return pred_set(below), pred_set(p for p in block.window if p not in below)


def _leaves(draft: Draft, root: str) -> int:
    node = draft.nodes[root]
    return node.leaves if isinstance(node, Join) else 1


def _residual(wants: PredSet, predicates: PredSet) -> str:
    rest = difference(wants, predicates)
    return f"still to be tested: {predicates_sql(rest, SIDE_NAMES)}" if rest else ""


def _told(predicates: PredSet) -> str:
    return predicates_sql(predicates, SIDE_NAMES) if predicates else "as much"
