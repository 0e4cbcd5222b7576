"""Functions of texts that Spark has and few ask for: masks, digits that check others, addresses."""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus


def _masked(text: str, *signs: str | None) -> str:
    """With other signs in place of capitals, small letters, digits and all others; ``None`` leaves them."""
    upper, lower, digit, other = (*signs, *("X", "x", "n", None)[len(signs) :])
    found = list[str]()
    for sign in text:
        by = upper if sign.isupper() else lower if sign.islower() else (
            digit if unicodedata.category(sign) == "Nd" else other)  # fmt: skip
        found.append(sign if by is None else by)
    return "".join(found)


def _passes_luhn(text: str) -> bool:
    digits = [ord(sign) - 48 for sign in reversed(text)]
    if not digits or not all(0 <= digit <= 9 for digit in digits):
        return False
    return (sum(digits[::2]) + sum(2 * digit - 9 * (digit > 4) for digit in digits[1::2])) % 10 == 0


def _chr(number: int) -> str:
    return "" if number < 0 else chr(number & 0xFF)


def _url_encoded(text: str) -> str:
    return quote_plus(text, safe="*-._").replace("~", "%7E")


ODD_TEXTS: dict[str, Callable[..., Any]] = {
    "luhn_check": _passes_luhn,
    "chr": _chr,
    "url_encode": _url_encoded,
    "quote": lambda text: "'" + text.replace("'", "\\'") + "'",
    "make_valid_utf8": lambda text: text,
    "try_validate_utf8": lambda text: text,
    "is_valid_utf8": lambda text: True,
    "to_base32": lambda text: base64.b32encode(text.encode()).decode(),
}
"""The value of a row by the name of the function; each is NULL of a NULL."""
ODD_BYTES: dict[str, Callable[..., Any]] = {
    "base32_of_bytes": lambda data: base64.b32encode(data).decode(),
    "encode": lambda text: text.encode(),
    "concat_bytes": lambda one, other: one + other,
}
"""The same of functions that take bytes, or give them."""


def masked(text: str | None, *signs: str | None) -> str | None:
    """MASK of a text.

    Example:
        >>> masked("Ab 1"), masked("Ab 1", None, "*")
        ('Xx n', 'A* n')
    """
    return None if text is None else _masked(text, *signs)
