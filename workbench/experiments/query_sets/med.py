"""QIMQOSJPMed: 565 select-join-project queries over hospital stays, in eight categories (T10.1.3; B.14-B.21).

Three categories look for multiple occurrences of a contagious disease, 138 queries each: one for each of the categories
001 to 138 of ICD-9, whose three questions come in one round (T10.1.4). ``again`` subsumes ``far`` and ``near``. The
ranges of codes of different diseases are *disjoint* under equal join predicates (T10.3.2): a cover of the ranges lets
all of them share one join.

The other five link two stays of one patient, who is known by what a record tells (B.17). The thesis varies the
constants of a seed, so that one query subsumes another (T10.1.2), and does not list the values: here every range of
codes is asked about under the constants of the seed and under a stronger one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from workbench.experiments.query_sets.generated import GeneratedQuery, turns

WINDOW, RADIUS = 40, 50
"""Days and miles, as in B.14-B.16."""


@dataclass(frozen=True, slots=True)
class Codes:
    """Codes from ``low`` to below ``high``, which are compared as text."""

    low: str
    high: str

    def hold(self, column: str) -> str:
        """The condition that a column has one of these codes.

        Example:
            >>> Codes("022", "023").hold("t1.dxs_01")
            "t1.dxs_01 >= '022' AND t1.dxs_01 < '023'"
        """
        return f"{column} >= '{self.low}' AND {column} < '{self.high}'"

    def first_half(self) -> Codes:
        """The first half of the categories.

        Example:
            >>> Codes("400", "404").first_half()
            Codes(low='400', high='402')
        """
        return Codes(self.low, f"{(int(self.low) + int(self.high)) // 2:03}")


_Constants = Mapping[str, Codes | int]
"""What one query puts into the text of its category, by the name of an argument."""


def ranges(first: int, last: int, width: int = 1) -> list[Codes]:
    """Disjoint ranges of ``width`` three-digit categories, from ``first`` to ``last``.

    Example:
        >>> ranges(1, 4, width=2)
        [Codes(low='001', high='003'), Codes(low='003', high='005')]
    """
    return [Codes(f"{low:03}", f"{low + width:03}") for low in range(first, last + 1, width)]


CONTAGIOUS = ranges(1, 138)
"""Infectious and parasitic diseases of ICD-9; 139, the last one, is their late effects."""

COMPLICATIONS = Codes("996", "997")
"""Complications of certain procedures; 99681 is that of a kidney which was transplanted."""


def _varied(codes: Sequence[Codes], **strengths: Sequence[Codes | int]) -> list[_Constants]:
    """Each range with the values of one more constant, the weakest first."""
    ((name, values),) = strengths.items()
    return [{"codes": each, name: value} for each in codes for value in values]


FROM = "FROM   MHDCFY01A t1, MHDCFY01A t2"
PATIENT = "t1.bdate, t1.bym, t1.byear, t1.sex, t1.race, t1.zip, t1.townid, t1.payor, t1.age"
SAME_PATIENT = """\
WHERE  (t1.bdate = t2.bdate OR
        ((t1.bdate IS NULL OR t2.bdate IS NULL) AND t1.bym = t2.bym) OR
        ((t1.bdate IS NULL OR t2.bdate IS NULL) AND (t1.bym IS NULL OR t2.bym IS NULL) AND t1.byear = t2.byear))
