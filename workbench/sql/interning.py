"""Equal values as one object (hash consing), which are then compared and hashed by their address, in C.

Planning keeps predicates and expressions in sets and as keys of caches, millions of times where hundreds of queries are
registered. Comparing them part by part took a quarter of that time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from threading import RLock
from typing import Any, ClassVar
from weakref import KeyedRef


class _Interning(type):
    """Looks up a value before it makes one. A value is remembered as long as another object refers to it."""

    __match_args__: tuple[str, ...]
    __dataclass_fields__: dict[str, Any]
    interning_key: Callable[..., tuple[Any, ...]] | None
    _known: dict[tuple[Any, ...], KeyedRef[tuple[Any, ...], Any]]
    _lock: RLock  # the collector may forget a value while this thread makes another one

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cls._known, cls._lock = {}, RLock()

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) < len(cls.__match_args__):
            args = cls._completed(args, kwargs)
        key = args if cls.interning_key is None else cls.interning_key(*args)
        known = cls._known.get(key)
        value = None if known is None else known()
        return cls._create(key, args) if value is None else value

    def _completed(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all fields, in order."""
        fields, missing = cls.__dataclass_fields__, cls.__match_args__[len(args) :]
        values = [kwargs[name] if name in kwargs else fields[name].default for name in missing]
        if MISSING in values or not kwargs.keys() <= set(missing):
            super().__call__(*args, **kwargs)  # says what is wrong
        return (*args, *values)

    def _create(cls, key: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        with cls._lock:
            known = cls._known.get(key)  # another thread may have made it
            value = None if known is None else known()
            if value is None:
                value = super().__call__(*args)
                cls._known[key] = KeyedRef(value, cls._forget, key)
            return value

    def _forget(cls, reference: KeyedRef[tuple[Any, ...], Any]) -> None:
        with cls._lock:
            if cls._known.get(reference.key) is reference:
                del cls._known[reference.key]


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

    interning_key: ClassVar[Callable[..., tuple[Any, ...]] | None] = None
    """Computes the key of a value from its fields, by default all of them; values of equal keys are one object."""

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)
