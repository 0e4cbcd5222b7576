"""Pages of the documentation agree with each other and with the code; no page is built."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
import yaml
from doc_pages import DOCS, ROOT, anchors, pages, samples, site_pages, without_code

from workbench import Options
from workbench.catalog.database import Database
from workbench.notebook.commands.registry import COMMANDS, find_command

MOST_LINES = 200
"""Lines of a page of the design."""
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"(?:\.?\w[\w.-]*/)+[\w.-]*|\w+\.(?:py|md|toml|lock)")
NOT_IN_THE_REPOSITORY = {"session.json", "manifest.json", "leftovers/", "writer.lock", "readers.lock"}
"""Files of a session's directory."""
ROOT_FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "sample_data/README.md")
MAGIC = re.compile(r"(?<!%)%argus ((?:[a-z][a-z-]*)(?: [^`\n]*)?)")


def texts() -> dict[str, str]:
    """All pages, and the files of the root folder that are read without the site."""
    return pages() | {f"../{name}": (ROOT / name).read_text(encoding="utf-8") for name in ROOT_FILES}


def nav_pages(nav: object) -> list[str]:
    match nav:
        case str():
            return [nav]
        case dict():
            return [page for below in nav.values() for page in nav_pages(below)]
        case list():
            return [page for below in nav for page in nav_pages(below)]
    raise AssertionError(nav)


@pytest.mark.parametrize("page", sorted(texts()))
def test_links_lead_to_pages_and_anchors(page: str) -> None:
    known = pages()
    for link in LINK.findall(without_code(texts()[page])):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (DOCS / page).parent / path if path else DOCS / page
        name = target.resolve().relative_to(ROOT).as_posix().removeprefix("docs/")
        assert name in known or name in site_pages().notebooks() or target.exists(), link
        if anchor:
            assert anchor in anchors(known.get(name) or target.read_text(encoding="utf-8")), link


def test_the_table_of_contents_has_every_page_once() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(nav_pages(settings["nav"])) == sorted(pages())


@pytest.mark.parametrize("page", sorted(page for page in texts() if page != "reference/modules.md"))
def test_files_that_are_named_exist(page: str) -> None:
    named = set(CODE.findall(re.sub(r"```.*?```", "", texts()[page], flags=re.DOTALL)))
    files = {word for word in named if FILE.fullmatch(word)} - NOT_IN_THE_REPOSITORY
    places = (ROOT, ROOT / "workbench", ROOT / "workbench" / "engine", DOCS)
    missing = {
        file for file in files if not file.startswith("build/") and not any((place / file).exists() for place in places)
    }
    assert not missing


def test_pages_of_the_design_are_short() -> None:
    assert {path.name for path in (DOCS / "design").glob("*.md") if lines(path) > MOST_LINES} == set()


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_the_reference_has_every_command_and_option_of_the_magics() -> None:
    sections = pages()["reference/magics.md"].split("\n## ")[1:]
    described = {section.split("\n", 1)[0].removeprefix("%argus "): section for section in sections}
    assert set(described) == {"%%argus", *COMMANDS}
    for name, section in described.items():
        for option in find_command(name).options:
            assert option in section, (name, option)


@pytest.mark.parametrize("page", sorted(texts()))
def test_magics_that_are_named_exist_with_their_options(page: str) -> None:
    for line in MAGIC.findall(texts()[page]):
        name, *words = line.split()
        if name != "experiment":  # each experiment has options of its own
            command = find_command(name)
            assert {word for word in words if word.startswith("--")} <= set(command.options), line


def test_cells_of_the_pages_are_understood_by_the_magics() -> None:
    cells = [s.code for page, text in texts().items() for s in samples(page, text) if s.language.startswith("argus")]
    assert cells
    for cell in cells:
        first = cell.splitlines()[0]
        if first.startswith("%%argus"):
            find_command("%%argus").parse(first.removeprefix("%%argus"))
        elif first.startswith("%argus "):
            name, _, rest = first.removeprefix("%argus ").partition(" ")
            find_command(name).parse(rest)


def test_the_reference_has_every_option_with_its_default_and_meaning() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [\w ]+ \| `([^`]+)` \| (.+) \|$", pages()["reference/options.md"], re.MULTILINE)
    assert [(name, default) for name, default, _ in rows] == [
        (field.name, repr(field.default)) for field in dataclasses.fields(Options)
    ]
    assert all(len(meaning) > 10 for _, _, meaning in rows)


def test_the_reference_has_every_relation_and_the_design_names_only_such() -> None:
    database = Database()
    relations = {*database.relations}
    database.close()
    assert set(re.findall(r"^## (\w+)$", pages()["reference/catalog.md"], re.MULTILINE)) == relations
    table = re.search(r"\| relations \|.*?\n\n", pages()["design/commit.md"], re.DOTALL)
    assert table is not None
    named = {name for row in table[0].strip().splitlines()[2:] for name in CODE.findall(row.split("|")[1])}
    assert named <= relations


def test_methods_that_are_named_exist() -> None:
    from workbench import Session
    from workbench.session.query import Query

    assert f"::: {Session.__module__}.{Session.__qualname__}" in pages()["reference/api/session.md"]
    for page, text in texts().items():
        for receiver, name in re.findall(r"\b(session|q)\.([a-z]\w*)\(", text):
            assert hasattr(Session if receiver == "session" else Query, name), (page, f"{receiver}.{name}")


def test_every_layer_and_module_says_what_it_is_for() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", pages()["reference/modules.md"], re.MULTILINE)
    assert len(rows) > 100
    assert [name for name, purpose in rows if not purpose and name != "__main__.py"] == []
    layers = re.findall(r"^\| `(\w+)` \| (.+) \|$", site_pages().layers(), re.MULTILINE)
    assert [name for name, _ in layers] == site_pages().layer_names()


def test_the_reference_has_every_exception() -> None:
    raised = r"^class (\w+)\((?:WorkbenchError|SqlError)\):"
    files = (ROOT / "workbench").rglob("*.py")
    defined = {name for file in files for name in re.findall(raised, file.read_text(encoding="utf-8"), re.MULTILINE)}
    described = re.findall(r"^::: [\w.]+\.(\w+)$", pages()["reference/api/exceptions.md"], re.MULTILINE)
    assert set(described) == {*defined, "WorkbenchError"}


def test_what_the_reference_of_python_describes_exists() -> None:
    described = [name for text in pages().values() for name in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)]
    assert described
    for name in described:
        module, _, thing = name.rpartition(".")
        assert inspect.getdoc(getattr(importlib.import_module(module), thing)), name


def test_pictures_can_be_drawn() -> None:
    drawn = 0
    for text in pages().values():
        for block in site_pages().DOT_BLOCK.finditer(text):
            assert "<svg" in site_pages().figure(block["dot"], block["caption"])
            drawn += 1
    assert drawn == sum(text.count("```dot") for text in pages().values()) > 10


def test_examples_of_the_generator_hold() -> None:
    assert doctest.testmod(site_pages()).failed == 0


def test_what_makes_tests_run_more_is_said() -> None:
    page = (DOCS / "design" / "tests.md").read_text(encoding="utf-8")
    read = re.compile(r"""environ(?:\.get\(|\[)"(ARGUS_\w+)""")
    named = {name for path in (ROOT / "tests").rglob("*.py") for name in read.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 10 and {name for name in named if f"`{name}" not in page} == set()
