"""The order of joins with the fewest estimated intermediate rows (T5.4).

A plan costs the rows of all its joins together, the last one included: every row is computed, written and joined again.
Up to eight inputs all orders are compared by dynamic programming over sets of inputs; beyond, the pair that gives the
fewest rows is joined next. The thesis searches the same space from a list of active subplans (T5.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import prod
from types import MappingProxyType

from workbench.optimizer.selectivity import Statistics, factors
from workbench.sql.predicates.cnf import Operator, ORPred, PredSet, predicate_sources

EXHAUSTIVE = 8
"""Up to how many inputs all orders are compared."""

Inputs = frozenset[int]
NO_CORRECTIONS: Mapping[Inputs, float] = MappingProxyType({})
RowEstimator = Callable[[Inputs], float]
"""Estimates the rows of the join of some inputs."""


@dataclass(frozen=True, slots=True)
class JoinLeaf:
    """One input, by its position in FROM."""

    position: int

    def __str__(self) -> str:
        return str(self.position)


@dataclass(frozen=True, slots=True)
class JoinNode:
    """The join of two trees."""

    left: JoinTree
    right: JoinTree

    def __str__(self) -> str:
        return f"({self.left} {self.right})"


JoinTree = JoinLeaf | JoinNode


@dataclass(frozen=True)
class JoinGraph:
    """The inputs of a join, and its predicates.

    Args:
        sizes: the rows of every input, by its position in FROM.
        predicates: of the query, the sources of their columns being positions. Those of one input tie nothing; they
            belong here when ``sizes`` are those of the inputs before them.
    """

    sizes: Mapping[int, float]
    predicates: PredSet

    @property
    def positions(self) -> tuple[int, ...]:
        """All inputs, in the order of FROM."""
        return tuple(sorted(self.sizes))

    @cached_property
    def ties(self) -> tuple[tuple[Inputs, ORPred], ...]:
        """The predicates over several inputs, each with its inputs."""
        over = ((predicate_sources(p), p) for p in self.predicates)
        return tuple((inputs, p) for inputs, p in over if len(inputs) > 1)

    def between(self, left: Inputs, right: Inputs) -> Iterator[ORPred]:
        """The predicates that a join of two sets of inputs evaluates."""
        return (p for inputs, p in self.ties if inputs <= left | right and inputs & left and inputs & right)

    def connected(self, left: Inputs, right: Inputs) -> bool:
        """Whether a predicate ties two sets of inputs, so that their join is not a cartesian product."""
        return any(True for _ in self.between(left, right))


def best_order(graph: JoinGraph, rows: RowEstimator) -> JoinTree:
    """The cheapest tree; of equally cheap ones a left-deep one in the order of FROM.

    Inputs that no predicate connects are joined last, and all that a predicate connects before them.

    Args:
        graph: at least one input.
        rows: the estimate, see ``join_estimator``.

    Example:
        >>> sizes = {0: 1000.0, 1: 10.0, 2: 10.0}
        >>> str(best_order(JoinGraph(sizes, PredSet()), lambda inputs: prod(sizes[i] for i in inputs)))
        '((1 2) 0)'
    """
    estimate = cache(rows)
    parts = [_cheapest([_leaf(i) for i in part], graph, estimate) for part in _components(graph)]
    return _cheapest(parts, graph, estimate).tree


def written_order(graph: JoinGraph) -> JoinTree:
    """The left-deep tree in the order of FROM, as far as predicates connect the inputs.

    Next is what is tied best to the inputs before: by an equality, by another predicate, or not at all.

    Example:
        >>> str(written_order(JoinGraph({0: 1.0, 1: 1.0, 2: 1.0}, PredSet())))
        '((0 1) 2)'
    """
    first, *waiting = graph.positions
    tree: JoinTree = JoinLeaf(first)
    placed = frozenset({first})
    while waiting:
        position = min(waiting, key=lambda p: (-_strength(graph.between(placed, frozenset({p}))), p))
        waiting.remove(position)
        tree, placed = JoinNode(tree, JoinLeaf(position)), placed | {position}
    return tree


def join_estimator(
    graph: JoinGraph, columns: Statistics, corrections: Mapping[Inputs, float] = NO_CORRECTIONS
) -> RowEstimator:
    """Estimates the join of some inputs: the product of their sizes, and of all predicates that read only them.

    Args:
        graph: the inputs and the predicates.
        columns: what is known of a column.
        corrections: for pairs of inputs how many times the rows that statistics say were seen; they multiply.

    Example:
        >>> join_estimator(JoinGraph({0: 10.0, 1: 20.0}, PredSet()), lambda column: None)(frozenset({0, 1}))
        200.0
    """
    sources = [(predicate_sources(p), p) for p in graph.predicates]

    def rows(inputs: Inputs) -> float:
        inside = PredSet(tuple(p for read, p in sources if read <= inputs))
        seen = prod(factor for pair, factor in corrections.items() if pair <= inputs)
        return prod(graph.sizes[i] for i in sorted(inputs)) * prod(factors(inside, columns)) * seen

    return rows


def _strength(ties: Iterator[ORPred]) -> int:
    """How well predicates tie an input to others: 2 by an equality, 1 otherwise, 0 when there are none."""
    strengths = (2 if [x.operator for x in p.literals] == [Operator.EQ] else 1 for p in ties)
    return max(strengths, default=0)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A tree over some inputs.

    ``products`` counts its cartesian products, ``bushy`` its joins whose right side is a join, and ``order`` has its
    inputs from left to right.
    """

    inputs: Inputs
    tree: JoinTree
    order: tuple[int, ...]
    products: int = 0
    cost: float = 0.0
    bushy: int = 0

    @property
    def rank(self) -> tuple[object, ...]:
        """The key by which plans are compared."""
        return self.products, _rounded(self.cost), self.bushy, self.order


