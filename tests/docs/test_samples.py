"""The code samples of the documentation run, and show what the pages say they show.

All pages run in one kernel, as JupyterLab would run them, each in a session of its own. ``ARGUS_OUTPUTS=write`` writes
what the samples show into the pages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from doc_pages import DOCS, ROOT, Sample, pages, samples
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

RUN_IN_KERNEL = ("argus", "argus-refused", "python")
"""Languages of blocks that run; ``py`` is Python that needs what a test has not, such as a cluster."""
QUIET = "import workbench.notebook.long_work as long_work; long_work.PATIENCE = 3_600"
"""No line says that a cell took long, as it may on a slow machine."""
REFERENCE = ("reference/options.md", "reference/api/session.md", "reference/api/exceptions.md")
README = ROOT / "README.md"
SHOWN = ("py", "sh", "sql", "text", "toml", "dot", "csv", "")
WRITE = os.environ.get("ARGUS_OUTPUTS") == "write"
PAGES = sorted(
    page
    for page, text in pages().items()
    if page.startswith(("how-to/", "tutorial")) and any(s.language in RUN_IN_KERNEL for s in samples(page, text))
)


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3")
    yield manager
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder beside the sample data, as ``notebooks`` is."""
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    (tmp_path / "notebooks").mkdir()
    return tmp_path / "notebooks"


def stable(text: str) -> str:
    """A text without measured times and blanks at ends of lines."""
    text = re.sub(r"[\d.,]+ (m?s)\b", r"# \1", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def comparable(output: str) -> list[str]:
    """The lines of an output in a fixed order, since rows have none, with ids of nodes and columns left out."""
    return sorted(re.sub(r"\b[A-Z][0-9a-f]{12}\b|_[0-9a-f]{8}\b", "", output).split("\n"))


def shown(cell: nbformat.NotebookNode) -> str:
    """What a cell shows as text: results, and an error as the notebook prints it."""
    texts = []
    for output in cell.outputs:
        match output.output_type:
            case "error":
                texts.append("\n".join(output.traceback))
            case "stream":
                texts.append(output.text)
            case _:
                texts.append(output.data.get("text/plain", ""))
    return stable(re.sub(r"\x1b\[[\d;]*m", "", "\n".join(texts)))


def cell_of(sample: Sample) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(sample.code)
    if sample.language == "argus-refused":
        cell.metadata["tags"] = ["raises-exception"]
    return cell


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", [*PAGES, README.name])
def test_the_samples_of_a_page_run(kernel: KernelManager, folder: Path, page: str) -> None:
    text = README.read_text(encoding="utf-8") if page == README.name else pages()[page]
    folder = folder.parent if page == README.name else folder
    blocks = [sample for sample in samples(page, text) if sample.language in RUN_IN_KERNEL]
    before = [f"%cd -q {folder}", QUIET, "%load_ext workbench", "%argus close --leave", "%reset -f"]
    opening = [nbformat.v4.new_code_cell(line) for line in before]
    notebook = nbformat.v4.new_notebook(cells=[*opening, *map(cell_of, blocks)])
    NotebookClient(notebook, km=kernel, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [shown(cell) for cell in notebook.cells[len(opening) :]]
    if WRITE:
        write(page, blocks, outputs)
    else:
        for block, output in zip(blocks, outputs, strict=True):
            if block.output is not None:
                assert comparable(output) == comparable(block.output.strip("\n")), f"{page}:{block.line}"


def write(page: str, blocks: list[Sample], outputs: list[str]) -> None:
    """Put outputs into a page, below the blocks that have one."""
    path = README if page == README.name else DOCS / page
    text = path.read_text(encoding="utf-8")
    place = 0
    for block, output in zip(blocks, outputs, strict=True):
        place = text.index(block.code, place) + len(block.code)
        if block.output is not None:
            start = text.index("```output\n", place) + len("```output\n")
            text = text[:start] + output + "\n" * bool(output) + text[start + len(block.output) :]
    path.write_text(text, encoding="utf-8")


def test_every_block_of_code_is_run_or_known_not_to_run() -> None:
    languages = {(page, s.language) for page, text in pages().items() for s in samples(page, text)}
    assert {language for _, language in languages} <= {*RUN_IN_KERNEL, *SHOWN}
    run_elsewhere = {page for page, language in languages if language in RUN_IN_KERNEL and page not in PAGES}
    assert run_elsewhere <= set(REFERENCE)


def test_python_blocks_of_the_reference_run() -> None:
    for page in REFERENCE:
        for sample in samples(page, pages()[page]):
            if sample.language == "python":
                exec(sample.code, {})


def test_all_python_blocks_are_python() -> None:
    for page, text in {**pages(), README.name: README.read_text(encoding="utf-8")}.items():
        for sample in samples(page, text):
            if sample.language in ("py", "python"):
                magic = re.compile(r"^%", re.MULTILINE)
                compile(magic.sub("# %", sample.code), f"{page}:{sample.line}", "exec")
