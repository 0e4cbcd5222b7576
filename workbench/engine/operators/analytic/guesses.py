"""Which rows the program of a pattern will ask for next, so that they are tested together.

A loop takes row after row of one variable. Where it ends, or goes back, the next variable is tried behind a run that
has a row more, or less, each time. What was asked for so twice is asked for as far again as it went.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.engine.operators.analytic.row_matches import NO_TAKEN_ROWS, TakenRows

MOST_AHEAD = 256
"""Rows that one question asks for."""
RowQuestion = tuple[int, Sequence[TakenRows], int]
"""A variable, the rows that a match may have, and of how many of the last ones each it is asked whether they pass."""


@dataclass
class _Asked:
    """Questions that differ by one row: whether a run has one more, or follows one that has.

    Attributes:
        of: the last rows that were asked for.
        count: how many rows were.
        answers: by row.
    """

    of: TakenRows = NO_TAKEN_ROWS
    count: int = 0
    answers: dict[int, bool] = field(default_factory=dict)


@dataclass
class Guesses:
    """The answers that a program has of one variable, and what it will ask.

    Attributes:
        grown: of a run that grows.
        moved: of a row behind a run that grows, or is taken back.
    """

    grown: _Asked = field(default_factory=_Asked)
    moved: _Asked = field(default_factory=_Asked)
    waiting: tuple[_Asked, Sequence[int]] = field(default_factory=lambda: (_Asked(), ()))

    def answer(self, taken: TakenRows) -> bool | None:
        """Whether the last of some rows passes; ``None`` where it is not known."""
        row = taken[2] - 1
        if _same_run(self.grown.of, taken) and row in self.grown.answers:
            return self.grown.answers[row]
        return self.moved.answers.get(row) if _behind_same_run(self.moved.of, taken) else None

    def question(self, taken: TakenRows, known: bytes, high: int) -> RowQuestion:
        """Ask whether the last of some rows passes.

        Args:
            taken: the rows.
            known: of each row, whether it may.
            high: where the rows of the partition end.
        """
        before, begin, end, variable, excluded = taken
        row = end - 1
        if _same_run(self.grown.of, taken) and self.grown.of[2] == row:
            count = min(2 * self.grown.count, MOST_AHEAD, high - row)
            fails = known.find(0, row, row + count)
            count = count if fails < 0 else fails - row
            self.grown = _Asked((before, begin, row + count, variable, excluded), count)
            self.waiting = self.grown, range(row, row + count)
            return variable, [self.grown.of], count
        if before is not None and _behind_same_run(self.moved.of, taken):
            step = 1 if row > self.moved.of[1] else -1
            count = min(2 * self.moved.count, MOST_AHEAD)
            through = range(row, min(high, row + count)) if step > 0 else range(row, max(before[1], row - count), -1)
            rows = [each for each in through if known[each]]
            behind = [((*before[:2], each, *before[3:]), each, each + 1, variable, excluded) for each in rows]
            self.moved = _Asked(behind[-1], count)
            self.waiting = self.moved, rows
            return variable, behind, 1
        if begin == row:
            self.moved = _Asked(taken, 1)
        self.grown = _Asked(taken, 1)
        self.waiting = self.grown, (row,)
        return variable, [taken], 1

    def take_answers(self, answers: Sequence[bool]) -> None:
        """The answers to the question."""
        asked, rows = self.waiting
        asked.answers = dict(zip(rows, answers, strict=True))


def _same_run(one: TakenRows, other: TakenRows) -> bool:
    """Whether rows differ in how many the last run has alone."""
    return one[0] is other[0] and one[1] == other[1] and one[3:] == other[3:]


def _behind_same_run(one: TakenRows, other: TakenRows) -> bool:
    """Whether rows end with a row of one variable, and differ in how many the run before has alone."""
    alone = other[2] - other[1] == 1 and one[3:] == other[3:]
    return alone and one[0] is not None and other[0] is not None and _same_run(one[0], other[0])
