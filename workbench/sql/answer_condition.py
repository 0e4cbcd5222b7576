"""A condition over the rows of an answer, as an analyst types it to look at some of them."""

from __future__ import annotations

import re

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.column_names import display_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.algebra.zones import UTC
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.schema import Schema
from workbench.sql.syntax.dialects import SPARK_FAMILY

_MOST_SHOWN = 60
"""Signs of a value in a hint."""
_ROW = re.compile(r"(?:row|line|nr|no|number)\s*[=#]?\s*\d+", re.IGNORECASE)
"""A row by its number."""
_SIGN = re.compile(r"<>|[<>]=?|=")
_VALUE = re.compile(r"""(?:(?P<column>\w+)\s+)?(?:'(?P<text>[^']*)'|(?P<word>[\w.]+))""")
"""A value, or a column and a value, with no sign between them."""
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'")
_ANSWER = "answer"
"""The name of the rows in errors, and in the condition if it uses one."""


def bind_condition(
    condition: str, dialect: str, columns: tuple[tuple[str, DataType], ...], timezone: str = UTC
) -> PredSet:
    """Bind a condition, as in WHERE, over some columns; it names them by their stored names.

    Args:
        condition: SQL.
        dialect: a dialect name of sqlglot.
        columns: names in lower case, and types.
        timezone: as in ``Schema``.

    Raises:
        SqlError: a mistake, with its place, or a value that is compared with nothing.
        UnsupportedError: it needs more than the columns of one row.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> str(bind_condition("n > 2 + 3", "spark", (("n", INTEGER),)))
        'n > 5'
    """
    _check_compares(condition, columns)
    _check_quotes(condition, dialect, columns)
    end = "\n)" if "--" in condition else ")"  # a comment would hide it
    try:
        text = f"SELECT * FROM {_ANSWER} WHERE ({condition}{end}"
        query = bind(text, dialect, Schema({_ANSWER: columns}, timezone=timezone)).query
    except SqlError as error:
        if "is an aggregate" in error.message:
            error.hint = (
                f"an answer's rows are looked at one by one, by their columns: {', '.join(n for n, _ in columns)}"
            )
        raise
    if not isinstance(query, Block) or len(query.inputs) != 1 or not query.is_plain or query.window:
        hint = "compare its columns with constants; register a query of its own for more: SELECT … FROM the query"
        raise UnsupportedError("a condition on an answer reads one of its rows at a time", hint=hint)
    return query.where


def _check_quotes(condition: str, dialect: str, columns: tuple[tuple[str, DataType], ...]) -> None:
    """Refuse the name of a column in quotes that make it a text in this dialect, and numbers with a decimal comma."""
    names = {display_name(name).lower() for name, _ in columns}
    for word in re.findall(r'"([^"]+)"', _TEXT.sub("", condition)) if dialect in SPARK_FAMILY else ():
        if word.lower() in names:
            raise SqlError(f'"{word}" is a text here, and no column', hint=f"`{word}` is the column")
    if comma := re.fullmatch(r"[^('\"]*[<>=] *(\d+),(\d+)", condition.strip()):
        hint = f"a number has a point before its fraction: {comma[1]}.{comma[2]}"
        raise SqlError(f"{comma[1]},{comma[2]} is no number", hint=hint)


def _check_compares(condition: str, columns: tuple[tuple[str, DataType], ...]) -> None:
    """Refuse a value without a column, or without a sign between the two: what to type is known then."""
    if _ROW.fullmatch(condition.strip()) and (first := next((display_name(name) for name, _ in columns), None)):
        raise SqlError("a row has no number", hint=f"its values name it, as in {first} = …")
    numbers = [display_name(name) for name, type_ in columns if type_.numeric]
    if (sign := _SIGN.match(condition.strip())) is not None and numbers:
        hint = f"write {numbers[0]} {condition.strip()}"
        raise SqlError(f"nothing is compared before {sign[0]}", hint=hint)
    if (found := _VALUE.fullmatch(condition.strip())) is None:
        return
    names = {name.lower(): name for name, _ in columns}
    column, value = names.get((found["column"] or "").lower()), found["text"] or found["word"]
    if (found["column"] and column is None) or value.lower() in (*names, "true", "false", "null"):
        return
    is_number = found["word"] is not None and re.fullmatch(r"\d+(\.\d+)?", value) is not None
    fitting = [name for name, type_ in columns if (type_.kind is Kind.STRING) is not is_number]
    value = value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}…"
    shown, literal = display_name(column or (fitting or [*names])[0]), value if is_number else f"'{value}'"
    said = f"{literal} is a value alone" if column is None else f"there is no sign between {shown} and {literal}"
    is_text = is_number and column is not None and dict(columns)[column].kind is Kind.STRING
    literal = f"'{value}'" if is_text else literal
    raise SqlError(f"{said}, and a condition compares a column", hint=f"{shown} = {literal}")
