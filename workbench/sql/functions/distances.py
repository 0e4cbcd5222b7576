"""How alike two texts are, as DuckDB says: byte by byte, where Spark compares characters.

The distances are those of V. I. Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals"
(1966), of F. J. Damerau, "A technique for computer detection and correction of spelling errors" (1964), in which two
neighbours may be exchanged, also where others come between, and of M. A. Jaro (1989).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from sqlglot import exp

from workbench.sql.algebra.expressions import Expression
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

_ALIKE = 0.7
"""From here on a common beginning counts."""
_NEAR = 2
"""Letters by which a misspelled name may differ."""


def edit_distance(one: Sequence[object], other: Sequence[object]) -> int:
    """How many letters, or bytes, are to be inserted, deleted or replaced, at the least."""
    before = list(range(len(other) + 1))
    for row, a in enumerate(one, start=1):
        now = [row]
        for column, b in enumerate(other):
            now.append(min(before[column + 1] + 1, now[-1] + 1, before[column] + (a != b)))
        before = now
    return before[-1]


def is_near(one: str, other: str) -> bool:
    """Whether a name may be meant by another: two letters are different, missing or too many at most.

    Example:
        >>> is_near("uper", "upper"), is_near("product", "struct")
        (True, False)
    """
    return abs(len(one) - len(other)) <= _NEAR and edit_distance(one.encode(), other.encode()) <= _NEAR


def _damerau(one: bytes, other: bytes) -> int:
    """With exchanges of neighbours, between which letters may come (the unrestricted distance)."""
    most = len(one) + len(other)
    last: dict[int, int] = {}
    table = {(-1, column): most for column in range(-1, len(other) + 1)}
    table |= {(row, -1): most for row in range(len(one) + 1)}
    table |= {(row, 0): row for row in range(len(one) + 1)} | {(0, column): column for column in range(len(other) + 1)}
    for row, a in enumerate(one, start=1):
        matched = 0
        for column, b in enumerate(other, start=1):
            above, left = last.get(b, 0), matched
            if a == b:
                matched = column
            table[row, column] = min(
                table[row - 1, column - 1] + (a != b),
                table[row, column - 1] + 1,
                table[row - 1, column] + 1,
                table[above - 1, left - 1] + (row - above - 1) + 1 + (column - left - 1),
            )
        last[a] = row
    return table[len(one), len(other)]


def _hamming(one: bytes, other: bytes) -> int | None:
    """The number of places at which two texts differ; both have one length, which is not 0."""
    return sum(a != b for a, b in zip(one, other, strict=True)) if len(one) == len(other) > 0 else None


def _jaccard(one: bytes, other: bytes) -> float | None:
    """The bytes that both have, of those that one has; NULL of an empty text."""
    return len({*one} & {*other}) / len({*one} | {*other}) if one and other else None


def jaro_matches(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """How many signs of a text match those of another in places that are near, and how many of them out of order."""
    reach = max(max(len(one), len(other)) // 2 - 1, 0)
    taken, matched = set[int](), list[int]()
    for place, sign in enumerate(one):
        near = range(max(place - reach, 0), min(place + reach + 1, len(other)))
        found = next((at for at in near if at not in taken and other[at] == sign), None)
        if found is not None:
            taken.add(found)
            matched.append(sign)
    return len(matched), sum(a != other[at] for a, at in zip(matched, sorted(taken), strict=True))


def _jaro(one: bytes, other: bytes) -> float:
    """The mean of the parts of both texts that match in places that are near, and of the matches in order."""
    count, moved = jaro_matches(one, other)
    return (count / len(one) + count / len(other) + (count - moved // 2) / count) / 3 if count else 0.0


def _jaro_winkler(one: bytes, other: bytes) -> float:
    """The same, nearer to 1 by up to four bytes with which both begin, where they are alike (W. E. Winkler, 1990)."""
    alike, same = _jaro(one, other), 0
    while same < min(len(one), len(other), 4) and one[same] == other[same]:
        same += 1
    # Rounded once, as a processor multiplies and adds.
    return float(Fraction(same * 0.1) * Fraction(1 - alike) + Fraction(alike)) if alike > _ALIKE else alike


def _in_bytes(distance: Callable[[bytes, bytes], float | None]) -> Callable[[str, str], float | None]:
    return lambda one, other: distance(one.encode(), other.encode())


@reads(exp.Levenshtein, parts="this expression", dialects=SPARK_FAMILY | ONLY_DUCKDB)
def levenshtein(b: ExpressionBinder, node: exp.Levenshtein) -> Expression:
    """LEVENSHTEIN of two texts."""
    name = "levenshtein" if b.rules.texts_as_in_spark else "levenshtein_of_bytes"
    return call(name, *b.parts(node, "this", "expression"))


DECLARED = [
    function("levenshtein(string, string): integer", costly=True,
             help="levenshtein(str1, str2[, threshold]) Returns the Levenshtein distance between the two given "
                  "strings.",
             example="SELECT levenshtein('kitten', 'sitting') → 3"),
    function("levenshtein_of_bytes(string, string): integer", python=_in_bytes(edit_distance), costly=True),
    function("jaro_similarity(string, string): double", python=_in_bytes(_jaro), names="jaro_similarity",
             dialects=ONLY_DUCKDB, costly=True,
             help="jaro_similarity(s1, s2) Returns how alike two texts are, from 0 to 1.",
             example="SELECT jaro_similarity('duck', 'duckdb') → 0.88"),
    function("jaro_winkler_in_duckdb(string, string): double", python=_in_bytes(_jaro_winkler),
             nodes=[exp.JarowinklerSimilarity], dialects=ONLY_DUCKDB, costly=True),
    function("damerau_levenshtein(string, string): integer", python=_in_bytes(_damerau), names="damerau_levenshtein",
             dialects=ONLY_DUCKDB, costly=True,
             help="damerau_levenshtein(s1, s2) Returns the number of bytes to insert, delete, replace or exchange.",
             example="SELECT damerau_levenshtein('ducks', 'dukcs') → 1"),
    function("hamming(string, string): integer", python=_in_bytes(_hamming), names="hamming mismatches",
             dialects=ONLY_DUCKDB, costly=True,
             help="hamming(s1, s2) Returns the number of places at which texts of one length have other bytes.",
             example="SELECT hamming('duck', 'luck') → 1"),
    function("jaccard(string, string): double", python=_in_bytes(_jaccard), names="jaccard",
             dialects=ONLY_DUCKDB, costly=True,
             help="jaccard(s1, s2) Returns the part of the bytes of two texts that both have.",
             example="SELECT jaccard('duck', 'luck') → 0.6"),
]  # fmt: skip
