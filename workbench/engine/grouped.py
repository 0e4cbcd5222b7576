"""Operators that keep something for each group of rows: aggregates, DISTINCT, and set operators except UNION ALL.

All are one scheme (T4.2, Algorithm 4.1, exact under retractions): the change is grouped; what was stored for the
groups it touches is merged with it; the touched groups' old rows leave and their new rows enter. A set operator groups
by all its columns and counts each branch's rows; how often a row comes out follows from the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from workbench.engine.node_rows import NodeRows
from workbench.engine.relation import SMALL_ROWS
from workbench.engine.shared_pass import BATCH, WEIGHT, word_column
from workbench.engine.statistics import Additive, Part, additive, holistic, over_rows
from workbench.network.nodes import Aggregate, SetOperation, SetOperator
from workbench.network.projection import Columns
from workbench.sql.expressions import column_name
from workbench.sql.types import INTEGER, DataType

LIVE = "_rows"
"""Part: how many rows a group has."""


@dataclass(frozen=True)
class Branch:
    """One input: the SQL of each key and of whatever parts of the statistics need, over the parent's rows."""

    keys: Mapping[str, str]


@dataclass(frozen=True)
class GroupedPlan:
    """How a grouped operator runs.

    ``keys``: group columns and types. ``parts``: stored columns of the state. ``finals``: output columns as SQL over
    merged parts. ``weight``: how often a group's row comes out, as SQL over merged parts. ``holistic``: output columns
    as Spark aggregates over the touched groups' rows.
    """

    keys: Mapping[str, DataType]
    branches: tuple[Branch, ...]
    parts: tuple[Part, ...]
    finals: Mapping[str, str]
    weight: str
    holistic: Mapping[str, str]

    @property
    def state_columns(self) -> Columns:
        """Columns of the state: keys and parts."""
        return {**self.keys, **{part.name: part.type for part in self.parts}}


def plan_aggregate(node: Aggregate, made: Columns, monotone: bool) -> GroupedPlan:
    """The plan of an aggregate node for the statistics somebody reads; ``monotone``: the parent retracts nothing."""
    keys = {column_name(group): group.type for group in node.groups}
    sql = {column_name(group): over_rows(group) for group in node.groups}
    parts = {LIVE: Part(LIVE, INTEGER, f"sum({WEIGHT})", f"sum({LIVE})")}
    finals: dict[str, str] = {}
    from_rows: dict[str, str] = {}
    for statistic in sorted(node.statistics, key=column_name):
        name = column_name(statistic)
        if name not in made:
            continue
        match additive(statistic, monotone):
            case Additive(own, final):
                parts.update((part.name, part) for part in own)
                finals[name] = final
            case None:
                from_rows[name] = holistic(statistic)
    # Without groups there is one row, also over no input.
    weight = f"if(coalesce({LIVE}, 0L) > 0, 1L, 0L)" if keys else "1L"
    return GroupedPlan(keys, (Branch(sql),), tuple(parts.values()), finals, weight, from_rows)


def plan_set_operation(node: SetOperation) -> GroupedPlan:
    """The plan of a set operator other than UNION ALL."""
    keys = {f"c{i}": value.type for i, value in enumerate(node.branches[0][1], start=1)}
    branches = tuple(
        Branch({f"c{i}": over_rows(value) for i, value in enumerate(values, start=1)}) for _, values in node.branches
    )
    parts = tuple(
        Part(f"_rows{i}", INTEGER, f"sum(if(_branch = {i}, {WEIGHT}, 0L))", f"sum(_rows{i})")
        for i in range(len(node.branches))
    )
    return GroupedPlan(keys, branches, parts, {}, _set_weight(node.operator, len(branches)), {})


def _set_weight(operator: SetOperator, branches: int) -> str:
    total = " + ".join(f"_rows{i}" for i in range(branches))
    match operator:
        case SetOperator.UNION:
            return f"if({total} > 0, 1L, 0L)"
        case SetOperator.INTERSECT:
            return "if(_rows0 > 0 AND _rows1 > 0, 1L, 0L)"
        case SetOperator.INTERSECT_ALL:
            return "least(_rows0, _rows1)"
        case SetOperator.EXCEPT:
            return "if(_rows0 > 0 AND _rows1 = 0, 1L, 0L)"
        case SetOperator.EXCEPT_ALL:
            return "greatest(_rows0 - _rows1, 0L)"
        case SetOperator.UNION_ALL:
            raise ValueError("UNION ALL keeps nothing for a group")


def merged_state(plan: GroupedPlan, state: DataFrame) -> DataFrame:
    """A state with one row a group; groups that have no rows any more are gone."""
    merges = [F.expr(part.merge).alias(part.name) for part in plan.parts]
    marks = [F.max(BATCH).alias(BATCH), F.lit(1).cast("bigint").alias(WEIGHT)]
    lineage = [F.lit(1).cast("bigint").alias(word_column(0))]
    merged = state.groupBy(*_columns(plan.keys)).agg(*merges, *marks, *lineage)
    live = " OR ".join(f"{part.name} <> 0" for part in plan.parts if part.name.startswith(LIVE))
    return merged.where(live).select(*[F.col(f"`{name}`") for name in state.columns])


