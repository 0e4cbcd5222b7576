"""The scope of column names inside one SELECT: its FROM items, in order, and the columns each offers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from workbench.errors import nearest
from workbench.sql.algebra.expressions import Column, Expression, Origin
from workbench.sql.algebra.types import STRING
from workbench.sql.dialect import Preferred
from workbench.sql.syntax.foreign_syntax import TIME_UNITS
from workbench.sql.syntax.misspelled import similar_key_words
from workbench.sql.syntax.quoted_names import name_in_sql
from workbench.sql.syntax.source_text import SourceText

_OF_TEXTS = (exp.Upper, exp.Lower, exp.Trim, exp.Substring, exp.TimeToStr, exp.Dayname, exp.Monthname)
"""Functions whose values are texts."""
_OF_CASE = ("WHEN", "THEN", "ELSE", "END")
_MEANT = {
    **dict.fromkeys(("none", "nil", "na", "undefined"), "a missing value is NULL, as in IS NULL, IS NOT NULL"),
    "nan": "write CAST('NaN' AS DOUBLE PRECISION); a missing value is NULL, as in IS NULL",
    "today": "today is CURRENT_DATE",
    "yesterday": "yesterday is CURRENT_DATE - INTERVAL '1' DAY",
    "tomorrow": "tomorrow is CURRENT_DATE + INTERVAL '1' DAY",
}
"""Constants and days as other systems call them."""


@dataclass
class Item:
    """One FROM item: its alias and its columns (names in lower case) as expressions over the block's inputs."""

    alias: str
    columns: Mapping[str, Expression]
    inputs: range = range(0)
    """The inputs of the block that it stands for."""
    named: bool = False
    """Whether it is a stream, view or query by name, and no subquery or CTE."""
    time: Expression | None = None
    """The event time of its rows, where it is a stream that has one."""


class Outer(Protocol):
    """The names of a subquery's outer query."""

    def has(self, column: exp.Column) -> bool:
        """Whether a name means something there."""

    def resolve(self, column: exp.Column) -> Expression:
        """The meaning of a name, as the subquery sees it."""

    def columns_of(self, alias: str) -> list[tuple[str, Expression]] | None:
        """The columns of the FROM item of that name, as the subquery sees them; ``None`` where there is none."""

    def level(self, column: exp.Column) -> int:
        """How many queries around it a name belongs to, 0 where to none."""


