"""Random questions over rows that are equal in most columns: OVER, first rows, collected values, also stacked."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from oracle.bags import Row

from workbench.errors import UnsupportedError
from workbench.sql.algebra.types import parse_expression_type
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

VALUES: Mapping[str, Sequence[object]] = {
    "BIGINT": (1, 2, 3, None),
    "VARCHAR": ("a", "b", "", None),
    "DOUBLE": (0.1, 1e16, -0.0, 0.0, math.nan, None),
    "DECIMAL(15,2)": ("0.10", "0.20", None),
    "BOOLEAN": (True, False, None),
    "DATE": ("2024-01-01", "2024-01-02", None),
    "BLOB": (b"", b"a\x00", b"\xff", None),
    "BIGINT[]": ([1, 2], [1], [], None),
}
_ARROW = {
    "BIGINT": pa.int64(), "VARCHAR": pa.string(), "DOUBLE": pa.float64(), "DECIMAL(15,2)": pa.decimal128(15, 2),
    "BOOLEAN": pa.bool_(), "DATE": pa.date32(), "BLOB": pa.binary(), "BIGINT[]": pa.list_(pa.int64()),
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A table with few different values: names and types of its columns, and its rows."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]

    def arrow(self, chosen: Sequence[Row], weights: Sequence[int] | None = None) -> pa.Table:
        """Some rows of these columns; with weights in the column ``w``."""
        arrays = [
            pa.array([row[at] for row in chosen]).cast(_ARROW[type_]) if chosen else pa.array([], _ARROW[type_])
            for at, (_, type_) in enumerate(self.columns)
        ]
        made = pa.table(arrays, names=[name for name, _ in self.columns])
        return made if weights is None else made.append_column("w", pa.array(weights, pa.int64()))


@dataclass(frozen=True)
class Question:
    """A query of a table that is called ``{t}``.

    Attributes:
        sql: in DuckDB's words.
        allowed: for each function the columns of the rows and its value, as DuckDB is to be asked; empty: it cannot
            tell.
    """

    sql: str
    allowed: tuple[str, ...] = ()


def random_table(chosen: random.Random) -> Table:
    types = ["BIGINT", *(chosen.choice(list(VALUES)) for _ in range(chosen.randint(0, 3)))]
    columns = tuple((f"c{at}", type_) for at, type_ in enumerate(types))
    few = [chosen.sample(VALUES[type_], min(3, len(VALUES[type_]))) for type_ in types]
    return Table(columns, tuple(tuple(map(chosen.choice, few)) for _ in range(chosen.randint(8, 14))))


NUMBERS = ("BIGINT", "DOUBLE", "DECIMAL(15,2)")
ENDS = ("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "UNBOUNDED FOLLOWING")


@dataclass(frozen=True)
class Call:
    """A call with OVER: as it is asked, with the order of peers written out, and its type.

    ``allowed`` is empty where DuckDB cannot tell: of peers in a frame of RANGE or GROUPS the order is not its own.
    """

    asked: str
    allowed: str
    type: str


class Questions:
    """Random questions over columns of some types."""

    def __init__(self, chosen: random.Random, columns: Sequence[tuple[str, str]]) -> None:
        self.chosen = chosen
        self.columns = [name for name, _ in columns]
        self.types = dict(columns)
        self.ordered = [name for name, type_ in columns if not type_.endswith("]")]
        self.numbers = [name for name, type_ in columns if type_ in NUMBERS]
        self.shown = ", ".join(self.columns)

    def some(self, most: int) -> list[str]:
        """Some columns that have an order, in any order."""
        return self.chosen.sample(self.ordered, self.chosen.randint(0, min(most, len(self.ordered))))

    def keys(self, least: int = 0) -> str:
        """What ORDER BY says; of arrays alone nothing."""
        ends = ("ASC NULLS FIRST", "DESC NULLS LAST", "ASC NULLS LAST", "DESC NULLS FIRST")
        names = self.some(2) or self.ordered[:least]
        return ", ".join(f"{name} {self.chosen.choice(ends)}" for name in names)

    def call(self) -> Call:
        """A function with OVER."""
        value, kind = self.chosen.choice(self.columns), self.chosen.random()
        type_, partition, keys = self.types[value], self.some(2), self.keys()
        by = f"PARTITION BY {', '.join(partition)} " if partition else ""
        ties = ", ".join(filter(None, [keys, *(f"{name} ASC NULLS FIRST" for name in self.columns)]))
        ordered = f"ORDER BY {keys} " if keys else ""
        knows = len(self.ordered) == len(self.columns)  # arrays have another order there

        def over(function: str, type_: str, frame: str = "", tells: bool = True) -> Call:
            told = ties if tells else keys
            allowed = f"{function} OVER ({by}{f'ORDER BY {told} ' if told else ''}{frame})" if knows else ""
            return Call(f"{function} OVER ({by}{ordered}{frame})", allowed, type_)

        if kind < 0.2:
            return over(self.chosen.choice(("row_number()", "row_number()", "ntile(2)")), "BIGINT")
        if kind < 0.4:
            shifted = (f"lag({value})", f"lead({value}, 2)", f"lag({value} IGNORE NULLS)", f"lead({value})")
            return over(self.chosen.choice(shifted), type_)
        if kind < 0.5 and keys:
            numbered = self.chosen.choice(("rank()", "dense_rank()", "percent_rank()", "cume_dist()"))
            return over(numbered, "DOUBLE" if "_dist" in numbered or "percent" in numbered else "BIGINT", tells=False)
        if kind < 0.6:
            best = self.chosen.choice(self.ordered)
            whole = self.chosen.choice((f"array_agg({value})", f"min_by({value}, {best})", f"mode({best})"))
            type_ = "[]" if whole.startswith("array") else self.types[best] if whole.startswith("mode") else type_
            return Call(f"{whole} OVER ({by})", "", type_)
        first, last = sorted(self.chosen.sample(range(len(ENDS)), 2))
        between = f"BETWEEN {ENDS[min(first, 4)]} AND {ENDS[max(last, 1)]}"
        functions = [(f"{name}({value})", type_) for name in ("first_value", "last_value", "min", "max")]
        functions += [(f"nth_value({value}, 2)", type_), (f"count({value})", "BIGINT"), ("count(*)", "BIGINT")]
        functions += [(f"{name}({number})", self.types[number]) for number in self.numbers for name in ("sum", "avg")]
        if type_.endswith("]"):  # arrays have no least one
            functions = [one for one in functions if not one[0].startswith(("min", "max"))]
        function, of_type = self.chosen.choice(functions)
        if kind < 0.85 or not keys:
            return over(function, of_type, f"ROWS {between}")
        return replace(over(function, of_type, f"GROUPS {between}", tells=False), allowed="")

    def calls(self) -> list[Call]:
        """A few functions."""
        return [self.call() for _ in range(self.chosen.choice((1, 2, 2, 2, 3)))]

    def test(self) -> str:
        """A condition of a function."""
        number = next(call for call in iter(self.call, None) if call.type == "BIGINT")
        return f"{number.asked} IS DISTINCT FROM {self.chosen.randint(1, 3)}"

    def analytic(self, source: str = "{t}") -> Question:
        """Functions beside each other."""
        calls = self.calls()
        allowed = tuple(f"SELECT {self.shown}, {call.allowed} FROM {source}" if call.allowed else "" for call in calls)
        return Question(f"SELECT {self.shown}, {_named(calls)} FROM {source}", allowed)

    def over(self, inner: str, columns: Sequence[tuple[str, str]]) -> Question:
        """Something over the rows of another query, of which SQL leaves more open."""
        outer, source, what = Questions(self.chosen, columns), f"({inner}) v", self.chosen.random()
        if what < 0.5 or not outer.ordered:
            return Question(outer.analytic(source).sql)
        if what < 0.65:
            more = f", {_named(outer.calls())}" if self.chosen.random() < 0.5 else ""
            return Question(f"SELECT {outer.shown}{more} FROM {source} QUALIFY {outer.test()}")
        if what < 0.8:
            limit = f"LIMIT {self.chosen.randint(1, 4)} OFFSET {self.chosen.randint(0, 2)}"
            shown = ", ".join(outer.some(4) or outer.ordered[:1])
            return Question(f"SELECT {shown} FROM {source} ORDER BY {outer.keys(1)} {limit}")
        on = self.chosen.choice(outer.ordered)
        if what < 0.9:
            return Question(f"SELECT DISTINCT ON ({on}) {outer.shown} FROM {source} ORDER BY {on}, {outer.keys(1)}")
        value = self.chosen.choice(outer.ordered)
        listed = f"array_agg({value} ORDER BY {outer.keys(1)}) AS l"
        best = f"min_by({value}, {on}) AS m, max_by({on}, {value}) AS x"
        return Question(f"SELECT {on} AS g, {listed}, {best} FROM {source} GROUP BY {on}")

    def question(self) -> Question:
        """A query of rows, or over a query that numbers rows, or repeats them."""
        shown, own, calls = self.shown, list(self.types.items()), self.calls()
        functions = [*own, *((f"f{at}", call.type) for at, call in enumerate(calls))]
        key, last = self.chosen.choice(self.ordered), self.ordered[-1]
        pairs = f"SELECT {', '.join(f'a.{n}, b.{n} AS d{at}' for at, n in enumerate(self.columns))} FROM {{t}} a"
        both = [pair for at, (name, type_) in enumerate(own) for pair in ((name, type_), (f"d{at}", type_))]
        numbered = f"SELECT {shown}, {_named(calls)} FROM {{t}}"
        kinds: list[tuple[str, list[tuple[str, str]]]] = [
            (numbered, functions),
            (numbered, functions),
            (f"{numbered} QUALIFY {self.test()}", functions),
            (f"{pairs} JOIN {{t}} b ON a.{key} = b.{key}", both),
            (f"{pairs} LEFT JOIN {{t}} b ON a.{key} = b.{key} AND b.{last} IS NOT NULL", both),
            (f"{pairs} ASOF JOIN {{t}} b ON a.{key} = b.{key} AND a.{last} >= b.{last}", both),
            (f"SELECT {shown} FROM {{t}} UNION ALL SELECT {shown} FROM {{t}}", own),
            (f"SELECT {shown}, COUNT(*) AS n FROM {{t}} GROUP BY {shown}", [*own, ("n", "BIGINT")]),
            (f"SELECT {shown} FROM {{t}} ORDER BY {self.keys(1)} LIMIT 5", own),
        ]
        return self.analytic() if self.chosen.random() < 0.4 else self.over(*self.chosen.choice(kinds))


def _named(calls: Sequence[Call]) -> str:
    return ", ".join(f"{call.asked} AS f{at}" for at, call in enumerate(calls))


_NAMES = {"BLOB": "BINARY", "BIGINT[]": "ARRAY<BIGINT>"}
"""Types by the names that the workbench has for them, where these are others."""


def accepted(questions: Questions, count: int) -> list[Question]:
    """Some questions that are no texts that are refused by name."""
    schema = Schema(
        {"t": tuple((name, parse_expression_type(_NAMES.get(type_, type_))) for name, type_ in questions.types.items())}
    )
    made: list[Question] = []
    while len(made) < count:
        question = questions.question()
        try:
            bind(question.sql.format(t="t"), "duckdb", schema)
        except UnsupportedError:
            continue
        made.append(question)
    return made
