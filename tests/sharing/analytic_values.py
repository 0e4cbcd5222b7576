"""Analytic functions: ranks, neighbours, and aggregates over frames, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from sharing.aggregate_values import statistic_of
from sharing.expression_values import Sides, compiled
from sharing.scalars import compared, plain

from workbench.sql.algebra.analytic import NEIGHBOURS, RANKS, AnalyticCall, Frame, Over
from workbench.sql.algebra.expressions import AggregateCall, Expression, Value


def numbered(rows: Sequence[Sides], over: Over) -> list[dict[str, int]]:
    """The row number, rank and dense rank of each row, and the number of its partition."""
    keys = [(key.expression, key.descending, key.nulls_first) for key in over.order]
    ties = [(tie, False, True) for tie in over.ties]

    def difference(a: int, b: int, by: Sequence[tuple[Expression, bool, bool]]) -> int:
        for expression, descending, nulls_first in by:
            x, y = (plain(compiled(expression)(rows[at])) for at in (a, b))
            if x is None or y is None:
                found = (1 if x is None else -1) * (-1 if nulls_first else 1) if (x is None) != (y is None) else 0
            else:
                found = compared(x, y) * (-1 if descending else 1)
            if found:
                return found
        return 0

    partitions: dict[tuple[Value, ...], list[int]] = {}
    for at, row in enumerate(rows):
        partitions.setdefault(tuple(plain(compiled(p)(row)) for p in over.partition), []).append(at)
    ranks: list[dict[str, int]] = [{} for _ in rows]
    for partition, places in enumerate(partitions.values()):
        places.sort(key=cmp_to_key(lambda a, b: difference(a, b, [*keys, *ties])))
        rank = dense = 0
        for number, at in enumerate(places, start=1):
            if number == 1 or difference(places[number - 2], at, keys):
                rank, dense = number, dense + 1
            ranks[at] = {"row_number": number, "rank": rank, "dense_rank": dense, "partition": partition}
    return ranks


def analytic_values(call: AnalyticCall, rows: Sequence[Sides]) -> list[Value]:
    """The values of a function, row by row."""
    numbers = numbered(rows, call.over)
    if call.function in RANKS:
        return [number[call.function] for number in numbers]
    places: dict[tuple[int, int], int] = {(n["partition"], n["row_number"]): at for at, n in enumerate(numbers)}
    return [_value(call, rows, numbers, places, at) for at in range(len(rows))]


def _value(
    call: AnalyticCall,
    rows: Sequence[Sides],
    numbers: Sequence[dict[str, int]],
    places: dict[tuple[int, int], int],
    at: int,
) -> Value:
    own = numbers[at]
    if call.function in NEIGHBOURS:
        value, by = (compiled(argument) for argument in call.arguments[:2])
        moved = by(rows[at]) * (-1 if call.function == "lag" else 1)
        other = places.get((own["partition"], own["row_number"] + moved))
        assert not call.ignore_nulls and len(call.arguments) == 2, f"not evaluated here: {call.text}"
        return None if other is None else plain(value(rows[other]))
    frame = [
        rows[at]
        for (part, _), at in sorted(places.items())
        if part == own["partition"] and _within(call.frame, own, numbers[at])
    ]
    if call.function == "last_value" and call.ignore_nulls:
        known = [each for each in map(compiled(call.arguments[0]), frame) if each is not None]
        return plain(known[-1]) if known else None
    return statistic_of(AggregateCall(call.function, call.arguments, call.type), frame)


def _within(frame: Frame | None, own: dict[str, int], other: dict[str, int]) -> bool:
    """Whether a row of the partition is in the frame of a row: of ROWS, or of peers up to this one."""
    if frame is None:
        return True
    unit = "row_number" if frame.unit == "rows" else "dense_rank"
    ends = [None if end is None else int(end.by) for end in (frame.start, frame.end)]
    assert frame.unit != "range" or not any(ends), f"not evaluated here: {frame.text}"
    distance = other[unit] - own[unit]
    return all(
        end is None or (distance >= end if is_start else distance <= end)
        for end, is_start in zip(ends, (True, False), strict=True)
    )
