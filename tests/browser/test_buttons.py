"""Each control that has no test of its own is pressed, in a real JupyterLab: what it says it does is then so.

What appears is looked at by axe-core, in the light and in the dark.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import grave, problem
from browser.chromium import CHROMIUM
from browser.lab import lab
from playwright.sync_api import Locator

pytestmark = [
    pytest.mark.spark,  # in the kernel that it drives
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(400),
]
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
SESSION = "__import__('workbench.notebook.extension', fromlist=['get_session']).get_session()"


def until(holds: Callable[[], bool], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.2)


def test_what_is_pressed_is_done(tmp_path: Path) -> None:
    rows = "".join(f"P{n % 9};{['Ulm', 'Graz', 'Bern'][n % 3]};{n / 4};2026-01-0{n % 5 + 1}\n" for n in range(300))
    (tmp_path / "scans.csv").write_text("parcel;depot;kg;day\n" + rows)
    notebook = tmp_path / "scans.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")], metadata=KERNEL), notebook)
    with lab(notebook, tmp_path / "lab") as jupyter:
        page = jupyter.page
        jupyter.run_cell("%load_ext workbench")
        jupyter.run_cell("%argus stream Scans scans.csv --history 60 --batch 40")
        jupyter.run_cell("%%argus per_depot\nSELECT depot, COUNT(*) AS n, SUM(kg) AS kg FROM Scans GROUP BY depot")
        jupyter.run_cell("%%argus heavy\nSELECT parcel, depot, kg FROM Scans WHERE kg > 5")
        jupyter.run_cell("%argus")
        panel = page.locator(".jp-OutputArea").filter(has=page.locator(".argus-pane")).last

        def press(name: str) -> None:
            panel.locator("button:visible", has_text=re.compile(rf"^\s*{re.escape(name)}\s*$")).first.click()

        def asked(expression: str) -> object:
            return jupyter.ask(f"{SESSION}.{expression}")

        def is_usable(part: Locator) -> None:
            part.evaluate("part => { part.id = 'tried' }")
            for theme in ("Dark", "Light"):
                jupyter.look(f"JupyterLab {theme}", 1280)
                assert problem() or grave(page, "#tried") == [], theme
            part.evaluate("part => part.removeAttribute('id')")

        # Replay: to the end, and back to a batch.
        press("To the end")
        until(lambda: asked("batch") == 6)
        panel.get_by_role("spinbutton", name="Batch", exact=True).fill("2")
        panel.get_by_role("spinbutton", name="Batch", exact=True).press("Tab")
        press("Go back")
        until(lambda: asked("batch") == 2)

        # Results: a row is chosen and explained; a condition that no row satisfies is, too.
        panel.locator("select:visible", has_text="per_depot").first.select_option("per_depot")
        panel.locator(".argus-answer thead", has_text=re.compile("depot.*n.*kg")).wait_for()
        until(lambda: panel.locator(".argus-answer tbody tr").count() == 3)
        panel.locator(".argus-answer td", has_text="Graz").click()
        press("Why is it here?")
        panel.get_by_text(re.compile(r"1 row of per_depot is computed from \d+ rows of Scans")).wait_for()
        is_usable(panel)
        only = panel.get_by_role("textbox", name="Only where")
        only.fill("n > 100000")
        only.press("Tab")
        press("Why is no row here?")
        panel.get_by_text("no stored row gives n > 100000: 3 rows with other values").wait_for(timeout=60_000)
        is_usable(panel)
        only.fill("")
        only.press("Tab")

        # The kinds of looking at an answer.
        press("groups")
        panel.get_by_text("as a query of its own: copy this into a cell").wait_for()
        is_usable(panel)
        press("columns")
        panel.get_by_role("columnheader", name="distribution").wait_for()
        is_usable(panel)
        press("chart")
        panel.locator(".argus-chart svg .mark-rect path").first.wait_for()
        is_usable(panel)
        press("whole answer")
        press("Step")
        until(lambda: asked("batch") == 3)
        panel.locator(".argus-answer tr.fresh").first.wait_for()
        press("Looked at")
        until(lambda: panel.locator(".argus-answer tr.fresh").count() == 0)

        # A copy, as a variable and as a file.
        name = panel.get_by_placeholder("name of a variable")
        name.fill("copied")
        press("Copy")
        until(lambda: jupyter.ask("len(copied) if 'copied' in globals() else 0") == 3)

        # Queries: registered and dropped.
        panel.get_by_role("tab", name="Queries").click()
        panel.get_by_role("textbox", name="Name").locator("visible=true").fill("light")
        panel.locator("textarea:visible").first.fill("SELECT parcel FROM Scans WHERE kg < 2")
        press("Register")
        until(lambda: asked("queries.__contains__('light')") is True)
        press("Drop")
        until(lambda: asked("queries.__contains__('light')") is False)

        # Before it is replaced: both are kept, then one takes the other's place, and the alert goes over with it.
        jupyter.run_cell("%argus notify per_depot n > 100")
        edited = "%%argus per_depot --compare\nSELECT depot, COUNT(*) AS n, MAX(kg) AS kg FROM Scans GROUP BY depot"
        for pressed, queries in (("Keep both", 4), ("Replace", 4)):
            place = jupyter.run_cell(edited)
            is_usable(jupyter.output(place))
            jupyter.output(place).get_by_role("button", name=pressed).click()
            until(lambda queries=queries: asked("queries.__len__()") == queries)
        until(lambda: "MAX" in str(asked("query('per_depot').sql")))
        assert asked("sinks.__contains__('alert per_depot')") is True

        # A dashboard follows the batches.
        place = jupyter.run_cell('%argus dashboard --grid "per_depot heavy"')
        jupyter.output(place).get_by_text("as of batch 3").first.wait_for()
        is_usable(jupyter.output(place))
        press("Step")
        jupyter.output(place).get_by_text("as of batch 4").first.wait_for(timeout=60_000)
        assert jupyter.complaints == [] and jupyter.elsewhere == []
