"""Operators that keep something for each group of rows: aggregates, DISTINCT, and set operators except UNION ALL.

All are one scheme (T4.2, Algorithm 4.1, exact under retractions): the change is grouped; what was stored for the
groups it touches is merged with it; the touched groups' old rows leave and their new rows enter. A set operator groups
by all its columns and counts each branch's rows; how often a row comes out follows from the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from pyspark.sql import DataFrame

from workbench.engine.layout import BATCH, WEIGHT, Layout
from workbench.engine.node_rows import NodeRows
from workbench.engine.relation import SMALL_ROWS
from workbench.engine.statistics import Additive, Part, additive, holistic, over_rows
from workbench.network.nodes import Aggregate, SetOperation, SetOperator
from workbench.network.projection import Columns
from workbench.sql.expressions import column_name
from workbench.sql.types import INTEGER, DataType, Kind

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
    inexact: frozenset[str] = frozenset()
    """Output columns of type DOUBLE, whose value depends on the order of the rows they were computed from."""

    @property
    def state_columns(self) -> Columns:
        """Columns of the state: keys and parts."""
        return {**self.keys, **{part.name: part.type for part in self.parts}}


def plan_aggregate(node: Aggregate, made: Columns, monotone: bool, incremental: bool = True) -> GroupedPlan:
    """The plan of an aggregate node for the statistics somebody reads.

    Args:
        node: the aggregate.
        made: the columns its rows must have.
        monotone: whether the parent retracts nothing.
        incremental: whether additive statistics are kept in parts; if not, all are computed anew from the rows of the
            touched groups (``Options.incremental_aggregates``).
    """
    keys = {column_name(group): group.type for group in node.groups}
    sql = {column_name(group): over_rows(node.direct_group(group)) for group in node.groups}
    parts = {LIVE: Part(LIVE, INTEGER, f"sum({WEIGHT})", f"sum({LIVE})")}
    finals: dict[str, str] = {}
    from_rows: dict[str, str] = {}
    inexact: set[str] = set()
    for statistic in sorted(node.statistics, key=column_name):
        name = column_name(statistic)
        if name not in made:
            continue
        if statistic.type.kind is Kind.DOUBLE:
            inexact.add(name)
        direct = node.direct_statistic(statistic)
        match additive(name, direct, monotone) if incremental else None:
            case Additive(own, final):
                parts.update((part.name, part) for part in own)
                finals[name] = final
            case None:
                from_rows[name] = holistic(direct)
    # Without groups there is one row, also over no input.
    weight = f"if(coalesce({LIVE}, 0L) > 0, 1L, 0L)" if keys else "1L"
    return GroupedPlan(keys, (Branch(sql),), tuple(parts.values()), finals, weight, from_rows, frozenset(inexact))


def plan_set_operation(node: SetOperation) -> GroupedPlan:
    """The plan of a set operator other than UNION ALL."""
    keys = {f"c{i}": value.type for i, value in enumerate(node.branches[0].values, start=1)}
    branches = tuple(
        Branch({f"c{i}": over_rows(value) for i, value in enumerate(values, start=1)}) for _, values in node.direct
    )
    parts = tuple(
        Part(f"_rows{i}", INTEGER, f"sum(if(_branch = {i}, {WEIGHT}, 0L))", f"sum(_rows{i})")
        for i in range(len(branches))
    )
    return GroupedPlan(keys, branches, parts, {}, _set_weight(node.operator, len(branches)), {})


def _set_weight(operator: SetOperator, branches: int) -> str:
    first, *others = counts = [f"_rows{i}" for i in range(branches)]
    match operator:
        case SetOperator.UNION:
            return f"if({' + '.join(counts)} > 0, 1L, 0L)"
        case SetOperator.INTERSECT:
            return f"if(least({', '.join(counts)}) > 0, 1L, 0L)"
        case SetOperator.INTERSECT_ALL:
            return f"least({', '.join(counts)})"
        case SetOperator.EXCEPT:
            return f"if({first} > 0 AND {' + '.join(others)} = 0, 1L, 0L)"
        case SetOperator.EXCEPT_ALL:
            return f"greatest({first} - ({' + '.join(others)}), 0L)"
        case SetOperator.UNION_ALL:
            raise ValueError("UNION ALL keeps nothing for a group")


def merged_state(plan: GroupedPlan, state: DataFrame, whole: bool) -> DataFrame:
    """A state with one row a group. Where it is the whole state, groups that have no rows any more are gone.

    In a part of it the changes of a group's rows may cancel in number and not in sum.
    """
    merges = [*_merges(plan), f"max({BATCH}) AS {BATCH}", f"1L AS {WEIGHT}"]
    live = " OR ".join(f"{part.name} <> 0" for part in plan.parts if part.name.startswith(LIVE))
    columns = ", ".join(f"`{name}`" for name in state.columns)
    grouped = f"SELECT {_list(plan.keys, merges)} FROM {{state}} {_group_by(plan.keys)}"
    kept = f" WHERE {live}" if whole else ""
    return state.sparkSession.sql(f"SELECT {columns} FROM ({grouped}){kept}", state=state)


def state_change(plan: GroupedPlan, inputs: tuple[NodeRows, ...]) -> str | None:
    """SQL of the change grouped: one row for each touched group, with its keys, parts and ``_weight`` 1.

    ``None`` when no input changed, except that the group of an aggregate without groups is there from the start.
    """
    changes = []
    for position, (branch, rows) in enumerate(zip(plan.branches, inputs, strict=True)):
        change = rows.change
        if change is None and not plan.keys and rows.from_nothing:
            change = rows.everything
        if change is not None:
            # Parts read the parent's columns, except in a set operator, whose branches have different ones.
            others = "*" if len(inputs) == 1 else WEIGHT
            keys = [f"{sql} AS `{name}`" for name, sql in branch.keys.items() if others != "*" or sql != f"`{name}`"]
            changes.append(f"SELECT {_list({}, [others, *keys])}, {position} AS _branch FROM ({change})")
    if not changes:
        return None
    parts = [f"{part.change} AS `{part.name}`" for part in plan.parts]
    small = sum(rows.changed_rows for rows in inputs) <= SMALL_ROWS
    changed = _gathered(" UNION ALL ".join(changes), small)
    return f"SELECT {_list(plan.keys, parts)}, 1L AS {WEIGHT} FROM ({changed}) {_group_by(plan.keys)}"


def grouped_change(
    plan: GroupedPlan,
    inputs: tuple[NodeRows, ...],
    touched: str,
    state: str | None,
    stored: str | None,
    made: Columns,
    small: bool,
) -> str:
    """SQL of the change of the operator's rows: columns ``made`` and ``_weight``.

    Args:
        plan: how the operator runs.
        inputs: the parents' rows.
        touched: view of what ``state_change`` gave, written down.
        state: view of the parts before the batch; ``None`` when there were none.
        stored: view of the operator's rows before the batch, with columns ``made``; ``None`` when there were none.
        made: the columns of the result.
        small: whether state and change are small enough for one task, which saves every shuffle.
    """
    parts = f"SELECT * FROM {touched}"
    if state is not None:
        parts = f"{parts} UNION ALL {_touching(f'SELECT * FROM {state}', touched, plan)}"
    totals = f"SELECT {_list(plan.keys, _merges(plan))} FROM ({_gathered(parts, small)}) {_group_by(plan.keys)}"
    if plan.holistic:
        totals = _with_holistic(totals, plan, inputs[0], touched if state is not None else None)
    finals = [f"{sql} AS `{name}`" for name, sql in plan.finals.items()]
    values = [*finals, *(f"`{name}`" for name in plan.holistic), f"{plan.weight} AS {WEIGHT}"]
    entering = f"SELECT {_list(made, [WEIGHT])} FROM (SELECT {_list(plan.keys, values)} FROM ({totals}))"
    if stored is None:
        return f"SELECT * FROM ({entering}) WHERE {WEIGHT} <> 0"
    leaving = _touching(f"SELECT {_list(made, [f'-{WEIGHT} AS {WEIGHT}'])} FROM {stored}", touched, plan)
    rows = _gathered(f"{entering} UNION ALL {leaving}", small)
    summed = f"SELECT {_list(made, [f'sum({WEIGHT}) AS {WEIGHT}'])} FROM ({rows}) {_group_by(made)}"
    return f"SELECT * FROM ({summed}) WHERE {WEIGHT} <> 0"


def as_told(rows: str, told: str, plan: GroupedPlan, made: Columns, inexact: Set[str]) -> str:
    """The rows with the DOUBLE values that were told before, where a group has been told of.

    Computed anew, a sum of floats may differ in its last digit; a later retraction must match what was told. ``told``
    is the view of the rows as they stood, ``inexact`` the columns in question.
    """
    values = [f"if(o._weight IS NULL, n.`{name}`, o.`{name}`) AS `{name}`" for name in made if name in inexact]
    others = [f"n.`{name}`" for name in made if name not in inexact]
    chosen = _list({}, [*others, *values, f"n.{WEIGHT}"])
    return f"SELECT {chosen} FROM ({rows}) n LEFT JOIN {told} o ON {_same_key('n', 'o', plan)}"


def _with_holistic(totals: str, plan: GroupedPlan, rows: NodeRows, touched: str | None) -> str:
    """The totals with holistic statistics, computed from the rows of the touched groups (of all when ``None``)."""
    keys = [f"{sql} AS `{name}`" for name, sql in plan.branches[0].keys.items() if sql != f"`{name}`"]
    inner = f"SELECT {_list({}, ['*', *keys])} FROM ({rows.after or rows.everything})"
    if touched is not None:
        inner = _touching(inner, touched, plan)
    values = [f"{sql} AS `{name}`" for name, sql in plan.holistic.items()]
    repeated = _repeated(inner, rows.relation.layout, plan)
    computed = f"SELECT {_list(plan.keys, values)} FROM ({repeated}) {_group_by(plan.keys)}"
    chosen = _list({}, ["t.*", *(f"h.`{name}`" for name in plan.holistic)])
    return f"SELECT {chosen} FROM ({totals}) t LEFT JOIN ({computed}) h ON {_same_key('t', 'h', plan)}"


def _repeated(rows: str, layout: Layout, plan: GroupedPlan) -> str:
    """Every row as often as it counts: changes that cancel are gone, and a weight of 2 is two rows."""
    names = {**layout.columns, **plan.keys}
    summed = f"SELECT {_list(names, [f'sum({WEIGHT}) AS {WEIGHT}'])} FROM ({rows}) {_group_by(names)}"
    copies = f"LATERAL VIEW explode(sequence(1L, {WEIGHT})) copies AS _copy"
    return f"SELECT {_list(names, [])} FROM ({summed}) {copies} WHERE {WEIGHT} > 0"


def _touching(rows: str, touched: str, plan: GroupedPlan) -> str:
    """The rows whose group was touched; NULL is a group like others."""
    return f"SELECT g.* FROM ({rows}) g LEFT SEMI JOIN {touched} k ON {_same_key('g', 'k', plan)}"


def _same_key(left: str, right: str, plan: GroupedPlan) -> str:
    return " AND ".join(f"{left}.`{key}` <=> {right}.`{key}`" for key in plan.keys) or "true"


def _gathered(rows: str, small: bool) -> str:
    return f"SELECT /*+ COALESCE(1) */ * FROM ({rows})" if small else rows


def _merges(plan: GroupedPlan) -> list[str]:
    return [f"{part.merge} AS `{part.name}`" for part in plan.parts]


def _list(names: Iterable[str], more: Iterable[str]) -> str:
    return ", ".join([*(f"`{name}`" for name in names), *more])


def _group_by(names: Iterable[str]) -> str:
    listed = _list(names, [])
    return f"GROUP BY {listed}" if listed else ""
