"""Binding asks a dialect's record for what it must know, and never which dialect it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from python_sources import parsed

from workbench.sql.dialects import DIALECTS

SQL = Path(__file__).resolve().parents[3] / "workbench" / "sql"
REGISTRIES = {"functions/reading.py", "binder/differences.py"}  # what is declared for some dialects is compared there
MODULES = sorted(
    path
    for folder in ("binder", "functions", "windows", "algebra")
    for path in (SQL / folder).rglob("*.py")
    if str(path.relative_to(SQL)) not in REGISTRIES
)


def _tests_of_names(tree: ast.AST) -> Iterator[int]:
    """The lines that compare a dialect with anything but the dialects of a declaration, or anything with its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_declared = any(isinstance(side, ast.Attribute) and side.attr == "dialects" for side in sides)
            has_name = any(isinstance(side, ast.Constant) and side.value in DIALECTS for side in sides)
            if has_name or (not is_declared and any(getattr(side, "attr", "") == "dialect" for side in sides)):
                yield node.lineno


@pytest.mark.parametrize("test", ["b.dialect == name", "name != 'postgres'", "source.dialect in FAMILY"])
def test_such_a_comparison_is_found(test: str) -> None:
    assert list(_tests_of_names(ast.parse(f"\nfound = 1 if {test} else 2"))) == [2]


@pytest.mark.slow
def test_no_module_compares_the_name_of_a_dialect() -> None:
    found = [f"{path}:{line}" for path in MODULES for line in _tests_of_names(parsed(path))]
    assert not found
