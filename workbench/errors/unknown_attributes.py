"""What objects of the public interface say where they are asked for what they have not: a name, an item, a length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from workbench.errors import ArgumentsError, UnknownAttributeError, nearest

_OF_OTHERS = {
    "tables": "streams", "drop_query": "drop", "remove": "drop", "unregister": "drop", "add_query": "register",
    "add_source": "add_stream", "read_csv": "add_table", "read_parquet": "add_table", "query_sql": "ask",
    "execute": "ask", "sql": "ask", "read_sql": "ask", "stop": "close", "delete": "drop", "sort": "result",
    **dict.fromkeys(("to_csv", "to_parquet"), "save"), **dict.fromkeys(("filter", "where", "limit", "tail"), "head"),
    **dict.fromkeys(("to_pandas", "to_df", "topandas", "df", "collect", "fetchall", "results", "rows"), "result"),
    **dict.fromkeys(("show", "display", "print", "info", "values"), "result"),
}  # fmt: skip
"""What other libraries call a method or property."""
_OF_FRAMES = {
    "plot", "groupby", "describe", "iloc", "loc", "sort_values", "merge", "shape", "columns", "dtypes", "pivot",
    "pivot_table", "to_excel", "to_json", "to_dict", "to_html", "apply", "agg", "sum", "mean", "hist", "itertuples",
}  # fmt: skip
"""What a DataFrame has."""
_OF_SESSIONS = {"to_sink": "add_sink", "sink": "add_sink", "stop": "suspend", "pause": "suspend", "delete": "drop"}
"""Methods of the session that are looked for at a query."""
_OF_ROWS = {"head", "tail", "sample", "result", "df", "to_pandas", "show", "describe", "collect", "count", "display"}
"""What gives rows in other libraries."""
_IN_CELLS = {"snapshot", "dashboard", "notify", "doctor", "config", "costs", "timings", "explain"}
"""Commands of cells that are no methods."""
PUBLIC: list[type] = []
"""The classes of the public interface."""


class TellsNames:
    """A class of the public interface: asked for a name, an item or a length that it does not have, it raises an error
    with the right name.

    A type checker does not see the methods, or it would take every name for an attribute.

    Example:
        >>> class Box(TellsNames):
        ...     size = 3
        >>> Box().sise
        Traceback (most recent call last):
        ...
        workbench.errors.UnknownAttributeError: a Box has no sise
        hint: did you mean size?
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnknownAttributeError(f"a {type(self).__name__} has no {name}", hint=_meant(self, name))

        def __getitem__(self, key: object) -> NoReturn:  # a loop asks for items by number
            kind, name = type(self), type(self).__name__
            hint = _of_answer(self, str(key)) or _of_contents(self, str(key))
            hint = hint or (f"{name.lower()}.query({key!r})" if hasattr(kind, "query") else None)
            raise ArgumentsError(f"a {name} has no items", hint=hint or f"help({name.lower()}) lists what it has")

        def __call__(self, *given: object, **named: object) -> NoReturn:
            """Say what answers in the place of parentheses."""
            raise ArgumentsError(f"a {type(self).__name__} is no function", hint=_instead_of_call(self, given))

        def __len__(self) -> NoReturn:
            kind = type(self)
            meant = "count() says how many rows its answer has" if hasattr(kind, "result") else None
            meant = "len(session.queries), len(session.streams)" if hasattr(kind, "streams") else meant
            raise ArgumentsError(f"a {kind.__name__} has no length", hint=meant or f"help({kind.__name__.lower()})")

        def __bool__(self) -> bool:  # which would ask for the length
            return True

        def _no_number(self, other: object) -> NoReturn:
            kind = type(self)
            of_query = hasattr(kind, "result")
            meant = "its answer is a DataFrame: result()" if of_query else f"help({kind.__name__.lower()})"
            raise ArgumentsError(f"a {kind.__name__} is no number", hint=meant)

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _no_number
        __lt__ = __le__ = __gt__ = __ge__ = _no_number


def is_callback(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether something is meant to be called: an object that only says what is meant by it is not.

    Example:
        >>> is_callback(print), is_callback("print")
        (True, False)
    """
    return callable(value) and not isinstance(value, TellsNames)


def _instead_of_call(self: object, given: Sequence[object]) -> str:
    """What to write instead of a call of an object, with the arguments as a condition."""
    kind, name, text = type(self), getattr(self, "name", None), next((one for one in given if isinstance(one, str)), "")
    if hasattr(kind, "queries"):
        return f"session.ask({text or 'SELECT …'!r}) answers a text"
    if hasattr(kind, "result"):
        asked = f"session.ask({f'SELECT * FROM {name} WHERE {text}'!r}) has the rows of a condition"
        return f"result() is its answer; {asked}" if text else "result() is its answer"
    if kind.__name__ == "Stream":
        return f"session.ask('SELECT * FROM {name} LIMIT 5') asks for its rows"
    return f"help({kind.__name__.lower()}) lists what it has"


def _of_answer(self: object, name: str) -> str | None:
    """A hint for what the answer of a query has: a column, or a row by its number."""
    if not hasattr(type(self), "result"):
        return None
    columns = {column.lower(): column for column, _ in getattr(self, "columns", ())}
    if name.lower() in columns:
        return f'a column of its answer: result()["{columns[name.lower()]}"]'
    rows = f"its answer is a DataFrame: result().iloc[{name}]"
    rows = f"{rows}, and result().itertuples() goes over its rows" if name == "0" else rows
    return rows if name.isdecimal() else None


def _of_contents(self: object, name: str) -> str | None:
    """A hint for a query or stream that is asked of its session as an attribute, and for the rows of a stream."""
    kind = type(self)
    if kind.__name__ == "Stream":
        columns = {column.lower() for column, _ in getattr(self, "columns", ())}
        if (is_column := name.lower() in columns) or name.lower() in _OF_ROWS:
            asked = f"{name if is_column else '*'} FROM {getattr(self, 'name', '')} LIMIT 5"
            return f"session.ask('SELECT {asked}') asks for its rows"
    if kind.__name__ == "NetworkView" and name in getattr(self, "results", ()):
        return f"network.results[{name!r}] are the ids of the nodes of its answer"
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
    session, name = next((other for other in PUBLIC if other.__name__ == "Session"), None), _OF_SESSIONS.get(name, name)
    if session is None or not hasattr(type(self), "result") or not hasattr(session, name):
        return None
    return f"the session has it: session.{name}({getattr(self, 'name', 'name')!r})"


def _meant(self: object, name: str) -> str:
    """A hint for a method or property that there is not: what others call so, where it is, or the nearest name."""
    kind = type(self)
    known = [other for other in dir(kind) if not other.startswith("_")]
    begun = (f"did you mean {other}?" for other in known if name in other)
    meant = _OF_OTHERS.get(name.lower())
    hint = f"did you mean {meant}?" if meant in known else None
    if hint is None and name in _OF_FRAMES and "result" in known:
        return f"its answer is a DataFrame, which has it: result().{name}"
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
    return hint or nearest(name, known) or next(begun, None) or f"help({kind.__name__.lower()}) lists what it has"
