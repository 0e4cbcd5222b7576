"""Statistics of the rows so far: for each column its NULLs, distinct values, common values and quantiles.

The thesis estimates costs from the history, assuming that new rows will look like it (T5.5). It runs the plans
to be compared on the history; here a sample is summed up once, and all plans are estimated from the summary.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.sql.algebra.expressions import Expression, Value

Evaluate = Callable[[Expression, pa.RecordBatch], pa.Array | None]
"""Gives the value of each row; ``None`` where it cannot be evaluated here."""

SAMPLE_ROWS = 20_000
COMMON_VALUES = 20
QUANTILES = 64
COMPUTED_ROWS = 2_000
"""Rows of a sample over which a computed value is evaluated: some functions take microseconds a row."""
PAIRED_ROWS = 500
"""Rows of a sample of which each is paired with as many of another."""
_ABOVE_AVERAGE = 1.25
_EPOCH = dt.datetime(1970, 1, 1)
_MIXING = 0x9E3779B97F4A7C15
"""By which the hashes of a row's values become one."""


ValueOrder = tuple[bool, Any]
"""The key by which values are compared."""


def sort_key(value: Value) -> ValueOrder:
    """Orders values as SQL does: NaN above all numbers, a date as its midnight.

    Example:
        >>> sorted([float("nan"), 2.0, float("inf")], key=sort_key)
        [2.0, inf, nan]
    """
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    nan = isinstance(value, float) and value != value
    return nan, 0.0 if nan else value


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """How the values of one column are distributed. All fractions are of all rows, NULLs included.

    Args:
        nulls: the fraction of NULLs.
        distinct: how many different values there are, NULL not counted; an estimate.
        common: the most frequent values, each with its fraction, the most frequent first.
        quantiles: the other values, in order, cut into parts with equally many rows each; first and last are their
            minimum and maximum.
    """

    nulls: float
    distinct: float
    common: tuple[tuple[Value, float], ...] = ()
    quantiles: tuple[Value, ...] = ()

    @property
    def others(self) -> float:
        """The fraction of rows with a value that is not among the common ones."""
        return max(0.0, 1 - self.nulls - sum(fraction for _, fraction in self.common)) if self.quantiles else 0.0

    def equal(self, value: Value) -> float:
        """The estimated fraction of rows with this value.

        Example:
            >>> ColumnStatistics(nulls=0.25, distinct=2, common=((1, 0.5), (2, 0.25))).equal(2)
            0.25
        """
        key = sort_key(value)
        for common, fraction in self.common:
            if sort_key(common) == key:
                return fraction
        if not self.quantiles or not sort_key(self.quantiles[0]) <= key <= sort_key(self.quantiles[-1]):
            return 0.0
        return self.others * self._at(key)

    def below(self, value: Value) -> float:
        """The estimated fraction of rows with a smaller value.

        Example:
            >>> ColumnStatistics(nulls=0.0, distinct=1000, quantiles=(0.0, 10.0, 100.0)).below(10.0)
            0.4995
        """
        key = sort_key(value)
        common = sum(fraction for other, fraction in self.common if sort_key(other) < key)
        return common + self.others * self._others_below(key)

    def _at(self, key: ValueOrder) -> float:
        """The part of the other rows that have one value: an average one's, or all parts it fills."""
        quantiles = self.quantiles
        filled = bisect_right(quantiles, key, key=sort_key) - bisect_left(quantiles, key, key=sort_key) - 1
        average = 1 / max(1.0, self.distinct - len(self.common))
        return max(average, filled / max(1, len(quantiles) - 1))

    def _others_below(self, key: ValueOrder) -> float:
        quantiles = self.quantiles
        upper = bisect_left(quantiles, key, key=sort_key)
        if upper in (0, len(quantiles)):
            return float(upper > 0)
        inside = _between(sort_key(quantiles[upper - 1]), key, sort_key(quantiles[upper]))
        # Scaled so that the largest value itself is not below the largest value.
        return (upper - 1 + inside) / (len(quantiles) - 1) * (1 - self._at(sort_key(quantiles[-1])))


