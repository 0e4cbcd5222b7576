"""Counts, sums and sums of squares of the rows that samples brought, and of all others: what an estimate is made of."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import functions as F

from workbench.engine.answers import Answers
from workbench.engine.storage.layout import BATCH, WEIGHT


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
