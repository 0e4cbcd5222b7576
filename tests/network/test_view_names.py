"""What a view computes of a stream has the view's name wherever an analyst reads it, unless that could mislead."""

from __future__ import annotations

import pytest

from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView
from workbench.explain.kept_state import kept_states
from workbench.explain.relaxation import conditions_of, node_testing
from workbench.network.network import Network
from workbench.network.view_names import UNNAMED, ViewNames
from workbench.session.state import ACTIVE, LAZY, QueryRecord, State
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import Bound, bind
from workbench.sql.schema import Schema

STREAMS = {"log": (("line", STRING), ("n", INTEGER)), "hosts": (("ip", STRING), ("dc", STRING))}
VIEWS = """CREATE VIEW hits AS SELECT regexp_extract(line, '^([0-9.]+)', 1) AS ip,
regexp_extract(line, '([a-z]+)$', 1) AS agent,
CAST(regexp_extract(line, '([0-9]+) ', 1) AS INT) AS bytes FROM log WHERE n > 0;
CREATE VIEW placed AS SELECT h.ip, h.agent, d.dc FROM hits h JOIN hosts d ON h.ip = d.ip;
CREATE VIEW agents AS SELECT agent, COUNT(*) AS c FROM hits GROUP BY agent"""
TEXTS = {
    "by_ip": "SELECT ip, COUNT(*), SUM(bytes) FROM hits WHERE agent LIKE 'bot%' GROUP BY ip",
    "heavy": "SELECT ip FROM hits WHERE bytes > 500",
    "busy": "SELECT ip FROM hits GROUP BY ip HAVING MAX(bytes) >= 6",
    "in_rome": "SELECT ip, COUNT(*) FROM placed WHERE dc = 'rome' GROUP BY ip",
    "pairs": "SELECT a.ip FROM hits a JOIN hits b ON a.ip = b.ip AND a.agent <> b.agent",
    "ranked": "SELECT ip FROM hits QUALIFY ROW_NUMBER() OVER (PARTITION BY ip ORDER BY bytes) < 3",
    "either": "SELECT agent FROM hits UNION SELECT dc FROM hosts",
    "often": "SELECT agent FROM agents WHERE c > 5",
}


def bound(sql: str, views: str = "") -> Bound:
    known = dict(bind(views, "spark", Schema(streams=STREAMS)).views) if views else {}
    return bind(sql, "spark", Schema(streams=STREAMS, views=known))


def names_of(views: str) -> ViewNames:
    return ViewNames.of(dict(bound(views).views))


def planned(names: ViewNames) -> tuple[Network, str]:
    """The network of all texts, and their explanations."""
    planner, network, explained = Planner(views=names), Network(), ""
    for name, sql in TEXTS.items():
        one = planner.register(network, name, bound(sql, VIEWS).named(name)[name])
        network, explained = one.network, f"{explained}{ExplanationView.of(one.explanation)}\n"
    return network, explained


def test_captions_statements_columns_and_explanations_say_the_columns_of_views() -> None:
    network, explained = planned(names_of(VIEWS))
    view = NetworkView(network, (), names_of(VIEWS))
    texts = [text for node in view.nodes for text in (node.sql, node.name, *node.label, *node.caption)]
    texts += [
        view.to_text(),
        view.to_dot(),
        explained,
        *(name for node in view.nodes for name in view.columns(node.id)),
    ]
    assert [text for text in texts if "REGEXP" in text] == []
    labels = {node.label for node in view.nodes}
    assert {("ip", "COUNT(*), SUM(bytes)"), ("bytes > 500",), ("MAX(bytes) >= 6",)} <= labels
    assert any("r.ip = l.ip" in label or "l.ip = r.ip" in label for label in labels)
    assert any("log.ip" in text for text in texts)  # above a join with hosts, which has an ip too
    assert "GROUP BY ip" in explained and "PARTITION BY ip ORDER BY bytes" in explained


def test_the_costs_of_a_query_say_the_columns_of_views() -> None:
    network, planner = planned(UNNAMED)[0], Planner()
    kept = [kept_states(network, "by_ip", (), planner.estimates, {}, names) for names in (names_of(VIEWS), UNNAMED)]
    assert ["REGEXP" in "".join(state.what for state in states) for states in kept] == [False, True]
    assert "groups by ip (the answer)" in {state.what for state in kept[0]}


