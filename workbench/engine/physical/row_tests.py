"""Tests of rows: of pairs that a join's access paths find, and of the rows of an answer under a condition.

Kernels evaluate those that have any, and Spark the others. Where kernels decide, no row is converted for Spark, and
back for Arrow afterwards, which takes longer than all else that a join does. Spark evaluates what is left of the rows
that pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from workbench.arrow.nested import texts_read_once
from workbench.arrow.types import Mask
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.band_predicates import implied_by
from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.engine.physical.filters.grouped_filter import GroupedFilter
from workbench.engine.physical.join_keys import Ends, ends_of
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS, plain_comparison
from workbench.engine.physical.stored.values import Computed, computed_value
from workbench.engine.storage.grouping import true_rows
from workbench.network.sql_text import SIDE_NAMES
from workbench.sql.algebra.expressions import Call, Column, Expression
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.predicates.cnf import (
    TRUE,
    Literal,
    Operator,
    ORPred,
    PredSet,
    map_predicates,
    pred_set,
    predicate_columns,
)

MOST_COMPARED = 8
"""Alternatives that kernels compare one by one."""


@dataclass(frozen=True)
class RowTests:
    """The tests of rows, over their columns.

    Attributes:
        conditions: what kernels evaluate.
        filter: what a grouped filter tests beside, with one bit, which says whether a row passes; ``None``: nothing.
        by_spark: what is left to Spark.
    """

    conditions: tuple[Computed, ...] = ()
    filter: GroupedFilter | None = None
    by_spark: PredSet = TRUE

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are read without Spark."""
        of_filter = () if self.filter is None else self.filter.columns
        return frozenset([*of_filter, *(name for condition in self.conditions for name in condition.columns)])

    def passes(self, rows: pa.RecordBatch) -> Mask:
        """The rows that pass the tests without Spark; unknown results do not pass.

        Example:
            >>> from workbench.sql.algebra.types import INTEGER
            >>> others = Call("<>", (Column("l_a", INTEGER), Column("r_a", INTEGER)), BOOLEAN)
            >>> pairs = pa.RecordBatch.from_pydict({"l_a": [1, 2, None], "r_a": [2, 2, 2]})
            >>> RowTests((Computed(others),)).passes(pairs)
            array([ True, False, False])
        """
        found = np.ones(rows.num_rows, dtype=bool)
        with texts_read_once():
            for condition in self.conditions:
                found &= true_rows(condition.values(rows))
            return found if self.filter is None else found & np.asarray(self.filter.lineage(rows).any(axis=1))


NO_TESTS = RowTests()


def residual_tests(tested: PredSet, paths: Sequence[AccessPath]) -> RowTests:
    """The tests that remain for pairs that any of these paths finds."""
    left = [predicate for predicate in tested if not _decided(predicate, paths)]
    return row_tests(over_pairs(left))


@lru_cache(maxsize=1_024)
def row_tests(tested: PredSet) -> RowTests:
    """The tests of rows by predicates over their columns."""
    computed = {predicate: _condition(predicate) for predicate in tested}
    filtered = [p for p, condition in computed.items() if _is_filtered(p, condition) and _filter([p]) is not None]
    others = pred_set(p for p, condition in computed.items() if condition is None and p not in filtered)
    conditions = tuple(found for p, found in computed.items() if found is not None and p not in filtered)
    return RowTests(conditions, _filter(filtered) if filtered else None, others)


def _is_filtered(predicate: ORPred, condition: Computed | None) -> bool:
    """Whether the filter tests a predicate, if it can: a list of values it looks up, and kernels compare each."""
    return condition is None or len(predicate.literals) > MOST_COMPARED


def _filter(predicates: Iterable[ORPred]) -> GroupedFilter | None:
    """The filter for some tests; ``None`` where Spark or a function of the analyst must evaluate one."""
    tests = pred_set(predicates)
    names = {column.name for column in predicate_columns(tests)}
    compiled = compile_filter({0: tests}, [0], [frozenset([0])], names)
    return None if compiled.tests or compiled.filter.calls else compiled.filter


def _condition(predicate: ORPred) -> Computed | None:
    """A predicate as one condition that kernels evaluate."""
    alternatives = tuple(map(_truth, predicate.literals))
    return computed_value(alternatives[0] if len(alternatives) == 1 else Call("or", alternatives, BOOLEAN))


def _truth(literal: Literal) -> Expression:
    """A literal as an expression."""
    if literal.right is not None:
        return plain_comparison(literal) or Call(literal.operator.value, (literal.left, literal.right), BOOLEAN)
    if literal.operator is Operator.HOLDS:
        return literal.left
    missing = Call("is_null", (literal.left,), BOOLEAN)
    return missing if literal.operator is Operator.IS_NULL else Call("not", (missing,), BOOLEAN)


def over_pairs(tested: Iterable[ORPred]) -> PredSet:
    """Tests of a join over the columns of its pairs."""
    return map_predicates(pred_set(tested), as_of_pair)


def as_of_pair(column: Column) -> Column:
    """A column of a side as one of a pair."""
    return Column(pair_column(column.source, column.name), column.type)


def pair_column(side: int, name: str) -> str:
    """The column of the pairs that has a column of a side."""
    return f"{SIDE_NAMES[side]}_{name}"


def _decided(predicate: ORPred, paths: Sequence[AccessPath]) -> bool:
    """Whether what any of the paths finds satisfies a predicate."""
    return bool(paths) and all(_is_key(predicate, path.keys) or implied_by(path.bands, predicate) for path in paths)


def _is_key(predicate: ORPred, keys: Collection[Ends]) -> bool:
    ends = ends_of(predicate)
    return ends is not None and ends in keys and ends[0].type.kind in COMPARABLE_KINDS
