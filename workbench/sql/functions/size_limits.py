"""How much functions make of a row at most: REPEAT, SPACE, LPAD, ARRAY_REPEAT, SEQUENCE, RANGE and GENERATE_SERIES.

Beyond it they give NULL, so that no row takes all memory. A database has no such limit: a check of the query has the
rows in which one is passed (``sql/checks.py``), and constants that pass one are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from workbench.sql.algebra.expressions import Call, Constant, Expression, is_call
from workbench.sql.algebra.types import BOOLEAN, INTEGER, decimal
from workbench.sql.functions.calls import call, cast

MOST_SIZES = {
    "repeat": 100_000, "space": 100_000, "lpad_in_postgres": 1_000_000, "rpad_in_postgres": 1_000_000,
    "array_repeat": 100_000, "sequence": 100_000,
    **dict.fromkeys(("series", "date_series", "month_series", "timestamp_series"), 10_000),
}  # fmt: skip
"""The functions, and how many characters or elements each makes at most."""
_WIDE = decimal(20, 0)
"""Of numbers whose differences are beyond 64 bits."""
_TEXTS = ("repeat", "space", "lpad_in_postgres", "rpad_in_postgres")

SIZE_HINT = "leave such rows out, or bound what is made, as in LEAST(n, 100)"


@dataclass(frozen=True)
class SizeLimit:
    """What a call makes by a number.

    Attributes:
        reason: what is wrong with a row that asks for more than the function makes.
        beyond: the condition that a row does.
    """

    reason: str
    beyond: Expression


def size_limit(part: Call) -> SizeLimit | None:
    """What a call makes by a number; ``None`` of other calls, and of those that never ask for too much.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> n = Column("n", INTEGER)
        >>> found = size_limit(call("space", n))
        >>> found.reason, text(found.beyond)
        ('SPACE would make more than 100,000 characters', '(n > 100000)')
        >>> size_limit(call("space", call("least", n, Constant(9, INTEGER))))
    """
    most = MOST_SIZES.get(part.function)
    if most is None:
        return None
    text, number = part.arguments[0], part.arguments[0 if part.function == "space" else 1]
    if part.function == "repeat":
        is_bounded = _highest(number) * max(_longest(text), 1) <= most
        times = call("div", Constant(most, INTEGER), call("length", text))
        if isinstance(text, Constant):
            times = Constant(most // max(len(str(text.value)), 1), INTEGER)
        beyond = call(">", number, times)
    elif part.function in (*_TEXTS, "array_repeat"):
        is_bounded = _highest(number) <= most or _is_difference_of_sizes(number)
        beyond = call(">", number, Constant(most, INTEGER))
    else:
        is_bounded, beyond = _is_near(part, most), _is_far(part, most)
    unit = "characters" if part.function in _TEXTS else "values"
    return None if is_bounded else SizeLimit(f"{_name(part)} would make more than {most:,} {unit}", beyond)


def _name(part: Call) -> str:
    """The name of a function in SQL."""
    if part.function == "series":
        return "RANGE" if _is_true(part.arguments[3]) else "GENERATE_SERIES"
    if part.function == "timestamp_series":
        named = "RANGE" if _is_true(part.arguments[3]) else "GENERATE_SERIES"
        return "SEQUENCE" if _is_true(part.arguments[4]) else named
    return "SEQUENCE" if part.function.endswith("_series") else part.function.removesuffix("_in_postgres").upper()


def _is_true(flag: Expression) -> bool:
    return isinstance(flag, Constant) and flag.value is True


def _is_far(part: Call, most: int) -> Expression:
    """Whether a series has more values than some: its end is at least as many steps away, or more if it is left out."""
    start, end, *others = part.arguments
    is_open = len(others) > 1 and _is_true(others[1])
    by, below = (">", "<") if is_open else (">=", "<=")
    distance = call("-", _place(part.function, end), _place(part.function, start))
    step = others[0] if others else Constant(0, INTEGER)
    if isinstance(step, Constant) and not step.value:
        return call(by, call("abs", distance), Constant(most, INTEGER))
    far, none = call("*", cast(step, _WIDE), Constant(most, INTEGER)), Constant(0, INTEGER)
    up, down = (call(sign, distance, far) for sign in (by, below))
    if isinstance(step, Constant):
        return up if _highest(step) > 0 else down
    return call("case", call(">", step, none), up, call("<", step, none), down, Constant(False, BOOLEAN))


def _place(function: str, value: Expression) -> Expression:
    """The number by which a series counts: the value itself, or days, months or microseconds."""
    time = value.value if isinstance(value, Constant) else None
    if function == "date_series":
        return Constant(time.toordinal(), INTEGER) if isinstance(time, date) else call("unix_date", value)
    if function == "month_series":
        if isinstance(time, date):
            return Constant(12 * time.year + time.month, INTEGER)
        return call("+", call("*", call("year", value), Constant(12, INTEGER)), call("month", value))
    if function == "timestamp_series":
        if isinstance(time, datetime):
            return Constant((time - datetime(1970, 1, 1)) // timedelta(microseconds=1), INTEGER)
        return call("unix_micros", value)
    return cast(value, _WIDE)


def _is_near(part: Call, most: int) -> bool:
    """Whether a series of numbers has few values in all rows."""
    start, end, *others = part.arguments
    step = others[0].value if others and isinstance(others[0], Constant) else 0
    if part.function not in ("sequence", "series") or not isinstance(step, int):
        return False
    up, down = _highest(end) - _lowest(start), _highest(start) - _lowest(end)
    return (up if step > 0 else down if step < 0 else max(up, down)) < most


def _is_difference_of_sizes(number: Expression) -> bool:
    """Whether it is how many elements of an array are left out."""
    return is_call(number, "-") and all(is_call(side, "array_size") for side in number.arguments)


def _longest(text: Expression) -> float:
    """Characters of a text at most."""
    match text:
        case Constant(value):
            return len(str(value))
        case Call(("left" | "substr"), (*_, length)):
            return _highest(length)
    return math.inf


def _highest(number: Expression) -> float:
    match number:
        case Constant(int(value)):
            return value
        case Constant(None):
            return -math.inf
        case Call("least", arguments):
            return min(map(_highest, arguments))
        case Call("greatest", arguments):
            return max(map(_highest, arguments))
        case Call("cast", (argument,)):
            return _highest(argument)
        case Call("-", (whole, Call("array_size"))):
            return _highest(whole)
    return math.inf


def _lowest(number: Expression) -> float:
    match number:
        case Constant(int(value)):
            return value
        case Constant(None):
            return math.inf
        case Call("greatest", arguments):
            return max(map(_lowest, arguments))
        case Call("least", arguments):
            return min(map(_lowest, arguments))
        case Call("cast", (argument,)):
            return _lowest(argument)
    return -math.inf
