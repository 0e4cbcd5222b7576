"""The demo's way from a notebook to a page and a summary."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from workbench.notebook import demo


def notebook(*cells: str, summary: str = "print('3 queries, 5 batches')") -> nbformat.NotebookNode:
    code = [nbformat.v4.new_code_cell(source) for source in cells]
    code.append(nbformat.v4.new_code_cell(summary, metadata={"tags": ["summary"]}))
    return nbformat.v4.new_notebook(cells=code)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(demo, "PROJECT", tmp_path)
    monkeypatch.setattr(demo, "NOTEBOOK", tmp_path / "notebooks" / "01-quickstart.ipynb")
    monkeypatch.setattr(demo, "PAGE", tmp_path / "build" / "quickstart.html")
    demo.NOTEBOOK.parent.mkdir()
    return tmp_path


def test_a_notebook_becomes_a_page_and_a_summary(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nbformat.write(notebook("import os; print('in', os.path.basename(os.getcwd()))"), demo.NOTEBOOK)
    assert demo.main() == 0
    printed = capsys.readouterr().out
    assert "3 queries, 5 batches" in printed
    assert "build/quickstart.html" in printed
    page = demo.PAGE.read_text(encoding="utf-8")
    assert "in notebooks" in page
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page)
    assert "cdnjs" not in page
    assert "unpkg" not in page


def test_highlights_are_at_the_top_of_the_page() -> None:
    cells = [nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell("begins")]
    for text in ("network\n\n of <b>two</b>", "answer"):
        cells.append(nbformat.v4.new_code_cell(f"show({text!r})", metadata={"tags": ["highlight"]}))
        cells[-1].outputs = [nbformat.v4.new_output("display_data", {"text/html": f"<p>{text} shown</p>"})]
    shown = demo.page(demo.with_highlights(nbformat.v4.new_notebook(cells=cells)), "page")
    body = shown[shown.index("<main>") :]
    places = [body.index(text) for text in ("Title", "of <b>two</b>", "answer shown", "begins")]
    assert places == sorted(places) and "&lt;p&gt;" not in body[: places[3]]
    plain = nbformat.v4.new_notebook(cells=cells[:2])
    assert demo.with_highlights(plain) is plain


def test_a_failing_cell_fails_the_demo_and_is_on_the_page(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nbformat.write(notebook("1 / 0"), demo.NOTEBOOK)
    assert demo.main() == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert "ZeroDivisionError" in demo.PAGE.read_text(encoding="utf-8")


def test_a_notebook_that_comes_to_nothing_fails_the_demo(project: Path) -> None:
    nbformat.write(notebook(summary="pass"), demo.NOTEBOOK)
    assert demo.main() == 1


def test_without_its_notebook_the_demo_says_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main() == 1
    assert "01-quickstart.ipynb is missing" in capsys.readouterr().err


def test_the_summary_takes_printed_and_returned_text_of_tagged_cells_only() -> None:
    book = notebook("2")
    book.cells[0].outputs = [nbformat.v4.new_output("stream", text="not this")]
    book.cells[1].outputs = [
        nbformat.v4.new_output("stream", text="printed\n"),
        nbformat.v4.new_output("execute_result", data={"text/plain": "returned"}),
    ]
    assert demo.summary(book) == "printed\nreturned"
