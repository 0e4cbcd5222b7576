"""How many different values a column has that no stream has: one that an operator computes.

An equality of two values holds for one pair of rows in as many as the value with more of them has (``selectivity``).
Statistics count the values of a stream's columns. Those of a computed column follow from what it is computed of: a
maximum has at most the values of its argument, and *n* rows have at most √2n different counts, as 1 + 2 + … + √2n is n.
Source of the rule for computed values that nothing else is known of, the product of the counts of their columns but at
most the number of rows: P. Selinger et al., Access Path Selection in a Relational Database Management System, 1979.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod, sqrt
from typing import Protocol

from workbench.network.nodes import Aggregate, Analytic, Node, NodeId, Read, Recursion, SetOperation
from workbench.sql.algebra.expressions import AggregateCall, Constant, Expression

_RANKS = frozenset({"row_number", "rank", "dense_rank"})
_OF_ARGUMENT = frozenset(
    {"min", "max", "first", "last", "any_value", "mode", "median", "min_by", "max_by", "lag", "lead", "nth_value"}
)
"""Aggregates and analytic functions that have a value of their first argument."""


class KnownInputs(Protocol):
    """Estimates of the inputs of a node."""

    def rows(self, read: Read) -> float:
        """Estimated rows of a read."""

    def distinct(self, root: NodeId, value: Expression) -> float | None:
        """How many different values an expression over a root has; ``None`` where nothing is known."""


def computed_distinct(known: KnownInputs, node: Node, name: str) -> float | None:
    """How many different values a column that a node computes has; ``None`` where nothing is known of its inputs."""
    match node:
        case Aggregate():
            value = node.by_name[name]
            if not isinstance(value, AggregateCall):
                return known.distinct(node.read.root, value)
            found = _of_function(known, node.read, value.function, value.arguments)
            return None if found is None else min(found, known.rows(Read(node.id)))
        case Recursion():
            return known.rows(Read(node.id))
        case SetOperation():
            at = [column.name for column in node.columns].index(name)
            return _of_branches(known, node, at)
        case Analytic():
            function = node.by_name[name]
            if function.function in _RANKS:
                partitions = product_of_counts(known.distinct(node.read.root, value) for value in node.over.partition)
                return None if partitions is None else max(1.0, known.rows(node.read) / partitions)
            return _of_function(known, node.read, function.function, function.arguments)
        case _:
            return known.rows(Read(node.id))


def product_of_counts(numbers: Iterable[float | None]) -> float | None:
    """The product of counts, each at least 1; ``None`` where one is not known."""
    counts = list(numbers)
    return None if None in counts else prod(max(1.0, number) for number in counts if number is not None)


def _of_function(known: KnownInputs, read: Read, function: str, arguments: tuple[Expression, ...]) -> float | None:
    rows = known.rows(read)
    if function.startswith("count"):
        return max(1.0, sqrt(2 * rows))
    if function in _OF_ARGUMENT and arguments:
        return known.distinct(read.root, arguments[0])
    return rows


def _of_branches(known: KnownInputs, node: SetOperation, at: int) -> float | None:
    """Of branches that bring constants each one, and of the others the most: they mostly are of the same values."""
    values = [(branch.read.root, branch.values[at]) for branch in node.branches]
    constants = {value for _, value in values if isinstance(value, Constant)}
    others = [known.distinct(root, value) for root, value in values if not isinstance(value, Constant)]
    counts = [number for number in others if number is not None]
    return None if len(counts) < len(others) else max([0.0, *counts]) + len(constants)
