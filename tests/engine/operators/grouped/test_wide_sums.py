"""Sums of decimals that pass 38 digits on the way and come back: Python's integers are the judge, batch by batch."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench import Session

MOST = Decimal(10**38 - 1)
LARGE = Decimal(9 * 10**37)
CHANGES: list[tuple[int, Decimal | None, int]] = [
    (1, LARGE, 1), (1, LARGE, 1), (2, -LARGE, 1), (2, None, 1), (1, Decimal(5), 1),
    (1, LARGE, 1), (2, -LARGE, 1), (2, -LARGE, 1),
    (1, LARGE, -1), (1, LARGE, -1), (2, -LARGE, -1), (3, MOST, 1),
    (2, -LARGE, -1), (3, Decimal(10) ** 20, 1), (3, Decimal(10) ** 20 - 1, 1),
    (3, Decimal(10) ** 20, -1), (3, MOST.copy_negate(), 1), (1, Decimal(-5), 1),
]  # fmt: skip
"""A group, a value, and 1, or -1 where the row is taken back."""
FORMS = {
    "parts": "SELECT g, SUM(v) AS s, COUNT(v) AS n FROM t GROUP BY g",
    "parts beside rows": "SELECT g, SUM(v) AS s, COUNT(v) AS n, MIN_BY(id, id) AS first FROM t GROUP BY g",
}


def expected(rows: int, scale: int) -> set[tuple[int, Decimal | None, int]]:
    """The sums of the first changes; NULL where one has too many digits."""
    left: dict[int, list[Decimal | None]] = {}
    for group, value, sign in CHANGES[:rows]:
        if sign > 0:
            left.setdefault(group, []).append(value)
        else:
            left[group].remove(value)
    found = set()
    for group, values in left.items():
        known = [int(value) for value in values if value is not None]
        fits = bool(known) and abs(sum(known)) <= MOST
        found.add((group, Decimal(sum(known)).scaleb(-scale) if fits else None, len(known)))
    return found


@pytest.mark.parametrize("scale", [0, 6])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("history", "batch"), [(0, 1), (8, 3)])
def test_a_sum_that_comes_back_is_right(spark: SparkSession, form: str, scale: int, history: int, batch: int) -> None:
    with localcontext(prec=50), Session(spark) as session:
        values = [None if value is None else value.scaleb(-scale) for _, value, _ in CHANGES]
        columns = {
            "id": pa.array(identities()),
            "g": pa.array([group for group, _, _ in CHANGES]),
            "v": pa.array(values, pa.decimal128(38, scale)),
            "w": pa.array([sign for _, _, sign in CHANGES]),
        }
        session.add_stream("t", pa.table(columns), history=history, batch=batch, weight="w")
        query = session.register(FORMS[form], "q")
        rows = history
        while True:
            answer = query.result()
            found = {(int(g), s if isinstance(s, Decimal) else None, int(n)) for g, s, n in answer.values[:, :3]}
            assert found == expected(rows, scale), rows
            if not session.run(1):
                break
            rows = min(rows + batch, len(CHANGES))


EDGE = [MOST, Decimal(10) ** 20, 1 - Decimal(10) ** 20, Decimal(-1)]
"""They come to 38 nines, and how often 10^20 is in them, times 10^20, has a digit more."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sign", [1, -1])
def test_only_the_sum_itself_has_to_fit(spark: SparkSession, form: str, sign: int) -> None:
    with localcontext(prec=50), Session(spark) as session:
        values = pa.array([sign * value for value in [*EDGE, Decimal(1)]], pa.decimal128(38, 0))
        columns = {"id": pa.array(range(len(values))), "g": pa.array([1] * len(values)), "v": values}
        session.add_stream("t", pa.table(columns), history=2, batch=2)
        query = session.register(FORMS[form], "q")
        session.run(1)
        assert query.result()["s"].tolist() == [sign * MOST]
        session.run(1)
        fits = sign * sum(EDGE) + sign
        assert abs(fits) > MOST and query.result()["s"].tolist() == [None]


def identities() -> list[int]:
    """A number for each row; one that is taken back has that of the row that goes."""
    numbers: list[int] = []
    open_: dict[tuple[int, Decimal | None], list[int]] = {}
    for at, (group, value, sign) in enumerate(CHANGES):
        if sign > 0:
            open_.setdefault((group, value), []).append(at)
        numbers.append(at if sign > 0 else open_[group, value].pop(0))
    return numbers
