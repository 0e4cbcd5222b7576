"""What batches have shown corrects estimates of the same reads and of joins by the same keys, and so join orders."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sharing.small_streams import query

from workbench.network.network import Network
from workbench.network.nodes import Join, Node, Selection, Source
from workbench.optimizer.cardinality import Estimates
from workbench.optimizer.observed import Observed
from workbench.optimizer.statistics import StreamStatistics, collect
from workbench.sharing.planner import Planner
from workbench.sql.predicates.cnf import TRUE

ROWS, BATCH = 10_000, 100


def statistics() -> dict[str, StreamStatistics]:
    numbers = range(2_000)
    columns = {
        "code": [i % 10 for i in numbers],
        "amount": [i % 100 for i in numbers],
        "src": [str(i % 50) for i in numbers],
    }
    return {"f": collect(pa.table(columns), ROWS)}


def network(*conditions: str) -> Network:
    planner, grown = Planner(streams=statistics()), Network()
    for number, condition in enumerate(conditions):
        text = f"SELECT a.code FROM F a, F b WHERE {condition}"
        grown = planner.register(grown, f"q{number}", query(text)).network
    return grown


def seen(grown: Network, **rows: float) -> Estimates:
    """Estimates after batches that brought these rows to the nodes of each kind."""
    kinds = {"selections": Selection, "joins": Join}
    changes = {
        id_: rows[k] for k, kind in kinds.items() for id_, n in grown.nodes.items() if k in rows and isinstance(n, kind)
    }
    observed = Observed(grown.nodes, changes, {"f": float(BATCH)}, {"f": ROWS})
    return Estimates(statistics(), grown.nodes, observed)


def test_a_selection_has_the_rows_it_was_seen_to_have() -> None:
    grown = network("a.code = 3 AND b.code = 3 AND a.src = b.src")
    [selection] = [node for node in grown.nodes.values() if isinstance(node, Selection)]
    assert seen(grown).rows(selection.read) == pytest.approx(1_000)
    assert seen(grown, selections=2.0).rows(selection.read) == pytest.approx(200)
    assert seen(grown, selections=2.0).changes(selection) == pytest.approx(2)


def test_a_join_corrects_those_by_the_same_keys() -> None:
    grown = network("a.src = b.src AND a.code < b.code")
    [join] = [node for node in grown.nodes.values() if isinstance(node, Join)]
    expected = seen(grown).changes(join)
    assert expected is not None
    after = seen(grown, joins=7 * expected)
    assert after.changes(join) == pytest.approx(7 * expected)
    [narrower] = [n for n in network("a.src = b.src AND a.amount < b.amount").nodes.values() if isinstance(n, Join)]
    [other] = [n for n in network("a.amount = b.amount").nodes.values() if isinstance(n, Join)]
    assert after.joined(narrower.roots, narrower.predicates) == pytest.approx(
        7 * seen(grown).joined(narrower.roots, narrower.predicates)
    )
    assert after.joined(other.roots, other.predicates) == seen(grown).joined(other.roots, other.predicates)


def test_a_node_that_no_row_reached_is_not_taken_to_be_empty() -> None:
    grown = network("a.code = 3 AND a.src = b.src")
    estimates = seen(grown, selections=0.0, joins=0.0)
    for node in grown.nodes.values():
        if isinstance(node, Selection | Join):
            changes = estimates.changes(node)
            assert changes is not None and 0 < changes < 1


def test_the_next_query_is_joined_in_another_order() -> None:
    """Statistics say that few rows have a code of 3, batches that nearly all rows have."""
    before = network("a.code = 3 AND b.amount < 50 AND a.src = b.src")
    text = (
        "SELECT a.code FROM F a, F b, F c WHERE a.code = 3 AND a.amount = b.amount AND b.src = c.src AND c.amount < 20"
    )
    orders = []
    for rows in (None, 95.0):
        planner = Planner(streams=statistics())
        grown = Network()
        if rows is not None:
            [three] = [
                i for i, n in before.nodes.items() if isinstance(n, Selection) and "code" in str(n.read.required)
            ]
            planner.know(planner.streams, Observed(before.nodes, {three: rows}, {"f": float(BATCH)}, {"f": ROWS}))
        planned = planner.register(grown, "q", query(text)).network
        [first] = [n for n in planned.nodes.values() if isinstance(n, Join) and n.leaves == 2]
        orders.append(str(first.predicates))
    assert orders[0] != orders[1]


def test_self_joins_of_self_joins_are_looked_at_once_each() -> None:
    source = Source("f")
    nodes: dict[str, Node] = {source.id: source}
    root = source.id
    for _ in range(60):
        join = Join(root, root, "", TRUE, root, root, TRUE)
        nodes[join.id], root = join, join.id
    growth = Observed(arriving={"f": 1.0}, arrived={"f": 1000}).growth(root, nodes)
    assert growth == pytest.approx(1)
