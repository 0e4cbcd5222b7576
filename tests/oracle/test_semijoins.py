"""DISTINCT rows of one side of a join, for which one pair of each row is looked up: alone, beside who wants all pairs,
who comes and goes; and what is computed from them."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from oracle.test_corrections import corrected

from workbench.engine.physical.plans import JoinPlan
from workbench.engine.spark.in_process import InProcess
from workbench.sharing import planner

LATER = "FROM t a, t b WHERE a.g = b.g AND a.d < b.d"
DISTINCT = {
    "followed": Case(f"SELECT DISTINCT a.k, a.s {LATER}"),
    "follows": Case(f"SELECT DISTINCT b.k, b.g, b.amount {LATER}"),
    "one group": Case(f"SELECT DISTINCT a.g, b.k {LATER} AND a.g >= 'b'"),
    "of some": Case(f"SELECT DISTINCT b.k, b.flag {LATER} AND b.amount > 0 AND b.k IS NOT NULL"),
    "soon": Case(f"SELECT b.k, b.s {LATER} AND b.d - a.d <= 400 GROUP BY b.k, b.s"),
    "counted": Case(f"SELECT g, COUNT(*) AS n FROM (SELECT DISTINCT b.g, b.k, b.s {LATER}) v GROUP BY g"),
    "never soon": Case(f"SELECT b.k {LATER} EXCEPT SELECT b.k {LATER} AND b.d - a.d <= 400"),
}
ALL = {
    "pairs": Case(f"SELECT a.id, b.id AS other {LATER} AND b.d - a.d <= 90"),
    "every pair": Case(f"SELECT a.id, b.id AS other {LATER}"),
    "of others": Case(f"SELECT DISTINCT b.k, b.flag {LATER} AND a.amount > 0"),
    "how many": Case(f"SELECT b.k, COUNT(*) AS n {LATER} GROUP BY b.k"),
}
"""All but the first want, of each row, also pairs that are any number of days apart."""


def kept(oracle: Oracle) -> tuple[int, int]:
    """Of how many nodes of joins some pairs are there, and how many pairs in all."""
    held = oracle.session.parts.engine.state
    joins = [(tree, tree.plan) for tree in held.trees.values() if isinstance(tree.plan, JoinPlan)]
    return sum(len(plan.semijoins) for _, plan in joins), sum(tree.relation.rows for tree, _ in joins)


def test_who_wants_a_row_once_and_who_wants_all_of_its_pairs(in_process: InProcess, tmp_path: Path) -> None:
    feeds = {"t": Feed(stream(240, seed=21), history=80, batch=15)}
    with Oracle(in_process, feeds, path=tmp_path / "session") as oracle:
        oracle.register(DISTINCT)
        some, few = kept(oracle)
        assert some
        oracle.run(2)
        oracle.register({"pairs": ALL["pairs"]})
        oracle.run(1)
        oracle.register({name: case for name, case in ALL.items() if name != "pairs"})
        assert kept(oracle)[0] == 0 and kept(oracle)[1] > few
        oracle.run(2)
        for name in ("every pair", "of others", "how many"):
            oracle.drop(name)
        assert kept(oracle)[0] == some
        oracle.reopen()
        oracle.run(2)
        oracle.register({name: ALL[name] for name in ("of others", "how many")})
        oracle.run(1)
        oracle.check_changes(since=True)


def test_semijoins_over_much_at_once(in_process: InProcess) -> None:
    """All arrives before anything is registered, and one by one."""
    with Oracle(in_process, {"t": Feed(stream(200, seed=22), history=150, batch=25)}) as oracle:
        oracle.register({**DISTINCT, "pairs": ALL["pairs"]}, one_by_one=True)
        oracle.run(2)
        oracle.check_changes()


def test_a_count_that_nobody_read_for_a_while_is_right_again(in_process: InProcess) -> None:
    """Meanwhile only some pairs were looked up, and a sibling went on counting."""
    soon = Case(f"SELECT b.k, COUNT(*) AS n {LATER} AND b.d - a.d <= 90 GROUP BY b.k")
    with Oracle(in_process, {"t": Feed(stream(200, seed=23), history=80, batch=20)}) as oracle:
        oracle.register({"distinct": Case(f"SELECT DISTINCT b.k {LATER}"), "how many": ALL["how many"], "soon": soon})
        oracle.run(1)
        oracle.drop("how many")
        assert kept(oracle)[0]
        oracle.run(2)
        oracle.register({"how many": ALL["how many"]})
        oracle.run(1)
        oracle.check_changes()


JOINED = "FROM t a JOIN u b ON a.k = b.k"
PARTNER = "EXISTS (SELECT 1 FROM t o WHERE o.g = a.g AND o.id <> a.id AND o.d < a.d)"
OTHER = "EXISTS (SELECT 1 FROM u o WHERE o.g = b.g AND o.id > a.id)"
BESIDE_JOINS = {
    "partners": Case(f"SELECT a.id, b.id AS other, b.x {JOINED} WHERE {PARTNER} AND b.k > 2"),
    "no partners": Case(f"SELECT a.g, COUNT(*) AS n, SUM(b.amount) AS s {JOINED} WHERE NOT {PARTNER} GROUP BY a.g"),
    "both": Case(f"SELECT DISTINCT b.s, a.flag {JOINED} WHERE {PARTNER} AND NOT {OTHER}"),
    "not in": Case(
        f"SELECT a.id, b.amount {JOINED} WHERE a.k NOT IN (SELECT o.k FROM u o WHERE o.id <> a.id AND o.g = 'a')"
    ),
    "of two inputs": Case(f"SELECT a.id, c.id AS third {JOINED} JOIN t c ON c.k = b.k WHERE {OTHER} AND c.g = 'b'"),
}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", [31, 32])
def test_semijoins_below_and_above_the_joins_beside_them(
    in_process: InProcess, monkeypatch: pytest.MonkeyPatch, seed: int, late: bool
) -> None:
    """Under corrections, with NULLs and rows that are alike; whichever form costs less."""
    calls = count()
    monkeypatch.setattr(planner, "batch_cost", lambda estimates, network: next(calls) * (-1) ** late)
    feeds = {name: corrected(stream(90, seed + at), 50, 15, seed + at) for at, name in enumerate("tu")}
    with Oracle(in_process, feeds) as oracle:
        oracle.register(BESIDE_JOINS, one_by_one=True)
        notes = [note for name in BESIDE_JOINS for note in oracle.session.query(name).explain().notes]
        assert sum("after the joins" in note for note in notes) == len(BESIDE_JOINS) * late
        oracle.run(3)
        oracle.check_changes()
