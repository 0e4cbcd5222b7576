"""UNION ALL: linear, so the change of the whole is the changes of the branches."""

from __future__ import annotations

from workbench.engine.layout import BATCH, WEIGHT
from workbench.engine.node_rows import NodeRows
from workbench.engine.statistics import over_rows
from workbench.network.nodes import SetOperation
from workbench.network.projection import Columns


def union_change(node: SetOperation, inputs: tuple[NodeRows, ...], made: Columns) -> str | None:
    """SQL of a UNION ALL's change: columns ``made``, ``_batch``, ``_weight``; ``None`` when no branch changed."""
    parts = []
    for (_, values), rows in zip(node.direct, inputs, strict=True):
        change = rows.change
        if change is not None:
            named = {f"c{i}": over_rows(value) for i, value in enumerate(values, start=1)}
            wanted = [f"{named[name]} AS {name}" for name in made]
            parts.append(f"SELECT {', '.join([*wanted, BATCH, WEIGHT])} FROM ({change})")
    return " UNION ALL ".join(parts) or None