@dataclass
class Scope:
    """The FROM items visible to a SELECT, and aliases of its select list where these may be used.

    Attributes:
        source: the text, for errors.
        items: in order; their columns are called ``item.column``.
        columns: what unqualified names mean, in the order of ``*``; a column that USING made of two is there once.
        aliases: of the select list.
        outer: the names of a subquery's outer query.
        preferred: what a name means that is a column and an alias, outside of aggregates and OVER, where it is the
            column.
        computed: what columns mean that are known by their names alone (``by_names``).
        hidden: what names mean that no text has.
    """

    source: SourceText
    items: list[Item] = field(default_factory=list)
    columns: list[tuple[str, Expression]] = field(default_factory=list)
    aliases: Mapping[str, Expression] = field(default_factory=dict)
    outer: Outer | None = None
    preferred: Preferred = Preferred.COLUMN
    computed: Mapping[Expression, Expression] = field(default_factory=dict)
    hidden: Mapping[str, Expression] = field(default_factory=dict)

    def add(self, item: Item, node: exp.Expr, with_columns: bool = True) -> None:
        """Add an item, whose columns unqualified names mean, too, unless others have these; an alias stands once."""
        if any(other.alias.lower() == item.alias.lower() for other in self.items if item.alias):
            raise self.source.error(f"{item.alias} stands twice in FROM", node, "give one of them an alias")
        self.items.append(item)
        self.columns += item.columns.items() if with_columns else ()

    def forget(self, name: str) -> None:
        """Hide the columns of a name, in all items."""
        for item in [item for item in self.items if name in item.columns]:
            item.columns = {known: value for known, value in item.columns.items() if known != name}
            self.columns[:] = [(known, value) for known, value in self.columns if known != name]

    def by_names(self) -> Scope:
        """The scope in which a column that FROM computes, or has twice, is known by its name.

        So it can be grouped by, and be NULL where a grouping lacks it, whatever else is computed alike.
        """
        times = Counter(expression for item in self.items for expression in item.columns.values())
        computed: dict[Expression, Expression] = {}
        called: dict[tuple[str, Expression], Expression] = {}

        def known(place: str, name: str, expression: Expression) -> Expression:
            if isinstance(expression, Column) and times[expression] < 2:
                return expression
            column = Column(f"{place}.{name}", expression.type, Origin.ALIAS)
            computed[column] = expression
            return called.setdefault((name, expression), column) if place else called.get((name, expression), column)

        items = [
            replace(item, columns={name: known(f"{place}", name, e) for name, e in item.columns.items()})
            for place, item in enumerate(self.items)
        ]
        columns = [(name, known("", name, e)) for name, e in self.columns]
        return replace(self, items=items, columns=columns, computed=computed)

    def resolve(self, column: exp.Column) -> Expression:
        """The expression a column name means.

        Raises:
            SqlError: no FROM item, or more than one, has the column; the hint names the nearest or the candidates.
        """
        first, *others = (part.name for part in column.parts)
        tables = [item.alias for item in self.items if item.alias]
        if len(others) > 1 and others[0].lower() not in map(str.lower, tables):
            hint = nearest(first, [*tables, *(name for name, _ in self.columns)])
            hint = hint or f"{first} is no table in FROM and no struct; there are {_listed(tables)}"
            raise self.source.error(f"unknown column {'.'.join([first, *others])}", column, hint)
        self.source.refuse_others(column, {"this", "table"}, "a column name")
        name = column.name.lower()
        if column.table:
            here = any(item.alias.lower() == column.table.lower() for item in self.items)
            if not here and self.outer is not None and self.outer.has(column):
                return self.outer.resolve(column)
            item = self.item(column.table, column)
            if name not in item.columns:
                inside = (f"{item.alias}.{known}.{column.name}" for known, e in item.columns.items() if _has(e, name))
                hint = next((f"did you mean {one}?" for one in inside), None) or self._near(name, item.columns)
                hint = hint or f"{item.alias} has {_listed(item.columns)}"
                raise self.source.error(f"unknown column {column.table}.{column.name}", column.this, hint)
            return item.columns[name]
        if name in self.hidden:
            return self.hidden[name]
        meanings = [expression for known, expression in self.columns if known == name]
        if len(meanings) > 1:
            named = [f"{item.alias}.{name}" for item in self.items if name in item.columns and item.alias]
            nameless = ["give the table without a name one"] if len(named) < len(meanings) else []
            hint = ", or ".join([*([f"write {' or '.join(named)}"] if named else []), *nameless])
            if isinstance(column.parent, exp.Join) and not nameless:
                hint = f"write USING ({column.name}), or ON {' = '.join(named)}"
            raise self.source.error(f"ambiguous column {column.name}", column, hint)
        if meanings:
            return meanings[0]
        if name in self.aliases:
            return self.aliases[name]
        if self.outer is not None and self.outer.has(column):
            return self.outer.resolve(column)
        known = [*dict(self.columns), *self.aliases]
        if (table := next((item for item in self.items if item.alias.lower() == name), None)) is not None:
            hint = f"it is called so in FROM, and has {_listed(table.columns)}"
            raise self.source.error(f"unknown column {column.name}", column, _of_frame(column, table.columns) or hint)
        if name in _MEANT:
            raise self.source.error(f"unknown column {column.name}", column, _MEANT[name])
        text = column.name.strip("‘’“”´`")
        if self._compared_with_text(column) or text != column.name:
            raise self.source.error(f"unknown column {column.name}", column, f"if it is a text, write '{text}'")
        listed = f"there are {_listed(known)}" if known else _nothing_known(self.source.sql)
        words = similar_key_words(name) if len(name) > 2 else []
        in_case = "CASE" in self.source.sql.upper()
        meant = [word for word in words if word[0] == name[0].upper() and (in_case or word not in _OF_CASE)]
        listed = f"did you mean {meant[0]}? {listed}" if meant else listed
        inside = (f"did you mean {known}.{name}?" for known, e in self.columns if _has(e, name))
        special = (
            _of_alias(column),
            _of_frame(column, known),
            _of_duration(column.name),
            _of_aggregate(column.name),
            next(inside, None),
        )
        hint = self.source.usual_form(column) or next(filter(None, special), None) or self._near(name, known)
        raise self.source.error(f"unknown column {column.name}", column, hint or _of_unit(column.name) or listed)

    def column_at(self, node: exp.PositionalColumn) -> exp.Column:
        """The column of FROM that ``#2`` is.

        Raises:
            SqlError: FROM has no such column.
        """
        place = int(node.name) if node.name.isdigit() else 0
        if not 1 <= place <= len(self.columns):
            raise self.source.error(f"FROM has no column #{node.name}", node, f"it has {len(self.columns)}")
        name, value = self.columns[place - 1]
        own = (item.alias for item in self.items if item.columns.get(name) == value)
        several = sum(other == name for other, _ in self.columns) > 1
        return exp.column(name, table=next(own, None) if several else None, quoted=True)

    def alias(self, column: exp.Column, prefer: bool) -> Expression | None:
        """The meaning of a name, if it is an alias here.

        Args:
            column: the name.
            prefer: whether ``preferred`` counts; where it does not, a column comes first.

        Raises:
            SqlError: it is a column, too, and neither is preferred.
        """
        name = column.name.lower()
        if column.table or name not in self.aliases:
            return None
        if not any(known == name for known, _ in self.columns):
            return self.aliases[name]
        if not prefer or self.preferred is Preferred.COLUMN:
            return None
        if self.preferred is Preferred.NEITHER and self.aliases[name] != self.resolve(column):
            hint = "give the alias another name"
            raise self.source.error(f"{column.name} is a column and an alias here", column, hint)
        return self.aliases[name]

    def _near(self, name: str, known: Iterable[str]) -> str | None:
        """A hint for an unknown name, with the quotes that it needs."""
        return nearest(name, known, shown=lambda other: name_in_sql(other, self.source.dialect))

    def _compared_with_text(self, column: exp.Column) -> bool:
        """Whether a name would be compared, as a text, with a column of texts."""
        test = column.parent
        if not isinstance(test, (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.NullSafeEQ)) or column is test.this:
            return False
        other = test.this
        if isinstance(other, _OF_TEXTS):
            return True
        types = {
            item.columns[other.name.lower()].type
            for item in self.items
            if isinstance(other, exp.Column) and other.name.lower() in item.columns
        }
        return types == {STRING}

    def has_here(self, column: exp.Column) -> bool:
        """Whether a column name means something in this SELECT."""
        name = column.name.lower()
        if column.table:
            return any(item.alias.lower() == column.table.lower() for item in self.items)
        return any(other == name for other, _ in self.columns) or name in self.aliases

    def has(self, column: exp.Column) -> bool:
        """Whether a column name means something here, or in an outer query."""
        return self.has_here(column) or (self.outer is not None and self.outer.has(column))

    def unknown_in(self, node: exp.Expr | None, variables: Collection[str]) -> str | None:
        """The first name in an expression that is neither a column nor one of some variables, as that of an element."""
        columns = node.find_all(exp.Column) if node is not None else ()
        names = (column.name for column in columns if not column.table and not self.has(column))
        return next((name for name in names if name.lower() not in variables), None)

    def level(self, column: exp.Column) -> int:
        """How many queries around this one a name belongs to; 0 of one of this query, or of none."""
        if self.has_here(column) or self.outer is None or not self.outer.has(column):
            return 0
        return self.outer.level(column) + 1

    def columns_of(self, alias: str) -> list[tuple[str, Expression]] | None:
        """The columns of the FROM item of that name, here or in an outer query; ``None`` where there is none."""
        item = next((item for item in self.items if item.alias.lower() == alias.lower()), None)
        if item is not None:
            return list(item.columns.items())
        return None if self.outer is None else self.outer.columns_of(alias)

    def item(self, alias: str, node: exp.Expr) -> Item:
        """The FROM item called ``alias``."""
        for item in self.items:
            if item.alias.lower() == alias.lower():
                return item
        names = [item.alias for item in self.items if item.alias]
        part = node.args.get("table") or node
        raise self.source.error(f"{alias} is not in FROM", part, nearest(alias, names) or f"FROM has {_listed(names)}")


