"""The imaginary visits of B.12 and B.13."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from workbench.experiments.sample_streams.visits import FIRST_MOMENT, VISIT_DAYS, visits


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(rows=20_000, seed=2)


@pytest.mark.parametrize(("column", "share"), [("disease", 0.005), ("hospital", 0.005), ("fee", 0.01)])
def test_some_values_are_null(table: pa.Table, column: str, share: float) -> None:
    assert share / 2 < table.column(column).null_count / 20_000 < share * 2


def test_visits_have_a_time_of_day_on_each_of_the_days(table: pa.Table) -> None:
    moments = table.column("visit_date").to_pylist()
    assert {moment.date() for moment in moments} == {
        (FIRST_MOMENT + timedelta(days=day)).date() for day in range(VISIT_DAYS)
    }
    assert len({moment.hour for moment in moments}) == 24


def test_no_fee_is_negative_and_some_are_waived(table: pa.Table) -> None:
    fees = table.column("fee")
    assert pc.min(fees).as_py() == 0
    assert 0.01 < pc.sum(pc.equal(fees, pa.scalar(0, fees.type))).as_py() / 20_000 < 0.03
