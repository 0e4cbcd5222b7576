"""Equalities that follow from those of the joins below say nothing more of how many rows a join has."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from sharing.small_streams import data, query, statistics

from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.sharing.planner import Planner

ALIASES = {"a": "F", "b": "H", "c": "G", "d": "F", "e": "H"}


def rows_of_joins(pairs: list[tuple[str, str]]) -> list[float]:
    """The estimated rows of the joins of a query whose inputs have equal ids, by these equalities."""
    inputs = ", ".join(f"{stream} {alias}" for alias, stream in ALIASES.items())
    equalities = " AND ".join(f"{left}.id = {right}.id" for left, right in pairs)
    planner = Planner(streams=statistics(data(1, rows=200)))
    sql = f"SELECT a.code, e.code FROM {inputs} WHERE {equalities}"
    network = planner.register(Network(), "q", query(sql)).network
    estimates = planner.estimates.over(network.nodes)
    joins = (node for node in network.nodes.values() if isinstance(node, Join))
    return sorted(estimates.joined(join.roots, join.predicates) for join in joins)


@pytest.mark.parametrize("pairs", [[*pairwise(ALIASES)], [*combinations(ALIASES, 2)]], ids=["chain", "all"])
def test_whichever_equalities_are_written(pairs: list[tuple[str, str]]) -> None:
    """10,000 rows in each input, one in ten without an id, and six ids."""
    *_, last = rows_of_joins(pairs)
    assert last == pytest.approx(10_000**5 * 0.9**5 / 6**4, rel=0.3)
