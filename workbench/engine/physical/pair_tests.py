"""What is left to test of a join's pairs that have equal keys, where their stored values decide it alone.

A comparison of two columns, or of the days from one to the other, needs no Spark: each pair would become a row for it,
and Arrow's again afterwards, which takes longer than all else that a join does. What computes anything else is left to
Spark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.join_keys import ends_of
from workbench.engine.physical.stored.expressions import COMPARED, compare, comparison, dates_subtracted, days_apart
from workbench.engine.storage.grouping import true_rows
from workbench.engine.storage.lineage import Mask
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.predicates.cnf import Operator, ORPred, PredSet


@dataclass(frozen=True)
class PairTest:
    """A comparison of two columns of a pair.

    Attributes:
        operator: how they are compared.
        left, right: each the side of the join, 0 for the left one, and the name of the column there.
        days: what the days from the right one to the left one are compared with; ``None`` where the columns are.
    """

    operator: Operator
    left: tuple[int, str]
    right: tuple[int, str]
    days: int | None = None

    def passes(self, left: pa.Array, right: pa.Array) -> Mask:
        """Which pairs pass, by the values of both columns; those with a NULL do not.

        Example:
            >>> PairTest(Operator.NE, (0, "a"), (1, "a")).passes(pa.array([1, 2, None]), pa.array([2, 2, 2]))
            array([ True, False, False])
        """
        if self.days is None:
            found = compare(self.operator, left, right)
        else:
            found = compare(self.operator, days_apart(left, right), pa.scalar(self.days, pa.int64()))
        return true_rows(found)


def left_to_test(tested: PredSet, paths: Iterable[AccessPath]) -> tuple[PairTest, ...] | None:
    """What is left to test of pairs with the equal keys of any of these paths; ``None`` where Spark must test it."""
    keys = [set(path.keys) for path in paths]
    equal = set.intersection(*keys) if keys else set()
    tests = [_test(predicate) for predicate in tested if not _is_key(predicate, equal)]
    return None if None in tests else tuple(test for test in tests if test is not None)


def _is_key(predicate: ORPred, keys: set[tuple[Expression, Expression]]) -> bool:
    ends = ends_of(predicate)
    return ends is not None and ends in keys and ends[0].type.kind in COMPARED


def _test(predicate: ORPred) -> PairTest | None:
    if len(predicate.literals) != 1:
        return None
    (literal,) = predicate.literals
    if (found := comparison(literal)) is not None:
        left, operator, right = found
        return PairTest(operator, (left.source, left.name), (right.source, right.name))
    dates, bound = dates_subtracted(literal.left), literal.right
    if dates is None or not isinstance(bound, Constant) or not isinstance(bound.value, int):
        return None
    later, earlier = dates
    return PairTest(literal.operator, (later.source, later.name), (earlier.source, earlier.name), bound.value)
