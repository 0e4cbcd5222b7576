"""Incremental join: Δ(L ⋈ R) = ΔL ⋈ R′ ∪ L ⋈ ΔR, where R′ is R after the batch (T4.1; Budiu et al., DBSP).

Weights multiply, so retractions on either side come out right, and a pair belongs to the later batch of its two rows.
Where the sides have keys that must be equal, the pairs are found by key (``probe``) and Spark tests the rest;
elsewhere Spark joins.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.operators.operator_input import ParentRows
from workbench.engine.physical.semijoin import all_of
from workbench.engine.storage.job_input import JobInput
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.relation import ROWS_A_TASK, tasks_for
from workbench.engine.storage.scan import Scan
from workbench.engine.tree import TreePlan
from workbench.network.nodes import SIDES, Join
from workbench.network.projection import Columns
from workbench.network.sql_text import SIDE_NAMES
from workbench.sql.algebra.expressions import Column
from workbench.sql.predicates.cnf import predicate_columns
from workbench.sql.render.spark_sql import predicates_to_spark

PAIRS_A_ROW = 30
"""Where many rows each find more rows than that, Spark's own join is faster: it makes pairs some ten times as fast."""


def join_delta(runner: Runner, work: OperatorInput, join: Join) -> Delta:
    """The change of a join's rows."""
    if not any(rows.changed_rows for rows in work.inputs):
        return NO_CHANGE
    if (found := _probed(runner, work, join)) is not None:
        return found
    left, right = work.inputs
    rows = join_change(join, left, right, work.plan.made)
    if rows is None:
        return NO_CHANGE
    read = sum(side.relation.rows + side.changed_rows for side in work.inputs)
    return runner.passed(rows, work.plan, tasks_for(read, runner.spark))


def _probed(runner: Runner, work: OperatorInput, join: Join) -> Delta | None:
    """The change of a join whose pairs are found by key; ``None`` where Spark had better find them."""
    left, right = work.inputs
    plan, spark = work.plan, runner.spark
    if not plan.ways and not plan.enough:
        return None
    probe = probe_of(join, left, right, plan, runner.note(plan))
    runner.tell(plan, work.batch, work.notes)
    tasks = tasks_for(work.changed, spark)
    if work.changed > ROWS_A_TASK and probe.count(spark, tasks) > PAIRS_A_ROW * work.changed:
        return None

    def planned() -> DataFrame:
        pairs = runner.bind(plan, "pairs", probe.frame(spark, tasks))
        return runner.passing(tested_pairs(join, pairs, plan.made), plan)

    return runner.run(runner.prepared(plan, "rows", (plan, probe, tasks), planned))


def probe_of(join: Join, left: ParentRows, right: ParentRows, plan: TreePlan, note: JobInput) -> IndexJoin:
    """What finds the join's pairs."""
    read = {(c.source, c.name) for c in predicate_columns(join.tested)}
    read |= {join.names.input_name(name) for name in plan.made}
    sides = []
    for side, rows in zip(SIDES, (left, right), strict=True):
        ways = (*plan.ways, *(enough.way for enough in all_of(plan.enough)))
        looked_at = dict.fromkeys(name for way in ways for name in way.looks_at(side))
        sides.append(
            Scan.of(rows.relation.layout, sorted(name for at, name in read if at == side), list(looked_at), rows.bit)
        )
    return IndexJoin(sides[0], sides[1], note, plan.ways, all_of(plan.enough))


def tested_pairs(join: Join, pairs: str, made: Columns) -> str:
    """SQL of a join's change over the view of its candidate pairs: columns ``made``, ``_batch``, ``_weight``."""
    values = [f"{_in_pairs(*join.names.input_name(name))} AS `{name}`" for name in made]
    condition = predicates_to_spark(join.tested, _of_pair)
    return f"SELECT {', '.join([*values, BATCH, WEIGHT])} FROM {pairs} WHERE {condition}"


def join_change(join: Join, left: ParentRows, right: ParentRows, made: Columns) -> str | None:
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
