"""Rows with equal values group by group: exact for every type, NULL being a value as in GROUP BY."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled, unscaled_integers

Positions = npt.NDArray[np.int64]
"""Rows by their position in a batch."""

_MOST = 2**63 - 1

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Numbers of 64 bits that are multiplied with it stay different; by 2^64 it is the golden ratio (Knuth 6.4)."""

FEW_VALUES = 2**16
"""Numbers of 16 bits are sorted digit by digit: in a third of the time in which Arrow groups them."""

ROWS_SORTED = 1_000
"""Rows that are sorted in less time than Arrow needs to plan their grouping, which is 100 microseconds."""


def group_rows(columns: Sequence[pa.Array], rows: int) -> tuple[Positions, Positions]:
    """Rows group by group.

    Args:
        columns: those that are equal within a group, NULL being a value; without any, all rows are one group.
        rows: how many there are.

    Returns:
        The rows in the order of their groups, and where in this order each group begins; groups are in the order of
        their first rows, and so are the rows of each.

    Example:
        >>> order, starts = group_rows([pa.array(["b", None, "b", None])], 4)
        >>> order.tolist(), starts.tolist()
        ([0, 2, 1, 3], [0, 2])
    """
    return _by_first_rows(*_grouped(columns, rows))


def _grouped(columns: Sequence[pa.Array], rows: int) -> tuple[Positions, Positions]:
    """``group_rows`` with groups in any order."""
    at = np.arange(rows)
    if rows < 2 or not columns:
        return at, np.zeros(min(rows, 1), dtype=np.int64)
    encodes = rows <= FEW_VALUES and not any(pa.types.is_nested(column.type) for column in columns)
    if encodes and rows <= ROWS_SORTED:
        return _sorted_groups([_codes(column) for column in columns])
    kinds = [_whole_numbers(column) for column in columns]
    if encodes:
        kinds = [
            [_codes(column).astype(np.int64)] if own is None else own
            for column, own in zip(columns, kinds, strict=True)
        ]
    others = [column for column, own in zip(columns, kinds, strict=True) if own is None]
    numbers = [each for own in kinds for each in own or ()]
    if not others:
        together, bound = _as_one_number(numbers)
        return (
            _sorted_groups([together.astype(np.uint16)]) if bound <= FEW_VALUES else _grouped_numbers(together, bound)
        )
    keys = [pa.array(_as_one_number(numbers)[0]), *others] if numbers else others
    names = [str(position) for position in range(len(keys))]
    table = pa.table([*map(with_mixed_low_bits, keys), pa.array(at)], names=[*names, "row"])
    lists = table.group_by(names, use_threads=False).aggregate([("row", "list")])["row_list"].combine_chunks()
    return lists.flatten().to_numpy(), np.asarray(lists.offsets)[:-1].astype(np.int64)


def group_numbers(columns: Sequence[pa.Array], rows: int) -> Positions:
    """The number of each row's group, from 0 on in any order; the arguments are those of ``group_rows``.

    Example:
        >>> group_numbers([pa.array(["b", None, "b", None])], 4).tolist()
        [0, 1, 0, 1]
    """
    return numbers_of(*_grouped(columns, rows))


def numbers_of(order: Positions, starts: Positions) -> Positions:
    """The number of each row's group, where the rows of a group follow one another, as ``group_rows`` gives them."""
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), group_sizes(starts, len(order)))
    return group


def group_sizes(starts: Positions, rows: int) -> Positions:
    """How many of some rows each group has, given where it begins.

    Example:
        >>> group_sizes(np.array([0, 2]), 5).tolist()
        [2, 3]
    """
    ends = np.empty_like(starts)
    ends[:-1], ends[-1:] = starts[1:], rows
    return ends - starts


