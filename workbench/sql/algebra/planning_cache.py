"""Caches of pure functions on immutable values, one set of them for each session.

A cache of the whole process would outlive a session, and the predicates of one session would push out those of another.
A session forgets its results from time to time, since it may run for days while analysts drop queries and ask others:
what is remembered follows the number of queries there are, and not of those there ever were.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


FEW = 100
"""After fewer dropped queries nothing is forgotten: their results are some MB."""


class PlanningCache:
    """The cached results of one session.

    Attributes:
        caches: function -> the same function with an LRU cache.
    """

    def __init__(self) -> None:
        self.caches: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._dropped = 0

    @contextmanager
    def active(self) -> Iterator[None]:
        """Within the context, in this thread, ``cached`` functions use this cache."""
        token = _ACTIVE.set(self)
        try:
            with _GARBAGE.collected_rarely():
                yield
        finally:
            _ACTIVE.reset(token)

    def cache_of(self, function: Callable[..., Any], size: int) -> Callable[..., Any]:
        """The function with a cache of at most ``size`` results."""
        try:
            return self.caches[function]
        except KeyError:
            return self.caches.setdefault(function, lru_cache(size)(function))

    def count_dropped(self, dropped: int, left: int) -> None:
        """Count queries that were dropped; forget everything when they are more than those left, and more than ``FEW``.

        Results do not tell whose they are. So those of the queries left are computed again, each for a dropped one.
        """
        self._dropped += dropped
        if self._dropped > max(FEW, left):
            self.caches.clear()
            self._dropped = 0


class _Garbage:
    """How often Python looks for objects that only refer to each other.

    Planning makes many objects, and nearly all that it does not free at once is remembered. So looking after every 700
    of them, as Python does by itself, finds next to nothing and takes some percent of the time.
    """

    RARELY = 20_000

    def __init__(self) -> None:
        self._lock, self._inside, self._before = threading.Lock(), 0, gc.get_threshold()

    @contextmanager
    def collected_rarely(self) -> Iterator[None]:
        """Look after this number of objects while some thread is in the context."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < self.RARELY:  # 0: another program has switched it off
                    gc.set_threshold(self.RARELY, *self._before[1:])
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    gc.set_threshold(*self._before)


_GARBAGE = _Garbage()

# The default serves code that runs outside of any session.
_ACTIVE: ContextVar[PlanningCache] = ContextVar("active", default=PlanningCache())  # noqa: B039


def active_planning_cache() -> PlanningCache:
    """The cache that ``cached`` functions use here."""
    return _ACTIVE.get()


def cached(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache ``size`` results of a pure function of hashable, positional arguments in the active ``PlanningCache``.

    Example:
        >>> calls = []
        >>> @cached(10)
        ... def double(number):
        ...     calls.append(number)
        ...     return 2 * number
        >>> with PlanningCache().active():
        ...     double(2), double(2)
        (4, 4)
        >>> with PlanningCache().active():
        ...     double(2)
        4
        >>> calls
        [2, 2]
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call_cached(*args: P.args, **kwargs: P.kwargs) -> R:
            active = _ACTIVE.get()
            known = active.caches.get(function) or active.cache_of(function, size)
            return known(*args, **kwargs)

        return call_cached

    return decorate
