"""Plans of operators that keep a state for each group: aggregates, DISTINCT, and set operators except UNION ALL.

All are one scheme, for all fused roots at once. A set operator groups by all its columns and counts each branch's
rows; how often a row comes out follows from the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain

from workbench.engine.physical.accumulators import (
    OVER_NOTHING,
    Additive,
    Adds,
    Final,
    StatePart,
    StoredInput,
    additive,
    holistic,
    over_rows,
    rows_part,
)
from workbench.engine.physical.stored.calls import StoredCall
from workbench.engine.physical.stored.values import StoredValue, stored_value
from workbench.engine.physical.value_statistics import (
    VALUES,
    CountedValues,
    DistinctPart,
    DistinctStatistic,
    ValueStatistic,
    by_values,
)
from workbench.engine.storage.layout import BRANCH, GROUPING_SET, MEMBER, WEIGHT
from workbench.engine.storage.lineage import WORD_BITS
from workbench.engine.storage.scan import Readers
from workbench.network.nodes import Aggregate, Columns, SetOperation, SetOperator, columns_of
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, column_name
from workbench.sql.algebra.types import INTEGER, DataType, Kind
from workbench.sql.functions.calls import calls_functions
from workbench.sql.windows.stream_time import is_session

LIVE = "_rows"
"""The part with the number of a group's rows."""


@dataclass(frozen=True)
class GroupedBranch:
    """One input of a grouped operator.

    Attributes:
        columns: those that are read.
        groups: the SQL of each group column over them.
        readers: for each fused root its member number, and the bits of the nodes whose common rows it reads.
        stored: for each grouping what its group columns are of stored columns; none where Spark must evaluate some.
    """

    columns: tuple[str, ...]
    groups: Mapping[str, str]
    readers: Readers = ()
    stored: tuple[Mapping[str, StoredValue], ...] = ()

    @staticmethod
    def of(columns: Iterable[Column], groups: Mapping[str, Expression]) -> GroupedBranch:
        """An input whose rows are grouped by expressions over its columns, by the name of the group column."""
        stored = {name: value for name, group in groups.items() if (value := stored_value(group)) is not None}
        return GroupedBranch(
            columns=tuple(sorted({column.name for column in columns})),
            groups={name: over_rows(group) for name, group in groups.items()},
            stored=(stored,) if len(stored) == len(groups) else (),
        )


@dataclass(frozen=True)
class Sessions:
    """Sessions of a group's rows: the column with their starts, the SQL of the rows' times, and the gap in seconds."""

    column: str
    time: str
    gap: int


