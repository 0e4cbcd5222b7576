"""The calls a random query is made of: every function that the workbench reads, by the type of what it gives.

They come from the table of functions that completion shows, so a function that is added to the workbench is in the
grammar by being there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from workbench.errors import WorkbenchError
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.function_help import all_help
from workbench.sql.logical import Block
from workbench.sql.schema import Schema

TRIED = {
    "a": INTEGER, "m": decimal(15, 2), "x": DOUBLE, "s": STRING, "d": DATE, "ts": TIMESTAMP, "p": BOOLEAN,
}  # fmt: skip
"""The columns of the calls in the table."""
_SCHEMA = Schema({"t": tuple(TRIED.items())}, times={"t": "ts"})
_COLUMN = re.compile(rf"'[^']*'|\b({'|'.join(TRIED)})\b(?!\s*\()")
_OVER = re.compile(r"\s+OVER \(.*\)$")
SCALARS = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN})
"""Types of which the streams have columns, so that any expression can be made of them."""
FURTHER = frozenset({Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.BINARY, Kind.INTERVAL})
"""Types that answers have too."""
DIALECTS = ("duckdb", "postgres")
"""Dialects beside Spark's."""
_OWN = frozenset(["/", "%", "DIV", "<=>", "DISTINCT", "AVG"])
"""Words of the forms that mean something else in other dialects, or are not there."""
_FORMS: tuple[tuple[str, str], ...] = (
    *(("function", f"a {operator} a") for operator in ("+", "-", "*", "/", "%", "DIV")),
    *(("function", f"m {operator} m") for operator in ("+", "-", "*")),
    *(("function", f"{one} {operator} {one}") for one in "amxsd" for operator in ("=", "<", ">=", "<>", "<=>")),
    *(("function", form) for form in ("s || s", "x + x", "x * 0.5E0", "CAST(a AS DECIMAL(15,2))", "d - d", "d + 1")),
    *(("function", f"CASE WHEN p THEN {one} ELSE {one} END") for one in TRIED),
    *(("function", f"COALESCE({one}, {one})") for one in TRIED),
    *(("function", form) for form in ("s LIKE '%b%'", "a IN (0, 2)", "a BETWEEN 0 AND 2", "s IS NULL", "p AND p")),
    *(("function", form) for form in ("p OR p", "NOT p", "x IS DISTINCT FROM x", "a IS NULL", "CAST(a AS STRING)")),
    *(("aggregate", f"{name}({one})") for name in ("MIN", "MAX", "COUNT") for one in TRIED),
    *(("aggregate", f"COUNT(DISTINCT {one})") for one in TRIED),
    *(("aggregate", form) for form in ("SUM(m)", "AVG(m)", "SUM(a)", "SUM(x)", "COUNT(*)", "MIN(p)")),
)
"""Operators, and what the table has once for several types."""
_RANKS = ("row_number()", "rank()", "dense_rank()")


@dataclass(frozen=True)
class Production:
    """A call with a place for each of its arguments.

    Attributes:
        kind: ``function``, ``aggregate`` or ``analytic``.
        parts: the text between the arguments.
        arguments: their types.
        type: what it gives.
        common: whether it is written alike and means the same in ``DIALECTS``.
    """

    kind: str
    parts: tuple[str, ...]
    arguments: tuple[DataType, ...]
    type: DataType
    common: bool = False

    def text(self, arguments: list[str]) -> str:
        """The call of these arguments."""
        pieces = [self.parts[0]]
        for argument, part in zip(arguments, self.parts[1:], strict=True):
            pieces += [argument, part]
        return "".join(pieces)


@cache
def productions(kind: str) -> Mapping[Kind, tuple[Production, ...]]:
    """All calls of a kind, by the kind of type that they give."""
    found: defaultdict[Kind, list[Production]] = defaultdict(list)
    help_ = ((h.kind, h.call) for h in all_help() if "spark" in h.dialects)
    for said, call in dict.fromkeys((*_FORMS, *help_)):
        type_ = _type(call) if said == kind else None
        if type_ is not None and type_.kind in SCALARS | FURTHER:
            text = _OVER.sub("", call) if kind == "analytic" else call
            common = ((said, call) in _FORMS and not _OWN & set(re.split(r"[ (]", call))) or text in _RANKS
            found[type_.kind].append(_production(kind, text, type_, common))
    return {k: tuple(v) for k, v in found.items()}


def _production(kind: str, call: str, type_: DataType, common: bool) -> Production:
    parts, arguments, start = [], [], 0
    for match in _COLUMN.finditer(call):
        if match.group(1):
            parts.append(call[start : match.start()])
            arguments.append(TRIED[match.group(1)])
            start = match.end()
    return Production(kind, (*parts, call[start:]), tuple(arguments), type_, common)


def _type(call: str) -> DataType | None:
    """The type of a call over the tried columns, if it is one value of a row or of a group."""
    try:
        query = bind(f"SELECT {call} AS v FROM t", "spark", _SCHEMA).query
    except WorkbenchError:
        return None
    single = isinstance(query, Block) and len(query.outputs) == 1
    return query.outputs[0].expression.type if single else None
