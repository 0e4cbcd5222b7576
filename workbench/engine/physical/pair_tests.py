"""Residual tests of pairs that a join's access paths find, where their stored values decide them alone.

A comparison of two columns, or of the days from one to the other, needs no Spark: each pair would become a row for it,
and Arrow's again afterwards, which takes longer than all else that a join does. The same goes for whatever the filter
of a tree tests of stored columns (``filters``), such as alternatives. What computes anything else is left to Spark.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.band import implied_by
from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.engine.physical.filters.grouped_filter import GroupedFilter
from workbench.engine.physical.join_keys import Ends, ends_of
from workbench.engine.physical.stored.expressions import (
    COMPARABLE_KINDS,
    compare,
    dates_subtracted,
    days_apart,
    stored_comparison,
)
from workbench.engine.storage.grouping import true_rows
from workbench.network.sql_text import SIDE_NAMES
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.predicates.cnf import Operator, ORPred, PredSet, map_predicates, pred_set, predicate_columns


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

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of pairs that it reads."""
        return pair_column(*self.left), pair_column(*self.right)

    def passes(self, pairs: pa.RecordBatch) -> Mask:
        """Which pairs pass; those with a NULL do not.

        Example:
            >>> pairs = pa.RecordBatch.from_pydict({"l_a": [1, 2, None], "r_a": [2, 2, 2]})
            >>> PairTest(Operator.NE, (0, "a"), (1, "a")).passes(pairs)
            array([ True, False, False])
        """
        left, right = (pairs.column(pair_column(*column)) for column in (self.left, self.right))
        if self.days is None:
            found = compare(self.operator, left, right)
        else:
            found = compare(self.operator, days_apart(left, right), pa.scalar(self.days, pa.int64()))
        return true_rows(found)


@dataclass(frozen=True)
class PairFilter:
    """A conjunction of what else is tested of a pair, as a filter whose only bit says whether it passes."""

    filter: GroupedFilter

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of pairs that it reads."""
        return tuple(sorted(self.filter.columns))

    def passes(self, pairs: pa.RecordBatch) -> Mask:
        """Which pairs pass."""
        return np.asarray(self.filter.lineage(pairs).any(axis=1))


def left_to_test(tested: PredSet, paths: Sequence[AccessPath]) -> tuple[PairTest | PairFilter, ...] | None:
    """The residual test of pairs that any of these paths finds; ``None`` where Spark must test it."""
    left = [predicate for predicate in tested if not _decided(predicate, paths)]
    tests = [(predicate, _test(predicate)) for predicate in left]
    others = _filter(pred_set(predicate for predicate, test in tests if test is None))
    comparisons = tuple(test for _, test in tests if test is not None)
    return None if others is None else comparisons + others


@lru_cache(maxsize=1_024)
def _filter(predicates: PredSet) -> tuple[PairFilter, ...] | None:
    """The filter for some tests, if there are any; ``None`` where Spark must evaluate one."""
    of_pairs = map_predicates(predicates, lambda c: Column(pair_column(c.source, c.name), c.type))
    if not of_pairs:
        return ()
    names = {column.name for column in predicate_columns(of_pairs)}
    compiled = compile_filter({0: of_pairs}, [0], [frozenset([0])], names)
    return None if compiled.tests or compiled.filter.calls else (PairFilter(compiled.filter),)


def pair_column(side: int, name: str) -> str:
    """The column of the pairs that has a column of a side."""
    return f"{SIDE_NAMES[side]}_{name}"


def _decided(predicate: ORPred, paths: Sequence[AccessPath]) -> bool:
    """Whether what any of the paths finds satisfies a predicate."""
    return bool(paths) and all(_is_key(predicate, path.keys) or implied_by(path.bands, predicate) for path in paths)


def _is_key(predicate: ORPred, keys: Collection[Ends]) -> bool:
    ends = ends_of(predicate)
    return ends is not None and ends in keys and ends[0].type.kind in COMPARABLE_KINDS


def _test(predicate: ORPred) -> PairTest | None:
    if len(predicate.literals) != 1:
        return None
    (literal,) = predicate.literals
    if (found := stored_comparison(literal)) is not None:
        left, operator, right = found
        return PairTest(operator, (left.source, left.name), (right.source, right.name))
    dates, bound = dates_subtracted(literal.left), literal.right
    if dates is None or not isinstance(bound, Constant) or not isinstance(bound.value, int):
        return None
    later, earlier = dates
    return PairTest(literal.operator, (later.source, later.name), (earlier.source, earlier.name), bound.value)
