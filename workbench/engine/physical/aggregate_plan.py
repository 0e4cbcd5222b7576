"""What an operator keeps for each group of rows: aggregates, DISTINCT, and set operators except UNION ALL.

All are one scheme (``grouped``), for all members of a family of siblings at once. A set operator groups by all its
columns and counts each branch's rows; how often a row comes out follows from the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from workbench.engine.physical.accumulators import OVER_NOTHING, Additive, Part, additive, holistic, over_rows
from workbench.engine.storage.layout import MEMBER, WEIGHT
from workbench.network.nodes import Aggregate, SetOperation, SetOperator
from workbench.network.projection import Columns, columns_of, read_by_aggregate
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, column_name
from workbench.sql.algebra.types import INTEGER, DataType, Kind
from workbench.sql.windows.stream_time import is_session

LIVE = "_rows"
"""Part: how many rows a group has."""


@dataclass(frozen=True)
class Branch:
    """One input: the columns that are read of it, the SQL of each group column over them, and who reads it.

    ``readers``: for each member the bit of the node that it reads.
    """

    columns: tuple[str, ...]
    groups: Mapping[str, str]
    readers: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Sessions:
    """Sessions of a group's rows: the column with their starts, the SQL of the rows' times, and the gap in seconds."""

    column: str
    time: str
    gap: int


@dataclass(frozen=True)
class GroupedPlan:
    """How a grouped operator runs.

    ``groups``: group columns and types. ``parts``: stored columns of the state. ``finals``: output columns as SQL over
    merged parts. ``weight``: how often a group's row comes out, as SQL over merged parts. ``holistic``: output columns
    as Spark aggregates over the touched groups' rows. ``row_keys``: where there are such, the groups over the parent's
    columns, by which its rows are looked up. ``sessions``: by what the rows of a group are taken apart once more.
    """

    groups: Mapping[str, DataType]
    branches: tuple[Branch, ...]
    parts: tuple[Part, ...]
    finals: Mapping[str, str]
    weight: str
    holistic: Mapping[str, str]
    row_keys: tuple[Expression, ...] = ()
    over_nothing: Mapping[str, str] = field(default_factory=dict)
    """Of output columns that are computed from rows the value over no rows, where that is not NULL."""
    inexact: frozenset[str] = frozenset()
    """Output columns of type DOUBLE, whose value depends on the order of the rows they were computed from."""
    sessions: Sessions | None = None

    @property
    def reads_rows(self) -> bool:
        """Whether something is computed from the rows of the touched groups."""
        return bool(self.holistic) or self.sessions is not None

    @property
    def identifying(self) -> tuple[str, ...]:
        """The columns by which the operator's rows differ."""
        return (*self.keys, *(() if self.sessions is None else (self.sessions.column,)))

    @property
    def keys(self) -> Columns:
        """What tells one row of the state from another: whose it is, and its group."""
        return {MEMBER: INTEGER, **self.groups}

    @property
    def members(self) -> tuple[int, ...]:
        """Who is in the family."""
        return tuple(member for member, _ in self.branches[0].readers)

    def read_by(self, readers: Iterable[tuple[tuple[int, int], ...]]) -> GroupedPlan:
        """The plan for a family; ``readers``: for each branch who reads it."""
        branches = (replace(b, readers=own) for b, own in zip(self.branches, readers, strict=True))
        return replace(self, branches=tuple(branches))

    def only(self, members: Set[int]) -> GroupedPlan:
        """The plan for some of the members."""
        return self.read_by(tuple(r for r in branch.readers if r[0] in members) for branch in self.branches)

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
    plain = [group for group in node.groups if not is_session(group)]
    sessions = next((_sessions(group) for group in node.groups if is_session(group)), None)
    groups = {column_name(group): group.type for group in plain}
    sql = {column_name(group): over_rows(node.direct_group(group)) for group in plain}
    parts = {LIVE: Part(LIVE, INTEGER, f"sum({WEIGHT})", f"sum({LIVE})")}
    finals: dict[str, str] = {}
    from_rows: dict[str, str] = {}
    over_nothing: dict[str, str] = {}
    inexact: set[str] = set()
    for statistic in sorted(node.statistics, key=column_name):
        name = column_name(statistic)
        if name not in made:
            continue
        if statistic.type.kind is Kind.DOUBLE:
            inexact.add(name)
        direct = node.direct_statistic(statistic)
        match additive(name, direct, monotone) if incremental and sessions is None else None:
            case Additive(own, final):
                parts.update((part.name, part) for part in own)
                finals[name] = final
            case None:
                from_rows[name] = holistic(direct)
                if direct.function in OVER_NOTHING:
                    over_nothing[name] = OVER_NOTHING[direct.function]
    # Without groups there is one row, also over no input.
    weight = f"if(coalesce({LIVE}, 0L) > 0, 1L, 0L)" if groups else "1L"
    branch = Branch(_names(read_by_aggregate(node, made)), sql)
    row_keys = tuple(map(node.direct_group, plain)) if from_rows or sessions else ()
    about = (from_rows, row_keys, over_nothing, frozenset(inexact), sessions)
    return GroupedPlan(groups, (branch,), tuple(parts.values()), finals, weight, *about)


