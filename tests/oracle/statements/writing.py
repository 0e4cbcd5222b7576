"""Random statements: subqueries, joins, groups, windows, set operators and first rows over each other.

A statement means the same wherever rows come from, so it never depends on the order of rows that SQL leaves open:
windows and first rows are ordered by all columns there are. Rows that are still alike can take each other's place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from random import Random

from oracle.statements.expressions import KINDS, NUMBERS, Expressions, Named

COLUMNS = "a n|b n|m m|x x|s s|d d|at t|p p"
"""The columns of each stream, each with its kind."""
STREAMS = ("t", "u", "v")
_FRAMES = (
    "", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
    "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES",
)  # fmt: skip
"""Of the first eight, Spark has all."""


@dataclass(frozen=True)
class Relation:
    """What FROM takes, and the columns it gives; the first of them stand before a comma, which ON does not see."""

    text: str
    columns: tuple[Named, ...]
    before_comma: int = 0


@dataclass(frozen=True)
class Statement:
    """A SELECT of any kind; its columns are ``c0``, ``c1`` and so on."""

    text: str
    kinds: tuple[str, ...]


class Writer:
    """Writes statements in the words of DuckDB, PostgreSQL or Spark."""

    def __init__(self, chosen: Random, dialect: str = "duckdb") -> None:
        self.chosen, self.numbers = chosen, count()
        self.own, self.spark = dialect == "duckdb", dialect == "spark"
        self.pairs_all = False
        self.expressions = Expressions(chosen)

    def statement(self, depth: int = 2) -> Statement:
        """A statement of which subqueries are nested up to a depth."""
        self.pairs_all = False
        made = self._statement(depth)
        types = (("DOUBLE PRECISION", "DOUBLE"), ("AS VARCHAR", "AS STRING")) if self.spark else ()
        return reduce(lambda of, names: replace(of, text=of.text.replace(*names)), types, made)

    def _statement(self, depth: int) -> Statement:
        draw = self.chosen.random()
        if depth > 0 and draw < 0.15:
            return self._set_operation(depth - 1)
        if depth > 0 and draw < 0.27:
            return self._with(depth - 1)
        return self._select(depth)

    # -- queries -------------------------------------------------------------------------------------------------

    def _select(self, depth: int, kinds: Sequence[str] | None = None) -> Statement:
        from_ = self._from(depth)
        condition = f" WHERE {self._where(from_, depth)}" if self.chosen.random() < 0.6 else ""
        wanted = kinds or [self.chosen.choice(KINDS) for _ in range(self.chosen.randrange(1, 5))]
        form = self.chosen.choice(("plain", "plain", "groups", "groups", "windows", "first", "distinct"))
        tail = f" FROM {from_.text}{condition}"
        match form:
            case "groups":
                return self._groups(from_, tail, wanted, depth)
            case "windows":
                return self._windows(from_, tail, wanted)
            case "first" if depth:
                return self._first(self._select(depth - 1, kinds))
        items = [self.expressions.of(kind, from_.columns, 2) for kind in wanted]
        distinct = "DISTINCT " if form == "distinct" else ""
        return Statement(f"SELECT {distinct}{_listed(items)}{tail}", tuple(wanted))

    def _groups(self, from_: Relation, tail: str, wanted: Sequence[str], depth: int) -> Statement:
        keys = [
            Named(self.expressions.of(kind, from_.columns, self.chosen.randrange(2)), kind)
            for kind in self.chosen.sample(KINDS, self.chosen.randrange(0, 3))
        ]
        keys = [key for key in keys if any(column.text in key.text for column in from_.columns)]
        items = []
        for kind in wanted:
            of_keys = [key.text for key in keys if key.kind == kind]
            items.append(self.chosen.choice(of_keys) if of_keys else self._aggregate(kind, from_.columns))
        having = ""
        if self.chosen.random() < 0.25:
            having = f" HAVING {self._aggregate('n', from_.columns)} {self.chosen.choice(('>', '<=', '<>'))} 1"
        return Statement(
            f"SELECT {_listed(items)}{tail}{self._grouping([k.text for k in keys])}{having}", tuple(wanted)
        )

    def _grouping(self, keys: Sequence[str]) -> str:
        listed = ", ".join(keys)
        match self.chosen.randrange(8) if keys else -1:
            case -1:
                return ""
            case 0:
                return f" GROUP BY ROLLUP ({listed})"
            case 1:
                return f" GROUP BY CUBE ({listed})"
            case 2:
                return f" GROUP BY GROUPING SETS (({listed}), ({keys[0]}), ())"
            case _:
                return f" GROUP BY {listed}"

    def _windows(self, from_: Relation, tail: str, wanted: Sequence[str]) -> Statement:
        """All functions that tell rows apart that are alike are over one order, so that they tell them apart alike."""
        over = self._over(from_)
        items = [
            self._window(k, from_, over) if k != "p" else f"({self._window('n', from_, over)}) > 1" for k in wanted
        ]
        qualify = f" QUALIFY {self._window('n', from_, over)} < 5" if self.own and self.chosen.random() < 0.2 else ""
        return Statement(f"SELECT {_listed(items)}{tail}{qualify}", tuple(wanted))

    def _first(self, of: Statement) -> Statement:
        """The first rows of a statement by all of its columns, or the first of each value of one."""
        name = f"q{next(self.numbers)}"
        columns = [f"{name}.c{i}" for i in range(len(of.kinds))]
        order = ", ".join(f"{column}{self._direction()}" for column in self.chosen.sample(columns, len(columns)))
        if not self.spark and self.chosen.random() < 0.3:
            first = self.chosen.choice(columns)
            rest = ", ".join(f"{column}{self._direction()}" for column in columns)
            return Statement(
                f"SELECT DISTINCT ON ({first}) {_listed(columns)} FROM ({of.text}) {name} ORDER BY {first}, {rest}",
                of.kinds,
            )
        offset = f" OFFSET {self.chosen.randrange(3)}" if self.chosen.random() < 0.3 else ""
        limit = f"LIMIT {self.chosen.randrange(1, 7)}{offset}"
        return Statement(f"SELECT {_listed(columns)} FROM ({of.text}) {name} ORDER BY {order} {limit}", of.kinds)

    def _set_operation(self, depth: int) -> Statement:
        left = self._select(depth)
        right = self._select(depth, left.kinds)
        words = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]
        text = f"({left.text}) {self.chosen.choice(words)} ({right.text})"
        names = ", ".join(f"c{i}" for i in range(len(left.kinds)))
        return Statement(f"SELECT {names} FROM ({text}) q{next(self.numbers)}", left.kinds)

    def _with(self, depth: int) -> Statement:
        of, name = self._statement(depth), f"w{next(self.numbers)}"
        one, two = f"r{next(self.numbers)}", f"r{next(self.numbers)}"
        columns = tuple(Named(f"{r}.c{i}", kind) for r in (one, two) for i, kind in enumerate(of.kinds))
        join = self._joined(
            Relation(f"{name} {one}", columns[: len(of.kinds)]), Relation(f"{name} {two}", columns[len(of.kinds) :])
        )
        wanted = [self.chosen.choice(KINDS) for _ in range(2)]
        items = [self.expressions.of(kind, join.columns, 1) for kind in wanted]
        return Statement(f"WITH {name} AS ({of.text}) SELECT {_listed(items)} FROM {join.text}", tuple(wanted))

    # -- relations -----------------------------------------------------------------------------------------------

    def _from(self, depth: int) -> Relation:
        found = self._relation(depth)
        for _ in range(self.chosen.choice((0, 0, 1, 1, 2))):
            found = self._joined(found, self._relation(depth - 1))
        return found

    def _relation(self, depth: int) -> Relation:
        name = f"r{next(self.numbers)}"
        if depth > 0 and self.chosen.random() < 0.4:
            of = self._statement(depth - 1)
            return Relation(f"({of.text}) {name}", tuple(Named(f"{name}.c{i}", k) for i, k in enumerate(of.kinds)))
        columns = (column.split() for column in COLUMNS.split("|"))
        return Relation(f"{self.chosen.choice(STREAMS)} {name}", tuple(Named(f"{name}.{c}", k) for c, k in columns))

    def _joined(self, left: Relation, right: Relation) -> Relation:
        words = ["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LATERAL"]
        words += [] if self.pairs_all else ["CROSS JOIN", ","]
        words += ["SEMI JOIN", "ANTI JOIN", "ASOF JOIN", "ASOF LEFT JOIN"] if self.own else []
        words += ["LEFT SEMI JOIN", "LEFT ANTI JOIN"] if self.spark else []
        word = self.chosen.choice(words)
        both, hidden = (*left.columns, *right.columns), left.before_comma
        if word in ("CROSS JOIN", ","):
            self.pairs_all = True  # once in a statement: a few rows of six items would be millions
        if word == "CROSS JOIN":
            return Relation(f"{left.text} CROSS JOIN {right.text}", both, hidden)
        if word == ",":
            return Relation(f"{left.text}, {right.text}", both, len(left.columns))
        if word == "LATERAL":
            return self._lateral(left, right)
        condition = self._equality(left, right)
        if condition is None:
            return left
        if word.startswith("ASOF"):
            return self._nearest(left, right, word)
        condition = f"USING ({self.chosen.choice('abms')})" if self.chosen.random() < 0.15 else f"ON {condition}"
        if condition.startswith("ON") and self.chosen.random() < 0.4 and word != "FULL JOIN":
            condition += f" AND {self.expressions.condition(both[hidden:], 1)}"
        seen = left.columns if word.endswith(("SEMI JOIN", "ANTI JOIN")) else both
        return Relation(f"{left.text} {word} {right.text} {condition}", seen, hidden)

    def _nearest(self, left: Relation, right: Relation, word: str) -> Relation:
        """An ASOF join with groups by the key and the bound: of rows that are as near, any could be meant."""
        name, (key, bound) = f"r{next(self.numbers)}", self.chosen.sample("nmsdt", 2)
        joined = (left.columns[left.before_comma :], right.columns)
        sides = [[[c.text for c in side if c.kind == kind] for kind in (key, bound)] for side in joined]
        if not all(found for side in sides for found in side):
            return left
        (left_key, left_bound), groups = ([self.chosen.choice(found) for found in side] for side in sides)
        value = f"MAX({self.expressions.of('s', right.columns, 1)})"
        of = f"SELECT {_listed([*groups, value])} FROM {right.text} GROUP BY {', '.join(groups)}"
        condition = f"{left_key} = {name}.c0 AND {left_bound} {self.chosen.choice(('>=', '>', '<', '<='))} {name}.c1"
        columns = tuple(Named(f"{name}.c{i}", kind) for i, kind in enumerate((key, bound, "s")))
        return Relation(
            f"{left.text} {word} ({of}) {name} ON {condition}", (*left.columns, *columns), left.before_comma
        )

    def _equality(self, left: Relation, right: Relation) -> str | None:
        joined = (left.columns[left.before_comma :], right.columns)
        kinds = sorted({c.kind for c in joined[0]} & {c.kind for c in joined[1]})
        if not kinds:
            return None
        found = []
        for _ in range(self.chosen.choice((1, 1, 2))):
            kind = self.chosen.choice(kinds)
            sides = [self.chosen.choice([c.text for c in side if c.kind == kind]) for side in joined]
            found.append(" = ".join(sides))
        return " AND ".join(found)

    def _lateral(self, left: Relation, right: Relation) -> Relation:
        name, wanted = f"r{next(self.numbers)}", [self.chosen.choice(NUMBERS) for _ in range(2)]
        items = [self._aggregate(kind, right.columns) for kind in wanted]
        condition = self._equality(left, right) or "TRUE"
        text = f"SELECT {_listed(items)} FROM {right.text} WHERE {condition}"
        columns = tuple(Named(f"{name}.c{i}", kind) for i, kind in enumerate(wanted))
        return Relation(f"{left.text} CROSS JOIN LATERAL ({text}) {name}", (*left.columns, *columns), left.before_comma)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _where(self, from_: Relation, depth: int) -> str:
        if depth > 0 and self.chosen.random() < 0.4:
            return self._with_subquery(from_, depth - 1)
        return self.expressions.condition(from_.columns, 2)

    def _with_subquery(self, from_: Relation, depth: int) -> str:
        column = self.chosen.choice(from_.columns)
        inner = self._relation(depth)
        tied = self._equality(from_, inner) if self.chosen.random() < 0.6 else None
        condition = f" WHERE {tied or self.expressions.condition(inner.columns, 1)}"
        compared = self.chosen.choice(("<", ">=", "=", "<>"))
        match self.chosen.randrange(3 if self.spark else 4):
            case 0:
                word = self.chosen.choice(("EXISTS", "NOT EXISTS"))
                return f"{word} (SELECT 1 FROM {inner.text}{condition})"
            case 1:
                word = self.chosen.choice(("IN", "NOT IN"))
                item = self.expressions.of(column.kind, inner.columns, 1)
                return f"{column.text} {word} (SELECT {item} FROM {inner.text}{condition})"
            case 2:
                number, of = self.expressions.of("n", from_.columns, 0), self._aggregate("n", inner.columns)
                return f"{number} {compared} (SELECT {of} FROM {inner.text}{condition})"
            case _:
                word, item = self.chosen.choice(("ANY", "ALL")), self.expressions.of(column.kind, inner.columns, 0)
                return f"{column.text} {compared} {word} (SELECT {item} FROM {inner.text}{condition})"

    def _aggregate(self, kind: str, columns: Sequence[Named]) -> str:
        value = self.expressions.of(kind, columns, 1)
        filtered = f" FILTER (WHERE {self.expressions.condition(columns, 0)})" if self.chosen.random() < 0.2 else ""
        order = f"ORDER BY {value}"
        texts = (
            f"STRING_AGG({value}, ',') WITHIN GROUP ({order})" if self.spark else f"STRING_AGG({value}, ',' {order})"
        )
        any_value = self.expressions.of(self.chosen.choice(KINDS), columns, 1)
        number = self.expressions.of("n", columns, 1)
        forms = {
            "n": (f"COUNT(*){filtered}", f"COUNT({any_value}){filtered}", f"CAST(SUM({value}) AS BIGINT)"),
            "m": (f"SUM({value}){filtered}", f"MIN({value}){filtered}"),
            "x": (f"SUM({value}){filtered}", f"CAST(AVG({number}){filtered} AS DOUBLE PRECISION)", f"MAX({value})"),
            "s": (f"MIN({value}){filtered}", texts, f"MAX({value})"),
            "p": (f"BOOL_AND({value}){filtered}", f"BOOL_OR({value})", f"COUNT(*){filtered} > 2"),
        }.get(kind, (f"MIN({value}){filtered}", f"MAX({value})"))
        if self.chosen.random() < 0.1:
            return (
                f"COUNT(DISTINCT {any_value}) > 2"
                if kind == "p"
                else f"MIN({value}) FILTER (WHERE {value} IS NOT NULL)"
            )
        return self.chosen.choice(forms)

    def _window(self, kind: str, from_: Relation, over: str) -> str:
        value = self.expressions.of(kind, from_.columns, 1)
        framed = [f"MIN({value})", f"FIRST_VALUE({value})", f"LAST_VALUE({value})", f"NTH_VALUE({value}, 2)"]
        framed += ["COUNT(*)", f"COUNT({value})"] if kind == "n" else []
        framed += [f"SUM({value})"] if kind in "mx" else []
        alike = {"n": ["RANK()", "DENSE_RANK()"], "x": ["PERCENT_RANK()", "CUME_DIST()"]}.get(kind, [f"MAX({value})"])
        placed = [f"LAG({value})", f"LEAD({value}, 2)", f"LAG({value}, 1, {self.expressions.constant(kind)})"]
        placed += ["ROW_NUMBER()", "NTILE(3)"] if kind == "n" else []
        match self.chosen.randrange(4):
            case 0:
                return f"{self.chosen.choice(alike)} OVER ({self._over(from_)})"
            case 1:
                return f"{self.chosen.choice(placed)} OVER ({over})"
            case _:
                frame = self.chosen.choice(_FRAMES[:8] if self.spark else _FRAMES)
                return f"{self.chosen.choice(framed)} OVER ({over} {frame})"

    def _over(self, from_: Relation) -> str:
        order = ", ".join(f"{c.text}{self._direction()}" for c in self.chosen.sample(from_.columns, len(from_.columns)))
        keys = [
            c.text for c in self.chosen.sample(from_.columns, self.chosen.randrange(min(3, len(from_.columns) + 1)))
        ]
        partition = f"PARTITION BY {', '.join(keys)} " if keys else ""
        return f"{partition}ORDER BY {order}"

    def _direction(self) -> str:
        return self.chosen.choice(("", " DESC", " NULLS FIRST", " DESC NULLS LAST"))


def _listed(items: Sequence[str]) -> str:
    return ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))
