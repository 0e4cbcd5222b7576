"""MATCH_RECOGNIZE beside a plain matcher: random patterns over random rows, some of which are taken back again."""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from long import LONG
from oracle.bags import frame_rows
from oracle.row_patterns import PatternCase, random_pattern

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits

SEED = int(os.environ["ARGUS_SEED"])
SESSIONS, QUERIES, BATCHES = (40, 6, 4) if LONG else (2, 4, 3)
"""1,200 query-batches, the history being one, where long tests run."""
SCHEMA = pa.schema([
    ("id", pa.int64()), ("k", pa.int64()), ("n", pa.int64()), ("s", pa.string()), ("at", pa.timestamp("us")),
    ("w", pa.int64()),
])  # fmt: skip


def stream(chosen: Random, rows: int) -> list[dict[str, Any]]:
    """Rows in a random order of their times, with NULLs, of keys that appear late; some are taken back later."""
    made: list[dict[str, Any]] = []
    there: list[dict[str, Any]] = []
    for number in range(rows):
        if there and chosen.random() < 0.2:
            made.append({**there.pop(chosen.randrange(len(there))), "w": -1})
            continue
        row = {
            "id": number,
            "k": chosen.choice([1, 1, 2, 3 if number > rows // 2 else 2, None]),
            "n": None if chosen.random() < 0.1 else chosen.randrange(10),
            "s": None if chosen.random() < 0.1 else chosen.choice("aab"),
            "at": None
            if chosen.random() < 0.05
            else dt.datetime(2026, 3, 2) + dt.timedelta(minutes=chosen.randrange(60)),
            "w": 1,
        }
        again = chosen.random() < 0.05
        made += [row] * (1 + again)
        there += [row] * (1 + again)
    return made


def answer(case: PatternCase, rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """What the plain matcher says of the rows that are there."""
    there: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        there[tuple(row[name] for name in SCHEMA.names[:-1])] += row["w"]
    current = [dict(zip(SCHEMA.names, row, strict=False)) for row, count in there.items() for _ in range(count)]
    found: Counter[tuple[Any, ...]] = Counter()
    for key in {row["k"] for row in current}:
        part = [row for row in current if row["k"] == key]
        part.sort(key=lambda row: (row["at"] is not None, row["at"] or dt.datetime.min, row["id"]))
        found.update(case.asked.answer(part, case.measures, case.columns, case.final))
    return found


@pytest.mark.parametrize("seed", range(SEED, SEED + SESSIONS))
def test_random_patterns(seed: int) -> None:
    chosen = Random(seed)
    rows = stream(chosen, 50)
    table = pa.Table.from_pylist(rows, SCHEMA)
    cases = {f"q{number}": random_pattern(chosen) for number in range(QUERIES)}
    history, batch = chosen.choice([0, 25]), chosen.randrange(5, 16)
    with Session(spark=InProcess(), limits=Limits(rows_of_large_partition=6)) as session:
        session.add_stream("t", table, history=history, batch=batch, weight="w")
        queries = {name: session.register(case.sql, name=name) for name, case in cases.items()}
        for number in range(BATCHES + 1):
            if number:
                session.run(1)
            for name, case in cases.items():
                expected = answer(case, rows[: history + batch * number])
                found = Counter(map(_plain, frame_rows(queries[name].result())))
                wrong = {"missing": expected - found, "too many": found - expected}
                assert expected == found, f"{case.sql}\nafter batch {number} {wrong}"


def test_a_pattern_that_can_be_matched_in_too_many_ways_is_stopped() -> None:
    """Of each row it is tried whether it is the first or the second of the sum, in all ways."""
    ways = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES COUNT(*) AS c PATTERN ((A | B)+ C)"
        " DEFINE A AS COUNT(*) < 99, C AS SUM(A.n) = 7 AND n = 77) AS m"
    )
    rows = [{"id": number, "k": 1, "n": 1, "s": "a", "at": None, "w": 1} for number in range(12)]
    with Session(spark=InProcess(), limits=Limits(choices_per_match=500)) as session:
        session.add_stream("t", pa.Table.from_pylist(rows, SCHEMA), history=4, batch=8, weight="w")
        query = session.register(ways, name="ways")
        assert query.result().empty
        session.run(1)
        assert "too many ways" in query.status


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(int(value) if isinstance(value, float) and value.is_integer() else value for value in row)
