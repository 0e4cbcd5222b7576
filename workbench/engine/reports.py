"""Reports of batches: rows and seconds of each operator, rows of each node, and their totals over several batches."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.storage.counted_tests import CountedTest
from workbench.errors.unknown_attributes import TellsNames
from workbench.network.nodes import NodeId
from workbench.streams.cut import BatchCut


class Counts(Mapping[str, int]):
    """Numbers of rows by name. A session keeps the counts of all batches, so they are compact, and share their names.

    Args:
        places: where the number of each name stands.
        numbers: the numbers; what stands beyond them is 0.

    Example:
        >>> counts = Counts({"a": 1, "b": 3}, [7, 8])
        >>> counts["a"], counts["b"], counts == {"a": 8, "b": 0}
        (8, 0, True)
    """

    __slots__ = ("_numbers", "_places")

    def __init__(self, places: Mapping[str, int], numbers: Iterable[int]) -> None:
        self._places, self._numbers = places, array("q", numbers)

    def __getitem__(self, name: str) -> int:
        place = self._places[name]
        return self._numbers[place] if place < len(self._numbers) else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return repr(dict(self))


class Places:
    """The positions of numbers by name, one object for all counts with the same names in the same order."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Mapping[str, int]] = {}

    def counts(self, numbers: Mapping[str, int]) -> Counts:
        """The same numbers, with names that are shared."""
        names = tuple(numbers)
        places = self._known.setdefault(names, {name: place for place, name in enumerate(names)})
        return Counts(places, numbers.values())


@dataclass(frozen=True)
class NodeReport:
    """Rows of one node in one batch.

    Attributes:
        id: of the node.
        rows_in: rows that the root of its local tree produced.
        rows_out: rows that belong to the node.
        seconds: of the node alone, in a batch that was profiled or where its operator has no other node. Elsewhere its
            share of the operator's time, by what it read, tested and kept (``engine/node_times.py``); ``None`` where
            nothing is known of it: it had no work, or the report was read from a stored session.
        estimated: whether ``seconds`` is such a share.
    """

    id: NodeId
    rows_in: int
    rows_out: int
    seconds: float | None = None
    estimated: bool = False


@dataclass(frozen=True)
class OperatorReport:
    """The rows and the time of one operator in one batch.

    Attributes:
        name: of the operator. It stays the same when queries come and go, as long as any of its roots runs; so it may
            be the id of a root that has left.
        nodes: all of its nodes, roots before their selections.
        rows_in: rows its roots produced.
        rows_out: rows that at least one of its nodes kept.
        seconds: of preparing its job and of its longest task.
        node_rows: rows of each node.
        alone: where the batch was profiled, seconds of each node that is read, as if the others had no readers.
        together: where the batch was profiled, seconds of all of them, measured in the same way.
        tests: those that call functions of the analyst, by what they say.
        here: whether the driver ran it, without a job of Spark (``Limits.rows_stepped_in_process``); ``None`` where
            that is not known, since the report was read from a stored session.
        microseconds: of each node, an estimate that adds up to ``seconds``; nothing where the report was read from a
            stored session.
    """

    name: str
    nodes: tuple[NodeId, ...]
    rows_in: int
    rows_out: int
    seconds: float
    node_rows: Mapping[NodeId, int] = field(default_factory=dict)
    alone: Mapping[NodeId, float] = field(default_factory=dict)
    together: float = 0.0
    tests: Mapping[str, CountedTest] = field(default_factory=dict)
    here: bool | None = field(default=None, compare=False)
    microseconds: Mapping[NodeId, int] = field(default_factory=dict, compare=False)

    @property
    def root(self) -> NodeId:
        """A root that ran in it, from which the operation can be told."""
        return self.nodes[0]


