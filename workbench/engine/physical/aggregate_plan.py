"""Plans of operators that keep a state for each group: aggregates, DISTINCT, and set operators except UNION ALL.

All are one scheme, for all fused roots at once. A set operator groups by all its columns and counts each branch's
rows; how often a row comes out follows from the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from workbench.engine.physical.accumulators import Additive, Final, StatePart, additive, rows_part
from workbench.engine.physical.moments import Moments
from workbench.engine.physical.row_inputs import (
    RowInput,
    SingleInput,
    calls_among,
    materialized_parts,
    row_input,
    single_inputs,
)
from workbench.engine.physical.stored.calls import StoredCall
from workbench.engine.physical.stored.values import Computed
from workbench.engine.physical.value_statistics import (
    VALUES,
    CountedValues,
    DistinctPart,
    DistinctStatistic,
    ValueStatistic,
    by_values,
)
from workbench.engine.storage.layout import MEMBER, Layout
from workbench.engine.storage.lineage import WORD_BITS
from workbench.engine.storage.scan import Readers
from workbench.network.nodes import Aggregate, Columns, SetOperation, SetOperator, columns_of
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, column_name
from workbench.sql.algebra.types import INTEGER, DataType
from workbench.sql.windows.stream_time import is_session

LIVE = "_rows"
"""The part with the number of a group's rows."""


@dataclass(frozen=True)
class GroupedBranch:
    """One input of a grouped operator.

    Attributes:
        columns: those that are read.
        groupings: for each of them its group columns; others are NULL.
        readers: for each fused root its member number, and the bits of the nodes whose common rows it reads.
    """

    columns: tuple[str, ...]
    groupings: tuple[Mapping[str, RowInput], ...]
    readers: Readers = ()

    @staticmethod
    def of(columns: Iterable[Column], groups: Mapping[str, Expression]) -> GroupedBranch:
        """An input whose rows are grouped by expressions over its columns, by the name of the group column."""
        grouping = {name: row_input(group) for name, group in groups.items()}
        return GroupedBranch(tuple(sorted({column.name for column in columns})), (grouping,))


