"""Commands that let batches arrive: at once, or in the background while cells go on working."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import MagicError, QueryError
from workbench.explain.text import counted, milliseconds
from workbench.notebook.command_line import argument, batch_size, command, number_of_batches
from workbench.notebook.commands.timings import show_timings
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import ProgressLine, Shown, show, table
from workbench.notebook.drift_lines import drift_lines
from workbench.notebook.long_work import Underway, repeatedly
from workbench.notebook.quarantine import problems, quarantine_marks, quarantined_since
from workbench.notebook.replay_status import FULL_SPEED, LATENCY, SPEEDS, latency_of_play, parse_speed, status_line
from workbench.session.live.batch_size import seconds_of
from workbench.session.live.sources import no_more_rows, perhaps_more
from workbench.session.player import PlayerState, Position
from workbench.session.session import Session

if TYPE_CHECKING:
    from workbench.engine.reports import BatchReport


PLANNING = 0.1
"""Seconds that Spark needs to plan the job of a node that is computed alone for the first time."""


@command(
    "run",
    argument("batches", nargs="?", type=number_of_batches, default=1, metavar="N", help="how many (default: 1)"),
    argument("--profile", action="store_true", help="also measure the cost of each node alone, which takes longer"),
    examples=("%argus run", "%argus run 5", "%argus run --profile"),
    has_own_line=True,
)
def run(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Let the next batches arrive, and update every answer. Interrupting the kernel stops at once, and undoes the
    running batch.
    """
    if arguments.batches < 1:
        raise MagicError(f"cannot run {arguments.batches} batches", hint="%argus run 5")
    session = context.session
    left = batches_left(session)
    batches = arguments.batches if left is None else min(arguments.batches, max(1, left))
    if arguments.profile:
        show(profile_forecast(session))
    marks = quarantine_marks(session)
    line = ProgressLine(f"batch 1 of {batches:,} …")
    done: list[BatchReport] = []
    ended_at = [time.monotonic()]
    course = Underway()

    def progress(report: BatchReport) -> None:
        done.append(report)
        ended_at.append(time.monotonic())
        line.update(
            f"batch {report.batch} ({len(done)} of {batches:,}): "
            f"{counted(report.rows, 'row')}, {milliseconds(report.seconds)}"
        )

    def say() -> None:
        """Say how far the running batch is, and how long it and the next ones will take, judging by earlier ones."""
        average = (ended_at[-1] - ended_at[0]) / max(1, len(done))
        far = course.how_far(session.progress, time.monotonic() - ended_at[-1], average * (batches - len(done) - 1))
        line.update(f"batch {session.batch + 1} ({len(done) + 1} of {batches:,}): {far}")

    try:
        with repeatedly(say):
            session.run(arguments.batches, progress=progress, profile=arguments.profile)
        ended = no_more_rows(session.sources) if session.streams else "there are no streams yet; %argus help stream"
        stopped = ended if len(done) < arguments.batches else ""
    except KeyboardInterrupt:
        stopped = "interrupted"
    line.update(_summary(done, stopped, time.monotonic() - ended_at[0]))
    drifts = drift_lines(session, done[0].batch - 1) if done else []
    if said := [*quarantined_since(session, marks), *drifts, *problems(session), *perhaps_more(session.sources)]:
        show("\n".join(said))
    show(news(done))
    if arguments.profile and done:
        show_timings(session, 1)


def profile_forecast(session: Session) -> str:
    """How long a profile takes, estimated from the last batch: each node is computed alone, twice, after the batch."""
    network = session.network
    nodes = {node.id for node in network.nodes if node.parents}
    each = f"a profile computes each of {counted(len(nodes), 'node')} alone, after the batch"
    if not session.reports:
        return f"{each}: several times as long as the batch itself"
    operators = session.reports[-1].operators
    seconds = sum((len(nodes & {*o.nodes}) + 1) * (2 * o.seconds + PLANNING) for o in operators)
    return f"{each}: about {max(1, round(seconds)):,} s, by batch {session.reports[-1].batch}"


