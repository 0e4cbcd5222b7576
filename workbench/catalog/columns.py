"""Where the columns of every node come from (column indexing, T8.1, Figures 8.3 to 8.8).

A column is a *simple* projection of another, or an *expression*. Each is told in two forms, as topology is: over the
direct parent, and over the very original ancestor, a root. Which columns a node carries depends on all its readers
(``workbench.network.projection``), so the maps are made anew when the network has changed, and not node by node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.catalog.database import Database
from workbench.catalog.node_rows import group_id
from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Branch,
    Join,
    Node,
    NodeId,
    Recursion,
    Selection,
    SetOperation,
    Source,
    Window,
)
from workbench.sql.algebra.expressions import AggregateCall, Column, Expression, column_name, text
from workbench.sql.algebra.types import DataType

Carried = Mapping[NodeId, Mapping[str, DataType]]
ColumnRow = tuple[object, ...]
_TABLES = ("simple_columns", "expression_columns")


def refresh(database: Database, network: Network, carried: Carried) -> None:
    """Replace both column maps by the maps of a network whose roots carry the given columns."""
    forget(database)
    for id_, node in network.nodes.items():
        types = carried[network.roots[id_]]
        database.insert("simple_columns", simple_columns(network, node, types))
        database.insert("expression_columns", expression_columns(network, node, types))


def forget(database: Database, id_: NodeId | None = None) -> None:
    """Remove the columns of one node, or of all."""
    for table in _TABLES:
        database.run(f"DELETE FROM {table}" + ("" if id_ is None else " WHERE node = ?"), () if id_ is None else (id_,))


def simple_columns(network: Network, node: Node, types: Mapping[str, DataType]) -> Iterator[ColumnRow]:
    """Rows of the columns that are carried along as they are."""
    match node:
        case Source():
            for name, type_ in types.items():
                yield (node.id, name, 0, str(type_), None, None, None, None, None, None)
        case Selection() | Window():
            root = network.nodes[node.read.root]
            for name, type_ in types.items():
                above = (root.carried(name) if isinstance(root, Join) else None) or (None, None)
                yield (node.id, name, 0, str(type_), node.parent, name, node.read.root, name, *above)
        case Join():
            for name, type_ in types.items():
                side, inner = node.names.input_name(name)
                above = node.carried(name) or (None, None)
                yield (node.id, name, side, str(type_), node.parents[side], inner, *above, *above)
        case Analytic():
            for name, type_ in types.items():
                if name not in node.types:
                    yield (node.id, name, 0, str(type_), node.parent, name, node.read.root, name, None, None)
        case Aggregate():
            pass
        case SetOperation():
            for name, side, parent, direct, origin in _branch_values(network, node, types):
                if isinstance(origin, Column) and isinstance(direct, Column):
                    bases = (parent, direct.name, node.branches[side].read.root, origin.name)
                    yield (node.id, name, side, str(types[name]), *bases, None, None)


def expression_columns(network: Network, node: Node, types: Mapping[str, DataType]) -> Iterator[ColumnRow]:
    """Rows of the columns that are computed: groups and statistics, and values of branches."""
    match node:
        case Aggregate():
            for group in node.groups:
                yield from _aggregate_column(node, group, text(node.direct_group(group)), group_id(group), types)
            for statistic in sorted(node.statistics, key=text):
                yield from _aggregate_column(node, statistic, text(node.direct_statistic(statistic)), None, types)
        case SetOperation():
            for name, side, parent, direct, origin in _branch_values(network, node, types):
                if not (isinstance(origin, Column) and isinstance(direct, Column)):
                    bases = (parent, text(direct), node.branches[side].read.root, text(origin))
                    yield (node.id, name, side, str(types[name]), *bases, None)
        case Analytic():
            for name in types.keys() & node.by_name.keys():
                shown = node.by_name[name].text
                yield (node.id, name, 0, str(types[name]), node.parent, shown, node.read.root, shown, None)
        case _:
            pass


def _aggregate_column(
    node: Aggregate, computed: Expression | AggregateCall, direct: str, group: str | None, types: Mapping[str, DataType]
) -> Iterator[ColumnRow]:
    name = column_name(computed)
    if name in types:
        yield (node.id, name, 0, str(computed.type), node.parents[0], direct, node.read.root, text(computed), group)


def _branch_values(
    network: Network, node: SetOperation, types: Mapping[str, DataType]
) -> Iterator[tuple[str, int, NodeId, Expression, Expression]]:
    """Column, branch, direct parent, and the expression over it and over the root."""
    own = [entry for entry in node.direct if entry[0] != node.base]
    shared = next((entry for entry in node.direct if entry[0] == node.base), None)
    # Other branches of a recursion give it no columns.
    for side, branch in enumerate(node.branches[:1] if isinstance(node, Recursion) else node.branches):
        found = next((entry for entry in own if _reads(network, entry, branch)), shared)
        if found is None:
            continue
        parent, direct = found
        if found is not shared:
            own.remove(found)
        for number, (over_parent, over_root) in enumerate(zip(direct, branch.values, strict=True), start=1):
            if f"c{number}" in types:
                yield f"c{number}", side, parent, over_parent, over_root


def _reads(network: Network, entry: tuple[NodeId, tuple[Expression, ...]], branch: Branch) -> bool:
    """Whether a direct parent gives a branch its rows."""
    node = network.nodes[entry[0]]
    wants = node.read == branch.read if isinstance(node, Selection) else node.id == branch.read.root
    return wants and entry[1] == branch.values
