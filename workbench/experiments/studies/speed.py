"""Time per batch of a whole query set, compared with alternatives of a user, scaled from samples to the whole set."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.experiments import runs
from workbench.experiments.comparison import Compared, EngineComparison, as_json
from workbench.experiments.report import Chart, text_table
from workbench.experiments.study import Findings, StudyProgress
from workbench.options import Options

_SHARED = {"shared": Options()}
DEFAULT = ("fed-manual",)
"""The set that is run unless others are chosen."""


@dataclass(frozen=True)
class Speed(Compared):
    """A batch of each query set."""

    name = "speed"
    summary = "time of a batch of a query set, compared with DuckDB, Spark and unshared"

    @property
    def stem(self) -> str:
        """With the sets that were chosen."""
        return "-".join((self.name, *(self.sets or DEFAULT)))

    def run(self, progress: StudyProgress) -> Findings:
        """Run the experiment on each query set."""
        texts, figures, bars = [], {}, {}
        for name in self.sets or DEFAULT:
            work = self.workload(name, runs.WARM_UP + self.batches)
            compared = self.compare(work, _SHARED, progress)
            texts.append(_lines(compared))
            bars[name] = _seconds_of(compared)
            figures[name] = as_json(compared) | {"seconds": bars[name]}
        who = list(dict.fromkeys(each for seconds in bars.values() for each in seconds))
        series = {each: {name: seconds[each] for name, seconds in bars.items() if each in seconds} for each in who}
        chart = Chart("time of a batch, scaled to the whole set", "query set", "seconds", series)
        return "\n\n".join(texts), figures, (chart,)


def _seconds_of(measured: EngineComparison) -> dict[str, float]:
    """Seconds of a batch for the whole set, by competitor, ourselves first."""
    return {who: seconds[len(measured.work.queries)] for who, seconds in measured.seconds.items()}


def _lines(measured: EngineComparison) -> str:
    """The comparison as text."""
    work, run = measured.work, measured.runs["shared"]
    step, low, high = run.last, min(run.last.batch_seconds), max(run.last.batch_seconds)
    rows: list[list[object]] = []
    for who, seconds in _seconds_of(measured).items():
        rows.append([who, seconds, seconds / step.seconds, measured.sampled.get(who, step.queries)])
    for rerun in measured.reruns:
        typical = rerun.typical(step.queries)
        rows.append([f"{rerun.who}, typical query", typical, typical / step.seconds, len(rerun.seconds)])
    stopped = [
        f"{rerun.who} was stopped in {', '.join(rerun.stopped)}: these count as the time they were given"
        for rerun in measured.reruns
        if rerun.stopped
    ]
    return "\n".join(
        [
            f"{work.name}: {step.queries} queries, {work.history:,} rows of history, batches of {work.batch:,}",
            f"registered in {step.register_seconds:.1f} s, weighted size {step.weighted_size:,}, "
            f"{step.operators} operators with work, peak {run.peak_gib:.1f} GiB, "
            f"a batch takes {low:.2f} to {high:.2f} s; {measured.checked['shared']} answers compared with DuckDB's",
            "",
            text_table(["seconds for a batch", "median", "× shared", "queries run"], rows),
            *stopped,
        ]
    )
