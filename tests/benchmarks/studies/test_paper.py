"""The papers' experiments: what ``make paper`` runs, and every study of the clone at a tiny size."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from long import rare

from benchmarks.paper import MEASURED, PAPER_RUNS, command, main
from benchmarks.registry import BENCHMARKS
from benchmarks.studies.cacq import Niagara, Routing, Scale, TupleState
from benchmarks.studies.psoup import PSoup
from benchmarks.studies.single_aggregates import Expansion, SingleAggregates
from workbench.experiments.registry import EXPERIMENTS
from workbench.experiments.runs import silent
from workbench.experiments.study import Study


def test_every_run_is_a_study_that_takes_its_options() -> None:
    for name, (module, small) in PAPER_RUNS.items():
        study = (BENCHMARKS if module == MEASURED else EXPERIMENTS)[name]
        parser = argparse.ArgumentParser()
        study.add_arguments(parser)
        assert study.of(parser.parse_args(small.split())) != study() or not small
        assert command(name, quick=True) == command(name, quick=False) + small.split()


def test_an_unknown_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["psop"])
    assert "there is no run psop" in capsys.readouterr().err


def joined_as_planned(found: Any) -> bool:
    joins = {plan: of[3]["joins"] for plan, of in found["normal"].items()}
    return joins == {"ours": 1, "PushDown": 3, "PullUp": 1}


TINY: Mapping[str, tuple[Study, Callable[[Any], bool]]] = {
    "state": (TupleState(queries=(5, 8), batch=50), lambda found: found["rate"].keys() == {5, 8}),
    "scale": (Scale(queries=(2,), sources=(2,), batch=40), lambda found: found["operators"] == {2: 2}),
    "niagara": (Niagara(queries=(3,), stocks=20, functions=1, articles=(2,), quoted=5), joined_as_planned),
}
LASTING: Mapping[str, Study] = {
    "expansion": Expansion(history=200, sizes=(5,)),
    "aggregates": SingleAggregates(sample=2, history=200, batch=20),
    "psoup": PSoup(windows=(20, 40), joined=(10,), asked=2, batch=10, queries=(2,), probed=200),
    "routing": Routing(batch=60, batches=3, ticket_batch=20),
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
