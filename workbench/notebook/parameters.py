"""Values of the notebook in the SQL of a cell: ``{{name}}`` inserts text, ``:name`` a literal of the value's type.

Placeholders in comments are left alone. ``{{name}}`` also works inside quotes, since it is text; ``:name`` does not,
since a literal inside a literal is nothing.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sqlglot import exp

from workbench.errors import MagicError, nearest, with_article

COMMENT = r"--[^\n]*|/\*.*?\*/"
QUOTED = r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`"
INSERTED = re.compile(rf"(?P<skip>{COMMENT})|\{{\{{\s*(?P<name>\w+)\s*\}}\}}", re.DOTALL)
BOUND = re.compile(rf"(?P<skip>{COMMENT}|{QUOTED})|(?<![\w:]):(?P<name>[A-Za-z_]\w*)", re.DOTALL)


def fill_placeholders(sql: str, variables: Mapping[str, Any], dialect: str) -> str:
    """The SQL of a cell with its placeholders filled in.

    Args:
        sql: the cell's text.
        variables: the notebook's namespace.
        dialect: whose quoting rules literals follow.

    Raises:
        MagicError: a name is unknown, or its value is of a type that has no literal.

    Example:
        >>> fill_placeholders("SELECT {{what}} FROM f WHERE town = :t", {"what": "fee", "t": "L'Aquila"}, "oracle")
        "SELECT fee FROM f WHERE town = 'L''Aquila'"
    """
    inserted = _replace(INSERTED, sql, variables, str)
    return _replace(BOUND, inserted, variables, lambda value: sql_literal(value, dialect))


def placeholders(sql: str) -> set[str]:
    """The names that the SQL of a cell has placeholders for.

    Example:
        >>> sorted(placeholders("SELECT {{what}} FROM f WHERE fee > :least -- :none"))
        ['least', 'what']
    """
    return {m["name"] for pattern in (INSERTED, BOUND) for m in pattern.finditer(sql) if m["name"] is not None}


def sql_literal(value: Any, dialect: str) -> str:
    """A Python value as a SQL literal of the same type.

    A float is written in decimal digits, as an analyst would type it, so that comparisons with money stay exact.

    Raises:
        MagicError: the type has no literal.

    Example:
        >>> sql_literal(dt.date(2002, 11, 27), "oracle"), sql_literal(1e-3, "spark")
        ("TO_DATE('2002-11-27', 'YYYY-MM-DD')", '0.001')
    """
    value = value.item() if hasattr(value, "item") else value  # numpy scalars
    match value:
        case float() | Decimal() | dt.datetime() if not _is_definite(value):
            raise MagicError(f"{value} has no literal in SQL", hint="for a missing value bind None")
        case float() | Decimal():
            return format(Decimal(str(value)), "f")
        case dt.datetime() if value.tzinfo is not None:
            return f"CAST('{value.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f}+00:00' AS TIMESTAMP WITH TIME ZONE)"
        case dt.datetime():
            return f"CAST('{value:%Y-%m-%d %H:%M:%S.%f}' AS TIMESTAMP)"
        case None | bool() | int() | str() | dt.date():
            return exp.convert(value).sql(dialect=dialect)
        case _:
            raise MagicError(
                f"{with_article(type(value).__name__)} has no literal in SQL",
                hint="numbers, text, dates, times and None have; {{name}} inserts any text",
            )


def _is_definite(value: float | Decimal | dt.datetime) -> bool:
    """Neither infinite nor one of the missing values of Python and pandas, which differ from themselves."""
    return value == value and (isinstance(value, dt.datetime) or Decimal(str(value)).is_finite())


def _of_path(sql: str, at: int) -> str | None:
    """A hint for a colon behind a value, which is a path into it elsewhere."""
    return "a field of a struct is behind a dot: s.x; of JSON, functions have it" if sql[at - 1 : at] == ")" else None


def _replace(pattern: re.Pattern[str], sql: str, variables: Mapping[str, Any], write: Callable[[Any], str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        if (name := match["name"]) is None:
            return match[0]
        if name not in variables:
            names = [known for known in variables if not known.startswith("_")]
            raise MagicError(
                f"there is no variable {name} in the notebook",
                sql=sql,
                position=match.start(),
                length=len(match[0]),
                hint=nearest(name, names) or _of_path(sql, match.start()) or "define it in a cell above",
            )
        try:
            return write(variables[name])
        except MagicError as error:
            raise MagicError(
                error.message, sql=sql, position=match.start(), length=len(match[0]), hint=error.hint
            ) from None

    return pattern.sub(replacement, sql)
