"""Aggregates (T10.3): shared and unshared (Tables C.4 and C.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.experiments import comparison
from workbench.experiments.comparison import EngineComparison, Growing
from workbench.experiments.report import Chart, comparison_charts, text_table
from workbench.experiments.study import Findings, StudyProgress, option
from workbench.options import Options

_SETS = ("aggregate-fed", "aggregate-med")
AGGREGATES_STEP = 50
SHARED, UNSHARED = "shared", "unshared"

THESIS_C4_C5: Mapping[str, Mapping[int, tuple[float, float]]] = {
    "aggregate-fed": {
        50: (15.93, 131.219), 100: (16.2035, 237.586), 150: (15.9445, 641.783), 200: (32.2495, 831.7605),
        250: (32.581, 1076.437), 300: (39.6875, 1440.344), 350: (42.025, 1477.453),
    },
    "aggregate-med": {
        50: (20.5715, 20.7185), 100: (22.743, 23.31872), 150: (79.7855, 79.01062), 200: (81.6715, 87.923),
        250: (86.2245, 129.141), 300: (94.716, 132.42), 350: (111.4765, 132.42), 400: (118.345, 139.795),
        450: (124.253, 158.049),
    },
}  # fmt: skip
"""Tables C.4 and C.5: seconds shared (SIA) and not (NS-IA) by number of queries."""


@dataclass(frozen=True)
class Aggregates(Growing):
    """Tables C.4 and C.5, Figures 10.9 and 10.10."""

    name = "aggregates"
    summary = "aggregates shared or not (T10.3)"

    step: int = option(AGGREGATES_STEP, "queries that come at a time")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        texts: list[str] = []
        figures: dict[str, object] = {}
        charts: list[Chart] = []
        for name in self.sets or _SETS:
            grown = self.grow(name, {SHARED: Options()}, progress)
            texts.append(_lines(grown))
            figures[name] = comparison.as_json(grown)
            thesis = THESIS_C4_C5.get(name, {})
            axes = ("queries", "seconds of a batch")
            charts += comparison_charts(name, *axes, grown.seconds, (SHARED, UNSHARED), thesis)
        return "\n\n".join(texts), figures, charts


def _lines(measured: EngineComparison) -> str:
    """Table C.4 or C.5, ours and the thesis's."""
    seconds, thesis = measured.seconds, THESIS_C4_C5.get(measured.work.name, {})
    others = [who for who in seconds if who != SHARED]
    rows: list[list[object]] = []
    for number, shared in seconds[SHARED].items():
        printed = thesis.get(number)
        ratio = None if printed is None else printed[1] / printed[0]
        theirs = [seconds[who][number] for who in others]
        rows.append([number, shared, *theirs, *(each / shared for each in theirs), *(printed or (None, None)), ratio])
    columns = ["queries", SHARED, *others, *(f"{who} / shared" for who in others)]
    title = f"{measured.title()}; all but shared scaled from a sample"
    return f"{title}\n{text_table([*columns, 'T SIA', 'T NS-IA', 'T NS-IA / SIA'], rows)}"
