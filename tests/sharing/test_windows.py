"""What windows share: nodes, slices, and joins below them; and that dropping releases them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from workbench.catalog.catalog import Catalog
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Window
from workbench.options import Options
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import text
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={
        "F": (("id", INTEGER), ("d", DATE), ("bank", STRING), ("amount", INTEGER), ("x", DOUBLE)),
        "G": (("id", INTEGER), ("ts", TIMESTAMP), ("amount", INTEGER)),
    },
    times={"F": "d", "G": "ts"},
)


def planned(texts: Sequence[str], eager: bool = False, options: Options | None = None) -> tuple[Planner, Network]:
    planner, network = Planner(options or Options(), Catalog()), Network()
    for i, sql in enumerate(texts):
        query = bind(sql, "spark", SCHEMA).query
        assert query is not None
        network = planner.register(network, f"q{i}", query, eager=eager).network
        assert planner.catalog.network() == network
    return planner, network


def kinds(network: Network) -> list[str]:
    return [node.kind for node in network.nodes.values()]


def test_a_window_that_comes_last_is_no_node_unless_it_is_asked_for() -> None:
    texts = ["select id from F where d > now() - 3", "select bank from F where d > now() - 9 and amount > 4"]
    _, lazy = planned(texts)
    assert kinds(lazy) == ["source", "selection"]
    assert [bool(plan.window) for plan in lazy.queries.values()] == [True, True]
    _, eager = planned(texts, eager=True)
    assert kinds(eager).count("window") == 2
    assert not any(plan.window for plan in eager.queries.values())


def test_equal_windows_are_one_node_whatever_their_spelling_and_what_else_is_tested() -> None:
    texts = [
        "select id from F where d >= now() - 3",
        "select id from F where now() - d <= 3 and amount > 4",
        "select bank from F where amount > 6 begin now - 3 end now",
        "select median(amount) from F where d >= now() - interval '3' day",
    ]
    planner, network = planned(texts, eager=True)
    (window,) = [node for node in network.nodes.values() if isinstance(node, Window)]
    assert set(network.served[window.id]) == {"q0", "q1", "q2", "q3"}
    for i in range(4):
        network = planner.drop(network, [f"q{i}"])
        assert planner.catalog.network() == network
    assert not network.nodes
    assert planner.catalog.query("SELECT count(*) FROM predicate_sets")[1] in ([(0,)], [(1,)])


def test_queries_that_differ_in_their_windows_share_slices() -> None:
    text = "select bank, {} from F where d > now() - {} group by bank"
    _, network = planned([text.format("count(*)", 3), text.format("max(amount), avg(amount)", 30)])
    aggregates = [node for node in network.nodes.values() if isinstance(node, Aggregate)]
    (slices,) = [a for a in aggregates if len(network.served[a.id]) == 2]
    assert {str(getattr(g, "name", g)) for g in slices.groups} == {"bank", "d"}
    assert len(aggregates) == 3
    for other in ("median(amount)", "var_pop(x)", "count(distinct amount)"):
        _, alone = planned([text.format(other, 3)])
        assert kinds(alone) == ["source", "window", "aggregate"], other
    _, off = planned([text.format("count(*)", 3)], options=Options(vertical_expansion=False))
    assert kinds(off) == ["source", "window", "aggregate"]


@pytest.mark.parametrize(
    ("begin", "slice_"),
    [
        ("ts >= date_trunc('MINUTE', now()) - interval '30' minute", 60),
        ("ts >= date_trunc('HOUR', now())", 3_600),
        ("ts >= date_trunc('HOUR', now()) - interval '90' second", 90),
        ("ts >= date_trunc('MONTH', now()) and ts < date_trunc('HOUR', now())", 3_600),
        ("ts >= cast(current_date() as timestamp) - interval '3' day", 86_400),
        ("ts > date_trunc('MINUTE', now())", None),  # the first moment of a slice is not in it
        ("ts >= date_trunc('MINUTE', now()) and ts <= now()", 60),
        ("ts >= date_trunc('MINUTE', now()) and ts < now() - interval '1' second", None),
        ("ts >= now() - interval '30' minute", None),
    ],
)
def test_windows_of_whole_stretches_of_time_are_sliced(begin: str, slice_: int | None) -> None:
    _, network = planned([f"select count(*), max(amount) from G where {begin}"])
    groups = [text(g) for node in network.nodes.values() if isinstance(node, Aggregate) for g in node.groups]
    assert groups == ([] if slice_ is None else [f"window_start(ts, {slice_})"])


def test_longer_slices_are_made_of_shorter_ones() -> None:
    query = "select max(amount) from G where ts >= date_trunc('{0}', now()) - interval '{1}' {0}"
    _, network = planned([query.format("minute", 30), query.format("hour", 3), query.format("minute", 5)])
    aggregates = [node for node in network.nodes.values() if isinstance(node, Aggregate)]
    fine = next(a for a in aggregates if a.groups and text(a.groups[0]) == "window_start(ts, 60)")
    assert set(network.served[fine.id]) == {"q0", "q1", "q2"}
    assert sum(a.parents == (a.read.root,) and network.nodes[a.read.root].kind == "source" for a in aggregates) == 1


def test_windows_stand_above_joins_so_that_these_are_shared() -> None:
    text = "select a.id from F a join F b on a.bank = b.bank where a.amount > b.amount and a.d > now() - {}"
    _, network = planned([text.format(3), text.format(30)])
    assert kinds(network).count("join") == 1
    (join,) = [node for node in network.nodes.values() if node.kind == "join"]
    assert network.served[join.id] == ("q0", "q1")


def test_windows_stand_below_joins_that_nothing_equal_bounds() -> None:
    pairs = "select a.id from F a join F b on {} where a.d > now() - 3 and b.d > now() - 5"
    _, network = planned([pairs.format("a.amount < b.amount")])
    (join,) = [node for node in network.nodes.values() if isinstance(node, Join)]
    assert all(isinstance(network.nodes[root], Window) for root in join.roots)
    _, network = planned([pairs.format("a.amount < b.amount and a.bank = b.bank")])
    assert kinds(network) == ["source", "join"]


def test_stretches_of_time_are_made_of_finer_ones() -> None:
    text = "select window.start, max(amount) from G group by window(ts, '{}')"
    _, network = planned([text.format(lengths) for lengths in ("15 minutes", "1 hour", "1 hour', '15 minutes")])
    fine = next(a for a in network.nodes.values() if isinstance(a, Aggregate))
    assert set(network.served[fine.id]) == {"q0", "q1", "q2"}
