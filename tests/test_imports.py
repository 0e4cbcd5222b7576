"""Who may import whom: planning imports neither Spark nor IPython."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from python_sources import parsed

PROJECT = Path(__file__).resolve().parents[1]


SPARK_FREE = ["sql", "network", "sharing"]
NEEDS_SPARK_OR_NOTEBOOK = {"pyspark", "py4j", "IPython", "ipywidgets", "ipykernel"}


def module_files(root: Path) -> dict[str, Path]:
    """Dotted name of every module of the package in `root`."""
    files = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imported(name: str, path: Path) -> set[str]:
    """Dotted names a module imports anywhere in its text, relative ones resolved."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parts, *(node.module or "").split(".")]).strip(".")
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def reached(starts: list[str], files: dict[str, Path]) -> dict[str, str]:
    """Everything imported by the modules below `starts` and by what they import: name and who imports it.

    The root package is not followed: it hands out the session, and importing any module runs it.
    """
    waiting = [name for name in files if any(name == start or name.startswith(f"{start}.") for start in starts)]
    seen, found = set(waiting), {}
    while waiting:
        user = waiting.pop()
        for name in imported(user, files[user]):
            found[name] = user
            inner = name if name in files else name.rpartition(".")[0]
            if inner in files and "." in inner and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found


def broken(starts: list[str], forbidden: set[str], root: Path) -> list[str]:
    found = reached([f"{root.name}.{start}" for start in starts], module_files(root))
    return sorted(
        f"{user} imports {name}"
        for name, user in found.items()
        if any(name == bad or name.startswith(f"{bad}.") for bad in forbidden)
    )


def test_planning_imports_neither_spark_nor_ipython() -> None:
    assert broken(SPARK_FREE, NEEDS_SPARK_OR_NOTEBOOK, PROJECT / "workbench") == []


def test_the_engine_does_not_import_the_notebook() -> None:
    assert broken(["engine"], {"workbench.notebook"}, PROJECT / "workbench") == []


@pytest.mark.parametrize(
    "line",
    [
        "import pyspark.sql",
        "from pyspark import sql",
        "def f():\n    from IPython.display import display",
        "from ..engine import run",
        "from ..engine.run import go",
        "from workbench.engine.run import go",
    ],
)
def test_the_import_rule_sees_direct_and_indirect_imports(tmp_path: Path, line: str) -> None:
    root = tmp_path / "workbench"
    for name, text in {"sql/parse.py": line, "engine/run.py": "import pyspark\n", "engine/__init__.py": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert len(broken(["sql"], NEEDS_SPARK_OR_NOTEBOOK, root)) == 1
    assert broken(["engine"], {"workbench.notebook"}, root) == []


def test_nothing_is_collected_while_the_session_is_imported() -> None:
    code = "import gc\nfrom workbench import Session\nprint(gc.get_stats()[2]['collections'], gc.isenabled())"
    run = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert run.stdout == "0 True\n"
