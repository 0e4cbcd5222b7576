"""Where words begin and end for ``\\b`` of Java 17, beyond ASCII.

A sign of a word is a letter, a digit of any script, an underscore, and a mark upon a letter or digit, as the accent of
an e. Java looks at numbers of 16 bits for the letter below a mark: a mark of more bits is no sign of the word before a
boundary, and none stands upon a letter of more bits. So marks become signs that say what they are; all other parts of
a pattern of ASCII take these as they take the marks. Letters are those of Unicode 13, as Java 17 knows them; from
Java 19 on, words are of ASCII.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import lru_cache

_LETTERS = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"))
_MARK = "Mn"
_SINCE_UNICODE_14 = (
    "870-887 889-88e 897-89f 8b5 8c8-8d2 c3c c5d cdd ece 170d 171f 180f 1ac1-1ace 1b4c 1c89-1c8a 1dfa 2c2f "
    "2c5f 9ffd-9fff a7c0-a7c1 a7cb-a7cd a7d0-a7d1 a7d3 a7d5-a7dc a7f2-a7f4 10570-1057a 1057c-1058a 1058c-10592 "
    "10594-10595 10597-105a1 105a3-105b1 105b3-105b9 105bb-105bc 105c0-105f3 10780-10785 10787-107b0 "
    "107b2-107ba 10d40-10d65 10d69-10d6d 10d6f-10d85 10ec2-10ec4 10efc-10eff 10f70-10f85 11070-11075 110c2 "
    "1123f-11241 11380-11389 1138b 1138e 11390-113b5 113b7 113bb-113c0 113ce 113d0-113d3 113e1-113e2 "
    "116d0-116e3 11740-11746 11ab0-11abf 11bc0-11be0 11bf0-11bf9 11f00-11f02 11f04-11f10 11f12-11f33 "
    "11f36-11f3a 11f40 11f42 11f50-11f5a 12f90-12ff0 1342f 13440-13455 13460-143fa 16100-16129 1612d-16139 "
    "16a70-16abe 16ac0-16ac9 16d40-16d6c 16d70-16d79 18cff 1aff0-1aff3 1aff5-1affb 1affd-1affe 1b11f-1b122 "
    "1b132 1b155 1ccf0-1ccf9 1cf00-1cf2d 1cf30-1cf46 1df00-1df1e 1df25-1df2a 1e030-1e06d 1e08f 1e290-1e2ae "
    "1e4d0-1e4f9 1e5d0-1e5fa 1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee 1e7f0-1e7fe 2a6de-2a6df 2b735-2b739 "
    "2ebf0-2ee5d 31350-323af"
)
"""Ranges of letters, digits and marks that Java 17 does not know, up to those of Unicode 16."""
_MARKS_UNTIL_14 = ("\u1734", "\U0001171e")
_NONE, _BEHIND, _WHOLE = "\ufdd0", "\ufdd1", "\ufdd2"
"""Of no word; of the word that follows it, but of none before; of a word. Unicode has them for no text."""
_LARGEST_OF_16_BITS = "\uffff"


def with_word_marks(text: str) -> str:
    """A text of as many signs, whose marks say whether they belong to words.

    Example:
        >>> [ord(sign) - 0xFDD0 for sign in with_word_marks("e\\u0301 \\u0301") if sign > "e"]
        [2, 0]
    """
    if text.isascii():
        return text
    signs, is_upon_letter = list[str](), False
    for sign in text:
        category = _category(sign)
        is_wide = sign > _LARGEST_OF_16_BITS
        if category == _MARK:
            signs.append((_BEHIND if is_wide else _WHOLE) if is_upon_letter else _NONE)
            is_upon_letter = is_upon_letter and not is_wide
        else:
            signs.append(_NONE if _NONE <= sign <= _WHOLE else sign)
            is_upon_letter = category in _LETTERS and not is_wide
    return "".join(signs)


@lru_cache(maxsize=1)
def _unknown() -> frozenset[int]:
    ends = (part.partition("-") for part in _SINCE_UNICODE_14.split())
    return frozenset(code for first, _, last in ends for code in range(int(first, 16), int(last or first, 16) + 1))


def _category(sign: str) -> str:
    """The category of a sign, which is none of those that Java 17 does not know."""
    if sign in _MARKS_UNTIL_14:
        return _MARK
    return "" if ord(sign) in _unknown() else unicodedata.category(sign)


@lru_cache(maxsize=1)
def boundary_in_java() -> str:
    """A boundary of a word, as Python looks for it in texts with marks told."""
    before, behind = f"[{_letters()}_{_WHOLE}]", f"[{_letters()}_{_WHOLE}{_BEHIND}]"
    return f"(?:(?<={before})(?!{behind})|(?<!{before})(?={behind}))"


def _letters() -> str:
    """The ranges of letters and digits, within brackets of a pattern."""
    ranges, begin = list[str](), -1
    for code in range(sys.maxunicode + 2):
        is_letter = code <= sys.maxunicode and _category(chr(code)) in _LETTERS
        if is_letter and begin < 0:
            begin = code
        elif not is_letter and begin >= 0:
            ranges.append(f"{chr(begin)}-{chr(code - 1)}")
            begin = -1
    return "".join(ranges)
