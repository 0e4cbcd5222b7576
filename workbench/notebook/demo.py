"""The demo: the quickstart notebook, run headless on the sample data.

``make demo`` runs this module. It executes the notebook as JupyterLab would, writes what an analyst would see to
``build/quickstart.html`` (one page, nothing loaded from elsewhere), and prints the summary the notebook came to: the
text of the cell tagged ``summary``. What the cells tagged ``highlight`` show stands at the top of the page.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import jinja2
import nbformat
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor
from traitlets.config import Config

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOK = PROJECT / "notebooks" / "01-quickstart.ipynb"
PAGE = PROJECT / "build" / "quickstart.html"
CELL_TIMEOUT = 600
"""Seconds one cell may take before the demo gives up."""

# The stock page loads require.js, MathJax, Mermaid and the widget manager from content delivery networks.
OFFLINE_PAGE = """\
{% extends 'lab/index.html.j2' %}
{% block html_head_js_requirejs %}{% endblock %}
{% block jupyter_widgets %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""

OVERVIEW = (
    '<div style="display:flex; flex-wrap:wrap; gap:8px 24px; font-size:90%"><div style="flex:1 1 100%">{}</div>{}</div>'
)
"""The first highlight as wide as the page, the others below it."""

# A widget needs its manager too, so the page shows its static form.
_SHOWN = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/plain"]


def execute(notebook: nbformat.NotebookNode, folder: Path) -> str | None:
    """Run all cells in place, in ``folder``.

    Returns:
        The error of the cell that stopped the run, ``None`` when all cells ran.
    """
    runner = ExecutePreprocessor(timeout=CELL_TIMEOUT, kernel_name="python3")
    try:
        runner.preprocess(notebook, {"metadata": {"path": str(folder)}})
    except CellExecutionError as error:
        return str(error)
    return None


def summary(notebook: nbformat.NotebookNode) -> str:
    """The text that the cells tagged ``summary`` printed or returned, empty when there is no such cell.

    Example:
        >>> cell = nbformat.v4.new_code_cell(metadata={"tags": ["summary"]})
        >>> cell.outputs = [nbformat.v4.new_output("stream", text="3 queries, 5 batches\\n")]
        >>> summary(nbformat.v4.new_notebook(cells=[cell]))
        '3 queries, 5 batches'
    """
    texts = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or "summary" not in cell.metadata.get("tags", []):
            continue
        for output in cell.outputs:
            texts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return "".join(texts).strip()


def with_highlights(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The executed notebook with what its cells tagged ``highlight`` show below its title, to be seen at once."""
    shown = [
        "\n".join(line for line in output["data"]["text/html"].splitlines() if line.strip())
        for cell in notebook.cells
        if "highlight" in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    if not shown:
        return notebook
    details = "".join(
        f'<div style="flex:1 1 24em; max-height:32em; min-width:0; overflow:auto">{html}</div>' for html in shown[1:]
    )
    overview = nbformat.v4.new_markdown_cell(OVERVIEW.format(shown[0], details))
    return nbformat.v4.new_notebook(
        metadata=notebook.metadata, cells=[*notebook.cells[:1], overview, *notebook.cells[1:]]
    )


def page(notebook: nbformat.NotebookNode, title: str) -> str:
    """The executed notebook as one HTML page that needs no network."""
    exporter = HTMLExporter(
        config=Config({"NbConvertBase": {"display_data_priority": _SHOWN}}),
        extra_loaders=[jinja2.DictLoader({"offline.html.j2": OFFLINE_PAGE})],
        template_file="offline.html.j2",
        embed_images=True,
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    return str(html)


def main() -> int:
    """Run the demo.

    Returns:
        The exit status: 0 when every cell ran and the notebook came to a summary.
    """
    if not NOTEBOOK.exists():
        print(f"{NOTEBOOK} is missing", file=sys.stderr)
        return 1
    print(f"running {NOTEBOOK.relative_to(PROJECT)} on the sample data ...", flush=True)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    started = time.perf_counter()
    error = execute(notebook, NOTEBOOK.parent)
    seconds = time.perf_counter() - started
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(with_highlights(notebook), "Argus quickstart"), encoding="utf-8")
    shown = PAGE.relative_to(PROJECT)
    if error is not None:
        print(f"{error}\nThe notebook stopped after {seconds:.0f} s; what ran before is in {shown}", file=sys.stderr)
        return 1
    text = summary(notebook)
    if not text:
        print("the notebook has no cell tagged 'summary' that printed something", file=sys.stderr)
        return 1
    print(f"\n{text}\n\nThe notebook ran in {seconds:.0f} s. The page: {shown}   In JupyterLab: make lab")
    return 0


if __name__ == "__main__":
    sys.exit(main())
