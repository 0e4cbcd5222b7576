"""Sliders for the ``:parameters`` of a cell: the answer follows them while they move, and only *Keep* registers it.

A position is answered by ``Session.ask``, from what the network keeps: where a query has the rows of all positions, one
costs those rows and not the stream's. Answers are computed in a thread. A position that is left before its turn comes
is never computed, so a slow answer delays at most one other, and no cell.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.notebook.command_line import MagicError
from workbench.notebook.display import Shown, plain, rows_table
from workbench.notebook.panel.widgets import SliderWidget, button, html_box
from workbench.session.session import Session

POSITIONS, USUAL_POSITIONS = 10_000, 100
"""Values of a slider at most, and about those of one whose step is not said."""
_HINT = "a name with its first and last value, and the step if need be: --slider amount=0:1000000:50000"

SliderValue = int | Decimal | dt.date


@dataclass(frozen=True)
class SliderRange:
    """The values of one parameter, in their order.

    Example:
        >>> SliderRange.parsed("share=0:1:0.25").values
        (Decimal('0.00'), Decimal('0.25'), Decimal('0.50'), Decimal('0.75'), Decimal('1.00'))
        >>> SliderRange.parsed("day=2020-01-01:2020-01-08:7").values[-1]
        datetime.date(2020, 1, 8)
    """

    name: str
    values: tuple[SliderValue, ...]

    @staticmethod
    def parsed(text: str) -> SliderRange:
        """The range that ``NAME=FIRST:LAST[:STEP]`` means; steps of dates are days.

        Raises:
            MagicError: it is none, or has too many values.
        """
        name, _, ends = text.partition("=")
        parts = [part.strip() for part in ends.split(":")]
        if not name.strip().isidentifier() or not 2 <= len(parts) <= 3:
            raise MagicError(f"{text} is no range of a slider", hint=_HINT)
        is_date = parts[0].count("-") == 2 and "e" not in parts[0].lower()
        try:
            ends_ = [
                Decimal(dt.date.fromisoformat(part).toordinal()) if is_date else Decimal(part) for part in parts[:2]
            ]
            first, span = ends_[0], ends_[1] - ends_[0]
            step = Decimal(parts[2]) if len(parts) == 3 else _usual_step(span)
            steps = int(span / step) if step else -1
        except (InvalidOperation, ValueError):
            raise MagicError(f"{text} is no range of a slider", hint=_HINT) from None
        if not 0 < steps < POSITIONS:
            raise MagicError(f"{text} has {max(0, steps + 1):,} values", hint=f"2 to {POSITIONS:,} are a slider")
        numbers = [first + n * step for n in range(steps + 1)]
        whole = all(number == int(number) for number in (first, step))
        if is_date:
            return SliderRange(name.strip(), tuple(dt.date.fromordinal(int(number)) for number in numbers))
        return SliderRange(name.strip(), tuple(map(int, numbers)) if whole else tuple(numbers))

    def position(self, value: object) -> int:
        """Where a variable of the notebook stands: at the last value that is not above it."""
        try:
            below = sum(each <= value for each in self.values)  # type: ignore[operator]  # others are a TypeError
        except TypeError:
            return 0
        return max(0, below - 1)


def _usual_step(span: Decimal) -> Decimal:
    """One, or a hundredth of the span where there are more whole numbers, or none; backwards where that is."""
    size = abs(span)
    step = Decimal(1) if size == int(size) and 1 < size <= USUAL_POSITIONS else size / USUAL_POSITIONS
    return (step if step < 1 else Decimal(int(step))).copy_sign(span)


class ParameterSliders:
    """The sliders of a cell, what the query answers at their values, and the button that registers it.

    Args:
        session: that is asked.
        ranges: of the parameters.
        text_at: gives the SQL for values of the parameters.
        dialect: of the SQL.
        keep: registers the SQL, and gives a sentence on it.
        variables: the notebook's namespace; sliders begin at the values that it has.
        limit: how many rows are shown.
    """

    def __init__(
        self,
        session: Session,
        ranges: Sequence[SliderRange],
        text_at: Callable[[Mapping[str, Any]], str],
        dialect: str,
        keep: Callable[[str], str],
        variables: Mapping[str, Any],
        limit: int,
    ) -> None:
        self._session, self._ranges, self._text_at = session, ranges, text_at
        self._dialect, self._keep, self._limit = dialect, keep, limit
        self.sliders = [
            SliderWidget(
                label=each.name, max=len(each.values) - 1, value=each.position(variables.get(each.name)),
                texts=[str(value) for value in each.values], live=True,
            )
            for each in ranges
        ]  # fmt: skip
        self.answer = html_box()
        self.kept = button("Keep", "check", self.register, "Register the query with these values")
        self.kept.layout.align_self = "flex-start"
        self.widget = ipywidgets.VBox([*self.sliders, self.kept, self.answer])
        self._working = ThreadPoolExecutor(1, thread_name_prefix="argus-sliders")
        self._moves, self._moving = 0, threading.Lock()
        for slider in self.sliders:
            slider.observe(lambda change: self.refresh(), "value")

    @property
    def values(self) -> dict[str, SliderValue]:
        """Those that the sliders stand at."""
        return {each.name: each.values[slider.value] for each, slider in zip(self._ranges, self.sliders, strict=True)}

    def refresh(self) -> None:
        """Answer at the present values, unless they change before its turn comes; nothing waits for it."""
        with self._moving:
            self._moves += 1
            move = self._moves
        self._working.submit(self._answer, move, self.values)

    def register(self) -> None:
        """Register the query with the present values, after what is being answered."""
        self._working.submit(self._register, self.values)

    def settle(self) -> None:
        """Wait until everything that was asked for is shown."""
        self._working.submit(int).result()

    def _answer(self, move: int, values: Mapping[str, SliderValue]) -> None:
        if move == self._moves:
            self._show(lambda: self._rows(values))

    def _rows(self, values: Mapping[str, SliderValue]) -> Shown:
        rows = self._session.ask(self._text_at(values), self._dialect)
        at = ", ".join(f"{name} = {value}" for name, value in values.items())
        return rows_table(rows.head(self._limit), len(rows), f"{at}, after batch {self._session.batch}")

    def _register(self, values: Mapping[str, SliderValue]) -> None:
        self._show(lambda: plain(self._keep(self._text_at(values))))

    def _show(self, shown: Callable[[], Shown]) -> None:
        try:
            output = shown()
        except WorkbenchError as problem:
            output = plain(str(problem))
        self.answer.value = output.html or ""