@dataclass(frozen=True)
class CombinedValues:
    """How the values of several columns together are distributed, by a sample.

    Columns are rarely independent: a ZIP code has one town. So combinations are counted.

    Attributes:
        sampled: rows of the sample.
        distinct: how many different combinations all rows have; an estimate.
        hashes: of the combinations in the sample without NULL, in order.
        counts: how often each is there.
    """

    sampled: int
    distinct: float
    hashes: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]

    def agreeing(self, other: CombinedValues) -> float:
        """The fraction of the pairs of rows that have the same values."""
        known = float(self.counts.sum() / self.sampled * (other.counts.sum() / other.sampled))
        if self is other:  # a row of a sample does not tell how often another one agrees with it
            counted = float((self.counts * (self.counts - 1)).sum()) / max(1, self.sampled * (self.sampled - 1))
        else:
            _, ours, theirs = np.intersect1d(self.hashes, other.hashes, assume_unique=True, return_indices=True)
            counted = float(self.counts[ours] @ other.counts[theirs]) / (self.sampled * other.sampled)
        return max(counted, self.agreeing_groups(other)) if known else 0.0

    def agreeing_groups(self, other: CombinedValues) -> float:
        """The same where each combination is there equally often: who has fewer has only combinations of the other."""
        known = float(self.counts.sum() / self.sampled * (other.counts.sum() / other.sampled))
        return known / max(1.0, self.distinct, other.distinct)


