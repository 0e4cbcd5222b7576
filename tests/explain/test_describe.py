"""What a network says of itself: SQL, kinds, weights, and the drawing's text."""

from __future__ import annotations

import itertools

import example_network
import pytest
from example_network import (
    BIG,
    BY_BANK,
    COUNT,
    DAILY,
    FED,
    HUGE,
    INSIDE,
    NAMES,
    ONLY_BIG,
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

from workbench.errors import QueryError
from workbench.explain import visible
from workbench.explain.describe import NetworkView
from workbench.explain.dot import ROWS_HERE, TIME_HERE, to_dot, to_live_dot
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Aggregate, Branch, Join, Read, SetOperation, SetOperator
from workbench.network.sql_text import expression_sql, node_sql
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, column_name
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER
from workbench.sql.logical import Output
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, or_pred, pred_set


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


def test_kinds_and_join_levels(view):
    found = {node.id: (node.kind, node.join_level) for node in view.nodes}
    assert found == {
        FED.id: ("source", 0),
        BIG.id: ("selection", 0),
        HUGE.id: ("selection", 0),
        INSIDE.id: ("selection", 0),
        SAME_BANK.id: ("join", 1),
        SAME_DAY.id: ("selection", 1),
        DAILY.id: ("aggregate", 0),
        RICH_DAYS.id: ("selection", 0),
        BY_BANK.id: ("aggregate", 0),
        NAMES.id: ("distinct", 0),
        ONLY_BIG.id: ("set operator", 1),
    }


def test_statistics_that_only_dropped_queries_read_are_not_shown() -> None:
    """The aggregate keeps them, since the next query may want them, and computes them no more."""
    counted = QueryPlan("n", Read(DAILY.id), (Output("n", Column(column_name(COUNT), INTEGER)),), (DAILY.id,))
    (shown,) = [n for n in NetworkView(network_of([FED, DAILY], counted)).nodes if n.id == DAILY.id]
    assert "COUNT(*)" in shown.sql and "SUM" not in shown.sql
    assert (shown.kind, shown.label) == ("aggregate", ("rbank_aba, tran_date", "COUNT(*)"))


def test_edges_name_both_sides_of_a_self_join():
    pairs = join(FED, FED, TRUE)
    view = NetworkView(network_of([FED, pairs]))
    assert view.edges == ((FED.id, pairs.id), (FED.id, pairs.id))
    assert node_sql(pairs) == f"SELECT * FROM {FED.id} l CROSS JOIN {FED.id} r"


def test_each_node_says_which_queries_it_serves(view):
    assert view.node(SAME_BANK.id).queries == ("passed_on", "passed_on_more")
    assert view.node(SAME_DAY.id).queries == ("passed_on_more",)
    assert view.node(INSIDE.id).queries == ("big_and_inside",), "also to a query that reads other nodes besides"
    assert view.node(DAILY.id).queries == ("rich_days", "by_bank"), "and to what reads it by coarser groups"


def test_statements(view):
    assert [view.node(node.id).sql for node in (BIG, HUGE, SAME_BANK, DAILY, BY_BANK, NAMES, ONLY_BIG)] == [
        f"SELECT * FROM {FED.id} WHERE amount > 500000",
        f"SELECT * FROM {BIG.id} WHERE amount > 1000000",
        f"SELECT * FROM {HUGE.id} l JOIN {BIG.id} r ON l.benef_account = r.orig_account "
        "AND l.rbank_aba = r.sbank_aba AND l.tran_date <= r.tran_date",
        f"SELECT rbank_aba, tran_date, COUNT(*) AS count_6930009f, SUM(amount) AS sum_amount_c1de797d FROM {FED.id} "
        "GROUP BY rbank_aba, tran_date",
        f"SELECT rbank_aba, SUM(count_6930009f) AS count_6930009f, SUM(sum_amount_c1de797d) AS sum_amount_c1de797d "
        f"FROM {DAILY.id} GROUP BY rbank_aba",
        f"SELECT DISTINCT rbank_name FROM {HUGE.id}",
        f"SELECT sbank_aba AS c1 FROM {BIG.id} EXCEPT SELECT sbank_aba AS c1 FROM {HUGE.id}",
    ]


def test_statements_of_rare_shapes():
    count = AggregateCall("count", (Column("a", INTEGER),), INTEGER, distinct=True)
    total = Aggregate(Read(FED.id), (), frozenset({count}), FED.id)
    assert node_sql(total).startswith("SELECT COUNT(DISTINCT a) AS ")
    assert "GROUP BY" not in node_sql(total)
    either = pred_set(
        [
            or_pred([Literal(Column("a", INTEGER), Operator.IS_NULL), Literal(Column("b", INTEGER), Operator.HOLDS)]),
            or_pred([Literal(Column("c", INTEGER), Operator.NE, Constant(None, INTEGER))]),
        ]
    )
    tested = node_sql(selection(FED, either))
    assert tested == f"SELECT * FROM {FED.id} WHERE (a IS NULL OR b) AND c <> null::integer"
    union = SetOperation(SetOperator.UNION_ALL, (), (("F1", ()), ("F2", ()), ("F3", ())))
    assert node_sql(union).count("UNION ALL") == 2


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        (("-", ("-", "a", "b"), "c"), "a - b - c"),
        (("-", "a", ("-", "b", "c")), "a - (b - c)"),
        (("+", "a", ("+", "b", "c")), "a + b + c"),
        (("*", ("+", "a", "b"), "c"), "(a + b) * c"),
        (("+", ("*", "a", "b"), "c"), "a * b + c"),
        (("/", "a", ("*", "b", "c")), "a / (b * c)"),
        (("-", "a", ("+", "b", "c")), "a - (b + c)"),
        (("not", ("or", "a", "b")), "NOT (a OR b)"),
        (("and", ("or", "a", "b"), ("=", "c", "d"), "e"), "(a OR b) AND c = d AND e"),
        (("=", ("is_null", "a"), ("in", "b", "c", "d")), "(a IS NULL) = (b IN (c, d))"),
        (("*", ("neg", "a"), ("neg", ("+", "b", "c"))), "-a * -(b + c)"),
        (("||", ("case", "a", "b", "c"), "d"), "CASE WHEN a THEN b ELSE c END || d"),
        (("like", ("||", "a", "b"), "c"), "a || b LIKE c"),
        (("substr", ("+", "a", "b"), "c"), "SUBSTR(a + b, c)"),
    ],
)
def test_parentheses_are_those_that_matter(expression, sql):
    def build(part):
        if isinstance(part, str):
            return Column(part, INTEGER)
        return Call(part[0], tuple(map(build, part[1:])), INTEGER)

    assert expression_sql(build(expression)) == sql


