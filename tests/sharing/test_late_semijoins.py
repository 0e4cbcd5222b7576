"""Semijoins above the joins beside them have the same rows as below; the planner takes what costs less."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest
from sharing.evaluation import Evaluation
from sharing.small_streams import Data, data, query, statistics
from sharing.soundness import check

from workbench.network.network import Network
from workbench.network.nodes import Join, SetOperation
from workbench.optimizer.statistics import ColumnStatistics, StreamStatistics
from workbench.sharing.late_semijoins import with_late_semijoins
from workbench.sharing.planner import Planner

TEXTS = 150
SELECTS = (
    "SELECT a.id, b.name",
    "SELECT a.code, COUNT(*) AS n, SUM(b.id) AS s",
    "SELECT DISTINCT a.src, b.id",
    "SELECT COUNT(*) AS n",
    "SELECT b.name, a.id + b.id AS s, ROW_NUMBER() OVER (PARTITION BY a.code ORDER BY a.id, b.id, b.name) AS r",
)
FROMS = (
    "F a JOIN G b ON a.id = b.id",
    "G b, F a",
    "F a JOIN G b ON a.id = b.id AND b.rate > 0 JOIN H c ON c.code = a.code",
    "G b LEFT JOIN F a ON a.id = b.id",
)
PARTNERS = (
    "EXISTS (SELECT 1 FROM H o WHERE o.code = a.code AND o.id <> a.id)",
    "EXISTS (SELECT 1 FROM H o, G p WHERE o.id = p.id AND o.src < a.src)",
    "EXISTS (SELECT 1 FROM F o WHERE o.code = b.id AND o.amount > a.amount)",
    "a.id IN (SELECT o.code FROM H o WHERE o.src <> a.src)",
    "b.name IN (SELECT o.src FROM H o WHERE NOT EXISTS (SELECT 1 FROM F q WHERE q.src = o.dst))",
    "a.dst IN (SELECT MAX(o.dst) FROM H o GROUP BY o.code)",
)
BESIDE = ("b.rate >= 0", "a.amount > 1", "b.name <> 'a'", "a.code + b.id > 2")
GROUPED = {SELECTS[1]: " GROUP BY a.code"}


@lru_cache
def rows(seed: int) -> Data:
    return data(seed)


def text(chosen: random.Random) -> str:
    select, from_ = chosen.choice(SELECTS), chosen.choice(FROMS)
    partners = [chosen.choice(("", "NOT ")) + one for one in chosen.sample(PARTNERS, chosen.randint(1, 2))]
    where = [*partners, *chosen.sample(BESIDE, chosen.randint(0, 2))]
    return f"{select} FROM {from_} WHERE {' AND '.join(where)}{GROUPED.get(select, '')}"


@pytest.mark.slow
def test_the_rows_are_the_same() -> None:
    moved = 0
    for seed in range(TEXTS):
        chosen = random.Random(seed)
        bound = query(text(chosen))
        late = with_late_semijoins(bound)
        moved += late != bound
        evaluation = Evaluation(rows(seed % 8))
        assert evaluation.answer(late) == evaluation.answer(bound), text(random.Random(seed))
        assert with_late_semijoins(late) == late
    assert moved > TEXTS / 3


@pytest.mark.parametrize("seed", range(12))
def test_plans_of_both_forms_have_the_answer(seed: int) -> None:
    """Whatever statistics say: of streams as they are, of nothing, and where few rows are left by the join."""
    bound = query(text(random.Random(1000 + seed)))
    evaluation = Evaluation(rows(seed % 8))
    few = {"g": StreamStatistics(3, {}), "f": StreamStatistics(100_000, {"id": ColumnStatistics(0, 50_000)})}
    for known in (statistics(rows(seed % 8)), {}, few):
        check(Planner(streams=known).register(Network(), "q", bound).network, evaluation, {"q": bound})


SQL = f"SELECT a.id, b.name FROM F a JOIN G b ON a.id = b.id WHERE {PARTNERS[0]}"


def partners_of_pairs(network: Network) -> bool:
    (semijoin,) = [node for node in network.nodes.values() if isinstance(node, SetOperation)]
    return isinstance(network.nodes[semijoin.reads[0].root], Join)


@pytest.mark.parametrize(("partners", "late"), [(10, True), (1_000_000, False)])
def test_the_cheaper_form_is_planned(partners: int, late: bool) -> None:
    """Each of 100,000 rows has one of ten partners in a thousand, or ten of them."""
    columns = {"id": ColumnStatistics(0, 100_000), "code": ColumnStatistics(0, 1_000)}
    known = {
        "f": StreamStatistics(100_000, columns),
        "h": StreamStatistics(100_000, columns),
        "g": StreamStatistics(partners, {"id": ColumnStatistics(0, min(partners, 100_000))}),
    }
    planner = Planner(streams=known)
    network = planner.register(Network(), "q", query(SQL)).network
    assert partners_of_pairs(network) == late
