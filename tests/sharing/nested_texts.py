"""Random texts in which queries are nested in every place that a query may have, and read those around them.

A production is a method; ``query`` and ``value`` choose among all of them, so one that is added is in every place.
Streams are ``t(a, b, s)`` and ``u(k, v, s)``; columns of any query around may be named, aggregated or grouped by.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.schema import Schema

SCHEMA = Schema(
    {"t": (("a", INTEGER), ("b", INTEGER), ("s", STRING)), "u": (("k", INTEGER), ("v", INTEGER), ("s", STRING))}
)
_COLUMNS = {"t": ("a", "b"), "u": ("k", "v")}


@dataclass
class NestedTexts:
    """Writes texts from a seed.

    Args:
        seed: of the choices.
        depth: the most queries inside one another.
    """

    seed: int
    depth: int = 3
    _names: int = 0
    _around: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def text(self) -> str:
        """A query."""
        return self._query(1)

    # ---- queries of one column, or of several --------------------------------------------------------------------

    def _query(self, columns: int) -> str:
        """A query of some columns, which sees those around it."""
        if len(self._around) >= self.depth:
            return self._leaf(columns)
        kinds: list[Callable[[int], str]] = [
            self._select, self._select, self._grouped, self._total, self._having, self._union, self._with, self._values,
            self._without_from, self._first, self._distinct, self._recursive, self._analytic, self._lateral,
        ]  # fmt: skip
        return self._random.choice(kinds)(columns)

    def _leaf(self, columns: int) -> str:
        name, items = self._item()
        return f"SELECT {', '.join(self._random.choice(items) for _ in range(columns))} FROM {name}"

    def _select(self, columns: int) -> str:
        with_scope, items = self._from()
        return f"SELECT {self._values_of(items, columns)} FROM {with_scope}{self._where(items)}{self._out()}"

    def _distinct(self, columns: int) -> str:
        from_, items = self._from()
        return f"SELECT DISTINCT {self._values_of(items, columns)} FROM {from_}{self._out()}"

    def _grouped(self, columns: int) -> str:
        from_, items = self._from()
        key = self._simple(items)
        listed = [self._random.choice([key, self._aggregate(items)]) for _ in range(columns)]
        having = f" HAVING {self._condition([key, self._aggregate(items)])}" if self._chance(0.4) else ""
        groups = self._random.choice([key, key, f"ROLLUP ({key})", f"GROUPING SETS (({key}), ())"])
        return f"SELECT {', '.join(listed)} FROM {from_}{self._where(items)} GROUP BY {groups}{having}{self._out()}"

    def _total(self, columns: int) -> str:
        from_, items = self._from()
        listed = ", ".join(self._aggregate(items) for _ in range(columns))
        return f"SELECT {listed} FROM {from_}{self._where(items)}{self._out()}"

    def _having(self, columns: int) -> str:
        from_, items = self._from()
        listed = ", ".join(self._aggregate(items) for _ in range(columns))
        groups = self._random.choice([" GROUP BY ()", ""])
        condition = self._condition([self._aggregate(items), *self._outer()])
        return f"SELECT {listed} FROM {from_}{groups} HAVING {condition}{self._out()}"

    def _union(self, columns: int) -> str:
        operator = self._random.choice(["UNION ALL", "UNION", "INTERSECT", "EXCEPT"])
        return f"({self._query(columns)}) {operator} ({self._query(columns)})"

    def _with(self, columns: int) -> str:
        name, own = self._name("w"), [f"c{i}" for i in range(columns)]
        inner = self._query(columns)
        reads = ", ".join(own)
        more = self._random.choice(
            [
                f"SELECT {reads} FROM {name}",
                f"SELECT {', '.join(f'max({c})' for c in own)} FROM {name}",
                f"SELECT {reads} FROM {name} WHERE {self._condition(own)}",
            ]
        )
        return f"WITH {name}({reads}) AS ({inner}) {more}"

    def _recursive(self, columns: int) -> str:
        name = self._name("r")
        first = self._random.choice([*self._outer(), "1"])
        more = ", n" * (columns - 1)
        step = self._random.choice(["n + 1", "n + 1", "n + 2"])  # of n alone it would not end
        return (
            f"WITH RECURSIVE {name}(n) AS (SELECT {first} UNION ALL SELECT {step} FROM {name} WHERE n < 3)"
            f" SELECT n{more} FROM {name}"
        )

    def _values(self, columns: int) -> str:
        rows = ", ".join(
            f"({', '.join(self._simple([]) for _ in range(columns))})" for _ in range(self._random.randint(1, 2))
        )
        own = [f"c{i}" for i in range(columns)]
        listed = self._random.choice([", ".join(own), ", ".join(f"max({c})" for c in own)])
        return f"SELECT {listed} FROM (VALUES {rows}) {self._name('v')}({', '.join(own)})"

    def _without_from(self, columns: int) -> str:
        return f"SELECT {self._values_of([], columns)}"

    def _first(self, columns: int) -> str:
        from_, items = self._from()
        first = f"ORDER BY {self._random.choice(items)} LIMIT 1{self._random.choice(['', ' OFFSET 1'])}"
        return f"SELECT {self._values_of(items, columns)} FROM {from_}{self._where(items)} {first}{self._out()}"

    def _analytic(self, columns: int) -> str:
        from_, items = self._from()
        over = f"OVER (PARTITION BY {self._simple(items)} ORDER BY {self._random.choice(items)})"
        called = self._random.choice(["ROW_NUMBER()", f"SUM({self._simple(items)})", f"LAG({self._simple(items)})"])
        listed = [f"{called} {over}", *(self._simple(items) for _ in range(columns - 1))]
        qualify = f" QUALIFY ROW_NUMBER() {over} = 1" if self._chance(0.3) else ""
        return f"SELECT {', '.join(listed)} FROM {from_}{self._where(items)}{qualify}{self._out()}"

    def _lateral(self, columns: int) -> str:
        name, items = self._item()
        self._around.append(items)
        inner, alias = self._query(1), self._name("l")
        self._around.pop()
        join = self._random.choice(
            [
                f", LATERAL ({inner}) {alias}(q)",
                f" CROSS JOIN LATERAL ({inner}) {alias}(q)",
                f" LEFT JOIN LATERAL ({inner}) {alias}(q) ON TRUE",
            ]
        )
        self._around.append([*items, f"{alias}.q"])
        return f"SELECT {self._values_of([*items, f'{alias}.q'], columns)} FROM {name}{join}{self._out()}"

    # ---- FROM ------------------------------------------------------------------------------------------------------

    def _item(self) -> tuple[str, list[str]]:
        stream, alias = self._random.choice(list(_COLUMNS)), self._name("x")
        return f"{stream} {alias}", [f"{alias}.{column}" for column in _COLUMNS[stream]]

    def _from(self) -> tuple[str, list[str]]:
        """FROM, and the columns it has; ``_out`` ends the query."""
        name, items = self._item()
        if self._chance(0.25) and len(self._around) + 1 < self.depth:
            alias = self._name("q")
            self._around.append([])
            name, items = f"({self._query(2)}) {alias}(e, f)", [f"{alias}.e", f"{alias}.f"]
            self._around.pop()
        elif self._chance(0.3):
            other, more = self._item()
            side = self._random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
            name, items = f"{name} {side} {other} ON {items[0]} = {more[0]}", [*items, *more]
        self._around.append(items)
        return name, items

    def _out(self) -> str:
        self._around.pop()
        return ""

    def _where(self, items: list[str]) -> str:
        return f" WHERE {self._condition(items)}" if self._chance(0.7) else ""

    # ---- conditions and values -------------------------------------------------------------------------------------

    def _condition(self, items: list[str]) -> str:
        kind = self._random.randint(0, 8)
        if kind <= 2 or len(self._around) >= self.depth:
            return f"{self._simple(items)} {self._random.choice(['=', '=', '<', '<>'])} {self._simple(items)}"
        if kind == 3:
            return f"{self._maybe_not()}EXISTS ({self._query(1)})"
        if kind == 4:
            return f"{self._simple(items)} {self._maybe_not()}IN ({self._query(1)})"
        if kind == 5:
            return f"({self._condition(items)} {self._random.choice(['OR', 'AND'])} {self._condition(items)})"
        if kind == 6:
            test = f"{self._random.choice(['=', '<', '>='])} {self._random.choice(['ANY', 'ALL'])}"
            return f"{self._simple(items)} {test} ({self._query(1)})"
        if kind == 7:
            return f"({self._simple(items)}, {self._simple(items)}) {self._maybe_not()}IN ({self._query(2)})"
        return f"{self._value(items)} > {self._simple(items)}"

    def _values_of(self, items: list[str], count: int) -> str:
        return ", ".join(self._value(items) for _ in range(count))

    def _value(self, items: list[str]) -> str:
        kind = self._random.randint(0, 6)
        if kind <= 2 or len(self._around) >= self.depth:
            return self._simple(items)
        if kind == 3:
            return f"({self._query(1)})"
        if kind == 4:
            return f"CASE WHEN {self._condition(items)} THEN {self._simple(items)} ELSE ({self._query(1)}) END"
        if kind == 5:
            return f"COALESCE(({self._query(1)}), {self._simple(items)})"
        return f"{self._simple(items)} + {self._simple(items)}"

    def _aggregate(self, items: list[str]) -> str:
        argument = self._simple(items)
        if self._chance(0.15) and len(self._around) < self.depth:
            argument = f"({self._query(1)})"
        name = self._random.choice(["MAX", "SUM", "COUNT", "MIN"])
        return self._random.choice(
            ["COUNT(*)", f"{name}({argument})", f"{name}({argument})", f"COUNT(DISTINCT {argument})"]
        )

    def _simple(self, items: list[str]) -> str:
        """A column of the query, of one around, or a number."""
        of_outer = self._outer()
        kind = self._random.random()
        if items and kind < 0.6:
            return self._random.choice(items)
        return self._random.choice(of_outer) if of_outer and kind < 0.9 else str(self._random.randint(0, 3))

    def _outer(self) -> list[str]:
        return [column for columns in self._around for column in columns]

    def _maybe_not(self) -> str:
        return self._random.choice(["", "NOT "])

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"
