"""Things of a session by their names: its streams, queries, sinks and functions, and columns of an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NoReturn, SupportsIndex, TypeVar, overload

from workbench.errors import ArgumentsError, NoSuchPlaceError, UnknownAttributeError, UnknownNameError, nearest
from workbench.sql.algebra.types import DataType

T = TypeVar("T")

LISTED = 10
"""Names that are listed where none is near the one that was asked for."""


class ByName(Mapping[str, T]):
    """Things of a session by their names, whatever the case of the letters, at one moment.

    Example:
        >>> streams = ByName("stream", {"Trades": 1})
        >>> streams["trades"], streams.get("Traeds")
        (1, None)
        >>> streams["Traeds"]
        Traceback (most recent call last):
        workbench.errors.UnknownNameError: there is no stream Traeds
        hint: did you mean Trades?
    """

    def __init__(self, what: str, things: Mapping[str, T]) -> None:
        self._what, self._things = what, dict(things)

    def __getitem__(self, name: str) -> T:
        if name in self._things:
            return self._things[name]
        folded = str(name).lower()
        for known, thing in self._things.items():
            if known.lower() == folded:
                return thing
        raise UnknownNameError(f"there is no {self._what} {name}", hint=hint_of(name, "there are", self._things))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        hint = f"a {self._what} stands in brackets: ['{name}']"
        raise UnknownAttributeError(f"there is no attribute {name}", hint=hint)

    def __call__(self, *given: object, **named: object) -> NoReturn:
        """Raise an error that says to write names in brackets."""
        hint = f"leave () out; a {self._what} stands in brackets: ['{next(iter(self._things), 'name')}']"
        raise ArgumentsError("this is no function", hint=hint)

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __repr__(self) -> str:
        return repr(self._things)


class NamedTypes(tuple[tuple[str, DataType], ...]):
    """Columns with their types, in their order; a name in brackets gives its type.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> columns = NamedTypes([("farm", INTEGER)])
        >>> columns[0][0], columns["Farm"] == INTEGER
        ('farm', True)
    """

    @overload
    def __getitem__(self, key: SupportsIndex) -> tuple[str, DataType]: ...

    @overload
    def __getitem__(self, key: slice) -> tuple[tuple[str, DataType], ...]: ...

    @overload
    def __getitem__(self, key: str) -> DataType: ...

    def __getitem__(self, key: SupportsIndex | slice | str) -> object:
        if isinstance(key, str):
            return ByName("column", dict(self))[key]
        if isinstance(key, int) and not -len(self) <= key < len(self):
            names = ", ".join(f"{place} {name}" for place, (name, _) in enumerate(self[:LISTED]))
            raise NoSuchPlaceError(f"there is no column {key}", hint=f"there are {names}")
        return super().__getitem__(key)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        known = next((column for column, _ in self if column.lower() == name.lower()), None)
        hint = "[name for name, _ in columns] are the names, dict(columns) has the types"
        if known is not None:
            hint = f"columns[{known!r}] is its type; of a query, result()[{known!r}] has its values"
        raise UnknownAttributeError(f"columns have no attribute {name}", hint=hint)

    def __call__(self, *given: object, **named: object) -> NoReturn:
        """Say that these are no method."""
        raise ArgumentsError("columns are no function", hint="leave () out")


def hint_of(name: object, what: str, known: Collection[str]) -> str:
    """A hint for a name that is not among those that are known: the nearest, or what there is."""
    return nearest(str(name), known) or f"{what} {', '.join([*known][:LISTED]) or 'none yet'}"
