"""The text of a record of PostgreSQL: ``t::text`` is ``(1,"a b",)``."""

from __future__ import annotations

import re

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, STRING, Kind
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.results import as_text
from workbench.sql.functions.structs import fields

_KINDS = (Kind.STRING, Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)
_QUOTED = re.compile(r"""["\\(),\s]""", re.ASCII)


def record_as_text(b: ExpressionBinder, value: Expression, node: exp.Expr) -> Expression:
    """A struct as the text of a record.

    Raises:
        UnsupportedError: a field is an array, or of another type whose text is not known.
    """
    parts = []
    for name, part in fields(value):
        if part.type.kind not in _KINDS or part.type.json or part.type.zoned:
            b.source.refuse(f"the text of a record with {part.type}, in {name},", node, "make it of other columns")
        parts.append(_truth(part) if part.type == BOOLEAN else as_text(b, part, node))
    return call("record_text_in_postgres", *parts)


def _truth(value: Expression) -> Expression:
    letters = (value, Constant("t", STRING), call("not", value), Constant("f", STRING))
    return call("case", *letters, Constant(None, STRING))


def _record(*parts: str | None) -> str:
    return f"({','.join('' if part is None else _part(part) for part in parts)})"


def _part(text: str) -> str:
    if text and not _QUOTED.search(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


DECLARED = [function("record_text_in_postgres(string[, string...]): string", python=_record, of_null=True)]
