"""A text planned as a session plans it, without Spark: bound, checked, folded into an empty network, made operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import TreePlan
from workbench.network.network import Network, check_name
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import columns
from workbench.sql.algebra.planning_cache import PlanningCache
from workbench.sql.binder.pipeline import bind
from workbench.sql.checks import checks_of
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema


@dataclass(frozen=True)
class Planned:
    """The logical query of a text, and the network that has it and its checks alone."""

    logical: LogicalQuery
    network: Network


def planned(sql: str, schema: Schema, dialect: str = "spark") -> Planned:
    """Plan a text up to the operators that would run."""
    with PlanningCache().active():
        logical = bind(sql, dialect, schema).named("q")["q"]
        planner = Planner()
        network = planner.register(Network(), "q", logical, sql, dialect).network
        for number, check in enumerate(checks_of(logical), start=1):
            network = planner.register(network, check_name("q", number), check.query).network
        check_keys(plan_trees(network, {}).values())
    return Planned(logical, network)


def check_keys(plans: Iterable[TreePlan]) -> None:
    """Assert that what is stored to look rows up by is computed from columns that the rows have."""
    for plan in plans:
        lacking = (
            {c.name for key in plan.computed.values() for c in columns(key)} - plan.produced.keys() - plan.kept.keys()
        )
        assert not lacking, (plan.name, lacking)
