"""What a network says of itself: SQL, kinds, weights, and the drawing's text."""

from __future__ import annotations

import itertools

import example_network
import pytest
from example_network import BIG, DAILY, FED, HUGE, NAMES, ONLY_BIG, RICH_DAYS, SAME_BANK, SAME_DAY

from workbench.errors import QueryError
from workbench.network.describe import NetworkView
from workbench.network.dot import to_dot
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Selection, SetOperation, SetOperator
from workbench.network.sql_text import expression_sql, node_sql
from workbench.sql.expressions import AggregateCall, Call, Column, Constant
from workbench.sql.predicates import Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.types import DATE, DOUBLE, INTEGER


@pytest.fixture
def view() -> NetworkView:
    return NetworkView(example_network.example())


def test_kinds_and_join_levels(view):
    found = {node.id: (node.kind, node.join_level) for node in view.nodes}
    assert found == {
        FED.id: ("source", 0),
        BIG.id: ("selection", 0),
        HUGE.id: ("selection", 0),
        SAME_BANK.id: ("join", 1),
        SAME_DAY.id: ("selection", 1),
        DAILY.id: ("aggregate", 0),
        RICH_DAYS.id: ("selection", 0),
        NAMES.id: ("distinct", 0),
        ONLY_BIG.id: ("set operator", 1),
    }


def test_edges_name_both_sides_of_a_self_join():
    join = Join(FED.id, FED.id, PredSet())
    view = NetworkView(Network().with_nodes([FED, join]))
    assert view.edges == ((FED.id, join.id), (FED.id, join.id))
    assert node_sql(join) == f"SELECT * FROM {FED.id} l CROSS JOIN {FED.id} r"


def test_each_node_says_which_queries_it_serves(view):
    assert view.node(SAME_BANK.id).queries == ("passed_on", "passed_on_more")
    assert view.node(SAME_DAY.id).queries == ("passed_on_more",)


def test_statements(view):
    assert [view.node(node.id).sql for node in (BIG, SAME_BANK, DAILY, NAMES, ONLY_BIG)] == [
        f"SELECT * FROM {FED.id} WHERE amount > 500000",
        f"SELECT * FROM {HUGE.id} l JOIN {BIG.id} r ON l.benef_account = r.orig_account "
        "AND l.rbank_aba = r.sbank_aba AND l.tran_date <= r.tran_date",
        f"SELECT rbank_aba, tran_date, COUNT(*) AS count_ee8d27fc, SUM(amount) AS sum_amount_26a1a7f5 FROM {FED.id} "
        "GROUP BY rbank_aba, tran_date",
        f"SELECT DISTINCT rbank_name FROM {HUGE.id}",
        f"SELECT sbank_aba AS c1 FROM {BIG.id} EXCEPT SELECT sbank_aba AS c1 FROM {HUGE.id}",
    ]


def test_statements_of_rare_shapes():
    total = Aggregate(FED.id, (), frozenset({AggregateCall("count", (Column("a", INTEGER),), INTEGER, distinct=True)}))
    assert node_sql(total).startswith("SELECT COUNT(DISTINCT a) AS ")
    assert "GROUP BY" not in node_sql(total)
    either = pred_set(
        [
            or_pred([Literal(Column("a", INTEGER), Operator.IS_NULL), Literal(Column("b", INTEGER), Operator.HOLDS)]),
            or_pred([Literal(Column("c", INTEGER), Operator.NE, Constant(None, INTEGER))]),
        ]
    )
    assert node_sql(Selection("F1", either)) == "SELECT * FROM F1 WHERE (a IS NULL OR b) AND c <> null::integer"
    union = SetOperation(SetOperator.UNION_ALL, (("F1", ()), ("F2", ()), ("F3", ())))
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
    # σ at level 0: big, huge and rich days; ⋈ at level 1; σ at level 1; nothing else weighs.
    assert view.weighted_size() == 3 * 5 + 16 + 4
    assert NetworkView(Network()).weighted_size() == 0


def test_weights_by_join_level():
    nodes: list = [FED]
    for level in range(1, 7):
        join = Join(nodes[-1].id, FED.id, PredSet(), left_leaves=level)
        nodes += [join, Selection(join.id, example_network.over(level))]
    sizes = [NetworkView(Network().with_nodes(nodes[:end])).weighted_size() for end in range(1, len(nodes) + 1)]
    steps = [after - before for before, after in itertools.pairwise(sizes)]
    assert steps == [16, 4, 8, 3, 4, 2, 2, 1, 2, 1, 2, 1]


def test_labels_spell_out_what_a_made_up_column_means(view):
    assert view.node(RICH_DAYS.id).label == ("SUM(amount) > 10000000",)


def test_the_listing_of_one_query(view):
    lines = view.to_text("passed_on").splitlines()
    assert lines[0] == "query passed_on: 4 nodes, 4 shared with other queries"
    assert [line.split()[0] for line in lines[1:]] == [FED.id, BIG.id, HUGE.id, SAME_BANK.id, "passed_on"]
    assert repr(view) == view.to_text()


def test_an_unknown_query_is_told_with_the_nearest(view):
    for ask in (view.to_dot, view.to_text, view.ancestors):
        with pytest.raises(QueryError) as caught:
            ask("pased_on")
        assert caught.value.hint == "did you mean passed_on?"


def test_sides_are_named_only_where_they_matter():
    def edges(join: Join) -> str:
        return to_dot(NetworkView(Network().with_nodes([FED, BIG, join])))

    same = example_network.matching("rbank_aba", "rbank_aba")
    other = example_network.matching("rbank_aba", "sbank_aba")
    assert 'label="left"' in edges(Join(FED.id, BIG.id, example_network.where(other)))
    assert 'label="left"' not in edges(Join(FED.id, BIG.id, example_network.where(same)))
    assert 'label="left"' not in edges(Join(FED.id, FED.id, example_network.where(other)))


def test_shared_nodes_say_how_many_queries_they_serve(view):
    assert "×7 queries" in view.to_dot()
    assert "×1 " not in view.to_dot()


def test_rows_and_times_appear_with_a_report_only(view):
    assert " rows" not in view.to_dot() and " ms" not in view.to_dot()
    network = example_network.example()
    reported = NetworkView(network, [example_network.report(network, 1), example_network.report(network, 2)])
    assert "1,000 → 800 rows" in reported.to_dot() and " ms for the tree" in reported.to_dot()


def test_a_node_made_after_the_batch_has_no_rows():
    report = example_network.report(Network().with_nodes([FED]))
    dot = NetworkView(Network().with_nodes([FED, DAILY]), [report]).to_dot()
    assert "900 rows" in dot and "→ " not in dot


def test_long_predicates_are_cut_on_the_node_and_whole_in_the_tooltip():
    amounts = [or_pred([Literal(example_network.AMOUNT, Operator.NE, Constant(n, INTEGER)) for n in range(50)])]
    node = Selection(FED.id, pred_set(amounts))
    dot = NetworkView(Network().with_nodes([FED, node])).to_dot()
    label, tooltip = dot.split('"σ')[1].split("tooltip=")[:2]
    assert "…" in label and len(label) < 60
    assert "amount <> 49" in tooltip


def test_the_stressed_query_is_strong_and_the_rest_pale(view):
    dot = view.to_dot(query="rich_days")
    colors = {
        line.split('"')[1]: "#b9c1c9" in line for line in dot.splitlines() if line.startswith('"') and "->" not in line
    }
    assert not colors[DAILY.id] and not colors[FED.id] and not colors[f"result {RICH_DAYS.id}"]
    assert colors[HUGE.id] and colors[f"result {BIG.id}"]
