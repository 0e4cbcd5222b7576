"""Rows for the questions of TPC-H: orders and their lines as streams, and the six tables beside them.

Columns, keys and words are those of the benchmark (TPC-H specification 3.0, clause 4.2); rows are drawn here, with a
seed. Words that the questions ask for are drawn more often than the benchmark draws them, so that few rows already have
an answer to each. Lines stand in the order of their orders, so both streams can arrive together.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.experiments.sample_streams.columns import Ints, day_column, looked_up, money, numbered

NATIONS = {
    "ALGERIA": 0, "ARGENTINA": 1, "BRAZIL": 1, "CANADA": 1, "EGYPT": 4, "ETHIOPIA": 0, "FRANCE": 3, "GERMANY": 3,
    "INDIA": 2, "INDONESIA": 2, "IRAN": 4, "IRAQ": 4, "JAPAN": 2, "JORDAN": 4, "KENYA": 0, "MOROCCO": 0,
    "MOZAMBIQUE": 0, "PERU": 1, "CHINA": 2, "ROMANIA": 3, "SAUDI ARABIA": 4, "VIETNAM": 2, "RUSSIA": 3,
    "UNITED KINGDOM": 3, "UNITED STATES": 1,
}  # fmt: skip
"""Each nation with its region."""
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
_ASKED = ("FRANCE", "GERMANY", "BRAZIL", "CANADA", "SAUDI ARABIA", "CHINA", "INDIA")
"""Nations that questions name, or that lie in regions they name."""
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
SEGMENTS = ("BUILDING", "AUTOMOBILE", "MACHINERY", "HOUSEHOLD", "FURNITURE")
_PACKED = (
    ("Brand#12", "SM CASE"), ("Brand#12", "SM BOX"), ("Brand#23", "MED BOX"), ("Brand#23", "MED BAG"),
    ("Brand#34", "LG CASE"), ("Brand#34", "LG PKG"), ("Brand#45", "SM CASE"), ("Brand#51", "JUMBO JAR"),
)  # fmt: skip
"""Brands and containers."""
_TYPES = ("PROMO POLISHED BRASS", "ECONOMY ANODIZED STEEL", "MEDIUM POLISHED TIN", "STANDARD PLATED BRASS")
MODES = ("AIR", "AIR REG", "MAIL", "SHIP", "TRUCK", "RAIL")
INSTRUCTIONS = ("DELIVER IN PERSON", "DELIVER IN PERSON", "NONE")
COLORS = ("green", "forest", "almond")
FIRST, DAYS = (dt.date(1993, 1, 1) - dt.date(1970, 1, 1)).days, 365 * 6
"""The first day of an order, since 1970-01-01, and on how many days there are orders."""
_LINES = 7
"""The most lines of an order."""
_LARGE = 40
"""Every so manieth order has the most lines, of large quantities, as one question asks for."""
SUPPLIERS = 3
"""How many suppliers a part has."""

Rng = np.random.Generator
_Columns = dict[str, pa.Array]


def tpch(orders: int, seed: int = 0) -> Mapping[str, pa.Table]:
    """All tables by name, for a number of orders.

    Example:
        >>> tables = tpch(20)
        >>> tables["orders"].num_rows, tables["nation"].num_rows, tables["lineitem"].column_names[:3]
        (20, 25, ['l_orderkey', 'l_partkey', 'l_suppkey'])
    """
    rng = np.random.default_rng(seed)
    parts, suppliers, customers = max(20, orders // 8), max(10, orders // 20), max(15, orders // 6)
    # Distinct ones: they stand a third of all suppliers apart.
    first, apart = rng.integers(suppliers, size=(parts, 1)), suppliers // SUPPLIERS
    supplied = (first + apart * np.arange(SUPPLIERS)) % suppliers + 1
    placed, lines = _orders(rng, orders, customers, supplied)
    return {
        "lineitem": _table("l", lines),
        "orders": _table("o", placed),
        "customer": _table("c", _customers(rng, customers)),
        "part": _table("p", _parts(rng, parts)),
        "supplier": _table("s", _suppliers(rng, suppliers)),
        "partsupp": _table("ps", _supplies(rng, supplied)),
        "nation": _table("n", _listed("nation", [*NATIONS], regionkey=pa.array(NATIONS.values()))),
        "region": _table("r", _listed("region", REGIONS)),
    }


def _orders(rng: Rng, orders: int, customers: int, supplied: Ints) -> tuple[_Columns, _Columns]:
    keys = np.arange(1, orders + 1)
    day = FIRST + rng.integers(DAYS, size=orders)
    large = keys % _LARGE == 0
    count = np.where(large, _LINES, rng.integers(1, _LINES + 1, size=orders))
    order = np.repeat(np.arange(orders), count)
    price = rng.integers(90_000, 9_000_000, size=len(order))
    first = np.repeat(np.cumsum(count) - count, count)
    lines = {
        "orderkey": pa.array(keys[order]),
        **_lines(rng, day[order], large[order], np.arange(len(order)) - first + 1, price, supplied),
    }
    placed = {
        "orderkey": pa.array(keys),
        "custkey": pa.array(rng.integers(1, max(1, customers * 2 // 3) + 1, size=orders)),
        "orderstatus": _one_of(rng, "FFO", orders),
        "totalprice": money(np.add.reduceat(price, np.cumsum(count) - count)),
        "orderdate": day_column(day),
        "orderpriority": _one_of(rng, PRIORITIES, orders),
        "clerk": numbered(_same("Clerk#", orders), rng.integers(100, size=orders), 9),
        "shippriority": pa.array(np.zeros(orders, dtype=np.int64)),
        "comment": _one_of(rng, ("quickly", "special packages requests", "final deposits"), orders),
    }
    return placed, lines


def _lines(rng: Rng, day: Ints, large: Ints, number: Ints, price: NDArray[np.int64], supplied: Ints) -> _Columns:
    size = len(day)
    part = rng.integers(len(supplied), size=size)
    shipped = day + rng.integers(1, 61, size=size)
    quantity = np.where(large, rng.integers(44, 51, size=size), rng.integers(1, 51, size=size))
    return {
        "partkey": pa.array(part + 1),
        "suppkey": pa.array(supplied[part, rng.integers(SUPPLIERS, size=size)]),
        "linenumber": pa.array(number),
        "quantity": money(100 * quantity),
        "extendedprice": money(price),
        "discount": money(rng.integers(11, size=size)),
        "tax": money(rng.integers(9, size=size)),
        "returnflag": _one_of(rng, "RAN", size),
        "linestatus": _one_of(rng, "OF", size),
        "shipdate": day_column(shipped),
        "commitdate": day_column(day + rng.integers(20, 71, size=size)),
        "receiptdate": day_column(shipped + rng.integers(1, 31, size=size)),
        "shipinstruct": _one_of(rng, INSTRUCTIONS, size),
        "shipmode": _one_of(rng, MODES, size),
        "comment": _one_of(rng, ("carefully", "ironic"), size),
    }


def _customers(rng: Rng, number: int) -> _Columns:
    keys, nation = np.arange(1, number + 1), _nations(rng, number)
    asked = np.array((13, 31, 23, 29))[rng.integers(4, size=number)]
    return {
        "custkey": pa.array(keys),
        "name": numbered(_same("Customer#", number), keys, 9),
        "address": numbered(_same("street ", number), keys, 1),
        "nationkey": pa.array(nation),
        "phone": _phones(rng, np.where(rng.random(number) < 0.8, asked, 10 + nation)),
        "acctbal": _balances(rng, number),
        "mktsegment": _one_of(rng, SEGMENTS, number),
        "comment": _one_of(rng, ("slyly", "pending"), number),
    }


def _parts(rng: Rng, number: int) -> _Columns:
    keys, packed = np.arange(1, number + 1), rng.integers(len(_PACKED), size=number)
    names = [f"{one} {other}" for one in COLORS for other in COLORS]
    return {
        "partkey": pa.array(keys),
        "name": _one_of(rng, names, number),
        "mfgr": _one_of(rng, [f"Manufacturer#{maker}" for maker in range(1, 6)], number),
        "brand": looked_up([brand for brand, _ in _PACKED], packed),
        "type": _one_of(rng, _TYPES, number),
        "size": pa.array(rng.choice((1, 3, 5, 9, 14, 15, 15, 23, 49), size=number)),
        "container": looked_up([container for _, container in _PACKED], packed),
        "retailprice": money(90_000 + keys),
        "comment": _same("final", number),
    }


def _suppliers(rng: Rng, number: int) -> _Columns:
    keys, nation = np.arange(1, number + 1), _nations(rng, number)
    return {
        "suppkey": pa.array(keys),
        "name": numbered(_same("Supplier#", number), keys, 9),
        "address": numbered(_same("road ", number), keys, 1),
        "nationkey": pa.array(nation),
        "phone": _phones(rng, 10 + nation),
        "acctbal": _balances(rng, number),
        "comment": _one_of(rng, ("blithely", "express", "Customer slow Complaints"), number),
    }


def _supplies(rng: Rng, supplied: Ints) -> _Columns:
    size = supplied.size
    return {
        "partkey": pa.array(np.repeat(np.arange(1, len(supplied) + 1), SUPPLIERS)),
        "suppkey": pa.array(supplied.ravel()),
        "availqty": pa.array(rng.integers(1, 10_000, size=size)),
        "supplycost": money(rng.integers(100, 100_000, size=size)),
        "comment": _same("even", size),
    }


def _listed(kind: str, names: Sequence[str], **more: pa.Array) -> _Columns:
    size = len(names)
    return {f"{kind}key": pa.array(range(size)), "name": pa.array(names), **more, "comment": _same("regular", size)}


def _nations(rng: Rng, size: int) -> Ints:
    asked = np.array([[*NATIONS].index(name) for name in _ASKED])
    often = asked[rng.integers(len(asked), size=size)]
    return np.where(rng.random(size) < 0.7, often, rng.integers(len(NATIONS), size=size))


def _phones(rng: Rng, country: Ints) -> pa.Array:
    parts = [country, *(rng.integers(low, 10 * low, size=len(country)) for low in (100, 100, 1000))]
    return pa.compute.binary_join_element_wise(*(pa.array(part).cast(pa.string()) for part in parts), "-")


def _balances(rng: Rng, size: int) -> pa.Array:
    return money(rng.integers(-99_999, 999_999, size=size))


def _one_of(rng: Rng, words: Sequence[str], size: int) -> pa.Array:
    return looked_up([*words], rng.integers(len(words), size=size))


def _same(word: str, size: int) -> pa.Array:
    return pa.repeat(pa.scalar(word), size)


def _table(prefix: str, columns: _Columns) -> pa.Table:
    return pa.table({f"{prefix}_{name}": values for name, values in columns.items()})