AND    t1.sex = t2.sex
AND    (t1.race = t2.race OR t1.race IS NULL OR t2.race IS NULL)
AND    t1.zip = t2.zip
AND    t1.townid = t2.townid
AND    (t1.patorg = t2.patorg OR (t1.patorg = '9' AND t2.patorg = '1') OR t1.patorg = '7' OR t2.patorg = '7')
AND    t1.recid != t2.recid"""
"""The approximate match of two records of a patient, as B.17 writes it out."""

SAME_DISEASE = """\
WHERE  t2.adate > t1.adate
AND    t1.dxs_01 = t2.dxs_01
AND    {disease}"""
"""A later stay for the same contagious disease, of any patient."""


def again(codes: Codes) -> str:
    """A disease appears again, at any time and place (B.14 without its difference)."""
    return _outbreak(codes)


def _far(codes: Codes) -> str:
    """A disease appears within the window in another area (B.15)."""
    return _outbreak(codes, f"t2.adate < t1.adate + {WINDOW}", f"zipdistance(t2.zip, t1.zip) >= {RADIUS}")


def _near(codes: Codes) -> str:
    """A disease appears within the window in the same area (B.16)."""
    return _outbreak(codes, f"t2.adate < t1.adate + {WINDOW}", f"zipdistance(t2.zip, t1.zip) < {RADIUS}")


def children(codes: Codes, days: int) -> str:
    """Children with the same disease twice within some days (B.17)."""
    return _patient(
        "t1.recid, t1.hospid, t1.adate, t1.ddate, t1.los, t1.disp, t1.dxs_01",
        "t1.age < 10 AND t2.age < 11",
        f"t1.adate <= t2.adate AND t2.adate <= t1.adate + {days}",
        "t1.dxs_01 = t2.dxs_01",
        codes.hold("t1.dxs_01"),
    )


def operated_twice(codes: Codes, days: int) -> str:
    """The same kind of operation twice within some days (B.18)."""
    operated = (f"(({codes.hold(f'{t}.ops_01')}) OR ({codes.hold(f'{t}.ops_02')}))" for t in ("t1", "t2"))
    return _patient("t1.ops_01", f"t1.adate <= t2.adate AND t2.adate < t1.adate + {days}", *operated)


def complications(codes: Codes, days: int) -> str:
    """Complications within some days of an operation (B.19)."""
    diagnoses = " OR ".join(f"({COMPLICATIONS.hold(f't2.dxs_0{number}')})" for number in range(1, 5))
    return _patient(
        "t1.ops_01, t2.dxs_01",
        codes.hold("t1.ops_01"),
        f"({diagnoses})",
        f"t1.adate <= t2.adate AND t2.adate < t1.adate + {days}",
    )


def development(codes: Codes, cancer: Codes) -> str:
    """A disease, survived, and a cancer later (B.20)."""
    return _patient(
        "t1.dxs_01, t2.dxs_01 t2_dxs_01",
        "t1.adate < t2.adate",
        codes.hold("t1.dxs_01"),
        "t1.disp != '20'",
        cancer.hold("t2.dxs_01"),
    )


def transferred(codes: Codes) -> str:
    """Transferred to another hospital for the same disease (B.21)."""
    return _patient(
        "t1.hospid, t2.hospid t2_hospid",
        "t1.adate <= t2.adate AND t1.ddate = t2.adate",
        "t1.disp = '02'",
        "t1.hospid != t2.hospid",
        "t1.dxs_01 = t2.dxs_01",
        codes.hold("t1.dxs_01"),
    )


def diseases(random: Random | None) -> list[Codes]:
    """The contagious diseases, which all three categories take in one order, so that a round asks all about one.

    Args:
        random: shuffles the order; without it the order is that of the codes.
    """
    return random.sample(CONTAGIOUS, len(CONTAGIOUS)) if random else CONTAGIOUS


_OUTBREAKS: Mapping[str, Callable[[Codes], str]] = {"again": again, "far": _far, "near": _near}

_HISTORIES: Mapping[str, tuple[Callable[..., str], Sequence[_Constants]]] = {
    # Diseases of the lung as B.17 writes them, then with their neighbours.
    "children": (
        children,
        [{"codes": Codes("480", "520"), "days": 40}, *_varied(ranges(460, 519, width=4), days=(40, 20))],
    ),
    # Operations on heart and vessels; 361 is the bypass.
    "operated_twice": (operated_twice, _varied(ranges(350, 379, width=2), days=(365, 180))),
    # Operations on the digestive and urinary tracts; 556 is the transplantation of a kidney.
    "complications": (complications, _varied(ranges(540, 569, width=2), days=(40, 20))),
    # Diseases of the digestive organs, of the liver 570 to 573, and then cancers of them, of the liver 155.
    "development": (
        development,
        _varied(ranges(550, 579, width=2), cancer=(Codes("150", "160"), Codes("155", "156"))),
    ),
    # Diseases of heart and vessels; the stronger constant is a narrower range.
    "transferred": (
        transferred,
        [{"codes": part} for codes in ranges(400, 459, width=4) for part in (codes, codes.first_half())],
    ),
}
"""How each of the other categories is written, and its constants, a weak one before a stronger one."""


def med_queries(seed: int) -> list[GeneratedQuery]:
    """The set; another ``seed`` than 0 shuffles the diseases, and the constants of each other category."""
    random = Random(f"med:{seed}") if seed else None
    texts: dict[str, Callable[..., str]] = {**_OUTBREAKS}
    outbreaks: list[_Constants] = [{"codes": codes} for codes in diseases(random)]
    constants: dict[str, Sequence[_Constants]] = dict.fromkeys(_OUTBREAKS, outbreaks)
    for category, (text, values) in _HISTORIES.items():
        texts[category] = text
        constants[category] = random.sample(values, len(values)) if random else values
    queries = []
    for category, name, taken in turns(constants):
        sql = texts[category](**taken)
        queries.append(GeneratedQuery(name, sql, sql, category, taken))
    return queries


def _outbreak(codes: Codes, *conditions: str) -> str:
    pairs = SAME_DISEASE.format(disease=codes.hold("t1.dxs_01"))
    return f"SELECT t1.dxs_01, t2.zip, t2.adate, t2.recid\n{FROM}\n" + "\nAND    ".join([pairs, *conditions])


def _patient(columns: str, *conditions: str) -> str:
    return f"SELECT {PATIENT},\n       {columns}\n{FROM}\n" + "\nAND    ".join([SAME_PATIENT, *conditions])
