"""Joins of all kinds on random conditions, while rows come and go: DuckDB's answers, for any mix of equalities, bounds,
inequalities, alternatives and functions over all types, with NULL, NaN, -0.0 and equal rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from random import Random

import pytest
from long import LONG
from oracle.harness import Case, Oracle
from oracle.test_bands import VALUES, table
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess, NeedsSparkError

COMPARED = ("=", "<", "<=", ">", ">=", "<>")
ALONE = {
    "k": ["{a}.k LIKE 'x%'", "{a}.k IS NULL", "LENGTH({a}.k) > 0"],
    "n": ["{a}.n IN (1, 2, 5)", "{a}.n % 2 = 0", "{a}.n IS NOT NULL"],
    "m": ["{a}.m > 0.005", "{a}.m IS NULL"],
    "x": ["{a}.x > 0", "{a}.x <= 1.5"],
    "s": ["UPPER({a}.s) = 'A'", "{a}.s < 'b'", "SUBSTR({a}.s, 1, 1) <> 'a'"],
    "d": ["YEAR({a}.d) = 2024", "{a}.d > DATE '2024-02-28'"],
    "t": ["MINUTE({a}.t) = 20", "{a}.t < TIMESTAMP '2024-03-01 01:00:00'"],
}
"""Conditions of one side."""
COMPUTED = [
    "UPPER(a.s) = UPPER(b.k)", "LENGTH(a.s) < LENGTH(b.s2)", "ABS(a.n % 5) = ABS(b.n % 3)", "a.m + b.m > 0.02",
    "CASE WHEN a.n > 2 THEN a.d ELSE b.d END = b.d2", "COALESCE(a.k, 'x') = b.k", "a.s || b.k LIKE '%ax'",
    "DATE_DIFF(b.d, a.d) BETWEEN 0 AND 2", "a.n % 3 <> b.n % 3", "YEAR(a.t) = YEAR(b.d) AND a.k = b.k",
    "GREATEST(a.d, b.d) < b.d2", "a.x * 2 < b.x2", "NOT (a.s < b.s OR a.n = b.n)",
]  # fmt: skip
EQUALITIES = [
    "a.n + 1 = b.n", "a.n = b.n2 - 2", "a.n * 2 = b.n", "a.n + b.n = 4", "-a.n = b.n2", "a.n = b.m", "a.m = b.n",
    "a.m * 2 = b.m2", "a.m + 1 = b.m2", "a.v = b.n", "a.v = b.m", "a.m * 10 = b.v", "a.x + 1 = b.x", "a.n = b.x",
    "a.n IN (b.n, b.n2)", "a.n - b.n IN (1, 2)", "a.n = b.n + b.n2", "a.n % 3 = b.n % 3 + 1", "ABS(a.n - b.n) = 1",
    "YEAR(a.d) + 1 = YEAR(b.d) + 1", "DAY(a.d) = DAY(b.d) + 1", "a.k IS NOT DISTINCT FROM b.k",
    "a.n IS NOT DISTINCT FROM b.m", "a.s IS NOT DISTINCT FROM b.s2", "a.d IS NOT DISTINCT FROM b.d2",
    "a.t IS NOT DISTINCT FROM b.t2", "a.m IS NOT DISTINCT FROM b.m2", "a.x IS NOT DISTINCT FROM b.x2",
    "UPPER(a.s) IS NOT DISTINCT FROM UPPER(b.s)", "(a.s = b.s OR (a.s IS NULL AND b.s IS NULL))",
    "(a.n = b.n OR a.n IS NULL) AND (a.n = b.n OR b.n IS NULL)", "a.s || 'a' = b.s", "a.d + INTERVAL '1' DAY = b.d2",
]  # fmt: skip
"""Equalities that are no comparison of two columns of one type."""
KINDS = {
    "inner": "SELECT a.id, b.id AS o FROM a JOIN b ON {on}",
    "left": "SELECT a.id, b.id AS o, a.n, b.s FROM a LEFT JOIN b ON {on}",
    "right": "SELECT a.id, b.id AS o, b.d FROM a RIGHT JOIN b ON {on}",
    "full": "SELECT a.id, b.id AS o FROM a FULL JOIN b ON {on}",
    "semi": "SELECT a.id, a.s FROM a WHERE EXISTS (SELECT 1 FROM b WHERE {on})",
    "anti": "SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE {on})",
    "not in": "SELECT a.id FROM a WHERE a.n NOT IN (SELECT b.n FROM b WHERE {on})",
    "shown": "SELECT a.k, COUNT(*) AS c, MIN(b.n) AS least FROM a JOIN b ON {on} GROUP BY a.k",
}


def atom(random: Random) -> str:
    """A comparison of one value of each side, a band, an interval, or something computed."""
    column = random.choice([name for name in VALUES if name != "k"])
    match random.randrange(8):
        case 0:
            return f"b.{column} BETWEEN a.{column} AND a.{column}2"
        case 1:
            return (
                f"a.{column} {random.choice(COMPARED)} b.{column}2 AND b.{column} {random.choice(COMPARED)} a.{column}2"
            )
        case 2:
            return random.choice(COMPUTED)
        case 3:
            side, name = random.choice("ab"), random.choice(sorted(ALONE))
            return random.choice(ALONE[name]).format(a=side)
        case 4 | 5:
            return random.choice(EQUALITIES)
    return f"a.{column} {random.choice(COMPARED)} b.{column}{random.choice(['', '2'])}"


def condition(random: Random) -> str:
    """A conjunction, some parts of which are alternatives."""
    parts = ["a.k = b.k"] if random.random() < 0.4 else []
    for _ in range(random.randrange(1, 4)):
        some = [f"({atom(random)})" for _ in range(random.choice([1, 1, 1, 2, 3]))]
        parts.append(f"({' OR '.join(some)})")
    random.shuffle(parts)
    return " AND ".join(parts)


def case(random: Random) -> Case:
    kind = random.choice(sorted(KINDS))
    sql = KINDS[kind].format(on=condition(random))
    wide = re.sub(
        r"-?\b[ab]\.[nm]2?(?= [-+*])|-a\.n", r"\g<0>::DECIMAL(38, 2)", sql
    )  # sums of BIGINT overflow in DuckDB
    return Case(sql, wide.replace("DATE_DIFF(b.d, a.d)", "DATE_DIFF('day', a.d, b.d)"))


def nearest(random: Random) -> Case:
    """The row with the nearest value before or after each: by ASOF JOIN, or by a subquery with LIMIT."""
    column, operator = random.choice("nxmdts"), random.choice(["<", "<=", ">", ">="])
    key = random.choice(["", "a.k = b.k AND ", "a.k = b.k AND a.d2 = b.d2 AND "])
    on, kept = f"{key}a.{column} {operator} b.{column}", random.choice(["", "LEFT "])
    if random.random() < 0.5:
        rows = random.choice(["b", "(SELECT * FROM b WHERE n < 5) b"])
        return Case(f"SELECT a.id, b.{column} AS o FROM a ASOF {kept}JOIN {rows} ON {on}", dialect="duckdb")
    direction = "DESC" if operator in (">", ">=") else "ASC"
    order = f"ORDER BY b.{column} {direction} NULLS LAST LIMIT 1"
    own = f"(SELECT b.{column} AS o FROM b WHERE {on} AND b.id % 3 <> 1 {order})"
    return Case(f"SELECT a.id, c.o FROM a {kept}JOIN LATERAL {own} c ON TRUE", dialect="duckdb")


def play(seed: int, asked: Mapping[str, Case]) -> None:
    count = len(asked)
    feeds = {name: corrected(table(seed + at, 60), 34, 22, seed + at) for at, name in enumerate("ab")}
    with Oracle(InProcess(), feeds) as oracle:
        left = [*register(oracle, list(asked.items())[::2])]
        oracle.run(1)
        left += register(oracle, list(asked.items())[1::2])
        oracle.run(1)
        oracle.check_changes()
    assert len(left) < count / 2, left


def register(oracle: Oracle, some: list[tuple[str, Case]]) -> Iterator[str]:
    """Register queries; gives the texts of those that need Spark."""
    for name, each in some:
        try:
            oracle.register({name: each})
        except NeedsSparkError:
            yield each.sql


@pytest.mark.parametrize("made", [case, nearest])
@pytest.mark.parametrize("seed", range(60 if LONG else 1))
def test_random_joins(made: Callable[[Random], Case], seed: int) -> None:
    random = Random(17 + 10 * seed)
    play(17 + 10 * seed, {f"q{at}": made(random) for at in range(10)})