def keeps_parts(node: Aggregate, monotone: bool) -> bool:
    """Whether an aggregate has groups and keeps all of its statistics in parts.

    Args:
        node: the aggregate.
        monotone: whether the parent retracts nothing.
    """
    return (
        bool(node.groups)
        and not any(is_session(group) for group in node.groups)
        and all(additive("", node.direct_statistic(statistic), monotone) for statistic in node.statistics)
    )


def together(plans: Sequence[tuple[GroupedPlan, Set[int]]]) -> GroupedPlan:
    """One plan for members that group the same rows differently, and keep the same of their groups.

    Args:
        plans: with the members that run by each.

    Example:
        >>> from workbench.sql.algebra.types import STRING
        >>> def by(name: str) -> GroupedPlan:
        ...     return GroupedPlan({name: STRING}, (Branch((name,), {name: f"`{name}`"}),), (), {}, "1L", {})
        >>> plan = together([(by("bank"), {1, 2}), (by("account"), {3})])
        >>> plan.branches[0].groups["bank"]
        'CASE WHEN _member IN (1L, 2L) THEN `bank` END'
    """
    first = plans[0][0]
    if len(plans) == 1:
        return first
    groups = dict(sorted(item for plan, _ in plans for item in plan.groups.items()))
    asking: dict[str, dict[str, set[int]]] = {name: {} for name in groups}
    for plan, members in plans:
        for name, sql in plan.branches[0].groups.items():
            asking[name].setdefault(sql, set()).update(members)
    columns = sorted({column for plan, _ in plans for column in plan.branches[0].columns})
    branch = Branch(tuple(columns), {name: _for_those(asked) for name, asked in asking.items()})
    return replace(first, groups=groups, branches=(branch,))


def _for_those(asked: Mapping[str, Set[int]]) -> str:
    """SQL of a group column that members compute in different ways, or not at all."""
    cases = [f"WHEN {whose(members)} THEN {sql}" for sql, members in asked.items()]
    return f"CASE {' '.join(cases)} END"


def whose(members: Iterable[int]) -> str:
    """SQL: a row is of one of some members."""
    return f"{MEMBER} IN ({', '.join(f'{member}L' for member in sorted(members))})"


def plan_set_operation(node: SetOperation) -> GroupedPlan:
    """The plan of a set operator other than UNION ALL."""
    groups = {f"c{i}": value.type for i, value in enumerate(node.branches[0].values, start=1)}
    branches = tuple(
        Branch(_names(columns_of(values)), {f"c{i}": over_rows(value) for i, value in enumerate(values, start=1)})
        for _, values in node.direct
    )
    parts = tuple(
        Part(f"_rows{i}", INTEGER, f"sum(if(_branch = {i}, {WEIGHT}, 0L))", f"sum(_rows{i})")
        for i in range(len(branches))
    )
    return GroupedPlan(groups, branches, parts, {}, _set_weight(node.operator, len(branches)), {})


def _sessions(group: Expression) -> Sessions:
    assert isinstance(group, Call)
    time, gap = group.arguments
    assert isinstance(gap, Constant) and isinstance(gap.value, int)
    return Sessions(column_name(group), over_rows(time), gap.value)


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


def _names(read: Iterable[Column]) -> tuple[str, ...]:
    return tuple(sorted({column.name for column in read}))