def matching_rows(
    rows: Sequence[pa.Array], among: Sequence[pa.Array], counts: tuple[int, int], once: bool = False
) -> Positions:
    """For each row the position of one among others that is alike, or -1.

    Args:
        rows: the columns of the rows.
        among: those of the others, whose types may be wider or narrower; without columns all rows are alike.
        counts: how many rows there are, and how many others.
        once: each of the others is found once, so of rows that are alike only as many find one as there are.

    Example:
        >>> matching_rows([pa.array([2, 2, 3])], [pa.array([1, 2])], (3, 2)).tolist()
        [1, 1, -1]
        >>> matching_rows([pa.array([2, 2, 3])], [pa.array([1, 2])], (3, 2), once=True).tolist()
        [1, -1, -1]
    """
    wanted, total = counts[0], sum(counts)
    group = group_numbers([_together(*pair) for pair in zip(rows, among, strict=True)], total)
    place = np.zeros(total, dtype=np.int64)
    if once:
        for side in (slice(None, wanted), slice(wanted, None)):
            place[side] = occurrences(group[side])
    key = group * (place.max(initial=0) + 1) + place
    position = np.full(key.max(initial=0) + 1, -1, dtype=np.int64)
    position[key[wanted:]] = np.arange(counts[1])
    return position[key[:wanted]]


def occurrences(group: Positions) -> Positions:
    """How many rows of its group come before each row.

    Example:
        >>> occurrences(np.array([7, 3, 7, 7])).tolist()
        [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(group[order]) != 0)[: len(order)])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(first, group_sizes(first, len(order)))
    return place


def order_by(numbers: Sequence[Positions]) -> Positions:
    """The positions in the order of the first numbers, then of the second, and so on; equal ones in any order.

    As many as fit are put together to one number of 64 bits: to sort these takes a sixth of a stable sort, of which
    ``np.lexsort`` makes one for each.

    Example:
        >>> order_by([np.array([1, 0, 1]), np.array([2, 9, -(2**62)])]).tolist()
        [1, 2, 0]
    """
    return np.argsort(_as_one_number(numbers)[0])


def _as_one_number(numbers: Sequence[Positions]) -> tuple[Positions, int]:
    """Numbers from 0 on that are in the order of the first numbers, then of the second, and so on, and their bound."""
    together, values = np.zeros(len(numbers[0]), dtype=np.int64), 1
    if not len(together):
        return together, values
    for each in numbers:
        least, most = int(each.min()), int(each.max())
        if values * (most - least + 1) > _MOST:
            together, values = _dense(together)
        if values * (most - least + 1) > _MOST:
            each, most = _dense(each)
            least, most = 0, most - 1
        together, values = together * (most - least + 1) + (each - least), values * (most - least + 1)
    return together, values


def _whole_numbers(column: pa.Array) -> list[Positions] | None:
    """What are whole numbers as such, behind those that tell NULLs apart; ``None`` of other columns."""
    known = [np.asarray(column.is_valid()).astype(np.int64)] if column.null_count else []
    if pa.types.is_decimal128(column.type):
        values = filled(column, 0)
        low = unscaled_integers(values)
        return [*known, low] if (unscaled_integers(values, 1) == low >> 63).all() else None
    whole = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column
    if not (pa.types.is_signed_integer(whole.type) or pa.types.is_timestamp(whole.type)):
        return None
    return [*known, filled(whole.cast(pa.int64()), 0).to_numpy()]


def _grouped_numbers(numbers: Positions, bound: int) -> tuple[Positions, Positions]:
    """``_grouped`` of numbers from 0 on below a bound: to sort them takes a third of the time in which Arrow groups."""
    bits = len(numbers).bit_length()
    row = (1 << bits) - 1
    if bound << bits <= _MOST:
        entries = np.sort(numbers << bits | np.arange(len(numbers)))
        return entries & row, np.flatnonzero(np.diff(entries >> bits, prepend=-1))
    order = np.argsort(numbers)
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    group = np.repeat(np.arange(len(starts)), group_sizes(starts, len(order)))
    return np.sort(group << bits | order) & row, starts


def _dense(numbers: Positions) -> tuple[Positions, int]:
    """Numbers from 0 on in the same order, and how many different ones there are."""
    different, at = np.unique(numbers, return_inverse=True)
    return at.astype(np.int64), len(different)


def _together(left: pa.Array, right: pa.Array) -> pa.Array:
    """Two columns as one, of the type that has the values of both; one of NULL alone may be of any type."""
    if left.null_count == len(left) or right.null_count == len(right):
        valued = right if left.null_count == len(left) else left
        left, right = (c if c is valued else pa.nulls(len(c), valued.type) for c in (left, right))
        return pa.concat_arrays([left, right])
    for wider, narrower in ((left, right), (right, left)):
        if pa.types.is_floating(wider.type) and not pa.types.is_floating(narrower.type):  # as SQL casts integers
            return pa.concat_arrays([column.cast(wider.type, safe=False) for column in (left, right)])
    try:
        return pa.concat_arrays([left.cast(right.type), right])
    except pa.ArrowInvalid:
        return pa.concat_arrays([left, right.cast(left.type)])


def _sorted_groups(codes: Sequence[npt.NDArray[Any]]) -> tuple[Positions, Positions]:
    """``_grouped`` of numbers, by sorting them."""
    numbers = np.array(codes, dtype=np.int64) if len(codes) > 1 else codes[0][np.newaxis]
    order = np.lexsort(numbers) if len(codes) > 1 else np.argsort(codes[0], kind="stable")
    ordered = numbers[:, order]
    begins = np.ones(len(order), dtype=bool)
    (ordered[:, 1:] != ordered[:, :-1]).any(axis=0, out=begins[1:])
    return order, begins.nonzero()[0]


def _by_first_rows(order: Positions, starts: Positions) -> tuple[Positions, Positions]:
    """Groups in the order of their first rows, so that rows of an answer stay in the order in which they came."""
    first = order[starts]
    if (first[1:] > first[:-1]).all():
        return order, starts
    place = np.argsort(first)
    sizes = group_sizes(starts, len(order))[place]
    begins = np.cumsum(sizes) - sizes
    return order[np.repeat(starts[place] - begins, sizes) + np.arange(len(order))], begins


def _codes(column: pa.Array) -> Positions:
    """Whole numbers that are equal where values are equal in all their bits."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return np.asarray(column.to_numpy())
    return np.asarray(_encoded(column).indices.to_numpy())


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    return with_equal_bits(column).dictionary_encode(null_encoding="encode")


