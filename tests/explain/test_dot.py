"""The drawing's text: boxes, frames, edges, what is strong and what is pale."""

from __future__ import annotations

import itertools

import example_network
import pytest
from example_network import (
    BIG,
    BY_BANK,
    DAILY,
    FED,
    HUGE,
    INSIDE,
    RICH_DAYS,
    SAME_BANK,
    SAME_DAY,
    join,
    network_of,
    over,
    plan,
    selection,
    where,
)

from workbench.explain import visible
from workbench.explain.describe import NetworkView
from workbench.explain.dot import ROWS_HERE, TIME_HERE, to_dot, to_live_dot
from workbench.network.nodes import Branch, Join, SetOperation, SetOperator
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import Literal, Operator, or_pred, pred_set


def pale(drawn: str) -> dict[str, bool]:
    """The boxes of a drawing, and whether each is drawn pale."""
    boxes = (line for line in drawn.splitlines() if line.startswith('"') and "->" not in line)
    return {line.split('"')[1]: "#b9c1c9" in line for line in boxes}


def frames(drawn: str) -> dict[str, list[str]]:
    """The frames of a drawing by the root of their tree, with the nodes in each."""
    found: dict[str, list[str]] = {}
    for part in drawn.split('subgraph "cluster_')[1:]:
        root, inside = part.split('"', 1)
        found[root] = list(pale(inside.split("\n}")[0]))
    return found


@pytest.fixture
def view() -> NetworkView:
    return NetworkView(example_network.example())


def test_sides_are_named_only_where_they_matter():
    same = where(example_network.matching("rbank_aba", "rbank_aba"))
    other = where(example_network.matching("rbank_aba", "sbank_aba"))

    def named(pairs: Join) -> bool:
        return 'label="left"' in to_dot(NetworkView(network_of([FED, BIG, pairs])))

    assert named(Join(FED.id, FED.id, "", other, FED.id, BIG.id, other))
    assert not named(Join(FED.id, FED.id, "", same, FED.id, BIG.id, same))
    assert not named(join(FED, FED, other))


def test_sides_that_come_from_one_box_have_one_edge_without_a_name(monkeypatch, view):
    assert f'"{HUGE.id}" -> "{SAME_BANK.id}"' in view.to_dot()
    monkeypatch.setattr(visible, "WHOLE", 10)
    edges = [line for line in view.to_dot().splitlines() if line.startswith(f'"{FED.id}" -> "{SAME_BANK.id}"')]
    assert len(edges) == 1 and 'label=""' in edges[0]


def test_shared_nodes_say_how_many_queries_they_serve(view):
    assert "×7 queries" in view.to_dot() and "read by 9 queries" in view.to_dot(), "a stream is no work"
    assert "×1 " not in view.to_dot()


def test_rows_and_times_appear_with_a_report_only(view):
    assert " rows" not in view.to_dot() and " ms" not in view.to_dot()
    network = example_network.example()
    reported = NetworkView(network, [example_network.report(network, 1), example_network.report(network, 2)])
    assert "900 → 800 rows" in reported.to_dot() and " ms for the tree" in reported.to_dot()


def test_a_node_made_after_the_batch_has_no_rows():
    report = example_network.report(network_of([FED]))
    drawn = NetworkView(network_of([FED, DAILY]), [report]).to_dot()
    assert "900 rows" in drawn and "→ " not in drawn


def test_long_predicates_are_cut_on_the_node_and_whole_in_the_tooltip():
    amounts = [or_pred([Literal(example_network.AMOUNT, Operator.NE, Constant(n, INTEGER)) for n in range(50)])]
    drawn = NetworkView(network_of([FED, selection(FED, pred_set(amounts))])).to_dot()
    label, tooltip = drawn.split('"σ')[1].split("tooltip=")[:2]
    assert "…" in label and len(label) < 60
    assert "amount <> 49" in tooltip


def test_the_stressed_query_is_strong_and_the_rest_pale(view):
    colors = pale(view.to_dot(query="rich_days"))
    assert not colors[DAILY.id] and not colors[FED.id] and not colors[f"result {RICH_DAYS.id}"]
    assert colors[HUGE.id] and colors[f"result {BIG.id}"]


def test_a_query_that_reads_two_nodes_has_an_edge_from_each_and_says_so(view):
    both = sorted([BIG.id, INSIDE.id])
    box = f"result {' '.join(both)}"
    lines = view.to_dot().splitlines()
    assert [line.split('"')[1] for line in lines if line.startswith('"') and f'-> "{box}"' in line] == both
    (drawn,) = (line for line in lines if line.startswith(f'"{box}"'))
    assert 'label="∩\\nbig_and_inside"' in drawn
    names = " ∩ ".join(view.node(id_).name for id_ in both)
    assert f"results of big_and_inside\\nreads {names}" in drawn and "selection amount > 500000" in names
    (alone,) = (line for line in lines if line.startswith(f'"result {BIG.id}" ['))
    assert "∩" not in alone and 'label="big_transfers"' in alone


def test_queries_that_read_the_same_nodes_are_in_one_box():
    plans = [plan("q1", BIG, INSIDE), plan("q2", INSIDE, BIG), plan("q3", BIG)]
    boxes = pale(NetworkView(network_of([FED, BIG, INSIDE], *plans)).to_dot())
    assert [box for box in boxes if box.startswith("result")] == [
        f"result {' '.join(sorted([BIG.id, INSIDE.id]))}",
        f"result {BIG.id}",
    ]


