"""Where one pair of a row is enough: for whom that is so, and that every row has one that has any."""

from __future__ import annotations

from math import inf
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from engine.dated_rows import COLUMN_TYPES, FEW_PAIRS, days, fits, key, rows, written

from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import JoinPlan
from workbench.engine.physical.semijoin import Semijoin
from workbench.engine.storage.indexes import key_index
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.scan import Scan
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DATE, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={"M": (("k", STRING), ("z", STRING), ("d", DATE), ("i", INTEGER)), "N": (("k", STRING), ("i", INTEGER))},
    functions={},
)

LATER = "FROM M a, M c WHERE a.k = c.k AND a.d < c.d"
NEEDS_ONE = [
    f"SELECT DISTINCT c.k, c.d, c.i {LATER}",
    f"SELECT DISTINCT a.k, c.d, c.i {LATER}",
    f"SELECT DISTINCT a.z, a.i {LATER} AND c.d < a.d + 40",
    f"SELECT DISTINCT c.i {LATER} AND a.k >= 'b' AND c.z = 'x'",
    f"SELECT c.i, c.d {LATER} GROUP BY c.i, c.d",
    f"SELECT DISTINCT c.i {LATER} AND c.d - a.d <> 0 AND a.d - c.d < 5 AND c.d <> a.d - 3",
    f"SELECT i, z FROM M EXCEPT SELECT c.i, c.z {LATER}",
    f"SELECT DISTINCT c.i {LATER} AND a.z = 'x'",  # a selection below the join
    "SELECT DISTINCT a.i FROM M a, N c WHERE a.k = c.k",
    "SELECT DISTINCT a.i FROM M a, M c WHERE a.d < c.d",
]
NEEDS_ALL = [
    f"SELECT c.i {LATER}",
    f"SELECT DISTINCT a.i, c.i {LATER}",
    f"SELECT i, z FROM M EXCEPT ALL SELECT c.i, c.z {LATER}",
    f"SELECT c.i, COUNT(*) AS n {LATER} GROUP BY c.i",
    f"SELECT DISTINCT c.i {LATER} AND a.i < c.i",
    f"SELECT DISTINCT c.i {LATER} AND a.d + 3 <> c.d",
    "SELECT DISTINCT c.i FROM M a, (SELECT k, MAX(i) AS i FROM M GROUP BY k) c WHERE a.k = c.k",
]


def planned(*texts: str) -> JoinPlan:
    """The plan of the one join of a network."""
    planner, network = Planner(), Network()
    for number, sql in enumerate(texts):
        logical = bind(sql, "spark", SCHEMA).query
        assert logical is not None
        network = planner.register(network, f"q{number}", logical).network
    (plan,) = (plan for plan in plan_trees(network, {}).values() if isinstance(plan, JoinPlan))
    return plan


@pytest.mark.parametrize("sql", NEEDS_ONE)
def test_one_pair_is_enough(sql: str) -> None:
    plan = planned(sql)
    assert len(plan.semijoins) == 1 and not plan.access_paths


@pytest.mark.parametrize("sql", NEEDS_ALL)
def test_all_pairs_are_wanted(sql: str) -> None:
    assert not planned(sql).semijoins


def test_what_is_found_for_others_anyway_is_there_as_a_whole() -> None:
    both = planned(NEEDS_ONE[2], f"SELECT a.i, c.i AS other {LATER}")
    assert both.access_paths and not both.semijoins
    apart = planned(NEEDS_ONE[0], f"SELECT a.i, c.i AS other {LATER} AND a.z = c.z")
    assert len(apart.access_paths) == len(apart.semijoins) == 1


def test_a_tree_with_some_pairs_does_not_cover_who_wants_all() -> None:
    some = planned(NEEDS_ONE[0])
    assert some.covers(some)
    other_side = planned(NEEDS_ONE[0], f"SELECT DISTINCT a.i, a.d {LATER}")
    assert len(other_side.semijoins) == 1 and not some.covers(other_side) and other_side.covers(some)
    everything = planned(NEEDS_ONE[0], f"SELECT c.i {LATER}")
    assert not some.covers(everything) and everything.covers(some)


WAY = AccessPath((key("k"),), (days(1, inf),))
FULL = (AccessPath((key("k"),), (days(0, 5),)), AccessPath((key("z"),)))


@pytest.mark.parametrize("ways", [(), FULL[:1], FULL])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("collide", [False, True])
def test_every_row_that_has_a_pair_comes_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ways: tuple[AccessPath, ...], side: int, collide: bool
) -> None:
    if collide:
        monkeypatch.setattr(key_index, "value_bits", lambda column: np.zeros(len(column), dtype=np.uint64))
    random = Random(17)
    parts = [rows(random, count) for count in (40, 30, 25, 20)]
    parts = [
        part.set_column(
            part.schema.get_field_index("id"), "id", pa.array(range(100 * i, 100 * i + len(part)))
        ).append_column("_bits0", pa.array([random.choice([1, 1, 3]) for _ in range(len(part))], pa.int64()))
        for i, part in enumerate(parts)
    ]
    inputs = [InputRows(written(parts[0], tmp_path), written(parts[1], tmp_path))]
    inputs.append(InputRows(written(parts[2], tmp_path), written(parts[3], tmp_path)))
    keys = tuple(pa.field(name, COLUMN_TYPES[name]) for name in ("k", "z", "d"))
    leaf = Scan(pa.schema([("id", pa.int64())]), (("id", "bigint"),), keys, 1)
    got = [
        (row["l_id"], row["r_id"])
        for task in range(2)
        for batch in IndexJoin(leaf, leaf, ways, (Semijoin(WAY, side),)).pairs(
            TaskInput(1, tuple(inputs), (), task, 2, FEW_PAIRS)
        )
        for row in batch.to_pylist()
    ]
    halves = [(parts[0], pa.concat_tables([parts[3], parts[2]])), (parts[1], parts[2])]
    pairs = [
        (a, c)
        for left, right in halves
        for a in left.to_pylist()
        for c in right.to_pylist()
        if a["_bits0"] & c["_bits0"] & 2
    ]
    for_all = {(a["id"], c["id"]) for a, c in pairs if any(fits(way, a, c) for way in ways)}
    for_some = {(a["id"], c["id"]) for a, c in pairs if fits(WAY, a, c)}
    assert for_all <= set(got) and (set(got) <= for_all | for_some or (collide and len(ways) == 1))
    assert {pair[side] for pair in for_some} == {pair[side] for pair in for_some & set(got)}
    assert len(got) == len(set(got))
    if not ways:
        assert len(got) < len(for_some)
