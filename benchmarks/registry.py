"""All benchmarks by name."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.studies.cacq import Niagara, Routing, Scale, TupleState
from benchmarks.studies.cost import Cost
from benchmarks.studies.day import AnalystsDay
from benchmarks.studies.peers import Peers
from benchmarks.studies.psoup import PSoup
from benchmarks.studies.questions import Nexmark, TpcH
from benchmarks.studies.single_aggregates import Expansion, SingleAggregates
from benchmarks.studies.store import OfStores
from benchmarks.studies.workers import Workers
from workbench.experiments.studies.speed import Speed
from workbench.experiments.study import Study

BENCHMARKS: Mapping[str, type[Study]] = {
    study.name: study
    for study in (
        *(Speed, AnalystsDay, TpcH, Nexmark, Peers, Workers, OfStores, Cost),
        *(SingleAggregates, Expansion, PSoup, TupleState, Scale, Routing, Niagara),
    )
}
"""All benchmarks, in the order of the command line's help: the project's own, then those of the papers.

``speed`` is the experiment of that name, too.
"""
