"""JSON in postgres, against a PostgreSQL that the test starts, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import servers
from oracle.on_postgres import compare
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import QueryError

HISTORY, BATCH = 60, 40
TYPES = {"k": ("INTEGER", pa.int64()), "j": ("JSONB", pa.string())}
ASKED = {
    "texts": "SELECT k, j->>'s' AS s, j->>'n' AS n, j->>'f' AS f, j->>'missing' AS m FROM t",
    "below": "SELECT k, j->'o'->>'s' AS a, j->'o'->'o'->>'n' AS b, j->'a'->>0 AS c, j->'a'->>9 AS d,"
    " j->>0 AS e FROM t",
    "paths": "SELECT k, j#>>'{o,s}' AS a, j#>>'{a,0}' AS b, j#>'{o,o}'->>'n' AS c, j#>>ARRAY['o', '0'] AS d FROM t",
    "named": "SELECT k, jsonb_extract_path_text(j, 'o', 's') AS a, jsonb_typeof(jsonb_extract_path(j, 'o')) AS b"
    " FROM t",
    "kinds": "SELECT k, jsonb_typeof(j) AS a, jsonb_typeof(j->'s') AS b, jsonb_typeof(j->'a'->1) AS c FROM t",
    "lengths": "SELECT k, CASE WHEN jsonb_typeof(j->'a') = 'array' THEN jsonb_array_length(j->'a') END AS n FROM t",
    "keys": "SELECT k, j ? 's' AS a, j->'o' ? '0' AS b, j->'a' ? 'x' AS c, j->'s' ? 'x' AS d FROM t",
    "several keys": "SELECT k, j ?| ARRAY['s', '0'] AS a, j ?& ARRAY['s', 'a'] AS b, j->'o' ?| ARRAY['0', 'x'] AS c,"
    " j->'a' ?& ARRAY['x'] AS d, j->'s' ?| ARRAY['y', 'x'] AS e, j->'a' ?| ARRAY['zz'] AS f FROM t",
    "contained in": "SELECT k, '{\"s\": \"x\"}' <@ j AS a, '[5]'::jsonb <@ (j->'a') AS b,"
    " '\"x\"' <@ (j->'s') AS c FROM t",
    "of json": "SELECT k, j::json->>'s' AS s, (j::json)->'o'->>'s' AS o, j::json#>>'{a,0}' AS a, j::json->>'f' AS f,"
    " json_typeof(j::json->'a') AS t FROM t",
    "contained": "SELECT k FROM t WHERE j @> '{\"s\": \"x\"}' OR j @> '{\"o\": {\"n\": 5}}'",
    "contained parts": "SELECT k, j @> '{}' AS a, j @> '[]' AS b, j->'a' @> '[1, \"x\"]' AS c, j->'a' @> '\"x\"'::jsonb"
    " AS d,"
    " j @> '{\"n\": 5, \"o\": {}}' AS e, j->'n' @> '5.0' AS f, j @> '{\"s\": null}' AS g FROM t",
    "numbers": "SELECT k, SUM((j->>'n')::bigint) AS a, SUM((j->>'f')::numeric(12,2)) AS b,"
    " MAX((j->>'f')::double precision) AS c FROM t WHERE jsonb_typeof(j->'n') = 'number' GROUP BY k",
    "kept out": "SELECT k, j->>'more' AS m FROM t WHERE jsonb_typeof(j->'more') = 'string'",
    "guarded": "SELECT k, CASE WHEN jsonb_typeof(j->'more') = 'string' THEN j->>'more' END AS m FROM t",
    "elements": "SELECT k, x.v, x.n FROM t CROSS JOIN jsonb_array_elements_text(j->'tags') WITH ORDINALITY AS x(v, n)",
    "of elements": "SELECT k, e->>'p' AS p, (e->>'n')::int AS n, e->'o'->>0 AS o, jsonb_typeof(e->'o') AS t,"
    " e ? 'n' AS h FROM t, jsonb_array_elements(j->'l') AS e WHERE NOT e @> '{\"n\": 7}'",
    "with none": "SELECT k, x.v->>'p' AS p FROM t LEFT JOIN jsonb_array_elements(j->'l') AS x(v) ON TRUE",
    "grouped elements": "SELECT e->>'n' AS n, COUNT(*) AS c, SUM((e->>'p')::numeric(9,2)) AS p FROM t,"
    " jsonb_array_elements(j->'l') e GROUP BY 1",
    "grouped": "SELECT j->>'s' AS s, COUNT(*) AS n FROM t WHERE j->>'s' IS NOT NULL GROUP BY 1",
}  # fmt: skip


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with servers.postgres() as address:
        yield address


def value(random: Random, depth: int = 0) -> Any:
    scalars = [None, True, 5, -7, 12345678901234567890, "x", "", 'é\n"q"', "5", '{"s": "x"}']
    if depth > 1 or random.random() < 0.6:
        return random.choice(scalars)
    if random.random() < 0.4:
        return [value(random, depth + 1) for _ in range(random.randint(0, 3))]
    return {key: value(random, depth + 1) for key in random.sample(["s", "n", "o", "a", "0"], random.randint(0, 4))}


def document(random: Random) -> str | None:
    """JSON with scalars where queries want texts, and now and then none."""
    if random.random() < 0.1:
        return random.choice([None, "null", '"x"', "[]", '["s", 5]', "17"])
    fraction = random.choice(["1.50", "-0.25", "100.00", "7", '"2.75"', "null", "99999.990"])
    made = {
        "s": random.choice(["x", "y", "5", "12.5", None, True, 5]),
        "n": random.choice([5, 5, 12, -3, None, "x"]),
        "o": {"s": random.choice(["x", 1, False]), "o": {"n": random.choice([5, None])}, "0": "zero"},
        "a": random.choice([[1, "x", None], [5], ["x"], [], 5, "x"]),
        "more": value(random),
        "tags": random.choices(["x", "é", 'a "b"', None, True, 17], k=random.randint(0, 3)),
        "l": [
            {"n": random.choice([5, 7, None]), "p": random.choice([1, "2.50"]), "o": random.choice([[], ["x"], 8, "y"])}
            for _ in range(random.randint(0, 3))
        ],
    }
    if random.random() < 0.3:
        made["o"] = {"n": 5}
    kept = {key: made[key] for key in made if random.random() < 0.9}
    return json.dumps(kept, ensure_ascii=random.random() < 0.5)[:-1] + ", " * bool(kept) + f'"f": {fraction}}}'


def drawn(rows: int) -> list[tuple[Any, ...]]:
    """Rows of which a tenth take back an earlier one: their weight is last."""
    random, made, there = Random(5), list[tuple[Any, ...]](), list[tuple[Any, ...]]()
    while len(made) < rows:
        if there and random.random() < 0.1:
            made.append((*there.pop(random.randrange(len(there))), -1))
            continue
        there.append((random.randint(1, 5), document(random)))
        made.append((*there[-1], 1))
    return made


def test_answers_are_those_of_postgres(postgres: str, spark: SparkSession) -> None:
    compare(postgres, spark, TYPES, drawn(HISTORY + 3 * BATCH), ASKED, HISTORY, BATCH)


@pytest.mark.parametrize(
    ("sql", "text", "answer"),
    [
        ("SELECT j->>'a' AS a FROM t", '{"a": 1.5, "b": 1.50}', "1.5"),
        ("SELECT j->>'b' AS a FROM t", '{"a": 1.5, "b": 1.50}', "1.50"),
        ("SELECT j @> '{\"a\": 100}' AS a FROM t", '{"a": 1e2}', True),
        ("SELECT j->'a' @> '100' AS a FROM t", '{"a": [1e2]}', True),
        ("SELECT j @> '{\"a\": 1.50}' AS a FROM t", '{"a": 1.5}', True),
    ],
)
def test_numbers_are_those_of_the_text(sql: str, text: str, answer: object, in_process: Any) -> None:
    with Session(in_process, dialect="postgres") as session:
        session.add_stream("t", pa.table({"j": [text]}), history=1, batch=1)
        assert session.register(sql).result()["a"].tolist() == [answer]


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT j->>'a' AS a FROM t", '{"a": {"b": 1}}'),
        ("SELECT j->>'a' AS a FROM t", '{"a": [1]}'),
        ("SELECT j->>'a' AS a FROM t", '{"a": 1e2}'),
        ("SELECT j->>'a' AS a FROM t", '{"a": "x", "a": "y"}'),
        ("SELECT COUNT(*) AS n FROM t GROUP BY j->>'a'", '{"a": 1E2}'),
        ("SELECT j ? 'a' AS a FROM t", '{"a": 1, "a": 1}'),
        ("SELECT j->>'a' AS a FROM t WHERE jsonb_typeof(j->'a') = 'number'", '{"a": 1e2}'),
        ("SELECT j->>'b' AS b FROM t WHERE jsonb_typeof(j->'a') = 'number'", '{"a": 1, "a": 2, "b": 3}'),
        ("SELECT x.v FROM t, jsonb_array_elements_text(j->'a') AS x(v)", '{"a": [[1]]}'),
        ("SELECT v->>'b' AS b FROM t, jsonb_array_elements(j->'a') AS x(v)", '{"a": [{"b": 1e5}]}'),
        ("SELECT j->>'a' AS a FROM t", '{"a": -0.0}'),
    ],
)
def test_what_cannot_be_written_disables_the_query(sql: str, text: str, spark: SparkSession) -> None:
    with Session(spark=spark, dialect="postgres") as session:
        session.add_stream("t", pa.table({"j": ['{"a": "x"}', None, "no JSON", text]}), history=3, batch=1)
        query = session.register(sql)
        query.result()
        session.run(1)
        with pytest.raises(QueryError, match="a value of JSON cannot be written"):
            query.result()
