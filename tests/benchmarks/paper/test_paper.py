"""The papers' experiments: their registry, their page, and every study at a tiny size."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from long import rare

from benchmarks.paper import page, results
from benchmarks.paper.__main__ import main
from benchmarks.paper.exhibits import Verdict
from benchmarks.paper.registry import EXHIBITS, LEFT_OUT, MECHANISMS, RUNS, Mechanism
from benchmarks.paper.studies.aggregates import Expansion, SingleAggregates
from benchmarks.paper.studies.cacq import Niagara, Routing, Scale, TupleState
from benchmarks.paper.studies.growing import GrowingSet
from benchmarks.paper.studies.psoup import PSoup
from benchmarks.paper.studies.single import Uniform
from benchmarks.paper.studies.telegraph import WindowLoops
from benchmarks.query_sets.qief import qief_uniform
from workbench.experiments.runs import silent
from workbench.experiments.study import Study

DOCS = Path(__file__).parents[3] / "docs"


def test_every_run_is_read_and_every_experiment_has_its_runs() -> None:
    assert len({exhibit.name for exhibit in EXHIBITS}) == len(EXHIBITS)
    assert {name for exhibit in EXHIBITS for name in exhibit.runs} == RUNS.keys()
    for name in RUNS:
        for size in results.SIZES:
            assert results.study(RUNS[name], size).name == RUNS[name].study.name


def test_the_page_is_that_of_the_registry_and_the_results() -> None:
    outcomes = {exhibit.name: page.judged(exhibit) for exhibit in EXHIBITS}
    assert (DOCS / "papers.md").read_text() == page.text(outcomes), "python -m benchmarks.paper --page writes it"


def test_what_does_not_hold_has_a_reason() -> None:
    for exhibit in EXHIBITS:
        outcome = page.judged(exhibit)
        if outcome is not None and outcome[1].verdict in (Verdict.REVERSED, Verdict.MISSING):
            assert exhibit.finding, exhibit.number


def test_what_is_left_out_is_told_in_the_comparison() -> None:
    section = (DOCS / "comparison.md").read_text().split("## Left out on purpose", 1)[1].split("\n## ", 1)[0]
    rows = [
        tuple(cell.strip() for cell in row) for row in re.findall(r"^\|([^|]+)\|([^|]+)\|([^|]+)\|$", section, re.M)
    ]
    assert rows[2:] == [(left.paper, left.what, left.why) for left in LEFT_OUT]


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
        here = {section for each in MECHANISMS if each.paper == paper for section in each.sections}
        named = " ".join(left.what for left in LEFT_OUT if left.paper == paper)
        missing = {*sections.split()} - here - {*re.findall(r"\((\d+(?:\.\d+)*)\)", named)}
        assert not missing, (paper, missing)
        assert here <= {*sections.split()}, paper


def test_the_table_of_mechanisms_is_that_of_the_registry() -> None:
    section = (DOCS / "comparison.md").read_text().split("## Which module has what", 1)[1].split("\n## ", 1)[0]
    rows = [tuple(cell.strip() for cell in row) for row in re.findall(r"^\|(.+)\|(.+)\|(.+)\|(.+)\|$", section, re.M)]
    shown = [(m.paper, ", ".join(m.sections), m.what, f"`{m.module.removeprefix('workbench.')}`") for m in MECHANISMS]
    assert rows[2:] == shown


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: f"{each.paper} {each.sections[0]}")
def test_the_module_of_a_mechanism_is_there(mechanism: Mechanism) -> None:
    assert find_spec(mechanism.module) is not None


def test_every_number_of_the_evaluations_is_an_experiment_or_left_out() -> None:
    """The numbers that the papers' evaluation chapters have, counted by hand."""
    told = " ".join(f"{each.paper} {each.number}" for each in EXHIBITS)
    for number in range(1, 17):
        assert re.search(rf"ARGUS .*Figure 10\.{number}\b", told)
    assert all(f"Table C.{number}" in told for number in range(1, 10))
    assert all(
        f"PSoup {each}" in told
        for each in ("Figure 7(a)", "Figure 7(b)", "Figure 8", "Figure 9", "Figure 11", "Table 2")
    )
    cacq = ("4", "6(a)", "6(b)", "8", "9(a)", "9(b)", "9(c)", "11(a)", "11(b)")
    assert all(f"CACQ Figure {each}" in told for each in cacq)


