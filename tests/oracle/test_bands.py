"""Joins by bands and inequalities of every ordered type, and comparisons with scalars, while rows come and go: DuckDB's
answers over NULL, NaN, equal rows and values on the bounds."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import Case, Oracle
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess
from workbench.limits import LIMITS, Limits

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "k": (pa.string(), ["x", "y", None]),
    "n": (pa.int64(), [None, *range(-2, 7), 2**63 - 1, -(2**63)]),
    "x": (pa.float64(), [None, nan, inf, -inf, 0.0, -0.0, 1.5, 2.5]),
    "m": (pa.decimal128(15, 2), [None, *map(Decimal, ["0.00", "0.01", "0.02", "-1.50", "9999999999999.99"])]),
    "v": (pa.decimal128(38, 2), [None, *map(Decimal, ["0.00", "1.00", "9" * 36 + ".99", "9" * 36 + ".98"])]),
    "s": (pa.string(), [None, "", "a", "b", "a" * 16, "a" * 17, "a" * 18, "é"]),
    "d": (pa.date32(), [None, *(dt.date(2024, 2, 27) + dt.timedelta(days=n) for n in range(5))]),
    "t": (pa.timestamp("us"), [None, *(dt.datetime(2024, 3, 1) + dt.timedelta(minutes=20 * n) for n in range(8))]),
}
BESIDE = {
    "between a row's two": "b.{c} BETWEEN a.{c} AND a.{c}2",
    "a point in intervals": "a.{c} >= b.{c} AND a.{c} < b.{c}2",
    "overlaps": "a.{c} < b.{c}2 AND b.{c} < a.{c}2",
    "less": "a.{c} < b.{c}2",
    "equal": "a.{c} = b.{c}2",
}
BANDS = {
    "days": "b.d BETWEEN a.d - INTERVAL '1' DAY AND a.d + INTERVAL '1' DAY",
    "minutes": "b.t > a.t - INTERVAL '40' MINUTE AND b.t <= a.t",
    "whole": "b.n - a.n BETWEEN -1 AND 2",
    "money": "b.m < a.m + 0.02 AND b.m >= a.m - 0.01",
    "doubles near": "ABS(a.x - b.x) < 1.5",
    "doubles up to": "a.x - b.x <= 1.0 AND a.x - b.x >= -1.0",
    "doubles above": "a.x - b.x > 0.5",
    "doubles below": "a.x - b.x < 0.5",
    "scales": "b.m < a.n",
    "kinds": "b.x > a.n",
    "sums": "a.n + a.n2 < b.n",
    "two orders": "b.d <= a.d AND b.t >= a.t",
}
SCALARS = {
    "average": "SELECT id, n FROM a WHERE n > (SELECT AVG(n) FROM b WHERE n BETWEEN -2 AND 6)",
    "greatest": "SELECT k, n FROM a WHERE x >= (SELECT MIN(x) FROM b)",
    "least text": "SELECT id FROM a WHERE s > (SELECT MIN(s) FROM b WHERE s <> '')",
    "last day": "SELECT id FROM a WHERE d = (SELECT MAX(d) FROM b)",
    "correlated": "SELECT id FROM a WHERE n < (SELECT AVG(n) FROM b WHERE b.k = a.k AND n BETWEEN -2 AND 6)",
    "correlated greatest": "SELECT id, k FROM a WHERE t >= (SELECT MAX(t) FROM b WHERE b.k = a.k)",
    "two scalars": "SELECT id FROM a WHERE n > (SELECT MIN(n) FROM b WHERE n > -3) AND m < (SELECT MAX(m) FROM b)",
    "not above": "SELECT id FROM a WHERE NOT m > (SELECT AVG(m) FROM b WHERE m < 5)",
    "last of each": "SELECT a.id FROM a JOIN (SELECT k, MAX(x) AS x FROM a GROUP BY k) l ON a.k = l.k AND a.x = l.x",
}


def table(seed: int, count: int) -> pa.Table:
    """Rows of few values, each column with a second one of its type."""
    random = Random(seed)
    columns = {"id": pa.array(range(count), pa.int64())}
    for name, (type_, values) in VALUES.items():
        for column in (name,) if name == "k" else (name, f"{name}2"):
            columns[column] = pa.array([random.choice(values) for _ in range(count)], type_)
    return pa.table(columns)


def cases() -> dict[str, Case]:
    """Every kind of condition for every type, with a key beside it and without."""
    conditions = {f"{how} {c}": text.format(c=c) for how, text in BESIDE.items() for c in VALUES if c != "k"}
    found = {}
    for name, condition in (conditions | BANDS).items():
        for key in ("", "a.k = b.k AND "):
            found[f"{name} {key[:5]}"] = f"SELECT a.id, b.id AS o FROM a JOIN b ON {key}{condition}"
        found[f"{name} one"] = f"SELECT a.id FROM a LEFT SEMI JOIN b ON a.k = b.k AND {condition}"
    return {name.strip().replace(" ", "_").replace(".", "_"): _case(sql) for name, sql in (found | SCALARS).items()}


def _case(sql: str) -> Case:
    """DuckDB's sums of BIGINT overflow."""
    wide = re.sub(r"\b([ab]\.n2?)( [+-])", r"\1::HUGEINT\2", sql)
    return Case(sql, wide.replace("LEFT SEMI", "SEMI"))


def play(seed: int, names: Sequence[str], limits: Limits = LIMITS) -> None:
    feeds = {name: corrected(table(seed + at, 70), 40, 25, seed + at) for at, name in enumerate("ab")}
    asked = cases()
    with Oracle(InProcess(), feeds, limits=limits) as oracle:
        oracle.register({name: asked[name] for name in names[::2]})
        oracle.run(1)
        oracle.register({name: asked[name] for name in names[1::2]})
        oracle.run(1)
        oracle.check_changes()


@pytest.mark.parametrize("seed", range(12 if LONG else 1))
def test_bands_and_scalars(seed: int) -> None:
    random, names = Random(seed), list(cases())
    # Few rows as if they were many.
    limits = Limits(pairs_tested_early=0, pairs_tested_together=50) if seed % 2 else LIMITS
    some = names if LONG else random.sample(names, 8)
    play(3 + 10 * seed, [*some, *(name for name in map(_name, SCALARS) if name not in some)], limits)


def _name(text: str) -> str:
    return text.replace(" ", "_")