@pytest.mark.parametrize(("name", "conditions"), [
    ("by_ip", ["WHERE agent LIKE 'bot%'", "WHERE n > 0"]), ("heavy", ["WHERE bytes > 500", "WHERE n > 0"]),
    ("busy", ["HAVING MAX(bytes) >= 6", "WHERE n > 0"]),
    ("pairs", ["WHERE log_2.agent <> log_1.agent", "WHERE log_2.ip = log_1.ip"]),
])  # fmt: skip
def test_why_not_says_the_columns_of_views_and_finds_the_nodes(name: str, conditions: list[str]) -> None:
    query, (network, _) = bound(TEXTS[name], VIEWS).named(name)[name], planned(UNNAMED)
    found, plain = conditions_of(query, names_of(VIEWS)), conditions_of(query)
    assert set(conditions) <= set(map(str, found))
    nodes = [[node_testing(condition, network, name) for condition in each] for each in (found, plain)]
    assert nodes[0] == nodes[1] and any(nodes[0])


def test_views_of_another_database_compute_their_columns() -> None:
    view = "CREATE VIEW v AS SELECT n % 7 AS day FROM log"
    query = bound("SELECT day, COUNT(*) AS c FROM v GROUP BY day", view).named("q")["q"]
    network, names = Planner().register(Network(), "q", query).network, names_of(view)
    assert "groups by day" in {node.name for node in NetworkView(network, (), names).nodes}
    assert NetworkView(network, (), names).to_sql("duckdb") == NetworkView(network).to_sql("duckdb")


@pytest.mark.parametrize(("views", "said"), [
    ("CREATE VIEW v AS SELECT lower(line) AS low FROM log", "low"),
    ("CREATE VIEW v (low) AS SELECT lower(line) FROM LOG ORDER BY 1", "low"),
    ("CREATE VIEW v AS SELECT lower(line) AS low, COUNT(*) AS c FROM log GROUP BY 1", "low"),
    ("CREATE VIEW v AS SELECT DISTINCT lower(line) AS low FROM log", "low"),
    ("CREATE VIEW v AS SELECT lower(line) AS low FROM log; CREATE VIEW w AS SELECT lower(line) AS Low FROM log", "low"),
    ("CREATE VIEW v AS SELECT lower(line) AS low FROM log; CREATE VIEW w AS SELECT low FROM v WHERE low > 'a'", "low"),
    ("CREATE VIEW v AS SELECT lower(line) FROM log", ""),
    ("CREATE VIEW v AS SELECT lower(line) AS N FROM log", ""),
    ("CREATE VIEW v AS SELECT lower(line) AS low FROM log; CREATE VIEW w AS SELECT lower(line) AS x FROM log", ""),
    ("CREATE VIEW v AS SELECT lower(line) AS low FROM log; CREATE VIEW w AS SELECT upper(line) AS low FROM log", ""),
    ("CREATE VIEW v AS SELECT lower(line) AS low, lower(line) AS small FROM log", ""),
    ("CREATE VIEW v AS SELECT lower(ip) AS low FROM hosts", ""),
])  # fmt: skip
def test_an_expression_has_the_one_name_that_cannot_mislead(views: str, said: str) -> None:
    network = Planner().register(Network(), "q", bound("SELECT line FROM log WHERE lower(line) = 'x'").named("q")["q"])
    (label,) = (node.label for node in NetworkView(network.network, (), names_of(views)).nodes if node.kind != "source")
    assert label == (f"{said or 'LOWER(line)'} = 'x'",)


def test_the_names_of_queries_are_their_own() -> None:
    texts = {"v": "CREATE VIEW v AS SELECT lower(line) AS low FROM log;", "q": "SELECT upper(line) AS up FROM log"}
    state = State()
    for name, sql in texts.items():
        logical = bound(sql).named(name)[name]
        record = QueryRecord(name, sql, "spark", 0, ACTIVE, logical, LAZY, (), name, None)  # type: ignore[arg-type]
        state = State(views={**state.views, name: logical}, queries={**state.queries, name: record})
    assert set(state.view_names.names.values()) == {"low"}
