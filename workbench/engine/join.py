"""Incremental join: Δ(L ⋈ R) = ΔL ⋈ R′ ∪ L ⋈ ΔR, where R′ is R after the batch (T4.1; Budiu et al., DBSP).

Weights multiply, so retractions on either side come out right, and a pair belongs to the later batch of its two rows.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from workbench.engine.node_rows import NodeRows
from workbench.engine.shared_pass import BATCH, WEIGHT
from workbench.network.nodes import Join
from workbench.network.projection import Columns
from workbench.sql.expressions import Column
from workbench.sql.predicates import predicate_columns
from workbench.sql.spark_sql import predicates_to_spark


def join_change(join: Join, left: NodeRows, right: NodeRows, made: Columns) -> DataFrame | None:
    """The change of a join: columns ``made``, ``_batch``, ``_weight``; ``None`` when neither side changed."""
    parts = [
        _pairs(join, left.change, right.after, made, small=0 if left.small else None),
        _pairs(join, left.before, right.change, made, small=1 if right.small else None),
    ]
    present = [part for part in parts if part is not None]
    return reduce(DataFrame.unionByName, present) if present else None


def _pairs(
    join: Join, left: DataFrame | None, right: DataFrame | None, made: Columns, small: int | None
) -> DataFrame | None:
    """The pairs of two bags of rows; ``small`` is the side worth sending to every task."""
    if left is None or right is None:
        return None
    needed: tuple[set[str], set[str]] = ({*()}, {*()})
    for name in made:
        side, inner = join.input_name(name)
        needed[side].add(inner)
    for column in predicate_columns(join.predicates):
        needed[column.source].add(column.name)
    sides = [_side(rows, side, names) for side, (rows, names) in enumerate(zip((left, right), needed, strict=True))]
    if small is not None:
        sides[small] = F.broadcast(sides[small])
    condition = F.expr(predicates_to_spark(join.predicates, _on_side)) if join.predicates else None
    pairs = sides[0].crossJoin(sides[1]) if condition is None else sides[0].join(sides[1], condition)
    values = [f"`{_qualified(*join.input_name(name))}` AS `{name}`" for name in made]
    return pairs.selectExpr(
        *values, f"greatest(`0.{BATCH}`, `1.{BATCH}`) AS {BATCH}", f"`0.{WEIGHT}` * `1.{WEIGHT}` AS {WEIGHT}"
    )


def _side(rows: DataFrame, side: int, names: set[str]) -> DataFrame:
    return rows.selectExpr(*[f"`{name}` AS `{_qualified(side, name)}`" for name in (*sorted(names), BATCH, WEIGHT)])


def _qualified(side: int, name: str) -> str:
    return f"{side}.{name}"


def _on_side(column: Column) -> str:
    return f"`{_qualified(column.source, column.name)}`"
