"""Diagnosis and procedure codes of the synthetic hospital stays (ICD-9-CM, without the dot).

Common codes have weights by age, roughly as they are met in American acute-care hospitals; the rest of the mass is a
long tail of three-digit categories. Anthrax (022) is not drawn: ``med.py`` places every case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

NEWBORN = "V3000"
OBSTETRIC = ("650", "66401", "66411", "65421", "64511")


def _weights(text: str) -> dict[str, float]:
    """Weights by code, from a text of codes each followed by its weight."""
    words = text.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


_CHILD = _weights(
    """
    486 60  4660 10  46611 55  4809 12  49390 30  49391 35  49392 20  4871 8  485 6  2765 45  00861 25  5589 35
    5409 40  5400 15  78039 25  7806 20  59080 12  5990 12  29630 25  311 10  V5811 30  20400 6  8509 10  82101 8
    25011 10  6826 12  7742 25  07030 1  5733 1
    """
)
_ADULT = _weights(
    """
    650 70  66401 75  66411 40  65421 60  64511 25  29630 40  29620 25  29534 25  30391 25  30401 30  2920 15
    41401 55  41071 20  4111 18  78659 45  42731 18  486 25  49121 15  49392 14  5770 20  57410 16  57400 12
    5409 25  5589 15  56211 18  2189 35  6826 28  72210 25  72252 10  25013 10  5920 12  5990 12  V5811 14  1749 6
    5712 9  5715 5  5722 4  07054 2  07030 2  5733 2  1550 1.5  042 8  78039 10  9982 3  99859 10  99681 2  40391 4
    5856 2
    """
)
_ELDER = _weights(
    """
    4280 110  486 85  41401 70  42731 55  41071 50  49121 55  43491 40  5070 28  4359 22  2765 38  5990 35  0389 22
    78659 35  82021 30  82009 14  71536 45  71535 22  56211 22  56212 12  5789 22  53240 8  5609 20  V5789 50
    4439 6  44024 8  4414 10  43310 16  1629 6  185 8  1749 6  1534 6  1985 7  7802 26  42789 10  4241 9  6826 18
    25080 9  5712 4  5715 4  5722 3  07054 1  1550 2  1551 0.5  99681 1  40391 5  51881 12
    """
)
_TAIL_SHARE = 0.2

_CORONARY = ("3722", "3601", "3606", "3612", "3613", "3615")
_TYPICAL: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("41401", "41071", "4111"), _CORONARY),
    **dict.fromkeys(OBSTETRIC, ("7359", "741", "7569", "734")),
    **dict.fromkeys(("5409", "5400"), ("4701", "4709")),
    **dict.fromkeys(("57410", "57400"), ("5123", "5122")),
    **dict.fromkeys(("71536", "71535"), ("8154", "8151")),
    **dict.fromkeys(("82021", "82009"), ("7935", "8152")),
    **dict.fromkeys(("40391", "5856"), ("3995", "3895", "5569")),
    NEWBORN: ("640", "9955"),
}
_GENERIC = (
    *("3893", "9904", "8856", "3995", "9671", "4516", "4513", "4523", "8872", "9604", "3891", "8914", "9925", "8703"),
    *("3322", "3491", "8622", "9339", "9462", "9468", "5491", "0331", "8659", "4542", "5794", "8741", "3324", "9672"),
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All codes, and how often each is met.

    ``diagnosis_shares`` has a row for each age group (child, adult, elder), ``typical`` for each diagnosis the indexes
    of procedures that go with it (empty when none does), ``generic`` the indexes of the others.
    """

    diagnoses: NDArray[np.str_]
    diagnosis_shares: NDArray[np.float64]
    procedures: NDArray[np.str_]
    typical: tuple[NDArray[np.int64], ...]
    generic: NDArray[np.int64]

    def diagnosis(self, code: str) -> int:
        """The index of a diagnosis code."""
        return int(np.flatnonzero(self.diagnoses == code)[0])

    def procedure(self, code: str) -> int:
        """The index of a procedure code."""
        return int(np.flatnonzero(self.procedures == code)[0])


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary; it is the same in every process.

    Example:
        >>> codes = vocabulary()
        >>> str(codes.diagnoses[codes.diagnosis("4280")])
        '4280'
    """
    common = {**_CHILD, **_ADULT, **_ELDER}
    tail = [f"{category:03}{category * 7 % 10}" for category in range(1, 1000) if not _placed_elsewhere(category)]
    tail = [code for code in tail if code not in common]
    special = [NEWBORN, "0220", "0221", "0229"]
    diagnoses = np.array([*common, *tail, *special])
    tail_weight = np.random.default_rng(9).permutation(np.arange(1, len(tail) + 1) ** -0.7)
    shares = np.zeros((3, len(diagnoses)))
    for group, weights in enumerate((_CHILD, _ADULT, _ELDER)):
        named = np.array([weights.get(code, 0.0) for code in common])
        shares[group, : len(common)] = (1 - _TAIL_SHARE) * named / named.sum()
        shares[group, len(common) : len(common) + len(tail)] = _TAIL_SHARE * tail_weight / tail_weight.sum()
    procedures = np.array(sorted({*_GENERIC, *(code for codes in _TYPICAL.values() for code in codes)}))
    place = {code: index for index, code in enumerate(procedures.tolist())}
    typical = tuple(np.array([place[code] for code in _TYPICAL.get(name, ())], dtype=np.int64) for name in diagnoses)
    return Vocabulary(diagnoses, shares, procedures, typical, np.array([place[code] for code in _GENERIC]))


def _placed_elsewhere(category: int) -> bool:
    """Anthrax, and the chapter of pregnancy, which is for women only."""
    return category == 22 or 630 <= category <= 679
