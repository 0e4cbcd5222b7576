"""ZIP codes of Massachusetts with the coordinates of their centres, and the distance between two of them.

``ma_zipcodes.csv`` beside this module was extracted from the PyPI package ``zipcodes`` 3.0.0 (MIT licence, in
``ma_zipcodes.LICENSE.txt``; https://pypi.org/project/zipcodes/): every ZIP code of the state, its latitude and
longitude in degrees, the name of its post office town, and its kind (``standard``, ``po_box`` or ``unique``, the last
for one big receiver of mail). Nothing is fetched at run time.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS_MILES = 3958.7613
"""The mean radius of the Earth."""


@dataclass(frozen=True, slots=True)
class ZipCode:
    """A ZIP code, where it is (degrees), its town, and its kind: ``standard``, ``po_box`` or ``unique``."""

    zip: str
    latitude: float
    longitude: float
    town: str
    kind: str


@cache
def massachusetts() -> Mapping[str, ZipCode]:
    """All ZIP codes of Massachusetts by their five digits, in ascending order.

    Example:
        >>> massachusetts()["01103"].town
        'Springfield'
    """
    text = (resources.files(__package__) / "ma_zipcodes.csv").read_text(encoding="utf-8")
    return {
        row["zip"]: ZipCode(row["zip"], float(row["latitude"]), float(row["longitude"]), row["town"], row["kind"])
        for row in csv.DictReader(text.splitlines())
    }


@cache
def town_ids() -> Mapping[str, str]:
    """The three-digit id of every town: its place, from 001, in the alphabetical list of names."""
    towns = sorted({place.town for place in massachusetts().values()})
    return {town: f"{number:03}" for number, town in enumerate(towns, start=1)}


def zipdistance(zip1: str | None, zip2: str | None) -> float | None:
    """Great-circle distance in miles between the centres of two ZIP codes (thesis, B.15-B.16).

    ``None``, SQL's NULL, if either is ``None`` or is not a ZIP code of Massachusetts.

    Example:
        >>> zipdistance("02108", "02108")
        0.0
        >>> round(zipdistance("02108", "01103"))  # Boston, Springfield
        80
        >>> zipdistance("02108", None) is None
        True
    """
    if zip1 is None or zip2 is None:
        return None
    places = massachusetts()
    start, end = places.get(zip1), places.get(zip2)
    if start is None or end is None:
        return None
    return haversine(start.latitude, start.longitude, end.latitude, end.longitude)


def haversine(latitude1: float, longitude1: float, latitude2: float, longitude2: float) -> float:
    """Great-circle distance in miles between two points given in degrees."""
    phi1, phi2 = radians(latitude1), radians(latitude2)
    half_chord = sin((phi2 - phi1) / 2) ** 2 + cos(phi1) * cos(phi2) * sin(radians(longitude2 - longitude1) / 2) ** 2
    return 2 * EARTH_RADIUS_MILES * asin(min(1.0, sqrt(half_chord)))
