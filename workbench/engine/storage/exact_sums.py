"""Sums of DOUBLE, and of products of them, without rounding: equal in any order, and taken back to the last bit.

A number is a sum of digits times powers of 2^32, from 2^-4352 to 2^4192, in which the product of any four DOUBLE has
room. It is kept as a text of the digits that are not 0, each with its power, so that it passes through Spark as any
text does. Digits are added up one power at a time, in 64 bits; a sum of 2^31 of them fits. How often NaN and the
infinities are in a sum are three more digits, so that these can be taken back, too.

Source: Kulisch, Computer Arithmetic and Validity, 2008 (the complete register); Neal, Fast exact summation using small
and large superaccumulators, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.storage.sort_keys import BITS, DIGITS, digits_of_words, texts_of, words_of_digits

Whole = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

NAN, INFINITY, NEGATIVE_INFINITY = SPECIAL = (0, 1, 2)
"""Places of the digits that count what is no number."""
_FIRST = 200
"""Place of the digit before the point."""
_BASE = 32
_HALF, _LOW = np.int64(1 << (_BASE - 1)), np.int64((1 << _BASE) - 1)
_LIMB = 27
"""Bits of a part of a mantissa: products of two of them, and sums of these, fit 64 bits."""
_PART = np.int64((1 << _LIMB) - 1)
_MANTISSA = 53
_LEAST = -1085
"""Exponents of 64 bits from which on they are no subnormal number."""
_LIMBS = 4
"""Digits of a whole number of 128 bits."""
_PLACE = 2
"""Characters that say the place of a digit."""

DigitColumns = Mapping[int, Whole]
"""Digits by their place: of each number that at the place."""


def exact_products(factors: Sequence[Doubles]) -> DigitColumns:
    """The products of numbers, row by row, without rounding.

    Args:
        factors: at most four, of equal length.

    Example:
        >>> numbers = ExactSums(exact_products([np.array([0.1, 1e300, float("nan")])] * 2), 3)
        >>> numbers.rounded().tolist()
        [0.010000000000000002, inf, nan]
    """
    with np.errstate(all="ignore"):
        together: Doubles = np.prod(np.array(factors), axis=0)
    finite = np.all(np.isfinite(factors), axis=0)
    parts, exponent = [np.ones(len(finite), dtype=np.int64)], np.zeros(len(finite), dtype=np.int64)
    for factor in factors:
        mantissas, own = np.frexp(np.where(finite, factor, 0.0))
        whole = np.ldexp(mantissas, _MANTISSA).astype(np.int64)
        parts = _carried(_convolved(parts, [whole & _PART, whole >> _LIMB]))
        exponent += own - _MANTISSA
    there = np.any(parts, axis=0)
    exponent[~there] = exponent[there].min() if there.any() else 0
    columns: dict[int, Whole] = {}
    for at, part in enumerate(parts):
        place, shift = np.divmod(exponent + _LIMB * at, _BASE)
        moved = part << shift
        for ahead, digits in enumerate((moved & _LOW, moved >> _BASE)):
            for each in np.flatnonzero(np.bincount(place + (_FIRST + ahead), digits != 0)):
                own = np.where(place == each - _FIRST - ahead, digits, 0)
                columns[int(each)] = columns[int(each)] + own if int(each) in columns else own
    special = {NAN: np.isnan(together), INFINITY: together == np.inf, NEGATIVE_INFINITY: together == -np.inf}
    return columns | {
        at: (found & ~finite).astype(np.int64) for at, found in special.items() if (found & ~finite).any()
    }


def digits_of_bits(numbers: Whole) -> DigitColumns:
    """The bits of numbers, each a digit of its own, so that a sum has how many numbers have it.

    Example:
        >>> sums = ExactSums(digits_of_bits(np.array([5, -1])), 2)
        >>> {bit: counts.tolist() for bit, counts in sums.counts_of_bits().items() if bit < 3}
        {0: [1, 1], 1: [0, 1], 2: [1, 1]}
    """
    words = numbers.view(np.uint64)
    some = int(np.bitwise_or.reduce(words)) if len(words) else 0
    return {
        _FIRST + bit: (words >> np.uint64(bit) & np.uint64(1)).astype(np.int64)
        for bit in range(some.bit_length())
        if some >> bit & 1
    }


@dataclass(frozen=True)
class ExactSums:
    """Exact numbers.

    Attributes:
        columns: their digits.
        length: how many there are.
    """

    columns: DigitColumns
    length: int

    @staticmethod
    def of_whole(limbs: Sequence[Whole], length: int) -> ExactSums:
        """Whole numbers by their digits (``storage.reduction.limbs_of``)."""
        return ExactSums({_FIRST + at: limb for at, limb in enumerate(limbs)}, length)

    @staticmethod
    def of_texts(texts: pa.Array) -> ExactSums:
        """The numbers of texts; NULL is 0."""
        filled = texts.fill_null("")
        offsets = np.frombuffer(filled.buffers()[1], dtype=np.int32)[filled.offset :][: len(filled) + 1]
        characters = np.frombuffer(filled.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
        entries = characters.reshape(-1, _PLACE + DIGITS)
        rows = np.repeat(np.arange(len(filled)), np.diff(offsets) // (_PLACE + DIGITS))
        places = entries[:, 0].astype(np.int64) << BITS | entries[:, 1]
        digits = words_of_digits(entries[:, _PLACE:]).view(np.int64)
        columns = {}
        for place in np.flatnonzero(np.bincount(places)):
            own = places == place
            columns[int(place)] = np.zeros(len(filled), dtype=np.int64)
            columns[int(place)][rows[own]] = digits[own]
        return ExactSums(columns, len(filled))

    def texts(self, missing: npt.NDArray[np.bool_] | None = None) -> pa.Array:
        """A text of each number; NULL where it is missing."""
        columns = dict(self._carried())
        every = [(at, np.flatnonzero(digits)) for at, digits in columns.items()]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for _, rows in every)])
        places = np.repeat([at for at, _ in every], [len(rows) for _, rows in every]).astype(np.int64)
        digits = np.concatenate([np.zeros(0, dtype=np.int64), *(columns[at][rows] for at, rows in every)])
        order = np.argsort(rows, kind="stable")
        entries = np.empty((len(rows), _PLACE + DIGITS), dtype=np.uint8)
        entries[:, 0], entries[:, 1] = places[order] >> BITS, places[order] & ((1 << BITS) - 1)
        entries[:, _PLACE:] = digits_of_words(digits[order].view(np.uint64))
        ends = np.append(0, np.cumsum(np.bincount(rows, minlength=self.length))) * (_PLACE + DIGITS)
        texts = texts_of(entries.reshape(-1), ends)
        if missing is None or not missing.any():
            return texts
        return pa.Array.from_buffers(pa.string(), len(texts), [pa.array(~missing).buffers()[1], *texts.buffers()[1:]])

    def counts_of_bits(self) -> DigitColumns:
        """By bit, how many of the numbers that were added up have it (``digits_of_bits``)."""
        places, digits, _ = self._absolute
        return {at - _FIRST: own.astype(np.int64) for at, own in zip(places.tolist(), digits, strict=True)}

    def limbs(self) -> list[Whole]:
        """Whole numbers in two to four limbs of 32 bits, of which the last one has the rest."""
        none = np.zeros(self.length, dtype=np.int64)
        most = max((at for at in self.columns), default=_FIRST) - _FIRST
        limbs = [self.columns.get(_FIRST + at, none) for at in range(max(most + 1, 2))]
        while len(limbs) > _LIMBS:
            highest = limbs.pop()
            limbs[-1] = limbs[-1] + (highest << _BASE)
        return limbs

    def chosen(self, which: npt.NDArray[np.int64]) -> ExactSums:
        """The numbers at some positions."""
        return ExactSums({at: digits[which] for at, digits in self.columns.items()}, len(which))

    def plus(self, other: ExactSums) -> ExactSums:
        """The sums of two lists of numbers of one length."""
        columns = dict(self.columns)
        for at, digits in other.columns.items():
            columns[at] = columns[at] + digits if at in columns else digits
        return ExactSums(columns, self.length)

    def times(self, weights: Whole) -> ExactSums:
        """Each number multiplied by its weight."""
        return ExactSums({at: digits * weights for at, digits in self.columns.items()}, self.length)

    def rounded(self) -> Doubles:
        """The nearest DOUBLE of each number.

        Of the digits from the highest one on 64 bits are enough, if the last of them says whether any bit follows.
        """
        places, digits, sign = self._absolute
        if not len(places):
            return self.with_special(np.zeros(self.length))
        there = digits != 0
        last = len(places) - 1
        top, low = last - np.argmax(there[::-1], axis=0), np.argmax(there, axis=0)
        rows = np.arange(self.length)
        padded = np.concatenate([np.zeros((2, self.length), dtype=np.uint64), digits])
        first, second, third = (padded[top + at, rows] for at in (2, 1, 0))
        shift = (_BASE - np.frexp(first.astype(np.float64))[1]).astype(np.uint64)
        base = np.uint64(_BASE)
        bits = first << (base + shift) | second << shift | third >> (base - shift)
        more = (low < top - 2) & (sign != 0) | ((third << shift & np.uint64(_LOW)) != 0)
        exponent = _BASE * (places[top] - _FIRST - 1) - shift.astype(np.int64)
        with np.errstate(over="ignore"):
            numbers = np.ldexp((bits | more.astype(np.uint64)).astype(np.float64), exponent) * sign
        for at in np.flatnonzero(exponent < _LEAST):  # these have fewer digits, and would be rounded twice
            numbers[at] = rounded_quotient(int(self.integers[at]), 1, self.exponent)
        return self.with_special(numbers)

    @property
    def _absolute(self) -> tuple[Whole, npt.NDArray[np.uint64], Whole]:
        """Places in order, the digits of the absolute values at each of them, none below 0, and the signs."""
        columns = {at: digits for at, digits in self._carried() if at not in SPECIAL}
        places = np.array([*columns] and range(min(columns), max(columns) + 1), dtype=np.int64)
        none = np.zeros(self.length, dtype=np.int64)
        balanced = [columns.get(int(at), none) for at in places]
        sign, carry, digits = none, none, []
        for digit in balanced:
            sign = np.where(digit != 0, np.sign(digit), sign)
        for digit in balanced:
            carry = carry + digit * sign
            digits.append((carry & _LOW).astype(np.uint64))
            carry = carry >> _BASE
        return places, np.array(digits, dtype=np.uint64), sign

    def with_special(self, numbers: Sequence[float | None] | Doubles) -> Doubles:
        """Numbers of these sums; NaN and infinities where the sums have some."""
        found = np.array(numbers, dtype=np.float64)
        nan, most, least = (self.columns.get(at, np.zeros(self.length, dtype=np.int64)) > 0 for at in SPECIAL)
        return np.where(nan | most & least, np.nan, np.where(most, np.inf, np.where(least, -np.inf, found)))

    @property
    def special(self) -> npt.NDArray[np.bool_]:
        """Which sums have NaN or an infinity."""
        return np.any(
            [np.zeros(self.length, dtype=bool), *(self.columns[a] > 0 for a in SPECIAL if a in self.columns)], 0
        )

    @cached_property
    def exponent(self) -> int:
        """The numbers are ``integers`` times 2 to the power of this."""
        return _BASE * (min((at for at in self.columns if at not in SPECIAL), default=_FIRST) - _FIRST)

    @cached_property
    def integers(self) -> npt.NDArray[Any]:
        """Integers of Python, of any size."""
        total = np.zeros(self.length, dtype=object)
        for at, digits in self.columns.items():
            if at not in SPECIAL:
                total += digits.astype(object) << (_BASE * (at - _FIRST) - self.exponent)
        return total

    def _carried(self) -> Iterator[tuple[int, Whole]]:
        """The digits by their place, of an absolute value of at most half the base."""
        yield from ((at, digits) for at, digits in self.columns.items() if at in SPECIAL)
        places = sorted(at for at in self.columns if at not in SPECIAL)
        carry, at = np.zeros(self.length, dtype=np.int64), 0
        while places or carry.any():
            at = at if carry.any() else places[0]
            digits = carry
            if places and places[0] == at:
                digits = digits + self.columns[places.pop(0)]
            carry = (digits + _HALF) >> _BASE
            yield at, digits - (carry << _BASE)
            at += 1


def rounded_quotient(number: int, by: int, exponent: int) -> float | None:
    """The DOUBLE nearest to a quotient of integers times a power of 2; ``None`` of a division by 0.

    Example:
        >>> rounded_quotient(1, 3, 1), rounded_quotient(-1, 1, 9999), rounded_quotient(1, 0, 0)
        (0.6666666666666666, -inf, None)
    """
    if not by:
        return None
    try:
        return (number << exponent) / by if exponent >= 0 else number / (by << -exponent)
    except OverflowError:
        return float("inf") if (number > 0) == (by > 0) else float("-inf")


def _convolved(one: Sequence[Whole], other: Sequence[Whole]) -> list[Whole]:
    """The parts of a product of numbers that are given in parts."""
    found = [np.zeros(len(one[0]), dtype=np.int64) for _ in range(len(one) + len(other))]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[i + j] += a * b
    return found


def _carried(parts: list[Whole]) -> list[Whole]:
    """Parts of 27 bits; the last one has the sign."""
    for at in range(len(parts) - 1):
        parts[at + 1] = parts[at + 1] + (parts[at] >> _LIMB)
        parts[at] = parts[at] & _PART
    return parts
