"""How the pairs of a shared join are looked up: as its readers want them, together where they want the same."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from engine.dated_rows import COLUMN_TYPES, FEW_PAIRS, days, fits, key, rows, written

from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.physical.access_paths import AccessPath, access_paths
from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import JoinPlan
from workbench.engine.storage.indexes import key_index
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.scan import Scan
from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.predicates.cnf import pred_set, rename_predicates
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={"M": (("k", STRING), ("z", STRING), ("b", DATE), ("y", INTEGER), ("d", DATE), ("x", DOUBLE))},
    functions={},
)

Found = tuple[tuple[str, ...], float, float]

NEAR, SAME_PLACE = "a.k = c.k AND c.d - a.d BETWEEN 0 AND 9", "a.k = c.k AND a.z = c.z AND c.d >= a.d + 9"

JOINS: dict[str, tuple[list[str], set[Found]]] = {
    "one reader": ([NEAR], {(("k",), 0, 9)}),
    "two that want different pairs": ([NEAR, SAME_PLACE], {(("k",), 0, 9), (("k", "z"), 9, inf)}),
    "a weaker key within days": (["a.k = c.k AND a.z = c.z", NEAR], {(("k", "z"), -inf, inf), (("k",), 0, 9)}),
    "one that wants all that another one wants": (["a.k = c.k AND a.d <= c.d", NEAR], {(("k",), 0, inf)}),
    "days that meet": ([NEAR, "a.k = c.k AND c.d - a.d BETWEEN 10 AND 20"], {(("k",), 0, 20)}),
    "days apart": ([NEAR, "a.k = c.k AND c.d - a.d BETWEEN 12 AND 20"], {(("k",), 0, 9), (("k",), 12, 20)}),
    "single days": (["a.k = c.k AND c.d = a.d + 1", "a.k = c.k AND c.d = a.d + 2"], {(("k",), 1, 2)}),
    "either": (["a.k = c.k AND (a.b = c.b OR a.y = c.y)"], {(("b", "k"), -inf, inf), (("k", "y"), -inf, inf)}),
    "either, and nothing else": (["(a.b = c.b OR a.y = c.y)"], {(("b",), -inf, inf), (("y",), -inf, inf)}),
    "days alone": (["c.d - a.d BETWEEN 0 AND 3"], {((), 0, 3)}),
    "days without an end": (["c.d > a.d"], {((), 1, inf)}),
    "no total order": (["(a.b = c.b OR a.x = c.x)"], set()),
    "either, or something else": (["a.k = c.k AND (a.b = c.b OR a.y < 3)"], {(("k",), -inf, inf)}),
}


def join_of(condition: str) -> Join:
    logical = bind(f"SELECT a.k, c.z FROM M a, M c WHERE {condition}", "spark", SCHEMA).query
    assert logical is not None
    network = Planner().register(Network(), "q", logical).network
    (join,) = (node for node in network.nodes.values() if isinstance(node, Join))
    return join


def join_ways(conditions: list[str], most: int = 16) -> tuple[AccessPath, ...]:
    """The ways of a join that readers share who want these, and that tests what they have in common."""
    joins = [join_of(condition) for condition in conditions]
    common = frozenset.intersection(*(frozenset(join.tested) for join in joins))
    shared = replace(joins[0], tested=pred_set(common))
    return access_paths(shared, [rename_predicates(join.tested, shared.names.output) for join in joins], most)


def test_a_network_plans_its_joins_so() -> None:
    network = Network()
    for name, condition in {"wide": "a.k = c.k AND c.d >= a.d", "place": SAME_PLACE}.items():
        logical = bind(f"SELECT a.k, c.z FROM M a, M c WHERE {condition}", "spark", SCHEMA).query
        assert logical is not None
        network = Planner().register(network, name, logical).network
    plans = plan_trees(network, {})
    found = {plan.access_paths for plan in plans.values() if isinstance(plan, JoinPlan)}
    assert {way.key_columns(0) for some in found for way in some} >= {("k",)} and () not in found


def described(found: tuple[AccessPath, ...]) -> set[Found]:
    bands = [way.bands or (days(-inf, inf),) for way in found]
    return {(way.key_columns(0), band.low, band.high) for way, (band,) in zip(found, bands, strict=True)}


@pytest.mark.parametrize("name", JOINS)
def test_the_access_paths_of_a_join(name: str) -> None:
    conditions, wanted = JOINS[name]
    # Which side is left is the network's choice.
    turned = {(columns, -high, -low) for columns, low, high in wanted}
    assert described(join_ways(conditions)) in (wanted, turned)


def test_too_many_ways_are_that_of_all() -> None:
    (way,) = join_ways([NEAR, SAME_PLACE], most=1)
    assert way.key_columns(0) == ("k",)


WAYS = [
    (AccessPath((key("k"),), (days(0, 9),)), AccessPath((key("k"), key("z")), (days(5, inf),))),
    (AccessPath((), (days(-1, 4),)), AccessPath((key("z"),)), AccessPath((key("k"),))),
    (AccessPath((), (days(0, 0),)),),
    (
        AccessPath((key("k"),), (days(-5, 1),)),
        AccessPath((key("k"),), (days(9, 30),)),
        AccessPath((key("z"),)),
    ),
]


@pytest.mark.parametrize("some", WAYS)
@pytest.mark.parametrize("collide", [False, True])
def test_a_pair_is_handed_on_once_whatever_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, some: tuple[AccessPath, ...], collide: bool
) -> None:
    if collide:
        monkeypatch.setattr(key_index, "value_bits", lambda column: np.zeros(len(column), dtype=np.uint64))
    random = Random(11)
    parts = [rows(random, count) for count in (40, 30, 25, 20)]
    inputs = [InputRows(written(parts[0], tmp_path), written(parts[1], tmp_path))]
    inputs.append(InputRows(written(parts[2], tmp_path), written(parts[3], tmp_path)))
    keys = tuple(pa.field(name, COLUMN_TYPES[name]) for name in ("k", "z", "d"))
    leaf = Scan(pa.schema([("id", pa.int64())]), (("id", "bigint"),), keys, None)
    got = [
        (row["l_id"], row["r_id"])
        for task in range(2)
        for batch in IndexJoin(leaf, leaf, some).pairs(TaskInput(1, tuple(inputs), (), task, 2, FEW_PAIRS))
        for row in batch.to_pylist()
    ]
    halves = [(parts[0], pa.concat_tables([parts[3], parts[2]])), (parts[1], parts[2])]
    pairs = [(a, c) for left, right in halves for a in left.to_pylist() for c in right.to_pylist()]
    wanted = [(a["id"], c["id"]) for a, c in pairs if any(fits(way, a, c) for way in some)]
    if collide and len(some) == 1:
        # One way alone leaves telling collisions to Spark, which tests all pairs anyway.
        assert set(wanted) <= set(got)
    else:
        assert sorted(got) == sorted(wanted) and wanted


EQUALITIES = [
    "a.n + 1 = b.n", "a.n = b.n - 2", "a.n * 2 = b.n", "a.n + b.n = 10", "-a.n = b.n", "a.n % 7 = b.n % 7 + 1",
    "a.n = b.n + b.n % 3", "a.n IN (b.n, b.n + 1)", "a.n - b.n IN (1, 2)", "NOT (a.n <> b.n)", "a.n / 2 = b.x",
    "a.n = b.p", "a.p = b.q", "a.p = b.w", "a.n = b.w", "a.p * 2 = b.q", "a.p / 2 = b.q", "a.p = b.x", "a.x + 1 = b.x",
    "YEAR(a.d) + 1 = YEAR(b.d)", "MONTH(a.d) = MONTH(b.d) + 1", "a.d = b.t", "CAST(a.t AS DATE) = b.d",
    "a.d + INTERVAL 1 DAY = b.d", "a.t = b.t + INTERVAL 1 HOUR", "ADD_MONTHS(a.d, 1) = b.d", "LOWER(a.s) = b.s",
    "CAST(a.n AS STRING) = b.s", "CASE WHEN a.n > 3 THEN a.n ELSE a.n + 1 END = b.n",
    *(f"a.{c} IS NOT DISTINCT FROM b.{c}" for c in ("n", "p", "w", "s", "d", "t")), "a.n IS NOT DISTINCT FROM b.p",
    "LOWER(a.s) <=> b.s", "a.n = b.n OR (a.n IS NULL AND b.n IS NULL)",
]  # fmt: skip
"""Equalities of the two sides by which rows are to find each other, whatever the types and however they are written."""
BOUNDS = ["ABS(a.x - b.x) < 0.5", "a.x - b.x <= 0.5", "a.x BETWEEN b.x - 1 AND b.x + 1", "ABS(a.p - b.p) < 0.5"]


@pytest.mark.parametrize("condition", EQUALITIES + BOUNDS)
def test_an_equality_or_bound_of_the_sides_finds_its_pairs(condition: str) -> None:
    """Not by looking at all pairs, which are 90,000 million of two streams of 300,000 rows."""
    types = {"n": INTEGER, "p": decimal(10, 2), "q": decimal(10, 3), "w": decimal(38, 10), "x": DOUBLE}
    types |= {"s": STRING, "d": DATE, "t": TIMESTAMP}
    schema = Schema(streams={name: tuple(types.items()) for name in "ab"})
    logical = bind(f"SELECT a.n, b.s FROM a JOIN b ON {condition}", "spark", schema).query
    assert logical is not None
    nodes = Planner().register(Network(), "q", logical).network.nodes.values()
    (join,) = (node for node in nodes if isinstance(node, Join))
    assert access_paths(join, [])
