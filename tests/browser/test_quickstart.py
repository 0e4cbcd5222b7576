"""The quickstart notebook in a real JupyterLab and a real browser, as a newcomer uses it.

``ARGUS_SCREENSHOTS=docs/img`` keeps the pictures the README shows. Where there is no Chromium the test is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import grave, problem
from browser.chromium import CHROMIUM
from browser.lab import PROJECT, Lab, lab

pytestmark = [
    pytest.mark.spark,  # in the kernel that it drives
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(600),
]
NOTEBOOK = "01-quickstart.ipynb"
SECONDS = 1_000
"""Milliseconds in a second, for Playwright."""
TABS = ("Results", "Network", "Queries", "Sharing decisions", "Timings", "Streams")
TOO_WIDE = """(panel) => {
  const cuts = (part) => /auto|scroll|hidden|clip/.test(getComputedStyle(part).overflowX);
  const inside = (part) => part !== panel && (cuts(part) || inside(part.parentElement));
  const edge = panel.getBoundingClientRect().right + 1;
  const beyond = (part) => !inside(part) && part.getBoundingClientRect().right > edge;
  const scrolls = (part) => part.matches(".widget-tab-contents") && part.scrollWidth > part.clientWidth + 1;
  return [...panel.querySelectorAll(":not(svg *)")]
    .filter((part) => part.checkVisibility() && (beyond(part) || scrolls(part)))
    .map((part) => `${part.tagName} ${part.className} ${part.textContent.slice(0, 40)}`);
}"""
"""What of a panel stands beyond its right edge, where nothing scrolls; a tab as a whole should not."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the notebook beside the sample data."""
    (tmp_path / "notebooks").mkdir()
    shutil.copy(PROJECT / "notebooks" / NOTEBOOK, tmp_path / "notebooks")
    (tmp_path / "sample_data").symlink_to(PROJECT / "sample_data")
    return tmp_path


def picture(jupyter: Lab, name: str) -> None:
    if where := os.environ.get("ARGUS_SCREENSHOTS"):
        jupyter.page.screenshot(path=f"{where}/{name}.png")


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.2)


def batch(text: str) -> int:
    found = re.search(r"batch (\d+)", text)
    assert found, text
    return int(found[1])


