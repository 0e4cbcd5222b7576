"""What must hold of every network, whoever shares what with whom."""

from __future__ import annotations

from collections.abc import Mapping

from sharing.evaluation import Evaluation, bag, read, result, satisfies

from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Selection, SetOperation
from workbench.sql.logical import LogicalQuery


def check(network: Network, evaluation: Evaluation, queries: Mapping[str, LogicalQuery]) -> None:
    """Every node is what it claims to be, and every query answers as if it were alone."""
    assert network.queries.keys() == queries.keys()
    computed = evaluation.nodes(network)
    for id_, node in network.nodes.items():
        assert evaluation.original(node, computed) == bag(computed[id_]), f"{id_} is not what it claims: {node}"
        check_place(network, id_)
    for name, plan in network.queries.items():
        assert {network.roots[id_] for id_ in plan.nodes} == {plan.read.root}
        found = result(plan, computed)
        assert found == evaluation.answer(queries[name]), f"{name} is answered wrongly"
        kept = [row for row in read(plan.read, computed) if satisfies((row,), plan.window)]
        assert len(kept) == found.total() <= len(computed[plan.read.root])


def check_place(network: Network, id_: str) -> None:
    """A node is evaluated from nodes of the trees its very original form names."""
    node, roots = network.nodes[id_], network.roots
    match node:
        case Selection():
            assert roots[node.parent] == node.read.root
        case Join():
            assert (roots[node.left], roots[node.right]) == node.roots
        case Aggregate() if node.finer is None:
            assert roots[node.parent] == node.read.root
        case SetOperation() if node.base is None:
            assert [roots[parent] for parent in node.parents] == [b.read.root for b in node.branches]