def state_change(plan: GroupedPlan, inputs: tuple[NodeRows, ...]) -> DataFrame | None:
    """The change grouped: one row for each touched group, with its keys, parts and ``_weight`` 1.

    ``None`` when no input changed, except that the group of an aggregate without groups is there from the start.
    """
    changes = []
    for position, (branch, rows) in enumerate(zip(plan.branches, inputs, strict=True)):
        change = rows.change
        if change is None and not plan.keys and rows.from_nothing:
            change = rows.relation.dataframe
        if change is not None:
            # Keys are added beside the parent's columns, which the parts read; their names may coincide only when
            # they are the same column.
            changes.append(_with_columns(change, branch.keys).withColumn("_branch", F.lit(position)))
    if not changes:
        return None
    parts = [F.expr(part.change).alias(part.name) for part in plan.parts]
    if len(changes) > 1:
        changes = [change.select(*plan.keys, WEIGHT, "_branch") for change in changes]
    changed = reduce(DataFrame.unionByName, changes)
    if sum(rows.changed_rows for rows in inputs) <= SMALL_ROWS:
        changed = changed.coalesce(1)
    grouped = changed.groupBy(*_columns(plan.keys)).agg(*parts)
    return grouped.withColumn(WEIGHT, F.lit(1).cast("bigint"))


def grouped_change(
    plan: GroupedPlan,
    inputs: tuple[NodeRows, ...],
    touched: DataFrame,
    state: DataFrame | None,
    stored: DataFrame | None,
    made: Columns,
    small: bool,
) -> DataFrame:
    """The change of the operator's rows: columns ``made`` and ``_weight``.

    Args:
        plan: how the operator runs.
        inputs: the parents' rows.
        touched: what ``state_change`` gave, written down.
        state: the parts before the batch; ``None`` when there were none.
        stored: the operator's rows before the batch, with columns ``made``; ``None`` when there were none.
        made: the columns of the result.
        small: whether state and change are small enough for one task, which saves every shuffle.
    """
    gathered = _in_one_task if small else _as_it_is
    parts = touched if state is None else touched.unionByName(_touching(state, touched, plan))
    parts = gathered(parts)
    merges = [F.expr(part.merge).alias(part.name) for part in plan.parts]
    totals = parts.groupBy(*_columns(plan.keys)).agg(*merges)
    if plan.holistic:
        totals = _with_holistic(totals, plan, inputs[0], touched if state is not None else None)
    finals = [F.expr(sql).alias(name) for name, sql in plan.finals.items()]
    entering = totals.select(
        *_columns(plan.keys), *finals, *_columns(plan.holistic), F.expr(plan.weight).alias(WEIGHT)
    ).select(*_columns(made), WEIGHT)
    rows = entering
    if stored is not None:
        leaving = _touching(stored, touched, plan)
        rows = rows.unionByName(leaving.select(*_columns(made), F.expr(f"-{WEIGHT}").alias(WEIGHT)))
        rows = gathered(rows).groupBy(*_columns(made)).agg(F.sum(WEIGHT).alias(WEIGHT))
    return rows.where(f"{WEIGHT} <> 0")


def _with_holistic(totals: DataFrame, plan: GroupedPlan, rows: NodeRows, touched: DataFrame | None) -> DataFrame:
    """The totals with holistic statistics, computed from the rows of the touched groups (of all when ``None``)."""
    after = rows.after if rows.after is not None else rows.relation.dataframe
    inner = _with_columns(after, plan.branches[0].keys)
    if touched is not None:
        inner = _touching(inner, touched, plan)
    inner = _repeated(inner, rows.monotone)
    values = [F.expr(sql).alias(name) for name, sql in plan.holistic.items()]
    computed = inner.groupBy(*_columns(plan.keys)).agg(*values)
    if not plan.keys:
        return totals.crossJoin(computed)
    renamed = computed.select(*[F.col(f"`{k}`").alias(f"_key_{k}") for k in plan.keys], *_columns(plan.holistic))
    same = [F.col(f"`{k}`").eqNullSafe(F.col(f"`_key_{k}`")) for k in plan.keys]
    return totals.join(renamed, same, "left")


def _repeated(rows: DataFrame, monotone: bool) -> DataFrame:
    """Every row as often as it counts: changes that cancel are gone, and a weight of 2 is two rows."""
    if monotone:
        return rows.where(f"{WEIGHT} = 1").unionByName(_by_weight(rows.where(f"{WEIGHT} > 1")))
    names = [name for name in rows.columns if name not in (BATCH, WEIGHT, "_branch") and not name.startswith("_bits")]
    summed = rows.groupBy(*[F.col(f"`{n}`") for n in names]).agg(F.sum(WEIGHT).alias(WEIGHT))
    return _by_weight(summed.where(f"{WEIGHT} > 0"))


def _by_weight(rows: DataFrame) -> DataFrame:
    return rows.withColumn("_copy", F.explode(F.expr(f"sequence(1L, {WEIGHT})"))).drop("_copy")


def _touching(rows: DataFrame, touched: DataFrame, plan: GroupedPlan) -> DataFrame:
    """The rows whose group was touched; NULL is a group like others."""
    if not plan.keys:
        return rows
    keys = touched.select(*[F.col(f"`{k}`").alias(f"_key_{k}") for k in plan.keys])
    same = [F.col(f"`{k}`").eqNullSafe(F.col(f"`_key_{k}`")) for k in plan.keys]
    return rows.join(keys, same, "left_semi")


def _in_one_task(rows: DataFrame) -> DataFrame:
    return rows.coalesce(1)


def _as_it_is(rows: DataFrame) -> DataFrame:
    return rows


def _with_columns(rows: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    new = {name: F.expr(sql) for name, sql in columns.items() if sql != f"`{name}`"}
    return rows.withColumns(new) if new else rows


def _columns(names: Mapping[str, object]) -> list[Column]:
    return [F.col(f"`{name}`") for name in names]
