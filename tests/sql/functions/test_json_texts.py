"""Texts of JSON are read as DuckDB reads them, and fast where they are strict JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from workbench.sql.functions.json_texts import JsonNumber, NoJsonError, double_text, read_json

NUMBERS = ["0", "-0", "1.50", "-1E-7", "1e5", "1e999", "18446744073709551615", "18446744073709551616", "0.0001", "1e22"]
TEXTS = [
    *NUMBERS, "true", "null", '"a"', '"\\n\\u00e9"', '"é😀"', "[]", "{}", ' { "a" : [1, {"b": 2.50}], "a": null } ',
    "[" * 199 + "]" * 199,
]  # fmt: skip
NO_JSON = ["", "01", "1.", "{1: 2}", '"a', '"\x01"', '"\\ud800"', "[1 2]", "nul", "[" * 202 + "]" * 202]


def types_of(value: object) -> object:
    """A value beside the types of its parts, since a number is a text, too."""
    parts = map(types_of, value) if isinstance(value, (list, tuple)) else [value]
    return type(value), *parts


@pytest.mark.parametrize("text", TEXTS)
def test_strict_json_means_the_same_beside_what_only_duckdb_reads(text: str) -> None:
    (beside,) = read_json(f"[{text},]")
    assert types_of(read_json(text)) == types_of(beside)


@pytest.mark.parametrize("text", NO_JSON)
def test_what_is_no_json_is_none(text: str) -> None:
    with pytest.raises(NoJsonError):
        read_json(text)


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 0.1, 1e-5, 123456789.125, 1e15, 1e16, 1e20, 1e21, 5e-324])
def test_a_double_is_written_so_that_it_is_read_again(value: float) -> None:
    assert read_json(double_text(value)) == JsonNumber(double_text(value)) and float(double_text(value)) == value


def test_strict_json_is_read_fast() -> None:
    """A scan of tokens takes more than a dozen times as long as the reader in C."""
    texts = [json.dumps({"device": "web", "at": {"w": n / 8, "b": [n, 1]}}) for n in range(5_000)]

    def least_seconds(read: Callable[[str], object]) -> float:
        taken = []
        for _ in range(3):
            begun = time.process_time()
            for text in texts:
                read(text)
            taken.append(time.process_time() - begun)
        return min(taken)

    assert least_seconds(read_json) < 7 * least_seconds(json.loads)
