"""Invariants of every network, for any sharing of its queries."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from sharing.evaluation import Evaluation, bag, common, read, result
from sharing.expression_values import satisfies
from sharing.small_streams import Row

from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Node, NodeId, Selection, SetOperation, SetOperator, Source
from workbench.network.projection import carried_columns, computed_columns
from workbench.sql.algebra.expressions import Constant, column_name
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
            assert {roots[parent] for parent in node.parents} == {node.read.root}
        case SetOperation() if node.base is None:
            assert [roots[parent] for parent in node.parents] == [b.read.root for b in node.branches]


def check_columns(network: Network, evaluation: Evaluation) -> None:
    """Every node and every answer can be computed from the columns that relations carry, and from no others."""
    computed, carried = evaluation.nodes(network), carried_columns(network)
    made: dict[NodeId, list[Row]] = {}
    for id_, node in network.nodes.items():
        root = network.roots[id_]
        own = computed_columns(network, root, carried[root])
        if isinstance(node, Selection):
            made[id_] = [row for row in made[node.parent] if satisfies((row,), node.predicates)]
        elif isinstance(node, Source):
            made[id_] = cut(computed[id_], own)
        else:
            inputs = [
                cut(common([made[parent] for parent in nodes]), carried[network.roots[nodes[0]]])
                for nodes in node.inputs
            ]
            made[id_] = cut(evaluation.direct(needed(node, own), inputs), own)
        assert bag(made[id_]) == bag(cut(computed[id_], own)), f"{id_} needs columns that are not carried: {node}"
    for name, plan in network.queries.items():
        assert {c.name for c in plan.columns} <= carried[plan.read.root].keys(), f"{name} reads what is not carried"


def cut(rows: Iterable[Row], columns: Iterable[str]) -> list[Row]:
    """Rows with some of their columns."""
    return [{name: row[name] for name in columns} for row in rows]


def needed(node: Node, columns: Container[str]) -> Node:
    """A node that computes only some of its columns."""
    match node:
        case Aggregate():
            return replace(node, statistics=frozenset(s for s in node.statistics if column_name(s) in columns))
        case SetOperation(operator=SetOperator.UNION_ALL):
            kept = [i for i in range(len(node.branches[0].values)) if f"c{i + 1}" in columns]
            # What is not needed is NULL.
            return replace(
                node,
                direct=tuple(
                    (parent, tuple(v if i in kept else Constant(None, v.type) for i, v in enumerate(values)))
                    for parent, values in node.direct
                ),
            )
    return node
