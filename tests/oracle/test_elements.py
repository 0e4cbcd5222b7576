"""Elements of arrays that joins store in the place of the arrays, read by each kind of node; rows come and go."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from itertools import pairwise
from math import nan
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from long import LONG, one_of
from oracle.harness import Case, Feed, Oracle
from oracle.test_corrections import corrected

import workbench
from workbench.engine.spark.in_process import InProcess

SEED = int(os.environ["ARGUS_SEED"])
WORDS = ["a", "b", "cc", "d e", "", "é"]
DOUBLES, DOUBLE_LIST = [0.0, -0.0, nan, 1.5, -2.0, None], pa.list_(pa.float64())
BEGIN = datetime(2026, 3, 1)
READS = {
    "counts": "SELECT w, COUNT(*) AS n, MAX(id) AS m FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w) GROUP BY w",
    "rows": "SELECT id, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w)",
    "found": "SELECT id, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w) WHERE w = 'a'",
    "others": "SELECT id, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w) WHERE w <> 'a' AND LENGTH(w) < id",
    "array_too": "SELECT id, s, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w) WHERE s <> w",
    "kept": "SELECT id, w FROM t LEFT JOIN UNNEST(STRING_SPLIT(s, ' ')) AS x(w) ON TRUE",
    "places": "SELECT id, w, p FROM t, UNNEST(STRING_SPLIT(s, ' ')) WITH ORDINALITY AS x(w, p) WHERE p > 1",
    "computed": "SELECT UPPER(w) AS u, SUM(k * LENGTH(w)) AS n FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w) GROUP BY 1",
    "joined": "SELECT id, w, size FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w), words WHERE w = word",
    "joined_left": "SELECT id, w, size FROM t CROSS JOIN UNNEST(STRING_SPLIT(s, ' ')) AS x(w) "
    "LEFT JOIN words ON w = word",
    "band": "SELECT id, w, word FROM t CROSS JOIN UNNEST(STRING_SPLIT(s, ' ')) AS x(w) JOIN words ON w < word",
    "twice": "SELECT COUNT(*) AS n, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w), UNNEST(a) AS y(v) "
    "WHERE LENGTH(w) = v GROUP BY w",
    "itself": "SELECT l.id, r.id AS other, l.w FROM e AS l JOIN e AS r ON l.w = r.w AND l.id < r.id",
    "inside": "SELECT id, v FROM t, UNNEST(b) AS x(c), UNNEST(c.tags) AS y(v)",
    "fields": "SELECT c.name AS c, COUNT(*) AS n FROM t, UNNEST(b) AS x(c) GROUP BY 1",
    "structs": "SELECT id, c FROM t, UNNEST(b) AS x(c) WHERE c.name <> 'a'",
    "distinct": "SELECT DISTINCT w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w)",
    "semijoin": "SELECT id FROM t WHERE id % 3 IN (SELECT LENGTH(w) FROM e)",
    "union": "SELECT w FROM e WHERE id > 9 UNION SELECT word FROM words",
    "all": "SELECT w, id FROM e UNION ALL SELECT word, size FROM words",
    "except": "SELECT word FROM words EXCEPT SELECT w FROM e",
    "ranked": "SELECT id, w, ROW_NUMBER() OVER (PARTITION BY w ORDER BY id, p) AS r "
    "FROM t, UNNEST(STRING_SPLIT(s, ' ')) WITH ORDINALITY AS x(w, p)",
    "longest": "SELECT id, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w) ORDER BY w DESC, id LIMIT 5",
    "grand": "SELECT COUNT(DISTINCT w) AS n, MIN(w) AS l FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w)",
    "roll_up": "SELECT w, k, COUNT(*) AS n FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w) GROUP BY ROLLUP (w, k)",
    "scalar": "SELECT id FROM t WHERE k < (SELECT MAX(LENGTH(w)) FROM e WHERE e.id = t.id)",
    "numbers": "SELECT id, y FROM t, UNNEST(d) AS x(y) WHERE y >= 0",
    "of_numbers": "SELECT y, COUNT(*) AS n, MIN(id) AS l FROM t, UNNEST(d) AS x(y) GROUP BY y",
    "joined_numbers": "SELECT l.id, r.id AS other FROM f AS l JOIN f AS r ON l.y = r.y AND l.id < r.id",
    "before": "SELECT id, y, LAG(y) OVER (PARTITION BY k ORDER BY id, p) AS b "
    "FROM t, UNNEST(d) WITH ORDINALITY AS x(y, p)",
    "so_far": "SELECT id, w, COUNT(w) OVER (PARTITION BY w ORDER BY id) AS n, MAX(w) OVER (ORDER BY id) AS g FROM e",
    "in_order": "SELECT id, RANK() OVER (ORDER BY y NULLS LAST) AS r FROM f",
    "near": "SELECT id, v, SUM(v) OVER (ORDER BY v RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s "
    "FROM t, UNNEST(a) AS x(v)",
    "first_rows": "SELECT id, w FROM e QUALIFY ROW_NUMBER() OVER (PARTITION BY w ORDER BY id DESC) <= 2",
    "any_of_each": "SELECT DISTINCT ON (y) y, id FROM f ORDER BY y, id",
    "above_average": "SELECT id, v FROM t, UNNEST(a) AS x(v) QUALIFY v > AVG(v) OVER (PARTITION BY id)",
    "array_beside": "SELECT id, w, s, ROW_NUMBER() OVER (PARTITION BY w ORDER BY id, s) AS r FROM e2",
}
VIEWS = {
    "e": "SELECT id, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w)",
    "e2": "SELECT id, w, s FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w)",
    "f": "SELECT id, y FROM t, UNNEST(d) AS x(y)",
}


def over_views(sql: str) -> str:
    """A query with the views that it reads."""
    read = [f"{name} AS ({view})" for name, view in VIEWS.items() if {f"FROM {name}", f"JOIN {name}"} & pairs(sql)]
    return f"WITH {', '.join(read)} {sql}" if read else sql


def pairs(sql: str) -> set[str]:
    """Each word of a text with the one behind it."""
    words = sql.replace(")", " ").split()
    return {" ".join(pair) for pair in pairwise(words)}


SESSION = "SELECT w, session_window(ts, '40 seconds').start AS b, COUNT(*) AS n FROM t {} GROUP BY w, {}"
NEW = "CASE WHEN ts - p > INTERVAL '40 seconds' THEN 1 ELSE 0 END"
NUMBERED = f"""SELECT *, SUM({NEW}) OVER (PARTITION BY w ORDER BY ts) AS n FROM (SELECT *, lag(ts) OVER (
    PARTITION BY w ORDER BY ts) AS p FROM (SELECT t.ts, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w)))"""
CASES = {name: Case(over_views(sql), dialect="duckdb") for name, sql in READS.items()} | {
    "sessions": Case(
        SESSION.format("LATERAL VIEW EXPLODE(SPLIT(s, ' ')) v AS w", "session_window(ts, '40 seconds')"),
        f"SELECT w, MIN(ts), COUNT(*) FROM ({NUMBERED}) GROUP BY w, n",
    )
}


def rows(random: Random, count: int) -> pa.Table:
    """Rows with texts of words, arrays of numbers, and arrays of structs with arrays; some are NULL or empty."""

    def some(what: object) -> object:
        return None if random.random() < 0.15 else what

    def words() -> str:
        return " ".join(random.choice(WORDS) for _ in range(random.choice([0, 1, 2, 5, 30])))

    def structs() -> list[dict[str, object] | None]:
        named = [{"name": some(random.choice(WORDS)), "tags": some(random.choices(range(4), k=random.randrange(3)))}]
        return random.choices([*named, None, {"name": "a", "tags": [7]}], k=random.randrange(3))

    of_structs = pa.list_(pa.struct([("name", pa.string()), ("tags", pa.list_(pa.int64()))]))
    return pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "k": pa.array([some(random.randrange(3)) for _ in range(count)], pa.int64()),
            "s": pa.array([some(words()) for _ in range(count)], pa.string()),
            "a": pa.array([some(random.choices([0, 1, 2, None], k=3)) for _ in range(count)], pa.list_(pa.int64())),
            "b": pa.array([some(structs()) for _ in range(count)], of_structs),
            "d": pa.array([some(random.choices(DOUBLES, k=random.randrange(5))) for _ in range(count)], DOUBLE_LIST),
            "ts": pa.array([BEGIN + timedelta(seconds=25 * at) for at in range(count)], pa.timestamp("us")),
        }
    )


WORD_ROWS = pa.table({"word": [*WORDS, None, "zz", "a"], "size": pa.array(range(9), pa.int64())})


@pytest.mark.parametrize("one_by_one", one_of([True, False]))
def test_each_reader_beside_the_others(one_by_one: bool) -> None:
    random = Random(SEED)
    names = random.sample([*CASES], len(CASES))
    feeds = {"t": corrected(rows(random, 40), 15, 6, SEED), "words": Feed(WORD_ROWS, static=True)}
    with Oracle(InProcess(), feeds) as oracle:
        oracle.register({name: CASES[name] for name in names[::2]}, one_by_one=one_by_one)
        oracle.run(2)
        oracle.register({name: CASES[name] for name in names[1::2]}, one_by_one=one_by_one)
        while oracle.run(1):
            pass
        oracle.check_changes()


@pytest.mark.parametrize("name", CASES if LONG else Random(SEED).sample([*CASES], 5))
def test_a_reader_alone(name: str) -> None:
    random = Random(SEED)
    feeds = {"t": corrected(rows(random, 20), 8, 6, SEED), "words": Feed(WORD_ROWS, static=True)}
    with Oracle(InProcess(), feeds) as oracle:
        oracle.register({name: CASES[name]})
        while oracle.run(1):
            pass
        oracle.check_changes()


EXPLODED = "FROM t, UNNEST(STRING_SPLIT(s, ' ')) WITH ORDINALITY AS x(w, p)"
STORED = {
    "groups": f"SELECT w, COUNT(*) AS n {EXPLODED} GROUP BY w",
    "neighbours": f"SELECT id, w, LAG(w) OVER (PARTITION BY id ORDER BY p) AS b {EXPLODED}",
    "partitions": f"SELECT id, MAX(id) OVER (PARTITION BY w ORDER BY id) AS m {EXPLODED}",
    "first rows": f"SELECT id, w {EXPLODED} QUALIFY ROW_NUMBER() OVER (PARTITION BY w ORDER BY id DESC) <= 2",
    "limit": f"SELECT id, w {EXPLODED} ORDER BY w DESC LIMIT 5",
    "sessions": "SELECT w, session_window(ts, '5 minutes').start AS b, COUNT(*) AS n "
    "FROM t LATERAL VIEW EXPLODE(SPLIT(s, ' ')) x AS w GROUP BY w, session_window(ts, '5 minutes')",
}


@pytest.mark.parametrize("name", STORED)
def test_what_is_stored_grows_with_the_elements(tmp_path: Path, name: str) -> None:
    """And not with the elements times the array: 100 texts of 400 words once took 80 MB."""
    texts = [" ".join(WORDS[(at + i) % 3] * 5 for i in range(400)) for at in range(100)]
    times = [BEGIN + timedelta(seconds=at) for at in range(100)]
    table = pa.table({"id": range(100), "s": texts, "ts": pa.array(times, pa.timestamp("us"))})
    with workbench.Session(InProcess(), path=tmp_path / "s") as session:
        session.add_stream("t", table, history=75, batch=25, time="ts")
        session.register(STORED[name], name="q", dialect="spark" if name == "sessions" else "duckdb")
        session.run(1)
        stored = sum(file.stat().st_size for file in (tmp_path / "s" / "state").rglob("*") if file.is_file())
    assert stored < 8_000_000
