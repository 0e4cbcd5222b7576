"""Hints in ``%%argus`` cells: what Shift-Tab shows on a function, a column, a stream or a query.

The kernel's own answer knows Python alone, and sees one word of the cell; ours takes its place in cells that register a
query. Like completion it makes no session and waits for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workbench.notebook.assist.names import (
    MAGIC,
    aliases_of,
    completed_columns,
    current_session,
    dialect_of,
    functions_in,
    is_cell,
    kinds_of,
    sources_of,
)
from workbench.notebook.context import NotebookContext
from workbench.sql.algebra.column_names import quoted
from workbench.sql.function_help import FunctionHelp

if TYPE_CHECKING:
    from workbench.session.session import Session

_NAME = re.compile(r"(?:(\w+)\.)?(`(?:[^`]|``)+`|\w+)")
_SILENT = re.compile(r"'(?:[^']|'')*(?:'|$)|--[^\n]*|/\*.*?(?:\*/|$)", re.DOTALL)
"""Texts and comments, in which nothing is a name."""
_CALLED = re.compile(r"(\w+)\s*$")


def answer_inspections(kernel: Any, context: NotebookContext) -> None:
    """Let a kernel answer requests for hints in our cells; in all others it answers as before.

    Args:
        kernel: of IPython.
        context: of its notebook.
    """
    ordinary = type(kernel).do_inspect

    def do_inspect(
        code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Sequence[str] = ()
    ) -> dict[str, Any]:
        if not is_cell(code):
            reply: dict[str, Any] = ordinary(kernel, code, cursor_pos, detail_level, omit_sections)
            return reply
        text = hint(current_session(context), code, cursor_pos)
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    kernel.do_inspect = do_inspect


def hint(session: Session | None, cell: str, place: int) -> str:
    """Help on the name at a place of a cell, or else on the function in whose brackets it is.

    Args:
        session: whose streams and queries the cell may read.
        cell: that begins with ``%%argus``.
        place: characters before the cursor.

    Example:
        >>> hint(None, "%%argus q\\nSELECT round(2.5, ", 26).splitlines()[0]
        'round(expr, d)'
    """
    text = _SILENT.sub(lambda silent: re.sub(r"[^\n]", " ", silent[0]), _without_magic(cell))
    functions = functions_in(session, dialect_of(cell))
    name = next((found for found in _NAME.finditer(text) if found.start() <= place <= found.end()), None)
    if name is not None:
        called = text[name.end() :].lstrip().startswith("(")
        known = functions.get(name[2].lower())
        if called and known is not None:
            return _of_function(known)
        if found := _of_name(session, text, name[1], name[2]):
            return found
        if known is not None and name[1] is None:
            return _of_function(known)
    calls = (functions[name] for name in _calls_around(text[:place]) if name in functions)
    return next(map(_of_function, calls), "")


def _without_magic(cell: str) -> str:
    """The cell with blanks for all of its first line but the query's name, so that places stay."""
    first, end, rest = cell.partition("\n")
    name = re.search(rf"{MAGIC}\s+(\w+)", first)
    kept = " " * name.start(1) + name[1] if name else ""
    return kept.ljust(len(first)) + end + rest


def _calls_around(before: str) -> Iterator[str]:
    """The words before the brackets that are open at the end of a text, the innermost first.

    Example:
        >>> list(_calls_around("SELECT max(round(abs(a), "))
        ['round', 'max']
    """
    closed = 0
    for place in range(len(before) - 1, -1, -1):
        if before[place] == ")":
            closed += 1
        elif before[place] == "(" and closed:
            closed -= 1
        elif before[place] == "(" and (called := _CALLED.search(before[:place])):
            yield called[1].lower()


def _of_name(session: Session | None, cell: str, owner: str | None, name: str) -> str:
    """The description of a column, or of a stream or query or its alias."""
    sources, kinds = sources_of(session), kinds_of(session)
    aliases = aliases_of(cell, sources)
    if owner is not None:
        used = [aliases[owner.lower()]] if owner.lower() in aliases else []
    else:
        used = list(dict.fromkeys(aliases.values())) or list(sources)
    columns = [
        f"{column}: {type_}, column of the {kinds[source]} {source}"
        for source in used
        for column, type_ in completed_columns(sources, [source]).items()
        if column.lower() == name.lower()
    ]
    own_names = {source.lower(): source for source in sources}
    source = None if owner else {**own_names, **aliases}.get(name.lower())
    if columns or source is None:
        return "\n".join(columns)
    return _of_source(source, sources[source], kinds[source])


def _of_source(name: str, source: Any, kind: str) -> str:
    """A stream with its columns, or a query with its SQL too."""
    width = max((len(quoted(column)) for column, _ in source.columns), default=0)
    columns = [f"  {quoted(column):<{width}}  {type_}" for column, type_ in source.columns]
    sql = [source.sql.strip(), ""] if kind == "query" else []
    return "\n".join([f"{name}: {kind}", *sql, *columns])


def _of_function(known: FunctionHelp) -> str:
    """The signature of a function, its meaning, and an example."""
    said = {"function": "", "aggregate": "aggregate", "analytic": "analytic function, with OVER (…)"}[known.kind]
    return "\n".join(part for part in (known.signature, said, known.purpose, known.example) if part)
