"""What a batch did: rows and seconds for each shared operator, rows for each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.network.nodes import NodeId


@dataclass(frozen=True)
class NodeReport:
    """Rows of one node in one batch. ``seconds`` is ``None``: a local tree runs as a whole and is timed as one."""

    id: NodeId
    rows_in: int
    rows_out: int
    seconds: float | None = None


@dataclass(frozen=True)
class OperatorReport:
    """One shared operator in one batch: the local tree of ``name`` (its root's id).

    ``rows_in``: rows its root produced; ``rows_out``: rows at least one of its nodes kept; ``seconds``: wall time.
    """

    name: NodeId
    nodes: tuple[NodeId, ...]
    rows_in: int
    rows_out: int
    seconds: float
    node_rows: Mapping[NodeId, int] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchReport:
    """One batch.

    ``rows``: rows that arrived, in all. ``seconds``: wall time of the whole batch. ``operators``: those that had work.
    ``changes``: for each query, rows of its delta. ``arrived``: rows that arrived, by stream. ``set_aside``: how many
    of these came later than the stream allows, and are in no answer.
    """

    batch: int
    rows: int
    seconds: float
    operators: tuple[OperatorReport, ...]
    changes: Mapping[str, int] = field(default_factory=dict)
    arrived: Mapping[str, int] = field(default_factory=dict)
    set_aside: Mapping[str, int] = field(default_factory=dict)

    def node(self, id: NodeId) -> NodeReport:
        """Rows in and out of one node; zeros for a node whose tree had no work.

        Raises:
            KeyError: never; an unknown id has no rows either.
        """
        for operator in self.operators:
            if id in operator.nodes:
                own_root = id == operator.name
                return NodeReport(
                    id,
                    operator.rows_in,
                    operator.node_rows.get(id, 0),
                    operator.seconds if own_root and len(operator.nodes) == 1 else None,
                )
        return NodeReport(id, 0, 0)
