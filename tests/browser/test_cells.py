"""Cells in a real JupyterLab: SQL is coloured and explained as one types, and cells run while the panel adds a stream.

Each test has a notebook and a kernel of its own; JupyterLab and the browser are started once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.chromium import CHROMIUM
from browser.lab import Lab, lab

pytestmark = [
    pytest.mark.spark,  # the extension starts it in the kernels
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(300),
]
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
SQL = "%%argus big\n-- the large ones\nSELECT a, MAX(b)\nFROM t /* all\nof them */ WHERE a = 'it''s' AND n > 1.5"
PYTHON = "if True:\n    print('SELECT a FROM t')"
COLOURED = """(kind) => [...(CSS.highlights.get(`argus-sql-${kind}`) ?? [])].map((one) => {
  const range = document.createRange();
  range.setStart(one.startContainer, one.startOffset);
  range.setEnd(one.endContainer, one.endOffset);
  return range.toString();
})"""
COLOUR = """(kind) => getComputedStyle(document.querySelector(".cm-line"), `::highlight(argus-sql-${kind})`).color"""
SLOW = """
import threading
from workbench.notebook.extension import get_session
session, go = get_session(), threading.Event()
add = session.add_stream
session.add_stream = lambda *given, **more: go.wait(250) and add(*given, **more)
"""
"""Adding waits for a word, as it would for a large file."""


def write(folder: Path, name: str, *sources: str) -> None:
    """Write a notebook of some cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), folder / name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def jupyter(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    write(folder, "colours.ipynb", SQL, PYTHON)
    with lab(folder / "colours.ipynb", tmp_path_factory.mktemp("lab")) as opened:
        yield opened


def test_sql_is_coloured_and_explained_as_it_is_typed(jupyter: Lab) -> None:
    page = jupyter.page

    def coloured(kind: str) -> Any:
        return page.evaluate(COLOURED, kind)

    assert coloured("keyword") == []
    place = jupyter.run_cell("%load_ext workbench")
    page.wait_for_function("() => CSS.highlights.get('argus-sql-keyword')?.size")
    assert coloured("keyword") == ["SELECT", "FROM", "WHERE", "AND"]
    assert coloured("called") == ["MAX"]
    assert coloured("text") == ["'it''s'"]
    assert coloured("number") == ["1.5"]
    assert coloured("comment") == ["-- the large ones", "/* allof them */"]
    assert page.evaluate(COLOUR, "keyword") != page.evaluate(COLOUR, "text")
    assert not jupyter.output(place).locator("script, [class*=argus]").count()

    page.locator(".jp-CodeCell .cm-content").nth(0).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" LIMIT 20")
    page.wait_for_function("() => CSS.highlights.get('argus-sql-keyword').size === 5")
    assert coloured("keyword")[-1] == "LIMIT" and coloured("number") == ["1.5", "20"]

    page.keyboard.type(" + c")
    page.keyboard.press("Tab")
    page.locator(".jp-Completer", has_text="aggregate count(*)").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.type("ount(")
    page.keyboard.press("Shift+Tab")
    page.locator(".jp-Tooltip", has_text="Returns the total number of retrieved rows").wait_for()
    page.keyboard.press("Escape")

    page.locator(".jp-CodeCell .cm-content").nth(0).click()
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT = 1")
    page.wait_for_function("() => CSS.highlights.get('argus-sql-keyword').size === 0")
    assert jupyter.complaints == [] and jupyter.elsewhere == []


def test_cells_run_while_the_panel_adds_a_stream(jupyter: Lab, folder: Path) -> None:
    rows = "".join(f"R{n};2026-01-01 00:00:{n:02};{n / 2}\n" for n in range(60))
    (folder / "bike rides.csv").write_text("Ride ID;Started At;Fare\n" + rows)
    write(folder, "rides.ipynb", "1")
    jupyter.page.close()
    jupyter.open("rides.ipynb")
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
    panel.get_by_text("nodes: 1 before, 2 after").wait_for()
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
