"""SEARCH and CYCLE of recursive queries beside a real PostgreSQL, by the same texts, over graphs with circles, while
rows come and are taken back. What SEARCH sets is compared by the order that it gives, and the way as texts."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import psycopg
import pyarrow as pa
import pytest
from long import LONG
from servers import postgres_by_bytes

from workbench import Session
from workbench.engine.spark.in_process import InProcess

SEED = int(os.environ["ARGUS_SEED"])
SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("s", pa.string()), ("w", pa.int64())])
COLUMNS = "a bigint, b bigint, s text"


def rows(random: Random, number: int) -> list[dict[str, object]]:
    """Edges with texts that hold what a way is written with, with NULLs, some taken back again."""
    made: list[dict[str, object]] = []
    there: list[dict[str, object]] = []
    while len(made) < number:
        if there and random.random() < 0.25:
            made.append({**there.pop(random.randrange(len(there))), "w": -1})
            continue
        text = random.choice(["x", "y", "(1)", ",", ")(", "\\1", "x'y", "é", "", None])
        end = lambda: None if random.random() < 0.06 else random.choice([-3, 0, 1, 2, 10])  # noqa: E731
        row = {"a": end(), "b": end(), "s": text, "w": 1}
        there.append(row)
        made.append(row)
    return made


def asked(random: Random) -> dict[str, str]:
    """Queries by name; rows of those that begin with "ordered" are compared in their order."""
    columns = random.choice(["a", "b", "a, b", "s", "b, s", "s, b", "s, a"])
    ordered = random.choice(["a, b, s", "b, s, a", "s, b, a", "s, a, b"])
    marks, known = random.choice([("", "NOT c"), (" TO 'Y' DEFAULT 'N'", "c = 'N'"), (" TO 1 DEFAULT 0", "c = 0")])
    union = random.choice(["UNION ALL", "UNION"])
    where = random.choice(["", " WHERE a = 1", " WHERE s IS NULL OR a < 2"])
    edge = random.choice(["p.b = e.a", "p.b = e.a AND e.b > -3"])
    cycle = f"CYCLE {columns} SET c{marks} USING path"
    kind = random.choice(["DEPTH", "BREADTH"])
    listed = random.choice(["e.a, e.b, e.s", "e.*"])
    walk = f"SELECT a, b, s, 0 AS n FROM e{where} {union} SELECT {listed}, p.n + 1 FROM p, e WHERE {edge}"
    short = f"{walk} AND p.n < 3"
    rest = "WITH RECURSIVE p AS"
    return {
        "cycle": f"{rest} ({short}) {cycle} SELECT a, b, s, c FROM p",
        "known": f"{rest} ({short}) {cycle} SELECT n, COUNT(*) FROM p WHERE {known} GROUP BY n",
        "way": f"{rest} ({short}) CYCLE a, b SET c USING path SELECT a, b, n, {{}} FROM p",
        "ordered": f"{rest} ({short}) SEARCH {kind} FIRST BY {ordered} SET o SELECT a, b, s, n FROM p ORDER BY o",
        "ordered both": f"{rest} ({short}) SEARCH {kind} FIRST BY {ordered} SET o {cycle}"
        " SELECT a, b, s, n FROM p ORDER BY o",
    }


def play(seed: int, address: str) -> int:
    """How many answers of batches were compared."""
    random = Random(seed)
    drawn, queries, compared = rows(random, 18), asked(random), 0
    table = pa.Table.from_pylist(drawn, SCHEMA)
    with Session(spark=InProcess(), dialect="postgres") as session, psycopg.connect(address) as connection:
        connection.execute(f"CREATE TEMPORARY TABLE e ({COLUMNS})")
        session.add_stream("e", table, history=6, batch=4, weight="w")
        found = {
            name: session.register(sql.format("path"), name=name.replace(" ", "_")) for name, sql in queries.items()
        }
        for number in range(4):
            if number:
                session.run(1)
            there: Counter[tuple[object, ...]] = Counter()
            for row in drawn[: 6 + 4 * number]:
                there[row["a"], row["b"], row["s"]] += int(str(row["w"]))
            connection.execute("TRUNCATE e")
            for row in there.elements():
                connection.execute("INSERT INTO e VALUES (%s, %s, %s)", row)
            for name, sql in queries.items():
                theirs = connection.execute(sql.format("path::text[]")).fetchall()
                answer = found[name].result().astype(object)
                ours = list(answer.where(answer.notna(), None).itertuples(index=False, name=None))
                one, other = (list(map(_plain, some)) for some in (ours, theirs))
                assert Counter(one) == Counter(other), (
                    sql,
                    number,
                    Counter(one) - Counter(other),
                    Counter(other) - Counter(one),
                )
                if name.startswith("ordered"):
                    assert one == other, (sql, number)
                compared += 1
    return compared


def _plain(row: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(
        str(list(value)) if hasattr(value, "__len__") and not isinstance(value, str) else str(value) for value in row
    )


@pytest.mark.slow
def test_random_searches_and_cycles() -> None:
    with postgres_by_bytes() as address:
        for seed in range(SEED, SEED + (60 if LONG else 4)):
            assert play(seed, address) == 20