def _rounded(rows: float) -> float:
    """Nine digits: sums and products of the same numbers in another order are equal."""
    return float(f"{rows:.9g}")


def _leaf(position: int) -> _Plan:
    return _Plan(frozenset({position}), JoinLeaf(position), (position,))


def _components(graph: JoinGraph) -> list[list[int]]:
    """The inputs in groups that no predicate connects with each other, in the order of FROM."""
    parts = [frozenset({i}) for i in graph.positions]
    for inputs, _ in graph.ties:
        tied = [part for part in parts if part & inputs]
        parts = [part for part in parts if part not in tied] + [frozenset().union(*tied)]
    return sorted(sorted(part) for part in parts)


def _cheapest(plans: list[_Plan], graph: JoinGraph, rows: RowEstimator) -> _Plan:
    return (_exhaustive if len(plans) <= EXHAUSTIVE else _greedy)(plans, graph, rows)


def _exhaustive(plans: list[_Plan], graph: JoinGraph, rows: RowEstimator) -> _Plan:
    """The best plan of every set of the given ones, from the best plans of its two parts, for all ways to part it."""
    best = {frozenset({i}): plan for i, plan in enumerate(plans)}
    everything = range(len(plans))
    for size in range(2, len(plans) + 1):
        for chosen in map(frozenset, combinations(everything, size)):
            joins = (_joined(best[part], best[chosen - part], graph, rows) for part in _halves(chosen))
            best[chosen] = min(joins, key=lambda plan: plan.rank)
    return best[frozenset(everything)]


def _halves(chosen: frozenset[int]) -> Iterator[frozenset[int]]:
    """Every way to part a set in two, as the part with its first member."""
    first, *rest = sorted(chosen)
    for size in range(len(rest)):
        for others in combinations(rest, size):
            yield frozenset({first, *others})


def _greedy(plans: list[_Plan], graph: JoinGraph, rows: RowEstimator) -> _Plan:
    """Joins, until one plan is left, the two connected plans whose join has the fewest rows."""

    def rank(pair: tuple[_Plan, _Plan]) -> tuple[object, ...]:
        a, b = sorted(min(plan.inputs) for plan in pair)
        inputs = (pair[0].inputs, pair[1].inputs)
        return not graph.connected(*inputs), _rounded(rows(inputs[0] | inputs[1])), a, b

    while len(plans) > 1:
        pair = min(combinations(plans, 2), key=rank)
        plans = [plan for plan in plans if plan not in pair] + [_joined(*pair, graph, rows)]
    return plans[0]


def _joined(a: _Plan, b: _Plan, graph: JoinGraph, rows: RowEstimator) -> _Plan:
    """The join of two plans, the one with more inputs on the left."""
    left, right = sorted((a, b), key=lambda plan: (-len(plan.inputs), plan.order))
    inputs = left.inputs | right.inputs
    return _Plan(
        inputs,
        JoinNode(left.tree, right.tree),
        left.order + right.order,
        left.products + right.products + (not graph.connected(left.inputs, right.inputs)),
        left.cost + right.cost + rows(inputs),
        left.bushy + right.bushy + (len(right.inputs) > 1),
    )