def test_a_newcomer_runs_the_quickstart_and_works_with_the_panel(folder: Path) -> None:
    with lab(folder / "notebooks" / NOTEBOOK, folder / "lab") as jupyter:
        jupyter.run_all(300 * SECONDS)
        page = jupyter.page
        panel = page.locator(".jp-OutputArea").filter(has=page.locator(".argus-pane")).last
        panel.locator("button", has_text="Play").scroll_into_view_if_needed()
        status = panel.locator("[role=status]", has=page.locator("progress"))

        # Numbers follow the batches, and cells run meanwhile. Batches are small, so that some are left to step through.
        size = panel.get_by_role("spinbutton", name="Rows a batch")
        size.fill("200")
        size.press("Tab")
        before = batch(status.inner_text())
        panel.locator("button", has_text="Play").click()
        wait_until(lambda: batch(status.inner_text()) >= before + 2, 180)
        picture(jupyter, "playing")
        jupyter.run_code("played = session.batch; rows = len(session.query('rich_days').result())")
        panel.locator("button", has_text="Pause").click()
        status.get_by_text("paused", exact=True).wait_for(timeout=60 * SECONDS)
        assert batch(status.inner_text()) >= before + 2

        # A node says what it computes, and for whom.
        panel.get_by_role("tab", name="Network").click()
        joined = panel.locator(".argus-pane .node.join").first
        joined.wait_for(timeout=60 * SECONDS)
        panel.locator(".argus-pane").press("0")
        joined.click()
        side = panel.locator(".argus-side")
        side.get_by_text("Canonical form").wait_for()
        assert "JOIN" in side.inner_text()
        # What it did in the last batch, whose rows may all be dropped before they come to a join.
        assert re.search(r"batch \d+: (nothing to do|[\d,]+ rows in)", side.inner_text())
        panel.scroll_into_view_if_needed()
        for _ in range(4):
            panel.locator(".argus-pane").press("+")
        picture(jupyter, "network")

        # The slider over the batches that were run goes by keyboard.
        timeline = panel.get_by_role("slider", name="Batch that is shown")
        timeline.press("ArrowLeft")
        panel.get_by_text("as it was; the last is").wait_for(timeout=60 * SECONDS)
        timeline.press("End")
        panel.get_by_text(re.compile(r"batch \d+, the last")).wait_for(timeout=60 * SECONDS)

        # In focus are one query's nodes; the others are counted.
        panel.locator(".argus-chooser summary").click()
        panel.get_by_role("checkbox", name="anthrax_nearby").check()
        panel.locator(".argus-pane", has_text="of other queries").first.wait_for(timeout=60 * SECONDS)
        panel.locator(".argus-chooser summary").click()
        picture(jupyter, "focus")
        panel.locator(".argus-chooser summary").click()
        panel.get_by_role("button", name="Draw all queries").click()
        panel.locator(".argus-chooser summary").click()

        # A decision: both texts, the parts marked that they have in common.
        panel.get_by_role("tab", name="Sharing decisions").click()
        panel.locator("select:visible", has_text="anthrax_nearby").select_option("anthrax_nearby")
        panel.locator(".argus-list tr", has_text="shared").last.click()
        panel.locator("mark").first.wait_for(timeout=60 * SECONDS)
        picture(jupyter, "sharing")

        # Results grow with the next batch.
        panel.get_by_role("tab", name="Results").click()
        panel.locator("select:visible", has_text="rich_days").select_option("split_up")
        counted = panel.get_by_text(re.compile(r"[\d,]+ rows after batch"))
        counted.wait_for(timeout=60 * SECONDS)
        last = batch(counted.inner_text())
        panel.locator("button", has_text="Step").click()
        panel.get_by_text(re.compile(rf"[\d,]+ rows after batch {last + 1}\b")).wait_for(timeout=120 * SECONDS)
        picture(jupyter, "results")
        # The slider has a name, goes by keyboard, and stays where it is left.
        past = panel.get_by_role("slider", name="After batch")
        past.press("ArrowLeft")
        panel.get_by_text(re.compile(rf"[\d,]+ rows as it was after batch {last}\b")).wait_for(timeout=60 * SECONDS)
        picture(jupyter, "past")
        past.press("End")
        panel.get_by_text(re.compile(rf"[\d,]+ rows after batch {last + 1}\b")).wait_for(timeout=60 * SECONDS)
        panel.get_by_role("tab", name="Timings").click()
        panel.locator("h4:visible", has_text="Slowest operators").wait_for(timeout=60 * SECONDS)
        picture(jupyter, "timings")

        # Every tab can be used by everybody, as far as axe-core sees, in the light and in the dark, and fits its width.
        panel.evaluate("panel => { panel.id = 'tried-panel' }")
        for theme, width in product(("JupyterLab Dark", "JupyterLab Light"), (1920, 1280)):
            jupyter.look(theme, width)
            for title in TABS:
                panel.get_by_role("tab", name=title).click()
                if width == 1280:
                    assert problem() or grave(page, "#tried-panel") == [], (title, theme)
                assert panel.evaluate(TOO_WIDE) == [], (title, theme, width)
                picture(jupyter, f"{title.split()[0].lower()}-{theme.split()[1].lower()}-{width}")
        jupyter.look("JupyterLab Light", 1400)

        # A stream is added after a look at its rows, right below those that there are.
        add, last = panel.get_by_role("button", name="Add a stream"), panel.get_by_role("cell", name="MHDCFY01A").last
        assert add.bounding_box()["y"] - last.bounding_box()["y"] < 80
        add.click()
        source = panel.get_by_role("combobox", name="Source")
        source.fill("../sample_data/fed.parquet")
        source.press("Tab")
        panel.get_by_role("columnheader", name="tran_date date").wait_for(timeout=60 * SECONDS)
        assert problem() or grave(page, "#tried-panel") == []
        picture(jupyter, "adding")

        # Without its kernel the panel is gone, and what it showed is still there.
        static = page.locator("[data-argus-twin]").last
        assert not static.is_visible()
        jupyter.save()
        # JupyterLab saves the notebook by itself later, and what it was before is to be seen.
        shutil.copy(folder / "notebooks" / NOTEBOOK, folder / "notebooks" / "saved.ipynb")
        jupyter.restart()
        static.wait_for(timeout=60 * SECONDS)
        assert "query network" in static.inner_text() or "σ" in static.inner_html()
        jupyter.run_cell("%load_ext workbench")
        assert jupyter.elsewhere == []
        assert jupyter.complaints == []
        jupyter.open("saved.ipynb")
        page = jupyter.page
        page.locator("[data-argus-twin]").last.wait_for(timeout=60 * SECONDS)
        lost = page.get_by_text("model not found")
        lost.wait_for(state="attached", timeout=60 * SECONDS)
        assert not lost.is_visible()
        assert jupyter.elsewhere == []
