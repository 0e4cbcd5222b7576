"""AggreRules and AggreBasics: what is shown is what the planner and the engine go by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.catalog.catalog import Catalog
from workbench.catalog.records import StoredRecords
from workbench.engine.physical.accumulators import additive
from workbench.network.network import Network
from workbench.network.nodes import Aggregate
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import AggregateCall, Column
from workbench.sql.algebra.types import DOUBLE, INTEGER, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.functions.aggregate_rules import OF_DOUBLE, RULES, KeptAs
from workbench.sql.schema import Schema, UserAggregate

X, MONEY = Column("x", DOUBLE), Column("m", decimal(15, 2))


def rules(catalog: Catalog, function: str) -> list[tuple[object, ...]]:
    return catalog.query(
        f"SELECT \"over\", category, incremental, vertical, reason FROM aggregate_rules WHERE function = '{function}'"
    )[1]


def test_rules_of_the_thesis() -> None:
    catalog = Catalog()
    assert rules(catalog, "AVG")[0][:4] == ("exact numbers", "algebraic", *["average(sum_x, count_x)"] * 2)
    assert rules(catalog, "COUNT") == [("any", "distributive", "count_x(H) + count_x(N)", "total(count_x)", None)]
    (median,) = rules(catalog, "MEDIAN")
    assert median[1:4] == ("holistic", None, None)
    assert catalog.query("SELECT statistic, stat_id FROM aggregate_basics WHERE function = 'AVG' GROUP BY 1")[1] == [
        ("COUNT(x)", "count_x"),
        ("SUM(x)", "sum_x"),
    ]


def test_the_analysts_own_are_among_them() -> None:
    catalog = Catalog()
    stored = StoredRecords(catalog.database, "user_aggregates", UserAggregate)
    stored.put(UserAggregate("rms", ("x",), {"n": "COUNT(x)", "q": "SUM(x * x)"}, "SQRT(q / n)"))
    stored.put(UserAggregate("middle", ("x",), {"m": "MEDIAN(x)", "n": "COUNT(*)"}, "m + n"))
    stored.put(UserAggregate("spread", ("x", "y"), {"c": "CORR(x, y)"}, "1 - c"))
    assert rules(catalog, "rms") == [("any", "algebraic", "SQRT(q / n)", "SQRT(q / n)", None)]
    assert rules(catalog, "middle")[0][:4] == ("any", "holistic", None, None)
    assert rules(catalog, "spread")[0][:4] == ("any", "algebraic", "1 - c", None)
    assert catalog.query("SELECT * FROM aggregate_basics WHERE function = 'rms'")[1] == [
        ("rms", "any", "COUNT(x)", "n", "count"),
        ("rms", "any", "SUM(x * x)", "q", "sum"),
    ]
    stored.remove("rms")
    assert rules(catalog, "rms") == []


STATISTICS = {
    "count": AggregateCall("count", (X,), INTEGER),
    "sum": AggregateCall("sum", (MONEY,), decimal(25, 2)),
    "min": AggregateCall("min", (MONEY,), MONEY.type),
    "max": AggregateCall("max", (X,), DOUBLE),
    "corr": AggregateCall("corr", (X, X), DOUBLE),
}


@pytest.mark.parametrize("function", STATISTICS)
def test_the_engine_goes_by_the_rule(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statistic = STATISTICS[function]
    assert additive("s", statistic, monotone=True) is not None
    monkeypatch.setitem(RULES, function, replace(RULES[function], kept=KeptAs.VALUES))  # type: ignore[arg-type]
    assert additive("s", statistic, monotone=True) is None


FINE_AND_COARSE = "SELECT b, a, SUM(x) s FROM t GROUP BY b, a", "SELECT b, SUM(x) s FROM t GROUP BY b"


def coarse() -> Aggregate:
    """The aggregate with one group."""
    planner, network = Planner(), Network()
    for name, sql in zip("fc", FINE_AND_COARSE, strict=True):
        logical = bind(sql, "spark", Schema({"t": (("a", INTEGER), ("b", INTEGER), ("x", DOUBLE))})).query
        assert logical is not None
        network = planner.register(network, name, logical).network
    (found,) = (node for node in network.nodes.values() if isinstance(node, Aggregate) and len(node.groups) == 1)
    return found


def test_the_planner_goes_by_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    assert coarse().finer is not None
    monkeypatch.setitem(OF_DOUBLE, "sum", replace(OF_DOUBLE["sum"], part=None, reason="not today"))  # type: ignore[arg-type]
    assert coarse().finer is None
