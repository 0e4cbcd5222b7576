"""Registering and dropping, node by node: where tests end up, what nodes carry, what an explanation tells."""

from __future__ import annotations

import pytest
from sharing.evaluation import Evaluation
from sharing.reuse import planned, reused
from sharing.small_streams import data as rows
from sharing.small_streams import query, statistics
from sharing.soundness import check

from workbench.explain.explanation import ExplanationView
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Selection, SetOperation, Source
from workbench.network.projection import carried_columns
from workbench.options import Options
from workbench.sharing.decisions import NEAR_MISS, Explanation, Rule
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import FALSE, Literal, Operator, conjunction, or_pred, pred_set
from workbench.sql.predicates.implication import normalized

PATH = "SELECT a.id, b.id FROM F a, F b WHERE a.dst = b.src AND a.amount > 5"
BIG = "SELECT id FROM F WHERE amount > 5"


def network_of(*texts: str, options: Options | None = None) -> Network:
    return planned(*texts, options=options).network


def of_kind(network: Network, kind: type) -> list:  # type: ignore[type-arg]
    return [node for node in network.nodes.values() if isinstance(node, kind)]


def test_a_query_reads_its_stream_and_one_selection_with_all_conditions() -> None:
    network = network_of("SELECT id FROM F WHERE code = 1 AND amount > 5 AND src LIKE 'a%'")
    (selection,) = of_kind(network, Selection)
    assert len(selection.predicates.or_preds) == 3
    assert network.queries["q1"].nodes == (selection.id,)


def test_an_aggregate_grows_by_what_a_later_query_asks() -> None:
    network = network_of("SELECT src, SUM(amount) FROM F GROUP BY src", "SELECT src, COUNT(*) FROM F GROUP BY src")
    (aggregate,) = of_kind(network, Aggregate)
    assert {statistic.function for statistic in aggregate.statistics} == {"sum", "count"}


def test_selections_go_below_a_join_and_the_join_keeps_what_reads_both_sides() -> None:
    network = network_of(
        "SELECT a.id FROM F a, G b WHERE a.id = b.id AND a.code = 1 AND b.rate > a.amount AND b.name = 'x'"
    )
    (join,) = of_kind(network, Join)
    assert len(join.tested.or_preds) == 2
    assert len(join.predicates.or_preds) == 4
    assert {type(network.nodes[parent]) for parent in join.parents} == {Selection}


def test_a_selection_that_keeps_most_rows_is_tested_in_the_join() -> None:
    text = "SELECT a.id FROM F a, G b WHERE a.id = b.id AND a.amount > -1 AND b.name = 'a'"
    seen = statistics(rows(1, 200))
    network = Planner(streams=seen).register(Network(), "q", query(text)).network
    (join,) = of_kind(network, Join)
    assert "amount" in str(join.tested) and "name" not in str(join.tested)
    assert {type(network.nodes[parent]) for parent in join.parents} == {Source, Selection}


def test_a_selection_moves_below_a_smaller_one_and_back() -> None:
    planner, network = Planner(), Network()
    for name, bound in (("wide", 1), ("narrow", 9), ("middle", 5)):
        network = planner.register(network, name, query(f"SELECT id FROM F WHERE amount > {bound}")).network
    of = {name: network.nodes[plan.nodes[0]] for name, plan in network.queries.items()}
    assert of["narrow"].parents == (of["middle"].id,)
    assert of["middle"].parents == (of["wide"].id,)
    network = planner.drop(network, ["middle"])
    assert network.nodes[of["narrow"].id].parents == (of["wide"].id,)


def test_many_combinations_of_few_conditions_are_a_node_for_each_condition() -> None:
    texts = [f"SELECT id FROM F WHERE amount > {a} AND code = {c}" for a in (1, 5) for c in (0, 1, 2)]
    network = network_of(*texts)
    assert len(of_kind(network, Selection)) == 5
    assert all(len(plan.nodes) == 2 for plan in network.queries.values())
    planner, made = Planner(), Network()
    for number, text in enumerate(texts):
        made = planner.register(made, f"q{number}", query(text)).network
    few = planner.drop(made, [f"q{number}" for number in range(4)])
    assert all(len(plan.nodes) == 1 for plan in few.queries.values())


AMOUNTS, CODES = (
    ("amount > 5", "amount > 1 AND day > DATE '2002-01-02'"),
    ("code = 0 AND id > 1", "code = 1", "code = 2"),
)


