"""The layout of the code: small folders and modules, no private names across modules, tests beside what they test."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from long import FIRST
from python_sources import parsed

ROOT = Path(__file__).parents[1]
WORKBENCH, BENCHMARKS, TESTS = ROOT / "workbench", ROOT / "benchmarks", ROOT / "tests"
MOST_LINES = 450
OF_LIBRARIES = {
    *("_accumulatorServer", "_active_spark_context", "_exit", "_gateway", "_jdf", "_jrdd"),
    *("_jrdd_deserializer", "_jsc", "_jsparkSession", "_jvm"),
    *("_advance", "_curr", "_match", "_match_text_seq", "_parse_bitwise", "_parse_csv", "_parse_id_var", "_parse_in"),
    "_reserialize",
}
"""Names of PySpark, of the parser and of Python that there is no other way to."""
NOT_YET_PUBLIC = {
    *("_database", "_engine", "_failing", "_lock", "_nodes_read", "_ors", "_planner", "_predicates", "_session"),
    *("_sets", "_state", "_store", "_upkeep", "_working"),
}
"""Private members that another module or a test still uses; a name goes when its last use has gone."""
PRIVATE = re.compile(r"(?<!\w)_[a-zA-Z]\w*(?<!_)\b")
USED = re.compile(r"(?<!\bself)(?<!\bcls)\._[a-zA-Z]|^from workbench.* import .*\b_[a-zA-Z]", re.MULTILINE)
WITHOUT_PACKAGE = {"browser", "docs", "oracle"}
"""Folders of tests that drive the whole workbench."""


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def private_members() -> frozenset[str]:
    """All private names that stand in the workbench: of modules, functions, classes and attributes."""
    return frozenset(name for path in modules(WORKBENCH) for name in PRIVATE.findall(path.read_text(encoding="utf-8")))


def defined(module: ast.Module) -> set[str]:
    """The names that a module defines or assigns."""
    names: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return names


def private_uses(path: Path) -> Iterator[str]:
    """Private members of the workbench that a module takes from another one."""
    text = path.read_text(encoding="utf-8")
    if not USED.search(text):
        return  # most have nothing to look at more closely, which takes longer
    module = parsed(path)
    own = defined(module)
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbench"):
            yield from (alias.name for alias in node.names if PRIVATE.fullmatch(alias.name))
        elif isinstance(node, ast.Attribute) and node.attr in private_members() - own:
            of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            yield from () if of_self else (node.attr,)


def test_the_project_keeps_no_file_that_an_example_wrote() -> None:
    listed = subprocess.run(("git", "ls-files"), cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone")
    assert {Path(name).parts[0] for name in listed.stdout.splitlines()} - {".ci"} == {
        *(".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md"),
        *("benchmarks", "docs", "mkdocs.yml", "notebooks", "pyproject.toml", "requirements.lock", "sample_data"),
        *("scripts", "tests", "workbench"),
    }


def test_the_root_has_packages_and_few_modules() -> None:
    assert {path.stem for path in WORKBENCH.glob("*.py")} == {"__init__", "__main__", "garbage", "limits", "options"}


def test_no_module_is_too_long() -> None:
    measured = (*modules(WORKBENCH), *modules(BENCHMARKS))
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in measured}
    assert {name: number for name, number in lines.items() if number > MOST_LINES} == {}


@pytest.mark.parametrize("folder", [WORKBENCH, BENCHMARKS, TESTS], ids=lambda folder: folder.name)
def test_private_members_stay_in_their_module(folder: Path) -> None:
    uses = {name_of(path): set(private_uses(path)) - OF_LIBRARIES - NOT_YET_PUBLIC for path in modules(folder)}
    assert {name: sorted(names) for name, names in uses.items() if names} == {}


def test_tests_mirror_the_packages() -> None:
    """``tests/a/b/test_c.py`` tests ``workbench/a/b/c.py``, the package ``a/b/c``, or ``a/b`` as a whole.

    ``tests/benchmarks`` mirrors ``benchmarks``, which stands beside the package.
    """
    strays = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.parent.relative_to(TESTS)
        above = ROOT if folder.parts[:1] == ("benchmarks",) else WORKBENCH
        if folder.parts and folder.parts[0] not in WITHOUT_PACKAGE and not (above / folder).is_dir():
            strays.append(name_of(path))
    assert strays == []


def test_the_files_that_run_first_exist() -> None:
    assert [file for file in FIRST if not (TESTS / file).exists()] == []
