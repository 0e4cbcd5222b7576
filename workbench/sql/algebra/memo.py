"""What planning remembers: results of pure functions of immutable values, kept with the session that asked for them.

A cache of the process would outlive a session and be shared with others. Every key is compared by structure and types,
so that could not make an answer wrong; but one session's predicates would push out those of another, and stay when
it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Memo:
    """The results that one session remembers, of each function the latest ones."""

    def __init__(self) -> None:
        self._caches: dict[Callable[..., Any], Callable[..., Any]] = {}

    @contextmanager
    def active(self) -> Iterator[None]:
        """What is computed inside, in this thread, is remembered here."""
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)

    def cache_of(self, function: Callable[..., Any], most: int) -> Callable[..., Any]:
        """The function with a cache of at most so many results."""
        try:
            return self._caches[function]
        except KeyError:
            return self._caches.setdefault(function, lru_cache(most)(function))


_ACTIVE: ContextVar[Memo] = ContextVar("active", default=Memo())  # noqa: B039  what is used outside of sessions


def remembered(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a pure function of hashable, positional arguments remember so many results in the active ``Memo``.

    Example:
        >>> calls = []
        >>> @remembered(most=10)
        ... def double(number):
        ...     calls.append(number)
        ...     return 2 * number
        >>> one, other = Memo(), Memo()
        >>> with one.active():
        ...     double(2), double(2)
        (4, 4)
        >>> with other.active():
        ...     double(2)
        4
        >>> calls
        [2, 2]
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def looked_up(*args: P.args, **kwargs: P.kwargs) -> R:
            return _ACTIVE.get().cache_of(function, most)(*args, **kwargs)

        return looked_up

    return decorate
