"""The command that lets batches arrive."""

from __future__ import annotations

import argparse
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING

from workbench.explain.text import counted
from workbench.notebook.arguments import Command, MagicError, argument
from workbench.notebook.commands.look import timings
from workbench.notebook.desk import Desk
from workbench.notebook.display import ProgressLine, Shown, milliseconds, show, table

if TYPE_CHECKING:
    from workbench.engine.reports import BatchReport
    from workbench.session.session import Session


def run(desk: Desk, arguments: argparse.Namespace) -> None:
    """Run batches with one line of progress, then say which queries have something new."""
    if arguments.batches < 1:
        raise MagicError(f"cannot run {arguments.batches} batches", hint="%argus run 5")
    session = desk.session
    batches = min(arguments.batches, max(1, batches_left(session)))
    line = ProgressLine(f"batch 1 of {batches:,} …")
    done: list[BatchReport] = []

    def progress(report: BatchReport) -> None:
        done.append(report)
        if interrupted.is_set():
            raise KeyboardInterrupt
        line.update(
            f"batch {report.batch} ({len(done)} of {batches:,}): "
            f"{counted(report.rows, 'row')}, {milliseconds(report.seconds)}"
        )

    try:
        with deferred_interrupt() as interrupted:
            session.run(arguments.batches, progress=progress, profile=arguments.profile)
        ended = "the streams have ended" if session.streams else "there are no streams yet; %argus help stream"
        stopped = ended if len(done) < arguments.batches else ""
    except KeyboardInterrupt:
        stopped = "interrupted"
    line.update(summary(done, stopped))
    show(news(done))
    if arguments.profile and done:
        timings(desk, argparse.Namespace(batches=1))


def batches_left(session: Session) -> int:
    """Batches until the last of the streams has ended."""
    return max((-(-(s.rows - s.position) // s.batch) for s in session.streams.values()), default=0)


@contextmanager
def deferred_interrupt() -> Iterator[Event]:
    """Let the first interrupt wait for the end of the batch, so that a batch is done or not; the second is at once.

    Yields:
        The event that says whether there was one. Outside of the main thread, where no signal arrives, it stays clear.
    """
    interrupted = Event()
    if current_thread() is not main_thread():
        yield interrupted
        return

    def handler(number: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def summary(reports: Sequence[BatchReport], stopped: str) -> str:
    """One line on the batches that were completed."""
    if not reports:
        return f"no batch was run: {stopped}"
    first, last = reports[0].batch, reports[-1].batch
    which = f"batch {first}" if first == last else f"batches {first} to {last}"
    seconds = sum(report.seconds for report in reports)
    average = f", {milliseconds(seconds / len(reports))} a batch" if len(reports) > 1 else ""
    rows = sum(report.rows for report in reports)
    late = sum(sum(report.late_rows.values()) for report in reports)
    quarantined = f"; {counted(late, 'late row')} quarantined" if late else ""
    return f"{which}: {counted(rows, 'row')} in {seconds:.1f} s{average}{quarantined}" + (
        f"; {stopped}" if stopped else ""
    )


def news(reports: Sequence[BatchReport]) -> Shown:
    """The queries with changed results, those with most first."""
    changed: Counter[str] = Counter()
    for report in reports:
        changed.update(report.changes)
    rows = [[name, f"{number:,}"] for name, number in changed.most_common() if number]
    return table(["query", "changed rows"], rows, "new results") if rows else Shown("no query has new results")


COMMANDS = (
    Command(
        "run",
        "Let the next batches arrive and evaluate every query on them. Interrupting the kernel stops after a batch.",
        run,
        (
            argument("batches", nargs="?", type=int, default=1, metavar="N", help="how many (default: 1)"),
            argument("--profile", action="store_true", help="measure also what each node costs alone; takes its time"),
        ),
        ("%argus run", "%argus run 5", "%argus run --profile"),
    ),
)
