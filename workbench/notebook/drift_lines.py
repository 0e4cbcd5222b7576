"""What of the schemas of a session's streams drifts, in lines: what is new, what is gone or NaN, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.streams.cut import BatchCut

if TYPE_CHECKING:
    from workbench.session.session import Session
    from workbench.streams.stream import Stream


def drift_lines(session: Session, after: int = -1) -> list[str]:
    """A line for each member that is new, and each column that is gone or has NaN.

    Args:
        session: with the streams.
        after: only those are said of which the first row came with a later batch.
    """
    lines, adds = list[str](), ""
    for stream in session.streams.values():
        for drift in stream.drifts:
            if drift.is_new:
                adds = f"%argus stream {stream.name} --add {drift.name} makes it a column"
            batch = arrived_with(session, stream, drift.first)
            if batch is None and after < 0:
                lines.append(f"{stream.name}: {drift.text('the rows to come')}")
            elif batch is not None and batch > after:
                lines.append(f"{stream.name}: {drift.text(f'batch {batch}')}")
    return [*lines, *[adds] * bool(adds)] if lines else []


def arrived_with(session: Session, stream: Stream, row: int) -> int | None:
    """The batch that brought a row of a stream, by its place in the log; ``None`` when none did yet."""
    if row >= stream.position:
        return None
    end = stream.history
    for report in session.reports:
        if row < end:
            return report.batch - 1
        taken = report.taken.get(stream.name, 0)
        end += taken.passed + taken.taken if isinstance(taken, BatchCut) else taken
    return session.batch
