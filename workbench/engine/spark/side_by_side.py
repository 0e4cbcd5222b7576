"""Work that several threads do, in the order in which it may be done.

What NumPy and Arrow do for long they do without Python's lock, so threads share the cores as far as rows are many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import TypeVar

T = TypeVar("T")


def run_in_order(parents: Mapping[str, Sequence[str]], work: Callable[[str], T], pool: Executor) -> dict[str, T]:
    """Call a function for every name after those of its parents, as many at a time as the pool has threads.

    Args:
        parents: for every name those it needs, parents before children.
        work: called with each name, in some thread.
        pool: threads that stay, since each new one is a new connection to the JVM. Names that could be done are begun
            in the order of ``parents``.

    Returns:
        The results, in the order of ``parents``.

    Raises:
        Exception: the first that ``work`` raised; nothing is begun after it, and what was begun has ended.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(2) as pool:
        ...     run_in_order({"a": [], "b": ["a"], "c": ["a"]}, str.upper, pool)
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


def run_all(
    names: Iterable[str], work: Callable[[str], T], pool: Executor, small: Callable[[str], bool] = lambda name: False
) -> dict[str, T]:
    """Call a function for every name, in the threads of a pool.

    Args:
        names: in the order of the result.
        work: called with each name, in some thread.
        pool: see ``run_in_order``.
        small: whether a name is little work, which this thread does meanwhile: handing it to another one takes longer.

    Raises:
        Exception: one that ``work`` raised; what was begun has ended.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(2) as pool:
        ...     run_all(["a", "b", "c"], str.upper, pool, small=lambda name: name == "b")
        {'a': 'A', 'b': 'B', 'c': 'C'}
    """
    names = list(names)
    running = {name: pool.submit(work, name) for name in names if not small(name)}
    try:
        done = {name: work(name) for name in names if name not in running}
        return {name: running[name].result() if name in running else done[name] for name in names}
    finally:
        wait([future for future in running.values() if not future.cancel()])
