"""When live running leaves rows out, and which: a stream that is behind for long, and only where it may shed.

A stream is behind when its first waiting row has waited for longer than batches take by several times. It must be so
after some batches in a row, so that a burst that is worked off sheds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.limits import LIMITS, Limits
from workbench.session.live.sources import SourceStatus
from workbench.streams.cut import BatchCut
from workbench.streams.stream import Stream


class Overload:
    """Watches how far behind streams are.

    Args:
        latency: seconds that a batch may take.
        limits: when a stream is behind, and sheds.
    """

    def __init__(self, latency: float, limits: Limits = LIMITS) -> None:
        self._latency, self._limits = latency, limits
        self._behind: dict[str, int] = {}

    def cuts(
        self, sizes: Mapping[str, int], streams: Mapping[str, Stream], sources: Mapping[str, SourceStatus]
    ) -> dict[str, int | BatchCut]:
        """The cuts of the next batch, where it may have to leave rows out.

        Args:
            sizes: rows that it takes of each stream otherwise.
            streams: of the session.
            sources: how they are now.
        """
        return {name: self._cut(size, streams[name], sources.get(name)) for name, size in sizes.items()}

    def _cut(self, size: int, stream: Stream, source: SourceStatus | None) -> int | BatchCut:
        if stream.shed is None or source is None:
            return size
        behind = (
            self._behind.get(stream.name, 0) + 1 if source.lag > self._limits.latencies_behind * self._latency else 0
        )
        self._behind[stream.name] = behind
        more = stream.waiting - size
        if behind < self._limits.batches_behind or more <= 0:
            return size
        self._behind[stream.name] = 0
        if stream.shed == "oldest":
            return BatchCut(taken=size, passed=more)
        return BatchCut(passed=stream.waiting, kept=size / stream.waiting)
