"""Sharing of selections and joins (T10.4): time of a batch by number of queries under each configuration of Table 10.6
(Tables C.6 and C.8), compared with this engine as a user has it, without sharing, DuckDB and Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.experiments import comparison
from workbench.experiments.comparison import EngineComparison, Growing
from workbench.experiments.report import comparison_charts, text_table
from workbench.experiments.studies.network_size import CONFIGURATIONS
from workbench.experiments.study import Findings, StudyProgress, option
from workbench.options import Options

_SETS = ("fed-manual", "med")
STEP = 100

ALL: Mapping[str, Options] = {
    **CONFIGURATIONS,
    "MPlan_NCanon": Options(strategy="match-plan", canonicalize=False, restructure=False),
}
"""The configurations of Table 10.6, ours that restructures, and that of NiagaraCQ (T10.4)."""

PRINTED = ("NonJoinS", "MPlan_NCanon", "NonCanon", "MatchPlan", "AllSharing")

THESIS: Mapping[str, Mapping[int, tuple[float, ...]]] = {
    "fed-manual": {
        100: (0.5155, 0.492, 0.4765, 0.453, 0.5545), 200: (2.6875, 1.9845, 2.602, 0.922, 0.9765),
        300: (38.008, 9.867, 9.2185, 0.922, 0.961), 400: (60.774, 42.672, 40.5935, 3.266, 1.8825),
        500: (95.3205, 58.883, 53.1175, 12.242, 2.633), 600: (131.687, 69.8985, 61.0315, 26.0625, 23.8125),
        700: (147.063, 85.922, 66.594, 33.969, 29.0935), 768: (190.4925, 93.461, 73.711, 39.672, 32.7185),
    },
    "med": {
        100: (18.4765, 12.195, 12.2035, 12.047, 12.3355), 200: (42.4295, 30.75, 30.9765, 30.1405, 30.5235),
        300: (67.75, 52.656, 49.094, 48.32, 35.5855), 400: (89.5235, 61.4225, 58.945, 55.828, 53.727),
        500: (107.2655, 67.688, 66.281, 64.4925, 60.6), 565: (114.8045, 69.765, 66.7975, 67.8515, 61.641),
    },
}  # fmt: skip
"""Tables C.6 and C.8: seconds under ``PRINTED`` at each number of queries."""


@dataclass(frozen=True)
class Sharing(Growing):
    """Tables C.6 and C.8, and Figures 10.13 to 10.15 in one chart for each set."""

    name = "sharing"
    summary = "time of a batch by number of queries and configuration (T10.4)"

    step: int = option(STEP, "queries that come at a time")
    configurations: tuple[str, ...] = option((), "all unless given", choices=ALL)

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        configurations = {name: ALL[name] for name in self.configurations or ALL}
        texts, figures, charts = [], {}, []
        for name in self.sets or _SETS:
            grown = self.grow(name, configurations, progress)
            texts.append(_lines(grown))
            figures[name] = comparison.as_json(grown)
            thesis = THESIS.get(name, {})
            charts += comparison_charts(name, "queries", "seconds of a batch", grown.seconds, PRINTED, thesis)
        return "\n\n".join(texts), figures, charts


def _lines(measured: EngineComparison) -> str:
    """Table C.6 or C.8: ours, then the thesis's. A dash: not measured, since a batch took too long before."""
    seconds, thesis = measured.seconds, THESIS.get(measured.work.name, {})
    numbers = sorted({number for steps in seconds.values() for number in steps})
    rows = [[number, *(steps.get(number) for steps in seconds.values())] for number in numbers]
    printed = [[number, *figures] for number, figures in thesis.items() if number in numbers]
    title = f"{measured.title()}; {', '.join(measured.alone)} scaled from a sample"
    parts = [title, text_table(["queries", *seconds], rows)]
    return "\n".join([*parts, *(["the thesis's", text_table(["queries", *PRINTED], printed)] if printed else [])])
