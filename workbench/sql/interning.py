"""Equal values as one object (hash consing), which are then compared and hashed by their address, in C.

Planning keeps predicates and expressions in sets and as keys of caches, millions of times where hundreds of queries are
registered. Comparing them part by part took a quarter of that time.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary


class _Interning(type):
    """Looks up a value before it makes one. A value is remembered as long as somebody else has it."""

    __match_args__: tuple[str, ...]
    interning_key: Callable[..., tuple[Any, ...]]
    _known: WeakValueDictionary[tuple[Any, ...], Any]
    _lock: Lock

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cls._known, cls._lock = WeakValueDictionary(), Lock()

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        fields = cls.__match_args__
        if len(args) < len(fields):
            made = super().__call__(*args, **kwargs)
            args = tuple(getattr(made, name) for name in fields)
        key = cls.interning_key(*args)
        value = cls._known.get(key)
        if value is None:
            with cls._lock:
                value = cls._known.setdefault(key, super().__call__(*args))
        return value


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
