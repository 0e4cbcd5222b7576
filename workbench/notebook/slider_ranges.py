"""The values of a slider, as ``--slider NAME=FIRST:LAST[:STEP]`` or ``--slider NAME=VALUE,VALUE`` says them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from workbench.errors import MagicError

POSITIONS, USUAL_POSITIONS = 10_000, 100
"""Values of a slider at most, and about those of one whose step is not said."""
_HINT = (
    "a name with its first and last value, and the step if need be, or with all values: "
    "--slider amount=0:1000000:50000, --slider state=MA,NY,ME"
)

SliderValue = int | Decimal | dt.date | str
_KINDS: tuple[Callable[[str], SliderValue], ...] = (int, Decimal, dt.date.fromisoformat)


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
        """The range that ``NAME=FIRST:LAST[:STEP]`` means, or the values of a list; steps of dates are days.

        Raises:
            MagicError: it is none, or has too many values.
        """
        name, _, ends = text.partition("=")
        if "," in ends and name.strip().isidentifier():
            return SliderRange(name.strip(), _listed(text, [part.strip() for part in ends.split(",")]))
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
        """Where a variable of the notebook stands: at its value, or the last one that is not above it."""
        if value in self.values or isinstance(value, str):
            return self.values.index(value) if value in self.values else 0
        try:
            below = sum(each <= value for each in self.values)  # type: ignore[operator]  # others are a TypeError
        except TypeError:
            return 0
        return max(0, below - 1)


def _listed(text: str, parts: Sequence[str]) -> tuple[SliderValue, ...]:
    """Values that stand one by one: whole numbers, numbers or dates, where all are such, else texts."""
    if not all(parts) or not 2 <= len(parts) <= POSITIONS:
        raise MagicError(f"{text} is no list of a slider's values", hint=_HINT)
    for read in _KINDS:
        try:
            return tuple(map(read, parts))
        except (InvalidOperation, ValueError):
            continue
    return tuple(parts)


def _usual_step(span: Decimal) -> Decimal:
    """One, or a hundredth of the span where there are more whole numbers, or none; backwards where that is."""
    size = abs(span)
    step = Decimal(1) if size == int(size) and 1 < size <= USUAL_POSITIONS else size / USUAL_POSITIONS
    return (step if step < 1 else Decimal(int(step))).copy_sign(span)