@dataclass(frozen=True)
class GroupedPlan:
    """How a grouped operator runs.

    Attributes:
        groups: group columns and their types.
        branches: the inputs.
        parts: the columns that the state has beside the keys, as far as they are computed from the changed rows.
        finals: output columns that are computed from merged parts.
        copies: how often a group's row comes out by the rows of each branch, as of a set operator; the row of an
            aggregate's group comes out once where there are any, as of UNION. ``None``: it is always there, once.
        holistic: output columns as Spark aggregates over all rows of the dirty groups.
        row_keys: the groups over the parent's columns, where rows of dirty groups are looked up.
        over_nothing: the value over no rows of output columns that are computed from rows, where it is not NULL.
        inexact: output columns of type DOUBLE: their value depends on the order in which rows are added up.
        sessions: by what the rows of a group are divided once more.
        sets: the members that group alike, for each grouping; empty where all do.
        counted: the expressions whose values are counted in each group.
        distinct_parts: columns of the state that follow from the values that come into a group or leave it.
        from_values: output columns that are computed from all values of a group.
        calls_functions: whether a group or a statistic calls a function of the analyst.
    """

    groups: Mapping[str, DataType]
    branches: tuple[GroupedBranch, ...]
    parts: tuple[StatePart, ...]
    finals: Mapping[str, Final]
    copies: SetOperator | None
    holistic: Mapping[str, str]
    row_keys: tuple[Expression, ...] = ()
    over_nothing: Mapping[str, str] = field(default_factory=dict)
    inexact: frozenset[str] = frozenset()
    sessions: Sessions | None = None
    sets: tuple[frozenset[int], ...] = ()
    counted: tuple[CountedValues, ...] = ()
    distinct_parts: tuple[DistinctPart, ...] = ()
    from_values: Mapping[str, ValueStatistic] = field(default_factory=dict)
    calls_functions: bool = False

    def readers(self, branch: int) -> tuple[Readers, ...]:
        """For each grouping its readers of a branch."""
        every = self.branches[branch].readers
        return tuple(tuple(r for r in every if r[0] in members) for members in self.sets) or (every,)

    @property
    def words(self) -> tuple[int, ...]:
        """The words of lineage in which the nodes that are read have their bits."""
        return tuple(
            sorted({bit // WORD_BITS for branch in self.branches for _, bits in branch.readers for bit in bits})
        )

    @property
    def calls(self) -> tuple[StoredCall, ...]:
        """The calls of the analyst's functions over stored columns, each once."""
        return tuple(dict.fromkeys(call for at in range(len(self.branches)) for call in self.calls_of(at)))

    def calls_of(self, branch: int) -> tuple[StoredCall, ...]:
        """The calls over the rows of a branch, by its position: others have not the columns."""
        values = [of.stored for of in self.counted]
        values += [part.stored.value for part in self.parts if part.stored is not None]
        values += [value for groups in self.branches[branch].stored for value in groups.values()]
        return tuple(dict.fromkeys(value for value in values if isinstance(value, StoredCall)))

    @property
    def reads_rows(self) -> bool:
        """Whether something is computed from the rows of the dirty groups."""
        return bool(self.holistic) or self.sessions is not None

    @property
    def counts(self) -> tuple[str, ...]:
        """The parts with the number of a group's rows of each branch."""
        return tuple(part.name for part in self.parts if part.name.startswith(LIVE))

    @property
    def identifying(self) -> tuple[str, ...]:
        """The columns that identify a row of the operator."""
        return (*self.keys, *(() if self.sessions is None else (self.sessions.column,)))

    @property
    def keys(self) -> Columns:
        """The columns that identify a group: member, and the groups of the query."""
        return {MEMBER: INTEGER, **self.groups}

    @property
    def value_keys(self) -> Columns:
        """The columns that identify a value in a group: which expression it is of, and what it is."""
        return {VALUES: INTEGER, **{of.column: of.type for of in self.counted}} if self.counted else {}

    @property
    def state_keys(self) -> Columns:
        """The columns that identify a row of the state."""
        return {**self.keys, **self.value_keys}

    @property
    def members(self) -> tuple[int, ...]:
        """The member numbers of the fused roots."""
        return tuple(member for member, _ in self.branches[0].readers)

    def read_by(self, readers: Iterable[Readers]) -> GroupedPlan:
        """The plan for fused roots; ``readers``: those of each branch."""
        branches = (replace(b, readers=own) for b, own in zip(self.branches, readers, strict=True))
        return replace(self, branches=tuple(branches))

    def only(self, members: Set[int]) -> GroupedPlan:
        """The plan for some of the fused roots."""
        return self.read_by(tuple(r for r in branch.readers if r[0] in members) for branch in self.branches)

    @property
    def state_columns(self) -> Columns:
        """Columns of the state: keys and parts."""
        return {**self.state_keys, **{part.name: part.type for part in self.state_parts}}

    @property
    def state_parts(self) -> tuple[StatePart | DistinctPart, ...]:
        """All columns of the state beside its keys."""
        return (*self.parts, *self.distinct_parts)


def plan_aggregate(node: Aggregate, produced: Columns, monotone: bool, incremental: bool = True) -> GroupedPlan:
    """The plan of an aggregate node for the statistics that are read.

    Args:
        node: the aggregate.
        produced: the columns its rows must have.
        monotone: whether the parent retracts nothing.
        incremental: whether additive statistics are stored in parts; if not, all are computed anew from the rows of the
            dirty groups (``Options.incremental_aggregates``).
    """
    plain = [group for group in node.groups if not is_session(group)]
    sessions = next((_sessions(group) for group in node.groups if is_session(group)), None)
    groups = {column_name(group): group.type for group in plain}
    direct_groups = {column_name(group): node.direct_group(group) for group in plain}
    parts = {LIVE: rows_part(LIVE)}
    finals: dict[str, Final] = {}
    distinct_parts: dict[str, DistinctPart] = {}
    from_values: dict[str, ValueStatistic] = {}
    from_rows: dict[str, str] = {}
    with_rows = sessions is not None or not incremental or not _needs_no_rows(node, monotone)
    over_nothing: dict[str, str] = {}
    inexact: set[str] = set()
    for statistic in sorted(node.statistics, key=column_name):
        name = column_name(statistic)
        if name not in produced:
            continue
        if statistic.type.kind is Kind.DOUBLE:
            inexact.add(name)
        direct = node.direct_statistic(statistic)
        match _maintained(name, direct, monotone, with_rows) if incremental and sessions is None else None:
            case Additive(own, final):
                parts.update((part.name, part) for part in own)
                finals[name] = final
            case DistinctStatistic(own_parts, final):
                distinct_parts.update((part.name, part) for part in own_parts)
                finals[name] = final
            case ValueStatistic() as statistic_of_values:
                from_values[name] = statistic_of_values
            case None:
                from_rows[name] = holistic(direct)
                if direct.function in OVER_NOTHING:
                    over_nothing[name] = OVER_NOTHING[direct.function]
    branch = GroupedBranch.of(node.direct_columns(produced), direct_groups)
    row_keys = tuple(direct_groups.values()) if from_rows or sessions else ()
    return GroupedPlan(
        groups=groups,
        branches=(branch,),
        parts=tuple(parts.values()),
        finals=finals,
        # Without groups there is one row, also over no input.
        copies=SetOperator.UNION if groups else None,
        holistic=from_rows,
        row_keys=row_keys,
        over_nothing=over_nothing,
        inexact=frozenset(inexact),
        sessions=sessions,
        counted=_counted([*(part.of for part in distinct_parts.values()), *(s.of for s in from_values.values())]),
        distinct_parts=tuple(distinct_parts.values()),
        from_values=from_values,
        calls_functions=any(map(calls_functions, (*node.groups, *(a for s in node.statistics for a in s.arguments)))),
    )


def _maintained(
    name: str, statistic: AggregateCall, monotone: bool, with_rows: bool
) -> Additive | DistinctStatistic | ValueStatistic | None:
    """How a statistic is kept in the state; ``None`` where it is computed from rows.

    Args:
        name: of the statistic.
        statistic: over the parent's columns.
        monotone: whether the parent retracts nothing.
        with_rows: whether the rows of the dirty groups are read anyway: then counting values saves nothing.
    """
    return additive(name, statistic, monotone) or (None if with_rows else by_values(statistic))


def _needs_no_rows(node: Aggregate, monotone: bool) -> bool:
    """Whether every statistic of an aggregate is additive, or follows from counts of values."""
    return all(_maintained("", node.direct_statistic(s), monotone, with_rows=False) for s in node.statistics)


def _counted(values: Iterable[CountedValues]) -> tuple[CountedValues, ...]:
    return tuple({of.column: of for of in sorted(values, key=lambda of: of.column)}.values())


def has_mergeable_state(node: Aggregate, monotone: bool) -> bool:
    """Whether an aggregate has groups, and only statistics that are kept in its state.

    Args:
        node: the aggregate.
        monotone: whether the parent retracts nothing.
    """
    return bool(node.groups) and not any(is_session(group) for group in node.groups) and _needs_no_rows(node, monotone)


def fused_groupings(plans: Sequence[tuple[GroupedPlan, Set[int]]]) -> GroupedPlan:
    """One plan for fused roots that group the same rows differently, and store the same parts of their groups.

    Args:
        plans: each with the member numbers of the roots that run by it.

    Example:
        >>> from workbench.sql.algebra.types import STRING
        >>> def by(name: str) -> GroupedPlan:
        ...     return GroupedPlan({name: STRING}, (GroupedBranch((name,), {name: f"`{name}`"}),), (), {}, None, {})
        >>> plan = fused_groupings([(by("bank"), {1, 2}), (by("account"), {3})])
        >>> plan.branches[0].groups["bank"]
        'CASE WHEN _set IN (0L) THEN `bank` END'
    """
    first = plans[0][0]
    if len(plans) == 1:
        return first
    groups = dict(sorted(item for plan, _ in plans for item in plan.groups.items()))
    sql_of: dict[str, dict[str, set[int]]] = {name: {} for name in groups}
    for number, (plan, _) in enumerate(plans):
        for name, sql in plan.branches[0].groups.items():
            sql_of[name].setdefault(sql, set()).add(number)
    columns = sorted({column for plan, _ in plans for column in plan.branches[0].columns})
    by_grouping = [plan.branches[0].stored for plan, _ in plans]
    stored = tuple(chain.from_iterable(by_grouping)) if all(by_grouping) else ()
    branch = GroupedBranch(tuple(columns), {name: _by_set(sets) for name, sets in sql_of.items()}, stored=stored)
    sets = tuple(frozenset(members) for _, members in plans)
    called = any(plan.calls_functions for plan, _ in plans)
    return replace(first, groups=groups, branches=(branch,), sets=sets, calls_functions=called)


def _by_set(sets_of: Mapping[str, Set[int]]) -> str:
    """SQL of a group column that fused roots compute in different ways, or not at all."""
    cases = [f"WHEN {_is_one_of(GROUPING_SET, sets)} THEN {sql}" for sql, sets in sets_of.items()]
    return f"CASE {' '.join(cases)} END"


def _is_one_of(column: str, numbers: Iterable[int]) -> str:
    return f"{column} IN ({', '.join(f'{number}L' for number in sorted(numbers))})"


def plan_set_operation(node: SetOperation) -> GroupedPlan:
    """The plan of a set operator other than UNION ALL."""
    groups = {f"c{i}": value.type for i, value in enumerate(node.branches[0].values, start=1)}
    branches = tuple(
        GroupedBranch.of(columns_of(values), dict(zip(groups, values, strict=True))) for _, values in node.direct
    )
    parts = tuple(map(_rows_of_branch, range(len(branches))))
    called = any(calls_functions(value) for _, values in node.direct for value in values)
    return GroupedPlan(groups, branches, parts, {}, node.operator, {}, calls_functions=called)


def _sessions(group: Expression) -> Sessions:
    assert isinstance(group, Call)
    time, gap = group.arguments
    assert isinstance(gap, Constant) and isinstance(gap.value, int)
    return Sessions(column_name(group), over_rows(time), gap.value)


def _rows_of_branch(branch: int) -> StatePart:
    value = f"if({BRANCH} = {branch}, {WEIGHT}, 0L)"
    return StatePart(f"_rows{branch}", INTEGER, value, stored=StoredInput(Adds.WEIGHT, branch=branch))
