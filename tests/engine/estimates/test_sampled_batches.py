"""Which batches brought a sample: the sheddings that were not caught up."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from workbench.engine.estimates.sampled_batches import sampled_batches
from workbench.errors import QueryError
from workbench.streams.cut import BatchCut
from workbench.streams.ingest import ingest
from workbench.streams.stream import Stream, replayed


def run(
    folder: Path, cuts: list[int | BatchCut], shed: str = "sample"
) -> tuple[Stream, list[tuple[int, int | BatchCut]]]:
    log = ingest("s", pa.table({"n": [*range(1_000)]}), folder / "log")
    stream = replayed(log, 100, 10, "n", shed=shed)
    for cut in cuts:
        stream, _ = stream.next(cut)
    return stream, [*enumerate(cuts, 1)]


def test_sheddings_that_were_not_caught_up(tmp_path: Path) -> None:
    cuts: list[int | BatchCut] = [50, BatchCut(passed=200, kept=0.25), 10, 0, BatchCut(passed=100, kept=0.5), 20]
    stream, batches = run(tmp_path / "a", cuts)
    assert sampled_batches(stream, batches) == {2: 0.25, 5: 0.5}
    stream, batches = run(tmp_path / "b", [*cuts, BatchCut(caught_up=200)])  # the first gap as a whole
    assert sampled_batches(stream, batches) == {5: 0.5}
    stream, batches = run(tmp_path / "c", [*cuts, BatchCut(caught_up=1_000), BatchCut(passed=50, kept=0.1)])
    assert sampled_batches(stream, batches) == {8: 0.1}
    assert sampled_batches(stream.rewound(), []) == {}


def test_what_no_sample_stands_for(tmp_path: Path) -> None:
    stream, batches = run(tmp_path / "a", [BatchCut(passed=200, kept=0.25), BatchCut(caught_up=120)])
    with pytest.raises(QueryError, match="some of what was left out of s has been caught up") as refused:
        sampled_batches(stream, batches)
    assert "catch_up()" in (refused.value.hint or "")
    stream, batches = run(tmp_path / "b", [BatchCut(taken=10, passed=200)], shed="oldest")
    with pytest.raises(QueryError, match="no sample was taken of what was left out of s: shed='oldest'"):
        sampled_batches(stream, batches)
