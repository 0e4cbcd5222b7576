"""What a batch did: rows and seconds for each shared operator, rows for each node."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from workbench.network.nodes import NodeId


class Counts(Mapping[str, int]):
    """Numbers of rows by name. A session keeps those of all batches, so they are kept small, and share their names.

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
    """Where numbers stand, for counts with names in the same order: one object for all of them."""

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

    ``seconds``: of the node alone, in a batch that was profiled; also where its operator has no other node. Elsewhere
    ``None``: a local tree runs as a whole and is timed as one.
    """

    id: NodeId
    rows_in: int
    rows_out: int
    seconds: float | None = None


@dataclass(frozen=True)
class OperatorReport:
    """One shared operator in one batch: the local tree of ``name`` (its root's id).

    ``rows_in``: rows its root produced; ``rows_out``: rows at least one of its nodes kept; ``seconds``: wall time;
    ``alone``: where the batch was profiled, seconds of each node that is read as if nobody wanted the others;
    ``together``: of all of them, measured in the same way.
    """

    name: NodeId
    nodes: tuple[NodeId, ...]
    rows_in: int
    rows_out: int
    seconds: float
    node_rows: Mapping[NodeId, int] = field(default_factory=dict)
    alone: Mapping[NodeId, float] = field(default_factory=dict)
    together: float = 0.0


@dataclass(frozen=True)
class BatchReport:
    """One batch.

    ``rows``: rows that arrived, in all. ``seconds``: wall time of the whole batch. ``operators``: those that had work.
    ``changes``: for each query, rows of its delta. ``arrived``: rows that arrived, by stream. ``late_rows``: how many
    of these came later than the stream allows, and are in no answer.
    """

    batch: int
    rows: int
    seconds: float
    operators: tuple[OperatorReport, ...]
    changes: Mapping[str, int] = field(default_factory=dict)
    arrived: Mapping[str, int] = field(default_factory=dict)
    late_rows: Mapping[str, int] = field(default_factory=dict)

    def node(self, id: NodeId) -> NodeReport:
        """Rows in and out of one node; zeros for a node whose tree had no work.

        Raises:
            KeyError: never; an unknown id has no rows either.
        """
        for operator in self.operators:
            if id in operator.nodes:
                together = operator.seconds if len(operator.nodes) == 1 else None
                seconds = operator.alone.get(id, together)
                return NodeReport(id, operator.rows_in, operator.node_rows.get(id, 0), seconds)
        return NodeReport(id, 0, 0)
