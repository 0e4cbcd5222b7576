"""What a hydration is predicted to take, from the rows that it reads and from the hydrations before."""

from __future__ import annotations

import pandas as pd
import pytest
from sharing.small_streams import data, query, statistics

from workbench.engine.spark.in_process import InProcess
from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.optimizer.cardinality import Estimates
from workbench.optimizer.hydration_cost import (
    SEEN,
    HydrationWork,
    PastHydration,
    hydration_work,
    predicted_seconds,
)
from workbench.session.session import Session
from workbench.sharing.planner import Planner

PAIRS = "SELECT b.id, c.id FROM F b, F c WHERE b.day = c.day AND b.code < c.code"
LARGE, SMALL = HydrationWork(4, 3_000_000.0), HydrationWork(1, 100.0)


def took(work: HydrationWork, times: float) -> PastHydration:
    """A hydration that took a multiple of what is typical."""
    return PastHydration(work, times * work.typical_seconds)


def test_what_is_typical_counts_until_more_is_known() -> None:
    assert predicted_seconds([], LARGE) == LARGE.typical_seconds
    assert predicted_seconds([took(LARGE, 1)] * 5, LARGE) == pytest.approx(LARGE.typical_seconds)


def test_it_learns_what_hydrations_take() -> None:
    for times in (0.2, 5):
        learnt = [
            predicted_seconds([took(LARGE, times)] * seen, LARGE) / LARGE.typical_seconds for seen in (1, 3, SEEN)
        ]
        near = [abs(times - each) for each in learnt]
        assert near == sorted(near, reverse=True) and learnt[-1] == pytest.approx(times, rel=0.3)


def test_one_of_another_size_says_little() -> None:
    assert predicted_seconds([took(SMALL, 10)] * 3, LARGE) < 1.5 * LARGE.typical_seconds
    assert predicted_seconds([took(LARGE, 10)] * 3, LARGE) > 4 * LARGE.typical_seconds


def test_the_last_ones_count_most() -> None:
    faster, slower = ([took(LARGE, times) for times in order] for order in ((4, 4, 4, 1, 1, 1), (1, 1, 1, 4, 4, 4)))
    assert predicted_seconds(faster, LARGE) < predicted_seconds(slower, LARGE)


def test_work_is_what_operators_read_and_compare() -> None:
    streams = statistics(data(1))
    planner = Planner(streams=streams)
    network = planner.register(Network(), "pairs", query(PAIRS)).network
    (node,) = (node for node in network.nodes.values() if isinstance(node, Join))
    sources = [root for root in network.trees if root != node.id]
    number = streams["f"].rows
    assert hydration_work(planner.estimates, network.nodes, [sources]) == HydrationWork(1, number)
    estimates = Estimates(streams, network.nodes)
    pairs = max(find(node.roots, node.predicates) for find in (estimates.examined, estimates.joined))
    assert hydration_work(planner.estimates, network.nodes, [sources, [node.id]]) == HydrationWork(
        2, 3 * number + pairs
    )
    assert hydration_work(planner.estimates, network.nodes, []) == HydrationWork(0, 0)


@pytest.mark.parametrize("rows", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("more", [1.0, 1.5])
def test_what_was_measured_bounds_what_is_estimated_wrongly(rows: float, more: float) -> None:
    past = [PastHydration(HydrationWork(11, rows), 0.2)]
    assert predicted_seconds(past, HydrationWork(11, more * rows)) <= 2.0


ROOMS = [{"guests": [{"name": "a", "age": age} for age in range(n)]} for n in range(3)]
EXPLODED = (
    "SELECT r FROM b, LATERAL explode(b.rooms) AS t(r)",
    "SELECT r FROM b LATERAL VIEW OUTER explode(b.rooms) t AS r",
    "SELECT g.age FROM b, LATERAL explode(b.rooms) AS t(r), LATERAL explode(r.guests) AS u(g) WHERE g.age > 0",
    "SELECT p, g FROM b, LATERAL explode(b.rooms) AS t(r), LATERAL posexplode(r.guests) AS u(p, g)",
)


@pytest.mark.parametrize("sql", EXPLODED)
def test_the_places_of_arrays_are_no_rows_that_each_row_is_paired_with(sql: str) -> None:
    """Estimates of rows and pairs stay near the elements that there are, also for arrays that are too long."""
    with Session(InProcess()) as session:
        session.add_stream("b", pd.DataFrame({"id": range(2000), "rooms": [ROOMS] * 2000}), history=2000, batch=100)
        session.register(sql, name="q")
        state = session.parts.store.state
        (past,) = state.hydrations
        assert past.work.rows < 200 * 2000, "arrays may have 10,000 places"
        assert sum(each.work.typical_seconds for each in state.hydrations) < 10
