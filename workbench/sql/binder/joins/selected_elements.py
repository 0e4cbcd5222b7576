"""Functions of a select list that make rows: ``SELECT id, UNNEST(a), UNNEST(b) + 1 FROM t``.

They are joins with the places of arrays, as in FROM, whose columns the select list alone knows. Several go side by side
until the longest ends. Beside groups and OVER they come after these, so what is grouped is a subquery of FROM::

    SELECT g, COUNT(*), UNNEST(ARRAY[1, MAX(k)]) FROM t GROUP BY g
    SELECT g, c, UNNEST(ARRAY[1, m]) FROM (SELECT g, COUNT(*) AS c, MAX(k) AS m FROM t GROUP BY g)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from workbench.sql.algebra.expressions import Expression
from workbench.sql.binder.aggregates.aggregation import is_aggregate
from workbench.sql.binder.joins.elements import add_elements, add_together
from workbench.sql.binder.joins.semijoins import JoinClause
from workbench.sql.binder.order.analytic import has_own_aggregate
from workbench.sql.binder.order.keys import Named, shown_name
from workbench.sql.binder.protocols import QueryContext, outside_subqueries
from workbench.sql.binder.scope import Scope
from workbench.sql.functions.reading import QUERIES

_MAKE_ROWS = (exp.Explode, exp.Inline, exp.ExplodingGenerateSeries)
_CHOOSE = (exp.Case, exp.If, exp.Coalesce)
"""Expressions that databases do not evaluate row by row with such functions in them."""
_LATER = ("distinct", "order", "limit", "offset", "fetch", "with_")
"""Clauses that go by the rows that are made."""


@dataclass
class Exploded:
    """The elements that the functions of a select list give.

    Attributes:
        items: the columns of an item that is one of them.
        hidden: the values of names that stand for them inside expressions.
    """

    items: dict[exp.Expr, list[Named]] = field(default_factory=dict)
    hidden: dict[str, Expression] = field(default_factory=dict)


def add_selected(clause: JoinClause, select: exp.Select, context: QueryContext, scope: Scope) -> Exploded:
    """Join a clause with the elements of the arrays that a select list explodes; it names hidden columns then.

    Args:
        clause: the FROM clause of the SELECT.
        select: the SELECT, without groups and OVER.
        context: the statement.
        scope: the names that the elements may read; those of the elements are not among them.

    Raises:
        SqlError: an item has more or fewer names than columns, and as ``add_elements``.
        UnsupportedError: a function stands inside another, or where databases have none.
    """
    functions = list(_element_functions(select.expressions))
    if not functions:
        return Exploded()
    source = context.source
    item = next((item for item in select.expressions if functions[0] in (item, item.this)), None)
    alone = len(functions) == 1 and (item is functions[0] or isinstance(item, (exp.Alias, exp.Aliases)))
    if alone and item is not None:
        names, values = add_elements(clause, functions[0], context, scope)
        given = names
        if item is not functions[0]:
            given = [name.name for name in item.expressions] if isinstance(item, exp.Aliases) else [item.alias]
        if len(given) != len(names):
            hint = f"write AS ({', '.join(names)})"
            raise source.error(f"{len(names)} columns have {len(given)} names", item, hint)
        return Exploded({item: list(zip(given, values, strict=True))})
    for function in functions:
        chosen = function.find_ancestor(*_CHOOSE, exp.Select)
        nested = next(_element_functions(function.iter_expressions()), None)
        plain = type(function) is exp.Explode or isinstance(function, exp.ExplodingGenerateSeries)
        if source.rules.explodes or nested is not None or isinstance(chosen, _CHOOSE) or not plain:
            where = "inside this expression, or beside another one,"
            source.refuse(f"EXPLODE or UNNEST {where}", function, "let a subquery in FROM select it")
    different = list(dict.fromkeys(functions))
    arrays = [f if isinstance(f, exp.ExplodingGenerateSeries) else f.this for f in different]
    for node in list(select.expressions):
        if next(_element_functions([node]), None) is not None and not isinstance(node, exp.Alias):
            node.replace(exp.alias_(node.copy(), shown_name(node, source), quoted=True))
    _, values = add_together(clause, arrays, context, scope)
    taken = {name for name, _ in scope.columns} | {item.alias.lower() for item in select.expressions}
    hidden = {}
    for number, (function, value) in enumerate(zip(different, values, strict=True), start=1):
        hidden[name := _free(f"element_{number}", taken)] = value
        for same in [node for node in _element_functions(select.expressions) if node == function]:
            same.replace(exp.column(name, quoted=True))
    return Exploded({}, hidden)


def rows_after_groups(select: exp.Select, context: QueryContext) -> exp.Select | None:
    """A SELECT over a subquery with its groups, or values of OVER, if its select list also makes rows."""
    items, source = select.expressions, context.source
    if next(_element_functions(items), None) is None:
        return None
    later = [part for key in ("having", "order", "qualify") if (part := select.args.get(key)) is not None]
    grouped = select.args.get("group") is not None or any(
        has_own_aggregate(e, context.schema) for e in (*items, *later)
    )
    if not grouped and not any(isinstance(n, exp.Window) for e in (*items, *later) for n in outside_subqueries(e)):
        return None
    if not _is_separate(select):
        function = next(_element_functions(items))
        source.refuse("EXPLODE or UNNEST in GROUP BY, or beside *,", function, "let a subquery in FROM select it")
    parts = _Parts(context, {item.alias.lower() for item in items})
    inner, places = [], dict[int, int]()
    shown: list[exp.Expr] = []
    for place, item in enumerate(items, start=1):
        if next(_element_functions([item]), None) is None:
            name = item.alias or parts.free()
            inner.append(item.copy() if item.alias else exp.alias_(item.copy(), name, quoted=True))
            places[place] = len(inner)
            shown.append(exp.alias_(exp.column(name, quoted=True), shown_name(item, source), quoted=True))
        else:
            named = isinstance(item, (exp.Alias, exp.Aliases, *_MAKE_ROWS))
            alone = item.copy() if named else exp.alias_(item.copy(), shown_name(item, source), quoted=True)
            shown.append(parts.outside(alone))
    outer = exp.Select(expressions=shown)
    known = {item.alias.lower() for item in items if item.alias}
    for key in _LATER:
        if (clause := select.args.get(key)) is not None:
            outer.set(key, clause.copy())
    for key in outer.args["order"].expressions if outer.args.get("order") is not None else ():
        named = isinstance(key.this, exp.Column) and not key.this.table and key.this.name.lower() in known
        if not named and not isinstance(key.this, (exp.Literal, exp.Var)):
            key.set("this", parts.outside(key.this))
    grouping = select.copy()
    for key in _LATER:
        grouping.set(key, None)
    for node in grouping.args["group"].expressions if grouping.args.get("group") is not None else ():
        if isinstance(node, exp.Literal) and node.name.isdigit() and int(node.name) in places:
            node.replace(exp.Literal.number(places[int(node.name)]))
    grouping.set("expressions", [*inner, *parts.items] or [exp.alias_(exp.Literal.number(1), parts.free())])
    rows = exp.Subquery(this=grouping, alias=exp.TableAlias(this=exp.to_identifier("groups")))
    outer.set("from_", exp.From(this=rows))
    return outer


class _Parts:
    """The parts of expressions that are computed before rows are made, each once, and the names that they have."""

    def __init__(self, context: QueryContext, taken: set[str]) -> None:
        self._context, self._taken = context, taken
        self._names: dict[exp.Expr, str] = {}

    @property
    def items(self) -> list[exp.Expr]:
        """The parts as items of a select list."""
        return [exp.alias_(part, name, quoted=True) for part, name in self._names.items()]

    def free(self) -> str:
        """A name that is not taken."""
        return _free("part", self._taken)

    def outside(self, node: exp.Expr) -> exp.Expr:
        """An expression over the names of the largest parts of it that make no rows, and read any."""
        if next(_element_functions([node]), None) is None and not isinstance(node.parent, exp.Case):
            return self._column(node) if self._reads_rows(node) else node
        for key, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                node.set(key, self.outside(value))
            elif isinstance(value, list):
                node.set(key, [self.outside(each) if isinstance(each, exp.Expr) else each for each in value])
        return node

    def _column(self, node: exp.Expr) -> exp.Expr:
        if node not in self._names:
            self._names[node.copy()] = self.free()
        return exp.column(self._names[node], quoted=True)

    def _reads_rows(self, node: exp.Expr) -> bool:
        read = (exp.Column, exp.Window, *QUERIES)
        return any(isinstance(n, read) or is_aggregate(n, self._context.schema) for n in node.walk())


def _is_separate(select: exp.Select) -> bool:
    """Whether GROUP BY names no item that makes rows, and no item is a star."""
    group = select.args.get("group")
    if any(item.is_star for item in select.expressions) or (group is not None and group.args.get("all")):
        return False
    made = [next(_element_functions([item]), None) is not None for item in select.expressions]
    names = {item.alias.lower() for item, makes in zip(select.expressions, made, strict=True) if makes}
    for node in group.find_all(exp.Column, exp.Literal, *_MAKE_ROWS, exp.GenerateSeries) if group is not None else ():
        if not isinstance(node, (exp.Column, exp.Literal)) or (
            isinstance(node, exp.Column) and node.name.lower() in names
        ):
            return False
        place = int(node.name) if isinstance(node, exp.Literal) and node.name.isdigit() else 0
        if 0 < place <= len(made) and made[place - 1]:
            return False
    return True


def _element_functions(nodes: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """The functions that make rows in some parts of a SELECT; those of its subqueries are their own."""
    return (node for part in nodes for node in outside_subqueries(part) if isinstance(node, _MAKE_ROWS))


def _free(name: str, taken: set[str]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free
