"""Numbers as texts by a format in spark, and back: ``TO_CHAR(x, '$999,990.00S')``, ``TO_NUMBER(s, '99G999D9')``.

The rules are those of Spark's ``ToNumberParser``: signs, a dollar, groups of digits, a point, digits, signs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

_FORM = re.compile(
    r"(?P<front>MI|S)?(?P<dollar>\$)?(?P<whole>[09][09,G]*)?(?P<point>[.D])?(?P<rest>[09]+)?"
    r"(?P<dollar_behind>\$)?(?P<back>MI|S|PR)?"
)
_BLANKS = " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"


@dataclass(frozen=True)
class NumberFormat:
    """A format.

    Attributes:
        front, back: the signs before and behind the digits, MI, S, PR or "".
        dollar: whether a dollar stands before the digits.
        groups: the places before the point by groups, each with whether it begins with 0 and is so full.
        point: whether there is a point.
        after: the places behind it.
    """

    front: str
    back: str
    dollar: bool
    groups: tuple[tuple[int, bool], ...]
    point: bool
    after: int

    @property
    def before(self) -> int:
        """The places before the point."""
        return sum(count for count, _ in self.groups)


@lru_cache(maxsize=1_024)
def read_format(text: str) -> NumberFormat | None:
    """The format that a text is; ``None`` of what Spark refuses.

    Example:
        >>> read_format("S$09,999.99").groups, read_format("9,,9")
        (((2, True), (3, False)), None)
    """
    match = _FORM.fullmatch(text)
    if match is None or not (match["whole"] or match["rest"]) or match["dollar_behind"]:
        return None
    if match["front"] and match["front"] == match["back"]:
        return None
    parts = re.split("[,G]", match["whole"] or "") if match["whole"] else []
    if not all(parts) or (match["rest"] and not match["point"]):
        return None
    groups = tuple((len(part), part[0] == "0") for part in parts)
    after = len(match["rest"] or "")
    return NumberFormat(
        match["front"] or "", match["back"] or "", bool(match["dollar"]), groups, bool(match["point"]), after
    )


def number_in_format(value: Decimal, text: str) -> str:
    """TO_CHAR of a number: signs of # where it has more digits than the format.

    Example:
        >>> number_in_format(Decimal("-12.3"), "$999.99MI"), number_in_format(Decimal(100), "99")
        ('$ 12.30-', '##')
    """
    form = read_format(text)
    assert form is not None
    whole, _, rest = f"{abs(value):f}".partition(".")
    whole, rest = whole.lstrip("0"), rest.rstrip("0")
    if len(whole) > form.before or len(rest) > form.after:
        whole, rest = "#" * form.before, "#" * form.after
    digits, rest = iter(whole.rjust(form.before)), rest.ljust(form.after, "0")
    negative = value < 0
    out = list[str]()
    if form.back == "PR" and negative:
        out.append("<")
    _sign(out, form.front, negative)
    if form.dollar:
        out.append("$")
    for place, (count, exactly) in enumerate(form.groups):
        if place:
            out.append(",") if out and out[-1].isdigit() else _blank(out)
        for _ in range(count):
            digit = next(digits)
            if digit != " ":
                out.append(digit)
            elif exactly:
                out.append("0")
            else:
                _blank(out)
    if form.point:
        if out and out[-1] == " ":
            out[-1] = "0"
        out += [".", *rest]
    if form.back == "PR":
        _without_lone_point(out)
        _behind(out, ">") if negative else out.extend("  ")
    else:
        _sign(out, form.back, negative)
    _without_lone_point(out)
    written = "".join(out)
    return "0" if written in ("", "+", "-") else written


def _sign(out: list[str], sign: str, negative: bool) -> None:
    if sign == "S" or (sign and negative):
        _without_lone_point(out)
        _behind(out, "-" if negative else "+")
    elif sign:
        out.append(" ")


def _behind(out: list[str], sign: str) -> None:
    """Insert a sign behind the last character that is not a blank."""
    place = len(out)
    while place and out[place - 1] == " ":
        place -= 1
    out.insert(place, sign)


def _blank(out: list[str]) -> None:
    """Write a blank before following signs."""
    place = len(out)
    while place and out[place - 1] in "+-<":
        place -= 1
    out.insert(place, " ")


def _without_lone_point(out: list[str]) -> None:
    if "." in out and out[(place := out.index(".")) + 1 : place + 2] in ([], [" "]):
        out[place] = " "


def number_of_format(text: str, format_: str) -> str | None:
    """The digits of TO_NUMBER; ``None`` of what is not of the format.

    Example:
        >>> number_of_format("$1,234.5", "$9,999.99"), number_of_format("12", "9")
        ('1234.50', None)
    """
    form = read_format(format_)
    assert form is not None
    reader = _Reader(text)
    opened = form.back == "PR" and reader.take("<")
    negative = _is_negative(reader, form.front)
    if form.dollar and reader.at < len(text) and not reader.take("$"):
        return None
    whole, rest = "", ""
    if form.groups:
        sizes, whole = reader.digits()
        if not _fit(sizes, form.groups):
            return None
    if form.point:
        pointed = reader.take(".")
        if form.after:
            sizes, rest = reader.digits()
            if not _fit(sizes, ((form.after, False),)):
                return None
            whole, rest = (whole, rest) if pointed else (whole + rest, "")
    if form.back == "PR":
        closed = reader.take(">")
        if closed != opened:
            return None
        negative ^= closed
    else:
        negative ^= _is_negative(reader, form.back)
    if reader.at < len(text) or not whole + rest or (whole and not form.groups):
        return None
    return f"{'-' * negative}{whole or '0'}{'.' * bool(form.after)}{rest.ljust(form.after, '0')}"


def _is_negative(reader: _Reader, sign: str) -> bool:
    """Read an optional sign."""
    if sign == "S" and reader.take("+"):
        return False
    return bool(sign) and reader.take("-")


def _fit(sizes: list[int], groups: tuple[tuple[int, bool], ...]) -> bool:
    """Whether groups of digits match the groups of a format, from the last one on."""
    if len(sizes) > len(groups):
        return False
    sizes = [0] * (len(groups) - len(sizes)) + sizes
    return all(
        size == count if exactly else size <= count for size, (count, exactly) in zip(sizes, groups, strict=True)
    )


class _Reader:
    """Reads a text from its start."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, sign: str) -> bool:
        """Whether a sign is next, which is then read."""
        found = self.text[self.at : self.at + 1] == sign
        self.at += found
        return found

    def digits(self) -> tuple[list[int], str]:
        """Digits, blanks between them, and commas: the sizes of the groups between commas, and all digits."""
        sizes, digits = [0], ""
        while self.at < len(self.text) and (sign := self.text[self.at]) in f"0123456789,{_BLANKS}":
            self.at += 1
            if sign == ",":
                sizes.append(0)
            elif sign not in _BLANKS:
                digits += sign
                sizes[-1] += 1
        return sizes, digits
