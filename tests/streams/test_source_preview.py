"""A preview of a source says what adding it as a stream would take, and copies nothing."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pandas as pd
import pytest

from workbench.errors import StreamError
from workbench.streams.ingest import ingest
from workbench.streams.source_preview import preview_source


def test_it_has_the_types_that_the_stream_will_have(tmp_path: Path) -> None:
    head, rows = "Flight,At,Day,Fee", ("1,2013-01-02 03:04:05,2013-01-02,2.50", "2,,2013-01-03,", "3,,2013-01-04,4")
    text = "\n".join([head, *rows, ""])
    (tmp_path / "flights.csv").write_text(text)
    look = preview_source(str(tmp_path / "flights.csv"), rows=2)
    log = ingest("flights", str(tmp_path / "flights.csv"), tmp_path / "log")
    assert [*look.columns] == [*log.columns]
    assert look.rows.num_rows == 2 and look.rows["at"].to_pylist() == [dt.datetime(2013, 1, 2, 3, 4, 5), None]
    assert look.times == ["at", "day", "flight"]


def test_rows_that_do_not_fit_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,m\n1,2\n3\n4,5\n")
    look = preview_source(tmp_path / "a.csv")
    assert look.rows.num_rows == 2 and len(look.misfits) == 1 and look.misfits[0].startswith("line 3: ")


def test_a_folder_that_grows_is_looked_at_and_not_read_on(tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.csv")
    pd.DataFrame({"id": range(9), "fee": 1.5}).to_csv(tmp_path / "1.csv", index=False)
    for _ in range(2):
        assert preview_source(pattern, rows=3).rows["id"].to_pylist() == [0, 1, 2]


def test_what_cannot_be_looked_at(tmp_path: Path) -> None:
    rows = ({"n": n} for n in range(3))
    with pytest.raises(StreamError, match="would not give its first rows again"):
        preview_source(rows)
    assert len([*rows]) == 3, "nothing was taken"
    with pytest.raises(StreamError, match="no file"):
        preview_source(tmp_path / "missing.csv")
    assert preview_source(pd.DataFrame({"n": pd.Series([], dtype="int64")})).rows.num_rows == 0


def test_numbers_are_shown_as_they_will_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("fee;n\n1.234,56;1\n7,5;NA\n")
    look = preview_source(tmp_path / "x.csv")
    assert (look.rows.to_pylist(), look.misfits) == ([{"fee": 1234.56, "n": 1}, {"fee": 7.5, "n": None}], ())
