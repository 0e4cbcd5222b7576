"""Single queries, each in a network of its own (T10.2): kept up, computed anew by this engine, and run again by DuckDB;
with and without transitivity inference (T5.1) and conditional materialization (T5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median

from benchmarks.paper import measuring
from benchmarks.paper.measuring import KeptUp, checked_alone, kept_up
from benchmarks.query_sets.qief import CHAINS, EACH, qief_uniform
from workbench.experiments.digests import check_digests
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import FED_DATABASE, Workload, examples
from workbench.options import Options

HISTORY, NEW, ALERTS = 300_000, 20_000, 6
"""Rows of T10.1.4: those before, those that are new, and those that Data1 has besides."""

SINGLE_OPTIONS: Mapping[str, Options] = {
    "kept up": Options(),
    "without inference": Options(transitivity=False),
    "conditional": Options(transitivity=False, materialize_below=0.3),
    "not conditional": Options(transitivity=False, materialize_below=1.0),
}
"""As a user has it, and the configurations of T10.2.2 and T10.2.3."""

HIDDEN_CONDITIONS: Mapping[str, str] = {
    "Q1": " AND onward.amount > 500000 AND final.amount > 500000", "Q3": " AND sent.amount > 1000000"
}  # fmt: skip
"""Conditions that follow from a query and are not in its text."""

TIMES_MEASURED = 3
"""Sessions of the queries whose configurations are compared; the median counts."""
SMALL_BATCH = 500
"""Rows of the batches before the measured one."""


@dataclass(frozen=True)
class Manual(Study):
    """Q1 to Q7, which are B.1 to B.7: Tables C.1, C.2 and C.3."""

    name, needs = "qief-manual", ("duckdb",)
    summary = "Q1-Q7 kept up, anew, and again in DuckDB; inference, materialization (T10.2, C.1-C.3)"

    history: int = option(HISTORY, "rows before the batch")
    new: int = option(NEW, "rows of the batch")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        rows = FED_DATABASE.rows(self.history + self.new + ALERTS)
        data = {"Data1": rows, "Data2": rows.slice(0, self.history + self.new)}
        figures: dict[str, dict[str, dict[str, float]]] = {}
        for called, table in data.items():
            figures[called] = {}
            for number, query in enumerate(examples(range(1, 8)), start=1):
                name = f"Q{number}"
                before = self.history - measuring.UNMEASURED * SMALL_BATCH
                work = Workload(name, FED_DATABASE.stream, table, before, SMALL_BATCH, (query,))
                figures[called][name] = _alone(name, work, query)
                progress(f"{called} {name}: {figures[called][name]}")
        table_ = [[data, name, *of.values()] for data, each in figures.items() for name, of in each.items()]
        columns = ["", "", *figures["Data1"]["Q2"]]
        return text_table(columns, [row[: len(columns)] for row in table_]), {"seconds": figures}, ()


def _alone(name: str, work: Workload, query: GeneratedQuery) -> dict[str, float]:
    """Seconds of a processor for the batch under each configuration, for computing it anew, and for DuckDB."""
    new = work.table.num_rows - work.history - measuring.UNMEASURED * work.batch
    expected = measuring.again(work, [query], work.table.num_rows)
    measured: dict[str, float] = {}
    for how, options in SINGLE_OPTIONS.items():
        taken = []
        for _ in range(TIMES_MEASURED if name in HIDDEN_CONDITIONS else 1):
            run = kept_up(
                work,
                options,
                batches=1,
                checked={query.name},
                after=lambda session: session.set_batch(work.stream, new),
            )
            check_digests(f"{name}, {how}", run.digests, expected.digests)
            taken.append(run.batch)
            measured[f"rows, {how}"] = run.rows[0]
        measured[how] = median(taken)
    measured["anew"] = measuring.anew(work, query)
    measured["DuckDB"] = expected.seconds[query.name]
    if name in HIDDEN_CONDITIONS:
        told = replace(query, duckdb_sql=query.duckdb_sql.rstrip().rstrip(";") + HIDDEN_CONDITIONS[name])
        rerun = measuring.again(work, [told], work.table.num_rows)
        check_digests(f"{name}, hidden conditions", rerun.digests, expected.digests)
        measured["DuckDB, told"] = rerun.seconds[query.name]
    return measured


@dataclass(frozen=True)
class Uniform(Study):
    """160 queries of which each is alone: Figures 10.2, 10.4 and 10.6."""

    name, needs = "qief-uniform", ("duckdb",)
    summary = "160 single queries by the rows of a batch; inference, materialization (T10.2, Figures 10.2, 10.4, 10.6)"

    each: int = option(EACH, "queries of each of the 8 variants")
    history: int = option(HISTORY, "rows before the batches")
    batch_sizes: tuple[int, ...] = option((1_000, 2_000, 4_000, 8_000, 14_000, 20_000), "rows of a batch")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        queries = qief_uniform(each=self.each)
        by_size: dict[int, dict[str, list[float]]] = {}
        for size in self.batch_sizes:
            work = self._work(size, queries)
            by_size[size] = {"kept up": [], "anew": [], "DuckDB": []}
            for query in queries:
                run = checked_alone(work, query, {"kept up": Options()})["kept up"]
                by_size[size]["kept up"].append(run.batch)
                if size == self.batch_sizes[0]:
                    by_size[size]["anew"].append(measuring.anew(work, query))
            again = measuring.again(work, queries, work.table.num_rows)
            by_size[size]["DuckDB"] = [again.seconds[query.name] for query in queries]
            progress(f"batches of {size:,}: {mean(by_size[size]['kept up']):.4f} s")
        chains = self._chains([query for query in queries if query.variant in CHAINS], progress)
        means = {size: {who: mean(taken) for who, taken in of.items() if taken} for size, of in by_size.items()}
        rows = [[size, of["kept up"], of["DuckDB"]] for size, of in means.items()]
        figures = {"queries": len(queries), "by size": means, "chains": chains}
        return text_table(["rows", "kept up", "DuckDB"], rows), figures, ()

    def _work(self, size: int, queries: tuple[GeneratedQuery, ...]) -> Workload:
        rows = FED_DATABASE.rows(self.history + (measuring.UNMEASURED + 1) * size)
        return Workload("qief-uniform", FED_DATABASE.stream, rows, self.history, size, queries)

    def _chains(
        self, queries: Sequence[GeneratedQuery], progress: StudyProgress
    ) -> dict[str, dict[str, dict[str, float]]]:
        """Means by variant and configuration: seconds of a batch of 1,000, and rows that operators looked at."""
        taken: dict[str, dict[str, list[KeptUp]]] = {}
        work = self._work(min(self.batch_sizes), tuple(queries))
        for query in queries:
            for how, run in checked_alone(work, query, SINGLE_OPTIONS).items():
                taken.setdefault(query.variant, {}).setdefault(how, []).append(run)
        progress(f"{len(queries)} chains under {len(SINGLE_OPTIONS)} configurations")
        again = measuring.again(work, queries, work.table.num_rows)
        means: dict[str, dict[str, dict[str, float]]] = {}
        for variant, by_configuration in taken.items():
            duckdb = mean(again.seconds[query.name] for query in queries if query.variant == variant)
            means[variant] = {"DuckDB": {"seconds": duckdb}} | {
                how: {
                    "seconds": mean(run.batch for run in each),
                    "rows": mean(run.rows[0] for run in each),
                    "hydration": mean(run.hydration for run in each),
                }
                for how, each in by_configuration.items()
            }
        return means
