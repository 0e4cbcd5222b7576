"""How numbers are written in a column of texts: with a decimal comma, groups of thousands, a currency sign, brackets.

A form is a short text: the sign before the fraction, then the one between groups, then a currency sign. ``""`` is the
plain form, that of SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask

PLAIN = ""
WHOLE_NUMBER = r"^\s*[+-]?\d+\s*$"
POINTED = r"^\s*[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$"
EXPONENT = r"^\s*[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+\s*$"
"""Plain numbers: whole ones, those with a fraction, and those with an exponent."""
SURE_DIGITS = 15
"""Digits that every DOUBLE keeps."""
_GROUPS = {".": (",", " ", "\u00a0", "\u202f", "'", "\u2019"), ",": (".", " ", "\u00a0", "\u202f", "'", "\u2019")}
_WITH_A_POINT = "$£¥"
"""Currency signs of countries that write a point before the fraction."""
_AMOUNT = r"^\s*[+-]?\(?[+-]?\s*\p{Sc}?\s*[+-]?\d[\d.,' \x{a0}\x{202f}\x{2019}]*\s*\p{Sc}?\)?\s*$"


def form_of(values: pa.Array, point: str | None = None) -> str | None:
    """The form in which all of some texts are numbers, where there is one that leaves no doubt what they are.

    Args:
        values: amounts (``are_amounts``), without NULL.
        point: the sign before the fraction, where it is known.

    Returns:
        ``None``: there is no such form, or ``1,200`` may be a thousand or one and a fifth.

    Example:
        >>> [form_of(pa.array(column)) for column in (["1.234,56"], ["2,155"], ["(1,200.00)", "7"], ["$1,200"])]
        [',.', None, '.,', '.,$']
    """
    values = pc.utf8_trim_whitespace(values)
    sign = _currency(values)
    if sign is None:
        return None
    found: dict[tuple[str, ...], str] = {}
    for form in _forms(sign, point):
        plain, misfit = to_plain(values, form)
        if misfit is None:
            found.setdefault(tuple(plain.to_pylist()), form)
    forms = [*found.values()]
    return forms[0] if len(forms) == 1 else None


def are_amounts(values: pa.Array) -> pa.Array:
    """Which texts are written as numbers in some form."""
    return pc.match_substring_regex(values, _AMOUNT)


def _forms(sign: str, point: str | None) -> Iterator[str]:
    points: Sequence[str] = point or ("." if sign and sign in _WITH_A_POINT else ".,")
    for one in points:
        for group in _GROUPS[one]:
            yield one + group + sign


def _currency(values: pa.Array) -> str | None:
    """The currency sign of all texts; ``""`` where none has one, ``None`` where they differ."""
    signs = {re.sub(r"[\d\s.,'()+\u2019\u00a0\u202f-]", "", text) for text in pc.unique(values).to_pylist()}
    return signs.pop() if len(signs) == 1 else None


def to_plain(values: pa.Array, form: str) -> tuple[pa.Array, Mask | None]:
    """Texts in the plain form, and a mask of those that are not of the form given (their places hold NULL).

    Example:
        >>> plain, misfit = to_plain(pa.array(["(1.200,5)", "7", "2.5"]), ",.")
        >>> plain.to_pylist(), misfit.tolist()
        (['-1200.5', '7', None], [False, False, True])
    """
    if form == PLAIN:
        return values, None
    point, group, sign = form[0], form[1:2], form[2:]
    text = pc.utf8_trim_whitespace(values)
    if sign:
        text = pc.replace_substring_regex(text, rf"\s*{re.escape(sign)}\s*", "")
    text = pc.replace_substring_regex(text, r"^\(\s*([^+\-()]+?)\s*\)$", r"-\1")
    whole = rf"(?:[1-9]\d{{0,2}}(?:{re.escape(group)}\d{{3}})+|\d+)" if group else r"\d+"
    fits = pc.match_substring_regex(text, rf"^[+-]?{whole}(?:{re.escape(point)}\d+)?$")
    plain = pc.replace_substring(text, group, "") if group else text
    plain = pc.replace_substring(plain, point, ".")
    misfit = pc.invert(pc.fill_null(fits, True))
    mask = np.asarray(misfit.to_numpy(zero_copy_only=False))
    return pc.if_else(misfit, pa.scalar(None, pa.string()), plain), mask if mask.any() else None


def may_be_grouped(values: pa.Array) -> bool:
    """Whether the points of plain numbers may separate thousands, as in ``2.155``, unlike ``2.5`` or ``0.125``.

    Example:
        >>> may_be_grouped(pa.array(["2.155", "6"])), may_be_grouped(pa.array(["2.155", "2.5"]))
        (True, False)
    """
    pointed = values.filter(pc.match_substring(values, "."))
    return bool(len(pointed)) and bool(
        pc.all(pc.match_substring_regex(pointed, r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$")).as_py()
    )


def lossy_numbers(text: pa.Array) -> Mask:
    """Which numbers have digits that a DOUBLE does not keep."""
    digits = pc.replace_substring_regex(text, r"[eE].*$|[+\-.\s]", "")
    many = pc.greater(pc.utf8_length(pc.ascii_ltrim(digits, "0")), SURE_DIGITS)
    numbers = pc.match_substring_regex(text, rf"{WHOLE_NUMBER}|{POINTED}|{EXPONENT}")
    doubtful = pc.and_(numbers, pc.or_(many, pc.match_substring_regex(text, "[eE]")))
    lossy = np.asarray(pc.fill_null(doubtful, False).to_numpy(zero_copy_only=False)).copy()
    places = np.flatnonzero(lossy)
    if len(places):
        some = pc.utf8_trim_whitespace(text.take(pa.array(places)))
        # Most numbers of many digits were written by a program that writes as few as tell its doubles apart.
        same = pc.equal(pc.replace_substring_regex(some, r"^\+", "").cast(pa.float64()).cast(pa.string()), some)
        lossy[places] = ~np.asarray(same.to_numpy(zero_copy_only=False))
        for place in np.flatnonzero(lossy):
            lossy[place] = loses_digits(text[int(place)].as_py().strip())
    return lossy


def loses_digits(number: str) -> bool:
    """Whether a number has digits that a DOUBLE does not keep.

    Example:
        >>> loses_digits("0.1"), loses_digits("12345678901234567"), loses_digits("1e400")
        (False, True, True)
    """
    found = float(number)
    return found in (float("inf"), float("-inf")) or Decimal(repr(found)) != Decimal(number)
