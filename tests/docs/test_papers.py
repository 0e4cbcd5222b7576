"""The pages on the papers: every experiment and mechanism of theirs is here, or is left out with a reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAPERS_PAGE, COMPARISON = (DOCS / "papers.md").read_text(), (DOCS / "comparison.md").read_text()


def table_rows(page: str, heading: str, cells: int) -> list[tuple[str, ...]]:
    """The rows of the first table of a section."""
    section = page.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^" + r"\|([^|]+)" * cells + r"\|$", section, re.M)
    return [tuple(cell.strip() for cell in row) for row in found][2:]


MECHANISMS: Sequence[tuple[str, ...]] = table_rows(COMPARISON, "Which module has what", 4)
LEFT_OUT: Sequence[tuple[str, ...]] = table_rows(COMPARISON, "Left out on purpose", 3)
MECHANISM_SECTIONS = {
    "ARGUS": "3.2 3.4.1 3.4.2 3.5 3.6 4.1 4.2 4.3 5.1 5.2 5.3 5.4 5.5 6.1 6.1.1 6.1.2 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5"
    " 6.2.6 6.2.7 6.3 7.1 7.1.1 7.2.1 7.2.2 7.2.3 8.1 8.1.1 8.1.2 8.1.3 8.2 8.3 9.1 9.2 9.2.1 9.2.2 9.2.3 9.3 11.1.1"
    " 11.1.2 11.1.3 11.2.1 11.2.2 11.2.3",
    "PSoup": "1.1 3.1 3.2 3.2.1 3.2.2 3.3 4.1 4.2 4.2.1 4.2.2 4.3 5 5.4.1 5.4.2 6 7",
    "CACQ": "2.1 2.2 2.3 2.4 3.1 3.1.1 3.2 3.2.1 3.2.2 3.2.3 3.2.6 3.2.7 3.3.1 3.3.2 3.3.3 4.1 4.2",
    "TelegraphCQ": "2.1 2.2 2.3 2.4 3.1 3.2 4.1.1 4.1.2 4.2 4.2.1 4.2.2 4.2.3 4.3",
}
"""The sections that describe mechanisms, counted by hand."""


def test_every_mechanism_is_in_a_module_or_left_out() -> None:
    for paper, sections in MECHANISM_SECTIONS.items():
        here = {each for of, told, *_ in MECHANISMS if of == paper for each in told.split(", ")}
        named = " ".join(what for of, what, why in LEFT_OUT if of == paper and why)
        missing = {*sections.split()} - here - {*re.findall(r"\((\d+(?:\.\d+)*)\)", named)}
        assert not missing, (paper, missing)
        assert here <= {*sections.split()}, paper


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: f"{each[0]} {each[1]}")
def test_the_module_of_a_mechanism_is_there(mechanism: tuple[str, ...]) -> None:
    assert find_spec(f"workbench.{mechanism[3].strip('`')}") is not None


def test_every_number_of_the_evaluations_is_an_experiment() -> None:
    """The numbers that the papers' evaluation chapters have, counted by hand."""
    told = " ".join(
        f"{paper} {number}" for paper, number in re.findall(r"^\| (\w+) \| \[(.+?)\]\(#", PAPERS_PAGE, re.M)
    )
    for number in range(1, 17):
        assert re.search(rf"ARGUS .*Figure 10\.{number}\b", told)
    assert all(f"Table C.{number}" in told for number in range(1, 10))
    assert all(
        f"PSoup {each}" in told
        for each in ("Figure 7(a)", "Figure 7(b)", "Figure 8", "Figure 9", "Figure 11", "Table 2")
    )
    cacq = ("4", "6(a)", "6(b)", "8", "9(a)", "9(b)", "9(c)", "11(a)", "11(b)")
    assert all(f"CACQ Figure {each}" in told for each in cacq)


def test_every_experiment_has_a_verdict_and_what_is_reversed_a_reason() -> None:
    for section in PAPERS_PAGE.split("\n### ")[1:]:
        verdict = re.search(r"^\*\*(holds|holds weaker|reversed)\*\* \(whole size\)", section, re.M)
        assert verdict, section[:80]
        if verdict.group(1) == "reversed":
            after = section[verdict.end() :].split("\n\n")
            assert not after[1].startswith("![") and not after[1].startswith("|"), section[:80]


def test_commands_of_the_page_are_of_studies() -> None:
    from benchmarks.registry import BENCHMARKS
    from workbench.experiments.registry import EXPERIMENTS

    commands = re.findall(r"^Again: `python -m (benchmarks|workbench.experiments) (\S+?)[` ]", PAPERS_PAGE, re.M)
    assert len(commands) > 25
    assert all(name in (BENCHMARKS if module == "benchmarks" else EXPERIMENTS) for module, name in commands)
