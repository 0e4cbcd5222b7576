"""The rows that match a pattern, run by run of one variable, and which of them are seen from each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.engine.operators.analytic.frames import FrameRange
from workbench.engine.storage.grouping import Positions

TakenRows = tuple["TakenRows | None", int, int, int, int]
"""The rows of a match so far: those before the last ones, which have one variable; where these begin and end, their
variable, and whether they are excluded."""
NO_TAKEN_ROWS: TakenRows = (None, -1, -1, -1, -1)


@dataclass(frozen=True)
class RowMatch:
    """Rows of a partition that match.

    Attributes:
        start: the row at which it begins.
        number: of the match in its partition, from 1 on; 0 where too many ways to match were tried.
        taken: its rows.
    """

    start: int
    number: int = 0
    taken: TakenRows | None = None

    @property
    def end(self) -> int:
        """Behind its last row."""
        return self.start if self.taken is None else self.taken[2]

    def runs(self) -> list[tuple[int, int, int, int]]:
        """Where its rows begin and end, with their variable and whether they are excluded."""
        runs, taken = [], self.taken
        while taken is not None:
            runs.append(taken[1:])
            taken = taken[0]
        return runs[::-1]


@dataclass(frozen=True)
class SeenRows:
    """The rows of matches, one match after another, as seen from certain rows of them.

    Attributes:
        rows, variables, excluded: of each row which one it is, its variable, and whether it is not shown.
        begins, ends: of each view where the rows that it sees begin and end.
        wholes: of each view where the rows of its match end.
        numbers: of each view that of its match.
    """

    rows: Positions
    variables: Positions
    excluded: Positions
    begins: Positions
    ends: Positions
    wholes: Positions
    numbers: Positions

    @staticmethod
    def of(matches: Sequence[RowMatch], views: Positions) -> SeenRows:
        """Each match as it is seen from a number of its last rows; once, where it has none."""
        each = [match.runs() for match in matches]
        runs = np.array([run for own in each for run in own], dtype=np.int64).reshape(-1, 4)
        lengths = runs[:, 1] - runs[:, 0]
        before = np.cumsum(lengths) - lengths
        rows = np.arange(lengths.sum()) + np.repeat(runs[:, 0] - before, lengths)
        whole = np.cumsum([match.end - match.start for match in matches], dtype=np.int64)
        first = np.append(0, whole[:-1])
        of = np.repeat(np.arange(len(matches)), views)
        back = np.cumsum(views)[of] - np.arange(len(of)) - 1
        numbers = np.array([match.number for match in matches], dtype=np.int64)
        variables, excluded = (np.repeat(runs[:, at], lengths) for at in (2, 3))
        return SeenRows(rows, variables, excluded, first[of], whole[of] - back, whole[of], numbers[of])

    def own(self, variables: Sequence[int]) -> Positions:
        """The places of the rows of some variables; where none are named, of all."""
        if not variables:
            return np.arange(len(self.rows))
        return np.flatnonzero(np.isin(self.variables, variables))

    def ranges(self, own: Positions, final: bool) -> FrameRange:
        """Which of some places each view sees."""
        return FrameRange(*(np.searchsorted(own, ends) for ends in (self.begins, self.wholes if final else self.ends)))


def longer_by(taken: TakenRows | None, row: int, variable: int, excluded: int) -> TakenRows:
    """Taken rows, and one more."""
    if taken is not None and taken[3] == variable and taken[4] == excluded:
        return taken[0], taken[1], row + 1, variable, excluded
    return taken, row, row + 1, variable, excluded