def scope_of(source: SourceText, names: Mapping[str, Expression]) -> Scope:
    """A scope in which the unqualified names have these meanings: one FROM item without an alias."""
    return Scope(source, [Item("", names)], list(names.items()))


def _of_alias(column: exp.Column) -> str | None:
    """A hint for an alias of the select list in a place where it is not known."""
    select = column.find_ancestor(exp.Select)
    if column.table or select is None or column.name.lower() not in {i.alias.lower() for i in select.expressions}:
        return None
    item = next(one for one in select.expressions if one.alias.lower() == column.name.lower())
    if item.find(exp.Window) is not None and column.find_ancestor(exp.Where) is not None:
        return f"{column.name} is a value of OVER: move its condition from WHERE to QUALIFY, which stands behind it"
    if item.find(exp.AggFunc) is not None and column.find_ancestor(exp.Where) is not None:
        return f"{column.name} is of a group: its condition goes into HAVING, behind GROUP BY"
    return f"{column.name} is an alias, which is not known here: let a subquery in FROM select it, or repeat what it is"


def _of_frame(column: exp.Column, known: Collection[str]) -> str | None:
    """A hint for a column in brackets, as of a DataFrame."""
    keys = column.parent.expressions if isinstance(column.parent, exp.Bracket) else []
    names = {name.lower(): name for name in known} | {str(place): name for place, name in enumerate(known)}
    named = (
        names[key.name.lower()]
        for key in keys
        if isinstance(key, exp.Literal | exp.Column) and key.name.lower() in names
    )
    return next((f"a column has its name alone: {name}" for name in named), None)


