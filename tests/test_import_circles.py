"""No module imports itself by way of others, not even for type hints alone, which import-linter does not see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from python_sources import parsed

PROJECT = Path(__file__).resolve().parents[1]


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _graph(imported: dict[str, set[str]]) -> dict[str, set[str]]:
    """What each module imports of the others."""
    return {name: imports & imported.keys() for name, imports in imported.items()}


def test_a_circle_for_type_hints_is_found() -> None:
    later = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from package.a import A"
    sources = {"package.a": "import package.b", "package.b": "def f():\n    import package.c", "package.c": later}
    graph = _graph({name: set(_imported(ast.parse(source))) for name, source in sources.items()})
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()


def test_the_package_has_none() -> None:
    imported = {}
    for path in sorted((PROJECT / "workbench").rglob("*.py")):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        if parts[-1] != "__init__":  # a package's face only hands names on
            imported[".".join(parts)] = set(_imported(parsed(path)))  # trees that stay are looked through for garbage
    TopologicalSorter(_graph(imported)).prepare()
