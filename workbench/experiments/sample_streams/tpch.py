"""Rows for the questions of TPC-H: orders and their lines as streams, and the six tables beside them.

Columns, keys and words are those of the benchmark (TPC-H specification 3.0, clause 4.2); rows are drawn here, with a
seed. Words that the questions ask for are drawn more often than the benchmark draws them, so that few rows already have
an answer to each. Lines stand in the order of their orders, so both streams can arrive together.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

NATIONS = {
    "ALGERIA": 0, "ARGENTINA": 1, "BRAZIL": 1, "CANADA": 1, "EGYPT": 4, "ETHIOPIA": 0, "FRANCE": 3, "GERMANY": 3,
    "INDIA": 2, "INDONESIA": 2, "IRAN": 4, "IRAQ": 4, "JAPAN": 2, "JORDAN": 4, "KENYA": 0, "MOROCCO": 0,
    "MOZAMBIQUE": 0, "PERU": 1, "CHINA": 2, "ROMANIA": 3, "SAUDI ARABIA": 4, "VIETNAM": 2, "RUSSIA": 3,
    "UNITED KINGDOM": 3, "UNITED STATES": 1,
}  # fmt: skip
"""Each nation with its region."""
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
ASKED = ("FRANCE", "GERMANY", "BRAZIL", "CANADA", "SAUDI ARABIA", "CHINA", "INDIA")
"""Nations that questions name, or that lie in regions they name."""
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
SEGMENTS = ("BUILDING", "AUTOMOBILE", "MACHINERY", "HOUSEHOLD", "FURNITURE")
PACKED = (
    ("Brand#12", "SM CASE"), ("Brand#12", "SM BOX"), ("Brand#23", "MED BOX"), ("Brand#23", "MED BAG"),
    ("Brand#34", "LG CASE"), ("Brand#34", "LG PKG"), ("Brand#45", "SM CASE"), ("Brand#51", "JUMBO JAR"),
)  # fmt: skip
"""Brands and containers."""
TYPES = ("PROMO POLISHED BRASS", "ECONOMY ANODIZED STEEL", "MEDIUM POLISHED TIN", "STANDARD PLATED BRASS")
MODES = ("AIR", "AIR REG", "MAIL", "SHIP", "TRUCK", "RAIL")
INSTRUCTIONS = ("DELIVER IN PERSON", "DELIVER IN PERSON", "NONE")
COLORS = ("green", "forest", "almond")
FIRST, DAYS = dt.date(1993, 1, 1), 365 * 6
LINES = 7
"""The most lines of an order."""

Rows = dict[str, list[Any]]
_MONEY = pa.decimal128(15, 2)


def tpch(orders: int, seed: int = 0) -> Mapping[str, pa.Table]:
    """All tables by name, for so many orders.

    Example:
        >>> tables = tpch(20)
        >>> tables["orders"].num_rows, tables["nation"].num_rows, tables["lineitem"].column_names[:3]
        (20, 25, ['l_orderkey', 'l_partkey', 'l_suppkey'])
    """
    random = Random(seed)
    parts, suppliers, customers = max(20, orders // 8), max(10, orders // 20), max(15, orders // 6)
    supplied = {part: random.sample(range(1, suppliers + 1), 3) for part in range(1, parts + 1)}
    placed, lines = _orders(random, orders, customers, supplied)
    return {
        "lineitem": _table("l", lines),
        "orders": _table("o", placed),
        "customer": _table("c", _customers(random, customers)),
        "part": _table("p", _parts(random, parts)),
        "supplier": _table("s", _suppliers(random, suppliers)),
        "partsupp": _table("ps", _supplies(random, supplied)),
        "nation": _table("n", _listed("nation", [*NATIONS], regionkey=[*NATIONS.values()])),
        "region": _table("r", _listed("region", REGIONS)),
    }


def _orders(random: Random, orders: int, customers: int, supplied: Mapping[int, list[int]]) -> tuple[Rows, Rows]:
    placed: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for order in range(1, orders + 1):
        day = FIRST + dt.timedelta(days=random.randrange(DAYS))
        own = [_line(random, order, number, day, supplied) for number in range(1, random.randint(1, LINES) + 1)]
        if order % 40 == 0:  # the question for large volumes
            own = [_line(random, order, number, day, supplied, most=True) for number in range(1, LINES + 1)]
        lines += own
        placed.append(
            {
                "orderkey": order,
                "custkey": random.randint(1, max(1, customers * 2 // 3)),
                "orderstatus": random.choice("FFO"),
                "totalprice": sum((line["extendedprice"] for line in own), Decimal(0)),
                "orderdate": day,
                "orderpriority": random.choice(PRIORITIES),
                "clerk": f"Clerk#{random.randrange(100):09}",
                "shippriority": 0,
                "comment": random.choice(("quickly", "special packages requests", "final deposits")),
            }
        )
    return _columns(placed), _columns(lines)


def _line(
    random: Random, order: int, number: int, day: dt.date, supplied: Mapping[int, list[int]], most: bool = False
) -> dict[str, Any]:
    part = random.choice([*supplied])
    shipped = day + dt.timedelta(days=random.randint(1, 60))
    return {
        "orderkey": order,
        "partkey": part,
        "suppkey": random.choice(supplied[part]),
        "linenumber": number,
        "quantity": Decimal(random.randint(44, 50) if most else random.randint(1, 50)),
        "extendedprice": Decimal(random.randrange(90_000, 9_000_000)) / 100,
        "discount": Decimal(random.randint(0, 10)) / 100,
        "tax": Decimal(random.randint(0, 8)) / 100,
        "returnflag": random.choice("RAN"),
        "linestatus": random.choice("OF"),
        "shipdate": shipped,
        "commitdate": day + dt.timedelta(days=random.randint(20, 70)),
        "receiptdate": shipped + dt.timedelta(days=random.randint(1, 30)),
        "shipinstruct": random.choice(INSTRUCTIONS),
        "shipmode": random.choice(MODES),
        "comment": random.choice(("carefully", "ironic")),
    }


def _customers(random: Random, number: int) -> Rows:
    rows = []
    for key in range(1, number + 1):
        nation = _nation(random)
        rows.append(
            {
                "custkey": key,
                "name": f"Customer#{key:09}",
                "address": f"street {key}",
                "nationkey": nation,
                "phone": _phone(random, random.choice((13, 31, 23, 29, 10 + nation))),
                "acctbal": _balance(random),
                "mktsegment": random.choice(SEGMENTS),
                "comment": random.choice(("slyly", "pending")),
            }
        )
    return _columns(rows)


def _parts(random: Random, number: int) -> Rows:
    packed = [random.choice(PACKED) for _ in range(number)]
    rows = [
        {
            "partkey": key,
            "name": f"{random.choice(COLORS)} {random.choice(COLORS)}",
            "mfgr": f"Manufacturer#{random.randint(1, 5)}",
            "brand": brand,
            "type": random.choice(TYPES),
            "size": random.choice((1, 3, 5, 9, 14, 15, 15, 23, 49)),
            "container": container,
            "retailprice": Decimal(90_000 + key) / 100,
            "comment": "final",
        }
        for key, (brand, container) in enumerate(packed, start=1)
    ]
    return _columns(rows)


def _suppliers(random: Random, number: int) -> Rows:
    rows = []
    for key in range(1, number + 1):
        nation = _nation(random)
        rows.append(
            {
                "suppkey": key,
                "name": f"Supplier#{key:09}",
                "address": f"road {key}",
                "nationkey": nation,
                "phone": _phone(random, 10 + nation),
                "acctbal": _balance(random),
                "comment": random.choice(("blithely", "express", "Customer slow Complaints")),
            }
        )
    return _columns(rows)


def _supplies(random: Random, supplied: Mapping[int, list[int]]) -> Rows:
    rows = [
        {
            "partkey": part,
            "suppkey": supplier,
            "availqty": random.randint(1, 9_999),
            "supplycost": Decimal(random.randrange(100, 100_000)) / 100,
            "comment": "even",
        }
        for part, suppliers in supplied.items()
        for supplier in suppliers
    ]
    return _columns(rows)


def _listed(kind: str, names: list[str] | tuple[str, ...], **more: list[int]) -> Rows:
    keys = list(range(len(names)))
    return {f"{kind}key": keys, "name": list(names), **more, "comment": ["regular" for _ in keys]}


def _nation(random: Random) -> int:
    names = [*NATIONS]
    return names.index(random.choice(ASKED if random.random() < 0.7 else names))


def _phone(random: Random, country: int) -> str:
    return f"{country}-{random.randrange(100, 1000)}-{random.randrange(100, 1000)}-{random.randrange(1000, 10_000)}"


def _balance(random: Random) -> Decimal:
    return Decimal(random.randrange(-99_999, 999_999)) / 100


def _columns(rows: list[dict[str, Any]]) -> Rows:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _table(prefix: str, columns: Rows) -> pa.Table:
    arrays = {}
    for name, values in columns.items():
        money = isinstance(values[0], Decimal)
        arrays[f"{prefix}_{name}"] = pa.array(values, _MONEY) if money else pa.array(values)
    return pa.table(arrays)
