"""Query sets that grow (T10.3.2, T10.4): a batch and the network by number of queries and configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.paper import measuring
from benchmarks.processes import processor_seconds_of_all
from workbench.engine.spark.in_process import NeedsSparkError
from workbench.experiments import runs
from workbench.experiments.digests import Digest, check_digests
from workbench.experiments.report import text_table
from workbench.experiments.studies.sharing import ALL
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import BATCH_ROWS, Workload, spread, workload
from workbench.options import Options

COMPARED_OPTIONS: Mapping[str, Options] = {**ALL, "unshared": Options(sharing=False)}
"""Those of Table 10.6, that of NiagaraCQ, what a user has (``Restructuring``), and nothing shared."""


@dataclass(frozen=True)
class GrownSet:
    """One set under one configuration.

    Attributes:
        seconds: of a processor for a batch, by number of queries.
        sizes: weighted, by number of queries.
        spark: whether Spark was needed.
        checked: answers that were equal to DuckDB's.
    """

    seconds: Mapping[int, float]
    sizes: Mapping[int, int]
    spark: bool
    checked: int


@dataclass(frozen=True)
class GrowingSet(Study):
    """A set under some configurations."""

    name, needs = "growth", ("duckdb",)
    summary = "a batch and the network by number of queries and configuration (T10.3.2, T10.4)"

    set: str = option("fed-manual", "the query set", positional=True)
    configurations: tuple[str, ...] = option((*ALL,), "what is compared", choices=COMPARED_OPTIONS)
    queries: int | None = option(None, "how many, from the first; all unless given", of=int)
    step: int = option(100, "queries that come at a time")
    history: int | None = option(None, "rows of history; the thesis's number unless given", of=int)
    batch: int = option(BATCH_ROWS, "rows of a batch")
    batches: int = option(3, "batches that are measured at each number")
    sample: int = option(8, "queries whose answers are compared with DuckDB's")
    longest: float = option(30.0, "a configuration grows no more once a batch took more seconds of a processor")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        number = len(workload(self.set, batches=0, history=300, queries=self.queries).queries)
        steps = [*range(self.step, number, self.step), number]
        work = workload(
            self.set,
            batches=len(steps) * (measuring.UNMEASURED + self.batches),
            history=self.history,
            batch=self.batch,
            queries=number,
        )
        expected: dict[int, Mapping[str, Digest]] = {}
        grown: dict[str, GrownSet] = {}
        for called in self.configurations:
            grown[called] = self._grown(work, steps, COMPARED_OPTIONS[called], expected)
            last = grown[called].seconds[max(grown[called].seconds)]
            progress(f"{self.set}, {called}: {last:.3f} s a batch, size {max(grown[called].sizes.values()):,}")
        rows = [[n, *(each.seconds.get(n) for each in grown.values())] for n in steps]
        figures = {
            "queries": number,
            "history": work.history,
            "seconds": {called: each.seconds for called, each in grown.items()},
            "sizes": {called: each.sizes for called, each in grown.items()},
            "spark": [called for called, each in grown.items() if each.spark],
            "checked": sum(each.checked for each in grown.values()),
        }
        return text_table(["queries", *grown], rows), figures, ()

    def _grown(
        self, work: Workload, steps: Sequence[int], options: Options, expected: dict[int, Mapping[str, Digest]]
    ) -> GrownSet:
        """The set in a session, on Spark where it is needed."""
        try:
            return self._grow(work, steps, options, expected, spark=False)
        except NeedsSparkError:
            return self._grow(work, steps, options, expected, spark=True)

    def _grow(
        self,
        work: Workload,
        steps: Sequence[int],
        options: Options,
        expected: dict[int, Mapping[str, Digest]],
        spark: bool,
    ) -> GrownSet:
        seconds: dict[int, float] = {}
        sizes: dict[int, int] = {}
        sample = spread(work.queries[: steps[0]], self.sample)
        registered = 0
        with measuring.opened(work, options, spark) as session:
            for number in steps:
                runs.register_queries(session, work.of(work.queries[registered:number]))
                registered = number
                session.run(measuring.UNMEASURED)
                taken = []
                for _ in range(self.batches):
                    before = processor_seconds_of_all()
                    session.run(1)
                    taken.append(processor_seconds_of_all() - before)
                seconds[number], sizes[number] = median(taken), session.network.weighted_size()
                if seconds[number] > self.longest:
                    break
            rows = session.streams[work.stream].position
            digests = {query.name: runs.run_digest(session.query(query.name)) for query in sample}
        if rows not in expected:
            expected[rows] = measuring.again(work, sample, rows).digests
        return GrownSet(seconds, sizes, spark, check_digests(work.name, digests, expected[rows]))
