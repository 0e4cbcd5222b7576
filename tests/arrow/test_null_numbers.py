"""NULL and NaN of a DOUBLE stay apart in pandas, whatever is done with the rows."""

from __future__ import annotations

import pyarrow as pa

from workbench.arrow.frames import frame_of, nulls_of

NAN = float("nan")


def test_null_is_told_from_nan_after_rows_are_chosen_sorted_and_joined() -> None:
    rows = frame_of(pa.table({"id": range(6), "x": [NAN, None, 1.0, None, NAN, -0.0]}))
    assert rows["x"].dtype == float and rows["x"].isna().sum() == 4
    assert nulls_of(rows["x"]).tolist() == [False, True, False, True, False, False]
    some = rows[rows["x"].isna()].sort_values("id", ascending=False).reset_index(drop=True)
    joined = some.merge(rows[["id"]], on="id")
    assert some["id"][nulls_of(some["x"])].tolist() == joined["id"][nulls_of(joined["x"])].tolist() == [3, 1]


def test_other_columns_have_one_missing_value() -> None:
    rows = frame_of(pa.table({"n": [1, None], "s": ["a", None], "x": [1.0, 2.0], "none": pa.nulls(2, pa.float64())}))
    missing = {name: nulls_of(rows[name]).tolist() for name in rows}
    assert missing == {"n": [False, True], "s": [False, True], "x": [False, False], "none": [True, True]}
