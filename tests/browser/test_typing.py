"""What JupyterLab shows while SQL is typed in an ``%%argus`` cell: its colours, completions with types, hints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.lab import CHROMIUM, lab

pytestmark = [
    pytest.mark.spark,  # the extension starts it in the kernel
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


def test_sql_is_coloured_and_explained_as_it_is_typed(tmp_path: Path) -> None:
    notebook = tmp_path / "colours.ipynb"
    cells = [nbformat.v4.new_code_cell(source) for source in (SQL, PYTHON)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), notebook)
    with lab(notebook, tmp_path / "lab") as jupyter:
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
        assert "argus" not in jupyter.output(place).inner_html()

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
