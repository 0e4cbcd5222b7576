"""Random queries by a grammar: everything over everything, in Spark's words.

A query is a SELECT of any kind over relations of any kind, and a relation is a stream, another query, or a join of
relations. What the workbench refuses is left out by the caller; a text that is accepted must be right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random

from oracle.grammar.productions import FURTHER, SCALARS, Production, productions

from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, DataType, Kind

_CONSTANTS = {
    Kind.INTEGER: ("0", "1", "2", "-1"), Kind.DECIMAL: ("1.50", "0.00", "-2.25"), Kind.DOUBLE: ("0.5E0", "2E0"),
    Kind.STRING: ("'a'", "'b'", "''", "'1'"), Kind.DATE: ("DATE '2002-11-02'",), Kind.BOOLEAN: ("TRUE", "FALSE"),
    Kind.TIMESTAMP: ("TIMESTAMP '2002-11-02 10:00:00'",),
}  # fmt: skip
_JOINS = ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "CROSS JOIN")
_SETS = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
_FRAMES = (
    "", "", "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column that an expression can read."""

    text: str
    type: DataType


@dataclass(frozen=True)
class Query:
    """A text and the types of its columns, which are called c0, c1, …"""

    text: str
    types: tuple[DataType, ...]

    def columns(self, alias: str) -> tuple[Column, ...]:
        """Its columns where it stands in FROM."""
        return tuple(Column(f"{alias}.c{i}", type_) for i, type_ in enumerate(self.types))