@dataclass(frozen=True)
class Sessions:
    """Sessions of a group's rows: the column with their starts, the rows' times, and the gap in seconds."""

    column: str
    type: DataType
    time: SingleInput
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
        anew: how groups are computed from all of their rows, where no statistics are kept in parts.
        row_keys: the groups over the parent's columns, where rows of dirty groups are looked up.
        sessions: by what the rows of a group are divided once more.
        sets: the members that group alike, for each grouping; empty where all do.
        counted: the expressions whose values are counted in each group.
        distinct_parts: columns of the state that follow from the values that come into a group or leave it.
        from_values: output columns that are computed from all values of a group.
    """

    groups: Mapping[str, DataType]
    branches: tuple[GroupedBranch, ...]
    parts: tuple[StatePart, ...]
    finals: Mapping[str, Final | Moments]
    copies: SetOperator | None
    anew: GroupedPlan | None = None
    row_keys: tuple[Expression, ...] = ()
    sessions: Sessions | None = None
    sets: tuple[frozenset[int], ...] = ()
    counted: tuple[CountedValues, ...] = ()
    distinct_parts: tuple[DistinctPart, ...] = ()
    from_values: Mapping[str, ValueStatistic] = field(default_factory=dict)

    def readers(self, branch: int) -> tuple[Readers, ...]:
        """For each grouping its readers of a branch."""
        every = self.branches[branch].readers
        return tuple(tuple(r for r in every if r[0] in members) for members in self.sets) or (every,)

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The words of lineage that say which members read a row; none if the only member reads all rows."""
        if self.only_member is not None:
            return ()
        return tuple(
            sorted({bit // WORD_BITS for branch in self.branches for _, bits in branch.readers for bit in bits})
        )

    @cached_property
    def calls(self) -> tuple[StoredCall, ...]:
        """The calls of the analyst's functions over stored columns, each once."""
        return calls_among(chain.from_iterable(map(self.inputs, range(len(self.branches)))))

    def stored(self, branch: int) -> Mapping[str, Expression]:
        """The expressions without kernels, by the column of the branch's rows that has their values."""
        anew = {} if self.anew is None else self.anew.stored(branch)
        return {**anew, **materialized_parts(self.inputs(branch))}

    def columns(self, branch: int) -> tuple[str, ...]:
        """The columns that are read of a branch, by its position."""
        return tuple(sorted({*self.branches[branch].columns, *self.stored(branch)}))

    def inputs(self, branch: int) -> tuple[SingleInput, ...]:
        """The values that are computed from the rows of a branch, by its position; others have not the columns."""
        return self._inputs[branch]

    @cached_property
    def _inputs(self) -> tuple[tuple[SingleInput, ...], ...]:
        """The inputs of every branch."""
        every = [of.value for of in self.counted]
        every += [part.addend.value for part in self.parts if part.addend.value is not None]
        times = [] if self.sessions is None else [self.sessions.time]
        of_branches = (
            [*every, *(value for grouping in branch.groupings for value in grouping.values()), *times]
            for branch in self.branches
        )
        return tuple(tuple(dict.fromkeys(chain.from_iterable(map(single_inputs, own)))) for own in of_branches)

    @cached_property
    def counts(self) -> tuple[str, ...]:
        """The parts with the number of a group's rows of each branch."""
        return tuple(part.name for part in self.parts if part.name.startswith(LIVE))

    @property
    def looks_up_rows(self) -> bool:
        """Whether a batch looks up the operator's own rows of groups that change."""
        return bool(self.from_values) or self.anew is not None

    @cached_property
    def keys(self) -> Columns:
        """The columns that identify a group: member, and the groups of the query."""
        return {MEMBER: INTEGER, **self.groups}

    @cached_property
    def value_keys(self) -> Columns:
        """The columns that identify a value in a group: the number of the expression, and the value."""
        return {VALUES: INTEGER, **{of.column: of.type for of in self.counted}} if self.counted else {}

    @cached_property
    def state_keys(self) -> Columns:
        """The columns that identify a row of the state."""
        return {**self.keys, **self.value_keys}

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The member numbers of the fused roots."""
        return tuple(member for member, _ in self.branches[0].readers)

    @cached_property
    def only_member(self) -> int | None:
        """The number of the only fused root, where there is one."""
        return self.members[0] if len(self.members) == 1 else None

    def read_by(self, readers: Iterable[Readers]) -> GroupedPlan:
        """The plan for fused roots; ``readers``: those of each branch."""
        branches = (replace(b, readers=own) for b, own in zip(self.branches, readers, strict=True))
        return replace(self, branches=tuple(branches))

    def only(self, members: Set[int]) -> GroupedPlan:
        """The plan for some of the fused roots."""
        return self.read_by(tuple(r for r in branch.readers if r[0] in members) for branch in self.branches)

    def groups_of(self, members: Set[int]) -> Set[str]:
        """The columns by which any of some fused roots groups."""
        if not self.sets:
            return self.groups.keys()
        groupings = zip(self.sets, self.branches[0].groupings, strict=True)
        return {name for own, grouping in groupings if own & members for name in grouping}

    @cached_property
    def state_columns(self) -> Columns:
        """Columns of the state: keys and parts."""
        return {**self.state_keys, **{part.name: part.type for part in self.state_parts}}

    @cached_property
    def state_layout(self) -> Layout:
        """How the state is stored."""
        return Layout(self.state_columns)

    @cached_property
    def state_parts(self) -> tuple[StatePart | DistinctPart, ...]:
        """All columns of the state other than its keys."""
        return (*self.parts, *self.distinct_parts)


def plan_aggregate(node: Aggregate, produced: Columns, monotone: bool, incremental: bool = True) -> GroupedPlan:
    """The plan of an aggregate node for the statistics that are read.

    Args:
        node: the aggregate.
        produced: the columns its rows must have.
        monotone: whether the parent retracts nothing.
        incremental: whether statistics are stored; if not, all are computed anew from the rows of the dirty groups
            (``Options.incremental_aggregates``), as those by sessions are.
    """
    plain = [group for group in node.groups if not is_session(group)]
    sessions = next((_sessions(node, group) for group in node.groups if is_session(group)), None)
    groups = {column_name(group): group.type for group in plain}
    direct_groups = {column_name(group): node.direct_group(group) for group in plain}
    parts = {LIVE: rows_part(LIVE)}
    finals: dict[str, Final | Moments] = {}
    distinct_parts: dict[str, DistinctPart] = {}
    from_values: dict[str, ValueStatistic] = {}
    kept = incremental and sessions is None
    for statistic in sorted(node.statistics, key=column_name):
        name = column_name(statistic)
        if name not in produced:
            continue
        direct = node.direct_statistic(statistic)
        # Rows of which all are read are not taken back.
        match additive(name, direct, monotone or not kept) or by_values(direct):
            case Additive(own, final):
                parts.update((part.name, part) for part in own)
                finals[name] = final
            case DistinctStatistic(own_parts, final):
                distinct_parts.update((part.name, part) for part in own_parts)
                finals[name] = final
            case ValueStatistic() as statistic_of_values:
                from_values[name] = statistic_of_values
    branch = GroupedBranch.of(node.direct_columns(produced), direct_groups)
    plan = GroupedPlan(
        groups=groups,
        branches=(branch,),
        parts=tuple(parts.values()),
        finals=finals,
        # Without groups there is one row, also over no input.
        copies=SetOperator.UNION if groups or sessions else None,
        counted=_counted([*(part.of for part in distinct_parts.values()), *(s.of for s in from_values.values())]),
        distinct_parts=tuple(distinct_parts.values()),
        from_values=from_values,
    )
    if kept:
        return plan
    anew = plan if sessions is None else _by_sessions(plan, sessions)
    # What is kept says which groups are dirty.
    return GroupedPlan(groups, (branch,), (rows_part(LIVE),), {}, plan.copies, anew, tuple(direct_groups.values()))


def _by_sessions(plan: GroupedPlan, sessions: Sessions) -> GroupedPlan:
    """The plan for rows that have the starts of their sessions."""
    (branch,), starts = plan.branches, Computed(Column(sessions.column, sessions.type))
    groupings = tuple({**grouping, sessions.column: starts} for grouping in branch.groupings)
    groups = {**plan.groups, sessions.column: sessions.type}
    return replace(plan, groups=groups, branches=(replace(branch, groupings=groupings),), sessions=sessions)


def _counted(values: Iterable[CountedValues]) -> tuple[CountedValues, ...]:
    return tuple({of.column: of for of in sorted(values, key=lambda of: of.column)}.values())


def has_mergeable_state(node: Aggregate) -> bool:
    """Whether an aggregate has groups, and keeps its statistics in its state: all do but those by sessions."""
    return bool(node.groups) and not any(is_session(group) for group in node.groups)


def fused_groupings(plans: Sequence[tuple[GroupedPlan, Set[int]]]) -> GroupedPlan:
    """One plan for fused roots that group the same rows differently, and store the same parts of their groups.

    Args:
        plans: each with the member numbers of the roots that run by it.

    Example:
        >>> from workbench.sql.algebra.types import STRING
        >>> def by(name: str) -> GroupedPlan:
        ...     branch = GroupedBranch.of((), {name: Column(name, STRING)})
        ...     return GroupedPlan({name: STRING}, (branch,), (), {}, None)
        >>> plan = fused_groupings([(by("bank"), {1, 2}), (by("account"), {3})])
        >>> [value.columns for grouping in plan.branches[0].groupings for value in grouping.values()]
        [('bank',), ('account',)]
    """
    first = plans[0][0]
    if len(plans) == 1:
        return first
    groups = dict(sorted(item for plan, _ in plans for item in plan.groups.items()))
    columns = sorted({column for plan, _ in plans for column in plan.branches[0].columns})
    groupings = tuple(chain.from_iterable(plan.branches[0].groupings for plan, _ in plans))
    sets = tuple(frozenset(members) for _, members in plans)
    return replace(first, groups=groups, branches=(GroupedBranch(tuple(columns), groupings),), sets=sets)


def plan_set_operation(node: SetOperation) -> GroupedPlan:
    """The plan of a set operator other than UNION ALL."""
    groups = {f"c{i}": value.type for i, value in enumerate(node.branches[0].values, start=1)}
    branches = tuple(
        GroupedBranch.of(columns_of(values), dict(zip(groups, values, strict=True))) for _, values in node.direct
    )
    parts = tuple(rows_part(f"{LIVE}{branch}", branch) for branch in range(len(branches)))
    return GroupedPlan(groups, branches, parts, {}, node.operator)


def _sessions(node: Aggregate, group: Expression) -> Sessions:
    direct = node.direct_group(group)
    assert isinstance(direct, Call)
    time, gap = direct.arguments
    assert isinstance(gap, Constant) and isinstance(gap.value, int)
    return Sessions(column_name(group), group.type, row_input(time), gap.value)
