"""The steps of grouped operators as SQL over views; ``aggregate`` says how they follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan, Sessions
from workbench.engine.physical.value_statistics import VALUES
from workbench.engine.storage.layout import BRANCH, GROUPING_SET, MEMBER, WEIGHT
from workbench.engine.storage.lineage import word_column
from workbench.network.nodes import Columns


def fragments(plan: GroupedPlan, changes: Sequence[str], one_task: bool) -> str:
    """SQL of the change's fragments: rows of equal groups and lineage as one, with the statistics' parts.

    Args:
        plan: how the operator runs.
        changes: a view of the change of each branch, with the columns the branch reads, ``_weight``, lineage and
            ``_set`` (``storage.scan.LineageScan``).
        one_task: whether all of it is for one task, which saves every shuffle. Spark loses the partitioning
            of rows where it calls a Python function, so the parts' values are then computed below the COALESCE(1).
    """
    early = one_task and plan.calls_functions
    marks = [GROUPING_SET, *map(word_column, plan.words)]
    branches = []
    for position, (branch, view) in enumerate(zip(plan.branches, changes, strict=True)):
        # Parts read the parent's columns, except in a set operator, whose branches have different ones. A group's
        # column may be called like one of these and be NULL for some members.
        others = ["*"] if len(changes) == 1 else [WEIGHT, *marks]
        groups = [f"{sql} AS `{_group(name)}`" for name, sql in branch.groups.items()]
        values = [f"{of.sql} AS `{_group(of.column)}`" for of in plan.counted]
        branches.append(f"SELECT {_list({}, [*others, *groups, *values])}, {position} AS {BRANCH} FROM {view}")
    rows = _together(branches, one_task)
    if early:
        inputs = [f"{part.value} AS `{_input(part.name)}`" for part in plan.parts]
        rows = f"SELECT /*+ COALESCE(1) */ * FROM (SELECT {_list({}, ['*', *inputs])} FROM ({rows}))"
    of_groups = ""
    if plan.counted:
        rows, of_groups = _with_values(plan, rows), f" FILTER (WHERE {VALUES} = 0)"
    keys = [
        *marks,
        BRANCH,
        *(f"`{_group(name)}` AS `{name}`" for name in plan.groups),
        *(f"`{name}`" for name in plan.value_keys),
    ]
    of_parts = {p.name: f"{p.combine}(`{_input(p.name)}`)" if early else p.change for p in plan.parts}
    parts = [f"{sql}{'' if name == LIVE else of_groups} AS `{name}`" for name, sql in of_parts.items()]
    grouped = _group_by([*marks, BRANCH, *map(_group, plan.groups), *plan.value_keys])
    return f"SELECT {_list({}, [*keys, *parts])} FROM ({rows}) {grouped}"


def _with_values(plan: GroupedPlan, rows: str) -> str:
    """SQL of the rows, each once for its group, and once for each value of it that is counted and not NULL."""
    numbers = ", ".join(f"{number}L" for number in (0, *(of.number for of in plan.counted)))
    values = [f"CASE {VALUES} WHEN {of.number}L THEN `{_group(of.column)}` END AS `{of.column}`" for of in plan.counted]
    there = " OR ".join(f"({VALUES} = {of.number}L AND `{_group(of.column)}` IS NOT NULL)" for of in plan.counted)
    repeated = f"SELECT * FROM ({rows}) LATERAL VIEW explode(array({numbers})) AS {VALUES}"
    return f"SELECT {_list({}, ['*', *values])} FROM ({repeated}) WHERE {VALUES} = 0 OR {there}"


def grouped_change(
    plan: GroupedPlan, produced: Columns, parts: Sequence[str], stored: str | None, rows: str, one_task: bool
) -> str:
    """SQL of the change of the operator's rows, where values are computed from all rows of the dirty groups.

    Args:
        plan: how the operator runs.
        produced: the columns of the result, besides ``_weight``.
        parts: SQL of the dirty groups' parts: their change, and their state before the batch where there was one.
        stored: view of the operator's rows of these groups before the batch; ``None`` when there were none.
        rows: view of the parent's rows of these groups.
        one_task: whether all of it is for one task, which saves every shuffle.
    """
    entering = f"SELECT {_list(produced, [WEIGHT])} FROM ({_entering(plan, produced, parts, rows, one_task)})"
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


def _entering(plan: GroupedPlan, produced: Columns, parts: Sequence[str], rows: str, one_task: bool) -> str:
    """SQL of the rows of the dirty groups after the batch: keys, values, and the number of copies as ``_weight``.

    Values computed from rows and values merged from parts meet in one grouping, which saves a join.
    """
    if plan.sessions is not None:
        return _of_sessions(plan, plan.sessions, rows)
    names = [part.name for part in plan.parts]
    values = [f"`{name}`" for name in plan.holistic]
    missing = [f"cast(NULL AS {produced[name].stored}) AS `{name}`" for name in plan.holistic]
    merged = [f"SELECT {_list([*plan.keys, *names], missing)} FROM ({part})" for part in parts]
    own = [f"{sql} AS `{name}`" for name, sql in plan.holistic.items()]
    nothing = [f"cast(NULL AS {part.type.stored}) AS `{part.name}`" for part in plan.parts]
    merged.append(f"SELECT {_list(plan.keys, [*nothing, *own])} FROM ({_repeated(rows, plan)}) {_group_by(plan.keys)}")
    known = {f"`{name}`": nothing for name, nothing in plan.over_nothing.items()}
    merges = [*_merges(plan), *(f"coalesce(first({v}, true), {known.get(v, 'NULL')}) AS {v}" for v in values)]
    totals = f"SELECT {_list(plan.keys, merges)} FROM ({_together(merged, one_task)}) {_group_by(plan.keys)}"
    finals = [f"{final.sql} AS `{name}`" for name, final in plan.finals.items()]
    weight = "1L" if plan.copies is None else f"if(coalesce({LIVE}, 0L) > 0, 1L, 0L)"
    return f"SELECT {_list(plan.keys, [*finals, *values, f'{weight} AS {WEIGHT}'])} FROM ({totals})"


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
    keys = [f"{sql} AS `{name}`" for name, sql in branch.groups.items() if sql != f"`{name}`"]
    names = list(dict.fromkeys([*branch.columns, *plan.keys]))
    inner = f"SELECT {_list(branch.columns, [MEMBER, WEIGHT, *keys])} FROM {rows}"
    summed = f"SELECT {_list(names, [f'sum({WEIGHT}) AS {WEIGHT}'])} FROM ({inner}) {_group_by(names)}"
    copies = f"LATERAL VIEW explode(sequence(1L, {WEIGHT})) copies AS _copy"
    return f"SELECT {_list(names, ['_copy'])} FROM ({summed}) {copies} WHERE {WEIGHT} > 0"


def _input(name: str) -> str:
    """The column with the values that a part adds up, where they are computed beforehand."""
    return f"_of {name}"


def _group(name: str) -> str:
    """What a group's column is called beside the columns it is computed from."""
    return f"_by {name}"


