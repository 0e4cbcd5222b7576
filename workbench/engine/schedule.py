"""In which order operators work, several at a time, and how far they are.

An operator works after those it reads. In a batch the operators of one depth run as one job. While operators are
hydrated, each has a job of its own, which Spark plans on one core for about as long as it runs it: so one is planned
while another runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from workbench.engine.physical.plans import TreePlan
from workbench.network.network import Network

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
    """Call a function for every name, as many at a time as the pool has threads; see ``run_in_order``.

    Args:
        names: in the order of the result.
        work: called with each name, in some thread.
        pool: see ``run_in_order``.
        small: whether a name is little work, which this thread does: handing it to another one takes longer.
    """
    names = list(names)
    others = run_in_order({name: () for name in names if not small(name)}, work, pool)
    return {name: others[name] if name in others else work(name) for name in names}


def operators_by_depth(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Names by depth: those without parents, those whose parents are among these, and so on.

    Args:
        parents: for every name those it needs, parents before children.

    Example:
        >>> operators_by_depth({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": []})
        [['a', 'e'], ['b', 'c'], ['d']]
    """
    depth: dict[str, int] = {}
    levels: list[list[str]] = []
    for name, needed in parents.items():
        depth[name] = max((depth[parent] + 1 for parent in needed), default=0)
        levels.extend([] for _ in range(depth[name] + 1 - len(levels)))
        levels[depth[name]].append(name)
    return levels


def reachable(parents: Mapping[str, Sequence[str]], first: Collection[str]) -> frozenset[str]:
    """The operators that rows may reach.

    Args:
        parents: for every operator those it reads, parents before children.
        first: those that rows arrive at.

    Example:
        >>> sorted(reachable({"F": [], "M": [], "J": ["F", "F"], "U": ["J", "M"], "G": ["M"]}, ["F"]))
        ['F', 'J', 'U']
    """
    names: set[str] = set()
    for name, read in parents.items():
        if name in first or not names.isdisjoint(read):
            names.add(name)
    return frozenset(names)


def passed_over(network: Network, plans: Mapping[str, TreePlan], suspended: Collection[str]) -> frozenset[str]:
    """The operators that only suspended queries read: they are suspended.

    Their rows stay those of the batch before. When one of the queries is resumed, its operators are hydrated from all
    data so far, as at a registration, and so are suspended ones that they read: an operator never sees parents of
    different batches.

    Args:
        network: what runs.
        plans: of all its operators, by their names.
        suspended: names of queries.
    """
    if not suspended:
        return frozenset()
    operators = {root: name for name, plan in plans.items() for root in plan.roots}
    reads = (query.read.root for name, query in network.queries.items() if name not in suspended)
    return frozenset(plans) - with_parents(plans, {operators[root] for root in reads})


def with_parents(plans: Mapping[str, TreePlan], names: Iterable[str]) -> frozenset[str]:
    """Some operators with all that they read, themselves or through others."""
    all_names, frontier = set[str](), set(names)
    while frontier:
        all_names |= frontier
        frontier = {read for name in frontier for read, _ in plans[name].inputs} - all_names
    return frozenset(all_names)


@dataclass(frozen=True)
class Progress:
    """How far a batch, or a registration, is.

    Attributes:
        batch: its number; 0 is the history.
        done: operators that are done; nodes, while it is profiled.
        total: operators that may have work: rows arrive at them or at those they read.
    """

    batch: int
    done: int
    total: int


class Meter:
    """Counts operators that are done. Any thread may read ``now``, without waiting.

    Example:
        >>> meter = Meter()
        >>> with meter.counting(3, ["F1", "J2"]):
        ...     meter.count("F1")
        ...     meter.now
        Progress(batch=3, done=1, total=2)
        >>> meter.now is None
        True
    """

    def __init__(self) -> None:
        self.now: Progress | None = None
        """``None`` when nothing is being computed."""
        self._counted: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @contextmanager
    def counting(self, batch: int, names: Collection[str]) -> Iterator[None]:
        """Count these operators, or nodes, of a batch while the context is open."""
        self._counted = frozenset(names)
        self.now = Progress(batch, 0, len(self._counted))
        try:
            yield
        finally:
            self.now = None

    def count(self, name: str) -> None:
        """An operator, or a node, is done."""
        with self._lock:
            if self.now is not None and name in self._counted:
                self.now = Progress(self.now.batch, self.now.done + 1, self.now.total)
