"""Sums of the rows that samples brought; totals from rows that were drawn by a key: all rows of some keys, no others.

A key has one number *h* from 0 to 1, and its rows in a gap with the chance *p* were drawn where h < p. So the rows of a
key are one value, and what gaps brought of it depends on each other: of gaps with the chances p and q both were drawn
with the smaller one. The variance of a total is estimated by the sum, over keys and pairs of gaps, of
(a/p)(b/q)(1 - max(p, q)), with a and b what the gaps brought of the key (Horvitz and Thompson, 1952, for clusters). In
the order of chances it is the sum of (1 - p)(A² - B²), where A is what the gaps so far brought, scaled, and B the same
without the last one; so one window over the gaps of each key gives it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
from pyspark.sql import Column, Window
from pyspark.sql import functions as F

from workbench.engine.answers import Answers
from workbench.engine.storage.layout import BATCH, WEIGHT


def keyed_sums(rows: Answers, width: int, sampled: Mapping[int, float]) -> pa.Table:
    """The totals of each group, scaled, with their spreads, as ``Totals`` takes them; one Spark query.

    Args:
        rows: a query of rows: the groups they are in, then values, and last the key.
        width: how many of its columns are groups.
        sampled: the chance that a key was drawn, for batches that brought samples.
    """
    outputs = rows.plan.outputs[width:-1]
    names = [f"g{place}" for place in range(width)]
    groups = [F.col(f"_{place}").alias(name) for place, name in enumerate(names)]
    weight, key = F.col(WEIGHT).cast("double"), F.col(f"_{width + len(outputs)}").alias("key")
    sums, pairs = [F.sum(weight).alias("n")], [("n", "n", "n spread")]
    for number, output in enumerate(outputs):
        value = F.col(f"_{width + number}")
        sums.append(F.sum(F.when(value.isNotNull(), weight)).alias(f"n{number}"))
        pairs.append((f"n{number}", f"n{number}", f"n{number} spread"))
        if output.type.numeric:
            sums.append(F.sum(weight * value.cast("double")).alias(f"s{number}"))
            pairs.append((f"n{number}", f"s{number}", f"s{number} spread"))
            pairs.append((f"s{number}", f"s{number}", f"q{number} spread"))
    scaled = list(dict.fromkeys(name for first, second, _ in pairs for name in (first, second)))
    batch = F.when(F.col(BATCH).isin(sorted(sampled)), F.col(BATCH)).otherwise(0).alias("batch")
    of_gaps = rows.changes(None).groupBy(batch, *groups, key).agg(*sums).withColumn("p", _chance(sampled))
    numbers = [(F.coalesce(F.col(name), F.lit(0.0)) / F.col("p")).alias(name) for name in scaled]
    of_gaps = of_gaps.select(*names, "key", "p", *numbers)
    so_far = Window.partitionBy(*names, "key").orderBy("p").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    after = {name: F.sum(name).over(so_far) for name in scaled}
    spreads = [
        ((1 - F.col("p")) * (after[a] * after[b] - (after[a] - F.col(a)) * (after[b] - F.col(b)))).alias(spread)
        for a, b, spread in pairs
    ]
    totals = [F.sum(f"`{name}`").alias(name) for name in (*scaled, *(spread for _, _, spread in pairs))]
    return of_gaps.select(*names, *scaled, *spreads).groupBy(*names).agg(*totals).toArrow()


def _chance(sampled: Mapping[int, float]) -> Column:
    """With which chance the rows of a batch were drawn."""
    chances = F.when(F.col("batch") == 0, F.lit(1.0))
    for batch, chance in sampled.items():
        chances = chances.when(F.col("batch") == batch, F.lit(chance))
    return chances


def sampled_sums(rows: Answers, width: int, sampled: Collection[int]) -> pa.Table:
    """The sums of each group, those of each sample for themselves; one Spark job.

    Args:
        rows: a query of rows: the groups they are in, and then values.
        width: how many of its columns are groups.
        sampled: batches that brought samples; all others are taken together, as batch 0.

    Returns:
        Columns ``batch``, ``g0`` …, ``n`` (how many rows), and of the value *i* where it is not NULL ``n<i>``, ``s<i>``
        and ``q<i>``: how many, their sum, and that of their squares, as DOUBLE; only how many where it is no number.
    """
    batch = F.when(F.col(BATCH).isin(sorted(sampled)), F.col(BATCH)).otherwise(0).alias("batch")
    groups = [F.col(f"_{place}").alias(f"g{place}") for place in range(width)]
    weight = F.col(WEIGHT).cast("double")
    sums = [F.sum(weight).alias("n")]
    for number, output in enumerate(rows.plan.outputs[width:]):
        value = F.col(f"_{width + number}")
        sums.append(F.sum(F.when(value.isNotNull(), weight)).alias(f"n{number}"))
        if output.type.numeric:
            value = value.cast("double")
            sums += [F.sum(weight * value).alias(f"s{number}"), F.sum(weight * value * value).alias(f"q{number}")]
    return rows.changes(None).groupBy(batch, *groups).agg(*sums).toArrow()
