"""Rows compared with values of groups, wherever a condition may stand, while rows come and go: DuckDB's answers for
any mix of partitions and correlated subqueries, of functions and of types, with NULL and with equal rows."""

from __future__ import annotations

from random import Random

import pytest
from long import LONG, one_in
from oracle.harness import Case, Oracle
from oracle.random_streams import stream
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess

VALUES = {
    "amount": ["AVG(amount)", "MAX(amount)", "2 * AVG(amount)", "MIN(amount) + 5"],
    "id": ["AVG(id)", "COUNT(*)", "MAX(id) / 2", "COUNT(amount)"],
    "d": ["MIN(d)", "MAX(d)"],
    "s": ["MIN(s)", "MAX(s)"],
}
"""What is compared, each with values of groups."""
KEYS = ["g", "k", "k % 3", "flag", "g, flag"]
SHOWN = {
    "shown": "SELECT {key}, id, {c} AS c, {o} AS o FROM {rows}",
    "chosen": "SELECT id, CASE WHEN {c} THEN 'a' WHEN {o} THEN 'b' ELSE s END AS c FROM {rows}",
    "counted": "SELECT {key}, COUNT(*) AS n, COUNT(*) FILTER (WHERE {c}) AS c, SUM(CASE WHEN {o} THEN id END) AS o"
    " FROM {rows} GROUP BY {key}",
    "grouped by": "SELECT c, COUNT(*) AS n, MIN(o) AS o FROM"
    " (SELECT {c} AS c, CASE WHEN {o} THEN amount ELSE 0 END AS o FROM {rows}) AS r GROUP BY c",
    "required": "SELECT id, s FROM {rows} WHERE {c} OR {o}",
    "of three": "SELECT id, g FROM {rows} WHERE {c} OR k > 6 OR {o}",
    "both": "SELECT id, {o} AS o FROM {rows} WHERE {c}",
    "beside its value": "SELECT id, {c} AS c, {v} AS v FROM {rows} WHERE id % 2 = 0",
    "of a join": "SELECT id, other, {c} AS c FROM {rows} JOIN (SELECT k AS other, flag AS f FROM u) AS j ON other = k"
    " WHERE {o} OR f",
    "distinct": "SELECT DISTINCT {key}, COALESCE({c}, FALSE) AS c, ({o}) IS TRUE AS o FROM {rows}",
    "grouped by position": "SELECT {c} AS c, COUNT(*) AS n, CASE WHEN {o} THEN 1 ELSE 0 END AS o, MIN(id) AS least"
    " FROM {rows} GROUP BY 1, 3",
    "grouped by name": "SELECT {c} AS c, COUNT(*) AS n, CASE WHEN {o} THEN 1 ELSE 0 END AS o, MIN(id) AS least"
    " FROM {rows} GROUP BY c, o",
}


def comparison(random: Random, value: str, column: str) -> str:
    """A comparison of a column with a value, plain or within NOT, AND, OR and BETWEEN."""
    plain = f"{column} {random.choice(['<', '<=', '>', '>=', '=', '<>'])} {value}"
    return random.choice(
        [
            plain,
            plain,
            f"NOT ({plain})",
            f"({plain} AND k > 2)",
            f"({plain} OR flag)",
            f"{column} NOT BETWEEN {value} AND {value}",
        ]
    )


def query(random: Random, form: str, kind: str) -> str:
    """A query of a form over two values, of OVER, of subqueries, or of joins with groups."""
    known = KEYS if kind == "over" else KEYS[:2]
    key = random.choice(known)
    keys = [key, key if random.random() < 0.5 else random.choice(known)]
    columns = [random.choice([*VALUES]) for _ in keys]
    values, of = [random.choice(VALUES[column]) for column in columns], ["v1", "v2"]
    match kind:
        case "correlated":
            of = [f"(SELECT {value} FROM u WHERE u.{k} = t.{k})" for value, k in zip(values, keys, strict=True)]
            rows, columns = "t", [f"t.{column}" for column in columns]
        case "over":
            over = [v.replace(")", f") OVER (PARTITION BY {k})", 1) for v, k in zip(values, keys, strict=True)]
            rows = f"(SELECT *, {over[0]} AS v1, {over[1]} AS v2 FROM t WHERE id % 7 > 0) AS q"
        case join:
            groups = [f"(SELECT {k} AS o, {v} AS v FROM u GROUP BY {k})" for v, k in zip(values, keys, strict=True)]
            joins = [f"{join} {some} AS {at} ON {at}.o = t.{k}" for some, at, k in zip(groups, "ab", keys, strict=True)]
            rows = f"(SELECT t.*, a.v AS v1, b.v AS v2 FROM t {' '.join(joins)}) AS q"
    tests = [comparison(random, value, column) for value, column in zip(of, columns, strict=True)]
    if kind == "correlated":
        tests = [test.replace("flag", "t.flag").replace("k > 2", "t.k > 2") for test in tests]
    return SHOWN[form].format(key=key, c=tests[0], o=tests[1], v=of[0], rows=rows)


@pytest.mark.parametrize("seed", range(60 if LONG else 1))
@pytest.mark.parametrize("kind", one_in(2, ["over", "correlated", "JOIN", "LEFT JOIN"]))
def test_what_is_compared_with_values_of_groups(seed: int, kind: str) -> None:
    random = Random(f"{seed} {kind}")
    cases = {form: Case(query(random, form, kind), dialect="duckdb") for form in SHOWN}
    feeds = {name: corrected(stream(90, seed + at), 40, 16, seed + at) for at, name in enumerate("tu")}
    with Oracle(InProcess(), feeds) as oracle:
        oracle.register(cases, one_by_one=True)
        oracle.run(3)
        oracle.check_changes()
