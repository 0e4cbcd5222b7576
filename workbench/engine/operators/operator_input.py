"""The input of an operator in one batch: the rows of its parents before the batch, the change, and the rows after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from workbench.engine.operators.side_steps import SideStep
from workbench.engine.physical.plans import TreePlan
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.job_input import InputRows
from workbench.engine.storage.relation import NO_CHANGE, Delta, Relation
from workbench.engine.storage.segments import Segment
from workbench.sql.windows.stream_time import EventTimeVector


@dataclass(frozen=True)
class ParentRows:
    """The rows of one tree that an operator reads, distinguished from the tree's other rows by their bits.

    Rows have the layout of the relation.

    Attributes:
        relation: its rows before the batch.
        delta: its change in the batch.
        positions: where ``Delta.counts`` has the numbers of rows that are read: of a single node that is its bit.
        hydrating: whether all rows of the relation are the change, and nothing was before.
    """

    relation: Relation
    delta: Delta
    positions: tuple[int, ...]
    hydrating: bool = False

    @property
    def bit(self) -> int:
        """The bit of the only node that is read."""
        (bit,) = self.positions
        return bit

    @cached_property
    def changed_rows(self) -> int:
        """Rows of the change, each once for each time it is read; an upper bound when hydrating."""
        return self.relation.rows if self.hydrating else sum(map(self.delta.count, self.positions))

    @cached_property
    def stored_changes(self) -> int:
        """Rows of the tree's change, each once however many nodes it belongs to."""
        return self.relation.rows if self.hydrating else self.delta.rows

    @cached_property
    def segments(self) -> InputRows:
        """The change and the rows before it as segments, which also have rows of the tree's other nodes."""
        if self.hydrating:
            return InputRows(self.relation.segments)
        return InputRows(self.delta.segments if self.changed_rows else (), self.relation.segments)


@dataclass(frozen=True)
class OperatorInput:
    """The input of a tree's operator in one batch.

    Attributes:
        plan: the tree's plan.
        parents: the rows that the root reads; of fused operators those that any of them reads.
        batch: the number of the batch.
        time: the event times after the batch.
        time_before: those before it; ``None`` while the tree is hydrated, from all rows of its parents.
        relation: the tree's rows before the batch; ``None`` while it is hydrated.
        state: the state of its root before the batch, where it has one.
        hydrated_here: whether this process is to hydrate it (``Runner.is_small``).
        read_as_logged: whether the tasks that logged the rows have the change that is read, and may go on with it.
    """

    plan: TreePlan
    parents: tuple[ParentRows, ...]
    batch: int
    time: EventTimeVector
    time_before: EventTimeVector | None = None
    relation: Relation | None = None
    state: Relation | None = None
    hydrated_here: bool = False
    read_as_logged: bool = False

    @cached_property
    def changed_rows(self) -> int:
        """The number of changed rows of all parents."""
        return sum(rows.changed_rows for rows in self.parents)

    @cached_property
    def stored_changes(self) -> int:
        """The number of rows in the changes of the trees that are read; a row of several nodes counts once."""
        return sum(rows.stored_changes for rows in self.parents)

    @property
    def kept(self) -> list[Relation]:
        """The rows that the operator itself has stored, in which it looks up the dirty groups."""
        return [relation for relation in (self.relation, self.state) if relation is not None]

    @property
    def changed_segments(self) -> Iterator[Segment]:
        """The changes of the trees that are read."""
        return (segment for rows in self.parents for segment in rows.segments.change)

    @property
    def segments(self) -> tuple[InputRows, ...]:
        """The parents' rows as segments, for a job's input."""
        return tuple(rows.segments for rows in self.parents)


@dataclass(frozen=True)
class Exchange:
    """What tasks do of an operator before its job, which follows from their answers.

    Attributes:
        step: writes the rows of each part of the keys.
        then: the operator, ready to be run, from the answers of the step's tasks in the order of these.
    """

    step: SideStep
    then: Callable[[list[Any]], Prepared]


@dataclass(frozen=True)
class Prepared:
    """An operator that is ready to be run.

    Attributes:
        job: ``None`` where nothing is left to be done; the exchange comes first where there is one.
        rows: the change of the tree's rows, where no job is needed.
        small: whether the change of what it reads is small enough for this process (``Runner.is_small``).
        by_threads: whether it is small enough for a thread beside others.
    """

    job: Job | Exchange | None
    rows: Delta = NO_CHANGE
    small: bool = False
    by_threads: bool = False

    def deltas(self, delta: Delta | None) -> tuple[Delta, Delta]:
        """The change of the tree's rows, and of its state, from what the job gave, if there was one."""
        delta = self.rows if delta is None else delta
        if not delta.state_segments:
            return delta, NO_CHANGE
        return replace(delta, state_segments=()), Delta(delta.state_segments)
