"""What Java knows of single signs: which are blanks and digits, and their numbers of 16 bits."""

from __future__ import annotations

import unicodedata

BLANKS_OF_JAVA = "\\t-\\r\\x1c-\\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"
"""Blanks, within a class of a regular expression; none are those at which no line is broken."""
_SINCE_UNICODE_14 = frozenset((0x2C5F, 0xA7C1, 0xA7D1, 0xA7D7, 0xA7D9, *range(0x10597, 0x105BD)))
"""Small letters of which Java 17 knows no capital."""
_WIDE = 0xFEE0
"""How far a wide Latin letter is from the narrow one."""


def hexadecimal_digit(sign: str) -> int | None:
    """The value of a digit to the base 16, in any script.

    Example:
        >>> hexadecimal_digit("f"), hexadecimal_digit("\uff26"), hexadecimal_digit("\u0664"), hexadecimal_digit("g")
        (15, 15, 4, None)
    """
    if (digit := unicodedata.decimal(sign, None)) is not None:
        return int(digit)
    narrow = chr(ord(sign) - _WIDE) if "\uff21" <= sign <= "\uff46" else sign
    return "abcdef".index(narrow.lower()) + 10 if narrow in "abcdefABCDEF" else None


def in_capitals(text: str) -> str:
    """Convert a text to capitals as Java 17 does; Spark's UPPER knows more letters.

    Example:
        >>> in_capitals("straße ꟁ")
        'STRASSE ꟁ'
    """
    return "".join(sign if ord(sign) in _SINCE_UNICODE_14 else sign.upper() for sign in text)


def units_of_16_bits(text: str) -> list[int]:
    """The numbers of 16 bits that a text is in Java.

    Example:
        >>> len(units_of_16_bits("a\U0001f600"))
        3
    """
    data = text.encode("utf-16-le", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
