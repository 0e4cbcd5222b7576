"""NaN in a column of numbers is said, of each way in, since which row and in how many; NULL and texts are no NaN."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest
from streams.odd_sources import Generated, Reading

from workbench.streams.corrections.declared import Changes, Corrections
from workbench.streams.drift import NAN, Drift
from workbench.streams.ingest import ingest

ROWS = {"id": [1, 2, 3, 4], "Fee": [1.0, math.nan, None, math.nan], "s": ["NaN", None, "", "nan"], "ok": [0.5] * 4}


def test_nan_of_a_stream_that_is_copied(tmp_path: Path) -> None:
    log = ingest("t", pa.table(ROWS), tmp_path / "log")
    assert log.drifts == (Drift("fee", NAN, 1, 2),)
    assert log.read(0, 4, ["fee"])["fee"].null_count == 1
    assert ingest("u", pa.table(ROWS).slice(0, 1), tmp_path / "other").drifts == ()


def test_nan_that_is_taken_back_is_said_once(tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 1], "fee": [math.nan, 2.0]})
    log = ingest("t", rows, tmp_path / "log", corrections=Corrections(Changes.UPSERT, ("id",)))
    assert [(drift.name, drift.rows) for drift in log.drifts] == [("fee", 1)]


class Numbers(Generated):
    def good(self, number: int) -> None:
        self.put({"id": number, "fee": 1.5})


class Tables(Numbers):
    def put(self, record: object) -> None:
        super().put(pa.Table.from_pylist([record]))


@pytest.mark.parametrize("kind", [Numbers, Tables])
def test_nan_of_a_stream_that_is_live(tmp_path: Path, kind: type[Generated]) -> None:
    source = kind()
    reading = Reading(tmp_path, source)
    reading.until(lambda: 0 in reading.ids)
    assert reading.log.drifts == ()
    for number in (1, 2):
        source.put({"id": number, "fee": math.nan})
        reading.until(lambda number=number: number in reading.ids)
        reading.reopen()
    assert [(drift.name, drift.type, drift.first, drift.rows) for drift in reading.log.drifts] == [("fee", NAN, 1, 2)]
    reading.close()
