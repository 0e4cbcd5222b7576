"""The synthetic patients of MED: who they are and where they live.

Patients have no identifier in the stream. Records are linked by the *approximate ID* of example B.17: date, month and
year of birth, sex, race, ZIP code, town and patient origin.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.sample_streams import columns
from workbench.experiments.sample_streams.icd9 import vocabulary
from workbench.experiments.sample_streams.zipcodes import massachusetts, town_ids, zipdistance

PERSON = np.dtype(
    [
        *(("birth", "i4"), ("female", "?"), ("race", "i4"), ("zip", "i4"), ("payor", "i4")),
        *(("illness", "i4"), ("hospital", "i4")),
    ]
)
"""A patient: day of birth (from 1970-01-01); race, payor and ZIP code by index, the last -1 if unknown; the diagnosis
she often comes with, and the hospital she usually goes to."""

RACES = np.array(["1", "2", "3", "4", "5", "6"])
PAYORS = np.array(["1", "2", "3", "4", "5", "6", "7", "8"])
OUT_OF_STATE = ("02860", "02903", "03060", "03801", "05301", "06082", "12201")
YEAR = 365.2425
"""Days."""

HOSPITALS = 80
_NEAREST = 3


@cache
def zip_codes() -> NDArray[np.str_]:
    """The ZIP codes where patients live: ordinary ones of Massachusetts, then some of the states around it."""
    return np.array([*(place.zip for place in massachusetts().values() if place.kind == "standard"), *OUT_OF_STATE])


@cache
def town_numbers() -> NDArray[np.str_]:
    """The town id of each of `zip_codes`; outside Massachusetts ``000``."""
    places, ids = massachusetts(), town_ids()
    return np.array([ids[places[code].town] if code in places else "000" for code in zip_codes().tolist()])


def hospital_ids() -> NDArray[np.str_]:
    """The four-digit ids of the hospitals."""
    return np.array([str(2001 + number) for number in range(HOSPITALS)])


@cache
def nearest_hospitals() -> NDArray[np.int64]:
    """For each of `zip_codes` the three nearest hospitals, by index, nearest first; elsewhere the first three."""
    codes = zip_codes().tolist()
    sites = np.random.default_rng(80).choice(len(codes) - len(OUT_OF_STATE), size=HOSPITALS, replace=False)
    miles = [[zipdistance(code, codes[site]) or 0.0 for site in sites] for code in codes]
    return np.argsort(np.array(miles), axis=1, kind="stable")[:, :_NEAREST]


def age_group(age: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 for a child, 1 for an adult, 2 from 65 years on: the rows of `Vocabulary.diagnosis_shares`."""
    return np.digitize(age, [18, 65])


def people(rng: np.random.Generator, birth: NDArray[np.int64], today: int, homeless: float = 0.01) -> NDArray[np.void]:
    """One patient for each day of birth.

    Args:
        rng: the random numbers.
        birth: days from 1970-01-01.
        today: the day, on the same scale, when ages are taken for what depends on age.
        homeless: the share of patients without a ZIP code.
    """
    count = len(birth)
    codes = zip_codes()
    weights = np.random.default_rng(351).gamma(1.2, size=len(codes))
    weights[-len(OUT_OF_STATE) :] *= 0.3
    group = age_group(np.floor((today - birth) / YEAR).astype(np.int64))
    persons = np.zeros(count, dtype=PERSON)
    persons["birth"] = birth
    persons["female"] = columns.some(rng, count, 0.55)
    persons["race"] = rng.choice(len(RACES), size=count, p=(0.76, 0.08, 0.04, 0.09, 0.01, 0.02))
    zip_index = rng.choice(len(codes), size=count, p=weights / weights.sum())
    nearness = rng.choice(_NEAREST, size=count, p=(0.65, 0.22, 0.13))
    persons["hospital"] = nearest_hospitals()[zip_index, nearness]
    persons["zip"] = np.where(columns.some(rng, count, homeless), -1, zip_index)
    persons["payor"] = np.where(group == 2, 2, rng.integers(0, len(PAYORS), count))
    persons["illness"] = diagnoses(rng, group)
    return persons


def diagnoses(rng: np.random.Generator, group: NDArray[np.int64]) -> NDArray[np.int64]:
    """A random diagnosis, as its index, for each person, whose age group is given."""
    shares = vocabulary().diagnosis_shares
    drawn = np.zeros(len(group), dtype=np.int64)
    for number, share in enumerate(shares):
        members = group == number
        drawn[members] = rng.choice(len(share), size=int(members.sum()), p=share)
    return drawn
