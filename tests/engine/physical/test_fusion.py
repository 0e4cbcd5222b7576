"""Which roots run as one operator, and what happens to its name as roots come, go and change."""

from __future__ import annotations

from engine.growing_network import Planning, total

from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import AggregatePlan
from workbench.network.nodes import Aggregate


def test_groups_of_one_form_run_as_one_and_others_do_not() -> None:
    planning = Planning()
    for i in range(5):
        planning.register(f"q{i}", total(i))
    assert planning.sizes() == [5]
    planning.register("other group", total(9, group="h"))
    planning.register("other statistic", total(10, "MAX(a)"))
    assert planning.sizes() == [1, 6]
    planning.register("counts of values", total(11, "MEDIAN(a)"))
    planning.register("counts of values, other group", total(12, "MEDIAN(a)", group="h"))
    assert planning.sizes() == [1, 2, 6]


def test_what_is_computed_from_rows_runs_with_the_same_groups_only() -> None:
    planning = Planning()
    values = "SUM(DISTINCT CAST(a AS DECIMAL(38, 10)))"
    planning.register("from rows", total(1, values))
    planning.register("from rows, too", total(2, values))
    planning.register("from rows, other group", total(3, values, group="h"))
    assert planning.sizes() == [1, 2]


def test_set_operators_over_siblings_are_siblings() -> None:
    planning = Planning()
    for i in range(3):
        planning.register(f"q{i}", f"SELECT g FROM F WHERE a > {i} EXCEPT SELECT h FROM F WHERE a < {-i - 1}")
    sets = [roots for roots in planning.operators.values() if len(roots) == 3]
    assert len(sets) == 1


def test_an_operator_keeps_its_name_when_who_gave_it_goes() -> None:
    planning = Planning()
    planning.register("first", total(1))
    name = planning.of("first")
    planning.register("second", total(2))
    planning.drop("first")
    assert planning.of("second") == name
    planning.register("first", total(1))
    assert planning.of("first") == name and planning.sizes() == [2]


def test_who_asks_for_more_than_its_siblings_leaves_and_the_others_stay() -> None:
    planning = Planning()
    for i in range(3):
        planning.register(f"q{i}", total(i))
    name = planning.of("q0")
    planning.register("more", total(1, "MAX(a)"))
    assert planning.of("q0") == planning.of("q2") == name
    assert planning.of("q1") == planning.of("more") != name


def test_who_has_left_alone_keeps_the_name() -> None:
    planning = Planning()
    planning.register("q", total(1))
    name = planning.of("q")
    planning.register("more", total(1, "MAX(a)"))
    assert planning.of("q") == planning.of("more") == name


def test_who_joins_a_family_is_all_that_its_tree_lacks() -> None:
    planning = Planning()
    planning.register("q0", total(0))
    name = planning.of("q0")
    old = plan_trees(planning.network, {})[name]
    planning.register("q1", total(1))
    new = plan_trees(planning.network, {name: old.bits})[name]
    assert not old.covers(new) and old.missing_roots(new) == (planning.network.queries["q1"].read.root,)
    planning.register("q2", total(1, having=5))
    wider = plan_trees(planning.network, {name: new.bits})[name]
    assert not new.covers(wider) and not new.missing_roots(wider)
    assert wider.covers(new) and wider.covers(wider)


def test_coarser_groups_are_computed_beside_finer_ones() -> None:
    planning = Planning()
    planning.register("fine", total(1, group="g, h"))
    planning.register("coarse", total(1, group="g"))
    coarse = planning.network.nodes[planning.network.queries["coarse"].read.root]
    assert isinstance(coarse, Aggregate) and coarse.finer is not None
    plans = plan_trees(planning.network, {})
    (plan,) = (plan for plan in plans.values() if isinstance(plan, AggregatePlan))
    ((source, read),) = plan.inputs
    assert len(plan.roots) == 2 and planning.network.roots[read[0][0]] == source and read[0] == read[1]
