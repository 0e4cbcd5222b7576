"""Aggregates of single queries (T10.3.1), kept up or computed anew; groups computed from finer groups (T10.3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks import measuring
from benchmarks.measuring import checked_alone, kept_up
from workbench.experiments.digests import check_digests
from workbench.experiments.query_sets.generated import GeneratedQuery
from workbench.experiments.report import text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import BATCH_ROWS, FED_DATABASE, Workload, spread, workload
from workbench.options import Options

ALONE: Mapping[str, Options] = {
    "kept up": Options(sharing=False), "groups anew": Options(sharing=False, incremental_aggregates=False)
}  # fmt: skip
EXPANSION: Mapping[str, Options] = {"VE": Options(), "NonVE": Options(vertical_expansion=False)}
PAIRS = {"pair 1": ("rbank_aba", "benef_account"), "pair 2": ("sbank_aba", "orig_account")}
"""The query pairs of Figures 10.11 and 10.12: money by account of each bank, and by bank; received, and sent."""
LEAST_BATCHES, MOST_BATCHES, MEASURED_ROWS = 5, 31, 60_000
"""Batches that are measured for groups from finer groups: small ones take milliseconds, of which noise is a third."""


@dataclass(frozen=True)
class SingleAggregates(Study):
    """Figures 10.7 and 10.8, and Table 10.4: each query of a set alone."""

    name, needs = "single-aggregates", ("duckdb",)
    summary = "each aggregate alone, kept up or computed anew (T10.3.1, Figures 10.7, 10.8, Table 10.4)"

    set: str = option("aggregate-fed", "the query set")
    sample: int | None = option(None, "how many, of all variants; all unless given", of=int)
    history: int | None = option(None, "rows of history; the thesis's number unless given", of=int)
    batch: int = option(BATCH_ROWS, "rows of a batch")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        work = workload(self.set, batches=measuring.UNMEASURED + 1, history=self.history, batch=self.batch)
        queries = spread(work.queries, self.sample or len(work.queries))
        taken: list[dict[str, float]] = []
        for query in queries:
            measured = checked_alone(work, query, ALONE)
            again = measuring.again(work, [query], work.table.num_rows)
            each = {how: run.batch for how, run in measured.items()} | {"anew": measuring.anew(work, query)}
            taken.append({**each, "DuckDB": again.seconds[query.name], "rows": measured["kept up"].rows[-1]})
            progress(f"{query.name}: {taken[-1]}")
        taken.sort(key=lambda each: each["anew"])
        whole = {how: sum(each[how] for each in taken) for how in (*ALONE, "anew", "DuckDB")}
        figures = {"set": self.set, "queries": len(queries), "each": taken, "whole": whole}
        return text_table(["seconds of all", *whole], [[self.set, *whole.values()]]), figures, ()


@dataclass(frozen=True)
class Expansion(Study):
    """Figures 10.11 and 10.12, and Table 10.5: pair_sums of banks from pair_sums of their accounts."""

    name, needs = "expansion", ("duckdb",)
    summary = "groups computed from finer groups, by the rows of a batch (T10.3.3, Figures 10.11, 10.12)"

    history: int = option(FED_DATABASE.history, "rows of history")
    sizes: tuple[int, ...] = option((1, 10, 100, 1_000, 10_000, 30_000), "rows of a batch")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        figures: dict[str, dict[str, object]] = {}
        rows: list[list[object]] = []
        for pair, columns in PAIRS.items():
            queries = tuple(map(partial(pair_sums, columns), (2, 1)))
            seconds: dict[str, dict[int, float]] = {how: {} for how in EXPANSION}
            groups: dict[str, int] = {}
            for size in self.sizes:
                batches = min(MOST_BATCHES, max(LEAST_BATCHES, MEASURED_ROWS // size))
                table = FED_DATABASE.rows(self.history + (measuring.UNMEASURED + batches) * size)
                work = Workload(pair, FED_DATABASE.stream, table, self.history, size, queries)
                expected = measuring.again(work, queries, table.num_rows).digests
                groups = {name: digest[0] for name, digest in expected.items()}
                for how, options in EXPANSION.items():
                    run = kept_up(work, options, batches=batches, checked=set(expected))
                    check_digests(how, run.digests, expected)
                    seconds[how][size] = run.batch
            figures[pair] = {"groups": groups, "seconds": seconds}
            rows += [[pair, size, seconds["VE"][size], seconds["NonVE"][size]] for size in self.sizes]
            progress(f"{pair}: {seconds}")
        return text_table(["", "rows", *EXPANSION], rows), figures, ()


def pair_sums(columns: Sequence[str], number: int) -> GeneratedQuery:
    """Sums of the first columns of a pair as groups."""
    groups = ", ".join(columns[:number])
    sql = f"SELECT {groups}, SUM(amount) total, COUNT(*) transfers FROM {FED_DATABASE.stream} GROUP BY {groups}"
    return GeneratedQuery("accounts" if number == 2 else "banks", sql, sql, "sums", {})
