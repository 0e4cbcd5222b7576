"""Queries over two streams, half of them registered after a batch, in a session that is opened again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from oracle.harness import Case, Feed, Oracle
from oracle.test_corrections import corrected
from pyspark.sql import SparkSession


def check_over_two_streams(
    spark: SparkSession, cases: Mapping[str, Case], first: pa.Table, second: pa.Table, kind: str, path: Path
) -> None:
    """Compare answers and changes with DuckDB's.

    Args:
        spark: the Spark to be used.
        cases: queries over the streams ``r`` and ``s``.
        first, second: 120 rows of ``r``, 80 of ``s``.
        kind: ``"appended"``, or ``"corrected"``: rows are taken back, too.
        path: of the session.
    """
    feeds = {"r": Feed(first, 60, 30), "s": Feed(second, 0, 40)}
    if kind == "corrected":
        feeds = {"r": corrected(first, 80, 60, 1), "s": corrected(second, 0, 60, 2)}
    names = sorted(cases)
    with Oracle(spark, feeds, path=path) as oracle:
        oracle.register({name: cases[name] for name in names[::2]})
        oracle.run(1)
        oracle.register({name: cases[name] for name in names[1::2]})
        oracle.run(1)
        oracle.check_changes()
        oracle.reopen()
        oracle.check_results()
