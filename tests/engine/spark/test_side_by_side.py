"""Trees run after their parents, overlap where they may, and an error lets nothing new begin."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.engine.spark.side_by_side import run_in_order

DIAMOND = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def test_children_begin_after_their_parents_have_ended(pool: ThreadPoolExecutor) -> None:
    ended: list[str] = []

    def work(name: str) -> set[str]:
        seen = set(ended)
        ended.append(name)
        return seen

    seen = run_in_order(DIAMOND, work, pool)
    assert list(seen) == list(DIAMOND)
    assert all(set(parents) <= seen[name] for name, parents in DIAMOND.items())


def test_names_that_do_not_depend_on_each_other_overlap(pool: ThreadPoolExecutor) -> None:
    together = threading.Barrier(2, timeout=120)

    def work(name: str) -> None:
        if name in "bc":
            together.wait()  # breaks, and fails the test, unless both are here at a time

    run_in_order(DIAMOND, work, pool)


def test_after_an_error_nothing_begins_and_what_was_begun_has_ended(pool: ThreadPoolExecutor) -> None:
    failed = threading.Event()
    ended: list[str] = []

    def work(name: str) -> None:
        if name == "b":
            failed.set()
            raise ValueError("b cannot be done")
        if name == "c":
            failed.wait(120)
        ended.append(name)

    with pytest.raises(ValueError, match="b cannot be done"):
        run_in_order(DIAMOND, work, pool)
    assert set(ended) <= {"a", "c"}
    assert "d" not in ended


def test_nothing_to_do(pool: ThreadPoolExecutor) -> None:
    assert run_in_order({}, str.upper, pool) == {}
