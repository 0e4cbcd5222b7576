"""Aggregates in a subquery of nothing but columns of an outer query: in SQL they aggregate the rows of that query.

The outer query is written as one that selects from its groups, in which such an aggregate is a column like any other::

    SELECT k, (SELECT MIN(u.x) FROM u WHERE u.x > MAX(t.v)) FROM t GROUP BY k
    SELECT k, (SELECT MIN(u.x) FROM u WHERE u.x > g.value_1) FROM (SELECT k, MAX(t.v) AS value_1 FROM t GROUP BY k) AS g
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

from sqlglot import exp

from workbench.errors import WorkbenchError
from workbench.sql.binder.aggregates.aggregation import is_aggregate
from workbench.sql.binder.order.keys import shown_name
from workbench.sql.binder.protocols import AggregateOfOuter, QueryContext
from workbench.sql.functions.reading import QUERIES
from workbench.sql.logical import LogicalQuery

_NUMBER = "aggregate"
"""What marks the aggregates of a tree, also in copies of it."""
_GROUPS = "groups of the query"
_OF_ROWS = ("from_", "joins", "laterals", "where", "group")
"""Clauses that come before groups are there."""
_READ_ROWS = (exp.In, exp.Exists, exp.Any, exp.All, exp.Array, exp.SetOperation, exp.From, exp.Join, exp.Lateral)
"""What has a subquery that is no value."""
_OF_GROUPS = ("order", "qualify", "windows")


def select_of_groups(select: exp.Select, found: AggregateOfOuter, context: QueryContext,
                bind: Callable[[exp.Select], LogicalQuery]) -> exp.Select:  # fmt: skip
    """A SELECT from the groups of a SELECT whose subqueries have aggregates of its rows.

    Args:
        select: the SELECT.
        found: the first of them.
        context: the statement.
        bind: binds a SELECT, and says which aggregates of it are there.

    Raises:
        UnsupportedError: it stands where groups are not there yet, or the groups are not expressions of GROUP BY.
        SqlError: it stands inside an aggregate of the same SELECT.
    """
    for place, node in enumerate(node for node in select.walk() if is_aggregate(node, context.schema)):
        node.meta[_NUMBER] = place
    marked: set[int] = set()
    more: AggregateOfOuter | None = found
    while more is not None:
        number = more.node.meta.get(_NUMBER)
        if number is None or number in marked:
            _refuse(found, context)
        marked.add(number)
        more = _next(select, marked, bind)
    _refuse_in_aggregates(select, marked, context)
    return _Groups(select, marked, found, context).select()


def _refuse(found: AggregateOfOuter, context: QueryContext) -> NoReturn:
    """Refuse an aggregate of the outer query."""
    what = "an aggregate of nothing but columns of the outer query"
    context.source.refuse(what, found.node, "aggregate there, or let a subquery in FROM select what is aggregated")


def _refuse_in_aggregates(select: exp.Select, marked: set[int], context: QueryContext) -> None:
    """Refuse an aggregate of a query's rows in a subquery in an aggregate of the same query: none has its value yet."""
    for node in [node for node in select.walk() if node.meta.get(_NUMBER) in marked]:
        around = node.parent
        while around is not None and around is not select:
            if is_aggregate(around, context.schema) and around.find_ancestor(exp.Select) is select:
                what = "an aggregate cannot stand inside another, also in a subquery"
                raise context.source.error(what, node, "aggregate a subquery in FROM")
            around = around.parent


def _next(select: exp.Select, marked: set[int], bind: Callable[[exp.Select], LogicalQuery]) -> AggregateOfOuter | None:
    """The next aggregate of the outer query, where those that are known are NULL."""
    tried = select.copy()
    for node in [node for node in tried.walk() if node.meta.get(_NUMBER) in marked]:
        _whole(node).replace(exp.Null())
    try:
        bind(tried)
    except AggregateOfOuter as more:
        if not more.level:
            return more
    except WorkbenchError:
        return None  # what is wrong is told of the SELECT as it is
    return None


def _whole(node: exp.Expr) -> exp.Expr:
    """An aggregate with FILTER, if it has it."""
    while isinstance(node.parent, (exp.Filter, exp.WithinGroup)) and node.arg_key == "this":
        node = node.parent
    return node


