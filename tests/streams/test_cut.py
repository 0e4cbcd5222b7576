"""Rows that a batch passes over, and that a later one takes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.streams.corrections.declared import corrections_of
from workbench.streams.cut import Cut, Gap
from workbench.streams.ingest import ingest
from workbench.streams.stream import Stream, replayed

ROWS = 1_000


def stream(folder: Path) -> Stream:
    return replayed(ingest("s", pa.table({"n": [*range(ROWS)]}), folder / "log"), 100, 10, "n", shed="sample")


def took(given: Stream, cut: int | Cut) -> tuple[Stream, list[int]]:
    after, table = given.next(cut)
    return after, table["n"].to_pylist()


def test_the_oldest_are_passed_over_and_caught_up_in_parts(tmp_path: Path) -> None:
    after, rows = took(stream(tmp_path), Cut(taken=20, passed=300))
    assert (rows, after.position, after.left_out) == ([*range(400, 420)], 420, 300)
    after, rows = took(after, Cut(taken=5, passed=80))
    assert (rows, after.gaps) == ([*range(500, 505)], (Gap(100, 400), Gap(420, 500)))
    after, rows = took(after, Cut(caught_up=250))
    assert (rows, after.left_out, after.position) == ([*range(100, 350)], 130, 505)
    after, rows = took(after, Cut(taken=2, caught_up=60))
    assert rows == [*range(350, 400), *range(420, 430), 505, 506]
    after, rows = took(after, Cut(caught_up=10_000))
    assert (rows, after.gaps) == ([*range(430, 500)], ())


def test_a_sample_and_what_it_left_out_are_all_rows(tmp_path: Path) -> None:
    after, sample = took(stream(tmp_path), Cut(passed=600, kept=0.25))
    assert after.position == 700 and 110 < len(sample) < 190 and after.left_out == 600 - len(sample)
    after, first = took(after, Cut(caught_up=100))
    after, second = took(after, Cut(caught_up=10_000))
    assert sorted(sample + first + second) == [*range(100, 700)] and max(first) < 200 <= min(second)
    assert not after.gaps


def test_the_same_cuts_give_the_same_rows(tmp_path: Path) -> None:
    cuts = {1: Cut(passed=50, kept=0.5), 2: 7, 3: Cut(caught_up=20, taken=3), 4: Cut(caught_up=1_000)}
    given, rows = stream(tmp_path), []
    for cut in cuts.values():
        given, taken = took(given, cut)
        rows.append(taken)
    arrivals = [table["n"].to_pylist() for batch, table in given.arrivals(cuts) if batch]
    assert arrivals == rows and sorted(number for taken in rows for number in taken) == [*range(100, 160)]


def test_more_than_there_is_passes_over_the_rest(tmp_path: Path) -> None:
    after, rows = took(stream(tmp_path), Cut(taken=9, passed=10_000))
    assert (rows, after.left_out, after.finished) == ([], 900, True)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"shed": "newest"}, "shed is 'newest'"),
        ({"shed": "oldest"}, "has no event times"),
        ({"shed": "oldest", "lateness": 5, "time": "n"}, "has a lateness"),
        ({"shed": "sample", "time": "n", "corrections": corrections_of("upsert", ["n"], None)}, "is corrected"),
    ],
)
def test_where_rows_cannot_be_left_out(tmp_path: Path, about: dict[str, object], message: str) -> None:
    shed, time = str(about.pop("shed")), about.get("time")
    log = ingest("s", pa.table({"n": [1, 2]}), tmp_path / "log", **about)  # type: ignore[arg-type]
    with pytest.raises(StreamError, match=message):
        replayed(log, time=time, shed=shed)  # type: ignore[arg-type]
