"""Incremental evaluation of single queries (T10.2): Q1-Q7, DuckDB and Spark (Table C.1), transitivity inference
(C.2), conditional materialization (C.3), and the size of a batch (Figure 10.2).

Each query has a network of its own, as in the thesis. Data1 is a history and one big batch whose last six records
complete the rare patterns, Data2 the same without these six. The last part of the history arrives in batches too, so
that the measured one does not pay for planning. The thesis draws Figure 10.2 from QIEFed-Uniform; here it is the mean
of Q1-Q7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median

import pyarrow as pa

from workbench.experiments import reruns, runs
from workbench.experiments.digests import Digest, check_digests
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import Chart, text_table, timing_summary
from workbench.experiments.reruns import Reruns
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import FED_DATABASE, Workload, examples
from workbench.options import Options

HISTORY, NEW, ALERTS = 300_000, 20_000, 6
"""Rows of T10.1.4: those before, those that are new, and those that Data1 has besides."""

BATCH_SIZES = (1_000, 4_000, 8_000, 20_000)
_NAMES = tuple(f"Q{i}" for i in range(1, 8))

THESIS_C1: Mapping[str, Mapping[str, Sequence[int]]] = {
    "Data1": {"Rete": (3, 1, 1, 16, 14, 1, 1), "SQL": (45, 14, 20, 20, 14, 6, 6)},
    "Data2": {"Rete": (3, 1, 1, 16, 15, 1, 1), "SQL": (31, 12, 19, 19, 17, 7, 6)},
}
THESIS_C2: Mapping[tuple[str, str], Sequence[int | None]] = {
    ("Q1", "Data1"): (3, 44, 45, 20), ("Q1", "Data2"): (3, 27, 31, 12),
    ("Q3", "Data1"): (1, 18, 20, None), ("Q3", "Data2"): (1, 17, 19, None),
}  # fmt: skip
"""Rete with and without inference, SQL as it is, and SQL with the hidden conditions added by hand."""
THESIS_C3: Mapping[str, Sequence[int]] = {"Data1": (38, 44, 45), "Data2": (17, 27, 31)}
"""Conditional, not conditional, SQL."""

HIDDEN_OPTIONS = {"Q1": " AND onward.amount > 500000 AND final.amount > 500000", "Q3": " AND sent.amount > 1000000"}
"""Hidden conditions, which follow from a query and are not in its text."""

CONDITIONAL = Options(transitivity=False, materialize_below=0.3)
NON_CONDITIONAL = Options(transitivity=False, materialize_below=1.0)
"""The configurations of T10.2.3."""


@dataclass(frozen=True)
class Incremental(Study):
    """Tables C.1, C.2 and C.3, and Figure 10.2."""

    name = "incremental"
    summary = "single queries kept up or run again; inference, materialization, batch sizes (T10.2)"

    queries: tuple[str, ...] = option(_NAMES, "queries of Appendix B", choices=_NAMES)
    history: int = option(HISTORY, "rows before the batch")
    new: int = option(NEW, "rows of the batch")
    repeats: int = option(3, "sessions for each figure of ours")
    batch_sizes: tuple[int, ...] = option(BATCH_SIZES, "of Figure 10.2; none to leave it out")
    patience: float = option(reruns.RERUN_PATIENCE, "seconds for one query of DuckDB or Spark")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        bench = _SingleQueries(self, progress)
        who = ("DuckDB", "Spark")
        evaluation = {
            data: {n: [bench.ours(n, data), *(bench.again(w, n, data) for w in who)] for n in bench.queries}
            for data in bench.rows
        }
        sizes = bench.by_batch_size(self.batch_sizes)
        texts = [
            f"each query alone: {self.history:,} rows, then a batch of {self.new:,} (in Data1, {ALERTS} more)",
            _table_c1(evaluation),
            *([_table_c2(bench)] if {"Q1", "Q3"} & set(bench.queries) else []),
            *([_table_c3(bench)] if "Q1" in bench.queries else []),
        ]
        charts = [
            Chart(f"Data1: {whose}", "query", "seconds", series)
            for whose, series in _figure_10_1(evaluation["Data1"]).items()
        ]
        if sizes:
            texts += [
                "rows of a batch (T Figure 10.2)",
                text_table(["rows", "seconds"], [[*each] for each in sizes.items()]),
            ]
            means = {"mean of the queries": sizes}
            charts.append(Chart("ours, T Figure 10.2", "rows of a batch", "seconds", means, log_x=True))
        return "\n\n".join(texts), bench.seconds, charts


class _SingleQueries:
    """Runs Q1-Q7 alone, and compares every answer with DuckDB's."""

    def __init__(self, chosen: Incremental, progress: StudyProgress) -> None:
        self._study, self._progress = chosen, progress
        queries = (replace(query, name=f"Q{i}") for i, query in enumerate(examples(range(1, 8)), start=1))
        self.queries = {query.name: query for query in queries if query.name in chosen.queries}
        rows = FED_DATABASE.rows(chosen.history + chosen.new + ALERTS)
        self.rows = {"Data1": rows, "Data2": rows.slice(0, chosen.history + chosen.new)}
        self._digests: dict[tuple[str, str], Mapping[str, Digest]] = {}
        self.seconds: dict[str, object] = {}

    def ours(self, name: str, data: str, options: Options | None = None, how: str = "incremental") -> float:
        """Median seconds of the measured batch."""
        work = self._work(self.queries[name], self.rows[data])
        seconds = []
        for _ in range(self._study.repeats):
            run = runs.run_batches(work, [1], 1, options=options, checked={name}, progress=runs.silent)
            check_digests(f"{name} on {data}, {how}", run.digests, self._expected(name, data))
            seconds.append(run.last.seconds)
        self._record(f"{name} on {data}, {how}", seconds)
        return median(seconds)

    def again(self, who: str, name: str, data: str, hidden: bool = False) -> float:
        """Seconds to run the query again over everything, maybe with its hidden conditions in the text."""
        query = self.queries[name]
        if hidden:
            query = replace(query, duckdb_sql=query.duckdb_sql.rstrip().rstrip(";") + HIDDEN_OPTIONS[name])
        rerun = self._rerun(reruns.in_spark if who == "Spark" else reruns.in_duckdb, query, data)
        check_digests(f"{name} on {data}, {who}", rerun.digests, self._expected(name, data))
        self._record(f"{name} on {data}, {who}{' with hidden conditions' if hidden else ''}", [rerun.seconds[name]])
        return rerun.seconds[name]

    def by_batch_size(self, sizes: Sequence[int]) -> dict[int, float]:
        """Mean seconds of a batch over the queries, by its rows (Figure 10.2)."""
        means: dict[int, float] = {}
        for size in sizes:
            rows = FED_DATABASE.rows(self._study.history + size)
            works = [self._work(query, rows) for query in self.queries.values()]
            seconds = [runs.run_batches(work, [1], 1, progress=runs.silent).last.seconds for work in works]
            means[size] = mean(seconds)
            self._record(f"batches of {size:,}", seconds)
        return means

    def _work(self, query: GeneratedQuery, rows: pa.Table) -> Workload:
        batch = rows.num_rows - self._study.history
        return Workload(
            query.name, FED_DATABASE.stream, rows, max(0, self._study.history - runs.WARM_UP * batch), batch, (query,)
        )

    def _rerun(self, run: Callable[..., Reruns], query: GeneratedQuery, data: str) -> Reruns:
        rows = self.rows[data]
        return run(self._work(query, rows), [query], rows.num_rows, self._study.patience)

    def _expected(self, name: str, data: str) -> Mapping[str, Digest]:
        if (name, data) not in self._digests:
            self._digests[name, data] = self._rerun(reruns.in_duckdb, self.queries[name], data).digests
        return self._digests[name, data]

    def _record(self, what: str, seconds: Sequence[float]) -> None:
        self.seconds[what] = timing_summary(seconds)
        self._progress(f"{what}: {median(seconds):.2f} s")


