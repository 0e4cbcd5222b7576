"""In which order operators work, and how far they are.

An operator works after those it reads. In a batch the operators of one depth run side by side. While operators are
hydrated, each has a job of its own, which Spark plans on one core for about as long as it runs it: so one is planned
while another runs.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from workbench.engine.physical.plans import TreePlan
from workbench.network.network import Network


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
    """The progress of a batch or a registration.

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
        """Count the finished ones of these operators, or nodes, within the context."""
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
