"""Every call of a function or operator on every tuple of types that is accepted, with the type that it is bound to.

The calls come from the table of functions that completion shows, so a function that is added to the workbench is among
them by being there. Databases have the same text over a table of the same columns (``COLUMNS``).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from workbench.errors import WorkbenchError
from workbench.sql.algebra.expressions import Expression
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import all_help
from workbench.sql.logical import Block
from workbench.sql.schema import Schema

DIALECTS = ("spark", "duckdb", "postgres")
TYPES: dict[str, DataType] = {
    "a": INTEGER, "m": decimal(15, 2), "x": DOUBLE, "s": STRING, "d": DATE, "ts": TIMESTAMP, "p": BOOLEAN,
}  # fmt: skip
PLACES = 3
"""How many columns of each type the table has: ``a1``, ``a2``, ``a3``; a further argument is the first one again."""
COLUMNS = {f"{name}{place}": type_ for name, type_ in TYPES.items() for place in range(1, PLACES + 1)}
_SCHEMA = Schema({"t": tuple(COLUMNS.items())}, times={"t": "ts1"})
_ARGUMENT = re.compile(rf"'[^']*'|\b({'|'.join(TYPES)})\b(?!\s*\()")
_AGGREGATE = re.compile(r"SUM|AVG|MIN|MAX|COUNT|STD|VAR|PERC|MED")
_OPERATORS = ("+", "-", "*", "/", "%", "||", "=", "<", "<>", "&", "|", "//", "DIV", "^")
_FORMS = (
    *(f"a {operator} a" for operator in _OPERATORS),
    *(f"a {operator} 4" for operator in ("+", "-", "*", "/", "%", "//")),
    *(f"4 {operator} a" for operator in ("-", "/", "%")),
    *(f"a {operator} 2.5" for operator in ("+", "*", "/", "%")),
    *(f"EXTRACT({part} FROM ts)" for part in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DOY", "HOUR",
                                               "MINUTE", "SECOND", "EPOCH", "ISODOW")),
    *(f"EXTRACT({part} FROM ts - ts)" for part in ("DAY", "HOUR", "MINUTE", "EPOCH")),
    *(f"CAST(a AS {name})" for name in ("INTEGER", "BIGINT", "DECIMAL(9,1)", "DOUBLE PRECISION", "VARCHAR", "DATE",
                                        "TIMESTAMP", "BOOLEAN")),
    "-a", "ROUND(a, 1)", "ROUND(a, -1)", "CASE WHEN p THEN a ELSE a END", "CASE WHEN p THEN a ELSE 1.5 END",
    "COALESCE(a, a)", "COALESCE(a, 1.5)", "NULLIF(a, a)", "GREATEST(a, a)", "LOG(a)", "LOG(2, a)", "TRUNC(a)",
    "TRUNC(a, 1)", "SQRT(a)", "POWER(a, a)", "a ^ 2", "MOD(a, a)", "d + 1", "d - 1", "d + INTERVAL '1' DAY",
    "d - INTERVAL '1' MONTH", "ts + INTERVAL '1' HOUR", "INTERVAL '1' HOUR * a", "DATE_TRUNC('month', ts)",
    "DATE_PART('year', ts)", "DATE_PART('epoch', ts)", "DATEDIFF('day', ts, ts)", "DATE_DIFF('month', ts, ts)",
    "SUBSTRING(s, 1, 2)", "LEFT(s, 2)", "STRPOS(s, s)", "s LIKE 'a%'", "TO_CHAR(ts, 'YYYY-MM')", "SIGN(a)",
    "SUM(a)", "AVG(a)", "MIN(a)", "MAX(a)", "COUNT(a)", "SUM(DISTINCT a)", "SUM(a) FILTER (WHERE p)", "STDDEV(a)",
    "VARIANCE(a)", "VAR_POP(a)", "SUM(a / 2)", "SUM(a) / 2", "COUNT(*) / 2", "AVG(a) / 2",
    "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a)", "MEDIAN(a)",
)  # fmt: skip
"""Operators, and what the table has with other arguments."""


@dataclass(frozen=True)
class Bound:
    """A call that is accepted.

    Attributes:
        sql: the call.
        kind: ``function`` or ``aggregate``.
        expression: what it is bound to.
    """

    sql: str
    kind: str
    expression: Expression


def calls(dialect: str) -> Iterator[tuple[str, str]]:
    """The kind and the text of each call, with a column of ``COLUMNS`` for each argument; all tuples of types."""
    helps = ((known.kind, known.call) for known in all_help() if dialect in known.dialects and known.kind != "analytic")
    forms = (("aggregate" if _AGGREGATE.match(form) else "function", form) for form in _FORMS)
    seen = set[str]()
    for kind, form in (*helps, *forms):
        spans = [match for match in _ARGUMENT.finditer(form) if match.group(1)]
        for types in product(TYPES, repeat=min(len(spans), PLACES)):
            text, start = "", 0
            for place, span in enumerate(spans):
                column = f"{types[place]}{place + 1}" if place < PLACES else f"{types[0]}1"
                text += form[start : span.start()] + column
                start = span.end()
            text += form[start:]
            if text not in seen:
                seen.add(text)
                yield kind, text


def bound(kind: str, sql: str, dialect: str) -> Bound | None:
    """What a call is bound to; ``None`` where it is refused, or is no value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            query = bind(f"SELECT {sql} AS v FROM t", dialect, _SCHEMA).query
        except WorkbenchError:
            return None
    if not isinstance(query, Block) or len(query.outputs) != 1:
        return None
    return Bound(sql, kind, query.outputs[0].expression)


def kind_of(name: str) -> str:
    """The kind of a type of a database by its name, ``other`` where there is none here."""
    name = name.lower()
    for kind, names in _NAMES.items():
        if re.fullmatch(names, name):
            return kind
    return "other"


_NAMES = {
    "array": r".*\[\d*\]|array.*",
    Kind.INTEGER.value: r"u?(tiny|small|big|huge)?int(eger)?|long|byte|short",
    Kind.DECIMAL.value: r"(decimal|numeric).*",
    Kind.DOUBLE.value: r"float|double( precision)?|real",
    Kind.STRING.value: r"string|text|varchar|character varying|unknown|name|\"?char\"?",
    Kind.DATE.value: r"date",
    Kind.TIMESTAMP.value: r"timestamp.*",
    Kind.INTERVAL.value: r"interval.*",
    Kind.BOOLEAN.value: r"boolean|bool",
    "binary": r"binary|blob|bytea",
    "struct": r"struct.*|record",
    "map": r"map.*",
    "null": r"void|\"null\"",
}
