"""Functions of texts that Spark has and few ask for: masks, digits that check others, addresses, sounds, base 64."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

from workbench.engine.physical.stored.kernels.odd_signs import BLANKS_OF_JAVA, hexadecimal_digit, units_of_16_bits
from workbench.sql.functions.distances import jaro_matches

_HEX = re.compile("[0-9A-Fa-f]*")
_BASE64 = re.compile(f"[{BLANKS_OF_JAVA}]*")
_IN_BASE64 = re.compile(r"([A-Za-z0-9+/]*)(={0,2})")
_SURROGATES = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Of halves of 16 bits, which are no UTF-8: Java takes each for one wrong sign."""
_SOUNDS = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "01230127022455012623017202", strict=True))
_NO_SOUND, _LEFT_OUT, _SOUNDS_OF_TEXT = "0", "7", 4
_COUNTED_SIGNS = 4
"""At the beginning of both texts, which make them more alike."""


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


def _url_decoded(text: str) -> str | None:
    """Decode ``%41`` and ``+`` of a URL; NULL for a ``%`` without two digits, which may be digits of any script."""
    decoded, at = bytearray(), 0
    while at < len(text):
        if text[at] != "%":
            decoded += b" " if text[at] == "+" else text[at].encode()
            at += 1
            continue
        if (byte := _byte_of(text[at + 1 : at + 3])) is None:
            return None
        decoded.append(byte)
        at += 3
    return _SURROGATES.sub("\ufffd".encode(), decoded).decode(errors="replace")


def _byte_of(digits: str) -> int | None:
    """The number that two digits are, or one behind a plus."""
    if len(digits) < 2:
        return None
    values = [hexadecimal_digit(sign) for sign in digits.removeprefix("+")]
    return None if None in values else sum(16**at * (value or 0) for at, value in enumerate(reversed(values)))


def _soundex(text: str) -> str:
    """Of English letters; of a text that begins with none it is the text."""
    first = text[:1].upper() if text[:1].isascii() else ""
    if first not in _SOUNDS:
        return text
    found, last = first, _SOUNDS[first]
    for letter in text[1:]:
        sound = _SOUNDS.get(letter.upper()) if letter.isascii() else None
        if sound == _LEFT_OUT:
            continue
        if sound is not None and sound not in (_NO_SOUND, last):
            found += sound
        last = sound or _NO_SOUND
    return found[:_SOUNDS_OF_TEXT].ljust(_SOUNDS_OF_TEXT, "0")


def _jaro_winkler(one: str, other: str) -> float:
    """How alike two texts are, by numbers of 16 bits."""
    if one == other:
        return 1.0
    left, right = units_of_16_bits(one), units_of_16_bits(other)
    m, moved = jaro_matches(*sorted((left, right), key=len))
    if not m:
        return 0.0
    alike = (m / len(left) + m / len(right) + (m - moved / 2) / m) / 3
    prefix = 0
    while prefix < min(_COUNTED_SIGNS, len(left), len(right)) and left[prefix] == right[prefix]:
        prefix += 1
    return alike + 0.1 * prefix * (1.0 - alike)


def _bytes_of_base64(text: str) -> bytes | None:
    """Blanks are left out but behind ``=``; the last group may lack its ``=``."""
    signs, ends = text.partition("=")[::2]
    found = _IN_BASE64.fullmatch(_BASE64.sub("", signs) + "=" * (len(signs) < len(text)) + ends)
    if found is None or ((len(found[1]) + len(found[2])) % 4 and (found[2] or len(found[1]) % 4 == 1)):
        return None
    return base64.b64decode(found[1] + "=" * (-len(found[1]) % 4))


def _bytes_of_hex(digits: str) -> bytes | None:
    return binascii.unhexlify("0" * (len(digits) % 2) + digits) if _HEX.fullmatch(digits) else None


BYTES_OF_FORMATS: dict[str, Callable[[str], bytes | None]] = {
    "hex": _bytes_of_hex,
    "base64": _bytes_of_base64,
    "utf-8": str.encode,
    "utf8": str.encode,
}
"""By the formats of TRY_TO_BINARY, in small letters."""


def _text_of_bytes(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


ODD_TEXTS: dict[str, Callable[..., Any]] = {
    "luhn_check": _passes_luhn,
    "chr": _chr,
    "url_encode": _url_encoded,
    "try_url_decode": _url_decoded,
    "soundex": _soundex,
    "jaro_winkler_similarity": _jaro_winkler,
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
    "unhex": _bytes_of_hex,
    "unbase64": _bytes_of_base64,
    "decode_bytes": _text_of_bytes,
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
