"""The benchmark of arriving reads every kind of source whole."""

from __future__ import annotations

from benchmarks.studies.arrival import WAYS_OF_ARRIVAL, Arrival


def test_every_kind_of_source_arrives_whole() -> None:
    said: list[str] = []
    text, figures, _ = Arrival(rows=2_000).run(said.append)
    assert list(figures) == list(WAYS_OF_ARRIVAL) and len(said) == len(WAYS_OF_ARRIVAL)
    assert "2,000 rows of 10 columns" in text