def test_a_join_of_many_ranges_leaves_out_the_wide_gap_between_them() -> None:
    ranges = [f"{100 * n} AND {100 * n + 5}" for n in range(25)]
    texts = [f"SELECT a.id, b.id FROM F a, F b WHERE a.dst = b.src AND a.id BETWEEN {r}" for r in ranges]
    far = texts[0].replace(ranges[0], "1000000 AND 1000005")
    (join,) = of_kind(network_of(far, *texts), Join)
    between = pred_set([or_pred([Literal(Column("id", INTEGER), Operator.EQ, Constant(500_000, INTEGER))])])
    assert FALSE in [normalized(conjunction(read.required, between)) for read in join.reads]


def test_conditions_that_are_only_asked_for_together_are_one_node() -> None:
    texts = [f"SELECT id FROM F WHERE {a} AND {c}" for a in AMOUNTS for c in CODES]
    planner, queries = Planner(), {f"q{number}": query(text) for number, text in enumerate(texts, start=1)}
    made = planned(*texts, planner=planner)
    assert len(of_kind(made.network, Selection)) == 5
    assert all(len(plan.nodes) == 2 for plan in made.network.queries.values())
    assert any(note.startswith("combined: ") for note in made.explanation.notes)
    evaluation = Evaluation(rows(3, 40))
    check(made.network, evaluation, queries)
    # Another query that asks for one of them alone takes them apart, and together they are put again when it goes.
    queries["alone"] = query("SELECT id FROM F WHERE id > 1 AND code = 1")
    apart = planner.register(made.network, "alone", queries["alone"]).network
    assert len(of_kind(apart, Selection)) == 6
    check(apart, evaluation, queries)
    del queries["alone"]
    again = planner.drop(apart, ["alone"])
    assert again.nodes.keys() == made.network.nodes.keys()
    check(again, evaluation, queries)


def test_a_condition_of_its_own_is_one_node_more_and_changes_no_other() -> None:
    combined = [f"SELECT id FROM F WHERE {a} AND {c}" for a in AMOUNTS for c in CODES]
    before = network_of(*combined)
    network = network_of(*combined, f"SELECT id FROM F WHERE {AMOUNTS[0]} AND src = 'a'")
    assert all(len(plan.nodes) == 2 for plan in network.queries.values())
    assert len(network.nodes) == len(before.nodes) + 1 and before.nodes.keys() <= network.nodes.keys()


def test_a_query_reads_the_node_of_an_operator_that_needs_just_its_rows() -> None:
    combined = [f"SELECT id FROM F WHERE {a} AND {c}" for a in AMOUNTS for c in (*CODES, "code = 3")]
    ordered = f"SELECT src, ROW_NUMBER() OVER (ORDER BY id) FROM F WHERE {AMOUNTS[0]} AND {CODES[0]}"
    network = network_of(ordered, *combined)
    assert [len(plan.nodes) for plan in network.queries.values()] == [1, 1, *[2] * 7]
    # Where it comes later it changes no query, and the nodes are right as they were.
    later = network_of(*combined, ordered)
    assert [len(plan.nodes) for plan in later.queries.values()] == [2] * 8 + [1]


def test_a_query_of_one_condition_reads_the_node_that_others_combine() -> None:
    combined = [f"SELECT id FROM F WHERE {a} AND {c}" for a in AMOUNTS for c in CODES]
    assert reused(combined, f"SELECT dst FROM F WHERE {CODES[0]}")


def test_conditions_on_rows_that_may_be_retracted_are_combined_too() -> None:
    totals = "SELECT src, SUM(amount), COUNT(*) FROM F GROUP BY src HAVING SUM(amount) > {} AND COUNT(*) > {}"
    texts = [totals.format(amount, count) for amount in (1, 5) for count in (1, 2, 3)]
    network = network_of(*texts)
    assert all(len(plan.nodes) == 2 for plan in network.queries.values())
    assert len(of_kind(network, Selection)) == 5
    check(network, Evaluation(rows(3, 40)), {f"q{i}": query(text) for i, text in enumerate(texts, start=1)})


def test_aggregates_combine_conditions_as_queries_do() -> None:
    texts = [f"SELECT src, COUNT(*) FROM F WHERE {a} AND {c} GROUP BY src" for a in AMOUNTS for c in CODES]
    planner, queries = Planner(), {f"q{number}": query(text) for number, text in enumerate(texts, start=1)}
    made, evaluation = planned(*texts, planner=planner), Evaluation(rows(3, 40))
    network = made.network
    assert len(of_kind(network, Selection)) == 5
    assert any(note.startswith("combined: ") and " groups what " in note for note in made.explanation.notes)
    assert [len(node.parents) for node in of_kind(network, Aggregate)] == [2] * 6
    check(network, evaluation, queries)
    # A join needs one node that has a combination's rows, and then the aggregate reads it too.
    whole = f"{AMOUNTS[0]} AND {CODES[0]}"
    queries["joined"] = query(f"SELECT a.id FROM (SELECT * FROM F WHERE {whole}) a JOIN F b ON a.dst = b.src")
    joined = planner.register(network, "joined", queries["joined"]).network
    check(joined, evaluation, queries)
    # Of many that go, the others are what they would be without them.
    left = planner.drop(joined, [f"q{number}" for number in range(3, 7)] + ["joined"])
    check(left, evaluation, {name: queries[name] for name in ("q1", "q2")})
    assert left.nodes.keys() == network_of(*texts[:2]).nodes.keys()


