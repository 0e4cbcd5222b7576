"""DOUBLEs as Java 17 writes them; a test of kernels compares them with the Java that runs."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from workbench.engine.physical.stored.kernels.text_casts import texts_of_doubles
from workbench.sql.functions.java_digits import text_of_double


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2e23, "1.9999999999999998E23"),  # half a unit of the last place is not near enough
        (2.0**60, "1.15292150460684698E18"),
        (5e-324, "4.9E-324"),
        (2.0**-1022, "2.2250738585072014E-308"),
        (2.0**-371, "2.0790819531289798E-112"),  # of a power of two the number below is nearer
        (1.9787674999194536e25, "1.9787674999194535E25"),  # a sum passed 64 bits
        (9_999_999.999999998, "9999999.999999998"),
        (1e7, "1.0E7"),
        (1e-3, "0.001"),
        (9.999e-4, "9.999E-4"),
        (-0.0, "-0.0"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_a_number_has_the_text_of_java_17(number: float, text: str) -> None:
    assert text_of_double(number) == text
    assert texts_of_doubles(pa.array([number, None])).to_pylist() == [text, None]


def test_texts_are_read_as_the_numbers_they_are_of() -> None:
    random = Random(5)
    numbers = [struct.unpack("d", struct.pack("Q", random.getrandbits(64)))[0] for _ in range(4_000)]
    numbers += [float(f"{random.randrange(1, 10**15)}e{random.randrange(-30, 10)}") for _ in range(4_000)]
    known = [number for number in numbers if math.isfinite(number)]
    texts = texts_of_doubles(pa.array(known)).to_pylist()
    assert texts == [text_of_double(number) for number in known]
    assert [float(text) for text in texts] == known


def test_numbers_of_few_digits_have_these() -> None:
    random = Random(6)
    for _ in range(4_000):
        written = Decimal(random.randrange(1, 10**15)).scaleb(-random.randrange(30))
        assert Decimal(text_of_double(float(written))) == written
