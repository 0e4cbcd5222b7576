"""The notebooks, run as JupyterLab would run them, in one kernel: Spark starts once.

The quickstart is run in a browser (``tests/browser``) and by the demo, what the experiments' does by their own tests
(``tests/experiments``); here with ``ARGUS_NOTEBOOKS=all``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from workbench.notebook import demo

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
ELSEWHERE = ("01-quickstart", "05-replay-experiment")
RUN = [path for path in NOTEBOOKS if path.stem not in ELSEWHERE or os.environ.get("ARGUS_NOTEBOOKS") == "all"]
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


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("path", RUN, ids=[path.stem for path in RUN])
def test_a_notebook_runs_and_comes_to_what_it_promises(kernel: KernelManager, path: Path) -> None:
    ran(kernel, nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(AFRESH)]))
    notebook = ran(kernel, nbformat.read(path, as_version=4))
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
