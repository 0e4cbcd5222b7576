"""All benchmarks by name."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.studies.cost import Cost
from benchmarks.studies.day import AnalystsDay
from benchmarks.studies.peers import Peers
from benchmarks.studies.questions import Nexmark, TpcH
from benchmarks.studies.sharability import Sharability
from benchmarks.studies.store import OfStores
from benchmarks.studies.workers import Workers
from workbench.experiments.studies.speed import Speed
from workbench.experiments.study import Study

BENCHMARKS: Mapping[str, type[Study]] = {
    study.name: study for study in (Speed, AnalystsDay, TpcH, Nexmark, Peers, Workers, OfStores, Cost, Sharability)
}
"""All benchmarks, in the order of the command line's help. ``speed`` is the experiment of that name, too."""
