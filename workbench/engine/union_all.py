"""UNION ALL: linear, so the change of the whole is the changes of the branches."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame

from workbench.engine.node_rows import NodeRows
from workbench.engine.shared_pass import BATCH, WEIGHT
from workbench.engine.statistics import over_rows
from workbench.network.nodes import SetOperation
from workbench.network.projection import Columns


def union_change(node: SetOperation, inputs: tuple[NodeRows, ...], made: Columns) -> DataFrame | None:
    """The change of a UNION ALL: columns ``made``, ``_batch``, ``_weight``; ``None`` when no branch changed."""
    parts = []
    for (_, values), rows in zip(node.branches, inputs, strict=True):
        change = rows.change
        if change is not None:
            named = ((f"c{i}", value) for i, value in enumerate(values, start=1))
            wanted = [f"{over_rows(value)} AS {name}" for name, value in named if name in made]
            parts.append(change.selectExpr(*wanted, BATCH, WEIGHT))
    return reduce(DataFrame.unionByName, parts) if parts else None