def _of_aggregate(name: str) -> str | None:
    """A hint for a name that is that of an aggregate, or of a number in an order."""
    function = exp.FUNCTION_BY_NAME.get(name.upper())
    if function is None or not issubclass(function, (exp.AggFunc, exp.RowNumber)):
        return None
    return f"a function has parentheses, also around one argument: {name}(…)"


def _of_duration(name: str) -> str | None:
    """A hint for a length of time that is written as settings are."""
    if number := re.fullmatch(r"(\d+)(ms|us|kb|mb|gb|k|px|pct|eur|usd)", name, re.IGNORECASE):
        return f"a number has no unit: {number[1]}"
    short = re.fullmatch(r"(\d+)(s|m|min|h|d)", name, re.IGNORECASE)
    units = {"s": "SECOND", "m": "MINUTE", "min": "MINUTE", "h": "HOUR", "d": "DAY"}
    return f"a length of time is INTERVAL '{short[1]}' {units[short[2].lower()]}" if short else None


def _of_unit(name: str) -> str | None:
    """A hint for a unit of time in a place where none is expected."""
    unit = name.upper().removesuffix("S")
    if unit not in TIME_UNITS:
        return None
    return f"of a unit there are TIMESTAMPDIFF({unit}, from, to), DATE_TRUNC('{unit}', t) and EXTRACT({unit} FROM t)"


def _has(value: Expression, field: str) -> bool:
    """Whether a value is a struct with a field."""
    return any(name.lower() == field for name, _ in value.type.fields)


def _nothing_known(sql: str) -> str:
    """The hint for a column of a query that reads nothing, as where FROM is taken for part of a name, ``Nr. FROM``."""
    is_part = re.search(r"\w\.\s+FROM\b", sql, re.IGNORECASE)
    return "a name with a dot at its end stands in quotes" if is_part else "FROM says which stream has it"


def _listed(names: Iterable[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")
