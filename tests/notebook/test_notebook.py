"""All notebooks, run as JupyterLab would run them, in one kernel: Spark starts once.

They run over few rows and queries; ``ARGUS_LONG=all`` runs them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from long import LONG
from nbclient import NotebookClient

from workbench.notebook import demo

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SIZES = {"--history ": 2_000, "--batch ": 500, "--queries ": 3, "--new ": 100, "[:": 15}
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
        source = re.sub(rf"({re.escape(before)})(\d+)", lambda m, most=most: m[1] + str(min(int(m[2]), most)), source)
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
    assert drawn == {"03-fraud-fed": 2, "04-outbreak-med": 1, "05-replay-experiment": 1, "08-live": 1}.get(path.stem, 0)
    page = demo.page(notebook, path.stem)
    assert "https://cdn" not in page and "unpkg" not in page


def test_a_notebook_is_saved_without_outputs() -> None:
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert not [cell.id for cell in cells if cell.cell_type == "code" and cell.outputs], path.name
        assert [cell.id for cell in cells] == [f"cell-{number:02}" for number in range(1, len(cells) + 1)], path.name
