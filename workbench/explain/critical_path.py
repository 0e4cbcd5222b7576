"""The critical path of a batch: the chain of operators, each reading the one before, that took longest.

Operators overlap, so their seconds add up to more than the batch took. What would make a batch shorter is on this path.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.engine.reports import BatchReport, OperatorReport
from workbench.explain.node_view import NodeView


def critical_path(report: BatchReport, nodes: Iterable[NodeView]) -> list[OperatorReport]:
    """The operators of the longest chain, the first one first.

    Args:
        report: of the batch.
        nodes: of the network, parents before children.

    Example:
        >>> flights = NodeView("F", "source", "source", 0, "F", (), ("q",), "", ())
        >>> late = NodeView("S", "selection", "selection", 0, "F", ("F",), ("q",), "", ())
        >>> total = NodeView("G", "aggregate", "aggregate", 0, "G", ("S",), ("q",), "", ())
        >>> operators = OperatorReport("F", ("F", "S"), 9, 4, 0.25), OperatorReport("G", ("G",), 4, 1, 0.5)
        >>> [operator.name for operator in critical_path(BatchReport(1, 9, 0.8, operators), [flights, late, total])]
        ['F', 'G']
    """
    of_node = {id_: operator for operator in report.operators for id_ in operator.nodes}
    inputs: dict[str, dict[str, OperatorReport]] = {}
    order: dict[str, OperatorReport] = {}
    for node in nodes:
        if (own := of_node.get(node.id)) is None:
            continue
        order.setdefault(own.name, own)
        read = (of_node[parent] for parent in node.parents if parent in of_node)
        inputs.setdefault(own.name, {}).update({other.name: other for other in read if other is not own})
    paths: dict[str, tuple[float, list[OperatorReport]]] = {}

    def path(operator: OperatorReport) -> tuple[float, list[OperatorReport]]:
        if operator.name not in paths:
            paths[operator.name] = operator.seconds, [operator]
            before = max((path(other) for other in inputs[operator.name].values()), key=_seconds, default=(0.0, []))
            paths[operator.name] = operator.seconds + before[0], [*before[1], operator]
        return paths[operator.name]

    return max(map(path, order.values()), key=_seconds, default=(0.0, []))[1]


def _seconds(path: tuple[float, list[OperatorReport]]) -> float:
    return path[0]
