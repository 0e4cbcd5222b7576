"""Work is stopped by an interrupt, and its jobs are cancelled: here without Spark, whose place a recorder takes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from workbench.engine.spark.interrupts import Interrupted, Interrupts
from workbench.errors import EngineError

LIMIT = 120


class Context:
    """A Spark that says when jobs are cancelled."""

    def __init__(self) -> None:
        self.tags: set[str] = set()
        self.cancelled = threading.Event()

    def add_tag(self, tag: str) -> None:
        self.tags.add(tag)

    def remove_tag(self, tag: str) -> None:
        self.tags.remove(tag)

    def cancel(self, tag: str) -> None:
        assert {tag} == self.tags
        self.cancelled.set()


@pytest.fixture
def context() -> Context:
    return Context()


@pytest.fixture
def interrupts(context: Context) -> Iterator[Interrupts]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield Interrupts(context)
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def test_an_interrupt_cancels_the_jobs_and_the_tidying_up_ends_with_them(interrupts, context):
    with pytest.raises(KeyboardInterrupt), interrupts.stoppable():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            assert context.cancelled.wait(LIMIT)
    assert not context.tags


def test_an_interrupt_stays_one_when_cancelled_jobs_fail_otherwise(interrupts, context):
    with pytest.raises(KeyboardInterrupt), interrupts.stoppable():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            assert context.cancelled.wait(LIMIT)
            raise EngineError("job 5 was cancelled")


def test_further_interrupts_do_not_disturb_what_is_being_undone(interrupts, context):
    undone = False
    with pytest.raises(KeyboardInterrupt), interrupts.stoppable():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            undone = True
    assert undone


def test_what_is_kept_back_comes_after_it(interrupts):
    adopted = False
    with pytest.raises(KeyboardInterrupt), interrupts.stoppable(), interrupts.kept_back():
        signal.raise_signal(signal.SIGINT)
        adopted = True
    assert adopted


def test_another_thread_stops_it(interrupts, context):
    with pytest.raises(Interrupted, match="interrupted"), interrupts.stoppable(), interrupts.stoppable():
        threading.Thread(target=interrupts.interrupt).start()
        assert context.cancelled.wait(LIMIT)
        raise EngineError("job 5 was cancelled")
    interrupts.interrupt()  # nothing is done, nothing is stopped


def test_work_within_work_is_stopped_with_it(interrupts):
    inner = Context()
    with pytest.raises(KeyboardInterrupt), interrupts.stoppable(), Interrupts(inner).stoppable():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            inner.cancelled.wait(LIMIT)
    assert inner.cancelled.is_set()


def test_work_that_begins_within_work_that_is_stopped_is_stopped(interrupts):
    inner = Context()
    with pytest.raises(Interrupted), interrupts.stoppable():
        interrupts.interrupt()
        with Interrupts(inner).stoppable():
            inner.cancelled.wait(LIMIT)
            raise EngineError("job 5 was cancelled")
    assert inner.cancelled.is_set()


def test_a_failure_without_an_interrupt_is_that_failure(interrupts):
    with pytest.raises(EngineError, match="no space"), interrupts.stoppable():
        raise EngineError("no space")


def test_a_program_that_handles_interrupts_itself_goes_on_doing_so(context):
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with Interrupts(context).stoppable():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT] and not context.cancelled.is_set()
