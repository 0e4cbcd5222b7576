"""Sums and spreads of decimals have all their digits, however many are behind the point and however rows come."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from statistics import variance

import pyarrow as pa
import pytest
from long import some
from pyspark.sql import SparkSession

from workbench import Session

D = Decimal
MANY = D("1E-10")
ROWS = 6


def values(precision: int, scale: int) -> list[D]:
    """Numbers with a digit in the last place; the fourth comes again."""
    whole = min(precision - scale, 3)
    numbers = [D(17 * n + 10**whole * n * n).scaleb(-scale) for n in (1, -2, 3, 4, 4, 5)]
    return [n % D(10) ** (precision - scale) for n in numbers]


@pytest.fixture(scope="module")
def session(spark: SparkSession):  # type: ignore[no-untyped-def]
    with Session(spark) as session:
        for precision, scale in DIGITS:
            column = pa.array(values(precision, scale), pa.decimal128(precision, scale))
            rows = pa.table({"n": range(ROWS), "x": column})
            session.add_stream(f"t{precision}_{scale}", rows, history=2, batch=2)
        yield session


DIGITS = some([(5, 5), (18, 13), (31, 10), (38, 38), (15, 2), (25, 10)], 4)


def test_sums_have_all_digits(session: Session) -> None:
    queries = {}
    for precision, scale in DIGITS:
        t = f"t{precision}_{scale}"
        queries |= {
            f"all {t}": f"SELECT SUM(x) AS v FROM {t}",
            # Of two equal rows one goes, and all of the first two: they are taken back.
            f"some {t}": f"SELECT SUM(x) AS v FROM (SELECT x FROM {t} EXCEPT ALL SELECT x FROM {t} WHERE n IN (1, 4))",
            # A row counts twice.
            f"twice {t}": f"SELECT SUM(x) AS v FROM (SELECT x FROM {t} UNION ALL SELECT x FROM {t})",
        }
    session.register_many(queries)
    session.run(2)
    wrong = []
    for precision, scale in DIGITS:
        t, given = f"t{precision}_{scale}", values(precision, scale)
        expected = {"all": sum(given), "some": sum(given) - given[1] - given[4], "twice": 2 * sum(given)}
        for what, value in expected.items():
            found = session.query(f"{what} {t}").result()["v"].tolist()
            if found != [value]:
                wrong.append(f"{what} {t}: {found}, not {value}")
    assert not wrong, "\n".join(wrong)


def test_spreads_of_small_numbers_are_exact(session: Session) -> None:
    wrong = []
    for precision, scale in DIGITS:
        query = session.register(f"SELECT VAR_SAMP(x) AS v FROM t{precision}_{scale}", name="spread")
        expected = float(variance(map(Fraction, values(precision, scale)[: query.registered * 2 + 2])))
        (found,) = query.result()["v"].tolist()
        if found != pytest.approx(expected, rel=1e-9, abs=0):
            wrong.append(f"decimal({precision},{scale}): {found}, not {expected}")
    assert not wrong, "\n".join(wrong)
