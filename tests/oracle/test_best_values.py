"""Random recursive queries with USING KEY and MIN or MAX beside DuckDB, while rows come, leave and come again: shortest
ways, widest ways, numbers of hops, with bounds, several rules and other inputs, over graphs with circles."""

from __future__ import annotations

import os
from random import Random

import pytest
from long import LONG
from oracle.harness import Case, Oracle
from oracle.test_corrections import corrected
from oracle.test_recursion import GRAPHS, edges

from workbench.engine.spark.in_process import InProcess

SEED = int(os.environ["ARGUS_SEED"])


def best(random: Random) -> str:
    """A recursive query that keeps the best value of each key, and a query over it."""
    begin = random.choice(["", " WHERE a < 3", " WHERE v > 0", " WHERE a = 0"])
    where = random.choice(["", "", " AND e.v > 0", " AND e.s <> 'x'", " AND e.b <> p.a"])
    way, weight = "FROM p JOIN e ON p.b = e.a", random.choice(["v", "v", "v + 1", "v * 1.5", "v::DOUBLE / 4"])
    bound = random.choice(["", "", " AND p.c < 6", " AND p.c + e.v <= 7"])
    cast = "DECIMAL(9, 1)" if "1.5" in weight else "DOUBLE" if "DOUBLE" in weight else "BIGINT"
    own, next_ = f"({weight})::{cast}", f"({weight.replace('v', 'e.v', 1)})::{cast}"
    match random.randrange(9):
        case 0 | 1 | 2:
            key, body = (
                "(a, b, c) USING KEY (a, b, MIN(c))",
                (
                    f"SELECT a, b, {own} FROM e{begin} UNION"
                    f" SELECT p.a, e.b, (p.c + {next_})::{cast} {way}{where}{bound}"
                ),
            )
        case 3:
            key, body = (
                "(a, b, c) USING KEY (a, b, MAX(c))",
                (f"SELECT a, b, v FROM e{begin} UNION SELECT p.a, e.b, LEAST(p.c, e.v) {way}{where} AND p.c > 0"),
            )
        case 4:
            key, body = (
                "(b, c) USING KEY (b, MIN(c))",
                (f"SELECT a, 0 FROM e{begin} UNION SELECT e.b, p.c + 1 {way}{where.replace('p.a', 'e.a')}"),
            )
        case 5:
            key, body = (
                "(c, a, b) USING KEY (MIN(c), a, b)",
                (f"SELECT v, a, b FROM e{begin} UNION SELECT GREATEST(p.c, e.v), p.a, e.b {way}{where}"),
            )
        case 6:
            key, body = (
                "(a, b, c) USING KEY (a, b, MIN(c))",
                (
                    f"SELECT a, b, v FROM e{begin} UNION (SELECT p.a, e.b, p.c + e.v {way} AND e.v > 1"
                    " UNION ALL SELECT e.a, p.b, p.c + 2 FROM p JOIN e ON p.a = e.b AND e.v < 1)"
                ),
            )
        case 7:
            key, body = (
                "(a, b, c) USING KEY (a, b, MIN(c))",
                (
                    f"SELECT a, b, v FROM e{begin} UNION"
                    f" SELECT p.a, n.b, p.c + e.v + n.v {way} JOIN n ON n.a = e.b{where}"
                ),
            )
        case _:
            key, body = (
                "(a, c) USING KEY (a, MAX(c))",
                (
                    f"SELECT a, MAX(v) FROM e{begin} GROUP BY a UNION SELECT e.b, p.c - e.v FROM p JOIN e ON p.a = e.a"
                    f"{where.replace('p.a', 'p.a + 1')} AND p.c > -6 AND e.v > 0"
                ),
            )
    above = random.choice(
        [
            "SELECT * FROM p", "SELECT * FROM p WHERE c < 4", "SELECT b, COUNT(*) AS n, MAX(c) AS m FROM p GROUP BY b",
            "SELECT n.id, p.c FROM n LEFT JOIN p ON n.a = p.b", "SELECT x.b, y.c FROM p x JOIN p y ON x.b = y.b",
        ]
        if "b" in key
        else ["SELECT * FROM p", "SELECT SUM(c) AS s FROM p"]
    )  # fmt: skip
    return f"WITH RECURSIVE p{key} AS ({body}) {above}"


def play(seed: int, queries: int) -> int:
    """Random queries over one graph: how many answers of batches were compared."""
    random = Random(seed)
    asked = {f"q{at}": Case(best(random), dialect="duckdb") for at in range(queries)}
    first = random.randrange(4, 16)
    tables = {"e": edges(random, random.choice(GRAPHS), 26), "n": edges(random, "any", 12)}
    feeds = {name: corrected(table, first, 8, seed + 1) for name, table in tables.items()}
    compared = 0
    with Oracle(InProcess(), feeds) as oracle:
        oracle.register(dict([*asked.items()][::2]))
        compared += len(oracle.run(2)) * len(oracle.watched)
        oracle.register(dict([*asked.items()][1::2]), one_by_one=True)
        while ran := oracle.run(1):
            compared += len(ran) * len(oracle.watched)
        oracle.check_changes()
    return compared


@pytest.mark.parametrize("seed", range(SEED, SEED + (100 if LONG else 2)))
def test_random_best_values(seed: int) -> None:
    assert play(seed, 4)
