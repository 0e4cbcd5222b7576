"""A stream is added in the panel while cells run, and a query is previewed there, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.lab import CHROMIUM, lab

pytestmark = [
    pytest.mark.spark,  # in the kernel that it drives
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(300),
]
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
SLOW = """
import threading
from workbench.notebook.extension import get_session
session, go = get_session(), threading.Event()
add = session.add_stream
session.add_stream = lambda *given, **more: go.wait(250) and add(*given, **more)
"""
"""Adding waits for a word, as it would for a large file."""


def test_cells_run_while_the_panel_adds_a_stream(tmp_path: Path) -> None:
    rows = "".join(f"R{n};2026-01-01 00:00:{n:02};{n / 2}\n" for n in range(60))
    (tmp_path / "bike rides.csv").write_text("Ride ID;Started At;Fare\n" + rows)
    notebook = tmp_path / "rides.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")], metadata=KERNEL), notebook)
    with lab(notebook, tmp_path / "lab") as jupyter:
        page = jupyter.page
        jupyter.run_cell("%load_ext workbench")
        jupyter.run_cell("%argus stream rides 'bike rides.csv' --history 10 --time 'Started At'")
        jupyter.run_cell("%%argus dear\nSELECT `Ride ID` FROM rides WHERE Fare > 3")
        jupyter.run_code(SLOW)
        jupyter.run_cell("%argus")
        panel = page.locator(".jp-OutputArea").filter(has=page.locator(".argus-pane")).last

        # A preview says what the query would cost and by which condition it misses a node.
        panel.get_by_role("tab", name="Queries").click()
        panel.get_by_role("textbox", name="Name").fill("cheap")
        panel.locator("textarea").first.fill("SELECT `Ride ID` FROM rides WHERE Fare > 2")
        panel.get_by_role("button", name="Preview").click()
        panel.get_by_text("nodes: 2 before, 3 after").wait_for()
        panel.get_by_text("with fare > 3 instead of fare > 2 this would be the same node").wait_for()

        panel.get_by_role("tab", name="Streams").click()
        panel.locator("progress").first.wait_for()  # the tables push the button down as they come
        panel.get_by_role("button", name="Add a stream").click()
        panel.get_by_role("combobox", name="Source").fill("bike rides.csv")
        panel.get_by_role("button", name="Look").click()
        panel.get_by_role("columnheader", name="started at timestamp").wait_for()
        panel.get_by_role("textbox", name="Name").locator("visible=true").fill("more")
        jupyter.run_code("pass")  # the kernel has read the name by then
        panel.locator("button").filter(has_text="Add").last.click()
        panel.get_by_text("adding more: ").wait_for(timeout=120_000)  # it stays until the word is given
        assert jupyter.ask("len(session.streams)") == 1
        jupyter.run_cell("%argus results dear")  # which is not kept waiting
        jupyter.run_code("go.set()")
        panel.get_by_text("more: 0 rows of history, then 60 rows").wait_for(timeout=120_000)
        assert jupyter.ask("list(session.streams)") == ["rides", "more"]
        assert jupyter.complaints == [] and jupyter.elsewhere == []
