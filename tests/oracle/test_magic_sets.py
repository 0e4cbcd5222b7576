"""Groups of the keys alone that are asked for, with keys that come, go and come again, and rows that are taken back.

The planner takes this form where it costs less, which it does of large streams; here it takes it wherever there is one.
"""

from __future__ import annotations

import os

import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess
from workbench.sharing.magic_sets import with_magic_sets
from workbench.sharing.planner import Planner

SEED = int(os.environ["ARGUS_SEED"])
ASKED = {
    "least": """SELECT t.id, t.x FROM t, names n WHERE t.k = n.k AND n.name = 'one'
        AND t.x < (SELECT MAX(o.x) FROM t o WHERE o.k = n.k)""",
    "average": """SELECT t.id FROM t JOIN u ON t.k = u.k
        WHERE u.id < 9 AND t.k <= (SELECT AVG(o.k) FROM u o WHERE o.g = t.g)""",
    "count": """SELECT t.id FROM t WHERE t.id > 40
        AND t.k >= (SELECT COUNT(*) FROM u o WHERE o.k = t.k AND o.g = t.g)""",
    "exists": """SELECT u.id FROM u WHERE u.g = 'a' AND EXISTS
        (SELECT 1 FROM (SELECT g, SUM(k % 1000) AS s FROM t GROUP BY g) o WHERE o.g = u.g AND o.s > u.k)""",
    "in": """SELECT t.id FROM t WHERE t.id % 3 = 0
        AND t.k IN (SELECT o.k FROM u o GROUP BY o.k, o.g HAVING COUNT(*) > 1)""",
    "shown": """SELECT n.name, g.s FROM names n, (SELECT k, SUM(id) AS s FROM t GROUP BY k) g
        WHERE g.k = n.k AND n.k > 3""",
    "union": """SELECT n.name, g.c
        FROM names n, (SELECT k, COUNT(*) AS c FROM t GROUP BY k UNION ALL SELECT k, 1 FROM u) g
        WHERE g.k = n.k AND n.name <> 'two'""",
    "ranked": """SELECT u.id, g.c
        FROM u, (SELECT k, g, COUNT(*) AS c, RANK() OVER (PARTITION BY k ORDER BY COUNT(*)) AS r FROM t GROUP BY k, g) g
        WHERE g.k = u.k AND g.r < 3 AND u.id > 5""",
}
CASES = {name: Case(sql, dialect="duckdb") for name, sql in ASKED.items()}


@pytest.mark.parametrize("one_by_one", [True, False] if LONG else [SEED % 2 == 0])
def test_groups_of_the_keys_that_are_asked_for(one_by_one: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    register, changed = Planner.register, list[str]()

    def in_this_form(self: Planner, network, name, query, *others, **named):  # type: ignore[no-untyped-def]
        asked = with_magic_sets(query)
        changed.extend([name] * (asked != query))
        return register(self, network, name, asked, *others, **named)

    monkeypatch.setattr(Planner, "register", in_this_form)
    feeds = {
        "t": corrected(stream(120, SEED), 40, 12, SEED),
        "u": corrected(stream(60, SEED + 1), 10, 8, SEED + 1),
        "names": Feed(names(SEED), static=True),
    }
    with Oracle(InProcess(), feeds) as oracle:
        oracle.register({name: CASES[name] for name in list(CASES)[::2]}, one_by_one=one_by_one)
        oracle.run(2)
        oracle.register({name: CASES[name] for name in list(CASES)[1::2]}, one_by_one=one_by_one)
        while oracle.run(1):
            pass
        oracle.check_changes()
    assert len({*changed}) >= 6
