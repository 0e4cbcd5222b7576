"""What batches report: an operator keeps its name while queries come and go, and totals over batches are added once."""

from __future__ import annotations

from engine.growing_network import Planning, total

from workbench.engine.incremental_step import operator_report
from workbench.engine.operators.filter_and_write import Delta
from workbench.engine.physical.planner import plan_trees
from workbench.engine.reports import BatchReport, OperatorReport, operator_totals


def test_an_operator_keeps_its_name_when_its_first_root_leaves() -> None:
    planning = Planning()
    for number in range(3):
        planning.register(f"q{number}", total(number))
    name = planning.of("q1")
    before = plan_trees(planning.network, {})
    first = next(query for query in ("q0", "q1", "q2") if planning.network.queries[query].read.root == name)
    planning.drop(first)
    after = plan_trees(planning.network, {tree: plan.bits for tree, plan in before.items()})
    reported = [operator_report(plans[name], Delta(), 0.1) for plans in (before, after)]
    assert [operator.name for operator in reported] == [name, name]
    assert name in reported[0].nodes and name not in reported[1].nodes


def test_totals_follow_an_operator_by_its_name() -> None:
    fused = OperatorReport("Ga", ("Ga", "Gb"), 10, 4, 0.2)
    alone = OperatorReport("Ga", ("Gb",), 5, 2, 0.1)
    source = OperatorReport("F", ("F",), 20, 20, 0.7)
    reports = [BatchReport(1, 20, 0.9, (source, fused)), BatchReport(2, 0, 0.0, ()), BatchReport(3, 9, 0.2, (alone,))]
    first, second = operator_totals(reports)
    assert (first.last, first.series) == (source, (0.7, 0.0, 0.0))
    assert (second.last, second.rows_in, second.rows_out, second.series) == (alone, 15, 6, (0.2, 0.0, 0.1))
    assert second.last.root == "Gb" and abs(first.share + second.share - 1) < 1e-9
    assert reports[0].operator_of("Gb") == fused and reports[2].operator_of("F") is None
