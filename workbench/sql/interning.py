"""Equal values as one object (hash consing), which are then compared and hashed by their address, in C.

Planning keeps predicates and expressions in sets and as keys of caches, millions of times where hundreds of queries are
registered. Comparing them part by part took a quarter of that time.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class _Interning(type):
    """Looks up a value before it makes one. A value is remembered as long as somebody else has it."""

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cls._known: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
        cls._lock = Lock()

    def __call__(cls: type[T], *args: Any, **kwargs: Any) -> T:
        fields: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined]
        if len(args) < len(fields):
            made = type.__call__(cls, *args, **kwargs)
            args = tuple(getattr(made, name) for name in fields)
        key = cls.interning_key(*args)  # type: ignore[attr-defined]
        known = cls._known  # type: ignore[attr-defined]
        found = known.get(key)
        if found is not None:
            return found
        with cls._lock:  # type: ignore[attr-defined]
            return known.setdefault(key, type.__call__(cls, *args))


class Interned(metaclass=_Interning):
    """Base of dataclasses with ``frozen=True, eq=False`` (and ``weakref_slot=True`` where they have slots).

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True, eq=False)
        ... class Point(Interned):
        ...     x: int
        ...     y: int = 0
        >>> Point(1) is Point(x=1, y=0), Point(1) == Point(2)
        (True, False)
    """

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    @classmethod
    def interning_key(cls, *values: Any) -> tuple[Any, ...]:
        """What makes a value the one it is; by default all its fields."""
        return values

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)
