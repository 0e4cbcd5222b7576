"""Logical queries as JSON text and back, exactly: what a view or query meant when it was registered.

Binding its text again might give something else, since a view that it reads may have been replaced or dropped since.
Every dataclass and enumeration of the modules listed here is written by its name and fields, so a new kind of input
needs no code here. Modules are not written: a class may move. Version 0.1 wrote them too, before a dot.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from workbench.catalog.codec import plain_value, value_of
from workbench.sql import logical
from workbench.sql.algebra import expressions, types
from workbench.sql.logical import LogicalQuery, StreamWindow
from workbench.sql.predicates import cnf

_KINDS: dict[str, type] = {
    kind.__name__: kind
    for module in (expressions, logical, types, cnf)
    for kind in vars(module).values()
    if inspect.isclass(kind) and (is_dataclass(kind) or issubclass(kind, Enum))
}


def logical_json(query: LogicalQuery) -> str:
    """A logical query as JSON text.

    Example:
        >>> from workbench.sql.logical import Block, StreamInput
        >>> from workbench.sql.predicates.cnf import TRUE
        >>> logical_json(Block((StreamInput("F"),), TRUE, ()))[:72]
        '{"is":"Block","inputs":[{"is":"StreamInput","stream":"F","columns":[]}],'
    """
    return json.dumps(_plain(query), separators=(",", ":"), ensure_ascii=False)


def logical_of(stored: str) -> LogicalQuery:
    """The inverse of ``logical_json``."""
    query: LogicalQuery = _object(json.loads(stored))
    return query


def windows_json(windows: Iterable[StreamWindow]) -> str:
    """The windows of a query as JSON text."""
    return json.dumps(_plain(tuple(windows)), separators=(",", ":"), ensure_ascii=False)


def windows_of(stored: str) -> tuple[StreamWindow, ...]:
    """The inverse of ``windows_json``."""
    windows: tuple[StreamWindow, ...] = _object(json.loads(stored))
    return windows


def _plain(value: Any) -> object:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Enum):
        return {"is": _name(value), "value": value.value}
    if is_dataclass(value):
        return {"is": _name(value), **{f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    return plain_value(value)


def _object(tree: Any) -> Any:
    if isinstance(tree, list):
        return tuple(map(_object, tree))
    if not isinstance(tree, dict) or "is" not in tree:
        return value_of(tree)
    kind = _KINDS[tree["is"].rpartition(".")[2]]
    return kind(**{field: _object(part) for field, part in tree.items() if field != "is"})


def _name(value: object) -> str:
    name = type(value).__name__
    assert _KINDS[name] is type(value), name
    return name