def empty_groups(plan: GroupedPlan) -> str:
    """SQL of the parts of a group over no rows, for each fused operator: without group columns, that is a row."""
    parts = [f"cast(NULL AS {part.type.stored}) AS `{part.name}`" for part in plan.parts]
    members = ", ".join(f"({member}L)" for member in plan.members)
    return f"SELECT {_list(plan.keys, parts)} FROM VALUES {members} AS nothing({MEMBER})"


def _same_key(left: str, right: str, plan: GroupedPlan) -> str:
    return " AND ".join(f"{left}.`{key}` <=> {right}.`{key}`" for key in plan.identifying) or "true"


def _together(parts: Sequence[str], one_task: bool) -> str:
    """SQL of the union of some bags of rows."""
    rows = " UNION ALL ".join(parts)
    return f"SELECT /*+ COALESCE(1) */ * FROM ({rows})" if one_task and len(parts) > 1 else rows


def _merges(plan: GroupedPlan) -> list[str]:
    return [f"{part.merge} AS `{part.name}`" for part in plan.parts]


def _list(names: Iterable[str], more: Iterable[str]) -> str:
    return ", ".join([*(f"`{name}`" for name in names), *more])


def _group_by(names: Iterable[str]) -> str:
    listed = _list(names, [])
    return f"GROUP BY {listed}" if listed else ""
