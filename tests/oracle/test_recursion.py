"""Random recursive queries over trees, graphs without circles and with them, while rows come, leave and come again.

Each answer is DuckDB's, after every batch: UNION and UNION ALL, one reference and several, several rules, other inputs,
paths as texts, groups and joins of the result. Where rows repeat for ever, as of UNION ALL in a circle, the text bounds
the steps, or edges lead to larger accounts only.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import Case, Oracle
from oracle.test_corrections import corrected

from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.recursion import fixpoint
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.recursion import RecursionSteps
from workbench.engine.spark.in_process import InProcess
from workbench.limits import LIMITS
from workbench.sql.binder import recursion

SEED = int(os.environ["ARGUS_SEED"])
GRAPHS = ("tree", "upward", "circle", "any", "lines")


def edges(random: Random, graph: str, rows: int) -> pa.Table:
    """Edges of a graph, some twice, some from an account to itself where circles may be, some without an end."""
    accounts, found = 7, []
    for at in range(rows):
        low, high = sorted(random.sample(range(accounts), 2))
        match graph:
            case "tree":
                pair = ((at % 12) // 2, at % 12 + 1)
            case "upward":
                pair = (low, high)
            case "circle":
                pair = (at % 5, (at + 1) % 5) if random.random() < 0.8 else (low, high)
            case "lines":
                pair = (at % 9 + 10 * (at % 2), at % 9 + 1 + 10 * (at % 2))
            case _:
                pair = (random.randrange(accounts), random.randrange(accounts))
        found.append((None if random.random() < 0.05 else pair[0], None if random.random() < 0.05 else pair[1]))
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "a": pa.array([a for a, _ in found], pa.int64()),
            "b": pa.array([b for _, b in found], pa.int64()),
            "v": pa.array([random.randrange(4) for _ in found], pa.int64()),
            "s": pa.array([random.choice(["x", "y", "Z", None]) for _ in found]),
        }
    )


def recursive(random: Random, graph: str) -> str:
    """A recursive query, named p, with the columns a, b and perhaps others, and a query over it."""
    ends = graph in ("tree", "upward", "lines")
    where = random.choice(["", "", " AND e.v > 0", " AND e.s <> 'x'", " AND e.v + p.b > 2", " AND e.v <= p.a"])
    up = "" if ends else " AND e.a < e.b"
    begin = random.choice(["", " WHERE a < 3", " WHERE v = 1", " WHERE a = 0 AND s IS NOT NULL"])
    of_upward = " WHERE a < b" if not begin else f"{begin} AND a < b"
    depth, most = random.choice([0, 1]), random.choice([2, 4, 24])
    ways = ["p.b = e.a", "p.b = e.a", "COALESCE(p.b, 3) = e.a", "(p.b + 1) % 7 = e.a", "p.b * 2 = e.a + e.v"]
    meets = random.choice(ways)
    match random.randrange(10):
        case 0 | 1:
            body = f"SELECT a, b FROM e{begin} UNION SELECT p.a, e.b FROM p JOIN e ON {meets}{where}"
        case 2:
            body = f"SELECT a, b FROM e{of_upward} UNION ALL SELECT p.a, e.b FROM e JOIN p ON p.b = e.a{where}{up}"
        case 3:
            bound = min(most, 4) if not ends else most
            body = (
                f"SELECT a, b, {depth} AS d FROM e{begin} UNION{random.choice([' ALL', ''])}"
                f" SELECT p.a, e.b, p.d + 1 FROM p, e WHERE p.b = e.a AND p.d < {bound}{where}"
            )
        case 4:
            union = "UNION" if not ends or random.random() < 0.5 else "UNION ALL"
            own = random.choice(["p.b = q.a", "(p.b + 1) % 7 = (q.a + 2) % 7"]) if union == "UNION" else "p.b = q.a"
            body = f"SELECT a, b FROM e{begin} {union} SELECT p.a, q.b FROM p JOIN p AS q ON {own}"
            body += random.choice(["", " AND p.a <> q.b", " JOIN e ON e.a = q.b" if union == "UNION" else ""])
        case 5:
            body = (
                f"SELECT a, b FROM e{begin} UNION SELECT p.a, n.b FROM p JOIN e ON p.b = e.a{where}"
                " JOIN n ON n.a = e.b AND n.v <> p.a"
            )
        case 6:
            body = (
                f"SELECT a, b, CAST(a AS VARCHAR) AS path FROM e{of_upward} UNION ALL SELECT p.a, e.b,"
                f" p.path || '>' || CAST(e.a AS VARCHAR) FROM p JOIN e ON p.b = e.a AND e.v > 1{up}"
            )
        case 7:
            body = (
                f"SELECT a, b, s FROM e{begin} UNION SELECT p.a, e.b, COALESCE(e.s, p.s) FROM p JOIN e"
                f" ON {meets} AND (e.s <> p.s OR e.s IS NULL){where}"
            )
        case 8:
            union = "UNION ALL" if ends and graph != "upward" else "UNION"
            body = (
                f"SELECT a, b FROM e{begin} {union} (SELECT p.a, e.b FROM p JOIN e ON p.b = e.a AND e.v > 1"
                " UNION ALL SELECT e.a, p.b FROM p JOIN e ON p.a = e.b AND e.v < 1)"
            )
        case _:
            body = (
                f"SELECT a, COUNT(*) AS b FROM e{begin} GROUP BY a UNION SELECT p.a, m.c FROM p JOIN"
                " (SELECT b, MAX(a) AS c FROM e GROUP BY b) m ON m.b = p.b"
            )
    above = random.choice(
        [
            "SELECT * FROM p", "SELECT * FROM p WHERE a < 3", "SELECT a, COUNT(*) AS c, MAX(b) AS m FROM p GROUP BY a",
            "SELECT x.a, y.b FROM p x JOIN p y ON x.b = y.a WHERE x.a <> y.b", "SELECT COUNT(*) AS c FROM p",
            "SELECT n.id, p.a FROM n LEFT JOIN p ON n.a = p.b",
        ]
    )  # fmt: skip
    return f"WITH RECURSIVE p AS ({body}) {above}"


ALL_JOINS = replace(LIMITS, pairs_compared_per_registration=10**12)
"""A recursion may be expected to have many more rows than it comes to, which is no reason here to refuse a query."""


def play(seed: int, queries: int) -> int:
    """Random queries over one graph: how many answers of batches were compared."""
    random = Random(seed)
    graph = random.choice(GRAPHS)
    asked = {f"q{at}": Case(recursive(random, graph), dialect="duckdb") for at in range(queries)}
    first = random.randrange(4, 16)
    tables = {"e": edges(random, graph, 26), "n": edges(random, "any", 12)}
    feeds = {name: corrected(table, first, 8, seed + 1) for name, table in tables.items()}
    compared = 0
    with Oracle(InProcess(), feeds, limits=ALL_JOINS) as oracle:
        oracle.register(dict([*asked.items()][::2]))
        compared += len(oracle.run(2)) * len(oracle.watched)
        oracle.register(dict([*asked.items()][1::2]), one_by_one=True)
        while ran := oracle.run(1):
            compared += len(ran) * len(oracle.watched)
        oracle.check_changes()
    return compared


@pytest.mark.parametrize("seed", range(SEED, SEED + (100 if LONG else 2)))
def test_random_recursive_queries(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:
        monkeypatch.setattr(
            recursion, "MOST_STEPS", 1
        )  # nearly all that the text bounds is evaluated to a fixpoint, too
    assert play(seed, 4)


@pytest.mark.parametrize("seed", range(SEED, SEED + (50 if LONG else 1)))
def test_tasks_that_follow_rows_of_their_own_give_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where rows are many: each task has the rows with its values of the columns that all rules pass on."""
    several = Counter[bool]()

    def tasks_of(runner: Runner, operator: OperatorInput, steps: RecursionSteps) -> int:
        several[bool(steps.passed_on)] += 1
        return 3 if steps.passed_on else 1

    monkeypatch.setattr(fixpoint, "tasks_of", tasks_of)
    assert play(seed, 8)
    assert several[True]


