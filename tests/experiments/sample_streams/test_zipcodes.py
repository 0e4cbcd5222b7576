"""Distances between ZIP codes."""

from __future__ import annotations

import pytest

from workbench.experiments.sample_streams.zipcodes import (
    EARTH_RADIUS_MILES,
    haversine,
    massachusetts,
    town_ids,
    zipdistance,
)


@pytest.mark.parametrize(
    ("zip1", "zip2", "miles"),
    [
        ("02108", "02139", 2),  # Boston, Cambridge
        ("02108", "01608", 38),  # Worcester
        ("02108", "02601", 61),  # Hyannis
        ("02108", "01103", 79),  # Springfield
        ("02108", "01201", 113),  # Pittsfield
        ("02108", "02554", 88),  # Nantucket
    ],
)
def test_known_distances(zip1: str, zip2: str, miles: float) -> None:
    found = zipdistance(zip1, zip2)
    assert found == pytest.approx(miles, rel=0.04, abs=1.0)
    assert found == zipdistance(zip2, zip1)


def test_no_distance_from_a_place_to_itself() -> None:
    assert {zipdistance(code, code) for code in massachusetts()} == {0.0}


@pytest.mark.parametrize("pair", [(None, "02108"), ("02108", None), (None, None)])
def test_null_in_null_out(pair: tuple[str | None, str | None]) -> None:
    assert zipdistance(*pair) is None


@pytest.mark.parametrize("unknown", ["", "00000", "03060", "2108", "02108 ", "Boston"])
def test_an_unknown_zip_code_has_no_distance(unknown: str) -> None:
    assert zipdistance(unknown, "02108") is None
    assert zipdistance("02108", unknown) is None


def test_every_centre_is_in_massachusetts() -> None:
    for place in massachusetts().values():
        assert 41.2 < place.latitude < 42.9, place
        assert -73.6 < place.longitude < -69.9, place
        assert place.zip.isdigit() and len(place.zip) == 5


def test_towns_have_three_digit_ids_of_their_own() -> None:
    ids = town_ids()
    assert all(len(identifier) == 3 for identifier in ids.values())
    assert len(set(ids.values())) == len(ids)


def test_a_quarter_of_the_globe() -> None:
    assert haversine(0, 0, 90, 0) == pytest.approx(EARTH_RADIUS_MILES * 3.141592653589793 / 2)
    assert haversine(0, 0, 0, 180) == pytest.approx(EARTH_RADIUS_MILES * 3.141592653589793)
