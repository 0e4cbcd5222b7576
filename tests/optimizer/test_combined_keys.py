"""Joins by several columns that depend on one another look at as many pairs as is estimated, whatever ties them."""

from __future__ import annotations

import os
from random import Random

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from workbench.network.network import Network
from workbench.optimizer.join_cost import costliest_new_join
from workbench.optimizer.statistics import collect
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema

SEED = int(os.environ["ARGUS_SEED"])
ROWS = {"s": 60_000, "t": 8_000}
"""More than a sample has, and fewer."""
COLUMNS = ("town", "zip", "sex", "other")
TIES = ("by one", "nearly", "not at all")
"""How a ZIP code follows from its town's."""


def table(rows: int, tie: str, rng: np.random.Generator) -> pa.Table:
    """Towns of different sizes, their ZIP codes, and columns with NULLs."""
    town = np.minimum(rng.zipf(1.5, rows), 200)
    own = town * 7 + rng.integers(0, 3, rows)
    free = rng.integers(0, 600, rows)
    zip_ = {"by one": own, "nearly": np.where(rng.random(rows) < 0.9, own, free), "not at all": free}[tie]
    sex = pa.array(rng.choice(["f", "m"], rows), mask=rng.random(rows) < 0.05)
    return pa.table({"town": town, "zip": zip_, "sex": sex, "other": town % 5})


def bound(sql: str) -> LogicalQuery:
    types = (("town", INTEGER), ("zip", INTEGER), ("sex", STRING), ("other", INTEGER))
    query = bind(sql, "spark", Schema(dict.fromkeys(ROWS, types))).query
    assert query is not None
    return query


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("streams", [("s", "s"), ("s", "t"), ("t", "t")])
def test_pairs_of_rows_that_agree_are_estimated(tie: str, number: int, streams: tuple[str, str]) -> None:
    chosen = Random(f"{SEED} {tie} {number} {streams}")
    rng = np.random.default_rng(chosen.randrange(2**32))
    keys = chosen.sample(COLUMNS, number)
    tables = {name: table(rows, tie, rng) for name, rows in ROWS.items()}
    condition = " AND ".join(f"a.{key} = b.{key}" for key in keys)
    estimated = pairs(tables, f"SELECT a.town FROM {streams[0]} a, {streams[1]} b WHERE {condition}")
    groups = ", ".join(keys)
    right = counted(
        tables,
        f"SELECT SUM(a.n * b.n) FROM (SELECT {groups}, COUNT(*) n FROM {streams[0]} GROUP BY ALL) a"
        f" JOIN (SELECT {groups}, COUNT(*) n FROM {streams[1]} GROUP BY ALL) b ON {condition}",
    )
    assert right / 2 <= estimated <= right * 2


def test_keys_of_two_inputs_of_a_join_are_taken_apart() -> None:
    """Which of its rows a join pairs is not known: of each input the columns are counted together."""
    tables = {name: table(rows, "by one", np.random.default_rng(SEED)) for name, rows in ROWS.items()}
    three = "SELECT a.town FROM t a, t b, s c WHERE a.town = b.town AND a.zip = b.zip AND {}"
    within = pairs(tables, three.format("c.town = b.town AND c.zip = b.zip"))
    across = pairs(tables, three.format("c.town = b.town AND c.zip = a.zip"))
    assert within > 0 and across > 0


def pairs(tables: dict[str, pa.Table], sql: str) -> float:
    planner = Planner(streams={name: collect(rows) for name, rows in tables.items()})
    query = bound(sql)
    found = costliest_new_join(planner.estimates, Network(), planner.register(Network(), "q", query).network)
    assert found is not None
    return found.pairs


def counted(tables: dict[str, pa.Table], sql: str) -> float:
    with duckdb.connect() as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        ((number,),) = connection.execute(sql).fetchall()
        return float(number)
