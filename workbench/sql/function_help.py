"""Help for the built-in functions of each dialect: how they are called, what they do, an example.

A function that is one for one with a name says it in its declaration (``functions``). The table ``function_help.jsonl``
has what names mean otherwise, in one dialect or in all; ``scripts/function_table.py`` makes it by trying all names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.functions.declaration import Function

LACKS_ARGUMENT = "an argument is missing"
TABLE = Path(__file__).with_name("function_help.jsonl")

_COLUMNS = {"integer": "a", "double": "x", "string": "s", "date": "d", "timestamp": "ts", "moment": "ts",
            "boolean": "p", "any": "s"}  # fmt: skip
"""Type of an argument -> the column of the trials that has it."""
_HELP = re.compile(r"(\w+\(.*?\)) (.+)")

FunctionKind = Literal["function", "aggregate", "analytic"]
"""A function of one row, an aggregate, or a function that needs OVER."""


@dataclass(frozen=True)
class FunctionHelp:
    """A function as an analyst looks it up.

    Attributes:
        name: in lower case.
        kind: what it is computed of.
        signature: the function with its arguments.
        purpose: a sentence; may be empty.
        example: a query that calls it, with its answer; may be empty.
        call: a call with the columns of the trials, which is bound.
        dialects: where it is all that.
    """

    name: str
    kind: FunctionKind
    signature: str
    purpose: str
    example: str
    call: str
    dialects: tuple[str, ...]


@cache
def all_help() -> tuple[FunctionHelp, ...]:
    """All functions; a name is there once for each of its meanings."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    named = tuple(FunctionHelp(**(row := json.loads(line)) | {"dialects": tuple(row["dialects"])}) for line in lines)
    return named + tuple(_declared(function) for function in FUNCTIONS.values() if function.help)


def _declared(function: Function) -> FunctionHelp:
    """The help of a declaration, whose arguments are of plain types."""
    match = _HELP.fullmatch(function.help)
    assert match is not None, function.help
    signature, purpose = match.groups()
    call = f"{function.name}({', '.join(_COLUMNS[parameter] for parameter in function.parameters)})"
    dialects = tuple(sorted(function.dialects))
    return FunctionHelp(function.name, "function", signature, purpose, function.example, call, dialects)


def refuse_name_of_function(name: str) -> None:
    """Refuse a name for a function of the analyst's by which the parser knows one: it would never be called.

    Raises:
        SqlError: there is such a function.
    """
    if name.upper() in exp.FUNCTION_BY_NAME:
        raise SqlError(f"there is a function {name} in SQL, which a call would mean", hint=f"call it my_{name}")


@cache
def functions(dialect: str) -> Mapping[str, FunctionHelp]:
    """The functions that a dialect has, by name.

    Example:
        >>> functions("spark")["round"].signature
        'round(expr, d)'
        >>> functions("oracle")["sum"].kind
        'aggregate'
    """
    return {known.name: known for known in all_help() if dialect in known.dialects}


def signature_hint(message: str, called: str | None, dialect: str) -> str | None:
    """How a function is called, for a message that it takes other arguments; ``None`` where that is not known.

    Args:
        message: begins with the function and "takes".
        called: the word by which the text calls it, if that is known.
        dialect: of the text.

    Example:
        >>> signature_hint("substr takes 2 to 3 arguments, not 1", None, "spark")
        'write substr(str, pos[, len])'
    """
    name, takes, _ = message.partition(" takes ")
    known = functions(dialect).get((called or name).lower()) or functions(dialect).get(name.lower())
    return f"write {known.signature}" if (takes or message == LACKS_ARGUMENT) and known is not None else None
