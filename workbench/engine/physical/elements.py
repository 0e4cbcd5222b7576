"""Elements of arrays as columns of the join that makes their rows, so that these rows need not carry the arrays.

EXPLODE is a join with places, and its readers compute ``ELEMENT_AT(x, place)`` of the pairs. If each pair carried
``x``, texts of 500 words would be stored 500 times. As the network runs, the join makes the element a column, and
whatever reads the join, also through other joins and windows, reads this column in the place of the call. The network
that is shown still has the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from workbench.engine.physical.array_places import array_places
from workbench.engine.physical.stored.kernels.table import has_kernels
from workbench.network.join_names import split_leaf
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import SIDES, Analytic, Join, Node, NodeId, StoredColumns, Window
from workbench.sql.algebra.expressions import Column, Expression, column_name, map_columns, substituted
from workbench.sql.predicates.cnf import map_expressions


@dataclass(frozen=True)
class WithElements:
    """A network as it runs: joins make elements of arrays, and readers read these columns.

    Attributes:
        network: it.
        stored: the elements that the rows of each root have as columns; of most roots there are none.
    """

    network: Network
    stored: Mapping[NodeId, StoredColumns]


def joins_with_elements(network: Network) -> WithElements:
    """The network in which joins with places make the elements that their readers read."""
    if not any(isinstance(node, Join) and array_places(node.tested) for node in network.nodes.values()):
        return WithElements(network, {})
    nodes, stored = dict[NodeId, Node](), dict[NodeId, StoredColumns]()
    for id_, node in network.nodes.items():
        of_inputs = [stored.get(network.roots[some[0]], {}) for some in node.inputs]
        nodes[id_] = node = node.with_stored_columns(of_inputs) if any(of_inputs) else node
        if isinstance(node, Join):
            made = dict(_elements(node))
            stored[id_] = {**_of_sides(node, of_inputs), **made}
            named = tuple((column.name, map_columns(element, node.names.input)) for element, column in made.items())
            nodes[id_] = replace(node, elements=named)
        elif isinstance(node, Window | Analytic):
            stored[id_] = of_inputs[0]
    queries = {name: reading_elements(plan, stored.get(plan.read.root, {})) for name, plan in network.queries.items()}
    return WithElements(Network(nodes, queries), stored)


def reading_elements(plan: QueryPlan, stored: StoredColumns) -> QueryPlan:
    """A query that reads columns of the root's rows instead of the expressions whose values they have."""
    if not stored:
        return plan
    over = partial(substituted, values=stored)
    outputs = tuple(replace(output, expression=over(output.expression)) for output in plan.outputs)
    window = map_expressions(plan.window, over)
    return replace(plan, outputs=outputs, window=window, order=tuple(key.map(over) for key in plan.order))


def _elements(join: Join) -> Iterator[tuple[Expression, Column]]:
    """What gives the elements of the arrays of a join, over its columns, and the column that is to have them.

    It is called as the columns of a leaf are, so that further joins name it as they name these.
    """
    places = array_places(join.tested)
    if places is not None and has_kernels(places.stored_element):
        element = map_columns(places.element, join.names.output)
        leaf = split_leaf(join.names.output(places.place).name)[1]
        yield element, Column(f"{column_name(element)}_{leaf}", element.type)


def _of_sides(join: Join, stored: list[StoredColumns]) -> StoredColumns:
    """What the rows of a join have as columns of its sides."""

    def output(side: int) -> Callable[[Column], Column]:
        return lambda column: join.names.output(replace(column, source=side))

    return {
        map_columns(expression, output(side)): output(side)(column)
        for side in SIDES
        for expression, column in stored[side].items()
    }
