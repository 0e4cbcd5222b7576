"""Synthetic in-hospital stays, the stream MED (thesis, 10.1.1 and Appendix A).

The thesis has 835,890 real discharge records of Massachusetts, fiscal year 2001, which are not public. These have their
shape: one row per stay, patients who come back, diagnoses that follow age, newborns and deliveries, hospitals near the
patient's home, transfers, missing birth dates and races. ``stories.py`` adds the rare courses of illness
that the examples look for.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.errors import StreamError
from workbench.experiments.sample_streams import columns, stories
from workbench.experiments.sample_streams.icd9 import NEWBORN, OBSTETRIC, vocabulary
from workbench.experiments.sample_streams.people import (
    OUT_OF_STATE,
    PAYORS,
    RACES,
    YEAR,
    age_group,
    diagnoses,
    hospital_ids,
    people,
    town_numbers,
    zip_codes,
)
from workbench.experiments.sample_streams.schemas import MED

_FULL_ROWS = 835_890
"""The number of records in the thesis."""

FIRST_DAY = date(2000, 10, 1)
"""The first of the 365 days of fiscal year 2001."""

_LEAST_ROWS = 200
"""Fewer rows have no room for the rare courses."""

_START = int(np.datetime64(FIRST_DAY).astype("datetime64[D]").astype(np.int64))
_DISPOSITION_SHARES = (0.62, 0.02, 0.15, 0.01, 0.02, 0.145, 0.01, 0.025)
_PATIENT_ORIGINS = np.array(["1", "2", "7", "9"])
_IN_STATE, _OTHER_STATE = 0, 1


def med(rows: int = _FULL_ROWS, seed: int = 2001) -> pa.Table:
    """Stays in hospital in order of ``adate``; the same ``rows`` and ``seed`` give the same table.

    Args:
        rows: how many, at least 200.
        seed: of the random numbers.

    Returns:
        A table of schema ``MED``, ``recid`` from 1. ``recid`` and ``adate`` are never NULL. ``bdate``, ``bym`` and
        ``race`` are NULL in some records of a patient and not in others; ``zip`` and ``townid`` in all or none.
        ``ddate`` is ``adate + los``, also after the end of the year.

    Raises:
        StreamError: fewer than 200 rows.

    Example:
        >>> med(rows=1_000).num_rows
        1000
    """
    if rows < _LEAST_ROWS:
        raise StreamError(f"{rows} rows are too few for MED", hint=f"ask for at least {_LEAST_ROWS}")
    rng = np.random.default_rng(seed)
    newborns, births = _births(rng, rows // 10, 0)
    sick, course_stays = stories.courses(rng, rows, _START, len(newborns))
    exposed, anthrax_stays = stories.anthrax(rng, rows, _START, len(newborns) + len(sick))
    placed = [births, course_stays, anthrax_stays]
    transferred = rows // 200
    others = rows - sum(map(len, placed)) - transferred
    persons = np.concatenate([newborns, sick, exposed, _population(rng, rows)])
    ordinary = _ordinary(rng, persons, len(persons) - int(rows * 0.6), others)
    _choose_diagnoses(rng, ordinary, persons)
    following = stories.transfers(rng, ordinary[:transferred], persons)
    stays = np.concatenate([*placed, ordinary, following])
    stays = rng.permutation(stays)
    stays = stays[np.argsort(stays["day"], kind="stable")]
    _complete(rng, stays, persons)
    return _table(rng, stays, persons)


def _births(rng: np.random.Generator, count: int, first_patient: int) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Newborns and the stays in which they are born."""
    day = rng.integers(0, stories.DAYS, count)
    persons = people(rng, _START + day, _START)
    stays = stories.stay(first_patient + np.arange(count), day)
    codes = vocabulary()
    stays["dxs"][:, 0] = codes.diagnosis(NEWBORN)
    stays["los"], stays["disp"] = rng.integers(1, 5, count), 0
    return persons, stays


def _population(rng: np.random.Generator, rows: int) -> NDArray[np.void]:
    """The patients of ordinary stays; with six for ten rows many come more than once."""
    count = int(rows * 0.6)
    group = rng.choice(3, size=count, p=(0.08, 0.42, 0.5))
    low, high = np.array([0.0, 18.0, 65.0])[group], np.array([18.0, 65.0, 98.0])[group]
    return people(rng, _START - 1 - (rng.uniform(low, high) * YEAR).astype(np.int64), _START)


def _ordinary(rng: np.random.Generator, persons: NDArray[np.void], first: int, count: int) -> NDArray[np.void]:
    """Stays of the patients from index ``first`` on, on any day."""
    return stories.stay(rng.integers(first, len(persons), count), rng.integers(0, stories.DAYS, count))


def _choose_diagnoses(rng: np.random.Generator, stays: NDArray[np.void], persons: NDArray[np.void]) -> None:
    """Half of the stays are for the patient's usual illness, the others for one common at that age."""
    codes = vocabulary()
    who = persons[stays["patient"]]
    drawn = diagnoses(rng, age_group(_ages(stays, persons)))
    drawn = np.where(columns.some(rng, len(stays), 0.5), who["illness"], drawn)
    man_in_labour = np.isin(drawn, [codes.diagnosis(code) for code in OBSTETRIC]) & ~who["female"]
    ailment_of_age = diagnoses(rng, np.full(len(stays), 2))
    stays["dxs"][:, 0] = np.where(man_in_labour, ailment_of_age, drawn)


def _ages(stays: NDArray[np.void], persons: NDArray[np.void]) -> NDArray[np.int64]:
    """Full years at admission."""
    return np.floor((_START + stays["day"] - persons["birth"][stays["patient"]]) / YEAR).astype(np.int64)


