"""Which rows operators look up again where constraints limit that, without Spark."""

from __future__ import annotations

import datetime as dt

import pytest

from workbench.engine.physical.looked_up import LookedUp
from workbench.network.network import Network
from workbench.network.nodes import Join, Source
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import text
from workbench.sql.algebra.types import DATE, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.constraints import ArrivalOrder, Constraint, ForeignKey, largest_key
from workbench.sql.schema import Schema
from workbench.sql.windows.bounds import Interval
from workbench.sql.windows.stream_time import row_number_key

TIMED = (("id", INTEGER), ("k", INTEGER), ("t", INTEGER), ("d", DATE))
SCHEMA = Schema({"a": TIMED, "b": TIMED, "p": (("k", INTEGER), ("k2", STRING), ("model", STRING))})
NOW = {
    largest_key("a", "t"): 100, largest_key("b", "t"): 90, largest_key("b", "d"): dt.date(1970, 1, 11),
    row_number_key("a"): 200,
}  # fmt: skip


def limits(sql: str, *constraints: Constraint) -> dict[str, object]:
    """For each stream what the first join looks up of it: ``None`` nothing, or the least values of its columns."""
    of_streams = {s: tuple(c for c in constraints if c.stream == s) for s in ("a", "b", "p")}
    query = bind(sql, "spark", SCHEMA).query
    assert query is not None
    network = Planner(constraints=of_streams).register(Network(), "q", query).network
    join = next(node for node in network.nodes.values() if isinstance(node, Join))
    looked_up, found = LookedUp(network, NOW), dict[str, object]()
    for side, root in enumerate(join.roots):
        limit = looked_up.limits(join, side)
        source = network.nodes[root]
        name = source.stream if isinstance(source, Source) else "other"
        found[name] = None if limit is None else {text(c): i.low for c, i in limit.items() if i != Interval()}
    return found


KEY = ForeignKey("a", ("k",), "p", ("k",))
LATE = ForeignKey("a", ("k",), "p", ("k",), late=30)
ORDERS = ArrivalOrder("a", "t", 5), ArrivalOrder("b", "t", 2)


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("a.t = b.t", {"a": {"t": 88}, "b": {"t": 95}}),
        ("a.k = b.k and b.t between a.t - 3 and a.t + 4", {"a": {"t": 84}, "b": {"t": 92}}),
        ("a.k = b.k and a.t < b.t", {"a": {}, "b": {"t": 96}}),
        ("a.k = b.k and a.t > b.t - 10", {"a": {"t": 79}, "b": {}}),
        ("a.k = b.k and a.t <> b.t", {"a": {}, "b": {}}),
        ("a.k = b.t", {"a": {"k": 88}, "b": {}}),
        ("a.k = b.k", {"a": {}, "b": {}}),
    ],
)
def test_orders_of_arrival(on: str, expected: dict[str, object]) -> None:
    assert limits(f"select a.id, b.id j from a join b on {on}", *ORDERS) == expected


def test_days() -> None:
    found = limits("select a.id, b.id j from a join b on a.d = b.d", ArrivalOrder("b", "d", 3))
    assert found == {"a": {"d": 7}, "b": {}}


def test_rows_wait_for_a_partner_that_may_be_late() -> None:
    read = "select a.id, p.model from a join p on a.k = p.k"
    assert limits(read, LATE) == {"a": {"_row": 171}, "p": {}}
    assert limits("select a.id, p.model from a join p on a.t = p.k", LATE) == {"a": {}, "p": {}}
    joined = "select a.id, p.model from a join b on a.id = b.id join p on a.k = p.k"
    assert {"_row": 171} not in limits(joined, LATE).values()  # the numbers of rows are those of one stream


def test_foreign_keys() -> None:
    read = "select a.id, p.model from a join p on a.k = p.k"
    assert limits(read, KEY) == {"a": None, "p": {}}
    assert limits(f"{read} and a.t > 3 and p.model > 'x'", KEY) == {"a": None, "p": {}}
    assert limits("select a.id, p.model from a join p on a.t = p.k", KEY) == {"a": {}, "p": {}}
    assert limits("select b.id, p.model from b join p on b.k = p.k", KEY) == {"b": {}, "p": {}}
    grouped = "select n, p.model from (select k, count(*) n from a group by k) c join p on c.k = p.k"
    assert limits(grouped, KEY) == {"other": {}, "p": {}}  # an aggregate looks up its own rows
    both = ForeignKey("a", ("k", "id"), "p", ("k", "k2"))
    assert limits(read, both) == {"a": {}, "p": {}}
