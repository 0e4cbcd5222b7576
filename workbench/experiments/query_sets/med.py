"""QIMQOSJPMed: 565 select-join-project queries over hospital stays, in eight categories (T10.1.3; B.14-B.21).

Three categories look for multiple occurrences of a contagious disease, 138 queries each: one for each of the categories
001 to 138 of ICD-9. The other five link two stays of one patient, who is known by what a record tells (B.17). Within a
category the queries have the same join predicates and *disjoint* ranges of codes in their selections (T10.3.2): a cover
of the ranges lets them share one join.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
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


def ranges(first: int, last: int, width: int = 1) -> list[Codes]:
    """Disjoint ranges of ``width`` three-digit categories, from ``first`` to ``last``.

    Example:
        >>> ranges(1, 4, width=2)
        [Codes(low='001', high='003'), Codes(low='003', high='005')]
    """
    return [Codes(f"{low:03}", f"{low + width:03}") for low in range(first, last + 1, width)]


CONTAGIOUS = ranges(1, 138)
"""Infectious and parasitic diseases of ICD-9; 139, the last one, is their late effects."""

CHILDREN = ranges(460, 521, width=2)
"""Diseases of the lung and their neighbours, for B.17: 31 ranges."""

OPERATIONS = ranges(350, 379)
"""Operations on heart and vessels, for B.18; 361 is the bypass."""

BEFORE_COMPLICATIONS = ranges(540, 569)
"""Operations on the digestive and urinary tracts, for B.19; 556 is the transplantation of a kidney."""

BEFORE_CANCER = ranges(550, 579)
"""Diseases of the digestive organs, for B.20; 570 to 573 are those of the liver."""

TRANSFERRED = ranges(400, 459, width=2)
"""Diseases of heart and vessels, for B.21."""

COMPLICATIONS, CANCER = Codes("996", "997"), Codes("150", "160")
"""Complications of certain procedures; cancers of the digestive organs."""

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
    """A disease comes back to a place when the window is over.

    B.14 asks for its kind without the place; but pairs, which B.14 does not show, would be 15 million of 600,000 stays.
    """
    return _outbreak(codes, f"AND    t1.zip = t2.zip\nAND    t2.adate >= t1.adate + {WINDOW}")


def _far(codes: Codes) -> str:
    """A disease appears within the window in another area (B.15)."""
    return _outbreak(codes, f"AND    t2.adate < t1.adate + {WINDOW}\nAND    zipdistance(t2.zip, t1.zip) >= {RADIUS}")


def _near(codes: Codes) -> str:
    """A disease appears within the window in the same area (B.16)."""
    return _outbreak(codes, f"AND    t2.adate < t1.adate + {WINDOW}\nAND    zipdistance(t2.zip, t1.zip) < {RADIUS}")


def children(codes: Codes) -> str:
    """Children with the same disease twice within 40 days (B.17)."""
    return _patient(
        "t1.recid, t1.hospid, t1.adate, t1.dxs_01",
        "t1.age < 10 AND t2.age < 11",
        "t1.adate <= t2.adate AND t2.adate <= t1.adate + 40",
        "t1.dxs_01 = t2.dxs_01",
        codes.hold("t1.dxs_01"),
    )


def operated_twice(codes: Codes) -> str:
    """The same kind of operation twice within a year (B.18)."""
    operated = (f"(({codes.hold(f'{t}.ops_01')}) OR ({codes.hold(f'{t}.ops_02')}))" for t in ("t1", "t2"))
    return _patient("t1.ops_01, t2.recid", "t1.adate <= t2.adate AND t2.adate < t1.adate + 365", *operated)


def complications(codes: Codes) -> str:
    """Complications within 40 days of an operation (B.19)."""
    diagnoses = " OR ".join(f"({COMPLICATIONS.hold(f't2.dxs_0{number}')})" for number in range(1, 5))
    return _patient(
        "t1.ops_01, t2.dxs_01",
        codes.hold("t1.ops_01"),
        f"({diagnoses})",
        "t1.adate <= t2.adate AND t2.adate < t1.adate + 40",
    )


def development(codes: Codes) -> str:
    """A disease, survived, and a cancer later (B.20)."""
    return _patient(
        "t1.dxs_01, t2.dxs_01 t2_dxs_01",
        "t1.adate < t2.adate",
        codes.hold("t1.dxs_01"),
        "t1.disp != '20'",
        CANCER.hold("t2.dxs_01"),
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


_CATEGORIES: Mapping[str, tuple[Callable[[Codes], str], Sequence[Codes]]] = {
    "again": (again, CONTAGIOUS),
    "far": (_far, CONTAGIOUS),
    "near": (_near, CONTAGIOUS),
    "children": (children, CHILDREN),
    "operated_twice": (operated_twice, OPERATIONS),
    "complications": (complications, BEFORE_COMPLICATIONS),
    "development": (development, BEFORE_CANCER),
    "transferred": (transferred, TRANSFERRED),
}
"""How each category is written, and its ranges of codes: of diagnoses, or of operations."""


def med_queries(seed: int) -> list[GeneratedQuery]:
    """The set; the ranges of each category come in an order shuffled by ``seed``."""
    random = Random(f"med:{seed}")
    shuffled = {category: random.sample(codes, len(codes)) for category, (_, codes) in _CATEGORIES.items()}
    queries = []
    for category, name, codes in turns(shuffled):
        sql = _CATEGORIES[category][0](codes)
        queries.append(GeneratedQuery(name, sql, sql, category, asdict(codes)))
    return queries


def _outbreak(codes: Codes, conditions: str) -> str:
    pairs = SAME_DISEASE.format(disease=codes.hold("t1.dxs_01"))
    return f"SELECT t1.dxs_01, t2.zip, t2.adate, t2.recid\n{FROM}\n{pairs}\n{conditions}"


def _patient(columns: str, *conditions: str) -> str:
    return f"SELECT {PATIENT},\n       {columns}\n{FROM}\n" + "\nAND    ".join([SAME_PATIENT, *conditions])
