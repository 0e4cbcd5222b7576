"""Aggregates (T10.3): shared and unshared (Tables C.4, C.5), maintained and computed anew (Table 10.4), and what
computing groups from finer groups saves (the study of vertical expansion, Figures 10.11 and 10.12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.experiments import comparison, reruns, runs
from workbench.experiments.comparison import EngineComparison, Growing
from workbench.experiments.digests import check_digests
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import Chart, comparison_charts, text_table
from workbench.experiments.study import Findings, StudyProgress, option
from workbench.experiments.workload import FED_DATABASE, Workload
from workbench.options import Options

_SETS = ("aggregate-fed", "aggregate-med")
AGGREGATES_STEP = 50
SHARED, UNSHARED, ANEW = "shared", "unshared", "unshared, anew"

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

THESIS_10_4: Mapping[str, tuple[int, int]] = {"aggregate-fed": (662, 6236), "aggregate-med": (316, 938)}
"""Table 10.4: seconds of all queries alone, aggregates kept up (IA) and computed anew (NIA)."""

PAIRS = {"pair 1": ("rbank_aba", "benef_account"), "pair 2": ("sbank_aba", "orig_account")}
"""The study's query pairs: the money of each account of each bank, and of each bank; received, and sent."""

EXPANSION_SIZES = (1, 10, 100, 1_000, 10_000, 30_000)


@dataclass(frozen=True)
class Aggregates(Growing):
    """Tables C.4, C.5 and 10.4, Figures 10.9 and 10.10, and the study of vertical expansion."""

    name = "aggregates"
    summary = "aggregates shared or not, kept up or computed anew; vertical expansion (T10.3)"

    step: int = option(AGGREGATES_STEP, "queries that come at a time")
    expansion_sizes: tuple[int, ...] = option(
        EXPANSION_SIZES, "rows of a batch in the study of vertical expansion; none to leave it out"
    )

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        texts: list[str] = []
        figures: dict[str, object] = {}
        charts: list[Chart] = []
        unshared = {UNSHARED: Options(sharing=False), ANEW: Options(sharing=False, incremental_aggregates=False)}
        for name in self.sets or _SETS:
            grown = self.grow(name, {SHARED: Options()}, progress, unshared)
            texts += [_lines(grown), table_10_4(grown)]
            figures[name] = comparison.as_json(grown)
            thesis = THESIS_C4_C5.get(name, {})
            axes = ("queries", "seconds of a batch")
            charts += comparison_charts(name, *axes, grown.seconds, (SHARED, UNSHARED), thesis)
        if self.expansion_sizes:
            studied = {pair: self._expanded(pair, progress) for pair in PAIRS}
            texts += [_study(pair, *measures) for pair, measures in studied.items()]
            figures["vertical expansion"] = studied
            charts += [
                Chart(f"vertical expansion, {pair}", "rows of a batch", "seconds of a batch", seconds, log_x=True)
                for pair, (seconds, _) in studied.items()
            ]
        return "\n\n".join(filter(None, texts)), figures, charts

    def _expanded(self, pair: str, progress: StudyProgress) -> tuple[dict[str, dict[int, float]], tuple[int, int]]:
        """Seconds of a batch by its size, with vertical expansion and without; and the groups of both queries."""
        queries = tuple(map(partial(pair_sums, PAIRS[pair]), (2, 1)))
        history = FED_DATABASE.history if self.history is None else self.history
        seconds: dict[str, dict[int, float]] = {"VE": {}, "NonVE": {}}
        groups = (0, 0)
        for size in self.expansion_sizes:
            rows = FED_DATABASE.rows(history + (runs.WARM_UP + self.batches) * size)
            work = Workload(pair, FED_DATABASE.stream, rows, history, size, queries)
            expected = reruns.in_duckdb(work, queries, rows.num_rows).digests
            groups = expected["accounts"][0], expected["banks"][0]
            for called, options in (("VE", Options()), ("NonVE", Options(vertical_expansion=False))):
                run = runs.run_batches(
                    work, [2], self.batches, options=options, checked=set(expected), progress=runs.silent
                )
                check_digests(called, run.digests, expected)
                seconds[called][size] = run.last.seconds
                progress(f"{pair}, {called}, batches of {size:,}: {run.last.seconds:.2f} s")
        return seconds, groups


def _lines(measured: EngineComparison) -> str:
    """Table C.4 or C.5, ours and the thesis's."""
    seconds, thesis = measured.seconds, THESIS_C4_C5.get(measured.work.name, {})
    others = [who for who in seconds if who not in (SHARED, ANEW)]
    rows: list[list[object]] = []
    for number, shared in seconds[SHARED].items():
        printed = thesis.get(number)
        ratio = None if printed is None else printed[1] / printed[0]
        theirs = [seconds[who][number] for who in others]
        rows.append([number, shared, *theirs, *(each / shared for each in theirs), *(printed or (None, None)), ratio])
    columns = ["queries", SHARED, *others, *(f"{who} / shared" for who in others)]
    title = f"{measured.title()}; all but shared scaled from a sample"
    return f"{title}\n{text_table([*columns, 'T SIA', 'T NS-IA', 'T NS-IA / SIA'], rows)}"


def table_10_4(measured: EngineComparison) -> str:
    """All queries alone: aggregates kept up, and computed anew."""
    if ANEW not in measured.alone:
        return ""
    name, number = measured.work.name, len(measured.work.queries)
    kept, anew = number * measured.alone[UNSHARED], number * measured.alone[ANEW]
    columns = ["Table 10.4", "kept up", "computed anew", "T IA", "T NIA"]
    return text_table(columns, [[f"{name}, {number} queries alone", kept, anew, *THESIS_10_4.get(name, (None, None))]])


def pair_sums(columns: Sequence[str], number: int) -> GeneratedQuery:
    """Sums of the first columns of a pair as groups."""
    groups = ", ".join(columns[:number])
    sql = f"SELECT {groups}, SUM(amount) total, COUNT(*) transfers FROM {FED_DATABASE.stream} GROUP BY {groups}"
    return GeneratedQuery("accounts" if number == 2 else "banks", sql, sql, "sums", {})


def _study(pair: str, seconds: Mapping[str, Mapping[int, float]], groups: tuple[int, int]) -> str:
    """Figures 10.11 and 10.12 as a table: IBT is the time of a batch, ITT that of one of its rows."""
    rows = [
        [size, ve, seconds["NonVE"][size], ve / size * 1000, seconds["NonVE"][size] / size * 1000]
        for size, ve in seconds["VE"].items()
    ]
    title = f"vertical expansion, {pair}: {groups[0]:,} groups and {groups[1]:,} (thesis: 95,000 and 10,000)"
    return f"{title}\n{text_table(['rows', 'VE IBT s', 'NonVE IBT s', 'VE ITT ms', 'NonVE ITT ms'], rows)}"