def test_a_stressed_query_of_two_nodes_has_both_strong(view):
    colors = pale(view.to_dot(query="big_and_inside"))
    strong = {name for name, is_pale in colors.items() if not is_pale}
    assert strong == {FED.id, BIG.id, INSIDE.id, f"result {' '.join(sorted([BIG.id, INSIDE.id]))}"}


def test_many_queries_over_few_nodes_are_folded_into_one_box():
    """20 conditions can be combined in 190 pairs: boxes and edges would hide the nodes."""
    nodes = [selection(FED, over(amount)) for amount in range(20)]
    pairs = itertools.combinations(nodes, 2)
    view = NetworkView(network_of([FED, *nodes], *(plan(f"q{i}", a, b) for i, (a, b) in enumerate(pairs))))
    assert [*pale(view.to_dot())] == [FED.id, f"result {FED.id}"]
    assert "and 184 more" in view.to_dot() and "∩" not in view.to_dot()
    assert sum(box.startswith("result") for box in pale(view.to_dot(full=True))) == 190
    alone = pale(view.to_dot(query="q0"))
    assert [*alone][:4] == [FED.id, nodes[0].id, nodes[1].id, f"rest {FED.id}"]
    assert [*alone][4:] == [f"result {' '.join(sorted([nodes[0].id, nodes[1].id]))}"]


def test_trees_open_and_close(view):
    live = to_live_dot(view, toggled=[FED.id])
    assert "σ  3 selections below" in live and HUGE.id not in pale(live)
    assert f'"{FED.id}" -> "{SAME_BANK.id}"' in live and frames(live).keys() == {SAME_BANK.id, DAILY.id}


def test_in_focus_are_a_query_and_who_shares_its_nodes_and_the_rest_is_counted(view):
    live = to_live_dot(view, focus=["rich_days"])
    assert {FED.id, DAILY.id, RICH_DAYS.id} < pale(live).keys() and HUGE.id not in pale(live)
    assert 'label="big_transfers' not in live, "its answer is at a node that is only counted"
    assert "σ  3 selections below" in live and "5 nodes of other queries\\n4 local trees, 5 queries" in live
    assert f'"{FED.id}" -> "others"' in live and f'"{DAILY.id}" -> "others"' in live
    assert HUGE.id in pale(to_live_dot(view, focus=["rich_days"], toggled=[FED.id]))
    passed_on = to_live_dot(view, focus=["passed_on"])
    assert "σ  1 selection of other queries" in passed_on and f'"rest {FED.id}"' in passed_on
    assert f"result {SAME_BANK.id}" in pale(passed_on) and f"result {RICH_DAYS.id}" not in pale(passed_on)


def test_several_queries_in_focus_are_drawn_together_and_named_first(view):
    both = pale(to_live_dot(view, focus=["rich_days", "passed_on"]))
    alone = [pale(to_live_dot(view, focus=[name])) for name in ("rich_days", "passed_on")]
    nodes = {name for name in both if not name.startswith(("rest", "result", "others"))}
    assert nodes == {id_ for name in ("rich_days", "passed_on") for id_ in view.ancestors(name)}
    assert nodes <= {*alone[0], *alone[1]} and "others" in both
    assert pale(view.to_dot(focus=["rich_days"])).keys() == alone[0].keys()
    many = NetworkView(network_of([FED, BIG], *(plan(f"q{n}", BIG) for n in range(9))))
    assert 'label="q8\\nq0' in to_live_dot(many, focus=["q8"])


def test_a_live_drawing_is_the_same_after_every_batch(view):
    reported = NetworkView(example_network.example(), [example_network.report(example_network.example())])
    assert to_live_dot(reported) == to_live_dot(view)
    assert ROWS_HERE in to_live_dot(view) and TIME_HERE in to_live_dot(view)


def test_frames_are_the_local_trees(view):
    assert frames(view.to_dot()) == {
        FED.id: [FED.id, BIG.id, HUGE.id, INSIDE.id],
        SAME_BANK.id: [SAME_BANK.id, SAME_DAY.id],
        DAILY.id: [DAILY.id, RICH_DAYS.id],
    }


def test_what_is_computed_from_another_result_has_its_edge_and_a_tree_of_its_own():
    values, made = (Column("sbank_aba", INTEGER),), (Column("c1", INTEGER),)
    small = selection(FED, where(Literal(example_network.AMOUNT, Operator.LT, Constant(1, INTEGER))))
    branches = [Branch(node.read, values) for node in (BIG, INSIDE, small)]
    two = SetOperation(SetOperator.UNION, tuple(branches[:2]), ((BIG.id, values), (INSIDE.id, values)))
    three = SetOperation(SetOperator.UNION, tuple(branches), ((two.id, made), (small.id, values)), base=two.id)
    view = NetworkView(network_of([FED, BIG, INSIDE, small, two, three, DAILY, BY_BANK], plan("q", three)))
    assert view.edges[-4:] == ((two.id, three.id), (small.id, three.id), (FED.id, DAILY.id), (DAILY.id, BY_BANK.id))
    assert [view.node(node.id).root for node in (two, three, BY_BANK)] == [two.id, three.id, BY_BANK.id]
    assert [view.node(node.id).join_level for node in (two, three, BY_BANK)] == [1, 2, 0]
    assert frames(view.to_dot()) == {FED.id: [FED.id, BIG.id, INSIDE.id, small.id]}
    assert f'"{two.id}" -> "{three.id}"' in view.to_dot() and f'"{DAILY.id}" -> "{BY_BANK.id}"' in view.to_dot()
