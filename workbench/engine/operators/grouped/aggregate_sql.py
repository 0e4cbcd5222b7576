"""The SQL of grouped operators whose values are computed from all rows of the dirty groups; see ``aggregate``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from workbench.engine.physical.aggregate_plan import GroupedPlan, Sessions
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.storage.layout import MEMBER, WEIGHT
from workbench.network.nodes import Columns


def grouped_change(plan: GroupedPlan, produced: Columns, stored: str | None, rows: str, one_task: bool) -> str:
    """SQL of the change of the operator's rows.

    Args:
        plan: how the operator runs.
        produced: the columns of the result, besides ``_weight``.
        stored: view of the operator's rows of the dirty groups before the batch; ``None`` when there were none.
        rows: view of the parent's rows of these groups.
        one_task: whether all of it is for one task, which saves every shuffle.
    """
    entering = f"SELECT {_list(produced, [WEIGHT])} FROM ({_entering(plan, produced, rows, one_task)})"
    if stored is None:
        return f"SELECT * FROM ({entering}) WHERE {WEIGHT} <> 0"
    leaving = f"SELECT {_list(produced, [f'-{WEIGHT} AS {WEIGHT}'])} FROM {stored}"
    changes = _together([entering, leaving], one_task)
    summed = f"SELECT {_list(produced, [f'sum({WEIGHT}) AS {WEIGHT}'])} FROM ({changes}) {_group_by(produced)}"
    return f"SELECT * FROM ({summed}) WHERE {WEIGHT} <> 0"


def with_emitted_values(rows: str, emitted: str, plan: GroupedPlan, produced: Columns, inexact: Set[str]) -> str:
    """SQL of the rows with the DOUBLE values that were emitted before, where a group has been emitted.

    A sum of floats that is computed again may differ in its last digit, but a later retraction must match what was
    emitted. ``emitted`` is the view of the rows as they stood, of which some may cancel others; ``inexact`` the columns
    of type DOUBLE.
    """
    names = [*plan.identifying, *sorted(inexact)]
    stood = f"SELECT {_list(names, [f'sum({WEIGHT}) AS {WEIGHT}'])} FROM {emitted} {_group_by(names)}"
    values = [f"if(o._weight IS NULL, n.`{name}`, o.`{name}`) AS `{name}`" for name in produced if name in inexact]
    others = [f"n.`{name}`" for name in produced if name not in inexact]
    chosen = _list({}, [*others, *values, f"n.{WEIGHT}"])
    return f"SELECT {chosen} FROM ({rows}) n LEFT JOIN ({stood} HAVING {WEIGHT} > 0) o ON {_same_key('n', 'o', plan)}"


def _entering(plan: GroupedPlan, produced: Columns, rows: str, one_task: bool) -> str:
    """SQL of the rows of the dirty groups after the batch: keys, values, and 1 as ``_weight``."""
    if plan.sessions is not None:
        return _of_sessions(plan, plan.sessions, rows)
    own = [f"{sql} AS `{name}`" for name, sql in plan.holistic.items()]
    grouped = f"SELECT {_list(plan.keys, own)} FROM ({_repeated(rows, plan)}) {_group_by(plan.keys)}"
    if not plan.groups:
        # Without group columns there is a row over no rows, too.
        known = {name: plan.over_nothing.get(name, "NULL") for name in plan.holistic}
        missing = [f"cast(NULL AS {produced[name].stored}) AS `{name}`" for name in plan.holistic]
        members = ", ".join(f"({member}L)" for member in plan.members)
        nothing = f"SELECT {_list(plan.keys, missing)} FROM VALUES {members} AS nothing({MEMBER})"
        values = [f"coalesce(first(`{name}`, true), {zero}) AS `{name}`" for name, zero in known.items()]
        both = _together([grouped, nothing], one_task)
        grouped = f"SELECT {_list(plan.keys, values)} FROM ({both}) {_group_by(plan.keys)}"
    return f"SELECT *, 1L AS {WEIGHT} FROM ({grouped})"


def _of_sessions(plan: GroupedPlan, sessions: Sessions, rows: str) -> str:
    """SQL of the sessions of the dirty groups' rows, which Spark computes from all of these rows."""
    window = f"session_window({sessions.time}, '{sessions.gap} seconds')"
    values = [f"{sql} AS `{name}`" for name, sql in plan.holistic.items()]
    grouped = ", ".join([*(f"`{key}`" for key in plan.keys), window])
    start = f"session_window.start AS `{sessions.column}`"
    return (
        f"SELECT {_list(plan.keys, [start, *values, f'1L AS {WEIGHT}'])}"
        f" FROM ({_repeated(rows, plan)}) GROUP BY {grouped}"
    )


def _repeated(rows: str, plan: GroupedPlan) -> str:
    """SQL of the rows by their weights: changes that cancel are gone, and a weight of 2 is two rows."""
    (branch,) = plan.branches
    groups = {name: over_rows(group) for name, group in zip(plan.groups, plan.row_keys, strict=True)}
    keys = [f"{sql} AS `{name}`" for name, sql in groups.items() if sql != f"`{name}`"]
    names = list(dict.fromkeys([*branch.columns, *plan.keys]))
    inner = f"SELECT {_list(branch.columns, [MEMBER, WEIGHT, *keys])} FROM {rows}"
    summed = f"SELECT {_list(names, [f'sum({WEIGHT}) AS {WEIGHT}'])} FROM ({inner}) {_group_by(names)}"
    copies = f"LATERAL VIEW explode(sequence(1L, {WEIGHT})) copies AS _copy"
    return f"SELECT {_list(names, ['_copy'])} FROM ({summed}) {copies} WHERE {WEIGHT} > 0"


def _same_key(left: str, right: str, plan: GroupedPlan) -> str:
    return " AND ".join(f"{left}.`{key}` <=> {right}.`{key}`" for key in plan.identifying) or "true"


def _together(parts: Sequence[str], one_task: bool) -> str:
    """SQL of the union of some bags of rows."""
    rows = " UNION ALL ".join(parts)
    return f"SELECT /*+ COALESCE(1) */ * FROM ({rows})" if one_task and len(parts) > 1 else rows


def _list(names: Iterable[str], more: Iterable[str]) -> str:
    return ", ".join([*(f"`{name}`" for name in names), *more])


def _group_by(names: Iterable[str]) -> str:
    listed = _list(names, [])
    return f"GROUP BY {listed}" if listed else ""
