"""Values of every type, and every way in which a text puts two of them side by side, in three dialects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typed_values import KINDS

from workbench.sql.algebra.types import INTEGER
from workbench.sql.schema import Schema

DIALECTS = ("spark", "duckdb", "postgres")
FAMILIES = ("ixm", "s", "p", "dtz", "b", "a", "r", "n")
"""Types whose values compare with one another. Maps compare with nothing."""
STORED = tuple(KINDS)[:-1]
"""Columns of a stream by their kinds; an interval is the difference of two times."""
SCHEMA = Schema(
    streams={
        "M": (("id", INTEGER), *((name, KINDS[name]) for name in STORED)),
        "N": (("id", INTEGER), *((f"{name}2", KINDS[name]) for name in STORED)),
        **{f"K{name}": (("id", INTEGER), ("k", KINDS[name])) for name in STORED},
    }
)


@dataclass(frozen=True)
class Operand:
    """A value of a type: a column of a stream, or a constant."""

    type: str
    constant: bool = False

    def text(self, dialect: str, second: bool = False) -> str:
        """Its text; of the second of two streams."""
        if self.constant:
            return CONSTANTS[self.type][DIALECTS.index(dialect) if len(CONSTANTS[self.type]) > 1 else 0]
        suffix, stream = ("2", "N") if second else ("", "M")
        if self.type == "n":
            return f"({stream}.t{suffix} - TIMESTAMP '2024-01-01 00:00:00')"
        return f"{stream}.{self.type}{suffix}"


CONSTANTS = {
    "i": ("2",),
    "x": ("CAST('2.5' AS DOUBLE)", "CAST('2.5' AS DOUBLE)", "CAST('2.5' AS DOUBLE PRECISION)"),
    "m": ("1.50",),
    "s": ("'b'",),
    "p": ("TRUE",),
    "d": ("DATE '2024-01-02'",),
    "t": ("TIMESTAMP '2024-01-02 03:00:00'",),
    "z": ("TIMESTAMPTZ '2024-01-02 03:00:00+00'",),
    "b": ("X'01ff'", "'\\x01\\xff'::BLOB", "'\\x01ff'::bytea"),
    "a": ("ARRAY(1, 2)", "[1, 2]", "ARRAY[1, 2]"),
    "r": ("NAMED_STRUCT('u', 1, 'v', 'a')", "{'u': 1, 'v': 'a'}", "ROW(1, 'a')"),
    "h": ("MAP('k', 1)", "MAP {'k': 1}", "MAP('k', 1)"),
    "n": ("INTERVAL '1' DAY",),
}  # fmt: skip
"""Constants: one text for all dialects, or one for each."""
VALUES = {
    "=": "{a} = {b}",
    "<>": "{a} <> {b}",
    "<": "{a} < {b}",
    ">=": "{a} >= {b}",
    "is not distinct from": "{a} IS NOT DISTINCT FROM {b}",
    "in": "{a} IN ({b}, {b})",
    "in two": "{a} IN ({a}, {b})",
    "not in": "{a} NOT IN ({b})",
    "between": "{a} BETWEEN {b} AND {b}",
    "between others": "{b} BETWEEN {a} AND {b}",
    "like": "{a} LIKE {b}",
    "case": "CASE WHEN M.id > 2 THEN {a} ELSE {b} END",
    "case of": "CASE {a} WHEN {b} THEN 1 ELSE 0 END",
    "coalesce": "COALESCE({a}, {b})",
    "nullif": "NULLIF({a}, {b})",
    "greatest": "GREATEST({a}, {b})",
    "least": "LEAST({a}, {b})",
    "row": "({a}, M.id) = ({b}, 1)",
    "array": "{array_a_b}",
    "contains": "{contains}",
    "not": "NOT ({a} > {b} OR M.id > 2)",
    "lag": "LAG({a}, 1, {b}) OVER (ORDER BY M.id)",
    "sum": "{a} + {b}",
    "difference": "{a} - {b}",
}  # fmt: skip
"""Values of two others, over one stream."""
QUERIES = {
    "in subquery": "SELECT M.id FROM M WHERE {a} IN (SELECT {b2} FROM N)",
    "not in subquery": "SELECT M.id FROM M WHERE {a} NOT IN (SELECT {b2} FROM N WHERE N.id < 3)",
    "any": "SELECT M.id FROM M WHERE {a} = ANY (SELECT {b2} FROM N)",
    "all": "SELECT M.id FROM M WHERE {a} >= ALL (SELECT {b2} FROM N WHERE N.id < 3)",
    "scalar": "SELECT M.id FROM M WHERE {a} = (SELECT MAX({b2}) FROM N)",
    "exists": "SELECT M.id FROM M WHERE EXISTS (SELECT 1 FROM N WHERE {a} = {b2})",
    "on": "SELECT M.id, N.id AS o FROM M JOIN N ON {a} = {b2}",
    "left": "SELECT M.id, N.id AS o FROM M LEFT JOIN N ON {a} = {b2} AND N.id > 1",
    "band": "SELECT M.id, N.id AS o FROM M JOIN N ON {a} < {b2}",
    "union": "SELECT {a} AS v FROM M UNION SELECT {b2} FROM N",
    "union all": "SELECT {a} AS v FROM M UNION ALL SELECT {b2} FROM N",
    "intersect": "SELECT {a} AS v FROM M INTERSECT SELECT {b2} FROM N",
    "except": "SELECT {a} AS v FROM M EXCEPT SELECT {b2} FROM N",
    "having": "SELECT M.p, COUNT(*) AS n FROM M GROUP BY M.p HAVING MAX({a}) > MIN({b})",
    "max": "SELECT MAX(CASE WHEN M.id > 2 THEN {a} ELSE {b} END) AS v FROM M",
    "max by": "SELECT MAX_BY({a}, {b}) AS v FROM M",
    "filter": "SELECT COUNT(*) FILTER (WHERE {a} = {b}) AS n FROM M",
}  # fmt: skip
USING = "SELECT K{a}.id, k FROM K{a} JOIN K{b} USING (k)"
_ARRAYS = {"spark": "ARRAY({a}, {b})", "duckdb": "[{a}, {b}]", "postgres": "ARRAY[{a}, {b}]"}
_CONTAINS = {
    "spark": "ARRAY_CONTAINS(ARRAY({a}), {b})",
    "duckdb": "LIST_CONTAINS([{a}], {b})",
    "postgres": "{b} = ANY (ARRAY[{a}])",
}


def written(form: str, a: Operand, b: Operand, dialect: str) -> str:
    """A form of ``VALUES`` or ``QUERIES`` over two operands, as a value or a query."""
    sides = {"a": a.text(dialect), "b": b.text(dialect), "b2": b.text(dialect, second=True)}
    arrays = {"array_a_b": _ARRAYS[dialect].format(**sides), "contains": _CONTAINS[dialect].format(**sides)}
    return (VALUES.get(form) or QUERIES[form]).format(**sides, **arrays)


def operands(constants: bool) -> Iterator[tuple[Operand, Operand]]:
    """All pairs of columns, or those of which one is a constant."""
    for a in KINDS:
        for b in KINDS:
            if not constants:
                yield Operand(a), Operand(b)
            else:
                yield Operand(a), Operand(b, constant=True)
                yield Operand(a, constant=True), Operand(b)


def compare(a: Operand, b: Operand) -> bool:
    """Whether values of two types compare."""
    return any(a.type in family and b.type in family for family in FAMILIES)
