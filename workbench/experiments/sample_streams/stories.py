"""Stays in hospital that belong together: the rare courses of illness that the MED examples B.14-B.21 look for.

Every kind of course is placed in the stream a few times, whatever its size, and the first course of each kind ends on
the last day: also the end of a stream brings new answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.experiments.sample_streams import columns
from workbench.experiments.sample_streams.icd9 import vocabulary
from workbench.experiments.sample_streams.people import HOSPITALS, YEAR, people, zip_codes

STAY = np.dtype(
    [
        *(("patient", "i8"), ("day", "i4"), ("los", "i4"), ("hospital", "i4"), ("disp", "i4")),
        *(("dxs", "i4", (5,)), ("ops", "i4", (5,)), ("placed", "?")),
    ]
)
"""A stay: the patient by index, the day of admission (from the first day of the stream), the length in days, and
hospital, disposition, diagnoses and procedures by index; -1 is still open. ``placed`` stays make up a story."""

DISPOSITIONS = np.array(["01", "02", "03", "04", "05", "06", "07", "20"])
DAYS = 365


@dataclass(frozen=True, slots=True)
class Course:
    """Two stays of one patient.

    ``ages`` in years and ``gap`` in days between the admissions are ranges with both ends; ``first`` and ``second`` are
    diagnoses, ``procedure`` the principal procedure of the first stay, repeated in the second if ``again``.
    """

    ages: tuple[int, int]
    gap: tuple[int, int]
    first: tuple[str, ...]
    second: tuple[str, ...] = ()
    procedure: tuple[str, ...] = ()
    again: bool = False


COURSES = (
    Course(ages=(1, 8), gap=(3, 40), first=("486", "4809", "485", "49390", "49391")),  # B.17
    Course(ages=(50, 80), gap=(20, 364), first=("41401",), procedure=("3612", "3613", "3615"), again=True),  # B.18
    Course(ages=(25, 65), gap=(4, 39), first=("40391", "5856"), second=("99681",), procedure=("5569",)),  # B.19
    Course(
        ages=(40, 75), gap=(30, 300), first=("07030", "07054", "5712", "5715", "5722", "5733"), second=("1550", "1551")
    ),  # B.20
)
"""A course without ``second`` comes back with the diagnosis of its first stay."""

_ANTHRAX = (
    # Within 50 miles of Boston are 02139, 02301, 01801; beyond are Springfield 01103, Pittsfield 01201, Hyannis 02601.
    *((10, "02114"), (18, "02139"), (95, "01103"), (110, "02601"), (205, "02301"), (215, "02114"), (235, "01201")),
    # The second of the next two comes exactly 40 days after the one before it, which is beyond the window of B.14.
    *((300, "01801"), (312, "02139"), (352, "02114"), (358, "01103"), (362, "02301")),
)
_ANTHRAX_CODES = (("0221", 0, 0), ("0220", -7, 100_000), ("0229", -3, 400_000))


def stay(patients: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.void]:
    """Stays of which only patient and day are known."""
    stays = np.zeros(len(patients), dtype=STAY)
    for name in ("los", "hospital", "disp", "dxs", "ops"):
        stays[name] = -1
    stays["patient"], stays["day"] = patients, day
    return stays


def courses(
    rng: np.random.Generator, rows: int, start: int, first_patient: int
) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """The patients of ``rows // 1500``, and at least six, courses of every kind, and their stays.

    Args:
        rng: the random numbers.
        rows: of the whole stream.
        start: the first day of the stream, from 1970-01-01.
        first_patient: the index that the first of these patients will have.
    """
    count = max(6, rows // 1500)
    placed = [
        _course(rng, course, count, start, first_patient + number * count) for number, course in enumerate(COURSES)
    ]
    return np.concatenate([persons for persons, _ in placed]), np.concatenate([stays for _, stays in placed])


def _course(
    rng: np.random.Generator, course: Course, count: int, start: int, first_patient: int
) -> tuple[NDArray[np.void], NDArray[np.void]]:
    codes = vocabulary()
    age_days = rng.uniform(course.ages[0] * YEAR + 1, (course.ages[1] + 1) * YEAR - DAYS, count)
    persons = people(rng, start - age_days.astype(np.int64), start, homeless=0.0)
    gap = rng.integers(course.gap[0], course.gap[1] + 1, count)
    gap[1] = course.gap[1]
    end = rng.integers(gap, DAYS)
    end[0] = DAYS - 1
    patients = np.arange(first_patient, first_patient + count)
    before, after = stay(patients, end - gap), stay(patients, end)
    before["dxs"][:, 0] = rng.choice([codes.diagnosis(code) for code in course.first], count)
    after["dxs"][:, 0] = before["dxs"][:, 0]
    if course.second:
        # A complication may be a secondary diagnosis of the second stay; a cancer is what the patient comes with.
        place = rng.integers(0, 4, count) if course.procedure else np.zeros(count, dtype=np.int64)
        after["dxs"][np.arange(count), place] = rng.choice([codes.diagnosis(code) for code in course.second], count)
    if course.procedure:
        operation = rng.choice([codes.procedure(code) for code in course.procedure], count)
        before["ops"][:, 0] = operation
        if course.again:
            after["ops"][np.arange(count), rng.integers(0, 2, count)] = operation
    stays = np.concatenate([before, after])
    stays["los"] = rng.integers(1, 4, len(stays))
    stays["disp"], stays["placed"] = 0, True
    return persons, stays


def anthrax(
    rng: np.random.Generator, rows: int, start: int, first_patient: int
) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """The patients and stays of all anthrax cases: one code, from 100,000 rows on two, from 400,000 on three.

    The cases of a code come in clusters: near and far within 40 days of the one before, and beyond 40 days.
    """
    places = {code: index for index, code in enumerate(zip_codes().tolist())}
    cases = [
        (vocabulary().diagnosis(code), day + shift, places[zip_code])
        for code, shift, least_rows in _ANTHRAX_CODES
        for day, zip_code in _ANTHRAX
        if rows >= least_rows
    ]
    code, day, place = np.array(cases).T
    persons = people(rng, start - rng.integers(20 * 365, 80 * 365, len(cases)), start, homeless=0.0)
    persons["zip"] = place
    stays = stay(first_patient + np.arange(len(cases)), day)
    stays["dxs"][:, 0], stays["placed"] = code, True
    return persons, stays


def transfers(rng: np.random.Generator, stays: NDArray[np.void], persons: NDArray[np.void]) -> NDArray[np.void]:
    """The stays that follow when each of ``stays`` ends with a transfer, which is written into them.

    A transferred patient is admitted at another hospital on the day of discharge, with the same principal diagnosis.
    Patients who would arrive after the last day stay shorter.
    """
    count = len(stays)
    stays["hospital"] = persons["hospital"][stays["patient"]]
    stays["los"] = np.minimum(1 + rng.poisson(2.0, count), DAYS - 1 - stays["day"])
    stays["disp"], stays["placed"] = 1, True
    following = stay(stays["patient"], stays["day"] + stays["los"])
    following["hospital"] = (stays["hospital"] + rng.integers(1, HOSPITALS, count)) % HOSPITALS
    following["dxs"][:, 0] = stays["dxs"][:, 0]
    following["disp"] = np.where(columns.some(rng, count, 0.7), 0, 2)
    following["placed"] = True
    return following
