"""The benchmark of arriving reads every kind of source whole."""

from __future__ import annotations

from benchmarks.studies.arrival import KINDS, Arrival


def test_every_kind_of_source_arrives_whole() -> None:
    said: list[str] = []
    text, figures, _ = Arrival(rows=2_000).run(said.append)
    assert list(figures) == list(KINDS) and len(said) == len(KINDS)
    assert "2,000 rows of 10 columns" in text
