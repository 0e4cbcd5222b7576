"""Early tests of many candidates: by the columns that are tested alone, before they become pairs.

A changed row of which the join's rows have no column, such as the only row of a subquery, comes as often as a row that
goes: pairs of one stored row that satisfy the tests with both cancel, and are not written twice.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.operators.lookup import Lookup, path_has, single_batch
from workbench.engine.physical.row_tests import RowTests, pair_column
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.key_index import weights_left
from workbench.engine.storage.layout import WEIGHT
from workbench.network.nodes import SIDES


@dataclass(frozen=True)
class CandidateTest:
    """Tests candidates of a look-up.

    Attributes:
        lookup: what finds them.
        tests: what pairs must satisfy beside its access path.
        cancels: whether pairs of one stored row may cancel.
    """

    lookup: Lookup
    tests: RowTests
    cancels: bool

    def __call__(self, at: Positions, partners: Positions, segment: pa.RecordBatch) -> tuple[Positions, Positions]:
        """Of some candidates, as positions in the changed rows and in a segment, those that are left."""
        lookup = self.lookup
        keys = [pair_column(side, name) for side in SIDES for name in lookup.path.columns(side)]
        wanted = {*keys, *self.tests.columns}
        sides = [_some(lookup.rows, at, lookup.changed, wanted), _some(segment, partners, 1 - lookup.changed, wanted)]
        left, right = sides[:: 1 - 2 * lookup.changed]
        passes = path_has(lookup.path, left, right) if keys else np.ones(len(at), dtype=bool)
        columns = {
            pair_column(side, name): rows.column(name)
            for side, rows in enumerate((left, right))
            for name in rows.schema.names
        }
        if columns:
            passes &= self.tests.passes(pa.RecordBatch.from_arrays([*columns.values()], names=[*columns]))
        at, partners = at[passes], partners[passes]
        return self._uncancelled(at, partners) if self.cancels and single_batch(lookup.rows) else (at, partners)

    def _uncancelled(self, at: Positions, partners: Positions) -> tuple[Positions, Positions]:
        """Leave out pairs of a stored row whose changed rows have weights that cancel each other."""
        weights = self.lookup.rows.column(WEIGHT).to_numpy()[at]
        if not (np.abs(weights) == 1).all():
            return at, partners
        kept = weights_left(weights, partners)
        return at[kept], partners[kept]


def _some(rows: pa.RecordBatch, at: Positions, side: int, wanted: Collection[str]) -> pa.RecordBatch:
    """Some rows of a side with the columns that pairs are tested by."""
    names = [name for name in rows.schema.names if pair_column(side, name) in wanted]
    return rows.select(names).take(pa.array(at))
