"""Which roots run as one operator, and what happens to its name as roots come, go and change."""

from __future__ import annotations

import pytest
from engine.growing_network import Planning, total

from workbench.engine.physical.fusion import fused_operators
from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import AggregatePlan
from workbench.network.nodes import Aggregate

pytestmark = pytest.mark.usefixtures("spark_soundex")


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
    planning.register("from rows", total(1))
    planning.register("from rows, too", total(2))
    planning.register("from rows, other group", total(3, group="h"))
    operators = fused_operators(planning.network, {}, frozenset())
    aggregates = [roots for roots in operators.values() if isinstance(planning.network.nodes[roots[0]], Aggregate)]
    assert sorted(map(len, aggregates)) == [1, 2]


def test_no_statistic_makes_those_beside_it_read_rows() -> None:
    """Statistics of the same groups of the same rows share a node, whatever they are."""
    planning = Planning()
    calls = [
        *("COUNT(*)", "SUM(a)", "MAX_BY(h, a)", "CORR(a, a + 1)", "KURTOSIS(a)", "LISTAGG(h, ',')", "MODE(h)"),
        *("SIZE(ARRAY_AGG(h))", "SUM(DISTINCT CAST(a AS DECIMAL(38, 10)))", "SUM(CAST(a AS DECIMAL(38, 10)))"),
        *("PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY h)", "COUNT(DISTINCT a, h)", "REGR_R2(a, a)", "BIT_XOR(a)"),
        "STDDEV(a / 3)",
    ]
    taken_back = "(SELECT DISTINCT g, h, a FROM F) AS q"
    for at, call in enumerate(calls):
        planning.register(f"q{at}", f"SELECT g, {call} AS s FROM F GROUP BY g")
        planning.register(f"retracted{at}", f"SELECT g, {call} AS s FROM {taken_back} GROUP BY g")
    plans = [plan for plan in plan_trees(planning.network, {}).values() if isinstance(plan, AggregatePlan)]
    assert len(plans) == 3 and all(plan.grouped.anew is None for plan in plans)
    assert max(len(plan.grouped.finals) + len(plan.grouped.from_values) for plan in plans) >= len(calls)


def test_groupings_without_a_kernel_are_stored_with_the_rows_and_run_with_the_others() -> None:
    planning = Planning()
    for i, group in enumerate(("g", "YEAR(d)", "SPARK_SOUNDEX(h)", "SPARK_SOUNDEX(CONCAT(h, g))")):
        planning.register(f"q{i}", f"SELECT {group}, COUNT(*) AS n FROM F GROUP BY {group}")
    assert planning.sizes() == [4]
    plans = plan_trees(planning.network, {})
    (grouped,) = [plan for plan in plans.values() if isinstance(plan, AggregatePlan)]
    stored = grouped.grouped.stored(0)
    assert len(stored) == 2 and stored.items() <= plans[grouped.inputs[0][0]].keys.items()


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


def test_another_grouping_is_all_that_its_tree_lacks() -> None:
    """Its columns are NULL in the groups of the others."""
    planning = Planning()
    planning.register("q0", "SELECT g, COUNT(*) AS n FROM F GROUP BY g")
    name = planning.of("q0")
    old = plan_trees(planning.network, {})[name]
    planning.register("q1", "SELECT h, a, COUNT(*) AS n FROM F GROUP BY h, a")
    new = plan_trees(planning.network, {name: old.bits})[name]
    assert isinstance(old, AggregatePlan) and isinstance(new, AggregatePlan)
    assert new.kept.keys() - old.kept.keys() == {"h", "a"} == new.grouped.groups.keys() - old.grouped.groups.keys()
    assert old.missing_roots(new) == (planning.network.queries["q1"].read.root,)


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
