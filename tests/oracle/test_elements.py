"""Elements of arrays that joins store in the place of the arrays, read by each kind of node; rows come and go."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.test_corrections import corrected

import workbench
from workbench.engine.spark.in_process import InProcess

SEED = int(os.environ["ARGUS_SEED"])
WORDS = ["a", "b", "cc", "d e", "", "é"]
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
}
VIEW = "WITH e AS (SELECT id, w FROM t, UNNEST(STRING_SPLIT(s, ' ')) AS x(w)) "
CASES = {name: Case(("" if "UNNEST" in sql else VIEW) + sql, dialect="duckdb") for name, sql in READS.items()}


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
        }
    )


WORD_ROWS = pa.table({"word": [*WORDS, None, "zz", "a"], "size": pa.array(range(9), pa.int64())})


@pytest.mark.parametrize("one_by_one", [True, False] if LONG else [SEED % 2 == 0])
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


def test_what_is_stored_grows_with_the_elements(tmp_path: Path) -> None:
    """And not with the elements times the array: 200 texts of 400 words once took 160 MB."""
    texts = [" ".join(WORDS[(at + i) % 3] * 5 for i in range(400)) for at in range(200)]
    with workbench.Session(InProcess(), path=tmp_path / "s") as session:
        session.add_stream("t", pa.table({"s": texts}), history=150, batch=50)
        sql = "SELECT w, COUNT(*) AS n FROM t LATERAL VIEW EXPLODE(SPLIT(s, ' ')) x AS w GROUP BY w"
        session.register(sql, name="counts")
        session.run(1)
        stored = sum(file.stat().st_size for file in (tmp_path / "s" / "state").rglob("*") if file.is_file())
    assert stored < 5_000_000
