"""Rows that a batch passes over, and that a later one takes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.streams.corrections.declared import corrections_of
from workbench.streams.cut import BatchCut, Gap, hashed, share
from workbench.streams.ingest import ingest
from workbench.streams.stream import Stream, replayed

ROWS = 1_000


def stream(folder: Path) -> Stream:
    return replayed(ingest("s", pa.table({"n": [*range(ROWS)]}), folder / "log"), 100, 10, "n", shed="sample")


def took(given: Stream, cut: int | BatchCut) -> tuple[Stream, list[int]]:
    after, table = given.next(cut)
    return after, table["n"].to_pylist()


def test_the_oldest_are_passed_over_and_caught_up_in_parts(tmp_path: Path) -> None:
    after, rows = took(stream(tmp_path), BatchCut(taken=20, passed=300))
    assert (rows, after.position, after.left_out) == ([*range(400, 420)], 420, 300)
    after, rows = took(after, BatchCut(taken=5, passed=80))
    assert (rows, after.gaps) == ([*range(500, 505)], (Gap(100, 400), Gap(420, 500)))
    after, rows = took(after, BatchCut(caught_up=250))
    assert (rows, after.left_out, after.position) == ([*range(100, 350)], 130, 505)
    after, rows = took(after, BatchCut(taken=2, caught_up=60))
    assert rows == [*range(350, 400), *range(420, 430), 505, 506]
    after, rows = took(after, BatchCut(caught_up=10_000))
    assert (rows, after.gaps) == ([*range(430, 500)], ())


def test_a_sample_and_what_it_left_out_are_all_rows(tmp_path: Path) -> None:
    after, sample = took(stream(tmp_path), BatchCut(passed=600, kept=0.25))
    assert after.position == 700 and 110 < len(sample) < 190 and after.left_out == 600 - len(sample)
    after, first = took(after, BatchCut(caught_up=100))
    after, second = took(after, BatchCut(caught_up=10_000))
    assert sorted(sample + first + second) == [*range(100, 700)] and max(first) < 200 <= min(second)
    assert not after.gaps


KEYS = {
    "text": pa.array([None if n % 50 == 0 else f"ä{n % 50}" for n in range(ROWS)]),
    "number": pa.array([n % 50 - 9 for n in range(ROWS)]),
    "double": pa.array([-0.0 if n % 100 == 0 else n % 50 / 4 for n in range(ROWS)]),
    "decimal": pa.array([Decimal(n % 50) / 4 for n in range(ROWS)], pa.decimal128(9, 2)),
    "day": pa.array([n % 50 for n in range(ROWS)], pa.int32()).cast(pa.date32()),
    "moment": pa.array([n % 50 for n in range(ROWS)], pa.timestamp("us")),
    "truth": pa.array([n % 50 < 20 for n in range(ROWS)]),
}


def keyed(folder: Path, kind: str) -> Stream:
    rows = pa.table({"n": [*range(ROWS)], "K": KEYS[kind]})
    return replayed(ingest("s", rows, folder / "log"), 100, 10, "n", shed="sample by K")


@pytest.mark.parametrize("kind", KEYS)
def test_a_sample_by_a_key_has_all_rows_of_some_keys(tmp_path: Path, kind: str) -> None:
    given = keyed(tmp_path, kind)
    assert given.shed == "sample by k"
    after, sample = took(given, BatchCut(passed=600, kept=0.4))
    keys = KEYS[kind].to_pylist()
    drawn = {keys[n] for n in sample}
    assert sample == [n for n in range(100, 700) if keys[n] in drawn]
    assert after.left_out == 600 - len(sample)
    after, first = took(after, BatchCut(caught_up=150))
    assert first == [n for n in range(100, 250) if keys[n] not in drawn]
    assert after.left_out == len([n for n in range(250, 700) if keys[n] not in drawn])
    more, again = took(after, BatchCut(passed=300, kept=0.7))
    assert drawn <= {keys[n] for n in again} and len({keys[n] for n in again}) < len({*keys})
    after, rest = took(more, BatchCut(caught_up=ROWS))
    assert sorted([*sample, *first, *again, *rest]) == [*range(100, ROWS)] and not after.gaps
    cuts = {1: BatchCut(passed=600, kept=0.4), 2: BatchCut(caught_up=150)}
    assert [rows.table()["n"].to_pylist() for batch, rows in given.arrivals(cuts) if batch] == [sample, first]


def test_about_the_asked_part_of_keys_is_drawn() -> None:
    keys = pa.chunked_array([pa.array([f"account {n}" for n in range(10_000)])])
    assert abs((share(hashed(keys)) < 0.25).mean() - 0.25) < 0.02


def test_a_sample_by_no_column(tmp_path: Path) -> None:
    log = ingest("s", pa.table({"n": [1], "account": ["a"]}), tmp_path / "log")
    with pytest.raises(StreamError, match="there is no column acount to sample by") as refused:
        replayed(log, time="n", shed="sample by acount")
    assert "account" in (refused.value.hint or "")


def test_the_same_cuts_give_the_same_rows(tmp_path: Path) -> None:
    cuts = {1: BatchCut(passed=50, kept=0.5), 2: 7, 3: BatchCut(caught_up=20, taken=3), 4: BatchCut(caught_up=1_000)}
    given, rows = stream(tmp_path), []
    for cut in cuts.values():
        given, taken = took(given, cut)
        rows.append(taken)
    arrivals = [rows.table()["n"].to_pylist() for batch, rows in given.arrivals(cuts) if batch]
    assert arrivals == rows and sorted(number for taken in rows for number in taken) == [*range(100, 160)]


def test_more_than_there_is_passes_over_the_rest(tmp_path: Path) -> None:
    after, rows = took(stream(tmp_path), BatchCut(taken=9, passed=10_000))
    assert (rows, after.left_out, after.waiting) == ([], 900, 0)


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
