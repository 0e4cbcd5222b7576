"""Texts that are no values: each is refused, and half a column of them costs no cast for each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from workbench.sql.algebra.types import DATE, INTEGER, TIMESTAMP, DataType
from workbench.streams.convert import convert
from workbench.streams.guessing import guess

ROWS = 2_000
DAYS = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=367 * place) for place in range(ROWS)]
COLUMNS: dict[str, tuple[Callable[[int], str], str]] = {
    "day before month": (lambda place: f"{DAYS[place]:%d/%m/%Y}", "date"),
    "month before day": (lambda place: f"{DAYS[place]:%m/%d/%Y %I:%M %p}", "timestamp"),
    "year, day, month": (lambda place: f"{DAYS[place]:%Y-%d-%m}", "string"),
    "no such day": (lambda place: "29/02/2023" if place % 3 else "28/02/2023", "string"),
    "31 days": (lambda place: f"2024-02-{place % 31 + 1:02d}", "string"),
    "50 hours": (lambda place: f"2024-01-01 {place % 50:02d}:00:00", "string"),
    "a time of a day": (lambda place: f"{place % 50:02d}:{place % 70:02d}:00", "string"),
    "an offset": (lambda place: f"2024-01-01 10:00:00+{place % 100:02d}:00", "string"),
    "20 digits": (lambda place: f"{34 + place % 60}{place:018d}", "decimal(38,0)"),
    "40 digits": (lambda place: f"9{place:039d}", "string"),
    "most numbers": (lambda place: str(place) if place % 20 else f"{10**25 + place}", "decimal(38,0)"),
    "in words": (lambda place: str(place) if place % 2 else "zwölf", "string"),
    "exponents": (lambda place: f"{place % 7}.5e{place % 600}", "string"),
    "another year": (lambda place: "01.01.0000" if place % 2 else "31.01.2024", "string"),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_costs_a_few_casts_also_where_half_of_its_texts_are_refused(
    column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cast that is refused was tried again for both halves, down to each text: 196,000 casts for 20,000 texts."""
    casts, cast = list[int](), pc.cast

    def counted(*arguments: object, **options: object) -> object:
        casts.append(1)
        return cast(*arguments, **options)

    monkeypatch.setattr(pc, "cast", counted)
    text, type_ = COLUMNS[column]
    assert str(guess("x", pa.array([text(place) for place in range(ROWS)])).type) == type_
    assert len(casts) < 100


def days() -> list[str]:
    years = (1, 4, 100, 400, 1600, 1900, 2000, 2023, 2024, 2100, 9999)
    return [f"{year:04d}-{month:02d}-{day:02d}" for year in years for month in range(14) for day in range(33)]


def whole_numbers() -> list[str]:
    """Those about the largest and the smallest, and about each prefix of these."""
    largest = str(2**63 - 1)
    about = {
        int(f"{largest[:place]}{digit}{end * (18 - place)}") for place in range(19) for digit in "0189" for end in "09"
    }
    numbers = sorted(about | {0, 2**63, 2**63 - 1, 2**63 + 1, 10**18, 10**19, 10**20})
    return [f"{sign}{zeros}{number}" for number in numbers for sign in ("", "-") for zeros in ("", "000", "0" * 25)]


@pytest.mark.parametrize(
    ("texts", "type_", "arrow"),
    [
        (days(), DATE, pa.date32()),
        ([f"{day} 10:05" for day in days()], TIMESTAMP, pa.timestamp("us")),
        (
            [f"2024-01-01 {hour:02d}:{minute:02d}" for hour in range(26) for minute in range(62)],
            TIMESTAMP,
            pa.timestamp("us"),
        ),
        ([f"2024-01-01 10:05:{second:02d}" for second in range(100)], TIMESTAMP, pa.timestamp("us")),
        (whole_numbers(), INTEGER, pa.int64()),
    ],
    ids=["dates", "times", "minutes", "seconds", "whole numbers"],
)
def test_a_text_is_refused_where_arrow_refuses_it(texts: list[str], type_: DataType, arrow: pa.DataType) -> None:
    values, misfit = convert(pa.array(texts), type_)
    refused = misfit.tolist() if misfit is not None else [False] * len(texts)
    for text, value, no in zip(texts, values, refused, strict=True):
        try:
            expected = pa.scalar(text).cast(arrow)
        except pa.ArrowInvalid:
            assert no, f"{text} is read as {value}"
        else:
            assert not no and value.equals(expected), text
