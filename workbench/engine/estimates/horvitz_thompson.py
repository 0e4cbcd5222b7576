"""Totals of all rows from samples, and how far they may be off.

Of a batch that is a sample, each row was drawn with the chance *p*. A total over the rows that there were is estimated
by the drawn ones, each counted 1/p times. Its *spread*, which estimates its variance: where rows were drawn each for
itself, the squares of the drawn values, each counted (1 - p)/p² times; where they were drawn by a key, all rows of a
key are one value (``keyed_sums``). An average is a quotient of two totals, and its variance that of its linear part.
Source: Horvitz and Thompson, A generalization of sampling without replacement from a finite universe, JASA 47 (1952);
Särndal, Swensson and Wretman, Model assisted survey sampling (1992), 2.8 and 5.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

NORMAL_95 = 1.959963984540054
"""Standard deviations on both sides of a normal value that have 95 % of its distribution."""

_Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """An estimate of each group.

    Attributes:
        value: the estimate; NaN where no row says anything.
        low, high: where the true value lies with 95 %, as far as the estimate is normal: in many samples, 19 of 20.
    """

    value: _Numbers
    low: _Numbers
    high: _Numbers


class Totals:
    """The totals of groups, estimated.

    Args:
        totals: of each group: columns ``g0`` …, ``n``, and of the value *i* ``n<i>`` and ``s<i>``, all scaled; and for
            the spreads of the counts ``n spread`` and ``n<i> spread``, of the sums ``q<i> spread``, and of both
            together ``s<i> spread``.
        width: how many columns the groups have.

    Attributes:
        groups: one row for each group.
    """

    def __init__(self, totals: pa.Table, width: int) -> None:
        keys = [f"g{place}" for place in range(width)]
        self.groups = totals.select(keys)
        numbers = [name for name in totals.column_names if name not in keys]
        self._totals = {name: pc.fill_null(totals.column(name), 0.0).to_numpy() for name in numbers}

    def estimate(self, function: str, argument: int | None) -> Estimate:
        """An aggregate of each group.

        Args:
            function: ``"count"``, ``"sum"`` or ``"average"``.
            argument: of which number; ``None``: of the rows.
        """
        suffix = "" if argument is None else str(argument)
        count, count_spread = self._totals[f"n{suffix}"], self._totals[f"n{suffix} spread"]
        if function == "count":
            return _estimate(count, count_spread)
        total, cross = self._totals[f"s{suffix}"], self._totals[f"s{suffix} spread"]
        square_spread = self._totals[f"q{suffix} spread"]
        with np.errstate(divide="ignore", invalid="ignore"):
            if function == "sum":
                return _estimate(np.where(count > 0, total, np.nan), square_spread)
            average = total / count
            residual = square_spread - 2 * average * cross + average**2 * count_spread
            return _estimate(average, np.maximum(residual, 0) / count**2)


def scaled(sums: pa.Table, width: int, sampled: Mapping[int, float]) -> pa.Table:
    """The totals of groups where each row was drawn for itself.

    Args:
        sums: of each batch and group, as ``sampled_sums`` gives them.
        width: how many columns the groups have.
        sampled: the chance that a row was drawn, for batches that are samples.

    Example:
        >>> sums = pa.table({"batch": [0, 3], "n": [100.0, 10.0]})
        >>> counted = Totals(scaled(sums, 0, {3: 0.1}), 0).estimate("count", None)
        >>> counted.value.tolist(), counted.low.round(1).tolist()
        ([200.0], [141.2])
    """
    chance = np.array([sampled.get(batch, 1.0) for batch in sums.column("batch").to_pylist()], dtype=np.float64)
    names = [name for name in sums.column_names if name[0] in "nsq"]
    known = {name: pc.fill_null(sums.column(name), 0.0).to_numpy() for name in names}
    keys = [f"g{place}" for place in range(width)]
    numbers = {name: values / chance for name, values in known.items()}
    numbers |= {f"{name} spread": values * (1 - chance) / chance**2 for name, values in known.items()}
    table = pa.table({**{key: sums.column(key) for key in keys}, **numbers})
    totals = table.group_by(keys).aggregate([(name, "sum") for name in numbers])
    return totals.select([*keys, *(f"{name}_sum" for name in numbers)]).rename_columns([*keys, *numbers])


def _estimate(value: _Numbers, variance: _Numbers) -> Estimate:
    reach = NORMAL_95 * np.sqrt(variance)
    return Estimate(value, value - reach, value + reach)
