"""How long an answer of a million rows takes in a page: ``ARGUS_LONG=all``, and -s to see it.

Times are from what the reader does, or from the batch, until the browser has painted, kernel and page together.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.test_answers import ROWS, Scrolled, scroll, seen
from browser.widget_page import CHROMIUM, WidgetPage, shown
from long import rare

from workbench.notebook.chart import ChartColumns
from workbench.notebook.panel.live_chart import LiveChart
from workbench.session.held_answer import HeldAnswer
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP

pytestmark = [rare, pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")]

CHANGED = 1_000
PAINTED = "await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame);"
SCROLL = f"""async (share) => {{
  const pane = document.querySelector(".argus-answer"), body = pane.querySelector("tbody");
  const first = () => body.rows[0]?.getAttribute("aria-rowindex");
  const was = first(), begun = performance.now();
  pane.scrollTop = share * pane.scrollHeight;
  while (first() === was) await new Promise(requestAnimationFrame);
  {PAINTED}
  return performance.now() - begun;
}}"""
SORT = f"""async (place) => {{
  const heads = document.querySelector(".argus-answer thead tr");
  const sorted = () => heads.cells[place].getAttribute("aria-sort"), was = sorted(), begun = performance.now();
  heads.cells[place].querySelector("button").click();
  while (sorted() === was) await new Promise(requestAnimationFrame);
  {PAINTED}
  return performance.now() - begun;
}}"""


def said(what: str, milliseconds: Sequence[float]) -> None:
    middle, worst = np.median(milliseconds), max(milliseconds)
    print(f"\n{what}: {middle:,.0f} ms, at most {worst:,.0f}, of {len(milliseconds)}", end="")


def painted(page: WidgetPage) -> None:
    page.push()
    page.page.evaluate(f"async () => {{ {PAINTED} }}")


def answer() -> Scrolled:
    draw = np.random.default_rng(1)
    texts = pa.array([f"account {place:07}" for place in range(ROWS)])
    rows = pa.table({"name": texts, "n": pa.array(draw.integers(0, 10**9, ROWS)), "x": pa.array(draw.random(ROWS))})
    return Scrolled(HeldAnswer(rows, batch=1, keys=(0,)))


def test_a_million_rows() -> None:
    scrolled = answer()
    with shown(scrolled.widget, width=1920, height=1080) as page:
        said("scroll to another place", [page.page.evaluate(SCROLL, share) for share in (0.5, 0.1, 0.9, 0.3, 0.7, 0.2)])
        said("sort by a number", [page.page.evaluate(SORT, 1) for _ in range(3)])
        said("sort by a text", [page.page.evaluate(SORT, 0) for _ in range(2)])
        scroll(page, 0.0)
        taken = []
        for batch in range(2, 8):
            before = scrolled.held.page(0, CHANGED, (0, False))
            after = before.set_column(1, "n", pa.array(np.arange(CHANGED) * batch))
            both = pa.concat_tables([before, after])
            changes = both.add_column(0, "weight", pa.array([-1] * CHANGED + [1] * CHANGED))
            begun = time.perf_counter()
            scrolled.held.follow(batch, changes)
            scrolled.send()
            painted(page)
            taken.append(1_000 * (time.perf_counter() - begun))
            assert page.page.locator("td.ticked").count() > 100 and len(seen(page)) > 8
        said(f"a batch that changes {CHANGED:,} cells", taken)


def test_a_chart_of_a_thousand_points() -> None:
    times = pd.date_range("2024-01-01", periods=500, freq="min")
    rows = pd.DataFrame({"at": [*times, *times], "bank": ["x"] * 500 + ["y"] * 500, "n": np.arange(1000)})
    columns, live, taken = (
        ChartColumns.of([("at", TIMESTAMP), ("bank", STRING), ("n", INTEGER)], {}),
        LiveChart(bool),
        [],
    )
    live.draw(rows, columns, 1000, "q")
    with shown(live.chart) as page:
        page.page.wait_for_selector(".argus-chart svg .mark-line path")
        for batch in range(1, 8):
            begun = time.perf_counter()
            live.draw(rows.assign(n=rows["n"] * batch % 97), columns, 1000, "q")
            painted(page)
            taken.append(1_000 * (time.perf_counter() - begun))
        assert page.complaints == []
    said("a chart of 1,000 points moves", taken)