def batches_left(session: Session) -> int | None:
    """Batches until all streams have ended; ``None`` where the size of batches is a length of event time."""
    left = 0
    for stream in session.streams.values():
        if not isinstance(stream.batch, int):
            return None
        left = max(left, -(-stream.waiting // stream.batch))
    return left


def _seconds(seconds: float) -> str:
    """A duration that is never shown as none.

    Example:
        >>> _seconds(12.34), _seconds(0.042), _seconds(0)
        ('12.3 s', '0.04 s', '0.001 s')
    """
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{max(seconds, 0.001):.1g} s"


def _summary(reports: Sequence[BatchReport], stopped: str, took: float | None = None) -> str:
    """One line on the batches that were completed.

    Args:
        reports: of them.
        stopped: why there are no more.
        took: wall time in seconds, with that of reading live sources; ``None``: the time of the batches alone.
    """
    if not reports:
        return f"no batch was run: {stopped}"
    first, last = reports[0].batch, reports[-1].batch
    which = f"batch {first}" if first == last else f"batches {first} to {last}"
    seconds = sum(report.seconds for report in reports)
    average = f", {milliseconds(seconds / len(reports))} a batch" if len(reports) > 1 else ""
    took = seconds if took is None else took
    rows = sum(report.rows for report in reports)
    late = sum(sum(report.late_rows.values()) for report in reports)
    quarantined = f"; {counted(late, 'late row')} quarantined" if late else ""
    return f"{which}: {counted(rows, 'row')} in {_seconds(took)}{average}{quarantined}" + (
        f"; {stopped}" if stopped else ""
    )


def news(reports: Sequence[BatchReport]) -> Shown:
    """The queries with changed results, those with most first."""
    changed: Counter[str] = Counter()
    for report in reports:
        changed.update(report.changes)
    rows = [[name, f"{number:,}"] for name, number in changed.most_common() if number]
    return table(["query", "changed rows"], rows, "new results") if rows else Shown("no query has new results")


@command(
    "play",
    argument(
        "batches", nargs="?", type=int, metavar="N", help="how many (default: to the streams' end, if there is one)"
    ),
    argument(
        "--speed",
        metavar="SPEED",
        completes="speed",
        help=f"stream time in a second: {', '.join(SPEEDS)}, 90 (seconds) or {FULL_SPEED} (as fast as it goes)",
    ),
    argument(
        "--batch",
        type=batch_size,
        metavar="SIZE",
        help="from now on, rows of every stream in a batch, or a length of event time: 1h",
    ),
    argument(
        "--live",
        nargs="?",
        const=LATENCY,
        metavar="LATENCY",
        help=f"batches of the rows that have arrived, each small enough to take at most LATENCY (default: {LATENCY})",
    ),
    examples=("%argus play", "%argus play 20 --speed 1d", "%argus play --batch 500 --speed max", "%argus play --live"),
    has_own_line=True,
)
def play(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Let batches arrive in the background, while other cells can run.

    Live streams are played as with ``--live``, until you pause: each batch has the rows that have arrived.
    """
    session, player = context.session, context.session.player
    if arguments.batch is not None:
        set_batch_size(session, arguments.batch)
    if arguments.speed is not None:
        player.speed = parse_speed(arguments.speed)
    latency = None if arguments.live is None else seconds_of(arguments.live, "latency")
    if (arguments.live, arguments.batches, arguments.batch, arguments.speed) == (None, None, None, None):
        latency = latency_of_play(session)
    player.play(arguments.batches, latency)
    follow(session)


def set_batch_size(session: Session, batch: int | str) -> None:
    """Set the rows, or the event time, of every stream that arrive with each batch."""
    for name, stream in session.streams.items():
        if not stream.table:
            session.set_batch(name, batch)


def follow(session: Session) -> None:
    """Show a line with the player's status, until it stops."""
    player = session.player
    line = ProgressLine(status_line(session, player.position))

    def update(position: Position) -> None:
        line.update(status_line(session, position))
        if position.state not in (PlayerState.PLAYING, PlayerState.GOING_BACK) and position.since is None:
            unsubscribe()

    unsubscribe = player.subscribe(update)
    update(player.position)


@command("catch-up", examples=("%argus catch-up",))
def catch_up(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Let the rows arrive that were left out when rows came too fast; answers are then exact again."""
    reports = context.session.catch_up()
    show(_summary(reports, "") if reports else "no rows were left out")
    if reports:
        show(news(reports))


@command("pause", examples=("%argus pause",), has_own_line=True)
def pause(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Stop playing after the running batch."""
    context.session.player.pause()
    show(status_line(context.session, context.session.player.position))


@command("step", examples=("%argus step",), has_own_line=True)
def step(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Play one batch."""
    context.session.player.play(1)
    wait(context.session)
    show(status_line(context.session, context.session.player.position))


@command(
    "back",
    argument(
        "batch",
        nargs="?",
        type=int,
        metavar="BATCH",
        help="the number of the batch; 0 is the history alone (default: the one before the last)",
    ),
    examples=("%argus back", "%argus back 3", "%argus back 0"),
    has_own_line=True,
)
def back(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Go back to the state after a batch, computed from the nearest earlier state that is kept, or from the history.

    The cell says how many batches are run again, with the same rows, and about how long that takes. It ends when the
    session is there, so that the next line reads the answers of that batch.
    """
    session = context.session
    if arguments.batch is None and not session.batch:
        raise MagicError("no batch was run, so there is none to go back from", hint="%argus run")
    batch = session.batch - 1 if arguments.batch is None else arguments.batch
    try:
        again, seconds = session.back_in(batch)
        session.player.go_back(batch)
    except QueryError as error:
        raise MagicError(error.message, hint=error.hint) from error
    if again or seconds:
        runs = f"{counted(again, 'batch is', 'batches are')} run again" if again else "what came later is computed anew"
        show(f"{runs}, about {seconds:.1f} s; an interrupt stops it")
    follow(session)
    wait(session)


def wait(session: Session) -> None:
    """Wait until nothing is played any more; an interrupt stops the running batch, and undoes it."""
    try:
        session.player.wait()
    except KeyboardInterrupt:
        session.player.interrupt()
        raise
