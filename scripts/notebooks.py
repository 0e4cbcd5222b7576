"""Run the notebooks and keep them with their outputs: what a visitor of the repository sees.

    .venv/bin/python scripts/notebooks.py [NOTEBOOK …]

Outputs are kept without what says something of this machine alone: times (a dash stands for each; a cell tagged
``times`` or ``alerts`` shows a line instead), paths, widgets (their static form stays). The notebook's metadata keep a
digest of the code, the version of the package and the files or generators that it reads; while it is the same, the
outputs are not stale.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
INPUTS = ROOT / "sample_data"
GENERATOR = ROOT / "workbench/experiments/sample_streams/trades.py"
"""It makes the rows of notebooks that read no file."""
HIDDEN = {
    "times": "(times of the machine; run the cell to see yours)",
    "alerts": "(what it tells comes below this cell, batch by batch; run the notebook to see it)",
}
"""What a cell shows instead of its outputs, by its tag."""

_TIME = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?=(?:\s|&nbsp;)?(?:ms|s|min|µs)\b)")
"""A number before a unit of time."""
_RATE = re.compile(r"\d[\d,]*(?= rows/s\b)")
_TOOK = re.compile(r".* took – (?:s|min)")
"""The line that a cell leaves which took long."""
_PLACE = re.compile(r"(?<=process )\d+ on [\w.-]+|(?<=127\.0\.0\.1:)\d+")
"""A process on a host; a port that was free."""
_LOG = re.compile(r"^%\d\|.*\n?", re.MULTILINE)
"""A line of the log of Kafka's client."""
_PATH = re.compile(rf"{re.escape(str(ROOT))}|{re.escape(str(Path.home()))}(?=/)|/(?:tmp|root|home)(?=/)[\w./-]*")
_DROPPED = ("application/vnd.jupyter.widget-view+json", "application/javascript")


def digest(notebook: nbformat.NotebookNode) -> str:
    """What the outputs follow from: code, version of the package, files of samples, generators of others.

    Example:
        >>> one, other = (nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)]) for code in ("1", "2"))
        >>> digest(one) == digest(one), digest(one) == digest(other)
        (True, False)
    """
    state = hashlib.sha256(_surroundings())
    for cell in notebook.cells:
        if cell.cell_type == "code":
            state.update(cell.source.encode() + b"\0")
            if f"sample_streams.{GENERATOR.stem} import" in cell.source:
                state.update(GENERATOR.read_bytes())
    return state.hexdigest()[:16]


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook that was run, as it is kept; it is changed in place."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        for text in map(HIDDEN.get, cell.metadata.get("tags", [])):
            if text is not None and cell.outputs:
                cell.outputs = [nbformat.v4.new_output("stream", text=f"{text}\n")]
        cell.outputs = [output for output in map(_cleaned_output, cell.outputs) if output is not None]
    notebook.metadata = {**_plain(notebook.metadata), "argus": {"digest": digest(notebook)}}
    return notebook


def said(notebook: nbformat.NotebookNode) -> list[str]:
    """The texts that a notebook shows, in order; drawings are left out."""
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.get("text") or output.get("data", {}).get("text/plain", "") for output in shown]


def without_machine(text: str) -> str:
    """A text without times, rates, paths, processes and ports of this machine.

    Example:
        >>> without_machine("5 batches in 1.25 s, 1,200 rows/s"), without_machine("12 ms, process 56 on host.org")
        ('5 batches in – s, – rows/s', '– ms, process …')
    """
    for pattern, instead in ((_LOG, ""), (_TIME, "–"), (_RATE, "–"), (_PLACE, "…"), (_PATH, "…")):
        text = pattern.sub(instead, text)
    return text


@cache
def _surroundings() -> bytes:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    files = [hashlib.sha256(file.read_bytes()).digest() for file in sorted(INPUTS.glob("*.parquet"))]
    return version.encode() + b"".join(files)


def _cleaned_output(output: nbformat.NotebookNode) -> nbformat.NotebookNode | None:
    if output.output_type == "stream":
        output.text = without_machine(output.text)
        return output if output.text else None
    if output.output_type == "error":
        output.evalue, output.traceback = without_machine(output.evalue), [*map(without_machine, output.traceback)]
        return output
    for kind in _DROPPED:
        output.data.pop(kind, None)
    for kind, value in output.data.items():
        if isinstance(value, str) and kind != "image/png":
            output.data[kind] = without_machine(value)
    took = _TOOK.fullmatch(output.data.get("text/plain", ""))
    return output if output.data and not took else None


def _plain(metadata: nbformat.NotebookNode) -> dict[str, object]:
    """The metadata without the version of Python that ran it, and without the state of widgets."""
    return {"kernelspec": metadata["kernelspec"], "language_info": {"name": "python"}}


def main(arguments: list[str] | None = None) -> int:
    """Run notebooks and write them; gives the exit status."""
    sys.path.insert(0, str(ROOT))
    from workbench.notebook.demo import execute

    parser = argparse.ArgumentParser(description="run the notebooks and keep them with their outputs")
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(FOLDER.glob("*.ipynb")))
    for path in parser.parse_args(arguments).notebooks:
        notebook = nbformat.read(path, as_version=4)
        print(f"running {path.name} …", flush=True)
        problem = execute(notebook, FOLDER)
        if problem is not None:
            print(problem, file=sys.stderr)
            return 1
        nbformat.write(cleaned(notebook), path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