STEPS = [
    "r.b + 1 = t.a", "r.b * 2 = t.a", "r.b = t.p", "r.b IN (t.a, t.p)", "r.b + 1 = t.p AND r.a < t.a",
    "r.b IS NOT DISTINCT FROM t.a", "(r.b = t.a OR (r.b IS NULL AND t.a IS NULL))",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6 if LONG else 1))
def test_a_step_finds_rows_by_computed_values(seed: int) -> None:
    """By numbers of two types, sums, and NULLs that are equal."""
    random, number = Random(SEED + seed), 60

    def values() -> list[int | None]:
        return [random.choice([None, *range(12)]) for _ in range(number)]

    rows = pa.table({"id": range(number), "a": values(), "b": values(), "p": values()})
    rows = rows.set_column(3, "p", rows.column("p").cast(pa.decimal128(21, 2)))
    first, step = "SELECT a, b FROM t WHERE id < 5", "SELECT t.a, t.b FROM r JOIN t ON {}"
    texts = [f"WITH RECURSIVE r AS ({first} UNION {step.format(on)}) SELECT * FROM r" for on in STEPS]
    with Oracle(InProcess(), {"t": corrected(rows, 34, 22, SEED + seed)}) as oracle:
        oracle.register({f"q{at}": Case(text) for at, text in enumerate(texts)})
        oracle.run(2)
        oracle.check_changes()