@dataclass(frozen=True)
class BatchReport(TellsNames):
    """The rows, times and changes of one batch.

    Attributes:
        batch: its number.
        rows: rows that arrived, in all.
        seconds: wall time of the whole batch. Operators overlap, so it may be less than the sum of theirs.
        operators: those that had work.
        changes: for each query how many rows of its answer changed: were added, removed, or replaced by others.
        arrived: rows that arrived, by stream.
        late_rows: how many of these came later than the stream allows, and are in no answer.
        cuts: of streams that left rows out, or caught some up: what the batch took of their logs.
    """

    batch: int
    rows: int
    seconds: float
    operators: Sequence[OperatorReport]
    changes: Mapping[str, int] = field(default_factory=dict)
    arrived: Mapping[str, int] = field(default_factory=dict)
    late_rows: Mapping[str, int] = field(default_factory=dict)
    cuts: Mapping[str, BatchCut] = field(default_factory=dict)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The text in a cell that ends with it; IPython calls it. ``repr`` has all."""
        changed = ", ".join(f"{name} {rows:,}" for name, rows in self.changes.items() if rows)
        printer.text(
            f"batch {self.batch}: {self.rows:,} rows in {self.seconds:.2f} s; changed rows: {changed or 'none'}"
        )

    @property
    def taken(self) -> Mapping[str, int | BatchCut]:
        """The rows that the batch took of each stream, so that it can be run again."""
        return {**self.arrived, **self.cuts}

    def operator_of(self, node: NodeId) -> OperatorReport | None:
        """The operator that computed a node; ``None`` where it had no work."""
        return next((operator for operator in self.operators if node in operator.nodes), None)

    def node(self, id: NodeId) -> NodeReport:
        """Rows in and out of one node; zeros for a node whose operator had no work, or that is unknown."""
        operator = self.operator_of(id)
        if operator is None:
            return NodeReport(id, 0, 0)
        rows = operator.rows_in, operator.node_rows.get(id, 0)
        if id in operator.alone:
            return NodeReport(id, *rows, operator.alone[id])
        if len(operator.nodes) == 1:
            return NodeReport(id, *rows, operator.seconds)
        if id not in operator.microseconds:
            return NodeReport(id, *rows)
        return NodeReport(id, *rows, operator.microseconds[id] / 1e6, estimated=True)


def ticket_shares(reports: Sequence[BatchReport]) -> dict[str, list[float]]:
    """The share of the tickets that each test that calls functions has in each batch (CACQ Figure 9).

    Example:
        >>> tests = {"SLOW(id)": CountedTest(10, 3, 10, 0.1), "QUICK(id)": CountedTest(100, 90, 100, 0.1)}
        >>> operator = OperatorReport("F", ("F",), 100, 7, 0.2, tests=tests)
        >>> {test: [round(share, 2) for share in shares] for test, shares in ticket_shares(
        ...     [BatchReport(1, 100, 0.3, ()), BatchReport(2, 100, 0.3, (operator,))]).items()}
        {'SLOW(id)': [0.0, 0.03], 'QUICK(id)': [0.0, 0.97]}
    """
    tickets: dict[str, list[float]] = {}
    for place, report in enumerate(reports):
        for operator in report.operators:
            for test, made in operator.tests.items():
                tickets.setdefault(test, [0.0] * len(reports))[place] += made.tickets
    whole = [sum(column) or 1.0 for column in zip(*tickets.values(), strict=True)]
    return {test: [own / all_ for own, all_ in zip(series, whole, strict=True)] for test, series in tickets.items()}


@dataclass(frozen=True)
class OperatorTotals:
    """One operator over several batches.

    Attributes:
        last: its report in the last batch in which it had work.
        rows_in, rows_out, seconds: as in ``OperatorReport``, added up.
        share: of the seconds of all operators.
        series: its seconds in every batch, 0 where it had no work.
    """

    last: OperatorReport
    rows_in: int
    rows_out: int
    seconds: float
    share: float
    series: tuple[float, ...]


def operator_totals(reports: Sequence[BatchReport]) -> list[OperatorTotals]:
    """The operators of some batches, the slowest first.

    Example:
        >>> filters, join = OperatorReport("F", ("F",), 9, 4, 0.25), OperatorReport("J", ("J",), 4, 1, 0.75)
        >>> batch = BatchReport(1, 9, 0.9, (filters, join))
        >>> [(total.last.name, total.share) for total in operator_totals([batch])]
        [('J', 0.75), ('F', 0.25)]
    """
    by_name: dict[str, dict[int, OperatorReport]] = {}
    for position, report in enumerate(reports):
        for operator in report.operators:
            by_name.setdefault(operator.name, {})[position] = operator
    whole = sum(operator.seconds for report in reports for operator in report.operators) or 1
    totals = []
    for own in by_name.values():
        seconds = sum(operator.seconds for operator in own.values())
        totals.append(
            OperatorTotals(
                last=own[max(own)],
                rows_in=sum(operator.rows_in for operator in own.values()),
                rows_out=sum(operator.rows_out for operator in own.values()),
                seconds=seconds,
                share=seconds / whole,
                series=tuple(own[at].seconds if at in own else 0.0 for at in range(len(reports))),
            )
        )
    return sorted(totals, key=lambda total: -total.seconds)
