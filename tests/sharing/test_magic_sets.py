"""Groups of the keys that are asked for give the rows that all groups give; the planner takes what costs less."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest
from sharing.evaluation import Evaluation
from sharing.small_streams import Data, data, query, statistics
from sharing.soundness import check

from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join
from workbench.optimizer.statistics import ColumnStatistics, StreamStatistics
from workbench.sharing.magic_sets import with_magic_sets
from workbench.sharing.planner import Planner

TEXTS = 120
FROMS = (
    "F a JOIN G b ON a.id = b.id",
    "F a JOIN (SELECT DISTINCT id, name FROM G WHERE rate > 0) b ON a.id = b.id",
    "F a JOIN G b ON a.id = b.id JOIN H c ON c.code = a.code AND c.amount > 1",
)
GROUPED = (
    "a.amount >= (SELECT AVG(o.amount) FROM F o WHERE o.id = b.id)",
    "a.amount > 0.5 * (SELECT MAX(o.amount) FROM H o WHERE o.code = a.code AND o.id <= 3)",
    "a.id >= (SELECT COUNT(*) FROM H o WHERE o.id = a.id AND o.src = a.src)",
    "(SELECT MIN(o.id) FROM H o, G p WHERE o.id = p.id AND o.src = b.name) < a.amount",
    "a.code IN (SELECT o.code FROM H o GROUP BY o.code, o.src HAVING COUNT(*) > 1)",
    "EXISTS (SELECT 1 FROM (SELECT id, SUM(code) AS s FROM H GROUP BY id) o WHERE o.id = b.id AND o.s > a.code)",
)
TESTS = ("b.name = 'a'", "b.name IN ('a', 'b')", "a.code > 1", "a.src LIKE 'a%'", "b.id IS NULL", "a.code + a.id = 3")
SHARES = (
    "SELECT a.id, a.amount, g.s FROM F a, (SELECT id, SUM(amount) AS s FROM H GROUP BY id) g WHERE g.id = a.id AND",
    "SELECT a.id, g.* FROM F a, (SELECT * FROM (SELECT code, src, AVG(amount) FROM H GROUP BY code, src) x,"
    " (SELECT code AS d, COUNT(*) FROM F GROUP BY code) y WHERE x.code = y.d) g(c, s, m, d, n) WHERE g.c = a.code AND",
    "SELECT a.id, g.n FROM F a, (SELECT id, COUNT(*) AS n FROM F GROUP BY id UNION ALL SELECT id, 1 FROM G) g"
    " WHERE g.id = a.id AND",
    "SELECT a.id, g.n FROM F a, (SELECT code, src, COUNT(*) AS n, RANK() OVER (PARTITION BY code ORDER BY COUNT(*))"
    " AS r FROM H GROUP BY code, src) g WHERE g.code = a.code AND g.r < 3 AND",
    "SELECT a.id, g.n FROM F a, (SELECT code, COUNT(*) AS n FROM H GROUP BY ROLLUP (code)) g WHERE g.code = a.code AND",
)


@lru_cache
def rows(seed: int) -> Data:
    return data(seed)


def text(chosen: random.Random) -> str:
    if chosen.random() < 0.4:
        return f"{chosen.choice(SHARES)} {chosen.choice(TESTS[2:4])}"
    where = [*chosen.sample(GROUPED, chosen.randint(1, 2)), *chosen.sample(TESTS, chosen.randint(1, 2))]
    return f"SELECT a.id, b.name, a.amount FROM {chosen.choice(FROMS)} WHERE {' AND '.join(where)}"


@pytest.mark.slow
def test_the_rows_are_the_same() -> None:
    changed = 0
    for seed in range(TEXTS):
        sql = text(random.Random(seed))
        bound = query(sql)
        asked = with_magic_sets(bound)
        changed += asked != bound
        evaluation = Evaluation(rows(seed % 8))
        assert evaluation.answer(asked) == evaluation.answer(bound), sql
    assert changed > TEXTS / 2


@pytest.mark.parametrize("seed", range(12))
def test_plans_of_both_forms_have_the_answer(seed: int) -> None:
    """Whatever statistics say: of streams as they are, of nothing, and where few keys are asked for."""
    bound = query(text(random.Random(1000 + seed)))
    evaluation = Evaluation(rows(seed % 8))
    many = StreamStatistics(1_000_000, {"id": ColumnStatistics(0, 50_000), "code": ColumnStatistics(0, 50_000)})
    for known in (statistics(rows(seed % 8)), {}, {"g": StreamStatistics(3, {}), "f": many, "h": many}):
        check(Planner(streams=known).register(Network(), "q", bound).network, evaluation, {"q": bound})


SQL = (
    "SELECT a.id FROM F a JOIN G b ON a.id = b.id"
    " WHERE b.name = 'a' AND a.amount > (SELECT AVG(amount) FROM F o WHERE o.id = b.id)"
)
OF_ALL = "SELECT id, AVG(amount) FROM F GROUP BY id"


def groups_of_asked(network: Network) -> bool:
    return any(isinstance(network.nodes[n.read.root], Join) for n in network.nodes.values() if isinstance(n, Aggregate))


@pytest.mark.parametrize(("names", "others", "asked"), [(10_000, [], True), (1, [], False), (10_000, [OF_ALL], False)])
def test_the_cheaper_form_is_planned(names: int, others: list[str], asked: bool) -> None:
    """One key of 10,000 is asked for; or all are; or another query has the groups of all."""
    columns = {"id": ColumnStatistics(0, 100_000)}
    known = {
        "f": StreamStatistics(1_000_000, columns),
        "g": StreamStatistics(100_000, columns | {"name": ColumnStatistics(0, names, common=(("a", 1 / names),))}),
    }
    planner, network = Planner(streams=known), Network()
    for number, other in enumerate(others):
        network = planner.register(network, f"o{number}", query(other)).network
    planned = planner.register(network, "q", query(SQL))
    assert groups_of_asked(planned.network) == asked
    assert ("magic sets" in str(planned.explanation)) == asked