def test_without_reroute_each_combination_is_a_node() -> None:
    texts = [f"SELECT id FROM F WHERE amount > {a} AND code = {c}" for a in (1, 5) for c in (0, 1, 2)]
    network = network_of(*texts, options=Options(reroute=False))
    assert all(len(plan.nodes) == 1 for plan in network.queries.values())


def test_a_join_that_lost_its_readers_tests_again_what_the_rest_wants() -> None:
    planner = Planner()
    tight = planner.register(Network(), "tight", query(PATH + " AND b.amount > 5")).network
    both = planner.register(tight, "loose", query(PATH)).network
    (before,), (loose,) = of_kind(tight, Join), of_kind(both, Join)
    assert before.id == loose.id and len(loose.predicates.or_preds) < len(before.predicates.or_preds)
    assert of_kind(planner.drop(both, ["loose"]), Join) == [before]


@pytest.mark.parametrize("off", ["restructure", "reroute"])
def test_joins_stay_apart_where_changing_old_ones_is_off(off: str) -> None:
    texts = {
        "restructure": [
            f"{PATH.split(' AND')[0]} AND a.amount > b.amount",
            f"{PATH.split(' AND')[0]} AND a.day < b.day",
        ],
        "reroute": [PATH, PATH.split(" AND")[0]],
    }[off]
    assert len(of_kind(network_of(*texts), Join)) == 1
    assert len(of_kind(network_of(*texts, options=Options(reroute=False, restructure=False)), Join)) == 2


def test_a_join_of_rows_that_are_taken_back_is_changed_like_others() -> None:
    groups = "SELECT a.id FROM F a, (SELECT src, COUNT(*) AS n FROM F GROUP BY src) g WHERE a.src = g.src"
    assert len(of_kind(network_of(f"{groups} AND a.code > 2", groups), Join)) == 1


def test_a_self_join_is_turned_so_that_it_keeps_most_of_what_it_tests() -> None:
    later = "SELECT b.id FROM F a, F b WHERE a.src = b.src AND b.day > a.day AND {}"
    network = network_of(later.format("a.code = 1"), later.format("a.code = 2 AND b.day < a.day + 40"))
    (join,) = of_kind(network, Join)
    assert "<> 0" not in str(join.predicates) and "< 40" not in str(join.predicates)


def test_a_join_of_three_names_columns_by_leaf() -> None:
    network = network_of("SELECT c.id FROM F a, F b, F c WHERE a.dst = b.src AND b.dst = c.src AND c.amount = a.amount")
    (plan,) = network.queries.values()
    carried = carried_columns(network)[plan.read.root]
    assert set(carried) == {plan.outputs[0].expression.name}  # type: ignore[union-attr]
    assert [network.join_levels[node.id] for node in of_kind(network, Join)] == [1, 2]


def test_a_node_carries_only_what_somebody_reads() -> None:
    planner = Planner()
    first = planner.register(Network(), "q1", query(BIG)).network
    both = planner.register(first, "q2", query(BIG.replace("id", "src"))).network
    (source,) = first.trees
    assert set(carried_columns(first)[source]) == {"id"}
    assert set(carried_columns(both)[source]) == {"id", "src"}
    assert set(carried_columns(planner.drop(both, ["q2"]))[source]) == {"id"}


def test_an_explanation_tells_what_was_shared_with_whom() -> None:
    told = planned(PATH, "SELECT a.day FROM F a WHERE a.amount > 5").explanation
    assert [(d.created, d.shared_with) for d in told.decisions] == [(False, ("q1",)), (False, ("q1",))]
    assert "q1" in str(ExplanationView.of(told))


def test_an_explanation_tells_which_joins_were_considered() -> None:
    other = "SELECT a.id FROM F a, F b WHERE a.code = b.id"
    told = planned(PATH, f"{other} AND a.amount > 5", f"{PATH} AND b.amount > 5").explanation
    (considered,) = [d.candidates for d in told.decisions if d.rule == Rule.SUBSUMES]
    assert [c.chosen for c in considered] == [True]
    assert considered[0].cost is not None and considered[0].cost > 0
    assert told == Explanation.from_rows("q3", told.rows())


def test_a_near_miss_is_told_once() -> None:
    told = planned(PATH, "SELECT a.id FROM F a, F b WHERE a.code = b.id").explanation
    (considered,) = [d.candidates for d in told.decisions if d.rule == Rule.NEW and d.candidates]
    assert len(considered) == 1
    assert "it tests" in considered[0].reason


