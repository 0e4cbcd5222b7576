"""Which roots one shared operator computes: siblings share a pass (the shared aggregates of CACQ's lineage).

Hundreds of queries ask for groups of different selections of one operator's rows. Each is a node, and one Spark job a
node would be the end of sharing. So roots that keep the same of groups of one operator's rows run as one operator, a
**family**: a row of the parent takes part once for each member whose node it belongs to, and the member is one more
column of the group. A family is one relation, one state and one or two jobs, however many members it has.

What is kept in parts (``statistics``) may be of different groups, as with GROUPING SETS: a column by which a member
does not group is NULL in its rows. What is computed anew from the rows of a group is looked up by the group's columns,
so there all members group by the same.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Node, NodeId, SetOperation, SetOperator
from workbench.sql.algebra.expressions import identity

Form = tuple[str, ...]


def member(root: NodeId) -> int:
    """What tells the rows of a member of a family from those of the others.

    Example:
        >>> member("G0000002a")
        42
    """
    return int(root[1:], 16)


def families(
    network: Network, before: Mapping[NodeId, str], in_parts: Container[NodeId]
) -> dict[str, tuple[NodeId, ...]]:
    """The roots that each operator computes, by its name; those it reads come before it.

    An operator keeps its name as long as somebody in it asks for what they did. Who comes to ask for something else,
    while others do not, leaves for an operator of another name.

    Args:
        network: what is to run.
        before: for the roots that ran, the name of the operator they ran in.
        in_parts: aggregates that keep all of their statistics in parts, and have groups.
    """
    names: dict[NodeId, str] = {}
    forms: dict[str, Form] = {}
    """What each operator that has a name asks for."""
    found: dict[tuple[Form, str | None], str] = {}
    """The operator that others of the same form, and from the same operator before, have joined."""
    depths: dict[NodeId, int] = {}
    for root in network.trees:
        parents = (network.roots[parent] for parent in network.nodes[root].parents)
        depths[root] = max((depths[parent] + 1 for parent in parents), default=0)
    # Of roots that may be siblings, those that ran come first: the others join them.
    for root in sorted(network.trees, key=lambda root: (depths[root], root not in before)):
        node = network.nodes[root]
        form = _form(node, [names[network.roots[parent]] for parent in node.parents], root in in_parts)
        was = before.get(root)
        if was is not None and forms.get(was, form) == form:
            name = was
        else:
            known = found.get((form, was)) or (found.get((form, None)) if was is None else None)
            name = known or _free(root, {*forms, *before.values()})
        names[root] = name
        forms[name] = form
        found[form, was] = name
        found.setdefault((form, None), name)
    grouped: dict[str, list[NodeId]] = {}
    for root, name in names.items():
        grouped.setdefault(name, []).append(root)
    return {name: tuple(roots) for name, roots in grouped.items()}


def _form(node: Node, parents: list[str], in_parts: bool) -> Form:
    """What siblings have in common, given the operators they read."""
    match node:
        case Aggregate():
            statistics = sorted(f"{identity(s)} = {identity(node.direct_statistic(s))}" for s in node.statistics)
            if in_parts:
                return ("parts", *parents, "with", *statistics)
            groups = [f"{identity(group)} = {identity(node.direct_group(group))}" for group in node.groups]
            return ("aggregate", *parents, *groups, "with", *statistics)
        case SetOperation() if node.operator is not SetOperator.UNION_ALL:
            branches = [",".join(map(identity, values)) for _, values in node.direct]
            return (str(node.operator), *parents, *branches)
        case _:
            return (node.id,)


def _free(root: NodeId, taken: set[str]) -> str:
    """A name for an operator: the root's, unless another has it, which this root has left."""
    names = (root, *(f"{root}x{i}" for i in range(1, len(taken) + 1)))
    return next(name for name in names if name not in taken)
