"""How far around a row an analytic function looks, and what it follows from where that is all rows before.

The planner stores what running sums are of, and the operator reads no more rows than functions look at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np

from workbench.engine.physical.join_keys import key_column
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.prefix_index import Along, BestAlong, SumAlong
from workbench.sql.algebra.analytic import (
    DISTRIBUTIONS,
    NEIGHBOURS,
    POSITIONS,
    RANK,
    RANKS,
    ROW_NUMBER,
    SHARES,
    AnalyticCall,
    Frame,
    FrameEnd,
)
from workbench.sql.algebra.expressions import AggregateCall, Constant, Expression
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.aggregate_rules import RULES, Powers, rule_of
from workbench.sql.functions.calls import calls_functions


@dataclass(frozen=True)
class Reach:
    """How far around a row its value looks, in rows; ``None``: to the end of the partition.

    Attributes:
        back, ahead: rows whose change may change the value.
        counts_only: whether the value is a number that rows come with, so that no neighbour is needed to compute it.
        peers: whether its peers count as well.
    """

    back: int | None
    ahead: int | None
    counts_only: bool = False
    peers: bool = False


def reach(function: AnalyticCall) -> Reach:
    """The rows around a row that a function reads."""
    if function.function in RANKS:
        return Reach(None, 0, counts_only=True)
    if function.function in DISTRIBUTIONS:
        return Reach(None, None, counts_only=True)
    if function.function in NEIGHBOURS:
        by = function.arguments[1]
        if not isinstance(by, Constant) or not isinstance(by.value, int):
            return Reach(None, None)
        offset = by.value
        back, ahead = (offset, 0) if function.function == "lag" else (0, offset)
        back, ahead = max(back, -ahead, 0), max(ahead, -back, 0)
        if function.ignore_nulls:
            return Reach(None if back else 0, None if ahead else 0)
        return Reach(back, ahead)
    frame = function.frame
    if (own := _own_place(function)) is not None:
        return Reach(max(0, -own), max(0, own), peers=frame is not None and frame.unit != "rows")
    if frame is None:  # of a match too: where one begins depends on all before it
        return Reach(None, None)
    if frame.unit == "rows":
        return Reach(_rows(frame.start, -1), _rows(frame.end, 1))
    ends_here = frame.end is not None and float(frame.end.by) == 0
    return Reach(None, 0 if ends_here else None, peers=True)


def running(function: AnalyticCall) -> bool:
    """Whether its value follows from how many rows stand before, or from a sum over them, and from the rows since."""
    if function.function in (ROW_NUMBER, RANK):
        return True
    frame = function.frame
    if frame is None or frame.start is not None or frame.end is None or frame.exclude or function.distinct:
        return False
    return known_along(function) is not None


def known_along(function: AnalyticCall) -> tuple[Along, ...] | None:
    """The values that are kept along the order, from which the function follows; ``None``: it does not follow from any.

    Example:
        >>> from workbench.sql.algebra.analytic import Over
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> known_along(AnalyticCall("sum", (Column("x", DOUBLE),), DOUBLE, Over((), ())))
        (SumAlong(columns=('x',), powers=(1,)),)
    """
    name, arguments = function.function, function.arguments
    # A user function is called for its own query only, so its values are not stored.
    if any(map(calls_functions, arguments)) or function.ignore_nulls:
        return None
    columns = tuple(map(key_column, arguments))
    if name == "count":
        return (SumAlong(columns),) if arguments else ()
    if name in ("min", "max"):
        return (BestAlong(columns[0], name == "max"),)
    if products := exact_products_of(function):
        of_double = all(argument.type.kind is Kind.DOUBLE for argument in arguments)
        return tuple(SumAlong(columns, powers) for powers in products) if of_double else None
    return (SumAlong(columns),) if name == "sum" else None


def exact_products_of(function: AnalyticCall) -> tuple[Powers, ...]:
    """The sums of products that a statistic of DOUBLE is made of."""
    known = function.function in RULES
    return rule_of(AggregateCall(function.function, function.arguments, function.type)).products if known else ()


def all_along(functions: Iterable[AnalyticCall]) -> tuple[Along, ...]:
    """The distinct values that are kept along the order for some functions."""
    return tuple(dict.fromkeys(along for f in functions if running(f) for along in known_along(f) or ()))


def _own_place(function: AnalyticCall) -> int | None:
    """How many rows behind a row, or its peers, the one stands whose value it shows: at the only end of its frame."""
    frame = function.frame
    if frame is None or frame.exclude or function.ignore_nulls:
        return None
    match function.function, frame.start, frame.end:
        case ("last_value", None, FrameEnd() as end) | ("first_value", FrameEnd() as end, None):
            return int(float(end.by)) if frame.unit == "rows" or not float(end.by) else None
    return None


@dataclass(frozen=True)
class TileEnd:
    """Where the first rows of a partition end that are in as many tiles, of a number of them."""

    tiles: int
    first: int

    def ends(self, rows: Positions) -> Sequence[Positions]:
        """How many rows these are of as many; the first tiles have one row more where they cannot be of one size."""
        size, large = np.divmod(rows, self.tiles)
        return [size * self.first + np.minimum(large, self.first)]


@dataclass(frozen=True)
class ShareEnd:
    """The end of the first rows of a partition that are a share of it."""

    share: float

    def ends(self, rows: Positions) -> Sequence[Positions]:
        """Rows before and behind, in whatever way a share is counted and rounded."""
        end = np.floor(min(max(self.share, 0.0), 1.0) * rows).astype(np.int64)
        return [end - _AROUND, end + _AROUND]


_AROUND = 3
"""Rows on each side of the end of a share: of one row more or less, that is in it or not, and of how it is rounded."""


@dataclass(frozen=True)
class Margin:
    """The rows around changed rows that must be read to compute the values that change.

    Attributes:
        rows, groups: how many rows, and groups of peers, on each side.
        distance: how far in what rows are ordered by, as 64-bit or longer whole numbers, or as DOUBLE; on each side.
        peers: all peers of a row that is read.
        onwards: all rows behind as well.
        first, last: the first and last rows of the partition besides; where one of these changes, all.
        tiles: rows between where tiles and shares end before the batch and after it.
    """

    rows: int = 0
    groups: int = 0
    distance: float = 0
    peers: bool = False
    onwards: bool = False
    first: int = 0
    last: int = 0
    tiles: tuple[TileEnd | ShareEnd, ...] = ()

    @property
    def ends(self) -> int:
        """How many places of tiles and shares have to be found."""
        none = np.zeros(1, dtype=np.int64)
        return sum(len(tile.ends(none)) for tile in self.tiles)

    @property
    def kinds(self) -> int:
        """In how many ways it counts how far it is."""
        return sum(map(bool, (self.rows, self.groups, self.distance)))


MOST_GROUPS = MOST_TILES = 64
"""Groups on each side, which are looked for one after the other, and tiles, whose ends all are."""


def margin_of(functions: Collection[AnalyticCall]) -> Margin | None:
    """The margin that suffices for some functions; ``None``: the whole partition.

    A row that one of them changes has the values of all, so the distances are those at which any changes, and from
    there those of the rows that any looks at.

    Example:
        >>> from workbench.sql.algebra.analytic import Over
        >>> from workbench.sql.algebra.types import INTEGER
        >>> margin_of([AnalyticCall("lag", (Constant(1, INTEGER), Constant(2, INTEGER)), INTEGER, Over((), ()))])
        Margin(rows=2, groups=0, distance=0, peers=False, onwards=False, first=0, last=0, tiles=())
    """
    sides = [_sides(function) for function in functions]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    margins = [margin for each in known for margin in each]

    def total(name: str) -> float:
        return sum(max((getattr(each[at], name) for each in known), default=0) for at in (0, 1))

    return Margin(
        int(total("rows")),
        int(total("groups")),
        total("distance"),
        any(m.peers for m in margins),
        any(m.onwards for m in margins),
        max((m.first for m in margins), default=0),
        max((m.last for m in margins), default=0),
        tuple(dict.fromkeys(tile for m in margins for tile in m.tiles)),
    )


def in_range(functions: Collection[AnalyticCall]) -> bool:
    """Whether a range of a partition is enough to compute some functions."""
    return margin_of(functions) is not None


def _sides(function: AnalyticCall) -> tuple[Margin, Margin] | None:
    """How far a function looks back and ahead; ``None``: at the partition."""
    name, frame = function.function, function.frame
    if name == "ntile":
        tiles = _constant(function, 0)
        if tiles is None or not 0 < tiles <= MOST_TILES:
            return None
        return Margin(tiles=tuple(TileEnd(tiles, first) for first in range(1, tiles))), Margin()
    if name in SHARES and function.arguments:
        (share,) = function.arguments
        assert isinstance(share, Constant) and isinstance(share.value, float)
        return Margin(peers=True, tiles=(ShareEnd(share.value),)), Margin()
    if name in RANKS or name in DISTRIBUTIONS:
        return (Margin(onwards=True, peers=name == RANK), Margin()) if running(function) else None
    if name in NEIGHBOURS or (frame is not None and frame.unit == "rows" and _own_place(function) is not None):
        own = reach(function)
        return None if own.back is None or own.ahead is None else (Margin(own.back), Margin(own.ahead))
    if name in POSITIONS and not function.ignore_nulls and (frame is None or not frame.exclude):
        return _of_positions(function, frame)
    if frame is None or function.distinct:
        return None
    if frame.start is None or frame.end is None:
        if not running(function) or frame.end is None:
            return None
        end = frame.end
        behind = max(0, -int(end.by) - 1) if frame.unit == "rows" and int(end.by) < 0 else None
        back = Margin(behind) if behind is not None else _end_margin(function, frame, end)
        return None if back is None else (_onwards(back), Margin())
    return _two_ends(function, frame, frame.start, frame.end)


def _constant(function: AnalyticCall, argument: int) -> int | None:
    """A whole number that is an argument."""
    constant = function.arguments[argument]
    return constant.value if isinstance(constant, Constant) and isinstance(constant.value, int) else None


def _onwards(span: Margin) -> Margin:
    return Margin(span.rows, span.groups, span.distance, span.peers, onwards=True)


def _of_positions(function: AnalyticCall, frame: Frame | None) -> tuple[Margin, Margin] | None:
    """How far the first, last or n-th value of a frame that begins at the first row, or ends at the last, looks."""
    start, end = (None, None) if frame is None else (frame.start, frame.end)
    if frame is not None and start is not None and end is not None:
        return _two_ends(function, frame, start, end)
    number = _constant(function, 1) if function.function == "nth_value" else 1
    if number is None or number < 1:
        return None
    from_first = start is None and function.function != "last_value"
    if not from_first and not (end is None and function.function == "last_value"):
        return _of_end(function, frame, start, end)
    shown = Margin(first=number) if from_first else Margin(last=1)
    other = end if from_first else start
    around = Margin() if frame is None or other is None else _end_margin(function, frame, other)
    return None if around is None else (around, shown)


def _of_end(
    function: AnalyticCall, frame: Frame | None, start: FrameEnd | None, end: FrameEnd | None
) -> tuple[Margin, Margin] | None:
    """How far the value at the only end of a frame looks; where the frame does not have its row, it may be anywhere."""
    own, sign = (start, -1) if function.function == "first_value" else (end, 1)
    if frame is None or own is None or function.function == "nth_value":
        return None
    if frame.unit == "range" and sign * float(own.by) < 0:
        return None
    around = _end_margin(function, frame, own)
    return None if around is None else (around, around)


def _two_ends(function: AnalyticCall, frame: Frame, start: FrameEnd, end: FrameEnd) -> tuple[Margin, Margin] | None:
    ends = _end_margin(function, frame, start), _end_margin(function, frame, end)
    if frame.unit == "rows":
        return Margin(_rows(start, -1) or 0), Margin(_rows(end, 1) or 0)
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def _end_margin(function: AnalyticCall, frame: Frame, end: FrameEnd) -> Margin | None:
    """How far an end of a frame is from its row."""
    if frame.unit == "rows":
        return Margin(abs(int(end.by)))
    if frame.unit == "groups" or not function.is_range:
        by = abs(int(float(end.by)))
        return Margin(groups=by, peers=True) if by <= MOST_GROUPS else None
    distance = distance_in_order(end, function.over.order[0].expression.type)
    return None if distance is None else Margin(distance=distance, peers=True)


_MICROSECONDS = {"MONTH": 31 * 86_400_000_000, "DAY": 86_400_000_000, "SECOND": 1_000_000}
_DAYS = {"MONTH": 31, "DAY": 1, "": 1}


def distance_in_order(end: FrameEnd, type_: DataType) -> float | None:
    """The greatest distance of a frame's end in the numbers that order a type; ``None``: it has no such numbers.

    Example:
        >>> distance_in_order(FrameEnd("-1", "MONTH"), DataType(Kind.DATE))
        31
    """
    if not float(end.by):
        return 0
    match type_.kind:
        case Kind.DOUBLE:
            return abs(float(end.by))
        case Kind.TIMESTAMP if end.unit in _MICROSECONDS:
            return abs(int(end.by)) * _MICROSECONDS[end.unit]
        case Kind.DATE if end.unit in _DAYS:
            return abs(int(end.by)) * _DAYS[end.unit]
        case Kind.INTEGER | Kind.DECIMAL:
            return int(abs(Decimal(end.by)).scaleb(type_.scale).to_integral_value(ROUND_CEILING))
    return None


def carried_expression(functions: Collection[AnalyticCall]) -> Expression | None:
    """The expression of which all of some functions show the nearest value that is not NULL, before a row or behind it.

    So a change touches no more than the rows up to the next that is not NULL. ``None``: they are others too.
    """
    arguments = {function.arguments[:1] if _carries(function) else () for function in functions}
    carried = arguments.pop() if len(arguments) == 1 else ()
    return carried[0] if carried and not calls_functions(carried[0]) else None


def _carries(function: AnalyticCall) -> bool:
    frame, by = function.frame, function.arguments[1:2]
    if not function.ignore_nulls:
        return False
    if function.function in NEIGHBOURS:
        return bool(by) and isinstance(by[0], Constant) and by[0].value == 1
    if frame is None or frame.exclude:
        return False
    start, end = (end is not None and float(end.by) == 0 for end in (frame.start, frame.end))
    ends = {"last_value": (frame.start is None, end), "first_value": (start, frame.end is None)}
    return all(ends.get(function.function, (False,)))


def stored_along(functions: Collection[AnalyticCall]) -> dict[str, Expression]:
    """The columns of the parent's rows of which something is known along the order, or one that is carried."""
    carried = carried_expression(functions)
    if carried is not None:
        return {key_column(carried): carried}
    if not in_range(functions):
        return {}
    found = (argument for function in functions if running(function) for argument in function.arguments)
    return dict(sorted({key_column(argument): argument for argument in found}.items()))


def of_all(reaches: list[Reach]) -> Reach:
    """How far around a row any of some functions looks."""
    backs, aheads = [r.back for r in reaches], [r.ahead for r in reaches]
    return Reach(
        None if None in backs else max((b for b in backs if b is not None), default=0),
        None if None in aheads else max((a for a in aheads if a is not None), default=0),
        all(r.counts_only for r in reaches),
        any(r.peers for r in reaches),
    )


def _rows(end: FrameEnd | None, sign: int) -> int | None:
    return None if end is None else max(0, sign * int(end.by))