def near_misses(told: Explanation) -> list[tuple[str, str]]:
    return [(c.name, c.reason) for d in told.decisions for c in d.candidates if c.rule == NEAR_MISS]


@pytest.mark.parametrize(
    ("there", "asked", "reason"),
    [
        ("amount > 500", "amount > 400", "with amount > 500 instead of amount > 400 this would be the same node"),
        ("amount > 500", "amount > 600", "with amount > 500 instead of amount > 600 this would be the same node"),
        (
            "amount > 500 AND code = 1",
            "code = 1 AND amount > 9",
            "with amount > 500 instead of amount > 9 this would be",
        ),
        ("amount > 500 AND code = 1", "code = 1", "with amount > 500 too this would be the same node"),
    ],
)
def test_a_selection_with_one_other_condition_is_a_near_miss(there: str, asked: str, reason: str) -> None:
    told = planned(f"SELECT id FROM F WHERE {there}", f"SELECT id FROM F WHERE {asked}").explanation
    ((name, why),) = near_misses(told)
    assert why.startswith(reason) and name.startswith("selection ") and name.endswith("of q1")
    assert f"near miss: the {name}: {reason}" in str(ExplanationView.of(told))
    assert told == Explanation.from_rows("q2", told.rows())


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        ("amount > 500", "amount > 500"),
        ("amount > 500", "code = 1"),
        ("amount > 500", "amount > 500 AND code = 1"),
        ("amount > 500 AND code = 1", "amount > 400 AND code = 2"),
        ("amount > 500 AND code = 1", "id = 3"),
    ],
)
def test_what_is_shared_or_far_off_is_no_near_miss(there: str, asked: str) -> None:
    told = planned(f"SELECT id FROM F WHERE {there}", f"SELECT id FROM F WHERE {asked}").explanation
    assert near_misses(told) == []


def test_the_two_near_misses_that_most_queries_read_are_told() -> None:
    others = [f"SELECT id FROM F WHERE amount > {n}" for n in range(500, 505)]
    told = planned(*others, "SELECT day FROM F WHERE amount > 502", "SELECT id FROM F WHERE amount > 9").explanation
    (first, _), (second, _) = near_misses(told)
    assert first == "selection amount > 500 of q1 and 5 more" and second.startswith("selection amount > 501")


def test_a_set_operator_is_computed_from_a_smaller_one_that_comes_later_and_goes() -> None:
    planner = Planner()
    chain = planner.register(
        Network(), "chain", query("SELECT src FROM F EXCEPT SELECT dst FROM F EXCEPT SELECT name FROM G")
    ).network
    both = planner.register(chain, "part", query("SELECT src FROM F EXCEPT SELECT dst FROM F")).network
    part, whole = (both.queries[name].nodes[0] for name in ("part", "chain"))
    assert part in both.nodes[whole].parents
    assert isinstance(both.nodes[whole], SetOperation)
    assert planner.drop(both, ["part"]) == chain


def test_nothing_is_shared_where_sharing_is_off() -> None:
    network = network_of(BIG, BIG, options=Options(sharing=False))
    assert len(network.nodes) == 4


def test_dropping_a_query_of_none_changes_nothing() -> None:
    network = network_of(BIG)
    assert Planner().drop(network, []) is network


GROUPS = "SELECT src, COUNT(*) FROM F GROUP BY src"


@pytest.mark.parametrize(
    ("registered", "text", "expected"),
    [
        (BIG, BIG, True),
        (BIG, "SELECT src FROM F WHERE 5 < amount", True),
        (BIG, "SELECT id FROM F WHERE amount > 5 AND amount > 4", True),
        (BIG, "SELECT id FROM F WHERE amount > 4", False),
        ("SELECT id FROM F WHERE amount > 4", BIG, False),
        (PATH, "SELECT b.id FROM F b, F a WHERE b.src = a.dst AND a.amount > 5", True),
        (PATH, f"{PATH} AND b.amount > 5", False),
        (GROUPS, GROUPS.replace("COUNT(*)", "SUM(amount), COUNT(*)"), True),
        (GROUPS, GROUPS.replace("src", "dst"), False),
        (["SELECT src FROM F UNION SELECT dst FROM F"], "SELECT dst FROM F UNION SELECT src FROM F", True),
        (["SELECT src FROM F EXCEPT SELECT dst FROM F"], "SELECT dst FROM F EXCEPT SELECT src FROM F", False),
    ],
)
def test_a_query_reuses_what_is_there_or_does_not(registered: list[str] | str, text: str, expected: bool) -> None:
    assert reused(registered, text) is expected
