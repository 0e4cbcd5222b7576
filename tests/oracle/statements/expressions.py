"""Random expressions and conditions in the words that DuckDB and PostgreSQL share, by the kind of what they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

KINDS = "nmxsdtp"
"""Whole numbers, decimals, binary numbers, texts, days, times and truth values."""
NUMBERS = "nmx"
_LITERALS: Mapping[str, Sequence[str]] = {
    "n": ("0", "1", "2", "3", "7", "-1"),
    "m": ("0.00", "1.50", "-2.25", "10.00"),
    "x": ("CAST(0.5 AS DOUBLE PRECISION)", "CAST(-2 AS DOUBLE PRECISION)"),
    "s": ("'a'", "'b'", "''", "'ab'"),
    "d": ("DATE '2002-11-02'", "DATE '2002-10-30'"),
    "t": ("TIMESTAMP '2002-11-02 10:00:00'", "TIMESTAMP '2002-10-31 23:59:59'"),
    "p": ("TRUE", "FALSE"),
}
_CALLS: Mapping[str, Sequence[str]] = {
    "n": (
        "{n} + {n}", "{n} - {n}", "{n} * {n}", "-({n})", "ABS({n})", "LENGTH({s})", "SIGN({n})", "{n} % 3",
        "EXTRACT(year FROM {d})", "EXTRACT(dow FROM {t})", "CAST({p} AS INT)", "GREATEST({n}, {n})", "LEAST({n}, {n})",
        "POSITION('a' IN {s})", "CAST({m} AS INT)", "CAST({x} AS INT)",
    ),
    "m": ("{m} + {m}", "{m} - {m}", "-({m})", "ABS({m})", "{n} + {m}", "GREATEST({m}, {m})"),
    "x": ("{x} + {x}", "{x} * {x}", "{x} - {n}", "ABS({x})", "FLOOR({x})", "{x} / 4", "CAST({n} AS DOUBLE PRECISION)"),
    "s": (
        "{s} || {s}", "UPPER({s})", "SUBSTRING({s}, 1, 1)", "REPLACE({s}, 'a', 'b')", "CONCAT({s}, {n})", "TRIM({s})",
        "CAST({n} AS VARCHAR)", "CAST({d} AS VARCHAR)", "LPAD({s}, 3, '.')", "REVERSE({s})", "LEFT({s}, 1)",
    ),
    "d": ("{d} + {small}", "{d} - {small}", "CAST({t} AS DATE)", "GREATEST({d}, {d})"),
    "t": (
        "{t} + INTERVAL '90 minutes'", "{t} - INTERVAL '1 month'", "DATE_TRUNC('day', {t})", "CAST({d} AS TIMESTAMP)",
    ),
    "p": (),
}  # fmt: skip
_TESTS = (
    "{k} = {k}", "{k} <> {k}", "{k} < {k}", "{k} >= {k}", "{k} IS NULL", "{k} IS NOT NULL", "{k} IN ({l}, {l})",
    "{k} NOT IN ({l}, {l})", "{k} BETWEEN {k} AND {k}", "{k} IS DISTINCT FROM {k}", "{k} IS NOT DISTINCT FROM {k}",
)  # fmt: skip


@dataclass(frozen=True)
class Named:
    """What an expression can read: a column, and its kind."""

    text: str
    kind: str


class Expressions:
    """Writes expressions over some columns.

    Example:
        >>> Expressions(Random(1)).of("n", [Named("t.a", "n")], 0) in ("t.a", "0", "1", "2", "3", "7", "-1")
        True
    """

    def __init__(self, chosen: Random) -> None:
        self.chosen = chosen

    def of(self, kind: str, columns: Sequence[Named], depth: int) -> str:
        """An expression of a kind; of depth 0 a column, or a constant."""
        own = [column.text for column in columns if column.kind == kind]
        draw = self.chosen.random()
        if depth <= 0 or draw < 0.3:
            return self.chosen.choice(own) if own and self.chosen.random() < 0.85 else self.constant(kind)
        if kind == "p":
            return f"({self.condition(columns, depth - 1)})"
        if draw < 0.45:
            return self._choice(kind, columns, depth - 1)
        form = self.chosen.choice(_CALLS[kind])
        while "{" in form:
            at = form.index("{")
            name, rest = form[at + 1 : form.index("}", at)], form[form.index("}", at) + 1 :]
            text = self.chosen.choice("123") if name == "small" else self.of(name, columns, depth - 1)
            form = f"{form[:at]}{text}{rest}"
        return f"({form})"

    def constant(self, kind: str) -> str:
        """A literal of a kind."""
        return self.chosen.choice(_LITERALS[kind])

    def condition(self, columns: Sequence[Named], depth: int) -> str:
        """A condition over some columns."""
        draw = self.chosen.random()
        if depth > 0 and draw < 0.3:
            word = self.chosen.choice(("AND", "OR"))
            return f"({self.condition(columns, depth - 1)} {word} {self.condition(columns, depth - 1)})"
        if depth > 0 and draw < 0.36:
            return f"NOT ({self.condition(columns, depth - 1)})"
        truths = [column.text for column in columns if column.kind == "p"]
        if truths and draw < 0.42:
            return self.chosen.choice(truths)
        if draw < 0.5:
            return f"{self.of('s', columns, depth - 1)} LIKE '{self.chosen.choice(('a%', '%b', '_', '%a%'))}'"
        kind = self.chosen.choice([c.kind for c in columns if c.kind != "p"] or [*"ns"])
        form = self.chosen.choice(_TESTS).replace("{l}", self.constant(kind))
        while "{k}" in form:
            form = form.replace("{k}", self.of(kind, columns, depth - 1), 1)
        return f"({form})"

    def _choice(self, kind: str, columns: Sequence[Named], depth: int) -> str:
        first, second = (self.of(kind, columns, depth) for _ in range(2))
        match self.chosen.randrange(4):
            case 0:
                return f"CASE WHEN {self.condition(columns, depth)} THEN {first} ELSE {second} END"
            case 1:
                return f"CASE WHEN {self.condition(columns, depth)} THEN {first} END"
            case 2:
                return f"NULLIF({first}, {second})"
            case _:
                return f"COALESCE({first}, {second})"
