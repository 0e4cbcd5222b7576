"""Constraints of streams as they are declared: what is accepted, and what is refused with a hint."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP
from workbench.sql.constraints import ArrivalOrder
from workbench.streams.declared_constraints import constraints_of, first_fall
from workbench.streams.lateness import lateness_of

COLUMNS = {
    "Flights": (("tailnum", STRING), ("year", INTEGER), ("day", DATE), ("ts", TIMESTAMP), ("fee", DOUBLE)),
    "Planes": (("tailnum", STRING), ("year", INTEGER), ("fee", DOUBLE)),
}


@pytest.mark.parametrize(
    ("references", "ordered", "texts"),
    [
        ({"tailnum": "Planes.tailnum"}, None, ["Flights.tailnum references Planes.tailnum"]),
        ("TailNum=planes", "day", ["Flights.tailnum references Planes.tailnum", "Flights.day is ordered"]),
        (["tailnum,year=Planes(tailnum, year)"], None, ["Flights (tailnum, year) references Planes (tailnum, year)"]),
        ({"(year, tailnum)": "Planes"}, {"year": 3}, ["Flights (year, tailnum) references Planes (year, tailnum)"]),
        ("tailnum=Planes within 9 rows", None, ["Flights.tailnum references Planes.tailnum within 9 rows"]),
        (
            {"tailnum,year": "Planes(tailnum, year) WITHIN 1 row"},
            None,
            ["Flights (tailnum, year) references Planes (tailnum, year) within 1 row"],
        ),
        (None, ["ts=1 hour", "day=2 days"], ["Flights.ts is ordered, within 1 hour"]),
        (None, {"ts": dt.timedelta(minutes=5)}, ["Flights.ts is ordered, within 5 minutes"]),
        ("year=Flights.year", None, ["Flights.year references Flights.year"]),
    ],
)
def test_what_is_declared(references: object, ordered: object, texts: list[str]) -> None:
    found = [str(declared) for declared in constraints_of("Flights", references, ordered, COLUMNS)]
    assert found[: len(texts)] == texts


@pytest.mark.parametrize(
    ("references", "ordered", "message"),
    [
        ({"tailnum": "Plains.tailnum"}, None, "no stream Plains.*hint: .*Planes"),
        ({"tailnum": "Planes.tail"}, None, "Planes has no column tail.*hint: .*tailnum"),
        ({"tail": "Planes.tailnum"}, None, "Flights has no column tail.*hint: .*tailnum"),
        ({"tailnum": "Planes.year"}, None, "Flights.tailnum is string, and Planes.year is integer.*one type"),
        ({"fee": "Planes.fee"}, None, "no DOUBLE"),
        ({"tailnum": "Planes(tailnum, year)"}, None, "as many columns"),
        ({"tailnum": 3}, None, "references 3.*hint: 'planes.tailnum'"),
        ({"tailnum": "a.b.c"}, None, "references 'a.b.c'"),
        ("tailnum=Planes within 2 days", None, "no stream Planes within 2 days.*late by rows: .*within 100 rows"),
        (7, None, "references is 7.*hint: a mapping"),
        (None, "tailnum", "Flights.tailnum is string, and has no order.*dates, timestamps and integers"),
        (None, {"day": "1 hour"}, "has whole days"),
        (None, {"year": "1 hour"}, "a number"),
        (None, "day, ts", "name each by itself"),
    ],
)
def test_what_is_refused(references: object, ordered: object, message: str) -> None:
    with pytest.raises(StreamError, match=f"(?s){message}"):
        constraints_of("Flights", references, ordered, COLUMNS)


def test_a_lateness_makes_event_times_ordered() -> None:
    lateness = lateness_of("2 days", "day", DATE)
    (order,) = constraints_of("Flights", None, None, COLUMNS, lateness)
    assert order.constraint == ArrivalOrder("Flights", "day", 2, "2 days", kept=True)
    (own,) = constraints_of("Flights", None, {"day": "5 days"}, COLUMNS, lateness)
    assert own.constraint == ArrivalOrder("Flights", "day", 5, "5 days")


def test_the_first_row_that_falls() -> None:
    rows, order = pa.table({"n": pa.array([5, None, 9, 8, 3])}), ArrivalOrder("f", "n", 2, "2")
    assert first_fall(order, rows, None) == "n 3 is more than 2 before one that came earlier"
    assert not first_fall(order, rows.slice(0, 4), 7)
    assert first_fall(order, rows.slice(0, 4), 8) == "n 5 is more than 2 before one that came earlier"
    assert first_fall(ArrivalOrder("f", "n"), rows, None) == "n 8 is before one that came earlier"