def _complete(rng: np.random.Generator, stays: NDArray[np.void], persons: NDArray[np.void]) -> None:
    """Fill in what is still open; a diagnosis or procedure that there is none of stays -1."""
    count = len(stays)
    who = persons[stays["patient"]]
    elsewhere = columns.some(rng, count, 0.1)
    hospital = np.where(elsewhere, rng.integers(0, len(hospital_ids()), count), who["hospital"])
    los = np.minimum(1 + np.floor(rng.lognormal(1.0, 0.9, count)), 180).astype(np.int64)
    disp = rng.choice(len(stories.DISPOSITIONS), size=count, p=_DISPOSITION_SHARES)
    for name, drawn in (("hospital", hospital), ("los", los), ("disp", disp)):
        stays[name] = np.where(stays[name] < 0, drawn, stays[name])
    _secondary_diagnoses(rng, stays, age_group(_ages(stays, persons)))
    _procedures(rng, stays)


def _secondary_diagnoses(rng: np.random.Generator, stays: NDArray[np.void], group: NDArray[np.int64]) -> None:
    """Each further diagnosis is there mostly if the one before it is, and the less often the younger the patient.

    A delivery is only ever a principal diagnosis.
    """
    obstetric = [vocabulary().diagnosis(code) for code in OBSTETRIC]
    go_on = np.array([0.45, 0.75, 0.92])[group]
    present = np.ones(len(stays), dtype=bool)
    for place in range(1, 5):
        present &= rng.random(len(stays)) < go_on
        column = stays["dxs"][:, place]
        drawn = diagnoses(rng, group)
        column[:] = np.where((column < 0) & present & ~np.isin(drawn, obstetric), drawn, column)


def _procedures(rng: np.random.Generator, stays: NDArray[np.void]) -> None:
    """Somewhat more than half of the stays have a procedure; where typical ones are known, mostly one of these."""
    codes = vocabulary()
    width = max(map(len, codes.typical))
    table = np.array([np.resize(kinds, width) if len(kinds) else np.full(width, -1) for kinds in codes.typical])
    present = columns.some(rng, len(stays), 0.58)
    for place in range(5):
        typical = table[stays["dxs"][:, 0], rng.integers(0, width, len(stays))]
        generic = rng.choice(codes.generic, len(stays))
        likely = columns.some(rng, len(stays), 0.6 if place == 0 else 0.2)
        drawn = np.where((typical >= 0) & likely, typical, generic)
        column = stays["ops"][:, place]
        column[:] = np.where((column < 0) & present, drawn, column)
        present &= columns.some(rng, len(stays), 0.55)


def _table(rng: np.random.Generator, stays: NDArray[np.void], persons: NDArray[np.void]) -> pa.Table:
    codes = vocabulary()
    who = persons[stays["patient"]]
    count = len(stays)
    admitted = _START + stays["day"].astype(np.int64)
    birth = who["birth"].astype("datetime64[D]")
    hospital = columns.looked_up(hospital_ids(), stays["hospital"])
    months, years = (birth.astype(f"datetime64[{unit}]").astype("datetime64[D]").astype(np.int64) for unit in "MY")
    data = {
        "recid": columns.integer_column(np.arange(1, count + 1), pa.int64()),
        "providerid": columns.numbered(hospital, stays["patient"] % 9_999_991, 7),
        "dischargeid": columns.numbered(hospital, np.arange(count) * 7 % 10_000_000, 7),
        "hospid": hospital,
        "sex": columns.looked_up(np.array(["M", "F"]), who["female"].astype(np.int64)),
        "age": columns.integer_column(_ages(stays, persons), pa.int32(), columns.some(rng, count, 0.002)),
        "payor": columns.looked_up(PAYORS, who["payor"], columns.some(rng, count, 0.01)),
        "bdate": columns.day_column(who["birth"], columns.some(rng, count, 0.08)),
        "adate": columns.day_column(admitted),
        "ddate": columns.day_column(admitted + stays["los"]),
        "zip": columns.looked_up(zip_codes(), who["zip"]),
        "los": columns.integer_column(stays["los"], pa.int32()),
        "disp": columns.looked_up(stories.DISPOSITIONS, stays["disp"]),
        "race": columns.looked_up(RACES, who["race"], columns.some(rng, count, 0.06)),
        **{f"dxs_{place + 1:02}": columns.looked_up(codes.diagnoses, stays["dxs"][:, place]) for place in range(5)},
        **{f"ops_{place + 1:02}": columns.looked_up(codes.procedures, stays["ops"][:, place]) for place in range(5)},
        "patorg": columns.looked_up(_PATIENT_ORIGINS, _origins(rng, stays, who)),
        "townid": columns.looked_up(town_numbers(), who["zip"]),
        "byear": columns.day_column(years, columns.some(rng, count, 0.002)),
        "bym": columns.day_column(months, columns.some(rng, count, 0.04)),
    }
    return pa.table(data, schema=MED)


def _origins(rng: np.random.Generator, stays: NDArray[np.void], who: NDArray[np.void]) -> NDArray[np.int64]:
    """Where the record says that the patient comes from: as noted at that stay, now and then 7, 9 or nothing.

    The records of stories keep to the truth, so that their approximate IDs match.
    """
    truth = np.where(who["zip"] >= len(zip_codes()) - len(OUT_OF_STATE), _OTHER_STATE, _IN_STATE)
    noted = rng.choice([-2, 2, 3, -1], size=len(stays), p=(0.935, 0.01, 0.045, 0.01))
    return np.where((noted == -2) | stays["placed"], truth, noted)
