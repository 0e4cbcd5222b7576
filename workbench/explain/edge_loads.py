"""What passed along the edges of a network in a batch: rows and bytes, what time they took, and how long they waited.

An operator begins when all of its inputs are there, so an earlier input waits for the last one: the edges that wait are
not those which make a batch long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from workbench.engine.reports import BatchReport
from workbench.explain.node_view import NodeView
from workbench.network.nodes import NodeId

TEXT_BYTES = 16
"""The bytes of a value whose type does not say them, as texts are in most tables."""
_BYTES = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INTEGER": 4, "INT": 4, "FLOAT": 4, "DATE": 4, "BIGINT": 8,
          "DOUBLE": 8, "TIMESTAMP": 8}  # fmt: skip


class EdgeLoad(NamedTuple):
    """What passed along an edge.

    Attributes:
        rows: that the node before had.
        seconds: of the time of the node that reads them its part by rows, an estimate.
        waited: seconds from when they were there until the last input of their operator was, an estimate.
        bytes: of these rows by the types of their columns, an estimate.
    """

    rows: int
    seconds: float
    waited: float
    bytes: int


def row_bytes(types: Iterable[str]) -> int:
    """The bytes of a row by the types of its columns.

    Example:
        >>> row_bytes(["BIGINT", "STRING", "DECIMAL(12,2)"])
        40
    """
    return sum(_BYTES.get(type_.upper(), TEXT_BYTES) for type_ in types)


def edge_loads(
    report: BatchReport, nodes: Iterable[NodeView], widths: Mapping[NodeId, int]
) -> dict[tuple[NodeId, NodeId], EdgeLoad]:
    """The load of each edge, by the ids of its parent and its child.

    Args:
        report: of the batch.
        nodes: of the network, parents before children.
        widths: the bytes of a row of each node.

    Example:
        >>> from workbench.engine.reports import OperatorReport
        >>> big, few, join = (
        ...     NodeView(id_, kind, kind, 0, id_, parents, ("q",), "", ())
        ...     for id_, kind, parents in (("B", "source", ()), ("F", "source", ()), ("J", "join", ("B", "F")))
        ... )
        >>> operators = [OperatorReport(id_, (id_,), 0, 0, seconds, {id_: rows})
        ...              for id_, seconds, rows in (("B", 0.25, 30), ("F", 0.125, 10), ("J", 0.5, 5))]
        >>> loads = edge_loads(BatchReport(1, 40, 1.0, operators), [big, few, join], {"B": 8, "F": 16})
        >>> loads["B", "J"], loads["F", "J"].waited
        (EdgeLoad(rows=30, seconds=0.375, waited=0.0, bytes=240), 0.125)
    """
    of_node = {id_: operator for operator in report.operators for id_ in operator.nodes}
    rows = {id_: count for operator in report.operators for id_, count in operator.node_rows.items()}
    ended: dict[NodeId, float] = {}
    loads: dict[tuple[NodeId, NodeId], EdgeLoad] = {}
    for node in nodes:
        if (own := of_node.get(node.id)) is None:
            continue
        begun = max((ended.get(parent, 0.0) for parent in node.parents if of_node.get(parent) is not own), default=0.0)
        inside = any(of_node.get(parent) is own for parent in node.parents)
        ended[node.id] = ended.get(node.parents[0], 0.0) if inside else begun + own.seconds
        seconds = own.microseconds[node.id] / 1e6 if node.id in own.microseconds else own.seconds / len(own.nodes)
        read = {parent: rows.get(parent, 0) for parent in node.parents}
        whole = sum(read.values())
        for parent, count in read.items():
            part = seconds * count / whole if whole else 0.0
            waited = 0.0 if inside else begun - ended.get(parent, 0.0)
            loads[parent, node.id] = EdgeLoad(count, part, waited, count * widths.get(parent, 0))
    return loads
