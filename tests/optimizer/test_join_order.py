"""Join orders of chains, stars, cliques and products, beside all trees tried one by one."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence

import pytest
from effort import effort

from workbench.optimizer.join_order import (
    EXHAUSTIVE,
    Inputs,
    JoinGraph,
    JoinLeaf,
    JoinNode,
    JoinTree,
    RowEstimator,
    best_order,
    join_estimator,
    written_order,
)
from workbench.optimizer.statistics import ColumnStatistics
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet, or_pred, pred_set

Edge = tuple[int, ...]
KEYS = ColumnStatistics(nulls=0.0, distinct=100.0)


def column(source: int, name: str = "a") -> Column:
    return Column(name, INTEGER, source)


def equal(i: int, j: int) -> ORPred:
    """A column of its own for each pair, so that no equality follows from others."""
    return or_pred([Literal(column(i, f"c{i}{j}"), Operator.EQ, column(j, f"c{i}{j}"))])


def less(i: int, j: int) -> ORPred:
    return or_pred([Literal(column(i), Operator.LT, column(j))])


def sum_of(*inputs: int) -> ORPred:
    """A predicate over all of some inputs."""
    total: Expression = Constant(0, INTEGER)
    for i in inputs:
        total = Call("+", (total, column(i)), INTEGER)
    return or_pred([Literal(total, Operator.EQ, Constant(7, INTEGER))])


def graph(sizes: Sequence[float], *predicates: ORPred) -> JoinGraph:
    return JoinGraph(dict(enumerate(map(float, sizes))), pred_set(predicates))


def pairs_rows(sizes: Sequence[float], selectivities: Mapping[Edge, float]) -> RowEstimator:
    """Rows from a selectivity for each pair of inputs."""
    return lambda inputs: (
        math.prod(sizes[i] for i in inputs)
        * math.prod(s for edge, s in selectivities.items() if inputs.issuperset(edge))
    )


def leaves(tree: JoinTree) -> tuple[int, ...]:
    match tree:
        case JoinLeaf(position):
            return (position,)
        case JoinNode(left, right):
            return leaves(left) + leaves(right)


def joins(tree: JoinTree) -> Iterator[tuple[Inputs, Inputs]]:
    if isinstance(tree, JoinNode):
        yield from joins(tree.left)
        yield from joins(tree.right)
        yield frozenset(leaves(tree.left)), frozenset(leaves(tree.right))


def cost(tree: JoinTree, rows: RowEstimator) -> float:
    return sum(rows(left | right) for left, right in joins(tree))


def products(tree: JoinTree, of: JoinGraph) -> int:
    return sum(not of.connected(left, right) for left, right in joins(tree))


def all_trees(positions: tuple[int, ...]) -> Iterator[JoinTree]:
    if len(positions) == 1:
        yield JoinLeaf(positions[0])
    first, *rest = positions
    for size in range(len(rest)):
        for others in itertools.combinations(rest, size):
            right = tuple(p for p in rest if p not in others)
            yield from itertools.starmap(
                JoinNode, itertools.product(all_trees((first, *others)), list(all_trees(right)))
            )


def chain(n: int) -> list[Edge]:
    return [(i, i + 1) for i in range(n - 1)]


def star(n: int) -> list[Edge]:
    return [(0, i) for i in range(1, n)]


def clique(n: int) -> list[Edge]:
    return list(itertools.combinations(range(n), 2))


SHAPES = {"chain": chain, "star": star, "clique": clique}


@pytest.mark.parametrize(
    ("shape", "selective", "expected"),
    [
        ("chain", (0, 1), "(((0 1) 2) 3)"),
        ("chain", (1, 2), "(((1 2) 0) 3)"),
        ("chain", (2, 3), "(((2 3) 1) 0)"),
        ("star", (0, 2), "(((0 2) 1) 3)"),
        ("star", (0, 3), "(((0 3) 1) 2)"),
        ("clique", (1, 3), "(((1 3) 0) 2)"),
        ("clique", (2, 3), "(((2 3) 0) 1)"),
        ("clique", None, "(((0 1) 2) 3)"),
        ("chain", None, "(((0 1) 2) 3)"),
        ("star", None, "(((0 1) 2) 3)"),
    ],
)
def test_the_selective_join_comes_first(shape: str, selective: Edge | None, expected: str) -> None:
    edges, sizes = SHAPES[shape](4), [1000.0] * 4
    rows = pairs_rows(sizes, {edge: 1e-6 if edge == selective else 1e-3 for edge in edges})
    assert str(best_order(graph(sizes, *(equal(*e) for e in edges)), rows)) == expected


@pytest.mark.parametrize(
    ("sizes", "predicates", "best", "written"),
    [
        ([5], [], "0", "0"),
        ([5, 5], [], "(0 1)", "(0 1)"),
        ([0, 0, 0], [equal(1, 2)], "((1 2) 0)", "((0 1) 2)"),
        ([9, 5, 1], [], "((1 2) 0)", "((0 1) 2)"),
        ([1, 1000, 1000], [equal(1, 2)], "((1 2) 0)", "((0 1) 2)"),
        ([10, 10, 10, 10], [equal(0, 3), equal(1, 2)], "((0 3) (1 2))", "(((0 3) 1) 2)"),
        ([10, 10, 10], [less(0, 1), equal(0, 2)], "((0 2) 1)", "((0 2) 1)"),
        ([10, 10, 10], [less(0, 2)], "((0 2) 1)", "((0 2) 1)"),
        ([10, 10, 10], [sum_of(0, 1, 2)], "((0 1) 2)", "((0 1) 2)"),
        ([10, 10, 1], [sum_of(0, 1, 2)], "((0 2) 1)", "((0 1) 2)"),
        ([10, 10, 10, 10], [sum_of(0, 1, 3), equal(0, 1)], "(((0 1) 3) 2)", "(((0 1) 3) 2)"),
        ([10, 10, 10], [equal(0, 2), or_pred([*less(0, 1).literals, *less(1, 0).literals])], "((0 2) 1)", "((0 2) 1)"),
    ],
)
def test_trees(sizes: list[float], predicates: list[ORPred], best: str, written: str) -> None:
    joined = graph(sizes, *predicates)
    assert str(best_order(joined, join_estimator(joined, lambda c: KEYS))) == best
    assert str(written_order(joined)) == written


def test_a_bushy_tree_where_it_is_cheaper() -> None:
    sizes = [1000.0] * 4
    rows = pairs_rows(sizes, {(0, 1): 1e-6, (1, 2): 1e-1, (2, 3): 1e-6})
    assert str(best_order(graph(sizes, *(equal(*e) for e in chain(4))), rows)) == "((0 1) (2 3))"


@pytest.mark.parametrize("seed", range(60))
def test_no_tree_is_cheaper(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randint(2, 5)
    sizes = [rng.choice([0.0, 1.0, 50.0, 1000.0, 1e6]) for _ in range(n)]
    edges = {e: rng.choice([1e-6, 1e-3, 0.1, 1.0]) for e in clique(n) if rng.random() < 0.5}
    joined, rows = graph(sizes, *(equal(*e) for e in edges)), pairs_rows(sizes, edges)
    tree = best_order(joined, rows)
    assert sorted(leaves(tree)) == list(range(n))
    least = min(products(t, joined) for t in all_trees(tuple(range(n))))
    assert products(tree, joined) == least
    late = [t for t in all_trees(tuple(range(n))) if _products_last(t, joined) and products(t, joined) == least]
    assert cost(tree, rows) == pytest.approx(min(cost(t, rows) for t in late))
    assert _products_last(tree, joined)


def _products_last(tree: JoinTree, of: JoinGraph) -> bool:
    """No product has a side that a predicate ties to an input outside the product."""
    everything = frozenset(of.positions)
    crossed = [s for left, right in joins(tree) if not of.connected(left, right) for s in (left, right)]
    return not any(of.connected(side, everything - side) for side in crossed)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [EXHAUSTIVE, EXHAUSTIVE + 1, 12])
def test_many_inputs_take_no_more_than_some_millions_of_steps(shape: str, n: int) -> None:
    joined = graph([1000.0 + i for i in range(n)], *(equal(*e) for e in SHAPES[shape](n)))
    tree, spent = effort(lambda: best_order(joined, join_estimator(joined, lambda c: KEYS)))
    assert spent < 30
    assert sorted(leaves(tree)) == list(range(n))
    assert products(tree, joined) == 0


def test_beyond_eight_inputs_the_cheapest_pair_is_next_and_products_are_last() -> None:
    sizes = [1000.0] * 12
    edges = dict.fromkeys(chain(11), 0.001) | {(6, 7): 1e-6}
    joined, rows = graph(sizes, *(equal(*e) for e in edges)), pairs_rows(sizes, edges)
    tree = best_order(joined, rows)
    assert next(joins(tree)) == (frozenset({6}), frozenset({7}))
    assert products(tree, joined) == 1
    assert list(joins(tree))[-1] == (frozenset(range(11)), frozenset({11}))


def test_twelve_inputs_without_predicates() -> None:
    assert leaves(best_order(graph([1.0] * 12), lambda inputs: 1.0)) == tuple(range(12))


@pytest.mark.parametrize("n", [5, 12])
def test_the_order_of_predicates_and_sizes_does_not_matter(n: int) -> None:
    rng = random.Random(n)
    predicates = [equal(*e) for e in clique(n) if rng.random() < 0.4]
    sizes = {i: float(rng.choice([10, 10, 500])) for i in range(n)}
    trees = set()
    for _ in range(5):
        some_order = PredSet(tuple(rng.sample(predicates, len(predicates))))
        shuffled = JoinGraph({i: sizes[i] for i in rng.sample(range(n), n)}, some_order)
        trees.add(best_order(shuffled, join_estimator(shuffled, lambda c: KEYS)))
    assert len(trees) == 1


def test_positions_need_not_start_at_zero() -> None:
    joined = JoinGraph({4: 10.0, 2: 10.0, 7: 10.0}, pred_set([equal(4, 7)]))
    assert str(written_order(joined)) == "((2 4) 7)"
    assert str(best_order(joined, join_estimator(joined, lambda c: KEYS))) == "((4 7) 2)"


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({0}, 1000 * 0.1),
        ({1}, 500),
        ({0, 1}, 1000 * 500 * 0.1 / 100),
        ({0, 2}, 1000 * 20 * 0.1),
        ({0, 1, 2}, 1000 * 500 * 20 * 0.1 / 100 / 3),
    ],
)
def test_cardinality_is_sizes_times_selectivities(inputs: set[int], expected: float) -> None:
    small = or_pred([Literal(column(0, "type"), Operator.EQ, Constant(1, INTEGER))])
    rows = join_estimator(
        graph([1000, 500, 20], small, equal(0, 1), less(1, 2)), lambda c: KEYS if c.name[0] == "c" else None
    )
    assert rows(frozenset(inputs)) == pytest.approx(expected)


def test_equalities_that_follow_from_others_count_once() -> None:
    same = [or_pred([Literal(column(i), Operator.EQ, column(j))]) for i, j in clique(3)]
    rows = [join_estimator(graph([100, 100, 100], *some), lambda c: KEYS) for some in (same, same[:2], same[1:])]
    assert [r(frozenset(range(3))) for r in rows] == pytest.approx([100, 100, 100])


def test_joins_of_many_large_inputs_have_no_floor() -> None:
    joined = graph([1e6] * 12, *(equal(*e) for e in chain(12)))
    keys = ColumnStatistics(nulls=0.0, distinct=1e6)
    assert join_estimator(joined, lambda c: keys)(frozenset(range(12))) == pytest.approx(1e6)


def test_what_never_holds_leaves_no_rows_and_the_order_of_from() -> None:
    never = or_pred([Literal(Constant(False, BOOLEAN), Operator.HOLDS)])
    joined = graph([10, 10, 10], never, *(equal(*e) for e in clique(3)))
    rows = join_estimator(joined, lambda c: KEYS)
    assert rows(frozenset({0, 1})) == 0
    assert str(best_order(joined, rows)) == "((0 1) 2)"
