"""A benchmark of sharing: batches by how much queries can share, shared, unshared, and by those who run queries again.

It runs over the sample stream FED or any Parquet file. ``--write`` writes what another system needs to run it: the
rows, how they arrive, the queries, an oracle's answers after each batch (``docs/how-to/sharing-benchmark.md``).
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from benchmarks.paper.measuring import UNMEASURED, kept_up
from benchmarks.query_sets.sharable import SPREADS, sharable
from workbench.experiments.digests import check_digests
from workbench.experiments.report import Chart, text_table
from workbench.experiments.reruns import in_duckdb, in_spark
from workbench.experiments.sample_streams.fed import fed
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import Workload
from workbench.options import Options

ROWS_STREAM = "stream_of_rows"


@dataclass(frozen=True)
class Sharability(Study):
    """Sharing by sharability, over any rows."""

    name = "sharability"
    summary = "queries that share as much as is asked for, over any rows; writes the benchmark for others"

    file: str | None = option(None, "a Parquet file with the rows; the sample stream FED unless given", of=str)
    spreads: tuple[str, ...] = option((*SPREADS,), "distributions of constants", choices=SPREADS)
    sharability: tuple[float, ...] = option((0.0, 0.5, 1.0), "how close constants are, from 0 to 1")
    queries: int = option(100, "how many")
    history: int = option(100_000, "rows that are there")
    batch: int = option(4_000, "rows of a batch")
    batches: int = option(3, "batches that are measured")
    spark: bool = option(False, "also by hand with Spark SQL, which takes long")
    write: str | None = option(None, "a folder: write rows, queries and the oracle's answers there", of=str)

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        table = self._rows()
        rows: list[list[object]] = []
        series: dict[str, dict[float, float]] = {}
        for spread in self.spreads:
            for knob in self.sharability:
                work = self._work(table, spread, knob)
                measured = self._measured(work)
                nodes = measured.pop("nodes")
                rows.append([spread, knob, nodes, *measured.values()])
                for who, seconds in measured.items():
                    series.setdefault(f"{spread}, {who}", {})[knob] = seconds
                progress(f"{spread}, sharability {knob}: {measured}")
                if self.write is not None:
                    self._write(work, Path(self.write) / f"{spread}-{knob}")
        columns = ["spread", "sharability", "weighted size", *list(measured)]
        texts = [f"seconds of a processor for a batch of {self.batch:,}", text_table(columns, rows)]
        chart = Chart("a batch by sharability", "sharability", "seconds of a processor", series)
        return "\n".join(texts), {"rows": rows}, (chart,)

    def _rows(self) -> pa.Table:
        number = self.history + (UNMEASURED + self.batches) * self.batch
        return fed(number) if self.file is None else parquet.read_table(self.file).slice(0, number)

    def _work(self, table: pa.Table, spread: str, knob: float) -> Workload:
        queries = sharable(table, ROWS_STREAM, self.queries, spread, knob)
        return Workload(f"{spread} {knob}", ROWS_STREAM, table, self.history, self.batch, queries)

    def _measured(self, work: Workload) -> dict[str, float]:
        """The weighted size, and seconds of a batch by who runs it; all answers are compared with the oracle's."""
        checked = {query.name for query in work.queries}
        shared = kept_up(work, batches=self.batches, checked=checked)
        unshared = kept_up(work, Options(sharing=False), batches=self.batches, checked=checked)
        again = in_duckdb(work, work.queries, shared.arrived, clock=time.process_time)
        check_digests("shared", shared.digests, again.digests)
        check_digests("unshared", unshared.digests, again.digests)
        measured: dict[str, float] = {
            "nodes": shared.size, "shared": shared.batch, "unshared": unshared.batch,
            "DuckDB again": again.whole(len(work.queries)),
        }  # fmt: skip
        if self.spark:
            measured["Spark again"] = in_spark(work, work.queries, shared.arrived).whole(len(work.queries))
        return measured

    def _write(self, work: Workload, folder: Path) -> None:
        """What another system needs: rows, queries, and digests of the answers after each batch."""
        folder.mkdir(parents=True, exist_ok=True)
        parquet.write_table(work.table, folder / "rows.parquet")
        ends = range(work.history, work.table.num_rows + 1, work.batch)
        answers = {end: in_duckdb(work, work.queries, end).digests for end in ends}
        told = {
            "stream": ROWS_STREAM,
            "history": work.history,
            "batch": work.batch,
            "queries": [asdict(query) for query in work.queries],
            "answers": answers,
        }
        (folder / "benchmark.json").write_text(json.dumps(told, indent=1))
