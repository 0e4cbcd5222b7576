"""The drawing of the panel in a real browser, without JupyterLab and without Spark: what an analyst does with it."""

from __future__ import annotations

import re
from functools import cache

import pytest
from fake_session import FakeSession

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.widget_page import CHROMIUM, WidgetPage, shown

from workbench.experiments.query_sets import tpch as questions
from workbench.experiments.sample_streams import tpch as tables
from workbench.network.network import Network
from workbench.notebook.panel.network_view import PlanView
from workbench.sharing.planner import Planner
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema
from workbench.streams.arrow_types import to_data_type

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(300),
]
ORDERS = 10


@cache
def tpch_network() -> Network:
    """The network of TPC-H's 22 questions."""
    made = tables.tpch(ORDERS)
    streams = {name: tuple((f.name, to_data_type(f.type)) for f in table.schema) for name, table in made.items()}
    schema, planner, network = Schema(streams=streams), Planner(), Network()
    for name, sql in questions.load().items():
        logical = bind(sql, "spark", schema).query
        assert logical is not None
        network = planner.register(network, name, logical, sql, "spark").network
    return network


@pytest.fixture
def view() -> PlanView:
    """The network view of a session with TPC-H's questions, after three batches."""
    session = FakeSession()
    session.add_stream("lineitem", None, 10, 10, None)
    query = session.register("SELECT big", "q", "spark")
    session.plan = tpch_network()
    session.queries = dict.fromkeys(session.plan.queries, query)
    session.run(3)
    made = PlanView(session, session.player)
    made.refresh()
    yield made
    session.close()


def boxes(shown_page: WidgetPage) -> int:
    return shown_page.page.locator(".argus-pane g.node:not(.result)").count()


def test_twenty_two_queries_are_read_searched_and_coloured(view: PlanView) -> None:
    with shown(view.widget) as opened:
        page = opened.page
        assert page.locator(".argus-chooser summary").inner_text() == "Query q22"
        assert "128 nodes of other queries" in page.locator(".argus-pane").inner_text()
        size = page.locator(".argus-pane g.node text").first.bounding_box()
        assert size is not None and size["height"] > 8, "one can read it"
        few = boxes(opened)

        # Queries are chosen from a list.
        page.locator(".argus-chooser summary").click()
        page.get_by_label("Filter queries").fill("q1")
        page.get_by_role("checkbox", name="q10").check()
        assert page.locator(".argus-chooser summary").inner_text() == "2 of 22 queries"
        assert view.widget.focus == ["q22", "q10"] and boxes(opened) > few
        page.keyboard.press("Escape")
        assert not page.get_by_label("Filter queries").is_visible()

        # What is found but not drawn says whose it is, and a click draws that query.
        page.get_by_label("Search nodes").fill("l_returnflag = 'R'")
        assert page.locator("[role=status]").inner_text() == "1 node in 1 box"
        page.get_by_label("Search nodes").fill("l_shipdate <= date '1998-09-02'")
        page.keyboard.press("Enter")
        assert page.locator("[role=status]").inner_text() == "1 of 1 node"
        page.get_by_role("button", name="q01").click()
        assert view.widget.focus == ["q01"] and page.locator(".argus-pane g.node.chosen.found").count() == 1
        page.get_by_label("Search nodes").fill("")

        # The box of all others opens by double click.
        page.locator(".argus-pane g.node.rest", has_text="of other queries").last.dblclick()
        page.wait_for_function("() => document.querySelectorAll('.argus-pane g.node').length > 140")
        assert view.widget.focus == [] and page.locator(".argus-map").is_visible()
        assert re.match("All 22 queries", page.locator(".argus-chooser summary").inner_text())

        # The same numbers in other colours; edges are as thick as their rows.
        for scale, legend in (("rows", "rows of the batch"), ("queries", "sharing"), ("age", "age"), ("time", "time")):
            page.get_by_label("Colour by").select_option(scale)
            assert page.get_by_role("group", name="Legend").inner_text().startswith(legend)
            assert page.locator('.argus-pane g.node[data-level="5"], .argus-pane g.cluster[data-level="5"]').count()
        thick = [int(edge.get_attribute("data-thick") or 0) for edge in page.locator(".argus-pane g.edge").all()]
        assert 3 in thick, "hundreds of rows"
        assert opened.complaints == []
