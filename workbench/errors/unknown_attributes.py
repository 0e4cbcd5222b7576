"""What objects of the public interface say where they are asked for what they have not: a name, an item, a length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn, TypeVar

from workbench.errors import ArgumentsError, UnknownAttributeError, nearest

C = TypeVar("C", bound=type)

_OF_OTHERS = {
    "tables": "streams", "drop_query": "drop", "remove": "drop", "unregister": "drop", "add_query": "register",
    "add_source": "add_stream", "read_csv": "add_table", "read_parquet": "add_table", "query_sql": "ask",
    "execute": "ask", "sql": "ask", "read_sql": "ask", "stop": "close", "delete": "drop",
    **dict.fromkeys(("plot", "groupby", "describe", "iloc", "loc", "sort", "sort_values", "merge", "shape"), "result"),
    **dict.fromkeys(("to_csv", "to_parquet"), "save"), **dict.fromkeys(("filter", "where", "limit", "tail"), "head"),
    **dict.fromkeys(("to_pandas", "to_df", "topandas", "df", "collect", "fetchall", "results", "rows"), "result"),
    **dict.fromkeys(("show", "display", "print", "info", "values"), "result"),
}  # fmt: skip
"""What other libraries call a method or property."""
_OF_ROWS = {"head", "tail", "sample", "result", "df", "to_pandas", "show", "describe", "collect", "count", "display"}
"""What gives rows in other libraries."""
_IN_CELLS = {"snapshot", "dashboard", "notify", "doctor"}
"""Commands of cells that are no methods."""
PUBLIC: list[type] = []
"""The classes of the public interface."""


def tells_names(cls: C) -> C:
    """The class, which names the nearest where it is asked for a method or property that it has not."""
    cls.__getattr__ = _unknown  # type: ignore[attr-defined]  # mypy knows no attribute that a decorator adds
    cls.__getitem__ = _no_item  # type: ignore[index]  # nor of a method
    for name, refuse in _PROTOCOLS.items():
        if getattr(cls, name, None) is getattr(object, name, None):
            setattr(cls, name, refuse)
    if getattr(cls, "__len__", None) is _no_length:
        cls.__bool__ = lambda self: True  # type: ignore[attr-defined]  # which would ask for the length
    return cls


def _no_length(self: object) -> NoReturn:
    """Raise for ``len(…)``."""
    kind = type(self)
    meant = "count() says how many rows its answer has" if hasattr(kind, "result") else None
    meant = "len(session.queries), len(session.streams)" if hasattr(kind, "streams") else meant
    raise ArgumentsError(f"a {kind.__name__} has no length", hint=meant or f"help({kind.__name__.lower()})")


def _no_number(self: object, other: object) -> NoReturn:
    """Raise for ``+``, ``<`` and their like."""
    kind = type(self)
    meant = "its answer is a DataFrame: result()" if hasattr(kind, "result") else f"help({kind.__name__.lower()})"
    raise ArgumentsError(f"a {kind.__name__} is no number", hint=meant)


_PROTOCOLS: Mapping[str, Callable[..., NoReturn]] = {
    "__len__": _no_length,
    **{f"__{side}{sign}__": _no_number for sign in ("add", "sub", "mul", "truediv") for side in ("", "r")},
    **{f"__{sign}__": _no_number for sign in ("lt", "le", "gt", "ge")},
}
"""What Python asks objects for that are numbers or have a length."""


def _no_item(self: object, key: object) -> NoReturn:
    """Raise for brackets, which no object of the workbench has; a loop asks for items by number."""
    kind = type(self)
    hint = _of_answer(self, str(key)) or (f"{kind.__name__.lower()}.query({key!r})" if hasattr(kind, "query") else None)
    raise ArgumentsError(
        f"a {kind.__name__} has no items", hint=hint or f"help({kind.__name__.lower()}) lists what it has"
    )


def _of_answer(self: object, name: str) -> str | None:
    """A hint for what the answer of a query has: a column, or a row by its number."""
    if not hasattr(type(self), "result"):
        return None
    columns = {column.lower(): column for column, _ in getattr(self, "columns", ())}
    if name.lower() in columns:
        return f'a column of its answer: result()["{columns[name.lower()]}"]'
    return f"its answer is a DataFrame: result().iloc[{name}]" if name.isdecimal() else None


def _of_contents(self: object, name: str) -> str | None:
    """A hint for a query or stream that is asked of its session as an attribute, and for the rows of a stream."""
    kind = type(self)
    if kind.__name__ == "Stream" and name.lower() in _OF_ROWS:
        return f"session.ask('SELECT * FROM {getattr(self, 'name', '')} LIMIT 5') asks for its rows"
    if not (hasattr(kind, "queries") and hasattr(kind, "streams")):
        return None
    written = {"queries": "session.query({!r})", "streams": "session.streams[{!r}]"}
    known = ((text, each) for part, text in written.items() for each in getattr(self, part))
    return next((text.format(each) for text, each in known if each.lower() == name.lower()), None)


def _elsewhere(kind: type, name: str) -> str | None:
    """A hint for a method of another class, with a member that gives an object of that class."""
    for other in PUBLIC:
        if other.__name__ == kind.__name__ or not hasattr(other, name):
            continue
        for member in dir(kind):
            value = getattr(kind, member)
            function = getattr(value, "fget", None) or getattr(value, "func", None) or value  # of properties
            if getattr(function, "__annotations__", {}).get("return") == other.__name__ and not member.startswith("_"):
                called = "(…)" if function is value else ""
                return f"a {other.__name__} has it: {kind.__name__.lower()}.{member}{called}.{name}"
    return None


def _of_session(self: object, name: str) -> str | None:
    """A hint for a method of the session that is called with the name of a query."""
    session = next((other for other in PUBLIC if other.__name__ == "Session"), None)
    if session is None or not hasattr(type(self), "result") or not hasattr(session, name):
        return None
    return f"the session has it: session.{name}({getattr(self, 'name', 'name')!r})"


def _unknown(self: object, name: str) -> NoReturn:
    """Raise for a method or property that there is not, with the one nearest to it."""
    if name.startswith("_"):
        raise AttributeError(name)
    kind = type(self)
    known = [other for other in dir(kind) if not other.startswith("_")]
    begun = (f"did you mean {other}?" for other in known if name in other)
    meant = _OF_OTHERS.get(name.lower())
    hint = f"did you mean {meant}?" if meant in known else None
    longer = (f"did you mean {other}?" for other in known if name.startswith(f"{other}_"))
    in_cells = f"%argus {name} in a cell does that" if name in _IN_CELLS else None
    hint = (
        hint
        or _of_contents(self, name)
        or _of_answer(self, name)
        or _elsewhere(kind, name)
        or _of_session(self, name)
        or next(longer, None)
    )
    hint = hint or in_cells
    hint = hint or nearest(name, known) or next(begun, None) or f"help({kind.__name__.lower()}) lists what it has"
    raise UnknownAttributeError(f"a {kind.__name__} has no {name}", hint=hint)
