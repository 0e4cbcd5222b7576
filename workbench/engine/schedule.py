"""Several local trees at a time: one is planned while another runs, and none before its parents.

Spark plans a small job on one core for about as long as it runs it, so trees that do not depend on each other overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import TypeVar

T = TypeVar("T")


def in_order(parents: Mapping[str, Sequence[str]], work: Callable[[str], T], pool: Executor) -> dict[str, T]:
    """Do the work of every name after that of its parents, as many at a time as the pool has workers.

    Args:
        parents: for every name those it needs, parents before children.
        work: called with a name, in some thread.
        pool: threads that stay, since each new one is a new connection to the JVM. Names that could be done are begun
            in the order of ``parents``.

    Returns:
        What ``work`` gave, in the order of ``parents``.

    Raises:
        Exception: the first that ``work`` raised; nothing is begun after it, and what was begun has ended.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(2) as pool:
        ...     in_order({"a": [], "b": ["a"], "c": ["a"]}, str.upper, pool)
        {'a': 'A', 'b': 'B', 'c': 'C'}
    """
    waiting = list(parents)
    running: dict[Future[T], str] = {}
    done: dict[str, T] = {}
    try:
        while waiting or running:
            for name in [n for n in waiting if done.keys() >= set(parents[n])]:
                waiting.remove(name)
                running[pool.submit(work, name)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done[running.pop(future)] = future.result()
    finally:
        wait([future for future in running if not future.cancel()])
    return {name: done[name] for name in parents}
