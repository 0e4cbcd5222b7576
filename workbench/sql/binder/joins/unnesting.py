"""Unnesting: correlated subqueries, made into queries that read no outer query.

A subquery that is *correlated* has one answer for each outer row. It reads no more of that row than some columns,
so it is answered once for each of their distinct values, the *domain*, by joining the domain and carrying its columns
up to the outputs (T. Neumann, A. Kemper, *Unnesting Arbitrary Queries*, BTW 2015). Then it is an input like others,
joined to the outer rows by equality with these columns, NULL being equal to NULL.

Where a subquery says only that expressions of its own equal others of the outer row, these expressions are the
columns, and no domain is needed: ``(SELECT AVG(b) FROM s WHERE s.k = t.k)`` is the average for each ``s.k``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from workbench.sql.algebra.analytic import Over
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import (
    Column,
    Constant,
    Expression,
    column_name,
    columns,
    map_columns,
)
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.nearest import nearest_of
from workbench.sql.binder.joins.resolving import resolved
from workbench.sql.binder.joins.trees import COMPUTED, Leaf, OuterJoin, Rows, mapped, with_results_over
from workbench.sql.binder.scope import Scope
from workbench.sql.functions.calls import call, fold_calls
from workbench.sql.logical import (
    Analyzed,
    Block,
    Grouping,
    Input,
    LogicalQuery,
    Ordered,
    Output,
    RecursionRule,
    SetQuery,
    StreamInput,
    as_query,
    output_columns,
    parts_of,
    rebuilt,
    unordered,
)
from workbench.sql.predicates.cnf import (
    TRUE,
    ORPred,
    PredSet,
    conjunction,
    equated,
    pred_set,
)
from workbench.sql.predicates.normal_form import normal_form, predicates_expression
from workbench.sql.predicates.null_safe import equal

ColumnChange = Callable[[Column], Expression]


def outward(expression: Expression) -> Expression:
    """An expression of a query as its subqueries see it."""
    return map_columns(expression, Column.outward)


@dataclass(frozen=True)
class OuterNames:
    """The names of a query as its subqueries see them."""

    scope: Scope

    def has(self, column: exp.Column) -> bool:
        """Whether a name means something there."""
        return self.scope.has(column)

    def resolve(self, column: exp.Column) -> Expression:
        """The meaning of a name, as the subquery sees it.

        Raises:
            UnsupportedError: it is an alias of an aggregate or a value of OVER.
        """
        meaning = self.scope.resolve(column)
        if any(part.source < 0 for part in columns(meaning)):
            source = self.scope.source
            source.refuse(f"the alias {column.name} in a subquery", column, "let a subquery in FROM select it")
        return outward(meaning)

    def level(self, column: exp.Column) -> int:
        """How many queries around it a name belongs to."""
        return self.scope.level(column)

    def columns_of(self, alias: str) -> list[tuple[str, Expression]] | None:
        """The columns of the FROM item of that name."""
        found = self.scope.columns_of(alias)
        return None if found is None else [(name, outward(value)) for name, value in found]


def inward(expression: Expression) -> Expression:
    """The inverse: an expression of a subquery over the outer query, in that query."""
    return map_columns(expression, Column.inward)


@cached(20_000)
def free_columns(query: Input) -> frozenset[Column]:
    """The columns of outer queries that a query reads, anywhere in it."""
    return _own_free(query).union(*map(free_columns, query.children()))


def analyzes_totals(query: Input) -> bool:
    """Whether it has OVER above the one group of an aggregate of rows that depend on the outer row."""
    return any(
        part.grouping is not None and not part.grouping.groups and bool(part.analytics) and bool(free_columns(part))
        for part in parts_of(query)
        if isinstance(part, Block)
    )


def _own_free(part: Input) -> frozenset[Column]:
    """The columns of outer queries that a part reads itself."""
    return frozenset(c for e in part.expressions() for c in columns(e) if c.level)


def with_free(query: Input, change: ColumnChange) -> Input:
    """A query whose columns of outer queries are replaced, each by what ``change`` gives for it."""

    def with_own(part: Input) -> Input:
        read = {c: change(c) for c in _own_free(part)}
        if read and isinstance(part, SetQuery):
            return replace(part, rules=tuple(rule.map(lambda e: _meant(e, read)) for rule in part.rules))
        return _with_meaning(part, read) if read and isinstance(part, Block) else part

    return rebuilt(query, with_own)


def _with_meaning(block: Block, read: dict[Column, Expression]) -> Block:
    """A block with columns of outer queries replaced, below and above its groups."""
    return with_results_over(mapped(block, read), lambda column: read.get(column, column))


def _meant(expression: Expression, meaning: Mapping[Column, Expression]) -> Expression:
    """An expression in which some columns are replaced."""
    return map_columns(expression, lambda column: meaning.get(column, column))


def outward_query(query: LogicalQuery) -> LogicalQuery:
    """A query that reads outer queries, as it is seen from the query around it."""
    if not free_columns(query):
        return query
    seen = with_free(query, Column.outward)
    assert not isinstance(seen, StreamInput)
    return seen


def inward_query(query: Input) -> Input:
    """A subquery as an input of the outer query, of which it reads nothing."""
    return with_free(query, Column.inward)


def _free_names(query: Input, count: int) -> tuple[str, ...]:
    """Names d1, d2, … for columns that a query gets; with more letters, if it has such columns."""
    taken = {
        stored_name(name)
        for part in parts_of(query)
        if not isinstance(part, StreamInput)
        for name, _ in output_columns(part)
    }
    prefix = "d"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in taken):
        prefix += "d"
    return tuple(f"{prefix}{i}" for i in range(1, count + 1))


# ---- correlation by equality -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Correlated:
    """A subquery with the columns ``names`` by which it belongs to an outer row.

    Attributes:
        query: its own outputs, and these columns.
        names: what they are called.
        outer: for each what it equals in the outer query, a column of which is as that query sees it.
        null_safe: whether NULL is equal to NULL there.
    """

    query: Input
    names: tuple[str, ...]
    outer: tuple[Expression, ...]
    null_safe: bool

    def on(self, position: int) -> PredSet:
        """The condition by which it belongs to an outer row, as the input at a position."""
        sides = ((Column(n, o.type, position), o) for n, o in zip(self.names, self.outer, strict=True))
        return conjunction(*(equal(a, b) if self.null_safe else normal_form(call("=", a, b)) for a, b in sides))


def by_equalities(block: Block) -> Correlated | None:
    """A subquery that reads the outer query only where it compares it with expressions of its own for equality."""
    keys: list[tuple[Expression, Expression]] = []
    rest: list[ORPred] = []
    for predicate in block.where:
        key = equated(predicate, lambda column: column.level == 0, lambda column: column.level == 1)
        if key is not None:
            keys.append(key)
        else:
            rest.append(predicate)
    inner = replace(block, where=pred_set(rest))
    if any(c.level == 1 for c in free_columns(inner)):
        return None
    names = _free_names(block, len(keys))
    query = _with_keys(inner, names, [own for own, _ in keys])
    return Correlated(inward_query(query), names, tuple(inward(outer) for _, outer in keys), False)


def _with_keys(block: Block, names: Sequence[str], keys: Sequence[Expression]) -> Block:
    """The block for each value of some expressions over its inputs, which it also gives."""
    if block.grouping is None:
        more = tuple(Output(name, key) for name, key in zip(names, keys, strict=True))
        return replace(block, outputs=(*block.outputs, *more))
    groups = tuple(dict.fromkeys([*block.grouping.groups, *keys]))
    more = tuple(Output(n, Column(column_name(k), k.type)) for n, k in zip(names, keys, strict=True))
    return replace(block, grouping=Grouping(groups, block.grouping.statistics), outputs=(*block.outputs, *more))


# ---- any correlation -------------------------------------------------------------------------------------------------


_KEPT = f"{COMPUTED}kept"
"""The name of the value of HAVING where it is tested later."""
Domain = Callable[[Sequence[Column], Sequence[str]], Input]
"""Gives the distinct values of columns, under these names."""


def by_domain(query: Input, domain_of: Domain, for_nothing: bool = True) -> Correlated:
    """Any subquery, for each value of the columns that it reads of the outer query.

    Args:
        query: the subquery.
        domain_of: gives the distinct values of columns of the outer query.
        for_nothing: whether an aggregate of all rows has a row also for values for which there are none.
    """
    read = sorted((c for c in free_columns(query) if c.level == 1), key=lambda c: (c.source, c.name))
    if not read:  # it reads queries further around alone, so it has one answer for all rows of this one
        return Correlated(inward_query(query), (), (), True)
    outer = [column.inward() for column in read]
    names = _free_names(query, len(read))
    # The domain may itself read outer queries, as an earlier subquery does: the subquery sees them one level further.
    domain = with_free(domain_of(outer, names), Column.outward)
    return Correlated(inward_query(_ForEach(read, names, domain).of(query, for_nothing)), names, tuple(outer), True)


@dataclass
class _ForEach:
    """Queries for each row of a domain, whose columns they give as well.

    Attributes:
        read: the columns of the outer query that stand for the domain's.
        names: what the domain's are called.
        done: what was made of queries; one that stands in several places is made anew once.
    """

    read: Sequence[Column]
    names: Sequence[str]
    domain: Input
    done: dict[Input, Input] = field(default_factory=dict)

    def of(self, query: Input, for_nothing: bool = True) -> Input:
        """The query; of an aggregate of all rows a row also for values for which there are none, or without."""
        if not for_nothing and isinstance(query, Block):
            return self._block(query, for_nothing)
        if query not in self.done:
            self.done[query] = self._with_domain(query)
        return self.done[query]

    def _with_domain(self, query: Input) -> Input:
        match query:
            case SetQuery():
                types = (*query.types, *(c.type for c in self.read))
                made = query.map(self.of) if not query.rules else self._recursion(query)
                return replace(made, names=(*query.names, *self.names), types=types)
            case Block():
                return self._block(query)
            case StreamInput():
                raise ValueError("a stream reads nothing of an outer query")
            case Ordered() if query.keeps_all:
                return self.of(unordered(query))
            case Ordered():
                return self._first_rows(query)

    def _recursion(self, query: SetQuery) -> SetQuery:
        """A recursive query whose steps pass the domain's row on, which other branches are joined by."""
        first, *others = query.branches
        apart = [branch for branch in others if not free_columns(branch).isdisjoint(self.read)]
        branches = [first, *others]
        widths = [len(output_columns(branch)) for branch in branches]

        def of_branch(branch: int, source: int) -> list[Column]:
            places = range(widths[branch] + 1, widths[branch] + 1 + len(self.read))
            return [Column(f"c{n}", column.type, source) for n, column in zip(places, self.read, strict=True)]

        def of_each(rule: RecursionRule) -> RecursionRule:
            own, *more = (
                of_branch(branch, source)
                for source, branch in enumerate(rule.inputs)
                if not branch or branches[branch] in apart
            )
            meaning: dict[Column, Expression] = dict(zip(self.read, own, strict=True))
            known = rule.map(lambda expression: _meant(expression, meaning))
            alike = (equal(a, b) for other in more for a, b in zip(own, other, strict=True))
            return replace(known, where=conjunction(known.where, *alike), values=(*known.values, *own))

        changed = tuple(as_query(self.of(b)) if b is first or b in apart else b for b in branches)
        return replace(query, branches=changed, rules=tuple(map(of_each, query.rules)))

    def _first_rows(self, query: Ordered) -> Ordered:
        """The first rows for each row of the domain: they are counted of each as DISTINCT ON counts them."""
        # Where FROM reads the outer row as well, the rows differ from row to row of the domain by more than their time.
        of_time = all(free_columns(item).isdisjoint(self.read) for item in query.query.children())
        nearest = nearest_of(query, self.read, self.names, self.domain) if of_time else None
        each = self if nearest is None else _ForEach(self.read, self.names, nearest.domain)
        rows = as_query(each.of(query.query if nearest is None else nearest.block))
        if isinstance(rows, Block):
            # What is shown comes first, then the columns of the domain, then what is only ordered by.
            own, more = rows.outputs[: -len(self.names)], rows.outputs[-len(self.names) :]
            rows = replace(rows, outputs=(*own[: query.columns], *more, *own[query.columns :]))
        on = (*query.on, *self._columns())
        return replace(query, query=rows, columns=query.columns + len(self.names), on=on)

    def _block(self, block: Block, for_nothing: bool = True) -> Block:
        inputs: list[Input] = []
        values: list[Column] | None = None
        conditions: list[PredSet] = []
        for position, item in enumerate(block.inputs):
            if free_columns(item).isdisjoint(self.read):
                inputs.append(item)
                continue
            inputs.append(self.of(item))
            own = self._columns(position)
            if values is None:
                values = own
            else:
                conditions += [equal(a, b) for a, b in zip(values, own, strict=True)]
        if values is None:
            values = self._columns(len(inputs))
            inputs.append(self.domain)
        meaning: dict[Column, Expression] = dict(zip(self.read, values, strict=True))
        each = mapped(block, meaning)
        if block.grouping is not None:
            above = {r: Column(column_name(v), v.type) for r, v in meaning.items()}
            each = with_results_over(each, lambda column: above.get(column, column))
        each = replace(each, inputs=tuple(inputs), where=conjunction(each.where, *conditions))
        groupless = for_nothing and block.grouping is not None and not block.grouping.groups
        if groupless and each.having:
            each = replace(
                each, outputs=(*each.outputs, Output(_KEPT, predicates_expression(each.having))), having=TRUE
            )
        each = _analyzed_for_each(_with_keys(each, self.names, values), values)
        return self._with_rows_for_nothing(each, block) if groupless else each

    def _with_rows_for_nothing(self, each: Block, block: Block) -> Block:
        """One group for each row of the domain, also where nothing is grouped, of which HAVING is tested then."""
        of_domain, of_groups = self._columns(0), self._columns(1)
        on = Rows((), conjunction(*map(equal, of_domain, of_groups)))
        found = Column(f"{COMPUTED}found", BOOLEAN, 1)
        sides = Rows((Leaf(0, self.domain),)), Rows((Leaf(1, each),))
        join = OuterJoin(sides, on, frozenset([0]), {found: Constant(True, BOOLEAN)})
        meaning: dict[Column, Expression] = dict(zip(self.read, of_domain, strict=True))

        def value(name: str, expression: Expression) -> Expression:
            nothing = map_columns(over_nothing(expression, block), lambda column: meaning.get(column, column))
            return call("case", found, Column(stored_name(name), expression.type, 1), nothing)

        outputs = [Output(o.name, value(o.name, o.expression)) for o in block.outputs]
        outputs += [Output(name, column) for name, column in zip(self.names, of_domain, strict=True)]
        having = normal_form(value(_KEPT, predicates_expression(block.having))) if block.having else TRUE
        return resolved([join], Block((), having, tuple(outputs)))

    def _columns(self, position: int = 0) -> list[Column]:
        """The domain's columns, as an input gives them."""
        return [Column(name, column.type, position) for name, column in zip(self.names, self.read, strict=True)]


def _analyzed_for_each(block: Block, keys: Sequence[Expression]) -> Block:
    """A block whose analytic functions see the rows, or groups, of each value of some keys."""

    def of_each(one: Analyzed) -> Analyzed:
        over = Over.of((*one.call.over.partition, *own), one.call.over.order)
        return replace(one, call=one.call.over_rows(over))

    own = keys if block.grouping is None else [Column(column_name(key), key.type) for key in keys]
    return replace(block, analytics=tuple(map(of_each, block.analytics)))


def over_nothing(expression: Expression, block: Block) -> Expression:
    """The value over no rows of an expression over a block's statistics: counts are 0 and all others NULL."""
    assert block.grouping is not None
    counts = {column_name(statistic) for statistic in block.grouping.statistics if statistic.function == "count"}

    def of(column: Column) -> Expression:
        return column if column.level else Constant(0 if column.name in counts else None, column.type)

    return fold_calls(map_columns(expression, of))
