"""The experiment on the order of registration, on a few queries: planned anew, any order gives one network."""

from __future__ import annotations

from benchmarks.studies.order import OrderOfRegistration, asked_of, halves, orders


def test_a_few_queries() -> None:
    asked = asked_of("fed-manual", 16)
    ordered = orders(asked, 2, lambda line: None)
    assert [one.title for one in ordered] == ["the set's order", "order 1", "order 2"]
    assert len({(one.size_anew, one.trees_anew) for one in ordered}) == 1
    dropped, never = halves(asked, lambda line: None)
    assert (dropped.size_anew, dropped.trees_anew) == (never.size_anew, never.trees_anew)


def test_its_report() -> None:
    report = OrderOfRegistration(queries=4, orders=1).report(lambda line: None)
    assert "fed-manual, 4 queries" in report.text and "planned anew at most +0.0%" in report.text
    assert report.figures.keys() == {"options", "orders", "halves"}
