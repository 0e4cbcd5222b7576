"""What happens in the streams of other trades: the notebooks tell it."""

from __future__ import annotations

import pandas as pd
import pytest

from workbench.errors import StreamError
from workbench.experiments.sample_streams.trades import DEPLOYMENTS, DEVICES, readings, requests


@pytest.mark.parametrize("made", [requests, readings])
def test_the_arguments_decide_the_rows(made) -> None:
    assert made(minutes=90).equals(made(minutes=90))
    assert not made(minutes=90).equals(made(minutes=90, seed=5))
    with pytest.raises(StreamError, match="too few"):
        made(minutes=0)


def test_requests_come_in_order_fail_after_a_deployment_and_have_one_program_among_them() -> None:
    log = requests()
    assert log["at"].is_monotonic_increasing and 8_000 < len(log) < 12_000
    failed = pd.merge_asof(log[log["status"] == 500], DEPLOYMENTS, left_on="at", right_on="since")
    assert len(failed) > 10 and {*failed["version"]} == {"1.9.0"} and {*failed["path"]} == {"/checkout"}
    program = log[log["visitor"] == "v00000"]
    assert len(program) == 300 and program["path"].is_unique
    assert log["visitor"].value_counts().iloc[1] < 40


def test_readings_come_late_once_have_a_gap_and_are_corrected() -> None:
    rows = readings().reset_index()
    again = rows[rows.duplicated(["device", "at"], keep=False)]
    assert {*again["device"]} == {"t07"} and len(again) == 120
    assert (again.groupby("at")["celsius"].agg(lambda pair: pair.iloc[0] - pair.iloc[1]).round(1) == 3).all()
    by_time = rows[rows["at"] > "2026-01-01"].drop_duplicates(["device", "at"]).sort_values(["device", "at"])
    gaps = by_time.groupby("device")["at"].diff() > pd.Timedelta(minutes=5)
    assert by_time.loc[gaps, "device"].to_list() == ["t04"]
    behind = rows["at"].cummax() - rows["at"]
    late = rows[(behind > pd.Timedelta(minutes=30)) & (rows["at"] > "2026-01-01") & (rows["device"] != "t07")]
    assert {*late["device"]} < {*DEVICES.loc[DEVICES["room"] == "fish", "device"]} and not late.empty
    assert sorted(rows.loc[rows["at"] < "2026-01-01", "device"]) == ["t03", "t03"]
