"""What column names mean inside one SELECT: its FROM items, in order, and the columns each offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.expressions import Expression
from workbench.sql.syntax.source_text import SourceText


@dataclass
class Item:
    """One FROM item: its alias and its columns (names in lower case) as expressions over the block's inputs."""

    alias: str
    columns: Mapping[str, Expression]
    merged: set[str] = field(default_factory=set)
    """Columns that USING made one with those of an earlier item: bare names and ``*`` skip them."""
    inputs: range = range(0)
    """The inputs of the block that it stands for."""
    named: bool = False
    """Whether it is a stream, view or query by name, and no subquery."""


@dataclass
class Scope:
    """The FROM items visible to a SELECT, and aliases of its select list where these may be used."""

    source: SourceText
    items: list[Item] = field(default_factory=list)
    aliases: Mapping[str, Expression] = field(default_factory=dict)
    using: list[str] = field(default_factory=list)

    def add(self, item: Item, node: exp.Expr) -> None:
        """Raises SqlError when the alias is taken."""
        if any(other.alias.lower() == item.alias.lower() for other in self.items if item.alias):
            raise self.source.error(f"{item.alias} stands twice in FROM", node, "give one of them an alias")
        self.items.append(item)

    def resolve(self, column: exp.Column) -> Expression:
        """The expression a column name means.

        Raises:
            SqlError: no FROM item, or more than one, has the column; the hint names the nearest or the candidates.
        """
        self.source.refuse_others(column, {"this", "table"}, "a column name")
        name = column.name.lower()
        if column.table:
            item = self.item(column.table, column)
            if name not in item.columns:
                hint = nearest(name, item.columns) or f"{item.alias} has {_listed(item.columns)}"
                raise self.source.error(f"unknown column {column.table}.{column.name}", column.this, hint)
            return item.columns[name]
        owners = [item for item in self.items if name in item.columns and name not in item.merged]
        if len(owners) > 1:
            candidates = " or ".join(f"{item.alias}.{name}" for item in owners)
            raise self.source.error(f"ambiguous column {column.name}", column, f"write {candidates}")
        if owners:
            return owners[0].columns[name]
        if name in self.aliases:
            return self.aliases[name]
        known = [c for item in self.items for c in item.columns] + list(self.aliases)
        hint = nearest(name, known) or f"there are {_listed(known)}"
        raise self.source.error(f"unknown column {column.name}", column, hint)

    def item(self, alias: str, node: exp.Expr) -> Item:
        """The FROM item called ``alias``."""
        for item in self.items:
            if item.alias.lower() == alias.lower():
                return item
        names = [item.alias for item in self.items]
        part = node.args.get("table") or node
        raise self.source.error(f"{alias} is not in FROM", part, nearest(alias, names) or f"FROM has {_listed(names)}")

    def star(self) -> list[tuple[str, Expression]]:
        """The columns of ``*``: those joined by USING once and first, then the others in order."""
        joined = [(name, next(i for i in self.items if name in i.columns)) for name in self.using]
        first = [(name, item.columns[name]) for name, item in joined]
        rest = [(n, e) for i in self.items for n, e in i.columns.items() if n not in i.merged and n not in self.using]
        return first + rest


def _listed(names: Iterable[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")
