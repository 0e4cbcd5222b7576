"""How long an answer of a million rows takes in a page: ``ARGUS_LONG=all``, and -s to see it.

Times are from what the reader does, or from the batch, until the browser has painted, kernel and page together; and the
seconds of a processor that kernel and page script took for it, which other programs of the machine change less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.chromium import CHROMIUM
from browser.lab import lab
from browser.test_answers import ROWS, Scrolled, scroll, seen
from browser.widget_page import WidgetPage, shown
from long import rare

from workbench.notebook.chart import ChartColumns
from workbench.notebook.joint_chart import DrawnRows
from workbench.notebook.panel.live_chart import ChartWidget
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
  while (first() === was || !body.rows.length) await new Promise(requestAnimationFrame);
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


@dataclass
class Measured:
    """Milliseconds, and those of a processor, of what was done in a page."""

    page: WidgetPage
    walls: dict[str, list[float]] = field(default_factory=dict)
    kernel: dict[str, list[float]] = field(default_factory=dict)
    script: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.devtools = self.page.page.context.new_cdp_session(self.page.page)
        self.devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def _script(self) -> float:
        metrics = self.devtools.send("Performance.getMetrics")["metrics"]
        return next(1_000 * metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def take(self, what: str, action: Callable[[], float | None]) -> None:
        """Measure an action, which may say itself how long it took."""
        begun, kernel, script = time.perf_counter(), time.process_time(), self._script()
        wall = action()
        self.kernel.setdefault(what, []).append(1_000 * (time.process_time() - kernel))
        self.walls.setdefault(what, []).append(1_000 * (time.perf_counter() - begun) if wall is None else wall)
        self.script.setdefault(what, []).append(self._script() - script)

    def say(self) -> None:
        for what, walls in self.walls.items():
            kernel, script = np.median(self.kernel[what]), np.median(self.script[what])
            print(f"\n{what}: {np.median(walls):,.0f} ms, at most {max(walls):,.0f}, of {len(walls)}; of a processor "
                  f"{kernel:,.0f} in the kernel, {script:,.0f} in the page", end="")  # fmt: skip


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
        measured = Measured(page)
        for share in (0.5, 0.1, 0.9, 0.3, 0.7, 0.2):
            measured.take("scroll to another place", lambda share=share: page.page.evaluate(SCROLL, share))
        for what, place in (("sort by a number", 1), ("sort by a double", 2), ("sort by a text", 0)):
            for _ in range(2):
                measured.take(what, lambda place=place: page.page.evaluate(SORT, place))
                scrolled.rest()
        scroll(page, 0.0)
        for batch in range(2, 8):
            before = scrolled.held.page(0, CHANGED, (0, False))
            after = before.set_column(1, "n", pa.array(np.arange(CHANGED) * batch))
            both = pa.concat_tables([before, after])
            changes = both.add_column(0, "weight", pa.array([-1] * CHANGED + [1] * CHANGED))

            def run(batch: int = batch, changes: pa.Table = changes) -> None:
                scrolled.held.follow(batch, changes)
                scrolled.send()
                painted(page)

            measured.take(f"a batch that changes {CHANGED:,} cells", run)
            assert page.page.locator("td.ticked").count() > 20 and len(seen(page)) > 8
            scrolled.rest()
        measured.say()


def test_a_chart_of_a_thousand_points() -> None:
    times = pd.date_range("2024-01-01", periods=500, freq="min")
    rows = pd.DataFrame({"at": [*times, *times], "bank": ["x"] * 500 + ["y"] * 500, "n": np.arange(1000)})
    columns = ChartColumns.of([("at", TIMESTAMP), ("bank", STRING), ("n", INTEGER)], {})
    live = ChartWidget()
    live.draw(DrawnRows("q", rows, columns, 1000))
    with shown(live) as page:
        measured = Measured(page)
        page.page.wait_for_selector(".argus-chart svg .mark-line path")
        for batch in range(1, 8):

            def run(batch: int = batch) -> None:
                live.draw(DrawnRows("q", rows.assign(n=rows["n"] * batch % 97), columns, 1000))
                painted(page)

            measured.take("a chart of 1,000 points moves", run)
        measured.say()
        assert page.complaints == []


CHARTS, SECONDS = 10, 20
TICKS = f"""
import numpy as np, pandas as pd
from workbench.engine.spark.in_process import InProcess
from workbench.notebook.panel.dashboard_view import DashboardView
from workbench.notebook.panel.view import Live
from workbench.session.session import Session
draw, n = np.random.default_rng(3), 40_000
ticks = pd.DataFrame({{"at": pd.date_range("2024-01-01", periods=n, freq="s"), "symbol": draw.choice(list("abcd"), n),
                       "price": draw.normal(100, 5, n).round(2)}})
session = Session(InProcess())
session.add_stream("Ticks", ticks, history=15_000, batch=60, time="at")
session.register_many({{
    f"q{{k}}": "SELECT DATE_TRUNC('minute', at) AS minute, symbol, AVG(price) AS price FROM Ticks "
             f"WHERE price > {{80 + k}} GROUP BY DATE_TRUNC('minute', at), symbol"
    for k in range({CHARTS})
}})
session.player.speed = 120.0
Live(DashboardView(session, session.player, [], 10))
"""


def test_ten_charts_beside_two_batches_a_second(tmp_path: Path) -> None:
    """The kernel takes less than a tenth of a core for batches and charts together."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(metadata=kernel), tmp_path / "ticks.ipynb")
    with lab(tmp_path / "ticks.ipynb", tmp_path / "lab") as jupyter:
        jupyter.run_cell(TICKS, 300_000)
        jupyter.page.wait_for_function(f"() => document.querySelectorAll('.argus-chart svg').length === {CHARTS}")
        process = psutil.Process(jupyter.ask("__import__('os').getpid()"))
        jupyter.ask("session.player.play()")
        time.sleep(5)
        first, begun, before = jupyter.ask("session.batch"), time.monotonic(), process.cpu_times()
        time.sleep(SECONDS)
        spent, after, last = time.monotonic() - begun, process.cpu_times(), jupyter.ask("session.batch")
        jupyter.ask("session.player.pause()")
        assert jupyter.ask("session.player.wait(60)")
    share, batches = (after.user + after.system - before.user - before.system) / spent, (last - first) / spent
    print(f"\nten charts beside {batches:.1f} batches a second: {share:.1%} of a core in the kernel", end="")
    assert share < 0.1
