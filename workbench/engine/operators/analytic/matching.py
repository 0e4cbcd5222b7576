"""Matches of a pattern among the rows of partitions (``sql.algebra.patterns``), and the values that are read of them.

The program of a pattern is run from each row at which a match may begin, with backtracking: what is tried first is
preferred. What conditions read of the rows beside the one that is tested, and of no match, is evaluated over all rows
at once, so a row that fails there costs a look at a bit. Where no condition depends on the match, a step that failed at
a row fails there again, whatever led to it, so each fails once at each row; an iteration of a loop that takes no row is
none.

Conditions that depend on the match are tested by the same kernels for many rows together. A program begins at several
rows of a partition before it is known whether an earlier match has these rows: at as many as were of use before. And a
loop that takes row after row asks for rows ahead, as many as it has taken.

Source: Laurikari, NFAs with tagged transitions (SPIRE 2000), for programs that know which rows are whose; Cox, Regular
expression matching: the virtual machine approach (2009), for trying each step once at each place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.operators.analytic.frames import FrameRange, OrderedBatch
from workbench.engine.operators.analytic.guesses import Guesses, RowQuestion
from workbench.engine.operators.analytic.row_matches import RowMatch, SeenRows, TakenRows, longer_by
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Call, Column, Expression, columns
from workbench.sql.algebra.patterns import EXCLUDED, NO_ROWS, SHOWN, UNDECIDED, MatchPattern, Navigation
from workbench.sql.algebra.types import STRING

Entered = frozenset[int]
"""The loops whose iterations began at the present row."""
_NONE: Entered = frozenset()
_FEW_PROGRAMS = 16
"""That run in a partition at first."""
_MOST_PROGRAMS = 4_096
"""That run side by side, about."""
RowStatistic = Callable[[Navigation, pa.Array | None, Positions, FrameRange], pa.Array]
"""A statistic of rows: what it is, the values of all rows, which rows, and of each value the range of these."""


@dataclass
class _Program:
    """The program of a pattern that begins at a row: it asks, and has a match in the end or none."""

    start: int
    steps: Generator[RowQuestion, Sequence[bool], RowMatch | None]
    question: RowQuestion | None = None
    match: RowMatch | None = None

    def __post_init__(self) -> None:
        self.go_on(None)

    def go_on(self, answers: Sequence[bool] | None) -> None:
        """Run until it asks, or ends."""
        try:
            self.question = next(self.steps) if answers is None else self.steps.send(answers)
        except StopIteration as end:
            self.question, self.match = None, end.value


@dataclass
class _Search:
    """The search through the rows of a partition.

    Attributes:
        low, high: where they begin and end.
        next: the first row at which no program has begun.
        programs: how many run at a time.
        running: those that do, in the order of the rows at which they begin.
        found: the matches.
        matched: how many there are.
        failed: of a pattern that depends on no match, the steps that failed, each at a row.
    """

    low: int
    high: int
    next: int
    programs: int
    running: deque[_Program] = field(default_factory=deque)
    found: list[RowMatch] = field(default_factory=list)
    matched: int = 0
    failed: set[tuple[int, int, Entered]] = field(default_factory=set)


@dataclass(frozen=True)
class Matching:
    """The matches among ordered rows.

    Attributes:
        batch: the rows.
        pattern: what matches.
        arguments: the values of the call's arguments, of every row.
        statistic: computes statistics of rows.
        most_choices: that are tried from one row, where conditions depend on the match.
    """

    batch: OrderedBatch
    pattern: MatchPattern
    arguments: tuple[pa.Array, ...]
    statistic: RowStatistic
    most_choices: int

    def matches(self) -> list[RowMatch]:
        """All matches, in the order of the rows at which they begin."""
        high = self.batch.parts.high
        # A program that depends on no match never asks.
        few, together = (_FEW_PROGRAMS, _MOST_PROGRAMS) if any(self._conditions[1]) else (1, 1)
        all_ = [_Search(int(start), int(high[start]), int(start), few) for start in self.batch.starts]
        searches = all_
        while searches:
            most = max(1, together // len(searches))
            searches = [search for search in searches if self._goes_on(search, most)]
            asking = [program for search in searches for program in search.running if program.question is not None]
            for program, answers in zip(asking, self._answers(asking), strict=True):
                program.go_on(answers)
        return [match for search in all_ for match in search.found]

    def _goes_on(self, search: _Search, most: int) -> bool:
        """Keep the matches that are known, and begin programs; whether the first one asks."""
        running = search.running
        while True:
            while running and running[0].question is None:
                match = running.popleft().match
                search.programs = min(search.programs + 1, most)
                if match is not None:
                    self._record_match(match, search)
            while len(running) < search.programs and (start := self._begin(search)) >= 0:
                search.next = start + 1
                running.append(_Program(start, self._steps(search, start)))
            if not running or running[0].question is not None:
                return bool(running)

    def _record_match(self, match: RowMatch, search: _Search) -> None:
        """Keep a match, and leave out what began at its rows."""
        search.matched += bool(match.number)
        search.found.append(replace(match, number=search.matched) if match.number else match)
        following = self._after(match)
        search.next = max(search.next, following)
        while search.running and search.running[0].start < following:
            search.running.popleft()
            search.programs = max(1, search.programs - 1)

    def _begin(self, search: _Search) -> int:
        """The next row at which a match may begin; -1 where there is none."""
        if self._begins is None:
            return search.next if search.next < search.high else -1
        return self._begins.find(1, search.next, search.high)

    def _after(self, match: RowMatch) -> int:
        """Where the next match may begin; where no row is named, or the one that it began with, at the row after."""
        pattern, following = self.pattern, match.start + 1
        if pattern.skip == "past":
            return max(match.end, following)
        runs = [run for run in match.runs() if run[2] in pattern.to]
        if not runs:
            return following
        return max(runs[0][0] if pattern.skip == "first" else runs[-1][1] - 1, following)

    # ---- conditions --------------------------------------------------------------------------------------------------

    @cached_property
    def _conditions(self) -> tuple[list[bytes], list[Expression | None]]:
        """What of the condition of each variable holds for each row by itself; and what depends on the match."""
        rows = self.batch.rows.num_rows
        known, rest = [], list[Expression | None]()
        for variable, condition in enumerate(self.pattern.conditions):
            holds = np.ones(rows, dtype=bool)
            left: Expression | None = None
            for part in _conjuncts(condition):
                if not self.pattern.depends(part, variable):
                    holds &= np.asarray(self._of_rows(part).fill_null(False))
                else:
                    left = part if left is None else Call("and", (left, part), part.type)
            known.append(holds.tobytes())
            rest.append(left)
        return known, rest

    @cached_property
    def _begins(self) -> bytes | None:
        """Of each row, whether a match may begin with it; ``None`` where one may have no rows."""
        first = _first_variables(self.pattern)
        if first is None:
            return None
        known, _ = self._conditions
        bits = [np.frombuffer(known[variable], dtype=bool) for variable in first]
        return np.logical_or.reduce(bits).tobytes()

    def _navigation(self, column: Column) -> Navigation:
        return self.pattern.navigations[int(column.name[1:])]

    def _of_rows(self, condition: Expression) -> pa.Array:
        every = np.arange(self.batch.rows.num_rows)
        values = {column.name: self._shifted(self._navigation(column), every) for column in columns(condition)}
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

    def _answers(self, asking: Sequence[_Program]) -> list[Sequence[bool]]:
        """Whether rows that are tried as the last ones of matches meet the rest of their conditions."""
        answers: list[Sequence[bool]] = [()] * len(asking)
        _, rest = self._conditions
        of_variable: dict[int, list[int]] = {}
        questions = [program.question for program in asking if program.question is not None]
        for at, (variable, _, _) in enumerate(questions):
            of_variable.setdefault(variable, []).append(at)
        for variable, some in of_variable.items():
            asked = [(asking[at].start, questions[at]) for at in some]
            matches = [RowMatch(start, 0, taken) for start, (_, every, _) in asked for taken in every]
            views = np.array([count for _, (_, every, count) in asked for _ in every])
            seen = SeenRows.of(matches, views)
            condition = rest[variable]
            assert condition is not None
            values = {column.name: self.values(self._navigation(column), seen) for column in columns(condition)}
            holds = self._evaluated(condition, values, int(views.sum())).fill_null(False).to_pylist()
            begin = 0
            for at in some:
                end = begin + len(questions[at][1]) * questions[at][2]
                answers[at], begin = holds[begin:end], end
        return answers

    # ---- values ------------------------------------------------------------------------------------------------------

    def values(self, read: Navigation, seen: SeenRows) -> pa.Array:
        """What each view reads of its match."""
        if read.found == "number":
            return pa.array(seen.numbers)
        own = seen.own(read.variables)
        ranges = seen.ranges(own, read.final)
        if read.found in ("count", "sum", "min", "max"):
            argument = None if read.argument < 0 else self.arguments[read.argument]
            return self.statistic(read, argument, seen.rows[own], ranges)
        at = ranges.low + read.offset if read.found == "first" else ranges.high - 1 - read.offset
        known = (at >= ranges.low) & (at < ranges.high)
        place = np.append(own, 0)[np.where(known, at, len(own))]
        if read.found == "classifier":
            names = pa.array(self.pattern.variables, to_arrow(STRING))
            return names.take(pa.array(np.append(seen.variables, 0)[place], mask=~known))
        return self._shifted(read, np.where(known, np.append(seen.rows, 0)[place], -1)).cast(to_arrow(read.type))

    # ---- the machine -------------------------------------------------------------------------------------------------

    @cached_property
    def _heads(self) -> frozenset[int]:
        """The steps with which loops begin."""
        steps = enumerate(self.pattern.steps)
        return frozenset(step.to for place, step in steps if step.operation == "jump" and step.to <= place)

    def _steps(self, search: _Search, start: int) -> Generator[RowQuestion, Sequence[bool], RowMatch | None]:
        """Run the program from a row on; it asks whether rows meet conditions that depend on the match."""
        steps, (known, rest), heads, high = self.pattern.steps, self._conditions, self._heads, search.high
        pure, failed, choices, guesses = not any(rest), search.failed, 0, dict[int, Guesses]()
        waiting: list[tuple[int, int, TakenRows | None, Entered, bool]] = [(0, start, None, _NONE, False)]
        while waiting and choices <= self.most_choices:
            place, row, taken, entered, over = waiting.pop()
            if over:  # whatever was tried from this choice on failed
                failed.add((place, row, entered))
                continue
            while place < len(steps):
                step = steps[place]
                match step.operation:
                    case "row":
                        if row >= high or not known[step.to][row]:
                            break
                        longer = longer_by(taken, row, step.to, step.other)
                        if rest[step.to] is not None:
                            guess = guesses.get(step.to) or guesses.setdefault(step.to, Guesses())
                            passes = guess.answer(longer)
                            if passes is None:
                                answers = yield guess.question(longer, known[step.to], high)
                                guess.take_answers(answers)
                                passes = answers[0]
                            if not passes:
                                break
                        taken, row, place, entered = longer, row + 1, place + 1, _NONE
                    case "split":
                        if pure:
                            if (place, row, entered) in failed:
                                break
                            waiting.append((place, row, taken, entered, True))
                        else:
                            choices += 1
                        inside = entered | {place} if place in heads else entered
                        ways = [(each, inside if each == place + 1 else entered) for each in (step.other, step.to)]
                        waiting.append((ways[0][0], row, taken, ways[0][1], False))
                        place, entered = ways[1]
                    case "jump":
                        if step.to in entered:  # an iteration that takes no row is none
                            break
                        place = step.to
                    case "first" | "last":
                        if row != (search.low if step.operation == "first" else high):
                            break
                        place += 1
            else:
                return RowMatch(start, 1, taken)
        return RowMatch(start) if choices > self.most_choices else None


@dataclass(frozen=True)
class ShownRows:
    """The rows that values of matches belong to: the first ones of matches, or all.

    Attributes:
        at: the rows.
        states: of each.
        seen: what each sees of its match.
    """

    at: Positions
    states: Positions
    seen: SeenRows

    @staticmethod
    def of(matching: Matching) -> ShownRows:
        """The rows that all matches show."""
        matches = matching.matches()
        starts = np.array([match.start for match in matches], dtype=np.int64)
        all_rows = matching.pattern.all_rows
        views = np.array([max(m.end - m.start, 1) if all_rows else 1 for m in matches], dtype=np.int64)
        seen = SeenRows.of(matches, views)
        at, some = np.repeat(starts, views), seen.ends > seen.begins
        states = np.where(seen.numbers == 0, UNDECIDED, np.where(some, SHOWN, NO_ROWS))
        if all_rows:
            last = seen.ends[some] - 1
            at[some] = seen.rows[last]
            states[some] = np.where(seen.excluded[last], EXCLUDED, SHOWN)
        return ShownRows(at, states, seen)

    def values(self, matching: Matching, read: Navigation) -> pa.Array:
        """A value of the matches for each wanted row of the batch; NULL for other rows."""
        values = pa.array(self.states) if read.found == "state" else matching.values(read, self.seen)
        batch = matching.batch
        place = np.full(batch.rows.num_rows, -1)
        place[self.at] = np.arange(len(self.at))
        at = place[batch.wanted]
        return values.take(pa.array(np.maximum(at, 0), mask=at < 0)).cast(to_arrow(read.type))


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        return [part for argument in condition.arguments for part in _conjuncts(argument)]
    return [condition]


def _first_variables(pattern: MatchPattern) -> list[int] | None:
    """The variables that a match may begin with; ``None`` where it may have no rows."""
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
    return sorted(first)
