"""Aliases of a select list where they are used: in the list itself, behind them, and in other clauses.

Spark and DuckDB let an item of the select list use the aliases before it, ``SELECT a + b AS s, s * 2 AS d``, and DuckDB
WHERE, too. A column of that name comes first there; ``preferred_in_order`` and ``preferred_in_having`` say what does
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Expression
from workbench.sql.binder.aggregates.aggregation import is_aggregate
from workbench.sql.binder.protocols import outside_subqueries
from workbench.sql.binder.scope import Scope
from workbench.sql.schema import Schema


class KnownAliases(Mapping[str, Expression]):
    """The aliases of the items of a select list that are bound so far.

    Args:
        last_counts: whether an alias that stands twice means the last item; else it is refused where it is used.
    """

    def __init__(self, last_counts: bool) -> None:
        self._last_counts = last_counts
        self._known: dict[str, Expression] = {}
        self._twice: set[str] = set()

    def add(self, name: str, meaning: Expression) -> None:
        """Take the alias of an item."""
        if name.lower() in self._known and not self._last_counts:
            self._twice.add(name.lower())
        self._known[name.lower()] = meaning

    def __getitem__(self, name: str) -> Expression:
        if name in self._twice:
            raise TypeClash(f"{name} stands twice in the select list", None, "give one of them another name")
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class SelectAliases(Mapping[str, Expression]):
    """The aliases of a select list for GROUP BY and WHERE, which are bound when they are used: aggregates are not.

    Args:
        items: the select list.
        scope: what columns mean.
        bind: binds an item, with the names that it sees.
    """

    def __init__(self, items: Sequence[exp.Expr], scope: Scope, bind: Callable[[exp.Expr, Scope], Expression]) -> None:
        self._items, self._scope, self._bind = items, scope, bind
        self._places: dict[str, list[int]] = {}
        for place, item in enumerate(items):
            if isinstance(item, exp.Alias):
                self._places.setdefault(item.alias.lower(), []).append(place)
        self._first = {name for name, _ in scope.columns} | {item.alias.lower() for item in scope.items}
        self._bound: dict[int, Expression] = {}

    def __getitem__(self, name: str) -> Expression:
        wanted = self._places[name][-1]
        # In order, so that a long chain of aliases is not bound recursively.
        for place in sorted(self._parts(wanted)):
            if place not in self._bound:
                known = {n: self._bound[p] for n, p in self._used(place).items()}
                self._bound[place] = self._bind(self._items[place].unalias(), replace(self._scope, aliases=known))
        return self._bound[wanted]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def has_aggregate(self, place: int, schema: Schema) -> bool:
        """Whether an item, or one whose alias it uses, has an aggregate."""
        return any(is_aggregate(node, schema) for part in self._parts(place) for node in self._items[part].walk())

    def _parts(self, place: int) -> set[int]:
        """The places of an item and of all items that it is made of."""
        found, waiting = {place}, [place]
        while waiting:
            used = set(self._used(waiting.pop()).values()) - found
            found |= used
            waiting += used
        return found

    def _used(self, place: int) -> dict[str, int]:
        """The aliases that an item uses, with the places of their items."""
        if not self._scope.source.rules.alias_in_select_list:
            return {}
        columns = (node for node in outside_subqueries(self._items[place]) if isinstance(node, exp.Column))
        names = {column.parts[0].name.lower() for column in columns} - self._first
        before = {name: [p for p in self._places.get(name, ()) if p < place] for name in names}
        return {name: places[-1] for name, places in before.items() if places}


def item_with_subquery(node: exp.Expr, items: Sequence[exp.Expr], scope: Scope) -> exp.Expr | None:
    """The item that a group names by its alias, where that has a subquery: bound by its text it is one input.

    Args:
        node: a group.
        items: the select list.
        scope: of FROM; the name of a column means it.
    """
    if not isinstance(node, exp.Column) or node.table or scope.has(node):
        return None
    item = next((item for item in reversed(items) if item.alias.lower() == node.name.lower()), None)
    return item.this if isinstance(item, exp.Alias) and item.find(exp.Query) else None
