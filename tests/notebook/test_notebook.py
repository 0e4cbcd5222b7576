"""All notebooks, run as JupyterLab would run them, in one kernel: Spark starts once.

They run over few rows and queries; ``ARGUS_LONG=all`` runs them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from doc_pages import script
from jupyter_client.manager import KernelManager
from long import LONG
from nbclient import NotebookClient

from workbench.notebook import demo

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
kept = script("notebooks")
SIZES = {"--history ": 2_000, "--batch ": 500, "--queries ": 3, "--new ": 100, "[:": 15, "queries=": 4, "most=": 10}
"""What stands before a number in a cell, and the most that it is here."""
SECONDS = 300
"""For one cell."""

AFRESH = """
%reset -f
import workbench.notebook.extension as extension
if extension.current_context is not None:
    extension.current_context.close()
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3")
    yield manager
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


def ran(kernel: KernelManager, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    folder = {"metadata": {"path": str(NOTEBOOKS[0].parent)}}
    return NotebookClient(notebook, km=kernel, timeout=SECONDS, resources=folder).execute()


def small(source: str) -> str:
    """A cell over few rows and queries."""
    for before, most in SIZES.items():
        source = re.sub(
            rf"({re.escape(before)})([\d_]+)", lambda m, most=most: m[1] + str(min(int(m[2]), most)), source
        )
    return source


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_and_comes_to_what_it_promises(kernel: KernelManager, path: Path) -> None:
    ran(kernel, nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(AFRESH)]))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source if LONG or cell.cell_type != "code" else small(cell.source)
    ran(kernel, notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    for cell in cells:
        refused = any(output.output_type == "error" for output in cell.outputs)
        assert refused == ("raises-exception" in cell.metadata.get("tags", [])), cell.source
    assert demo.summary(notebook) or path.stem == "02-sharing"
    shown = [data for output in outputs for data in (output.get("data", {}),)]
    assert any("<svg" in data.get("text/html", "") for data in shown), "a network or figures are drawn"
    drawn = sum("image/png" in data for data in shown)
    assert drawn == {"03-fraud-fed": 2, "04-outbreak-med": 1, "08-live": 1}.get(path.stem, 0)
    page = demo.page(notebook, path.stem)
    assert "https://cdn" not in page and "unpkg" not in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_the_outputs_that_are_kept_are_not_stale(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    stale = f"{path.name} shows what other code, another version or other samples gave: make notebooks"
    assert notebook.metadata.get("argus", {}).get("digest") == kept.digest(notebook), stale
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(cell.outputs for cell in cells) and all(cell.execution_count for cell in cells), path.name
    assert [cell.id for cell in notebook.cells] == [f"cell-{n:02}" for n in range(1, len(notebook.cells) + 1)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_what_is_kept_says_nothing_of_the_machine(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert set(notebook.metadata) == {"kernelspec", "language_info", "argus"}
    for cell in notebook.cells:
        assert "execution" not in cell.metadata
        for output in cell.get("outputs", []):
            texts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", [])]
            texts += [str(value) for kind, value in output.get("data", {}).items() if kind != "image/png"]
            assert [text for text in texts if kept.without_machine(text) != text] == [], cell.id
            assert "widget" not in "".join(output.get("data", {})), cell.id


def test_outputs_are_kept_without_times_paths_and_widgets() -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in ("run", "timings")]
    cells[1].metadata["tags"] = ["times"]
    cells[0].metadata["execution"] = {"iopub.execute_input": "2026-11-26T10:00:00"}
    view, path = "application/vnd.jupyter.widget-view+json", f"{Path.home()}/secret/rows.parquet"
    data = {
        view: {},
        "text/html": "<b>0.25&nbsp;s</b>",
        "text/plain": f"3 batches, 1,234.5 ms, read {path}",
    }
    cells[0].outputs = [
        nbformat.v4.new_output("display_data", data),
        nbformat.v4.new_output("stream", text="/tmp/x7/a"),
    ]
    cells[0].outputs.append(nbformat.v4.new_output("display_data", {view: {}}))
    cells[1].outputs = [nbformat.v4.new_output("stream", text="join 0.5")]
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python", "version": "3.11.7"},
        "widgets": {},
    }
    notebook = kept.cleaned(nbformat.v4.new_notebook(cells=cells, metadata=metadata))
    assert kept.said(notebook) == ["3 batches, – ms, read …/secret/rows.parquet", "…", f"{kept.HIDDEN['times']}\n"]
    assert notebook.cells[0].outputs[0]["data"]["text/html"] == "<b>–&nbsp;s</b>"
    assert "execution" not in notebook.cells[0].metadata and set(notebook.metadata["language_info"]) == {"name"}
    digest = notebook.metadata["argus"]["digest"]
    notebook.cells[0].outputs = []
    assert kept.digest(notebook) == digest
    notebook.cells[0].source += " 3"
    assert kept.digest(notebook) != digest
