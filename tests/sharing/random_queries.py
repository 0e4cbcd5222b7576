"""Random sets of query texts that overlap: every set draws its conditions from a few, with few constants."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

_AMOUNTS = ("-0.01", "0", "0.01", "4.99", "5", "5.01", "7")
_CODES = ("-1", "0", "1", "2", "3")
_DAYS = tuple(f"DATE '2002-01-0{n}'" for n in range(1, 6))
_TEXTS = ("''", "'a'", "'ab'", "'A'", "'1'")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_ORDERS = ("<", "<=", ">", ">=")
_KEYS = (
    "{a}.dst = {b}.src",
    "{a}.id = {b}.code",
    "{a}.code = {b}.code",
    "{a}.code + 1 = {b}.code",
    "{a}.day = {b}.day",
)
_RELATIONS = (
    *_KEYS,
    "{a}.amount > {b}.amount",
    "{a}.amount <= 2 * {b}.amount",
    "{a}.day <= {b}.day",
    "{b}.day <= {a}.day + 2",
    "{a}.code + {b}.code > 3",
    "{a}.src <> {b}.src",
    "({a}.id = {b}.id OR {a}.code = {b}.id)",
    "({a}.amount > 5 OR {b}.amount > 5)",
)
_GROUPS = ("{t}.src", "{t}.dst", "{t}.code", "{t}.day", "{t}.code + 1", "{t}.x", "{t}.amount")
_STATISTICS = (
    "COUNT(*)", "COUNT({t}.src)", "SUM({t}.amount)", "SUM({t}.code)", "MIN({t}.amount)", "MAX({t}.day)", "MIN({t}.x)",
    "AVG({t}.amount)", "SUM({t}.x)", "AVG({t}.x)", "COUNT(DISTINCT {t}.code)", "MEDIAN({t}.amount)", "MAX({t}.src)",
)  # fmt: skip
_SETS = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
_VALUES = ("t.src, t.dst", "t.src, t.dst", "t.src, t.dst", "t.dst, t.src", "t.src, t.src")


@dataclass
class Writer:
    """Writes queries from a few conditions.

    Args:
        seed: of the choice.
    """

    seed: int

    def __post_init__(self) -> None:
        self.chosen = random.Random(self.seed)
        self.conditions = [kind(self.chosen) for kind in self.chosen.choices(_CONDITIONS, k=2) for _ in range(3)]
        self.keys = self.chosen.sample(_KEYS, 2)
        self.relations = self.chosen.sample(_RELATIONS, 2)
        self.statistics = self.chosen.sample(_STATISTICS, 4)
        self.operators = self.chosen.choice((("UNION", "UNION ALL"), ("INTERSECT",), ("EXCEPT", "UNION"),
                                             ("EXCEPT ALL", "UNION ALL"), _SETS))  # fmt: skip
        self.groups = self.chosen.sample(_GROUPS, 3)
        self.branches = [self._branch() for _ in range(3)]
        # Few kinds of queries in one set, so that many of one kind meet.
        kinds = (self._select, self._join, self._join, self._grouped, self._grouped, self._distinct, self._set,
                 self._set, self._nested)  # fmt: skip
        self.kinds = [self._pick(kinds) for _ in range(self.chosen.choice((1, 1, 3)))]

    def texts(self, number: int) -> list[str]:
        """A number of queries."""
        return [self._pick(self.kinds)() for _ in range(number)]

    def _pick(self, choices: Sequence):  # type: ignore[type-arg, no-untyped-def]
        return self.chosen.choice(choices)

    def _where(self, conditions: Sequence[str]) -> str:
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def _conditions(self, alias: str, most: int = 2) -> list[str]:
        """Up to a number of the conditions on one input."""
        return [self._pick(self.conditions).format(t=alias) for _ in range(self.chosen.randint(0, most))]

    def _stream(self) -> str:
        return "F" if self.chosen.random() < 0.9 else "H"

    def _select(self) -> str:
        return f"SELECT t.id, t.amount, t.src FROM {self._stream()} t{self._where(self._conditions('t', 3))}"

    def _from(self) -> tuple[str, str]:
        """FROM and WHERE of a join of two or three, and of one in three inputs G at the end."""
        aliases = self.chosen.sample(["a", "b", "c"], 3 if self.chosen.random() < 0.3 else 2)
        where = [c for alias in aliases for c in self._conditions(alias, 1)]
        for one, other in itertools.pairwise(aliases):
            pair = [one, other]
            self.chosen.shuffle(pair)
            between = [self.keys[self.chosen.random() < 0.2]] if self.chosen.random() < 0.9 else []
            if not between or self.chosen.random() < 0.5:
                between.append(self._pick(self.relations))
            where += [relation.format(a=pair[0], b=pair[1]) for relation in between]
        tables = [f"{self._stream()} {alias}" for alias in aliases]
        if self.chosen.random() < 0.2:
            tables.append("G g")
            where.append(self._pick((f"g.id = {aliases[0]}.code", f"g.name = {aliases[0]}.src AND g.rate > 0")))
        self.chosen.shuffle(where)
        if self.chosen.random() < 0.25:
            return self._outer(tables, aliases, where), aliases[0]
        self.chosen.shuffle(tables)
        # The first alias is what is selected.
        return f" FROM {', '.join(tables)}{self._where(where)}", aliases[0]

    def _outer(self, tables: list[str], aliases: list[str], where: list[str]) -> str:
        """FROM of an outer, semi or anti join, some of whose conditions are in ON."""
        kind = self._pick(("LEFT", "LEFT", "FULL", "RIGHT", "SEMI", "ANTI"))
        first, second = tables[:2]
        names = {other for other in ("a", "b", "c", "g") if other not in aliases[:2]}
        own = [c for c in where if not any(f"{name}." in c for name in names)]
        if kind in ("SEMI", "ANTI"):
            on, above = own, [c for c in own if f"{aliases[1]}." not in c]
        else:
            on = [c for c in own if self.chosen.random() < 0.6]
            above = [c for c in own if c not in on]
        return f" FROM {first} {kind} JOIN {second} ON {' AND '.join(on) or 'TRUE'}{self._where(above)}"

    def _join(self) -> str:
        text, alias = self._from()
        return f"SELECT {alias}.id, {alias}.day, {alias}.amount * 2 AS twice{text}"

    def _grouped(self) -> str:
        chance = self.chosen.random()
        if chance < 0.2:
            text, alias = self._from()
        elif chance < 0.6:
            text, alias = " FROM F t", "t"
        else:
            text, alias = f" FROM {self._stream()} t{self._where(self._conditions('t', 1))}", "t"
        groups = [g.format(t=alias) for g in self.chosen.sample(self.groups, self.chosen.randint(0, 3))]
        statistics = [s.format(t=alias) for s in self.chosen.sample(self.statistics, self.chosen.randint(1, 2))]
        named = [f"{e} AS o{i}" for i, e in enumerate([*groups, *statistics])]
        by = f" GROUP BY {', '.join(groups)}" if groups else ""
        having = f" HAVING COUNT(*) > {self.chosen.randint(0, 3)}" if self.chosen.random() < 0.4 else ""
        return f"SELECT {', '.join(named)}{text}{by}{having}"

    def _distinct(self) -> str:
        groups = self.chosen.sample(self.groups, self.chosen.randint(1, 3))
        named = [f"{g.format(t='t')} AS o{i}" for i, g in enumerate(groups)]
        return f"SELECT DISTINCT {', '.join(named)} FROM {self._stream()} t{self._where(self._conditions('t', 1))}"

    def _branch(self) -> str:
        return f"{self._stream()} t{self._where(self._conditions('t', 1))}"

    def _set(self) -> str:
        """A chain of one operator mostly, of branches that other queries have too."""
        narrow, number = self.chosen.random() < 0.25, self.chosen.randint(2, 4)
        values = [self._pick(_VALUES).split(", ")[0] if narrow else self._pick(_VALUES) for _ in range(number)]
        branches = [f"SELECT {value} FROM {self._pick(self.branches)}" for value in values]
        operator = self._pick(self.operators)
        if self.chosen.random() < 0.2:
            inner = self._pick(("UNION", "UNION ALL", operator))
            return f"{branches[0]} {operator} ({f' {inner} '.join(branches[1:])})"
        return f" {operator} ".join(branches)

    def _nested(self) -> str:
        """Something over groups or a set operator."""
        inner = "SELECT t.src AS k, COUNT(*) AS n, MAX(t.code) AS m FROM F t GROUP BY t.src"
        if self.chosen.random() < 0.4:
            one, other = (f"SELECT t.src, t.code FROM {branch}" for branch in self.branches[:2])
            inner = f"SELECT u.src AS k, u.code AS n, u.code AS m FROM ({one} {self._pick(self.operators)} {other}) u"
        more = self._where(self._conditions("t", 1))
        number = self.chosen.randint(0, 3)
        return self._pick(
            (
                f"SELECT v.k, v.m FROM ({inner}) v WHERE v.n > {number}",
                f"SELECT v.k, t.id FROM ({inner}) v, F t{more or ' WHERE 1 = 1'} AND t.src = v.k AND v.n > {number}",
                f"SELECT v.n, COUNT(*) AS c FROM ({inner}) v GROUP BY v.n",
                f"SELECT v.n, w.m FROM ({inner}) v, ({inner}) w WHERE v.k = w.k AND v.m <= {number}",
                f"SELECT DISTINCT v.k FROM ({inner}) v WHERE v.m > {number}",
            )
        )


def _compared(chosen: random.Random) -> str:
    return chosen.choice(
        (
            f"{{t}}.amount {chosen.choice(_COMPARISONS)} {chosen.choice(_AMOUNTS)}",
            f"{{t}}.code {chosen.choice(_COMPARISONS)} {chosen.choice(_CODES)}",
            f"{{t}}.src {chosen.choice(_COMPARISONS)} {chosen.choice(_TEXTS)}",
            f"{{t}}.day {chosen.choice(_COMPARISONS)} {chosen.choice(_DAYS)}",
            f"{{t}}.x {chosen.choice(_COMPARISONS)} {chosen.choice(('0.0', '0.5', '-0.5'))}",
        )
    )


def _between(chosen: random.Random) -> str:
    low, high = chosen.choice(_AMOUNTS), chosen.choice(_AMOUNTS)
    return f"{{t}}.amount {chosen.choice(('', 'NOT '))}BETWEEN {low} AND {high}"


def _in_list(chosen: random.Random) -> str:
    return f"{{t}}.code {chosen.choice(('', 'NOT '))}IN ({', '.join(chosen.sample(_CODES, 2))})"


def _null_test(chosen: random.Random) -> str:
    return f"{{t}}.{chosen.choice(('amount', 'code', 'src', 'x'))} IS {chosen.choice(('', 'NOT '))}NULL"


def _like(chosen: random.Random) -> str:
    return f"{{t}}.src {chosen.choice(('', 'NOT '))}LIKE {chosen.choice(('%', 'a%', '_', 'a_'))!r}"


def _sum(chosen: random.Random) -> str:
    return chosen.choice(
        (
            f"{{t}}.code + {{t}}.id {chosen.choice(_ORDERS)} {chosen.choice(_CODES)}",
            f"2 * {{t}}.code - {{t}}.id {chosen.choice(_COMPARISONS)} {chosen.choice(_CODES)}",
            f"{{t}}.amount {chosen.choice(_ORDERS)} {{t}}.code",
            f"{{t}}.src {chosen.choice(_COMPARISONS)} {{t}}.dst",
        )
    )


def _moved_day(chosen: random.Random) -> str:
    return f"{{t}}.day {chosen.choice('+-')} 1 {chosen.choice(_ORDERS)} {chosen.choice(_DAYS)}"


def _product(chosen: random.Random) -> str:
    return f"{{t}}.x * 0.1 {chosen.choice(_ORDERS)} {chosen.choice(('0', '0.05'))}"


def _either(chosen: random.Random) -> str:
    return f"({_compared(chosen)} OR {chosen.choice((_compared, _between, _null_test))(chosen)})"


def _not(chosen: random.Random) -> str:
    return f"NOT ({_compared(chosen)} {chosen.choice(('AND', 'OR'))} {_in_list(chosen)})"


_CONDITIONS = (_compared, _compared, _between, _in_list, _null_test, _like, _sum, _moved_day, _either, _not, _product)
