"""The functions that a query's answer depends on: those that compute its columns, and those that select its rows.

A node computes columns for several queries. A call that fails gives NULL in its column, and no other column changes.
So a query depends on a call where it reads the column, or where the call decides which rows there are: in a condition,
or in what rows are grouped, ordered or compared by.
"""

from __future__ import annotations

from workbench.network.network import Network, QueryPlan
from workbench.network.projection import carried_columns, computed_columns
from workbench.sql.algebra.expressions import calls
from workbench.sql.value_sizes import largest_value


def functions_of(network: Network, plan: QueryPlan) -> frozenset[str]:
    """Names of the functions, and operators, that the answer of a query depends on."""
    needed = network.ancestors(plan.nodes)
    # What the query reads of each node is what the node must carry in a network of this query alone.
    alone = Network({id_: node for id_, node in network.nodes.items() if id_ in needed}, {plan.name: plan})
    carried = carried_columns(alone)
    expressions = list(plan.expressions)
    for id_, node in alone.nodes.items():
        read = computed_columns(alone, id_, carried[id_]) if id_ in carried else ()
        expressions += node.computed(read)
    return frozenset().union(*map(calls, expressions))


def largest_values(network: Network) -> float:
    """Bytes that functions may make of a row in some node or answer, estimated (``value_sizes``)."""
    of_nodes = (node.computed(node.types) for node in network.nodes.values())
    of_answers = (plan.expressions for plan in network.queries.values())
    return max((sum(map(largest_value, own)) for own in (*of_nodes, *of_answers)), default=0.0)
