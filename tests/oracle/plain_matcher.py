"""A plain matcher of row patterns, slow and independent of the workbench's: patterns are data of Python, not text.

It follows ISO/IEC 19075-5 by recursion: ``ways`` gives all ways in which a part of a pattern takes rows, the preferred
one first, and conditions are Python functions of the match so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

Row = Mapping[str, Any]
Part = Any
"""A name, or ``("seq", …)``, ``("or", …)``, ``("rep", part, least, most, reluctant)``, ``("hide", part)``,
``("permute", …)``, ``"^"`` or ``"$"``."""
Taken = tuple[tuple[int, str, bool], ...]
"""Rows by their places, their variables, and whether they are excluded."""


@dataclass(frozen=True)
class Seen:
    """A match as a row of it sees it."""

    rows: Sequence[Row]
    taken: Taken
    number: int = 0

    def at(self, which: str, names: str = "", offset: int = 0, shift: int = 0, column: str = "id") -> Any:
        """FIRST or LAST of the rows of some variables, moved in the partition."""
        places = [place for place, name, _ in self.taken if not names or name in names.split()]
        if which == "last":
            places.reverse()
        if len(places) <= offset:
            return None
        place = places[offset] + shift
        return self.rows[place][column] if 0 <= place < len(self.rows) else None

    def all(self, column: str, names: str = "") -> list[Any]:
        """The values of the rows of some variables that are not NULL."""
        values = (self.rows[place][column] for place, name, _ in self.taken if not names or name in names.split())
        return [value for value in values if value is not None]

    def count(self, names: str = "") -> int:
        """How many rows some variables have."""
        return sum(not names or name in names.split() for _, name, _ in self.taken)

    def sum(self, column: str, names: str = "") -> Any:
        """A sum; NULL of no values."""
        values = self.all(column, names)
        return sum(values) if values else None

    @property
    def name(self) -> str | None:
        """CLASSIFIER()."""
        return self.taken[-1][1] if self.taken else None


Condition = Callable[[Seen], Any]
Measure = Callable[[Seen], Any]


@dataclass(frozen=True)
class Asked:
    """A pattern, and what is asked of its matches.

    Attributes:
        define: condition by variable, of the match with the row that is tested as its last one; ``None`` is NULL.
        skip: ``past``, ``next``, or ``first`` or ``last`` and names.
        rows: ``one``, ``all``, ``omit`` or ``unmatched``.
    """

    pattern: Part
    define: Mapping[str, Condition]
    skip: str = "past"
    rows: str = "one"

    def matches(self, rows: Sequence[Row]) -> Iterator[tuple[int, Taken]]:
        """The matches among the rows of a partition, and where each begins."""
        start = 0
        while start < len(rows):
            taken = next((taken for _, taken in self._ways(self.pattern, rows, start, (), False)), None)
            if taken is None:
                start += 1
                continue
            yield start, taken
            how, *names = self.skip.split()
            places = [place for place, name, _ in taken if name in names]
            following = start + 1
            if how == "past" and taken:
                following = taken[-1][0] + 1
            elif places:
                following = max(following, places[0] if how == "first" else places[-1])
            start = following

    def _ways(
        self, part: Part, rows: Sequence[Row], at: int, taken: Taken, hidden: bool
    ) -> Iterator[tuple[int, Taken]]:
        if part == "^" or part == "$":
            if at == (0 if part == "^" else len(rows)):
                yield at, taken
            return
        if isinstance(part, str):
            if at < len(rows):
                longer = (*taken, (at, part, hidden))
                condition = self.define.get(part)
                if condition is None or condition(Seen(rows, longer)):
                    yield at + 1, longer
            return
        kind, *inner = part
        match kind:
            case "seq":
                if not inner:
                    yield at, taken
                    return
                for then, longer in self._ways(inner[0], rows, at, taken, hidden):
                    yield from self._ways(("seq", *inner[1:]), rows, then, longer, hidden)
            case "or":
                for each in inner:
                    yield from self._ways(each, rows, at, taken, hidden)
            case "permute":
                yield from self._ways(
                    ("or", *(("seq", *some) for some in permutations(inner))), rows, at, taken, hidden
                )
            case "hide":
                yield from self._ways(inner[0], rows, at, taken, True)
            case "rep":
                yield from self._repeated(inner, rows, at, taken, hidden)

    def _repeated(
        self, inner: Sequence[Any], rows: Sequence[Row], at: int, taken: Taken, hidden: bool
    ) -> Iterator[tuple[int, Taken]]:
        part, least, most, reluctant = inner
        if least:
            rest = None if most is None else most - 1
            for then, longer in self._ways(part, rows, at, taken, hidden):
                yield from self._ways(("rep", part, least - 1, rest, reluctant), rows, then, longer, hidden)
            return
        if reluctant:
            yield at, taken
        if most is None or most > 0:
            rest = None if most is None else most - 1
            for then, longer in self._ways(part, rows, at, taken, hidden):
                if then > at or most is not None:  # an iteration of ``*`` that takes no row is none
                    yield from self._ways(("rep", part, 0, rest, reluctant), rows, then, longer, hidden)
        if not reluctant:
            yield at, taken

    def answer(
        self, rows: Sequence[Row], measures: Sequence[Measure], columns: Sequence[str], final: Sequence[bool] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of the answer over one partition."""
        shown: set[int] = set()
        for number, (start, taken) in enumerate(self.matches(rows), start=1):
            whole = Seen(rows, taken, number)
            shown |= {place for place, _, _ in taken} | ({start} if not taken else set())
            if self.rows == "one" or not taken:
                if self.rows != "omit":
                    yield (*(rows[start][c] for c in columns), *(measure(whole) for measure in measures))
                continue
            for upto, (place, _, hidden) in enumerate(taken, start=1):
                if not hidden:
                    seen = Seen(rows, taken[:upto], number)
                    ends = final or [False] * len(measures)
                    values = (m(whole if end else seen) for m, end in zip(measures, ends, strict=True))
                    yield (*(rows[place][c] for c in columns), *values)
        if self.rows == "unmatched":
            for place in sorted(set(range(len(rows))) - shown):
                yield (*(rows[place][c] for c in columns), *(None for _ in measures))