@dataclass(frozen=True)
class StreamStatistics:
    """Statistics of a stream's rows: how many there are, and those of each column by name; ``sample``: some of them."""

    rows: int
    columns: Mapping[str, ColumnStatistics]
    sample: pa.Table | None = field(default=None, compare=False, repr=False)
    _combined: dict[tuple[str, ...], CombinedValues] = field(default_factory=dict, compare=False, repr=False)
    """Those that were asked for."""
    _computed: dict[Expression, float | None] = field(default_factory=dict, compare=False, repr=False)
    """How many different values expressions have that were asked for."""

    def combined(self, names: Sequence[str]) -> CombinedValues | None:
        """How the values of some columns together are distributed; ``None`` where no row was seen.

        Example:
            >>> rows = pa.table({"zip": [1, 1, 2, 2, 3, 3], "town": ["a", "a", "a", "a", "b", None]})
            >>> sorted(collect(rows).combined(["zip", "town"]).counts.tolist())
            [1, 2, 2]
        """
        asked = tuple(names)
        if self.sample is None or not self.sample.num_rows:
            return None
        if asked not in self._combined:
            self._combined[asked] = _combined([self.sample[name] for name in asked], self.rows)
        return self._combined[asked]

    def distinct(self, value: Expression, evaluate: Evaluate) -> float | None:
        """How many different values an expression over the columns has; ``None`` where no row tells.

        Example:
            >>> from workbench.sql.algebra.expressions import Call, Column
            >>> from workbench.sql.algebra.types import STRING
            >>> letter = Call("left", (Column("word", STRING),), STRING)
            >>> known = collect(pa.table({"word": ["ab", "ac", "ad", "bc"] * 50}))
            >>> known.distinct(letter, lambda value, rows: pc.utf8_slice_codeunits(rows["word"], 0, 1))
            2.0
        """
        if self.sample is None or not self.sample.num_rows:
            return None
        if value not in self._computed:
            step = -(-self.sample.num_rows // COMPUTED_ROWS)
            (rows,) = self.sample.take(pa.array(range(0, self.sample.num_rows, step))).combine_chunks().to_batches()
            values = evaluate(value, rows)
            found = None if values is None else _different(pa.chunked_array([values]), self.rows)
            self._computed[value] = found
        return self._computed[value]


def pairs_of(left: pa.Table, right: pa.Table) -> pa.RecordBatch:
    """Pairs of some rows of two samples, at most 250,000: each of one sample with each of the other.

    Of one table the two take different rows, since a row paired with itself tells nothing of other pairs.

    Returns:
        The columns of both, those of the right table after those of the left.

    Example:
        >>> rows = pa.table({"a": range(2000)})
        >>> pairs_of(rows, rows.rename_columns(["b"])).num_rows
        250000
    """
    sides = list[pa.Table]()
    for at, rows in enumerate((left, right)):
        step = -(-rows.num_rows // PAIRED_ROWS)
        sides.append(rows.take(pa.array(range(at * (step // 2), rows.num_rows, max(1, step)))))
    ours, theirs = (side.num_rows for side in sides)
    places = np.repeat(np.arange(ours), theirs), np.tile(np.arange(theirs), ours)
    taken = [side.take(pa.array(where)) for side, where in zip(sides, places, strict=True)]
    columns = {name: side[name] for side in taken for name in side.column_names}
    return pa.RecordBatch.from_pydict({name: column.combine_chunks() for name, column in columns.items()})


def collect(table: pa.Table, rows: int | None = None) -> StreamStatistics:
    """Statistics from the rows seen, or from a sample of them (history-based estimation, T5.5).

    At most 20,000 rows are looked at, evenly spaced.

    Args:
        table: rows of a stream, in the types of its log.
        rows: how many rows were seen, where the table is only some of them.

    Example:
        >>> statistics = collect(pa.table({"a": [1, 1, 1, None]}))
        >>> statistics.rows, statistics.columns["a"]
        (4, ColumnStatistics(nulls=0.25, distinct=1.0, common=((1, 0.75),), quantiles=()))
    """
    total = table.num_rows if rows is None else rows
    if table.num_rows > SAMPLE_ROWS:
        table = table.take(pa.array(np.arange(SAMPLE_ROWS) * table.num_rows // SAMPLE_ROWS))
    return StreamStatistics(total, {name: _column(table[name], total) for name in table.column_names}, table)


def _combined(columns: Sequence[pa.ChunkedArray], rows: int) -> CombinedValues:
    """How the combinations of values in a sample of ``rows`` rows are distributed."""
    sampled = len(columns[0])
    known, hashes = np.ones(sampled, dtype=bool), np.zeros(sampled, dtype=np.uint64)
    for column in columns:
        encoded = column.combine_chunks().dictionary_encode()
        # Numbers that are equal have one hash, whatever their types.
        of_values = np.array([hash(value) for value in encoded.dictionary.to_pylist()] + [0], dtype=np.int64)
        known &= np.asarray(encoded.is_valid())
        own = of_values[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        hashes = hashes * np.uint64(_MIXING) + own.view(np.uint64)
    found, counts = np.unique(hashes[known], return_counts=True)
    return CombinedValues(sampled, _distinct(counts, rows / sampled) if len(counts) else 0.0, found, counts)


def _column(sample: pa.ChunkedArray, rows: int) -> ColumnStatistics:
    """Statistics of a column from a sample of ``rows`` rows."""
    values, counts = _counted(sample)
    if not len(counts):
        return ColumnStatistics(float(len(sample) > 0), 0.0)
    distinct = _distinct(counts, rows / len(sample))
    common = _common(counts)
    fractions = (counts[common] / len(sample)).tolist()
    others = np.delete(np.arange(len(counts)), common)
    return ColumnStatistics(
        nulls=sample.null_count / len(sample),
        distinct=distinct,
        common=tuple(zip(values.take(pa.array(common)).to_pylist(), fractions, strict=True)),
        quantiles=tuple(values.take(pa.array(others[_cuts(counts[others])])).to_pylist()),
    )


def _different(sample: pa.ChunkedArray, rows: int) -> float:
    """How many different values ``rows`` rows have; that Python has each value is not needed."""
    _, counts = _counted(sample)
    return _distinct(counts, rows / len(sample)) if len(counts) else float(len(sample) > 0)


def _counted(sample: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The different values in order, NaN last, and how often each is there."""
    if pa.types.is_floating(sample.type):
        sample = pc.add(sample, 0.0)  # -0.0 becomes 0.0, which it equals
    counted = sample.drop_null().value_counts()
    order = pc.sort_indices(counted.field("values"))
    return counted.field("values").take(order), counted.field("counts").take(order).to_numpy()


def _distinct(counts: npt.NDArray[np.int64], scale: float) -> float:
    """How many different values ``scale`` times as many rows have.

    The estimator of Haas and Stokes that PostgreSQL uses, too: values seen once tell how many were not seen.
    """
    seen, sampled, once = len(counts), int(counts.sum()), int((counts == 1).sum())
    estimate = sampled * seen / (sampled - once + once / scale)
    return float(min(max(estimate, seen), sampled * scale))


def _common(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where the common values are: all when they are few, else those clearly more frequent than the average."""
    most = np.argsort(-counts, kind="stable")[:COMMON_VALUES]
    return most if len(counts) <= COMMON_VALUES else most[counts[most] > _ABOVE_AVERAGE * counts.mean()]


def _cuts(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The values at evenly spaced positions in the order of all rows."""
    places = np.linspace(0, max(0, counts.sum() - 1), min(QUANTILES, len(counts))).round()
    return np.searchsorted(counts.cumsum(), places, side="right")


def _between(low: ValueOrder, key: ValueOrder, high: ValueOrder) -> float:
    """How far a value is on the way between two others; texts and infinities have no distance and count as half way."""
    if key == high:
        return 1.0
    a, b, c = (_number(value) for _, value in (low, key, high))
    # The difference of two finite numbers may be infinite.
    if high[0] or not np.isfinite(c - a) or c <= a:
        return 0.5
    return (b - a) / (c - a)


def _number(value: object) -> float:
    match value:
        case int() | float() | Decimal():
            return float(value)
        case dt.datetime():
            return (value - _EPOCH).total_seconds()
        case _:
            return float("nan")