def test_a_result_is_kept_and_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was stopped goes on with what is missing; other options make a result old."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(WindowLoops, "run", lambda self, progress: ("", {"sliding": {"instants": 10, "equal": 10}}, ()))
    assert not results.is_current("telegraph-texts", "quick", tmp_path)
    results.measure("telegraph-texts", "quick", silent, tmp_path)
    assert results.is_current("telegraph-texts", "quick", tmp_path)
    assert not results.is_current("telegraph-texts", "whole", tmp_path)
    assert "telegraph-texts" not in page.missing("quick", tmp_path)
    texts = next(exhibit for exhibit in EXHIBITS if exhibit.runs == ("telegraph-texts",))
    assert (found := page.judged(texts, tmp_path)) is not None
    assert (found[0], found[1].verdict) == ("quick", Verdict.HOLDS)
    counts = page.write(tmp_path / "papers.md", tmp_path / "img", tmp_path)
    assert counts == {Verdict.HOLDS: 1}
    assert "Not measured yet" in (tmp_path / "papers.md").read_text()
    file = next(tmp_path.glob("quick/*.json"))
    file.write_text(json.dumps({**json.loads(file.read_text()), "options": {}}))
    assert not results.is_current("telegraph-texts", "quick", tmp_path)


def test_an_unknown_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["qief-manuel"])
    assert "there is no run qief-manuel" in capsys.readouterr().err


def test_the_random_set_is_the_same_every_time() -> None:
    assert qief_uniform() == qief_uniform()
    assert qief_uniform(each=1) == qief_uniform()[:8]
    assert len({query.sql for query in qief_uniform()}) > 150


def all_equal(found: Any) -> bool:
    return all(of["instants"] == of["equal"] for of in found.values())


def joined_as_planned(found: Any) -> bool:
    joins = {plan: of[3]["joins"] for plan, of in found["normal"].items()}
    return joins == {"ours": 1, "PushDown": 3, "PullUp": 1}


TINY: Mapping[str, tuple[Study, Callable[[Any], bool]]] = {
    "texts": (WindowLoops(days=110, history=100), all_equal),
    "state": (TupleState(queries=(5, 8), batch=50), lambda found: found["rate"].keys() == {5, 8}),
    "scale": (Scale(queries=(2,), sources=(2,), batch=40), lambda found: found["operators"] == {2: 2}),
    "niagara": (Niagara(queries=(3,), stocks=20, functions=1, articles=(2,), quoted=5), joined_as_planned),
    "growth": (
        GrowingSet("fed-uniform", ("AllSharing",), queries=2, step=2, history=200, batch=20, batches=1, sample=1),
        lambda found: found["checked"] == 1,
    ),
}
LASTING: Mapping[str, Study] = {
    "expansion": Expansion(history=200, sizes=(5,)),
    "aggregates": SingleAggregates(sample=2, history=200, batch=20),
    "psoup": PSoup(windows=(20, 40), joined=(10,), asked=2, batch=10, queries=(2,), probed=200),
    "routing": Routing(batch=60, batches=3, ticket_batch=20),
    "uniform": Uniform(each=1, history=300, batch_sizes=(20,)),
}
"""Those that take seconds even when they are small."""


@pytest.mark.parametrize("name", TINY)
def test_a_tiny_run(name: str) -> None:
    study, holds = TINY[name]
    text, figures, _ = study.run(silent)
    assert text
    assert holds(figures), figures


@rare
@pytest.mark.parametrize("name", LASTING)
def test_a_longer_run(name: str) -> None:
    text, figures, _ = LASTING[name].run(silent)
    assert text
    assert figures
