"""The benchmark of sharing: constants come closer by the knob, and a folder has what another system needs."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmarks.query_sets.sharable import SPREADS, TableRoles, sharable
from benchmarks.studies.sharability import Sharability
from workbench.errors import WorkbenchError
from workbench.experiments.runs import silent

ROWS = pa.table({"id": range(300), "k": [n % 120 for n in range(300)], "g": [n % 3 for n in range(300)]})


@pytest.mark.parametrize("spread", SPREADS)
def test_the_knob_brings_constants_together(spread: str) -> None:
    different = [len({query.sql for query in sharable(ROWS, "t", 60, spread, knob)}) for knob in (0.0, 0.9, 1.0)]
    assert different == sorted(different, reverse=True)
    assert different[-1] == len({query.variant for query in sharable(ROWS, "t", 60, spread)})
    assert sharable(ROWS, "t", 9, spread) == sharable(ROWS, "t", 9, spread)


def test_columns_have_roles() -> None:
    roles = TableRoles.of(ROWS)
    assert (list(roles.numbers), roles.groups, roles.keys) == (["id", "k", "g"], ("g",), ("k",))
    with pytest.raises(WorkbenchError):
        sharable(pa.table({"text": ["a", "b"]}), "t", 1)
    with pytest.raises(WorkbenchError):
        sharable(ROWS, "t", 1, sharability=1.5)


def test_it_runs_over_any_rows_and_writes_the_benchmark(tmp_path: Path) -> None:
    parquet.write_table(ROWS, tmp_path / "rows.parquet")
    study = Sharability(
        str(tmp_path / "rows.parquet"), ("uniform",), (0.5,), 3, 200, 20, 1, write=str(tmp_path / "written")
    )
    text, figures, _ = study.run(silent)
    assert "uniform" in text and figures
    told = json.loads((tmp_path / "written" / "uniform-0.5" / "benchmark.json").read_text())
    assert set(told["answers"]) == {"200", "220", "240", "260"}
    assert told["answers"]["260"].keys() == {query["name"] for query in told["queries"]}
