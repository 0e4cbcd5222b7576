"""The drawing of the panel in a real browser, without JupyterLab and without Spark: what an analyst does with it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fake_session import FakeSession
from long import some
from PIL import Image

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import grave, least_contrast
from browser.chromium import CHROMIUM
from browser.widget_page import WidgetPage, shown
from playwright.sync_api import Page

from benchmarks.query_sets import tpch as questions
from benchmarks.sample_streams import tpch as tables
from workbench.arrow.types import to_data_type
from workbench.network.network import Network
from workbench.notebook.panel.network_view import PlanView
from workbench.notebook.panel.queries_view import QueriesView
from workbench.sharing.planner import Planner
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(300),
]
ORDERS = 10
LABELS = {"rows": "rows that pass", "time": "time for what passes", "waiting": "waits for other inputs",
          "bytes": "bytes that pass"}  # fmt: skip


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


def stroke(page: Page, element: str) -> str:
    """The colour in which it is drawn."""
    return page.locator(element).first.evaluate("(path) => getComputedStyle(path).stroke")


def boxes(shown_page: WidgetPage) -> int:
    return shown_page.page.locator(".argus-pane g.node:not(.result)").count()


def test_twenty_two_queries_are_read_searched_and_coloured(view: PlanView) -> None:
    with shown(view.widget) as opened:
        page = opened.page
        assert page.locator(".argus-chooser summary").inner_text() == "Query q22"
        (others,) = re.findall(r"(\d+) nodes of other queries", page.locator(".argus-pane").inner_text())
        assert len(tpch_network().nodes) - 20 < int(others) < len(tpch_network().nodes)
        size = page.locator(".argus-pane g.node text").first.bounding_box()
        assert size is not None and size["height"] > 8, "one can read it"
        few = boxes(opened)

        # Queries are chosen from a list.
        page.locator(".argus-chooser summary").click()
        page.get_by_label("Filter queries").fill("q1")
        page.get_by_role("checkbox", name="q10").check()
        assert page.locator(".argus-chooser summary").inner_text() == "2 of 22 queries"
        opened.settle()
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
        opened.settle()
        assert view.widget.focus == ["q01"] and page.locator(".argus-pane g.node.chosen.found").count() == 1
        page.get_by_label("Search nodes").fill("")

        # The box of all others opens by double click.
        page.locator(".argus-pane g.node.rest", has_text="of other queries").last.dblclick()
        page.wait_for_function("() => document.querySelectorAll('.argus-pane g.node').length > 140")
        opened.settle()
        assert view.widget.focus == [] and page.locator(".argus-map").is_visible()
        assert re.match("All 22 queries", page.locator(".argus-chooser summary").inner_text())

        # The same numbers in other colours; edges are as thick as what passes them.
        for scale, legend in (("rows", "rows of the batch"), ("queries", "sharing"), ("age", "age"), ("time", "time")):
            page.get_by_label("Colour by").select_option(scale)
            assert page.get_by_role("group", name="Legend").inner_text().startswith(legend)
            assert page.locator('.argus-pane g.node[data-level="5"], .argus-pane g.cluster[data-level="5"]').count()
        titles = {"rows": "rows that pass: ", "time": "ms", "waiting": "waits for", "bytes": "kB"}
        for load, words in titles.items():
            page.get_by_label("Edges by").select_option(load)
            opened.settle()
            assert view.widget.load == load
            hottest = page.locator('.argus-pane g.edge[data-thick="5"]')
            assert hottest.count() and words in (hottest.first.locator("title").text_content() or "")
            assert f"edges, {LABELS[load]}" in page.get_by_role("group", name="Legend").inner_text()
        assert opened.complaints == []


@pytest.mark.parametrize("theme", some(["light", "dark", "dark-high-contrast"], always=2))
def test_everybody_can_use_it_with_the_keyboard_alone(view: PlanView, theme: str) -> None:
    with shown(view.widget, theme) as opened:
        page = opened.page
        assert least_contrast(page) >= 4.5
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_label("Filter queries").wait_for()
        page.keyboard.type("q06")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        opened.settle()
        assert view.widget.focus == ["q22", "q06"]
        assert grave(page) == [], "with the list open"
        page.keyboard.press("Escape")
        page.locator(".argus-pane").focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        named = page.locator(f'[id="{page.locator(".argus-pane").get_attribute("aria-activedescendant")}"]')
        assert re.search(r"^\w+ .*, for \d quer.*rows? out", named.get_attribute("aria-label") or "")
        opened.settle()
        assert (
            view.widget.nodes[view.widget.selected]["name"]
            in page.get_by_role("region", name="The chosen node").inner_text()
        )
        for way in ("upstream", "downstream"):
            assert (
                page.locator(f".argus-pane g.node.{way}").count() and page.locator(f".argus-pane g.edge.{way}").count()
            )
        one, other = (stroke(page, f".argus-pane g.edge.{way} path") for way in ("upstream", "downstream"))
        assert one != other
        closed = page.locator(".argus-pane g.node").count()
        page.keyboard.press("Enter")
        page.wait_for_function("(n) => document.querySelectorAll('.argus-pane g.node').length !== n", arg=closed)
        assert grave(page) == []
        page.keyboard.press("Escape")
        opened.settle()
        assert view.widget.selected == "" and opened.complaints == []


@pytest.mark.parametrize("theme", some(["dark", "light"]))
def test_everybody_can_read_the_lists(view: PlanView, theme: str) -> None:
    queries = QueriesView(view.session, view.player)
    queries.refresh()
    with shown(queries.query_list, theme) as opened:
        page = opened.page
        page.get_by_role("grid", name="queries").focus()
        page.keyboard.press("ArrowDown")
        opened.settle()
        assert queries.query_list.selected == "q01" and page.get_by_role("row", selected=True).count() == 1
        assert grave(page) == []


def test_old_batches_are_looked_at_as_they_were(view: PlanView) -> None:
    with shown(view.widget) as opened:
        page = opened.page
        when, bar = page.locator(".argus-when"), page.get_by_label("Batch that is shown")
        assert when.inner_text() == "batch 3, the last"
        bar.press("ArrowLeft")
        bar.press("ArrowLeft")
        opened.settle()
        assert view.widget.at == 1 and view.widget.numbers["batch"] == 1
        assert when.inner_text() == "batch 1, as it was; the last is 3"
        view.session.run(1)
        view.refresh()
        opened.push()
        assert view.widget.numbers["batch"] == 1 and when.inner_text() == "batch 1, as it was; the last is 4"
        page.get_by_role("button", name="Show the last batch").click()
        opened.settle()
        assert view.widget.numbers["batch"] == 4 and when.inner_text() == "batch 4, the last"
        page.get_by_role("button", name="One batch back").click()
        opened.settle()
        assert view.widget.numbers["batch"] == 3
        view.session.seek(2, lambda report: None)
        view.refresh()
        opened.push()
        assert when.inner_text() == "batch 2, the last"


def test_the_drawing_is_saved_and_fills_the_screen(view: PlanView, tmp_path: Path) -> None:
    with shown(view.widget, "dark") as opened:
        page = opened.page
        for kind in ("SVG", "PNG"):
            with page.expect_download() as saving:
                page.get_by_role("button", name=f"Save the drawing as {kind}").click()
            saving.value.save_as(tmp_path / saving.value.suggested_filename)
        svg = (tmp_path / "network.svg").read_text(encoding="utf-8")
        drawing = ElementTree.fromstring(svg)
        assert "var(" not in svg and "color(" not in svg and "color-mix" not in svg
        written = "".join(drawing.itertext())
        assert "rows without partner" in written and re.search(r"\d,\d{3} ms", written) and "▂" not in written
        with Image.open(tmp_path / "network.png") as image:
            assert abs(image.width - 2 * float(drawing.get("width", 0))) <= 2
            (_, paper), *others = sorted(image.convert("RGB").getcolors(100_000), reverse=True)
            assert max(paper) < 40 and len(others) > 10, "as dark as the page, with boxes on it"
        page.get_by_role("button", name="Fill the screen").click()
        page.wait_for_function("() => document.fullscreenElement?.className === 'argus-network'")
        page.wait_for_function("() => document.querySelector('.argus-pane').clientHeight > 500")
        page.locator(".argus-pane").press("f")
        page.wait_for_function("() => !document.fullscreenElement")
        assert opened.complaints == []
