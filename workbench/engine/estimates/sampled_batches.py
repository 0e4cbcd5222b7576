"""Which batches brought a sample of a stream's rows, and what part of them that is."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import QueryError
from workbench.streams.cut import BatchCut
from workbench.streams.stream import Stream


def sampled_batches(stream: Stream, batches: Iterable[tuple[int, int | BatchCut]]) -> dict[int, float]:
    """The batches whose rows are a sample, each with the chance that a row had to be in it.

    What was caught up is whole again. All rows of the other batches arrived.

    Args:
        stream: as it is now.
        batches: every batch after the history, with the rows that it took of the stream, or which.

    Raises:
        QueryError: rows were left out of which there is no sample.
    """
    gaps = {gap.start: gap for gap in stream.gaps}
    position, sampled = stream.history, dict[int, float]()
    for batch, cut in batches:
        if isinstance(cut, int):
            position += cut
            continue
        gap = gaps.get(position) if cut.passed else None
        if gap is not None and gap.kept and not cut.taken:
            sampled[batch] = gap.kept
            del gaps[position]
        position += cut.passed + cut.taken
    if gaps:
        hint = "session.catch_up() lets the rest arrive; after that answers are exact"
        if stream.shed != "oldest":
            raise QueryError(f"some of what was left out of {stream.name} has been caught up, and some not", hint=hint)
        raise QueryError(f"no sample was taken of what was left out of {stream.name}: shed='{stream.shed}'", hint=hint)
    return sampled
