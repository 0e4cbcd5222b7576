"""Combined classes batch by batch against DuckDB, over rows that are inserted, taken back and replaced on every side:
registered together and late, while batches bring nothing, after opening again and after going back."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from long import LONG, some
from oracle.combined_queries import COMBINED
from oracle.harness import FEW_ARE_MANY, Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_corrections import corrected
from pyspark.sql import SparkSession

from workbench import Options

SEEDS = range(1, 1 + int(os.environ.get("ARGUS_SEEDS", "1")))
ALWAYS = {
    "before",
    "checked_value",
    "distinct_on",
    "exists_over_windows",
    "ids_first",
    "not_in_rows",
    "path",
    "path_shorter",
    "numbers_of_distinct_on",
    "running_beside_before",
    "top_of_outer_groups",
    "values_first",
    "visited",
}
OPTIONS = [
    Options(),
    Options(sharing=False),
    Options(join_sharing=False, strategy="match-plan", reroute=False),
    Options(incremental_aggregates=False, canonicalize=False, transitivity=False, restructure=False),
]


def feeds(seed: int, rows: int = 110) -> dict[str, Feed]:
    """Both streams are corrected; the second ends before the first, so that late batches bring it nothing."""
    return {
        "t": corrected(stream(rows, seed), 50, 25, seed),
        "u": corrected(stream(rows // 2, seed + 1), 0, 30, seed + 1),
        "names": Feed(names(seed), static=True),
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("options", some(OPTIONS), ids=range(len(some(OPTIONS))))
def test_combined_classes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Options, seed: int
) -> None:
    asked = {name: case for name, case in COMBINED.items() if LONG or name in ALWAYS}
    order = random.Random(seed).sample(sorted(asked), len(asked))
    early, late = order[::2], order[1::2]
    with Oracle(spark, feeds(seed), options, path=tmp_path / "session", limits=FEW_ARE_MANY) as oracle:
        oracle.register({name: asked[name] for name in early})
        oracle.run(2)
        oracle.register({name: asked[name] for name in late})
        oracle.run(1)
        oracle.reopen()
        oracle.run(2 if LONG else 1)
        oracle.check_changes()
        if LONG:
            oracle.session.seek(2)
            oracle.batch = oracle.session.batch
            oracle.check_results(early)