def test_functions_and_casts():
    assert expression_sql(Call("cast", (Column("a", INTEGER),), DOUBLE)) == "CAST(a AS DOUBLE)"
    assert expression_sql(Call("to_char", (Column("d", DATE, 1),), DATE), ("l", "r")) == "TO_CHAR(r.d)"


def test_weights_are_those_of_table_10_7(view):
    # σ at level 0: big, huge, inside and rich days; ⋈ at level 1; σ at level 1; nothing else weighs.
    assert view.weighted_size() == 4 * 5 + 16 + 4
    assert NetworkView(Network()).weighted_size() == 0


def test_weights_by_join_level():
    nodes: list = [FED]
    for level in range(1, 7):
        pairs = join(nodes[-1], FED, TRUE, left_leaves=level)
        nodes += [pairs, selection(pairs, over(level))]
    sizes = [NetworkView(network_of(nodes[:end])).weighted_size() for end in range(1, len(nodes) + 1)]
    steps = [after - before for before, after in itertools.pairwise(sizes)]
    assert steps == [16, 4, 8, 3, 4, 2, 2, 1, 2, 1, 2, 1]


def test_labels_spell_out_what_a_made_up_column_means(view):
    assert view.node(RICH_DAYS.id).label == ("SUM(amount) > 10000000",)


def test_the_listing_of_one_query(view):
    lines = view.to_text("passed_on").splitlines()
    assert lines[0] == "query passed_on: 4 nodes, 4 shared with other queries"
    assert [line.split()[0] for line in lines[1:]] == [FED.id, BIG.id, HUGE.id, SAME_BANK.id, "passed_on"]
    assert repr(view) == view.to_text()


def test_the_listing_says_what_several_nodes_have_in_common(view):
    first, second = sorted([BIG.id, INSIDE.id])
    assert view.results["big_and_inside"] == (first, second)
    lines = view.to_text("big_and_inside").splitlines()
    assert lines[0] == "query big_and_inside: 3 nodes, 2 shared with other queries"
    assert lines[-1] == f"  big_and_inside reads {first} ∩ {second}"


def test_an_unknown_query_is_told_with_the_nearest(view):
    for ask in (view.to_dot, view.to_text, view.ancestors):
        with pytest.raises(QueryError) as caught:
            ask("pased_on")
        assert caught.value.hint == "did you mean passed_on?"


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
    assert "×9 queries" in view.to_dot()
    assert "×1 " not in view.to_dot()


def test_rows_and_times_appear_with_a_report_only(view):
    assert " rows" not in view.to_dot() and " ms" not in view.to_dot()
    network = example_network.example()
    reported = NetworkView(network, [example_network.report(network, 1), example_network.report(network, 2)])
    assert "1,000 → 800 rows" in reported.to_dot() and " ms for the tree" in reported.to_dot()


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
    assert f"results of big_and_inside\\nreads {' ∩ '.join(both)}" in drawn
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
    assert "σ in 3 ways below" in live and HUGE.id not in pale(live)
    assert f'"{FED.id}" -> "{SAME_BANK.id}"' in live and frames(live).keys() == {SAME_BANK.id, DAILY.id}


def test_in_focus_are_a_query_and_who_shares_its_nodes_and_the_rest_is_counted(view):
    live = to_live_dot(view, focus="rich_days")
    assert {FED.id, DAILY.id, RICH_DAYS.id} < pale(live).keys() and HUGE.id not in pale(live)
    assert 'label="big_transfers' not in live, "its answer is at a node that is only counted"
    assert "σ in 3 ways below" in live and "5 nodes of other queries not shown" in live
    assert HUGE.id in pale(to_live_dot(view, focus="rich_days", toggled=[FED.id]))
    passed_on = to_live_dot(view, focus="passed_on")
    assert "σ  1 selection of other queries" in passed_on and f'"rest {FED.id}"' in passed_on
    assert f"result {SAME_BANK.id}" in pale(passed_on) and f"result {RICH_DAYS.id}" not in pale(passed_on)


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
