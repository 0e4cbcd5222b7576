"""Incremental join: Δ(L ⋈ R) = ΔL ⋈ R′ ∪ L ⋈ ΔR, where R′ is R after the batch (T4.1; Budiu et al., DBSP).

Weights multiply, so retractions on either side come out right, and a pair belongs to the later batch of its two rows.
Where the sides have keys that must be equal, the pairs are found by key (``probe``) and Spark tests the rest;
elsewhere Spark joins.
"""

from __future__ import annotations

from workbench.engine.join_keys import join_keys, key_column
from workbench.engine.layout import BATCH, WEIGHT, only
from workbench.engine.node_rows import NodeRows
from workbench.engine.note import Note
from workbench.engine.probe import Probe, Side
from workbench.network.nodes import SIDES, Join
from workbench.network.projection import Columns
from workbench.network.sql_text import SIDE_NAMES
from workbench.sql.expressions import Column
from workbench.sql.predicates import predicate_columns
from workbench.sql.spark_sql import predicates_to_spark


def probe_of(join: Join, left: NodeRows, right: NodeRows, made: Columns, note: Note) -> Probe | None:
    """What finds the join's pairs by key; ``None`` where it has none."""
    keys = list(join_keys(join))
    if not keys:
        return None
    read = {(c.source, c.name) for c in predicate_columns(join.tested)} | {join.names.input_name(name) for name in made}
    sides = [
        Side(
            only(rows.relation.layout.arrow, names := sorted(name for at, name in read if at == side)),
            rows.relation.layout.types(names),
            tuple(rows.relation.layout.arrow.field(key_column(key[side])) for key in keys),
            rows.bit,
        )
        for side, rows in zip(SIDES, (left, right), strict=True)
    ]
    return Probe(sides[0], sides[1], note)


def tested_pairs(join: Join, pairs: str, made: Columns) -> str:
    """SQL of a join's change over the view of its candidate pairs: columns ``made``, ``_batch``, ``_weight``."""
    values = [f"{_in_pairs(*join.names.input_name(name))} AS `{name}`" for name in made]
    condition = predicates_to_spark(join.tested, _of_pair)
    return f"SELECT {', '.join([*values, BATCH, WEIGHT])} FROM {pairs} WHERE {condition}"


def join_change(join: Join, left: NodeRows, right: NodeRows, made: Columns) -> str | None:
    """SQL of a join's change where Spark finds the pairs; ``None`` when neither side changed."""
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
    values = [f"{_in_side(*join.names.input_name(name))} AS `{name}`" for name in made]
    marks = [f"greatest(l.{BATCH}, r.{BATCH}) AS {BATCH}", f"l.{WEIGHT} * r.{WEIGHT} AS {WEIGHT}"]
    condition = predicates_to_spark(join.tested, _on_side)
    return f"SELECT {hint}{', '.join([*values, *marks])} FROM ({left}) l JOIN ({right}) r ON {condition}"


def _of_pair(column: Column) -> str:
    return _in_pairs(column.source, column.name)


def _in_pairs(side: int, name: str) -> str:
    return f"`{SIDE_NAMES[side]}_{name}`"


def _on_side(column: Column) -> str:
    return _in_side(column.source, column.name)


def _in_side(side: int, name: str) -> str:
    return f"{SIDE_NAMES[side]}.`{name}`"
