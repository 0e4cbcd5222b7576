"""Incremental join: Δ(L ⋈ R) = ΔL ⋈ R′ ∪ L ⋈ ΔR, where R′ is R after the batch (T4.1; Budiu et al., DBSP).

Weights multiply, so retractions on either side come out right, and a pair belongs to the later batch of its two rows.
"""

from __future__ import annotations

from workbench.engine.node_rows import NodeRows
from workbench.engine.shared_pass import BATCH, WEIGHT
from workbench.network.nodes import Join
from workbench.network.projection import Columns
from workbench.network.sql_text import SIDE_NAMES
from workbench.sql.expressions import Column
from workbench.sql.spark_sql import predicates_to_spark


def join_change(join: Join, left: NodeRows, right: NodeRows, made: Columns) -> str | None:
    """SQL of a join's change: columns ``made``, ``_batch``, ``_weight``; ``None`` when neither side changed."""
    parts = [
        _pairs(join, left.change, right.after, made, "l" if left.small else None),
        _pairs(join, left.before, right.change, made, "r" if right.small else None),
    ]
    return " UNION ALL ".join(part for part in parts if part is not None) or None


def _pairs(join: Join, left: str | None, right: str | None, made: Columns, small: str | None) -> str | None:
    """SQL of the pairs of two bags of rows; ``small`` is the side worth sending to every task."""
    if left is None or right is None:
        return None
    hint = f"/*+ BROADCAST({small}) */ " if small else ""
    values = [f"{_on_side(*join.names.input_name(name))} AS `{name}`" for name in made]
    marks = [f"greatest(l.{BATCH}, r.{BATCH}) AS {BATCH}", f"l.{WEIGHT} * r.{WEIGHT} AS {WEIGHT}"]
    condition = predicates_to_spark(join.tested, _column)
    return f"SELECT {hint}{', '.join([*values, *marks])} FROM ({left}) l JOIN ({right}) r ON {condition}"


def _column(column: Column) -> str:
    return _on_side(column.source, column.name)


def _on_side(side: int, name: str) -> str:
    return f"{SIDE_NAMES[side]}.`{name}`"
