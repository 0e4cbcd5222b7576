"""Which differing rows are those at a jump of a sum, and which are wrong."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench.session.verification.comparison import bag_difference, is_between

LOW = pa.table({"g": ["a", "b", "c"], "n": [1, 7, 3], "x": [0.5, 0.7, 0.9]})
HIGH = pa.table({"g": ["a", "b", "d"], "n": [2, 7, 4], "x": [0.5, 0.7, 0.9]})


@pytest.mark.parametrize(
    ("right", "kept", "expected"),
    [
        (("a", 1, 0.5), ("a", 2, 0.5), True),
        (("a", 1, 0.5), ("a", 2, 0.5 + 1e-12), True),
        (("a", 1, 0.5), ("a", 3, 0.5), False),
        (("a", 1, 0.5), ("a", 2, 0.6), False),
        (("b", 7, 0.7), ("b", 8, 0.7), False),
        (("c", 3, 0.9), None, True),
        (None, ("d", 4, 0.9), True),
        (("b", 7, 0.7), None, False),
    ],
)
def test_rows_that_only_one_of_two_shifted_answers_has(
    right: tuple[object, ...] | None, kept: tuple[object, ...] | None, expected: bool
) -> None:
    def table(row: tuple[object, ...] | None) -> pa.Table:
        return LOW.slice(0, 0) if row is None else pa.table(dict(zip("gnx", ([v] for v in row), strict=True)))

    assert is_between(bag_difference(table(right), table(kept)), LOW, HIGH) is expected