def _table_c1(evaluation: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    rows: list[list[object]] = []
    for data, queries in evaluation.items():
        for name, (incremental, duckdb, spark) in queries.items():
            thesis = {who: seconds[int(name[1:]) - 1] for who, seconds in THESIS_C1[data].items()}
            ratio, ours_ratio = thesis["SQL"] / thesis["Rete"], duckdb / incremental
            rows.append([data, name, incremental, duckdb, spark, ours_ratio, thesis["Rete"], thesis["SQL"], ratio])
    columns = ["Table C.1", "", "incremental", "DuckDB", "Spark", "DuckDB / ours", "T Rete", "T SQL", "T SQL / Rete"]
    return text_table(columns, rows)


def _table_c2(bench: _SingleQueries) -> str:
    rows: list[list[object]] = []
    for (name, data), thesis in THESIS_C2.items():
        if name in bench.queries:
            without = Options(transitivity=False)
            inferred = bench.ours(name, data), bench.ours(name, data, without, "no inference")
            duckdb = bench.again("DuckDB", name, data), bench.again("DuckDB", name, data, hidden=True)
            rows.append([f"{name} {data}", *inferred, *duckdb, *thesis])
    columns = ["Table C.2", "inference", "none", "DuckDB", "DuckDB, hidden added"]
    return text_table([*columns, "T Rete TI", "T Rete non-TI", "T SQL non-TI", "T SQL TI"], rows)


def _table_c3(bench: _SingleQueries) -> str:
    rows: list[list[object]] = []
    for data, thesis in THESIS_C3.items():
        conditional = bench.ours("Q1", data, CONDITIONAL, "conditional")
        other = bench.ours("Q1", data, NON_CONDITIONAL, "not conditional")
        rows.append([f"Q1 {data}", conditional, other, bench.again("DuckDB", "Q1", data), *thesis])
    columns = ["Table C.3", "conditional", "not conditional", "DuckDB", "T conditional", "T not conditional", "T SQL"]
    return text_table(columns, rows)


def _figure_10_1(queries: Mapping[str, Sequence[float]]) -> dict[str, dict[str, dict[str, float]]]:
    measured = {who: {n: s[i] for n, s in queries.items()} for i, who in enumerate(("incremental", "DuckDB", "Spark"))}
    printed = {who: {n: float(s[int(n[1:]) - 1]) for n in queries} for who, s in THESIS_C1["Data1"].items()}
    return {"ours": measured, "thesis, Figure 10.1": printed}
