"""Values of all rows up to one, of frames around it, and of the first and last rows, over few large partitions, while
rows come and go anywhere in their order.

DuckDB's answers over NULL, NaN, infinities, equal rows and numbers of all sizes. Sums and extremes are kept along the
order of a large partition, so limits make one of five rows large.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import product
from math import inf, nan
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.test_corrections import corrected

from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "g": (pa.string(), ["x", "y", None]),
    "n": (pa.int64(), [None, -(2**40), -1, *range(4), 2**40]),
    "x": (pa.float64(), [None, 0.0, -0.0, 0.5, -2.25, 1e6, 3.0, 2.0**40]),
    "z": (pa.float64(), [None, 1.5, 2.5, -4.0, *[0.25] * 6, nan, inf]),
    "m": (pa.decimal128(15, 2), [None, Decimal("-0.01"), Decimal("9999999.99"), *map(Decimal, range(4))]),
    "v": (pa.decimal128(38, 4), [None, Decimal("-0.0001"), Decimal(10) ** 26, *map(Decimal, range(4))]),
    "s": (pa.string(), [None, "", "a", "b" * 20, "b" * 20 + "c", "\u00e9"]),
    "o": (pa.int64(), [None, *range(12)]),
    "t": (pa.timestamp("us"), [dt.datetime(2024, 3, 1) + dt.timedelta(minutes=n) for n in range(30)]),
    "d": (pa.date32(), [None, *(dt.date(2024, 1, 29) + dt.timedelta(days=3 * n) for n in range(20))]),
}
CALLS = {
    "sum": [f"SUM({c}) {{over}}" for c in "nxzmv"],
    "avg": [f"AVG({c}) {{over}}" for c in "nx"],
    "count": ["COUNT(*) {over}", "COUNT(z) {over}", "COUNT(s) {over}"],
    "least": [f"MIN({c}) {{over}}" for c in "nxzmvst"],
    "greatest": [f"MAX({c}) {{over}}" for c in "nxzmvst"],
    "filtered": ["SUM(x) FILTER (WHERE n > 0) {over}", "MAX(s) FILTER (WHERE n > 0) {over}"],
    "variance": ["VAR_POP(x) {over}"],
    "last": ["LAST_VALUE(id) {over}"],
    "beside": ["SUM(x) {over} + 0 * LAG(id) {over_rows}", "MAX(z) {over}"],
}
ORDERS = {"in order": "ORDER BY id", "peers": "ORDER BY o", "down": "ORDER BY o DESC, id"}
FRAMES = {
    "": "",
    "rows": " ROWS UNBOUNDED PRECEDING",
    "before": " ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING",
    "behind": " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
}


def cases() -> dict[str, Case]:
    """Every function in every order over every frame that does not depend on the order of peers."""
    found = {}
    for (name, calls), (how, order), (frame, text), part in product(
        CALLS.items(), ORDERS.items(), FRAMES.items(), ("PARTITION BY g ", "")
    ):
        if how == "peers" and (frame or name in ("last", "beside")):
            continue
        over = {"over": f"OVER ({part}{order}{text})", "over_rows": f"OVER ({part}{order})"}
        values = ", ".join(f"{call.format(**over)} AS v{at}" for at, call in enumerate(calls))
        sql = f"SELECT id, {values} FROM t"
        nulls = sql.replace("ORDER BY o DESC", "ORDER BY o DESC NULLS LAST").replace("BY o)", "BY o NULLS FIRST)")
        found[f"{name} {how} {frame} {part[:1]}".replace("  ", " ").strip()] = Case(sql, nulls)
    return found


ORDER_FREE = "SUM(n) {0} AS a, MAX(x) {0} AS b, COUNT(*) {0} AS c, MIN(s) {0} AS d, SUM(x) {0} AS e, COUNT(z) {0} AS f"
POSITIONS = "FIRST_VALUE(s) {0} AS a, NTH_VALUE(x, 2) {0} AS b, LAST_VALUE(n) {0} AS c"
DISTANCES = {
    **dict.fromkeys("nomvx", ("1", "2.5")),
    "t": ("INTERVAL '1' MINUTE", "INTERVAL '7' MINUTE"),
    "d": ("INTERVAL '3' DAY", "INTERVAL '1' MONTH"),
    "id": ("1", "3"),
}
PLACES = {
    "back": "{1} PRECEDING AND CURRENT ROW",
    "both": "{0} PRECEDING AND {1} FOLLOWING",
    "ahead": "CURRENT ROW AND {0} FOLLOWING",
    "apart": "{1} PRECEDING AND {0} PRECEDING",
    "behind": "{0} FOLLOWING AND {1} FOLLOWING",
    "until": "UNBOUNDED PRECEDING AND {0} PRECEDING",
    "up to": "UNBOUNDED PRECEDING AND {0} FOLLOWING",
    "from": "{0} PRECEDING AND UNBOUNDED FOLLOWING",
    "here": "UNBOUNDED PRECEDING AND CURRENT ROW",
    "all": "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
}


def cases_of_frames() -> dict[str, Case]:
    """Frames of every unit with ends of every kind, over orders of every type, down and up."""
    found = {}
    for (column, away), (place, ends), down, part in product(
        DISTANCES.items(), PLACES.items(), ("", " DESC"), ("PARTITION BY g ", "")
    ):
        for unit, by in (("RANGE", away), ("GROUPS", ("1", "2")), ("ROWS", ("1", "3"))):
            for values in (ORDER_FREE, POSITIONS):
                if column != "id" and (values == POSITIONS or unit == "ROWS"):
                    continue  # the order of peers is not DuckDB's
                over = f"OVER ({part}ORDER BY {column}{down} {unit} BETWEEN {ends.format(*by)})"
                beside = f", {BESIDE.format(part)}" if column == "id" else ""
                name = f"{unit} {place} {column}{down} {part[:1]} {values[0]}"
                found[name] = Case(f"SELECT id, {values.format(over)}{beside} FROM t", dialect="duckdb")
    return found


def cases_of_shares() -> dict[str, Case]:
    """Shares of a partition that are compared with constants, shown or not, alone and beside others."""
    found = {}
    for (at, (name, operator)), part in product(
        enumerate(product(("PERCENT_RANK", "CUME_DIST"), (">", "<=", "=", "<", ">=", "<>"))), ("PARTITION BY g ", "")
    ):
        share, constant = f"{name}() OVER ({part}ORDER BY o)", ("0.9", "0.5", "0.25", "0", "1", "2")[at % 6]
        inner = f"SELECT id, n, {share} AS p, ROW_NUMBER() OVER ({part}ORDER BY id) AS r FROM t"
        for how, sql in {
            "qualified": f"SELECT id, x FROM t QUALIFY {share} {operator} {constant}",
            "filtered": f"SELECT id, n FROM ({inner}) AS q WHERE p {operator} {constant} AND n > 0",
            "either": f"SELECT id, r FROM ({inner}) AS q WHERE p {operator} {constant} OR r = 2 OR p > 0.75",
            "shown": f"SELECT id, p FROM ({inner}) AS q WHERE p {operator} {constant}",
            "twice": f"SELECT id FROM ({inner}) AS q WHERE p {operator} {constant} AND p * 2 < 1.5 AND {constant} > p",
            "joined": f"SELECT a.id, b.n FROM ({inner}) AS a JOIN ({inner}) AS b ON a.id = b.id"
            f" WHERE a.p {operator} {constant} AND b.p > 0.3",
            "grouped": f"SELECT n, COUNT(*) AS c FROM ({inner}) AS q WHERE p {operator} {constant} GROUP BY n",
        }.items():
            found[f"{name} {operator} {how} {part[:1]}".strip()] = Case(sql, dialect="duckdb")
    return found


BESIDE = (
    "SUM(n) OVER ({0}ORDER BY id) AS y, LAG(s, 2) OVER ({0}ORDER BY id) AS z, ROW_NUMBER() OVER ({0}ORDER BY id) AS w,"
    " NTILE(4) OVER ({0}ORDER BY o, id) AS v, NTILE(3) OVER ({0}ORDER BY id DESC) AS u"
)


def rows(seed: int, count: int) -> pa.Table:
    """Rows of few values."""
    random = Random(seed)
    columns = {"id": pa.array(range(count), pa.int64())}
    for name, (type_, values) in VALUES.items():
        columns[name] = pa.array([random.choice(values) for _ in range(count)], type_)
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(12 if LONG else 1))
def test_running_values(seed: int) -> None:
    asked, random = cases(), Random(seed)
    names = list(asked) if LONG else random.sample(list(asked), 24)
    feeds = {"t": corrected(rows(seed, 160), 90, 20, seed)}
    with Oracle(InProcess(), feeds, limits=Limits(rows_of_large_partition=4)) as oracle:
        oracle.register({name: asked[name] for name in names[::2]})
        oracle.run(2)
        oracle.register({name: asked[name] for name in names[1::2]})
        oracle.run(2)
        oracle.check_changes()


@pytest.mark.parametrize("seed", range(12 if LONG else 2))
def test_frames(seed: int) -> None:
    asked, random = {**cases_of_frames(), **cases_of_shares()}, Random(seed)
    names = random.sample(list(asked), 200 if LONG else 40)
    feeds = {"t": corrected(rows(seed, 160), 90, 20, seed)}
    with Oracle(InProcess(), feeds, limits=Limits(rows_of_large_partition=4)) as oracle:
        oracle.register({name: asked[name] for name in names[::2]})
        oracle.run(2)
        oracle.register({name: asked[name] for name in names[1::2]})
        oracle.run(2)
        oracle.check_changes()


def test_extremes_of_many_partitions() -> None:
    """What is greatest in one of them says nothing of the next, where values before are among those compared."""
    groups, length = 40, 8
    before = [float(-g if g % 2 else g) for g in range(groups) for _ in range(length)]
    x = before + [None if g % 2 else 100.0 + g for g in range(groups)]
    g = [g for g in range(groups) for _ in range(length)] + [*range(groups)]
    t = pa.table({"id": range(len(x)), "g": g, "x": pa.array(x, pa.float64())})
    over = "OVER (PARTITION BY g ORDER BY id)"
    with Oracle(
        InProcess(), {"t": Feed(t, groups * length, groups)}, limits=Limits(rows_of_large_partition=4)
    ) as oracle:
        oracle.register({"q": Case(f"SELECT id, MAX(x) {over} AS a, MIN(-x) {over} AS b FROM t")})
        oracle.run(1)
        oracle.check_changes()
