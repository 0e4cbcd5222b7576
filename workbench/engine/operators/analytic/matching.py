"""Matches of a pattern among the rows of partitions (``sql.algebra.patterns``), and the values that are read of them.

The program of a pattern is run from each row at which a match may begin, with backtracking: what is tried first is
preferred. What conditions read of the rows beside the one that is tested, and of no match, is evaluated over all rows
at once, so a row that fails there costs a look at a bit. Other conditions are tested for all partitions together, one
row of each at a time, by the same kernels. Where no condition depends on the match, a step that failed at a row fails
there again, whatever led to it, so each fails once at each row; an iteration of a loop that takes no row is none.

Source: Laurikari, NFAs with tagged transitions (SPIRE 2000), for programs that know which rows are whose; Cox, Regular
expression matching: the virtual machine approach (2009), for trying each step once at each place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.operators.analytic.frames import FrameRange, OrderedBatch
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Call, Column, Expression, columns
from workbench.sql.algebra.patterns import EXCLUDED, NO_ROWS, SHOWN, UNDECIDED, MatchPattern, Navigation
from workbench.sql.algebra.types import STRING

MOST_TRIALS = 200_000
"""Choices that are tried from one row, where conditions depend on the match; ``sql/checks`` stops a query with more."""

TakenRows = tuple["TakenRows | None", int, int, int]
"""The rows of a match so far: those before the last one, that row, its variable, and whether it is excluded."""
Entered = frozenset[int]
"""The loops whose iterations began at the present row."""
_NONE: Entered = frozenset()
RowStatistic = Callable[[Navigation, pa.Array | None, Positions, FrameRange], pa.Array]
"""A statistic of rows: what it is, the values of all rows, which rows, and of each value the range of these."""


@dataclass(frozen=True)
class RowMatch:
    """Rows of a partition that match.

    Attributes:
        start: the row at which it begins.
        number: of the match in its partition, from 1 on.
        rows: that are in it; they follow each other.
        variables: of each.
        excluded: which are not shown.
    """

    start: int
    number: int
    rows: range
    variables: tuple[int, ...]
    excluded: tuple[int, ...]

    def of(self, variables: Sequence[int], upto: int) -> list[int]:
        """The rows of some variables, or of all where none are named, among the first ones."""
        if not variables:
            return list(self.rows[:upto])
        return [row for row, v in zip(self.rows[:upto], self.variables, strict=False) if v in variables]


@dataclass(frozen=True)
class Matching:
    """The matches among ordered rows.

    Attributes:
        batch: the rows.
        pattern: what matches.
        arguments: the values of the call's arguments, of every row.
        statistic: computes statistics of rows.
    """

    batch: OrderedBatch
    pattern: MatchPattern
    arguments: tuple[pa.Array, ...]
    statistic: RowStatistic

    def matches(self) -> list[RowMatch]:
        """All matches, in the order of the rows at which they begin."""
        high = self.batch.parts.high
        known, rest = self._conditions()
        found: list[list[RowMatch]] = [[] for _ in self.batch.starts]
        runs = [
            self._of_partition(int(start), int(high[start]), known, rest, kept)
            for start, kept in zip(self.batch.starts, found, strict=True)
        ]
        asked = [(run, question) for run in runs if (question := next(run, None)) is not None]
        while asked:
            answers = self._tested([question for _, question in asked], rest)
            following = []
            for (run, _), answer in zip(asked, answers, strict=True):
                with contextlib.suppress(StopIteration):
                    following.append((run, run.send(answer)))
            asked = following
        return [match for kept in found for match in kept]

    # ---- conditions --------------------------------------------------------------------------------------------------

    def _conditions(self) -> tuple[list[bytes], list[Expression | None]]:
        """What of the condition of each variable holds for each row by itself; and what depends on the match."""
        rows = self.batch.rows.num_rows
        known, rest = [], list[Expression | None]()
        for variable, condition in enumerate(self.pattern.conditions):
            holds = np.ones(rows, dtype=bool)
            left: list[Expression] = []
            for part in _conjuncts(condition):
                if not self.pattern.depends(part, variable):
                    holds &= np.asarray(self._of_rows(part).fill_null(False))
                else:
                    left.append(part)
            known.append(holds.tobytes())
            whole = left[0] if left else None
            for part in left[1:]:
                assert whole is not None
                whole = Call("and", (whole, part), part.type)
            rest.append(whole)
        return known, rest

    def _navigation(self, column: Column) -> Navigation:
        return self.pattern.navigations[int(column.name[1:])]

    def _of_rows(self, condition: Expression) -> pa.Array:
        every = np.arange(self.batch.rows.num_rows)
        read = sorted(columns(condition), key=lambda column: column.name)
        values = {column.name: self._shifted(self._navigation(column), every) for column in read}
        return self._evaluated(condition, values, len(every))

    def _shifted(self, read: Navigation, at: Positions) -> pa.Array:
        """The argument at some rows, moved by a shift in their partitions; NULL beyond these, and of no row."""
        there, inside = at >= 0, np.maximum(at, 0)
        moved = inside + read.shift
        there &= (moved >= self.batch.parts.low[inside]) & (moved < self.batch.parts.high[inside])
        return self.arguments[read.argument].take(pa.array(np.where(there, moved, 0), mask=~there))

    def _evaluated(self, condition: Expression, values: dict[str, pa.Array], count: int) -> pa.Array:
        names = list(values) or ["_"]
        rows = pa.RecordBatch.from_arrays(list(values.values()) or [pa.nulls(count)], names=names)
        return evaluate(condition, rows)

    def _tested(self, questions: Sequence[tuple[int, TakenRows]], rest: Sequence[Expression | None]) -> list[bool]:
        """Whether rows that are tried as the last ones of matches meet the rest of their conditions."""
        answers = [False] * len(questions)
        for variable in {variable for variable, _ in questions}:
            some = [at for at, (other, _) in enumerate(questions) if other == variable]
            matches = [_match(questions[at][1], 0) for at in some]
            condition = rest[variable]
            assert condition is not None
            seen = [(match, len(match.rows)) for match in matches]
            values = {column.name: self.values(self._navigation(column), seen) for column in columns(condition)}
            holds = self._evaluated(condition, values, len(some)).fill_null(False).to_pylist()
            for at, answer in zip(some, holds, strict=True):
                answers[at] = answer
        return answers

    # ---- values ------------------------------------------------------------------------------------------------------

    def values(self, read: Navigation, seen: Sequence[tuple[RowMatch, int]]) -> pa.Array:
        """What is read of matches.

        Args:
            read: what.
            seen: matches, and how many of their rows there are up to the one that each is seen from.
        """
        if read.found == "number":
            return pa.array([match.number for match, _ in seen], pa.int64())
        if read.found in ("count", "sum", "min", "max"):
            rows = [match.of(read.variables, len(match.rows) if read.final else upto) for match, upto in seen]
            ends = np.array([0, *accumulate(map(len, rows))])
            argument = None if read.argument < 0 else self.arguments[read.argument]
            gathered = np.array([row for some in rows for row in some], dtype=np.int64)
            return self.statistic(read, argument, gathered, FrameRange(ends[:-1], ends[1:]))
        at = [self._place(read, match, len(match.rows) if read.final else upto) for match, upto in seen]
        if read.found == "classifier":
            names = self.pattern.variables
            every = zip(at, seen, strict=True)
            named = [None if row < 0 else names[match.variables[row - match.start]] for row, (match, _) in every]
            return pa.array(named, to_arrow(STRING))
        return self._shifted(read, np.array(at, dtype=np.int64)).cast(to_arrow(read.type))

    def _place(self, read: Navigation, match: RowMatch, upto: int) -> int:
        """The row that is read, before it is moved; -1 where there is none."""
        rows = match.of(read.variables, upto)
        if len(rows) <= read.offset:
            return -1
        return rows[read.offset] if read.found == "first" else rows[-1 - read.offset]

    # ---- the machine -------------------------------------------------------------------------------------------------

    def _of_partition(
        self, start: int, end: int, known: Sequence[bytes], rest: Sequence[Expression | None], kept: list[RowMatch]
    ) -> Generator[tuple[int, TakenRows], bool, None]:
        """Find the matches of a partition; it asks whether rows meet conditions that depend on the match."""
        steps, at, number = self.pattern.steps, start, 0
        pure, begins = not any(rest), _may_begin(self.pattern, known)
        heads = {step.to for place, step in enumerate(steps) if step.operation == "jump" and step.to <= place}
        failed: set[tuple[int, int, Entered]] = set()
        while at < end:
            if begins is not None and not any(bits[at] for bits in begins):
                at += 1
                continue
            waiting: list[tuple[int, int, TakenRows | None, Entered, bool]] = [(0, at, None, _NONE, False)]
            taken: TakenRows | None = None
            found, trials = False, 0
            while waiting and not found and trials <= MOST_TRIALS:
                place, row, taken, entered, over = waiting.pop()
                if over:  # whatever was tried from this choice on failed
                    failed.add((place, row, entered))
                    continue
                while not (found := place == len(steps)):
                    step = steps[place]
                    match step.operation:
                        case "row":
                            if row >= end or not known[step.to][row]:
                                break
                            longer: TakenRows = (taken, row, step.to, step.other)
                            if rest[step.to] is not None and not (yield step.to, longer):
                                break
                            taken, row, place, entered = longer, row + 1, place + 1, _NONE
                        case "split":
                            if pure:
                                if (place, row, entered) in failed:
                                    break
                                waiting.append((place, row, taken, entered, True))
                            else:
                                trials += 1
                            inside = entered | {place} if place in heads else entered
                            ways = [(each, inside if each == place + 1 else entered) for each in (step.other, step.to)]
                            waiting.append((ways[0][0], row, taken, ways[0][1], False))
                            place, entered = ways[1]
                        case "jump":
                            if step.to in entered:  # an iteration that takes no row is none
                                break
                            place = step.to
                        case "first" | "last":
                            if row != (start if step.operation == "first" else end):
                                break
                            place += 1
            if not found:
                if trials > MOST_TRIALS:
                    kept.append(RowMatch(at, 0, range(0), (), ()))
                at += 1
                continue
            number += 1
            kept.append(_match(taken, number, at))
            at = self._after(kept[-1])

    def _after(self, match: RowMatch) -> int:
        """Where the next match may begin; where no row is named, or the one that it began with, at the row after."""
        pattern, following = self.pattern, match.start + 1
        if pattern.skip == "past":
            return max(match.rows.stop, following)
        rows = match.of(pattern.to, len(match.rows)) if pattern.to else []
        if not rows:
            return following
        return max(rows[0] if pattern.skip == "first" else rows[-1], following)


def match_values(matching: Matching, matches: Sequence[RowMatch], read: Navigation) -> pa.Array:
    """A value of the matches, beside the rows of the batch that are wanted: those that it belongs to.

    Args:
        matching: what found them.
        matches: all of them.
        read: the value.
    """
    rows, seen, states = list[int](), list[tuple[RowMatch, int]](), list[int]()
    for match in matches:
        if not match.rows or not matching.pattern.all_rows:
            rows.append(match.start)
            seen.append((match, len(match.rows)))
            states.append(UNDECIDED if not match.number else SHOWN if match.rows else NO_ROWS)
            continue
        rows += match.rows
        seen += [(match, upto + 1) for upto in range(len(match.rows))]
        states += [EXCLUDED if excluded else SHOWN for excluded in match.excluded]
    values = pa.array(states, pa.int64()) if read.found == "state" else matching.values(read, seen)
    batch = matching.batch
    place = np.full(batch.rows.num_rows, -1)
    place[np.array(rows, dtype=np.int64)] = np.arange(len(rows))
    at = place[batch.wanted]
    return values.take(pa.array(np.maximum(at, 0), mask=at < 0)).cast(to_arrow(read.type))


def _match(taken: TakenRows | None, number: int, start: int = -1) -> RowMatch:
    rows: list[tuple[int, int, int]] = []
    while taken is not None:
        before, row, variable, excluded = taken
        rows.append((row, variable, excluded))
        taken = before
    rows.reverse()
    begin = rows[0][0] if rows else start
    variables, excluded_ = tuple(v for _, v, _ in rows), tuple(e for _, _, e in rows)
    return RowMatch(begin, number, range(begin, begin + len(rows)), variables, excluded_)


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        return [part for argument in condition.arguments for part in _conjuncts(argument)]
    return [condition]


def _may_begin(pattern: MatchPattern, known: Sequence[bytes]) -> list[bytes] | None:
    """The bits of the variables that a match may begin with; ``None`` where it may have no rows."""
    seen, waiting, first = set[int](), [0], set[int]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        if place == len(pattern.steps):
            return None
        step = pattern.steps[place]
        match step.operation:
            case "row":
                first.add(step.to)
            case "split":
                waiting += [step.to, step.other]
            case "jump":
                waiting.append(step.to)
            case _:
                waiting.append(place + 1)
    return [known[variable] for variable in sorted(first)]