def with_equal_bits(column: pa.Array) -> pa.Array:
    """A column in which values that are equal have the same bits: Arrow groups DOUBLE by its bits."""
    if not pa.types.is_floating(column.type):
        return column
    numbers = filled(column, 0.0).to_numpy(zero_copy_only=False) + 0.0
    return pa.array(np.where(np.isnan(numbers), np.nan, numbers), column.type, mask=np.asarray(column.is_null()))


def with_mixed_low_bits(column: pa.Array) -> pa.Array:
    """A column with the same groups, whose numbers of 64 bits differ in their lowest bits.

    Arrow hashes by these: of most DOUBLEs, and of multiples of 2^40, they are 0, and each is compared with all others.
    """
    column = with_equal_bits(column)
    if not pa.types.is_primitive(column.type) or column.type.bit_width != 64:
        return column
    numbers = filled(column.view(pa.int64()), 0).to_numpy().view(np.uint64) * GOLDEN
    return pa.array((numbers ^ numbers >> np.uint64(32)).view(np.int64), mask=np.asarray(column.is_null()))


def true_rows(found: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """Which values are true; NULL is not.

    Example:
        >>> true_rows(pa.array([True, None, False])).tolist()
        [True, False, False]
    """
    return np.asarray(filled(found, False).to_numpy(zero_copy_only=False))


def not_distinct(left: pa.Array, right: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values are equal as groups are: NULL equals NULL, NaN equals NaN, and 0.0 equals -0.0.

    Example:
        >>> not_distinct(pa.array([1.0, None, float("nan")]), pa.array([1.0, 2.0, float("nan")])).tolist()
        [True, False, True]
    """
    right = right if right.type == left.type else right.cast(left.type)
    equal = true_rows(pc.equal(left, right))
    if left.null_count and right.null_count:
        equal = equal | true_rows(pc.and_(left.is_null(), right.is_null()))
    if pa.types.is_floating(left.type):
        equal = equal | true_rows(pc.and_(pc.is_nan(left), pc.is_nan(right)))
    return equal
