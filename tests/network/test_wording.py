"""Nodes and columns in the words of the queries: no generated name is shown."""

from __future__ import annotations

import re

from example_network import NODES, SAME_DAY, network_of

from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView, headline
from workbench.network.network import Network
from workbench.network.nodes import Aggregate
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, array_of
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

FLIGHTS = (
    ("flight", INTEGER),
    ("carrier", STRING),
    ("origin", STRING),
    ("dep_delay", DOUBLE),
    ("day", DATE),
    ("at", TIMESTAMP),
)
WEATHER = (("origin", STRING), ("day", DATE), ("temp", DOUBLE))
SCHEMA = Schema(streams={"flights": FLIGHTS, "weather": WEATHER}, times={"flights": "at"})

TEXTS = {
    "late": "SELECT flight FROM flights WHERE dep_delay > 60.0",
    "late_jfk": "SELECT flight FROM flights WHERE dep_delay > 60 AND origin = 'JFK'",
    "by_carrier": "SELECT carrier, MAX(dep_delay), AVG(dep_delay), COUNT(*) FROM flights GROUP BY carrier",
    "bad": "SELECT carrier FROM flights GROUP BY carrier HAVING MAX(dep_delay) > 500 AND AVG(dep_delay) > 2.5",
    "worst": "SELECT f.flight FROM flights f JOIN (SELECT carrier, MAX(dep_delay) m FROM flights GROUP BY carrier) b "
    "ON f.carrier = b.carrier AND f.dep_delay = b.m WHERE b.m > 100",
    "cold": "SELECT f.origin, COUNT(*) FROM flights f JOIN weather w ON f.origin = w.origin AND f.day = w.day "
    "WHERE f.dep_delay > w.temp GROUP BY f.origin",
    "recent": "SELECT carrier, COUNT(*) FROM flights WHERE at > NOW() - INTERVAL 2 DAYS GROUP BY carrier",
    "ranks": "SELECT flight FROM flights QUALIFY ROW_NUMBER() OVER (PARTITION BY carrier ORDER BY dep_delay) <= 3",
    "both": "SELECT carrier FROM flights WHERE dep_delay > 60 UNION SELECT carrier FROM flights WHERE dep_delay < -20",
    "pairs": "SELECT a.flight FROM flights a JOIN flights b ON a.carrier = b.carrier AND a.dep_delay > 2 * b.dep_delay",
    "above": "SELECT flight FROM flights f WHERE dep_delay > (SELECT AVG(dep_delay) FROM flights g "
    "WHERE g.carrier = f.carrier)",
    "all_of_it": "SELECT flight FROM flights",
}
GENERATED = re.compile(r"_[0-9a-f]{8}\b|\d\.0d|NOW\('|\b[A-Z][0-9a-f]{12}|null::|AVERAGE|\b1:[a-z]")


def planned() -> tuple[NetworkView, dict[str, ExplanationView]]:
    planner, network, explained = Planner(), Network(), {}
    for name, sql in TEXTS.items():
        one = planner.register(network, name, bind(sql, "spark", SCHEMA).named(name)[name])
        network, explained[name] = one.network, ExplanationView.of(one.explanation)
    return NetworkView(network), explained


def test_groups_of_a_selection_of_a_self_join_have_the_names_of_its_sides() -> None:
    both = Column("tranid_1", INTEGER), Column("tranid_2", INTEGER)
    groups = Aggregate(SAME_DAY.read, both, frozenset(), (SAME_DAY.id,))
    view = NetworkView(network_of([*NODES, groups]))
    assert view.node(groups.id).sql.startswith("SELECT DISTINCT l.tranid, r.tranid FROM «selection ")


def test_no_statement_caption_column_or_explanation_has_a_generated_name() -> None:
    view, explained = planned()
    texts = [text for node in view.nodes for text in (node.sql, *node.label, *node.caption)]
    texts += [name for node in view.nodes for name in view.columns(node.id)]
    texts += [text for e in explained.values() for text in (str(e), e._repr_html_())]
    texts += [view.to_text(), *re.findall(r'(?:label|tooltip)="[^"]*"', view.to_dot())]
    assert [text for text in texts if GENERATED.search(text)] == []


def test_statements_say_what_the_query_says() -> None:
    statements = {node.sql for node in planned()[0].nodes}
    assert any(statement.endswith(" WHERE dep_delay > 60") for statement in statements)
    assert "SELECT * FROM flights WHERE at > NOW() - INTERVAL 2 DAYS" in statements
    (bad,) = (s for s in statements if "WHERE" in s and "500" in s)
    assert "AVG(dep_delay) > 2.5" in bad and "MAX(dep_delay) > 500" in bad


def test_columns_of_a_join_are_told_apart_by_stream_or_side() -> None:
    view, _ = planned()
    grouped = next(node for node in view.nodes if node.kind == "aggregate" and node.queries == ("cold",))
    assert grouped.label == ("flights.origin", "COUNT(*)")


def test_a_stream_is_no_shared_work() -> None:
    _, explained = planned()
    assert headline(explained["by_carrier"]) == "by_carrier: nothing shared, 1 node new"
    assert headline(explained["late_jfk"]) == "late_jfk: 1 of 2 nodes shared with late, 1 new"
    assert headline(explained["all_of_it"]) == "all_of_it: reads its stream as it is, with no node of its own"


def test_elements_of_an_array_are_exploded_and_not_looked_up() -> None:
    legs = (("flight", INTEGER), ("way", array_of(STRING)))
    schema = Schema(streams={"legs": legs})
    long = "SELECT flight, airport FROM legs LATERAL VIEW EXPLODE(way) e AS airport WHERE airport > 'J'"
    short = "SELECT flight, p FROM legs LATERAL VIEW POSEXPLODE(ARRAY(flight, 2, 3)) e AS p, v WHERE v > 3 AND p < 2"
    for name, sql in (("long", long), ("short", short)):
        network = Planner().register(Network(), name, bind(sql, "spark", schema).named(name)[name]).network
        view = NetworkView(network)
        joined = next(node for node in view.nodes if node.kind == "join")
        texts = [*joined.label, joined.sql, view.to_text()]
        assert any("EXPLODE(" in text for text in texts) and not any("ELEMENT_AT" in text for text in texts), texts
        assert [text for text in joined.label if re.search(r"\bc\d", text)] == []


def test_a_column_that_an_expression_names_has_no_other_name() -> None:
    sql = "SELECT flight % 5 AS q, COUNT(*) FROM flights GROUP BY flight % 5"
    view = NetworkView(Planner().register(Network(), "q", bind(sql, "spark", SCHEMA).named("q")["q"]).network)
    (grouped,) = (node for node in view.nodes if node.kind == "aggregate")
    assert grouped.sql == "SELECT flight % 5, COUNT(*) FROM flights GROUP BY flight % 5"