class _Groups:
    """The groups of a SELECT as a subquery of FROM, and the SELECT over them."""

    def __init__(self, select: exp.Select, marked: set[int], found: AggregateOfOuter, context: QueryContext) -> None:
        self._select, self._marked, self._found, self._context = select, marked, found, context
        self._names: dict[exp.Expr, str] = {}
        self._tables = {table.alias_or_name.lower() for table in self._inputs()}

    def _inputs(self) -> Iterator[exp.Expr]:
        args = self._select.args
        yield from (item.this for item in (args.get("from_"), *(args.get("joins") or ())) if item is not None)

    def select(self) -> exp.Select:
        """The SELECT over its groups."""
        select, group = self._select, self._select.args.get("group")
        self._check(group)
        for node in group.expressions if group is not None else ():
            self._name(self._meant(node), node.name if isinstance(node, exp.Column) else "")
        groups = list(self._names.items())
        outer = exp.Select(distinct=_copied(select, "distinct"), with_=_copied(select, "with_"))
        for key in ("limit", "offset"):
            outer.set(key, _copied(select, key))
        items = [
            _named(self._over(item.unalias().copy()), item.alias or shown_name(item, self._context.source))
            for item in select.expressions
        ]
        outer.set("expressions", items)
        named = {item.alias.lower() for item in select.expressions if item.alias}
        for key in _OF_GROUPS:
            clause = _copied(select, key)
            if isinstance(clause, exp.Order):
                for part in clause.expressions:
                    is_name = isinstance(part.this, exp.Column) and part.this.name.lower() in named
                    if not is_name and not isinstance(part.this, exp.Literal):
                        part.set("this", self._over(part.this))
                outer.set(key, clause)
            elif clause is not None:
                outer.set(
                    key, [self._over(part) for part in clause] if isinstance(clause, list) else self._over(clause)
                )
        if (having := select.args.get("having")) is not None:
            outer.set("where", exp.Where(this=self._over(having.this.copy())))
        inner = exp.Select(**{key: _copied(select, key) for key in _OF_ROWS})
        if group is not None:
            inner.set("group", exp.Group(expressions=[node.copy() for node, _ in groups]))
        inner.set("expressions", [_named(node.copy(), name) for node, name in self._names.items()])
        alias = exp.TableAlias(this=exp.to_identifier(_GROUPS, quoted=True))
        outer.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))
        return outer

    def _check(self, group: exp.Expr | None) -> None:
        """Refuse groups of other forms, and an aggregate in a clause before GROUP BY."""
        at: exp.Expr | None = self._found.node
        while at is not None and at.parent is not self._select:
            at = at.parent
        early = at is None or at.arg_key in _OF_ROWS
        forms = group is not None and any(value for key, value in group.args.items() if key != "expressions")
        if early or forms or any(item.is_star for item in self._select.expressions):
            _refuse(self._found, self._context)

    def _meant(self, node: exp.Expr) -> exp.Expr:
        """The expression of a group, which may be a position."""
        items = self._select.expressions
        if isinstance(node, exp.Literal) and node.name.isdigit() and 0 < int(node.name) <= len(items):
            return items[int(node.name) - 1].unalias()
        aliased = {item.alias.lower() for item in items if isinstance(item, exp.Alias) and item.this.name != item.alias}
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in aliased:
            _refuse(self._found, self._context)
        return node

    def _name(self, node: exp.Expr, wanted: str = "") -> exp.Column:
        """The column of the groups that has a group or an aggregate."""
        if node not in self._names:
            taken = set(self._names.values())
            name = wanted.lower() if wanted and wanted.lower() not in taken else f"value_{len(taken) + 1}"
            self._names[node.copy()] = name
        return exp.column(self._names[node], table=_GROUPS, quoted=True)

    def _over(self, node: exp.Expr, hidden: frozenset[str] | None = None) -> exp.Expr:
        """An expression over the groups; ``hidden``: the tables of the subqueries that it stands in, if in any."""
        if hidden is None:
            group = next((group for group in self._names if _same(node, group)), None)
            own = is_aggregate(node.this if isinstance(node, exp.Filter) else node, self._context.schema)
            if group is not None or (own and not _is_of_frame(node)):
                return self._name(node if group is None else group)
        elif isinstance(node, exp.Column) and node.table and node.table.lower() in self._tables - hidden:
            group = next((group for group in self._names if _same(node, group)), None)
            return node if group is None else self._name(group)
        function = node
        while isinstance(function, (exp.Filter, exp.WithinGroup)):
            function = function.this
        if hidden is not None and function.meta.get(_NUMBER) in self._marked:
            return self._name(node)
        if isinstance(node, QUERIES):
            hidden = (hidden or frozenset()) | _tables(node)
        for key, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                node.set(key, self._over(value, hidden))
            elif isinstance(value, list):
                node.set(key, [self._over(part, hidden) if isinstance(part, exp.Expr) else part for part in value])
        return _value_of(node)


def _named(node: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True))


def _value_of(node: exp.Expr) -> exp.Expr:
    """The value of a subquery that is one without FROM, or the node itself."""
    rows = node.this if isinstance(node, exp.Subquery) else None
    if not isinstance(rows, exp.Select) or isinstance(node.parent, _READ_ROWS):
        return node
    plain = {key for key, value in rows.args.items() if value} == {"expressions"}
    if not plain or len(rows.expressions) != 1 or rows.expressions[0].is_star:
        return node
    return exp.Paren(this=rows.expressions[0].unalias())


def _copied(select: exp.Select, key: str) -> exp.Expr | list[exp.Expr] | None:
    value = select.args.get(key)
    return [part.copy() for part in value] if isinstance(value, list) else value.copy() if value is not None else None


def _same(node: exp.Expr, group: exp.Expr) -> bool:
    """Whether an expression is a group; a column may be called with its table or without."""
    if not isinstance(node, exp.Column) or not isinstance(group, exp.Column):
        return node == group
    tables = {table.lower() for table in (node.table, group.table) if table}
    return node.name.lower() == group.name.lower() and len(tables) < 2


def _tables(query: exp.Expr) -> frozenset[str]:
    return frozenset(table.alias_or_name.lower() for table in query.find_all(exp.Table, exp.Subquery))


def _is_of_frame(node: exp.Expr) -> bool:
    """Whether an aggregate has an OVER."""
    return isinstance(node.parent, exp.Window) and node.arg_key == "this"
