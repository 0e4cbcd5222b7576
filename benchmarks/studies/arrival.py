"""What it takes until a source is a stream: rows a second, and seconds of the processor, which other programs spare.

Each source has the same rows, of ten columns: whole numbers, doubles, decimals, short and long texts, dates, times, and
NULL among them. It is copied as ``add_stream`` does it, without Spark.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from workbench.experiments.report import text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.streams.ingest import ingest

_WORDS = np.array(
    ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
)
_NULLS = 0.05


@dataclass(frozen=True)
class Arrival(Study):
    """Sources that become streams."""

    name = "arrival"
    summary = "rows a second of sources that become streams, and the processor's seconds"

    rows: int = option(1_000_000, "rows of each source")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        table = mixed_rows(self.rows)
        lines: list[list[object]] = []
        figures: dict[str, object] = {}
        with tempfile.TemporaryDirectory(prefix="argus-arrival-") as name:
            for kind, write in WAYS_OF_ARRIVAL.items():
                source, folder = write(table, Path(name)), Path(name) / f"log-{kind}"
                begun, worked = time.monotonic(), time.process_time()
                log = ingest(kind, source, folder, columns=_DECLARED.get(kind))
                seconds, cpu = time.monotonic() - begun, time.process_time() - worked
                if log.rows != table.num_rows or log.misfits:
                    raise AssertionError(
                        f"{kind}: {log.rows:,} rows of {table.num_rows:,}, {log.misfits:,} quarantined"
                    )
                progress(f"{kind}: {seconds:.1f} s, {cpu:.1f} s of the processor")
                lines.append([kind, seconds, cpu, table.num_rows / seconds])
                figures[kind] = {"seconds": seconds, "cpu": cpu}
        title = f"{table.num_rows:,} rows of {table.num_columns} columns"
        return f"{title}\n\n{text_table(['source', 'seconds', 'cpu, s', 'rows a second'], lines)}", figures, ()


def mixed_rows(rows: int) -> pa.Table:
    """Rows of all kinds of columns, always the same."""
    of = np.random.default_rng(5)

    def some(values: pa.Array) -> pa.Array:
        return pc.if_else(pa.array(of.random(rows) < _NULLS), pa.scalar(None, values.type), values)

    def texts(words: int, distinct: int) -> pa.Array:
        known = pa.array([" ".join(row) for row in _WORDS[of.integers(0, len(_WORDS), (distinct, words))]])
        return known.take(pa.array(of.integers(0, distinct, rows)))

    cents = pa.array(of.integers(-(10**7), 10**9, rows)).cast(pa.decimal128(19, 0))
    moments = np.sort(of.integers(0, 10**11, rows)) * 1_000 + 1_577_836_800_000_000
    columns = {
        "id": pa.array(np.arange(rows)),
        "quantity": some(pa.array(of.integers(0, 10**6, rows))),
        "price": some(pa.array(np.round(of.random(rows) * 1_000, 4))),
        "ratio": some(pa.array(of.random(rows))),
        "amount": some(pc.multiply(cents, pa.scalar(Decimal("0.01")))),
        "code": some(texts(1, 12)),
        "city": texts(2, 500),
        "note": some(texts(12, 5_000)),
        "day": some(pa.array(18_262 + of.integers(0, 2_000, rows), pa.int32()).cast(pa.date32())),
        "at": pa.array(moments).cast(pa.timestamp("us")),
    }
    return pa.table(columns)


def _parquet(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "x.parquet")
    return folder / "x.parquet"


def _csv(table: pa.Table, folder: Path) -> Path:
    csv.write_csv(table, folder / "x.csv")
    return folder / "x.csv"


def _gzip(table: pa.Table, folder: Path) -> Path:
    with gzip.open(folder / "x.csv.gz", "wb", compresslevel=1) as file:
        file.write(_csv(table, folder).read_bytes())
    return folder / "x.csv.gz"


def _patterns(table: pa.Table, folder: Path) -> Path:
    day = table.schema.get_field_index("day")
    table = table.set_column(day, "day", pc.strftime(table["day"], "%d.%m.%Y"))
    csv.write_csv(table, folder / "patterns.csv")
    return folder / "patterns.csv"


def _json(table: pa.Table, folder: Path) -> Path:
    with (folder / "x.jsonl").open("w") as file:
        for batch in table.to_batches(10_000):
            file.writelines(json.dumps(row, default=str) + "\n" for row in batch.to_pylist())
    return folder / "x.jsonl"


WAYS_OF_ARRIVAL: Mapping[str, Callable[[pa.Table, Path], object]] = {
    "Parquet": _parquet,
    "CSV": _csv,
    "CSV, gzip": _gzip,
    "CSV, days of a pattern": _patterns,
    "pandas": lambda table, folder: table.to_pandas(),
    "JSON lines": _json,
}
_DECLARED: Mapping[str, Mapping[str, str]] = {"CSV, days of a pattern": {"day": "date d.M.yyyy"}}
