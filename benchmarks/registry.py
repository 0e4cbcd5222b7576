"""All benchmarks by name."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.studies.arrival import Arrival
from benchmarks.studies.corrections import CorrectedStreams
from benchmarks.studies.cost import Cost
from benchmarks.studies.day import AnalystsDay
from benchmarks.studies.live import LiveRates
from benchmarks.studies.order import OrderOfRegistration, Register
from benchmarks.studies.overhead import Overhead
from benchmarks.studies.peers import Peers
from benchmarks.studies.questions import Nexmark, TpcH
from benchmarks.studies.sharability import Sharability
from benchmarks.studies.soak import Soaked
from benchmarks.studies.store import OfStores
from benchmarks.studies.views import ManyViews
from benchmarks.studies.workers import Workers
from workbench.experiments.studies.speed import Speed
from workbench.experiments.study import Study

BENCHMARKS: Mapping[str, type[Study]] = {
    study.name: study
    for study in (
        *(Speed, AnalystsDay, TpcH, Nexmark, ManyViews, Peers, LiveRates, CorrectedStreams),
        *(Overhead, Workers, OfStores, Soaked, OrderOfRegistration, Register, Cost, Arrival, Sharability),
    )
}
"""All benchmarks, in the order of the command line's help. ``speed`` is the experiment of that name, too."""
