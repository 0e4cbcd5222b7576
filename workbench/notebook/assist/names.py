"""Names in the SQL of an ``%%argus`` cell, resolved: streams, queries, their aliases and columns, functions.

Nothing here makes a session or waits for Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.notebook.context import NotebookContext
from workbench.sql.algebra.column_names import quoted
from workbench.sql.function_help import FunctionHelp, functions
from workbench.sql.schema import UserAggregate, UserFunction

if TYPE_CHECKING:
    from workbench.session.session import Session

MAGIC = "%%argus"
_DIALECT = re.compile(r"--dialect[ =]+(\w+)")
_NO_ALIASES = {"where", "join", "group", "order", "on", "union", "as"}
"""Words that may follow the name of a stream and are no alias of it."""


def is_cell(text: str) -> bool:
    """Whether a cell registers a query."""
    return text.lstrip().startswith(MAGIC)


def dialect_of(cell: str) -> str:
    """The dialect of a cell's SQL, as its first line says it.

    Example:
        >>> dialect_of("%%argus big --dialect Oracle"), dialect_of("%%argus big")
        ('oracle', 'spark')
    """
    said = _DIALECT.search(cell.lstrip().partition("\n")[0])
    return said[1].lower() if said else "spark"


def current_session(context: NotebookContext) -> Session | None:
    """The notebook's session; ``None`` when there is none, or it is closed."""
    session = context.current
    return None if session is None or session.closed else session


def sources_of(session: Session | None) -> dict[str, Any]:
    """The sources for FROM, by name: the streams and tables, then the queries."""
    return {**session.streams, **session.queries} if session else {}


def kinds_of(session: Session | None) -> dict[str, str]:
    """The kinds of the sources for FROM, by name: a stream, a table or a query."""
    if session is None:
        return {}
    kinds = {name: "table" if stream.table else "stream" for name, stream in session.streams.items()}
    return {**kinds, **dict.fromkeys(session.queries, "query")}


def aliases_of(cell: str, sources: Iterable[str]) -> dict[str, str]:
    """Names the cell gives to streams and queries, in lower case, and their own where they are used."""
    aliases: dict[str, str] = {}
    for source in sources:
        for match in re.finditer(rf"\b{re.escape(source)}\b(?:\s+(?:as\s+)?(\w+))?", cell, re.IGNORECASE):
            alias = match[1]
            is_alias = alias is not None and alias.lower() not in _NO_ALIASES
            aliases[alias.lower() if is_alias else source.lower()] = source
    return aliases


def completed_columns(sources: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """The columns of some streams and queries with their types; where several have one, of the first."""
    columns: dict[str, str] = {}
    for name in names:
        for column, type_ in sources[name].columns:
            columns.setdefault(quoted(column), str(type_))
    return columns


def functions_in(session: Session | None, dialect: str) -> dict[str, FunctionHelp]:
    """The functions that a query may call, by name: the analyst's, and the dialect's."""
    own = {known.name.lower(): _added(known) for known in session.functions.values()} if session else {}
    return {**own, **{name: known for name, known in functions(dialect).items() if name not in own}}


def _added(function: UserFunction | UserAggregate) -> FunctionHelp:
    """The help for a function of the analyst's."""
    known = FunctionHelp(function.name, "function", "", "", "", "", ())
    if isinstance(function, UserAggregate):
        signature = f"{function.name}({', '.join(function.parameters)})"
        return replace(known, kind="aggregate", signature=signature, purpose=f"Added in this session: {function.rule}")
    least, most = function.takes
    arguments = ["x"] * least + ["[x]"] * ((most or least) - least) + (["…"] if most is None else [])
    purpose = f"Added in this session; gives {function.returns}."
    return replace(known, signature=f"{function.name}({', '.join(arguments)})", purpose=purpose)
