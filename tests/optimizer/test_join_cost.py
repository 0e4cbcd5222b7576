"""How many pairs a new join looks at, by what it finds them."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from workbench.engine.physical.stored.values import sampled_values
from workbench.network.network import Network
from workbench.optimizer.join_cost import JoinCost, costliest_new_join
from workbench.optimizer.statistics import collect
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema

ROWS = 300_000
MANY = 100_000_000
SCHEMA = Schema(
    streams={
        "F": (
            ("code", INTEGER), ("day", DATE), ("src", STRING), ("ts", TIMESTAMP),
            *((name, INTEGER) for name in ("n", "low", "high")), ("x", DOUBLE), ("x2", DOUBLE),
        )
    }
)  # fmt: skip


def query(text: str) -> LogicalQuery:
    found = bind(text, "spark", SCHEMA).query
    assert found is not None
    return found


def planner() -> Planner:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i % 365) for i in range(2_000)]
    columns = {"code": [i % 1000 for i in range(2_000)], "day": days, "src": [str(i % 50) for i in range(2_000)]}
    times = [dt.datetime(2024, 1, 1) + dt.timedelta(seconds=i * ROWS / 2_000) for i in range(2_000)]
    numbers = [i * ROWS // 2_000 for i in range(2_000)]
    columns |= {"ts": times, "n": numbers, "low": [n - 50 for n in numbers], "high": [n + 50 for n in numbers]}
    columns |= {"x": [n / 7 for n in numbers], "x2": [n / 7 + 10 for n in numbers]}
    return Planner(streams={"f": collect(pa.table(columns), ROWS)}, evaluate=sampled_values)


def cost(condition: str) -> JoinCost:
    return cost_of(f"SELECT a.code FROM F a, F b WHERE {condition}")


def cost_of(text: str) -> JoinCost:
    own = planner()
    found = costliest_new_join(own.estimates, Network(), own.register(Network(), "q", query(text)).network)
    assert found is not None
    return found


@pytest.mark.parametrize("condition", ["1 = 1", "a.code < b.code", "a.code <> b.code", "a.code = 1 OR b.code = 2"])
def test_without_a_key_all_pairs_are_looked_at(condition: str) -> None:
    found = cost(condition)
    assert found.sides == (("F",), ("F",))
    assert MANY < found.pairs <= ROWS**2


def test_equal_keys_and_near_days_find_few() -> None:
    by_key = cost("a.code = b.code")
    assert by_key.pairs == pytest.approx(ROWS**2 / 1000, rel=0.5)
    assert cost("a.code = b.code AND a.src = b.src").pairs == by_key.pairs  # src follows from code
    assert cost("b.day >= a.day AND b.day <= a.day + 3").pairs < ROWS**2 / 2


@pytest.mark.parametrize(
    "near",
    [
        "b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' MINUTE",
        "b.ts > a.ts - INTERVAL '30' SECOND AND b.ts - INTERVAL '30' SECOND < a.ts",
        "b.n BETWEEN a.low AND a.high",
        "a.low < b.high AND b.low < a.high",
        "b.x >= a.x AND b.x < a.x2",
        "a.x BETWEEN b.x - 1 AND b.x + 1",
        "ABS(a.x - b.x) < 1",
        "UNIX_TIMESTAMP(b.ts) - UNIX_TIMESTAMP(a.ts) BETWEEN 0 AND 60",
        "ABS(UNIX_TIMESTAMP(b.ts) - UNIX_TIMESTAMP(a.ts)) < 60",
        "a.n BETWEEN b.low AND COALESCE(b.high, 99999999)",
        "a.n + a.code BETWEEN b.n + b.code AND b.n + b.code + 9",
    ],
)
def test_narrow_bands_find_few_without_a_key(near: str) -> None:
    """A row finds 1 to 1,000 of 300,000; by a wide band, or beyond a value, it finds too many."""
    assert ROWS / 2 < cost(near).pairs < MANY * 10
    assert cost(f"a.code = b.code AND {near}").pairs < cost(near).pairs


@pytest.mark.parametrize(
    "far",
    [
        "b.ts BETWEEN a.ts AND a.ts + INTERVAL '10' DAY",
        "b.ts > a.ts",
        "b.n + b.code < a.n",
        "b.n > a.low",
        "a.x * 2 BETWEEN b.x AND b.x * 3",
        "a.n * b.n < 5",
    ],
)
def test_wide_bands_find_many(far: str) -> None:
    assert cost(far).pairs > 10 * MANY


def test_either_of_two_keys_is_looked_up() -> None:
    assert cost("a.code = b.code OR a.n = b.n").pairs < MANY * 2 < cost("a.code = b.code OR a.n < b.n").pairs


def test_groups_find_each_other_by_the_values_of_their_columns() -> None:
    text = "WITH g AS (SELECT code, src, COUNT(*) AS n FROM F GROUP BY code, src) SELECT a.n FROM g a, g b"
    assert cost_of(f"{text} WHERE a.code = b.code").pairs == pytest.approx(50_000**2 / 1000, rel=0.5)


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("a.n + 1 = b.n", ROWS),
        ("a.n * 2 = b.n", ROWS),
        ("CAST(a.n AS STRING) = CAST(b.n AS STRING)", ROWS),
        ("CONCAT('x', a.n) = MD5(CAST(b.n AS STRING))", ROWS),
        ("COALESCE(a.n, -1) = b.n", ROWS),
        ("CASE WHEN a.n > 7 THEN a.n ELSE a.n + 1 END = b.n", ROWS),
        ("a.n + a.code = b.n", ROWS),
        ("a.n IS NOT DISTINCT FROM b.n", ROWS),
        ("a.n = b.n OR (a.n IS NULL AND b.n IS NULL)", ROWS),
        ("DATE_TRUNC('second', a.ts) = b.ts", ROWS),
        ("UPPER(a.src) = UPPER(b.src)", 50),
        ("a.n % 7 = b.n % 7", 7),
        ("LENGTH(CAST(a.n AS STRING)) = LENGTH(CAST(b.n AS STRING))", 6),
        ("SUBSTR(CAST(a.n AS STRING), 1, 1) = SUBSTR(CAST(b.n AS STRING), 1, 1)", 10),
        ("MONTH(a.day) = MONTH(b.day)", 12),
        ("(a.n > 5) = (b.n > 5)", 2),
    ],
)
def test_computed_values_find_as_many_as_there_are_equal_ones(condition: str, values: int) -> None:
    """Values are counted in the sample: LOWER of an account finds few, its first letter many."""
    assert cost(condition).pairs == pytest.approx(ROWS**2 / values, rel=0.5)


@pytest.mark.parametrize(
    ("view", "condition", "pairs"),
    [
        ("SELECT n FROM F UNION ALL SELECT code AS n FROM F", "a.n = b.n", 4 * ROWS),
        ("SELECT n, 's' AS t FROM F UNION ALL SELECT n, 'w' FROM F", "a.n = b.n AND a.t = 's' AND b.t = 'w'", ROWS),
        ("SELECT code, src, MAX(n) AS n FROM F GROUP BY code, src", "a.n = b.n", 50_000**2 / ROWS),
        ("SELECT n, SUM(code) AS s FROM F GROUP BY n", "a.s = b.s", ROWS),
        ("SELECT n, COUNT(*) AS c FROM F GROUP BY n", "a.c = b.c", ROWS**2 / 775),
        ("SELECT n, LAG(n) OVER (ORDER BY n) AS p FROM F", "a.p = b.n", ROWS),
        ("SELECT n, ROW_NUMBER() OVER (ORDER BY n) AS r FROM F", "a.r = b.r", ROWS),
        ("SELECT n, ROW_NUMBER() OVER (PARTITION BY code ORDER BY n) AS r FROM F", "a.r = b.r", ROWS**2 / 300),
    ],
)
def test_computed_columns_find_as_many_as_there_are_equal_ones(view: str, condition: str, pairs: float) -> None:
    found = cost_of(f"WITH v AS ({view}) SELECT a.n FROM v a, v b WHERE {condition}").pairs
    assert pairs / 30 < found < pairs * 8


def test_what_one_side_tests_counts() -> None:
    assert cost("a.code = 7 AND b.code = 8").pairs < MANY


def test_joins_that_run_already_cost_nothing_more() -> None:
    own, text = planner(), query("SELECT a.code FROM F a, F b WHERE a.code < b.code")
    before = own.register(Network(), "q", text).network
    after = own.register(before, "r", text).network
    assert costliest_new_join(own.estimates, before, after) is None


def test_of_streams_nothing_is_known_of_nothing_is_said() -> None:
    own = Planner()
    after = own.register(Network(), "q", query("SELECT a.code FROM F a, F b WHERE a.code < b.code")).network
    assert costliest_new_join(own.estimates, Network(), after) is None
