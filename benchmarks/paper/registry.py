"""All experiments of the papers, the runs that repeat them, and what is left out on purpose."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

from benchmarks.paper import others, thesis
from benchmarks.paper.exhibits import Exhibit, Judgement, PaperRun
from benchmarks.paper.studies.aggregates import Expansion, SingleAggregates
from benchmarks.paper.studies.cacq import Niagara, Routing, Scale, TupleState
from benchmarks.paper.studies.growing import GrowingSet
from benchmarks.paper.studies.psoup import PSoup
from benchmarks.paper.studies.single import Manual, Uniform
from benchmarks.paper.studies.telegraph import WindowLoops
from benchmarks.paper.thesis import PANELS
from workbench.experiments.studies.network_size import NetworkSize
from workbench.experiments.studies.sharing import THESIS

VERDICT_RULES: Mapping[str, Callable[..., Judgement]] = {
    rule.__name__: rule
    for rule in (
        *(thesis.figure_10_1, thesis.figure_10_2, thesis.figure_10_3, thesis.variants, thesis.figure_10_5),
        *(thesis.single_aggregates, thesis.table_10_4, thesis.shared_aggregates, thesis.expansion),
        *(thesis.compared, thesis.times, thesis.sizes, thesis.figure_10_16),
        *(others.response, others.table_2, others.figure_9, others.psoup_11),
        *(others.figure_4, others.figure_6a, others.figure_6b, others.figure_8, others.tickets),
        *(others.figure_11a, others.figure_11b, others.texts),
    )
}
"""The rules of verdicts, as ``exhibits.toml`` names them."""

_SMALL = {"history": 20_000, "batch": 1_000, "batches": 3}
_AGGREGATES = ("Restructuring", "unshared")

RUNS: Mapping[str, PaperRun] = {
    "qief-manual": PaperRun(Manual, {"history": 150_000, "new": 4_000}),
    "qief-uniform": PaperRun(
        Uniform,
        {"each": 3, "history": 100_000, "batch_sizes": (1_000, 4_000, 20_000)},
        # 24 of the 160 queries: a query alone hydrates over all rows in each of its ten sessions and more.
        {"each": 3, "batch_sizes": (1_000, 4_000, 20_000)},
    ),
    # 24 of the 350 and 450 queries, of every variant its share: each hydrates over all rows in eight sessions.
    "single fed": PaperRun(SingleAggregates, {"sample": 24, "history": 100_000}, {"sample": 24}),
    "single med": PaperRun(
        SingleAggregates,
        {"set": "aggregate-med", "sample": 24, "history": 100_000},
        {"set": "aggregate-med", "sample": 24, "history": 300_000},
    ),
    **{
        f"growth {name}": PaperRun(
            GrowingSet,
            {"set": name, "configurations": _AGGREGATES, "queries": 150, "step": 50, "history": 30_000, "batch": 2_000},
            # 200 of 350 and 450: unshared, each has indexes and groups of its own over the history, gigabytes in all.
            {"set": name, "configurations": _AGGREGATES, "step": 100, "queries": 200, "history": 100_000},
        )
        for name in ("aggregate-fed", "aggregate-med")
    },
    "expansion": PaperRun(Expansion, {"history": 100_000, "sizes": (1, 10, 100, 1_000, 10_000)}),
    **{
        # Some of the hundreds of queries: three of the configurations need Spark, for a plan or more of each query, and
        # six networks in turn are registered over the history. The sets that the thesis prints have as many again.
        f"growth {name}": PaperRun(
            GrowingSet,
            {**_SMALL, "set": name, "queries": 64, "step": 32},
            {"set": name, "queries": 200 if name in THESIS else 64, "history": 100_000},
        )
        for name in PANELS
    },
    "sizes": PaperRun(
        NetworkSize, {"sets": ("fed-manual", "med"), "queries": 200}, {"sets": ("fed-manual", "med")}
    ),
    "psoup": PaperRun(PSoup, {"asked": 10, "queries": (10, 50, 200), "probed": 8_000}),
    "cacq-state": PaperRun(TupleState, {"queries": (5, 50, 500)}),
    "cacq-scale": PaperRun(Scale, {}),
    "cacq-routing": PaperRun(Routing, {"batch": 500, "batches": 9, "ticket_batch": 200}),
    "cacq-niagara": PaperRun(
        Niagara,
        {"queries": (1, 20, 50, 100), "stocks": 1_000, "functions": 10, "articles": (1, 10, 100), "quoted": 200},
        # 10 of 100 queries with functions: the answers of all have 22.5 million rows for 100 articles of a stock.
        {"functions": 10},
    ),
    "telegraph-texts": PaperRun(WindowLoops, {}),
}  # fmt: skip
"""What measures them, in the order in which it is run."""


@dataclass(frozen=True)
class LeftOut:
    """Something of a paper that is not here, on purpose.

    Attributes:
        paper: which one.
        what: a table, a figure, a mechanism.
        why: the reason.
    """

    paper: str
    what: str
    why: str


@dataclass(frozen=True)
class Mechanism:
    """Something of a paper that is here.

    Attributes:
        paper: which one.
        sections: where it stands there.
        what: what it does.
        module: which has it.
    """

    paper: str
    sections: tuple[str, ...]
    what: str
    module: str


def _declared(file: str = "exhibits.toml") -> Mapping[str, Any]:
    return tomllib.loads(resources.files("benchmarks.paper").joinpath(file).read_text(encoding="utf-8"))


def _exhibit(declared: Mapping[str, Any]) -> Exhibit:
    judge = partial(VERDICT_RULES[declared["rule"]], **declared.get("with", {}))
    said = {name: declared.get(name, "") for name in ("paper", "number", "title", "claim", "finding")}
    return Exhibit(**said, runs=tuple(declared["runs"]), judge=judge)


EXHIBITS: tuple[Exhibit, ...] = tuple(map(_exhibit, _declared()["exhibit"]))
"""In the order of the page."""

LEFT_OUT: tuple[LeftOut, ...] = tuple(LeftOut(**declared) for declared in _declared()["left_out"])
"""The table of ``docs/comparison.md``."""

MECHANISMS: tuple[Mechanism, ...] = tuple(
    Mechanism(paper, tuple(sections.split(", ")), what, module)
    for paper, of in _declared("mechanisms.toml").items()
    for sections, what, module in of
)
"""The other table there."""
