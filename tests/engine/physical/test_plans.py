"""Which plans compute the same: their jobs are run again in the batch after another query came or went."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from engine.growing_network import Planning

from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import TreePlan

QUERIES = {
    "selection": "SELECT g, a FROM F WHERE a > 5",
    "strings": "SELECT a FROM F WHERE g = 'x' OR h LIKE 'y%'",
    "groups": "SELECT g, SUM(a) AS s FROM F GROUP BY g HAVING SUM(a) > 10",
    "join": "SELECT l.a, r.h FROM F l JOIN F r ON l.g = r.g WHERE r.a > l.a",
    "semijoin": "SELECT a FROM F WHERE EXISTS (SELECT 1 FROM F r WHERE r.g = F.g AND r.a > 3)",
    "union": "SELECT g FROM F WHERE a > 1 UNION ALL SELECT h FROM F",
    "difference": "SELECT g FROM F EXCEPT SELECT h FROM F",
    "ranks": "SELECT g, RANK() OVER (PARTITION BY g ORDER BY a) AS r FROM F",
}


def plans(planning: Planning, before: Mapping[str, TreePlan]) -> dict[str, TreePlan]:
    return plan_trees(planning.network, {name: plan.bits for name, plan in before.items()})


@pytest.fixture
def planned() -> tuple[Planning, dict[str, TreePlan]]:
    planning = Planning()
    for name, sql in QUERIES.items():
        planning.register(name, sql)
    return planning, plans(planning, {})


@pytest.mark.parametrize("again", QUERIES)
def test_another_reader_of_the_same_rows_changes_no_job(
    planned: tuple[Planning, dict[str, TreePlan]], again: str
) -> None:
    planning, before = planned
    planning.register("again", QUERIES[again])
    after = plans(planning, before)
    assert {name: plan.computes for name, plan in after.items()} == {n: plan.computes for n, plan in before.items()}
    planning.drop("again")
    assert {name: plan.computes for name, plan in plans(planning, after).items()} == {
        name: plan.computes for name, plan in before.items()
    }


@pytest.mark.parametrize(
    ("sql", "changed"),
    [
        ("SELECT g, a FROM F WHERE a > 6", {"F"}),
        ("SELECT g, a FROM F WHERE a > 5 AND g = 'z'", {"F"}),
        ("SELECT g, SUM(a) AS s FROM F GROUP BY g HAVING SUM(a) > 11", {"G"}),
        ("SELECT g, MAX(a) AS s FROM F GROUP BY g", {"G"}),
        ("SELECT l.a, r.h FROM F l JOIN F r ON l.g = r.g WHERE r.a > l.a AND l.h = 'x'", {"F", "J"}),
    ],
)
def test_what_must_be_computed_otherwise_has_other_jobs(
    planned: tuple[Planning, dict[str, TreePlan]], sql: str, changed: set[str]
) -> None:
    planning, before = planned
    planning.register("other", sql)
    after = plans(planning, before)
    differ = {name[0] for name in before if after[name].computes != before[name].computes}
    assert differ and differ <= changed