@dataclass
class Writer:
    """Writes queries over streams.

    Args:
        chosen: makes the choices.
        streams: their columns, by name.
        within: which calls of the grammar are used; all of them unless said otherwise.
        directions: what follows the keys of an order.
        groupings: how keys are grouped by.
    """

    chosen: Random
    streams: Mapping[str, Sequence[tuple[str, DataType]]]
    within: Callable[[Production], bool] = lambda production: True
    directions: Sequence[str] = ("", " DESC", " NULLS LAST", " DESC NULLS FIRST")
    groupings: Sequence[str] = ("{}", "{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())")
    _aliases: count = field(default_factory=lambda: count(1))  # type: ignore[type-arg]

    def query(self, depth: int = 2) -> Query:
        """A query of any kind."""
        kinds = [self.plain, self.grouped, self.analytic, self.analytic, self.ordered]
        kinds += [self.combined, self.twice] if depth > 0 else []
        return self.chosen.choice(kinds)(depth)

    # -- kinds of queries ----------------------------------------------------------------------------------------

    def plain(self, depth: int) -> Query:
        """SELECT of some expressions, sometimes DISTINCT."""
        text, columns = self.relation(depth)
        values = [self.value(columns) for _ in range(self.chosen.randint(1, 3))]
        if self.chosen.random() < 0.15:
            values.append(self._call("function", self.chosen.choice(sorted(FURTHER)), columns, 0))
        word = self.chosen.choice(("", "", "DISTINCT "))
        return _query(f"SELECT {word}{{}} FROM {text}{self._where(columns, depth)}", values)

    def grouped(self, depth: int) -> Query:
        """SELECT of aggregates, of groups or of everything."""
        text, columns = self.relation(depth)
        keys = [self.value(columns, 1) for _ in range(self.chosen.choice((0, 1, 1, 2)))]
        aggregates = [self.aggregate(columns) for _ in range(self.chosen.randint(1, 2))]
        by = self.chosen.choice(self.groupings).format(", ".join(key.text for key in keys)) if keys else ""
        rest = f" GROUP BY {by}" if by else ""
        if self.chosen.random() < 0.25:
            rest += f" HAVING {self.comparison(self.aggregate(columns))}"
        return _query(f"SELECT {{}} FROM {text}{self._where(columns, depth)}{rest}", [*keys, *aggregates])

    def analytic(self, depth: int) -> Query:
        """SELECT of several analytic functions of different windows, sometimes with QUALIFY."""
        text, columns = self.relation(depth)
        values = [self.chosen.choice(columns), *(self.over(columns) for _ in range(self.chosen.choice((1, 2, 2, 3))))]
        rest = f" QUALIFY {self.comparison(self.over(columns))}" if self.chosen.random() < 0.3 else ""
        return _query(f"SELECT {{}} FROM {text}{self._where(columns, depth)}{rest}", values)

    def ordered(self, depth: int) -> Query:
        """The first rows in an order, which has ties where rows are alike."""
        text, columns = self.relation(depth)
        values = [self.value(columns, 1) for _ in range(self.chosen.randint(1, 3))]
        keys = [self.chosen.choice(columns).text for _ in range(self.chosen.choice((1, 2)))]
        order = ", ".join(f"{key}{self.chosen.choice(self.directions)}" for key in keys)
        last = f"LIMIT {self.chosen.choice((1, 2, 4))}{self.chosen.choice(('', '', ' OFFSET 1'))}"
        return _query(f"SELECT {{}} FROM {text}{self._where(columns, depth)} ORDER BY {order} {last}", values)

    def combined(self, depth: int) -> Query:
        """A set operator over two queries."""
        left, right = self.query(depth - 1), self.relation(depth - 1)
        values = [self.of_kind(type_.kind, right[1], 1) for type_ in left.types]
        other = _query(f"SELECT {{}} FROM {right[0]}{self._where(right[1], 0)}", values)
        names = ", ".join(f"c{i}" for i in range(len(left.types)))
        operator = self.chosen.choice(_SETS)
        return Query(f"SELECT {names} FROM ({left.text}) {operator} {other.text}", left.types)

    def twice(self, depth: int) -> Query:
        """A common table expression that is read once or twice."""
        inner = self.query(depth - 1)
        name, one, other = (f"r{next(self._aliases)}" for _ in range(3))
        columns = inner.columns(one)
        text = f"{name} {one}"
        if self.chosen.random() < 0.6:
            columns, text = (*columns, *inner.columns(other)), f"{text} JOIN {name} {other} ON {one}.c0 = {other}.c0"
        values = [self.value(columns, 1) for _ in range(2)]
        return _query(f"WITH {name} AS ({inner.text}) SELECT {{}} FROM {text}", values)

    # -- relations -----------------------------------------------------------------------------------------------

    def relation(self, depth: int) -> tuple[str, tuple[Column, ...]]:
        """What stands in FROM, and the columns that can be read of it."""
        chance = self.chosen.random()
        if depth <= 0 or chance < 0.35:
            return self._stream()
        if chance < 0.65:
            return self._derived(depth)
        (left, columns), (right, others) = self._stream(), self.relation(depth - 1)
        join = self.chosen.choice(_JOINS)
        pairs = [(a, b) for a in columns for b in others if a.type.kind is b.type.kind]
        if join == "CROSS JOIN" or not pairs:
            return f"{left} CROSS JOIN {right}", (*columns, *others)
        links = self.chosen.sample(pairs, 1)
        tests = [f"{a.text} {self.chosen.choice(('=', '=', '=', '<=>'))} {b.text}" for a, b in links]
        if self.chosen.random() < 0.25:
            tests.append(self.condition((*columns, *others), 0))
        readable = columns if "SEMI" in join or "ANTI" in join else (*columns, *others)
        return f"{left} {join} {right} ON {' AND '.join(tests)}", readable

    def _stream(self) -> tuple[str, tuple[Column, ...]]:
        name, alias = self.chosen.choice(list(self.streams)), f"r{next(self._aliases)}"
        return f"{name} {alias}", tuple(Column(f"{alias}.{n}", type_) for n, type_ in self.streams[name])

    def _derived(self, depth: int) -> tuple[str, tuple[Column, ...]]:
        inner, alias = self.query(depth - 1), f"r{next(self._aliases)}"
        return f"({inner.text}) {alias}", inner.columns(alias)

    # -- expressions ---------------------------------------------------------------------------------------------

    def value(self, columns: Sequence[Column], depth: int = 2) -> Column:
        """An expression of any type."""
        if self.chosen.random() < 0.4:
            return self.chosen.choice(columns)
        return self.of_kind(self.chosen.choice(columns).type.kind, columns, depth)

    def of_kind(self, kind: Kind, columns: Sequence[Column], depth: int = 2) -> Column:
        """An expression of a kind of type: a column, a constant or a call."""
        fitting = [c for c in columns if c.type.kind is kind]
        if fitting and (depth <= 0 or self.chosen.random() < 0.4):
            return self.chosen.choice(fitting)
        if depth <= 0 or kind not in SCALARS:
            return Column(self.chosen.choice(_CONSTANTS.get(kind, ("NULL",))), _PLAIN.get(kind, STRING))
        return self._call("function", kind, columns, depth - 1)

    def _call(self, sort: str, kind: Kind, columns: Sequence[Column], depth: int) -> Column:
        fitting = [p for p in productions(sort).get(kind, ()) if self.within(p)]
        if not fitting:
            return self.of_kind(kind, columns, 0)
        production = self.chosen.choice(fitting)
        arguments = [self.of_kind(type_.kind, columns, depth).text for type_ in production.arguments]
        enclosed = [f"({a})" if " " in a else a for a in arguments]
        return Column(f"{production.text(enclosed)}", production.type)

    def aggregate(self, columns: Sequence[Column]) -> Column:
        """An aggregate of expressions, sometimes of some rows alone."""
        kinds = self._kinds("aggregate")
        made = self._call("aggregate", self.chosen.choice(kinds), columns, self.chosen.choice((0, 0, 1)))
        if self.chosen.random() < 0.15:
            return Column(f"{made.text} FILTER (WHERE {self.condition(columns, 0)})", made.type)
        return made

    def over(self, columns: Sequence[Column]) -> Column:
        """An analytic function, or an aggregate over a window; its order may have ties."""
        sort = self.chosen.choice(("analytic", "analytic", "aggregate"))
        made = self._call(sort, self.chosen.choice(self._kinds(sort)), columns, 0)
        keys = [self.chosen.choice(columns).text for _ in range(self.chosen.choice((1, 1, 2)))]
        by = f"PARTITION BY {self.chosen.choice(columns).text} " if self.chosen.random() < 0.6 else ""
        order = ", ".join(f"{key}{self.chosen.choice(self.directions)}" for key in keys)
        frame = self.chosen.choice(_FRAMES) if sort == "aggregate" else ""
        order = f"ORDER BY {order} {frame}".strip() if sort == "analytic" or self.chosen.random() < 0.7 else ""
        return Column(f"{made.text} OVER ({(by + order).strip()})", made.type)

    def _kinds(self, sort: str) -> list[Kind]:
        """The kinds of types that calls of a sort give."""
        return [kind for kind, found in productions(sort).items() if any(map(self.within, found))]

    # -- conditions ----------------------------------------------------------------------------------------------

    def _where(self, columns: Sequence[Column], depth: int) -> str:
        return f" WHERE {self.condition(columns, depth)}" if self.chosen.random() < 0.45 else ""

    def condition(self, columns: Sequence[Column], depth: int) -> str:
        """A condition, with a subquery that reads the rows around it now and then."""
        if depth > 0 and self.chosen.random() < 0.25:
            return self._subquery_test(columns)
        return f"({self._call('function', Kind.BOOLEAN, columns, 1).text})"

    def comparison(self, value: Column) -> str:
        """A comparison of a value with a constant."""
        constant = self.chosen.choice(_CONSTANTS.get(value.type.kind, ("NULL",)))
        return f"{value.text} {self.chosen.choice(('=', '<=', '>', '<>'))} {constant}"

    def _subquery_test(self, columns: Sequence[Column]) -> str:
        text, others = self._stream()
        pairs = [(a, b) for a in columns for b in others if a.type.kind is b.type.kind]
        if not pairs:
            return f"EXISTS (SELECT 1 FROM {text}{self._where(others, 0)})"
        (a, b), (left, right) = self.chosen.choice(pairs), self.chosen.choice(pairs)
        link = self.chosen.choice((f" WHERE {a.text} = {b.text}", f" WHERE {a.text} < {b.text}", ""))
        no = self.chosen.choice(("", "NOT "))
        return self.chosen.choice(
            (
                f"{no}EXISTS (SELECT 1 FROM {text}{link})",
                f"{left.text} {no}IN (SELECT {right.text} FROM {text}{link})",
                f"{left.text} {self.chosen.choice(('=', '<', '>='))} (SELECT MAX({right.text}) FROM {text}{link})",
                f"1 < (SELECT COUNT(*) FROM {text}{link})",
            )
        )


_PLAIN = {Kind.INTEGER: INTEGER, Kind.DOUBLE: DOUBLE, Kind.BOOLEAN: BOOLEAN, Kind.STRING: STRING}


def _query(form: str, values: Sequence[Column]) -> Query:
    listed = ", ".join(f"{value.text} AS c{i}" for i, value in enumerate(values))
    return Query(form.replace("{}", listed, 1), tuple(value.type for value in values))
