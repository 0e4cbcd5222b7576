"""Numbers as texts by a model in postgres, and back: ``TO_CHAR(x, 'FM999,990.00')``, ``TO_NUMBER(s, '99G999D9')``.

The rules are those of PostgreSQL's ``formatting.c`` with the locale C: a point, commas, a blank as the currency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

CONTEXT = Context(prec=400, rounding=ROUND_HALF_UP)
_KEYS = ("EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH", "B", "C", "D", "G", "L", "S", "V")
_ELEMENT = re.compile(
    rf"""(?P<key>{"|".join((*_KEYS, *map(str.lower, _KEYS)))}|[,.09])
                           | "(?P<quoted>(?:\\.|[^"])*)"? | \\(?=")(?P<quote>") | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_DIGITS_OF_DOUBLE = 15
_NO_LETTERS = "0123456789.,+-"
_ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
          (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
_MOST_ROMAN, _ROMAN_WIDTH = 3999, 15
_BITS_OF_EXPONENTS = 32


class ModelError(ValueError):
    """What PostgreSQL refuses in a model."""


@dataclass(frozen=True)
class Model:
    """A model of a number.

    Attributes:
        elements: its parts in order: keys, and texts that stand for themselves.
        flags: the keys that are said of the whole number, and ``0``, ``.``.
        before, after: places for digits before and after the point.
        moved: digits by which V moves the number.
        zeros: the place of the first 0, from 1 on, and the number of places up to the last one; 0 of none.
        sign: where S stands, "before" or "after"; "" of no S.
        sign_after: how many digits stand before the S that is before the number.
    """

    elements: tuple[tuple[str, bool], ...]
    flags: frozenset[str]
    before: int
    after: int
    moved: int
    zeros: tuple[int, int]
    sign: str
    sign_after: int


@lru_cache(maxsize=1_024)
def read_model(text: str) -> Model:
    """The model that a text is.

    Raises:
        ModelError: what PostgreSQL refuses.

    Example:
        >>> model = read_model("FM990.0")
        >>> model.before, model.after, sorted(model.flags)
        (3, 1, ['.', '0', 'FM'])
    """
    elements, flags = [], set[str]()
    before = after = moved = sign_after = start = end = 0
    sign = ""
    for text_, is_key in _elements(text):
        elements.append((text_, is_key))
        if not is_key:
            continue
        key = {"D": "."}.get(text_.upper(), text_.upper())
        if "EEEE" in flags:
            raise ModelError("EEEE must be the last element")
        match key:
            case "9" | "0":
                if "PR" in flags:
                    raise ModelError(f"{key} must be ahead of PR")
                if key == "9" and "V" in flags:
                    moved += 1
                    continue
                if key == "0" and not flags & {"0", "."}:
                    flags.add("0")
                    start = before + 1
                after, before = (after + 1, before) if "." in flags else (after, before + 1)
                end = before + after if key == "0" else end
            case ".":
                if flags & {".", "V"}:
                    raise ModelError("a second point" if "." in flags else "a point and V")
                flags.add(".")
            case "S":
                if flags & {"S", "PL", "MI", "PR"}:
                    raise ModelError("S and another sign")
                flags.add("S")
                sign, sign_after = ("after", 0) if "." in flags else ("before", before)
            case "MI" | "PL" | "SG" | "PR":
                if flags & ({"S", "PL", "MI"} if key == "PR" else {"S"}):
                    raise ModelError(f"{key} and another sign")
                flags |= {"PL", "MI"} if key == "SG" else {key}
            case "V":
                if "." in flags:
                    raise ModelError("a point and V")
                flags.add("V")
            case "EEEE":
                if flags & {"B", "FM", "S", "PR", "MI", "PL", "RN", "V"}:
                    raise ModelError("EEEE stands with digits and a point alone")
                flags.add("EEEE")
            case "B" if not before and not after and "0" not in flags:
                flags.add("B")
            case "FM" | "RN":
                if key == "RN" and key in flags:
                    raise ModelError("RN twice")
                flags.add(key)
    if "RN" in flags and (flags - {"RN", "FM"} or before or after or moved):
        raise ModelError("RN with other elements")
    if not before + after + moved and any(is_key and key.upper() == "TH" for key, is_key in elements):
        raise ModelError("TH without digits")
    return Model(tuple(elements), frozenset(flags), before, after, moved, (start, end), sign, sign_after)


def _elements(text: str) -> Iterator[tuple[str, bool]]:
    for match in _ELEMENT.finditer(text):
        if match["key"]:
            yield match["key"], True
        elif match["quoted"] is not None:
            yield from ((sign, False) for sign in re.sub(r"\\(.)", r"\1", match["quoted"], flags=re.DOTALL))
        else:
            yield match["quote"] or match["sign"], False


def number_in_model(value: int | Decimal | float, text: str, bits: int = 64) -> str | None:
    """TO_CHAR of a number; ``None`` where PostgreSQL ends in an error. ``bits``: of an integer.

    Example:
        >>> number_in_model(1234.5, "FM9G999D00"), number_in_model(-12, "999PR"), number_in_model(12, "9")
        ('1,234.50', ' <12>', ' #')
    """
    model = read_model(text)
    if "RN" in model.flags:
        whole = int(Decimal(value).to_integral_value(ROUND_HALF_UP)) if isinstance(value, Decimal) else round(value)
        return _write(model, _roman(whole), 0, "")
    if "EEEE" in model.flags:
        return _in_exponents(value, model.after, bits)
    after = model.after
    if isinstance(value, float):
        value *= 10.0**model.moved
        digits = len(f"{abs(value):.0f}")
        after = 0 if digits >= _DIGITS_OF_DOUBLE else min(after, _DIGITS_OF_DOUBLE - digits)
        model = replace(model, after=after)
        written = f"{value:.{after}f}"
    elif isinstance(value, int):
        value *= 10**model.moved
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            return None
        written = f"{value}{'.' * bool(after)}{'0' * after}"
    else:
        moved = value.scaleb(model.moved, CONTEXT)
        written = f"{moved.quantize(Decimal(1).scaleb(-after), ROUND_HALF_UP, CONTEXT):f}"
        written = written.removeprefix("-") if not written.strip("-0.") else written
    sign, digits_ = ("-", written[1:]) if written.startswith("-") else ("+", written)
    places = model.before + model.moved
    length = len(digits_.partition(".")[0])
    if length > places:
        digits_ = f"{'#' * places}.{'#' * model.after}"
    return _write(model, digits_, max(0, places - length), sign)


def _in_exponents(value: int | Decimal | float, after: int, bits: int) -> str:
    if isinstance(value, float) or (isinstance(value, int) and bits <= _BITS_OF_EXPONENTS):
        return f"{float(value): .{after}e}"
    exact = Decimal(value)
    exponent = exact.adjusted() if exact else 0
    digits = exact.scaleb(-exponent, CONTEXT).quantize(Decimal(1).scaleb(-after), ROUND_HALF_UP, CONTEXT)
    return f"{digits: f}e{exponent:+03}" if exact else f" {abs(digits):f}e+00"


def _roman(value: int) -> str:
    if not 1 <= value <= _MOST_ROMAN:
        return "#" * _ROMAN_WIDTH
    written = ""
    for worth, letters in _ROMAN:
        count, value = divmod(value, worth)
        written += letters * count
    return written


def _write(model: Model, number: str, blanks: int, sign: str) -> str:
    writer = _Writer(model, number, blanks, sign)
    for element, is_key in model.elements:
        writer.write(element) if is_key else writer.out.append(element)
    return "".join(writer.out).partition("\0")[0]


@dataclass
class _Writer:
    """Writes digits one by one: NUM_processor and NUM_numpart_to_char."""

    model: Model
    number: str
    blanks: int
    sign: str
    out: list[str] = field(default_factory=list)
    at: int = 0
    place: int = 0
    in_number: bool = False

    def __post_init__(self) -> None:
        model, flags = self.model, set(self.model.flags)
        self.fills = "FM" in flags
        self.zero = model.zeros[0] - 1 if "0" in flags else -1
        self.post_sign = model.sign == "after"
        if flags & {"PL", "MI"}:
            self.wrote_sign = "MI" in flags
        else:
            if self.sign != "-" and self.fills:
                flags.discard("PR")
            self.wrote_sign = self.sign == "+" and self.fills and "S" not in flags
            self.post_sign = self.post_sign or (
                model.sign == "before" and model.before + model.moved == model.sign_after
            )
        self.brackets, self.signed, self.pointed = "PR" in flags, "S" in flags, "." in flags
        self.last = self._last_relevant() if self.fills and self.pointed else -1
        self.count = model.after + model.before + model.moved - 1 + (not self.wrote_sign and self.blanks == 0)

    def _last_relevant(self) -> int:
        """The place of the last digit that is written, of the point if no digit behind it is; -1 without a point."""
        point = self.number.find(".")
        if point < 0:
            return -1
        last = max(point, len(self.number.rstrip("0")) - 1)
        if self.model.zeros[1] > self.blanks:
            last = max(last, min(len(self.number) - 1, self.model.zeros[1] - self.blanks))
        return last

    def write(self, element: str) -> None:
        """Write the text of an element."""
        match key := element.upper():
            case "9" | "0" | "." | "D":
                if "RN" not in self.model.flags:
                    self._digit(key)
            case "," | "G":
                if self.in_number or not self.fills:
                    self.out.append("," if self.in_number else " ")
            case "L":
                self.out.append(" ")
            case "RN":
                roman = self.number if element.isupper() else self.number.lower()
                self.out.append(roman if self.fills else roman.rjust(_ROMAN_WIDTH))
            case "TH":
                if "RN" not in self.model.flags and self.number[:1] != "#" and self.sign != "-" and not self.pointed:
                    ending = _ending(self.number)
                    self.out.append(ending.upper() if element.isupper() else ending)
            case "MI" | "PL":
                own = "-" if key == "MI" else "+"
                if self.sign == own or not self.fills:
                    self.out.append(own if self.sign == own else " ")
            case "SG":
                self.out.append(self.sign)

    def _begins_with_zero(self) -> bool:
        """``0.1`` by ``9.9`` is ``  .1``."""
        return self.zero < 0 and self.at == 0 and self.number[:1] == "0" and self.model.after != 0

    def _digit(self, key: str) -> None:
        self.in_number = False
        begins = self.place >= self.blanks or (self.zero >= 0 and self.zero == self.place)
        ends_at_point = self.last >= 0 and self.number[self.last] == "."
        if not self.wrote_sign and begins and (not self._begins_with_zero() or ends_at_point):
            self._sign_before()
        if self.place < self.blanks and (self.zero < 0 or self.zero > self.place):
            self.out.append("" if self.fills else " ")
        elif self.place < self.blanks:
            self.out.append("0")
            self.in_number = True
        else:
            self._number(key, ends_at_point)
        end = self.count + bool(self.blanks) + self.pointed
        if self.last >= 0 and self.last == self.at:
            end = self.place
        if self.place + 1 == end:
            if self.wrote_sign and self.brackets:
                self.out.append(" " if self.sign == "+" else ">")
            elif self.signed and self.post_sign:
                self.out.append(self.sign)
        self.place += 1

    def _sign_before(self) -> None:
        if self.signed:
            if self.post_sign:
                return
            self.out.append(self.sign)
        elif self.brackets:
            self.out.append(" " if self.sign == "+" else "<")
        elif self.sign == "+":
            self.out.append("" if self.fills else " ")
        else:
            self.out.append("-")
        self.wrote_sign = True

    def _number(self, key: str, ends_at_point: bool) -> None:
        sign = self.number[self.at : self.at + 1]
        if sign == ".":
            self.out.append(".")
        elif self.last >= 0 and self.at > self.last and key != "0":
            pass
        elif self._begins_with_zero():
            self.out.append(("0" if ends_at_point else "") if self.fills else " ")
        else:
            self.out.append(sign or "\0")
            self.in_number = True
        self.at += bool(sign)


def _ending(number: str) -> str:
    if number[-2:-1] == "1":
        return "th"
    return {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th")


def number_of_model(text: str, model_text: str) -> Decimal | None:
    """TO_NUMBER; ``None`` of what is no number, or has more digits than the model.

    Example:
        >>> number_of_model("-12,454.8-", "99G999D9S"), number_of_model("<12>", "99PR")
        (Decimal('-12454.8'), Decimal('-12'))
    """
    if not text:
        return None
    reader = _Reader(read_model(model_text), text)
    if reader.model.flags & {"RN", "EEEE"}:
        raise ModelError("RN and EEEE are not read")
    for element, is_key in reader.model.elements:
        if reader.at >= len(text):
            break
        reader.read(element) if is_key else reader.pass_over()
    digits = "".join(reader.digits).removesuffix(".")
    if not digits.strip(".") or len(digits.partition(".")[0].lstrip("0")) > reader.model.before + reader.model.moved:
        return None
    return Decimal(reader.sign.strip() + digits).scaleb(-reader.model.moved, CONTEXT)


@dataclass
class _Reader:
    """Reads a text element by element: NUM_processor and NUM_numpart_from_char."""

    model: Model
    text: str
    at: int = 0
    sign: str = " "
    digits: list[str] = field(default_factory=list)
    after: int = -1
    """Digits behind the point; -1 before it."""

    def _next(self, further: int = 0) -> str:
        return self.text[self.at + further : self.at + further + 1]

    def pass_over(self) -> None:
        """Skip one character of the model."""
        self.at += 1

    def _pass_over_letters(self, count: int) -> None:
        while count and self._next() and self._next() not in _NO_LETTERS:
            self.at, count = self.at + 1, count - 1

    def read(self, element: str) -> None:
        """Read the text of an element."""
        match key := element.upper():
            case "9" | "0" | "." | "D":
                self._digit(key)
                self.at += 1
            case "," | "G":
                if "FM" not in self.model.flags and self._next() == ",":
                    self.at += 1
            case "L":
                self._pass_over_letters(1)
            case "TH":
                if self.sign != "-" and "." not in self.model.flags:
                    self._pass_over_letters(2)
            case "MI" | "PL" | "SG":
                if self._next() in {"MI": "-", "PL": "+", "SG": "+-"}[key]:
                    self.sign = self._next()
                    self.at += 1
                else:
                    self._pass_over_letters(1)

    def _digit(self, key: str) -> None:
        flags = self.model.flags
        if self._next() == " ":
            self.at += 1
        begins = not any(map(str.isdigit, self.digits))
        if self.sign == " " and key in "09" and begins:
            brackets = "PR" in flags and self._next() == "<"
            if self._next() in ("-", "+") or brackets:
                self.sign = "-" if brackets else self._next()
                self.at += 1
        is_read, sign = False, self._next()
        if sign and sign in "0123456789":
            if self.after == self.model.after:
                return
            self.digits.append(sign)
            self.after += self.after >= 0
            is_read = True
        elif sign == "." and "." in flags and self.after < 0:
            self.digits.append(sign)
            self.after, is_read = 0, True
        if self.sign != " " or not any(map(str.isdigit, self.digits)) or not sign:
            return
        if "S" in flags and is_read and self._next(1) and self._next(1) in "+-":
            self.sign = self._next(1)
            self.at += 1
        elif not is_read and "S" not in flags and flags & {"PL", "MI"} and sign in "+-":
            self.sign = sign
