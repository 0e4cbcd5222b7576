"""Tests that call functions of the analyst: which rows need them, and which nodes they take from a row.

A test that every node of a row needs cannot be spared, and one that few need drops little. So rows of each lineage
have an order of their own (``call_order``), in which the tests are made (``call_routing``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from workbench.arrow.types import Mask
from workbench.engine.physical.filters.range_tables import Disjunction, RangeTable
from workbench.engine.spark.user_functions.attempt import Attempt
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.lineage import Bits

Ranks = npt.NDArray[np.int64]

FAILED = -1
"""The value of a test whose function failed."""


@dataclass(frozen=True)
class Deciding:
    """A table by which a test decides: of its own, or as one literal of a disjunction, by its position."""

    test: int
    table: RangeTable
    disjunction: int | None = None


@dataclass
class RowsTested:
    """What is known of some rows: the nodes they may belong to; the disjunctions no literal of which holds so far,
    and how many literals of these are to be tested."""

    bits: Bits
    failing: Mask
    left: npt.NDArray[np.int64]

    def take(self, rows: Positions) -> RowsTested:
        """The tests of the rows at some positions, as a copy."""
        return RowsTested(self.bits[rows], self.failing[rows], self.left[rows])

    @property
    def lineages(self) -> npt.NDArray[np.int64]:
        """The lineage of each row as numbers."""
        return np.hstack([self.bits.view(np.int64), self.failing.astype(np.int64)])


@dataclass(frozen=True)
class ExpensiveTests:
    """The tests of a filter that call functions."""

    names: tuple[str, ...]
    uses: tuple[Deciding, ...]
    disjunctions: tuple[Disjunction, ...]

    @classmethod
    def of(cls, names: Collection[str], tables: Sequence[RangeTable], disjunctions: Sequence[Disjunction]) -> Self:
        """Those of the tests by these tables that have one of some names."""
        used = {table.column for table in (*tables, *(t for some in disjunctions for t in some.tables))}
        tests = tuple(name for name in names if name in used)
        uses = [Deciding(tests.index(table.column), table) for table in tables if table.column in tests]
        for at, some in enumerate(disjunctions):
            uses += [Deciding(tests.index(table.column), table, at) for table in some.tables if table.column in tests]
        return cls(tests, tuple(uses), tuple(disjunctions))

    def rows(self, bits: Bits, failing: Mask) -> RowsTested:
        """Rows before the tests."""
        literals = [use.disjunction for use in self.uses if use.disjunction is not None]
        left = np.bincount(np.array(literals, dtype=np.int64), minlength=len(self.disjunctions))
        return RowsTested(bits, failing, np.tile(left, (len(bits), 1)))

    def needing(self, test: int, rows: RowsTested) -> Mask:
        """The rows from which a test may take a node, if it was not made yet."""
        needed = np.zeros(len(rows.bits), dtype=bool)
        for use in self.uses_of(test):
            if use.disjunction is None:
                needed |= (rows.bits & ~np.bitwise_and.reduce(use.table.bits)).any(axis=1)
            else:
                without = self.disjunctions[use.disjunction].without
                needed |= rows.failing[:, use.disjunction] & (rows.bits & ~without).any(axis=1)
        return needed

    def decide(self, test: int, rows: RowsTested, at: Positions, ranks: Ranks) -> None:
        """Take from rows the nodes that a test takes; ``ranks``: its value by each use of it, for those at ``at``."""
        for use, rank_ in zip(self.uses_of(test), ranks, strict=True):
            asked = rank_ >= 0
            which, found = at[asked], use.table.bits[rank_[asked]]
            if use.disjunction is None:
                rows.bits[which] &= found
                continue
            place = use.disjunction
            rows.failing[which, place] &= found[:, 0] == 0
            rows.left[which, place] -= 1
            lost = which[rows.failing[which, place] & (rows.left[which, place] == 0)]
            rows.bits[lost] &= self.disjunctions[place].without

    def ranks(self, test: int, attempt: Attempt) -> Ranks:
        """The value of a test by each use of it, as an array of shape (uses, rows)."""
        ranks = np.stack([use.table.rank(attempt.values) for use in self.uses_of(test)])
        ranks[:, attempt.failed] = FAILED
        return ranks

    def places(self, test: int) -> Positions:
        """Which of the uses are of a test."""
        return np.flatnonzero([use.test == test for use in self.uses])

    def uses_of(self, test: int) -> list[Deciding]:
        """The uses of a test."""
        return [use for use in self.uses if use.test == test]

    @property
    def digest(self) -> str:
        """Tells these tests from others."""
        digest = hashlib.blake2b(repr(self.names).encode(), digest_size=12)
        for use in self.uses:
            digest.update(repr((use.test, use.disjunction, use.table.points.tolist())).encode())
            digest.update(use.table.bits.tobytes())
        for some in self.disjunctions:
            digest.update(some.without.tobytes())
        return digest.hexdigest()
