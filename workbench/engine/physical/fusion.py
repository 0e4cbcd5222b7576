"""Operator fusion: which roots run as one operator.

Hundreds of queries ask for groups of different selections of one operator's rows. Each aggregate is a node of its own,
and one Spark job a node would be the end of sharing. So roots that compute the same of groups of one operator's rows
are *fused*: a row of the parent takes part once for each fused root whose input it belongs to, and the root's number
(``member``) is one more column of the group. However many roots are fused, they have one relation, one state and one
or two jobs (as the shared aggregates of CACQ's lineage).

Statistics that are merged from stored parts (``accumulators``) may be of different groups, as with GROUPING SETS: a
column by which a root does not group is NULL in its rows. Statistics that are computed anew from the rows of a group
look these up by the group's columns, so there all fused roots must group by the same.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Node, NodeId, Recursion, SetOperation, SetOperator
from workbench.sql.algebra.expressions import identity
from workbench.sql.functions.aggregate_rules import EXACT_SUM

Form = tuple[str, ...]
"""The common form of fused roots."""


def member(root: NodeId) -> int:
    """The number that identifies the rows of a fused root among the rows of all.

    Example:
        >>> member("G0000002a")
        42
    """
    return int(root[1:], 16)


def fused_operators(
    network: Network, before: Mapping[NodeId, str], mergeable: Container[NodeId]
) -> dict[str, tuple[NodeId, ...]]:
    """The roots that each operator computes, by its name; an operator comes after those it reads.

    An operator keeps its name as long as one of its roots asks for what it computed before. A root that comes to ask
    for something else, while others do not, leaves for an operator of another name.

    Args:
        network: what is to run.
        before: for the roots that ran, the name of the operator they ran in.
        mergeable: the aggregates that have groups, and only statistics that are merged from stored parts.
    """
    name_of: dict[NodeId, str] = {}
    form_of: dict[str, Form] = {}
    joinable: dict[tuple[Form, str | None], str] = {}
    """The operator for more roots of a form that ran in the same operator before."""
    depths: dict[NodeId, int] = {}
    for root in network.trees:
        parents = (network.roots[parent] for parent in network.nodes[root].parents)
        depths[root] = max((depths[parent] + 1 for parent in parents), default=0)
    # Of the roots of one depth those that ran come first: the others join them, instead of the other way round.
    for root in sorted(network.trees, key=lambda root: (depths[root], root not in before)):
        node = network.nodes[root]
        form = _form(node, [name_of[network.roots[read[0]]] for read in node.inputs], root in mergeable)
        old = before.get(root)
        if old is not None and form_of.get(old, form) == form:
            name = old
        else:
            known = joinable.get((form, old)) or (joinable.get((form, None)) if old is None else None)
            name = known or _free_name(root, {*form_of, *before.values()})
        name_of[root] = name
        form_of[name] = form
        joinable[form, old] = name
        joinable.setdefault((form, None), name)
    operators: dict[str, list[NodeId]] = {}
    for root, name in name_of.items():
        operators.setdefault(name, []).append(root)
    return {name: tuple(roots) for name, roots in operators.items()}


def roll_ups_from_rows(network: Network, mergeable: Container[NodeId]) -> Network:
    """The network as it runs: a roll-up reads the rows of its finer aggregate, where the two can be fused.

    Vertical expansion (T7.1.1) computes groups from finer groups, since these are fewer than the rows. On Spark a small
    job costs more than its rows do: fused, one job reads the rows once and groups them twice. The network that is shown
    still has the roll-up above the finer aggregate.

    Args:
        network: as it was planned.
        mergeable: the aggregates that have groups, and only statistics that are merged from stored parts.
    """
    nodes: dict[NodeId, Node] = {}
    for id_, node in network.nodes.items():
        nodes[id_] = node
        if isinstance(node, Aggregate) and node.finer is not None and id_ in mergeable:
            finer = nodes[node.parents[0]]
            assert isinstance(finer, Aggregate)
            # What only a roll-up reads needs not be made.
            if finer.id in mergeable and all(s.function == EXACT_SUM for s in finer.statistics ^ node.statistics):
                nodes[id_] = replace(
                    node, parents=finer.parents, finer=finer.finer, statistics=node.statistics | finer.statistics
                )
    return replace(network, nodes=nodes)


def _form(node: Node, parents: list[str], mergeable: bool) -> Form:
    """What fused roots have in common, given the operators they read; the id of a root that is never fused."""
    match node:
        case Aggregate():
            statistics = sorted(f"{identity(s)} = {identity(node.direct_statistic(s))}" for s in node.statistics)
            if mergeable:
                return ("mergeable", *parents, "with", *statistics)
            groups = [f"{identity(group)} = {identity(node.direct_group(group))}" for group in node.groups]
            return ("aggregate", *parents, *groups, "with", *statistics)
        case Recursion():
            return (node.id,)
        case SetOperation() if node.operator is not SetOperator.UNION_ALL:
            branches = [",".join(map(identity, values)) for _, values in node.direct]
            return (str(node.operator), *parents, *branches)
        case _:
            return (node.id,)


def _free_name(root: NodeId, taken: set[str]) -> str:
    """A name for an operator: the root's id, unless an operator that the root has left has it."""
    names = (root, *(f"{root}x{i}" for i in range(1, len(taken) + 1)))
    return next(name for name in names if name not in taken)
