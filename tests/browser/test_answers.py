"""Answers in a real browser: many rows are scrolled and sorted, cells tick, a chart moves without a new drawing."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import grave
from browser.chromium import CHROMIUM
from browser.widget_page import WidgetPage, shown

from workbench.arrow.frames import frame_of
from workbench.notebook.chart import ChartColumns
from workbench.notebook.joint_chart import DrawnRows
from workbench.notebook.panel.answer_page import page_of
from workbench.notebook.panel.live_chart import ChartWidget
from workbench.notebook.panel.widgets import AnswerWidget
from workbench.session.held_answer import HeldAnswer
from workbench.sql.algebra.types import DATE, INTEGER, STRING

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
]
ROWS = 1_000_000


FIT = "() => (document.querySelector('.argus-answer').clientHeight - 26) / 26"
"""How many rows fit."""
MARKS = """() => {
  window.marks = [];
  const note = (changes) => window.marks.push(...changes.map(({ target }) => target.className));
  const cells = document.querySelector(".argus-answer tbody");
  new MutationObserver(note).observe(cells, { subtree: true, attributeFilter: ["class"] });
}"""
"""Notes the classes that cells come to have."""


class Scrolled:
    """A widget over a held answer, as ``ResultsView`` has them, without threads."""

    def __init__(self, held: HeldAnswer) -> None:
        self.held, self.widget, self.names = held, AnswerWidget(), held.page(0, 0).column_names
        self.widget.observe(lambda change: self.send(), ["asked", "window"])
        self.send()

    def send(self) -> None:
        (start, rows), asked = self.widget.window, self.widget.asked
        order = (self.names.index(asked["column"]), asked["descending"]) if asked else None
        page = self.held.page(start, start + rows, order)
        was = [None if row is None else list(row.values()) for row in self.held.replaced(start, start + rows, order)]
        self.widget.page = page_of(
            frame_of(page), start, self.held.rows, replaced=was, order=asked, batch=self.held.batch
        )

    def rest(self) -> None:
        """What the view does once the page is sent."""
        self.held.prepare()


@pytest.fixture
def scrolled() -> Scrolled:
    draw = np.random.default_rng(1)
    names = pa.array([f"account {place:07}" for place in range(ROWS)])
    rows = pa.table({"name": names, "n": pa.array(draw.integers(0, 10**9, ROWS)), "x": pa.array(draw.random(ROWS))})
    return Scrolled(HeldAnswer(rows, batch=1, keys=(0,)))


def seen(page: WidgetPage) -> list[list[str]]:
    """The cells of the rows that are seen."""
    return page.page.evaluate("""() => {
        const pane = document.querySelector(".argus-answer"), box = pane.getBoundingClientRect();
        return [...pane.querySelectorAll("tbody tr")].filter((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return top >= box.top + 26 && bottom <= box.bottom;
        }).map((row) => [...row.cells].map((cell) => cell.textContent));
    }""")


def scroll(page: WidgetPage, share: float) -> None:
    page.page.evaluate(
        "(share) => { const p = document.querySelector('.argus-answer'); p.scrollTop = share * p.scrollHeight; }", share
    )
    page.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.settle()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_million_rows_are_scrolled_and_sorted(scrolled: Scrolled, theme: str) -> None:
    with shown(scrolled.widget, theme) as page:
        assert seen(page)[0][0] == "account 0000000"
        for share in (0.5, 0.123, 1.0, 0.0):
            begun = time.process_time()  # of the kernel, which is this process
            scroll(page, share)
            took = time.process_time() - begun
            rows = seen(page)
            assert len(rows) > 8 and took < 2
            places = [int(row[0].split()[1]) for row in rows]
            assert places == list(range(places[0], places[0] + len(rows)))
            assert abs(places[0] / ROWS - share) < 0.01
        scroll(page, 1.0)
        assert seen(page)[-1][0] == "account 0999999"
        page.page.get_by_role("button", name="n", exact=True).click()
        page.settle()
        assert page.page.evaluate("() => document.querySelector('.argus-answer').scrollTop") == 0, "from the top"
        largest = [int(row[1]) for row in seen(page)]
        assert largest == sorted(largest, reverse=True) and largest[0] == max(scrolled.held.table["n"].to_pylist())
        assert page.page.locator("th[aria-sort=descending]").count() == 1
        assert grave(page.page) == [] and page.complaints == []


def test_cells_that_a_batch_changed_tick_in_place(scrolled: Scrolled) -> None:
    with shown(scrolled.widget) as page:
        before = scrolled.held.page(2, 3).to_pylist()[0]
        after = {**before, "n": 5}
        changes = pa.table({
            "weight": [-1, 1], **{name: pa.array([before[name], after[name]]) for name in before}
        })  # fmt: skip
        page.page.get_by_role("button", name="name", exact=True).click()
        page.settle()
        page.page.get_by_role("button", name="name ▼", exact=True).click()
        page.settle()
        scrolled.held.follow(2, changes)
        scrolled.send()
        page.page.evaluate(MARKS)
        page.push()
        page.page.wait_for_selector("td.changed")
        marks = page.page.evaluate("() => window.marks.filter((mark) => /ticked|changed/.test(mark))")
        assert [*dict.fromkeys(marks)] == ["number ticked", "number changed"], "it is marked strongly for a moment"
        changed = page.page.locator("td.changed")
        assert changed.count() == 1 and changed.inner_text() == "5"
        assert changed.get_attribute("title") == f"was {before['n']}"
        assert seen(page)[2] == [before["name"], "5", seen(page)[2][2]], "the row stays where it is"
        changed.click()
        page.settle()
        assert scrolled.widget.selected == {"at": 2, "column": 1}
        page.page.locator(".argus-answer").press("ArrowDown")
        page.settle()
        assert scrolled.widget.selected == {"at": 3, "column": 1}
        assert page.page.locator("tr[aria-selected=true]").count() == 1


def test_a_longer_answer_fills_the_pane_that_grows() -> None:
    """Also where it had no height when the rows came, since its cell or tab was not shown."""
    widget = AnswerWidget()

    def send(rows: int) -> None:
        widget.page = page_of(pd.DataFrame({"n": range(rows)}), 0, rows)
        page.push()

    with shown(widget) as page:
        for style, rows in [("", 3), ("", 48), ("display: none", 3), ("display: none", 48), ("", 48), ("", 2)]:
            page.page.evaluate("(style) => { document.querySelector('#widget').style.cssText = style; }", style)
            send(rows)
            if not style:
                page.until(lambda rows=rows: len(seen(page)) >= min(rows, int(page.page.evaluate(FIT))))
        assert page.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chart_moves_without_a_new_drawing(theme: str) -> None:
    days = pd.date_range("2024-01-01", periods=20).date
    rows = pd.DataFrame({"day": [*days, *days], "bank": ["x"] * 20 + ["<y>"] * 20, "n": range(40)})
    columns = ChartColumns.of([("day", DATE), ("bank", STRING), ("n", INTEGER)], {})
    live = ChartWidget()
    live.draw(DrawnRows("q", rows, columns, 40))
    with shown(live, theme) as page:
        page.page.wait_for_selector(".argus-chart svg .mark-line path")
        page.page.evaluate("() => { document.querySelector('.argus-chart svg').dataset.mark = 'first'; }")
        line = page.page.locator(".argus-chart svg .mark-line path").first
        path = line.get_attribute("d")
        live.draw(DrawnRows("q", rows.assign(n=rows["n"] * -1), columns, 40))
        page.push()
        page.page.wait_for_function(
            "(was) => document.querySelector('.argus-chart .mark-line path').getAttribute('d') !== was", arg=path
        )
        assert page.page.locator("svg[data-mark=first]").count() == 1
        assert "&lt;y&gt;" in page.page.content() and page.complaints == [] and grave(page.page) == []
        page.page.locator(".argus-chart .mark-symbol path").first.hover()
        page.page.wait_for_selector("#vg-tooltip-element.visible")
        assert "2024-01-01" in page.page.locator("#vg-tooltip-element").inner_text()


def test_a_chart_is_as_wide_as_its_cell_becomes() -> None:
    """JupyterLab draws cells that are not seen yet without a width, and a side bar takes some of it later."""
    rows = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=20).date, "n": range(20)})
    live = ChartWidget()
    with shown(live) as page:

        def cell(style: str) -> None:
            page.page.evaluate("(style) => { document.querySelector('#widget').style.cssText = style; }", style)

        cell("display: none")
        live.draw(DrawnRows("q", rows, ChartColumns.of([("day", DATE), ("n", INTEGER)], {}), 20))
        page.push()
        page.page.wait_for_selector(".argus-chart svg .mark-line path", state="attached")
        for wide in (900, 500, 1100):
            cell(f"width: {wide}px")
            page.page.wait_for_function(
                "(wide) => Math.abs(document.querySelector('.argus-chart svg').clientWidth - wide) < 2",
                arg=wide,
            )
        assert page.complaints == []


LATER = """async (code) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const output = document.createElement("div");
  await widget.render({ model: window.model, el: output });
  document.querySelector("#widget").replaceChildren(output);
}"""
"""JupyterLab puts an output into the page after it was rendered."""
TOO_WIDE = (
    "() => [...document.querySelectorAll('.argus-answer td')].filter((td) => td.scrollWidth > td.clientWidth).length"
)


def test_columns_are_as_wide_as_their_texts_where_the_page_gets_them_later() -> None:
    """They were measured without a font then, at 10 px: the last column ran out of its heading."""
    widget = AnswerWidget()
    rows = pd.DataFrame({"step": ["out_for_delivery"], "scanned_at": ["2026-03-27 04:54:59.674455+01:00"]})
    widget.page = page_of(rows, 0, 1)
    with shown(widget) as page:
        page.page.evaluate(LATER, widget.get_state(["_esm"])["_esm"])
        page.until(lambda: page.page.evaluate(TOO_WIDE) == 0 and len(seen(page)) == 1)
        assert page.complaints == []
