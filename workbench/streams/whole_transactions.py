"""Batches are cut where transactions of the source end, in all streams of one origin.

Transactions whose ids are numbers or times grow in the order of their commits, also across streams. So a stream that
has come to a later one has all of an earlier one. Of other ids only those say it that all streams have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.streams.corrections.declared import TRANSACTION
from workbench.streams.cut import BatchCut
from workbench.streams.stream import Stream


def cut_at_borders(streams: Mapping[str, Stream], sizes: Mapping[str, int | BatchCut]) -> dict[str, int | BatchCut]:
    """The rows of each stream that a batch takes, cut at ends of transactions, so that no transaction is split.

    The batch has at least one whole transaction, if there is one.

    Args:
        streams: of the session.
        sizes: the rows of each stream that it would take without transactions.
    """
    cut = dict(sizes)
    alike = [stream for stream in streams.values() if stream.log.transactions is not None and not stream.table]
    for _, group in groupby(sorted(alike, key=_origin), _origin):
        members = [*group]
        asked = {one.name: size for one in members if isinstance(size := sizes.get(one.name, 0), int)}
        if any(asked.values()):
            growing = all(one.log.transactions is not None and one.log.transactions.growing for one in members)
            cut |= (_by_order if growing else _by_common_ids)(members, asked)
    return cut


def ready(streams: Mapping[str, Stream]) -> dict[str, int]:
    """How many rows of each stream a batch can take now."""
    sizes = cut_at_borders(streams, {name: stream.waiting for name, stream in streams.items()})
    return {name: size for name, size in sizes.items() if isinstance(size, int)}


def waiting_for(streams: Mapping[str, Stream]) -> dict[str, str]:
    """What streams wait for whose rows are not all of their transactions, in words."""
    if all(stream.log.transactions is None for stream in streams.values()):
        return {}
    sizes = ready(streams)
    held = [stream for stream in streams.values() if stream.log.transactions and stream.waiting > sizes[stream.name]]
    return {
        stream.name: f"{stream.waiting - sizes[stream.name]:,} of its rows wait for the rest of their transactions"
        + "".join(f", as {other.name} may have it" for other in streams.values() if _may_have(other, stream))
        for stream in held
    }


def _may_have(other: Stream, stream: Stream) -> bool:
    transactions = other.log.transactions
    return (
        transactions is not None and other is not stream and not other.log.ended and _origin(other) == _origin(stream)
    )


def _origin(stream: Stream) -> str:
    assert stream.log.transactions is not None
    return stream.log.transactions.origin


def _by_order(streams: Sequence[Stream], asked: Mapping[str, int]) -> dict[str, int]:
    """Rows before the first id that does not fit in any of the streams, and that all of them have come to."""
    known = [end for stream in streams if (end := stream.log.known_to) is not None]
    after = min(known) + 1 if known else None
    within = [_next_id(stream, stream.position + asked.get(stream.name, 0)) for stream in streams]
    ends = [end for end in (after, *within) if end is not None]
    sizes = {stream.name: _rows_before(stream, min(ends) if ends else None) for stream in streams}
    if not any(sizes.values()):  # a transaction has more rows than are asked for
        first = min((one for stream in streams if (one := _next_id(stream, stream.position)) is not None), default=None)
        if first is not None and (after is None or first < after):
            sizes = {stream.name: _rows_before(stream, first + 1) for stream in streams}
    return sizes


def _next_id(stream: Stream, position: int) -> int | None:
    """The first id from a position on; ``None``: none is known."""
    for _, ids in _waiting(stream, position):
        if len(known := ids.drop_null()):
            return int(known[0].as_py())
    return None


def _rows_before(stream: Stream, end: int | None) -> int:
    """How many rows wait before the first whose id is not below an end."""
    for start, ids in _waiting(stream, stream.position):
        if end is not None and len(beyond := np.flatnonzero(pc.greater_equal(ids, end).fill_null(False))):
            return start + int(beyond[0]) - stream.position
    return stream.log.whole - stream.position


def _by_common_ids(streams: Sequence[Stream], asked: Mapping[str, int]) -> dict[str, int]:
    """Rows up to the end of a transaction that all streams have that may bring more."""
    ends = {stream.name: dict(_ends(stream)) for stream in streams}
    active = [stream.name for stream in streams if ends[stream.name] or not stream.log.ended]
    if not active:
        return dict.fromkeys(asked, 0)
    common = [one for one in ends[active[0]] if all(one in ends[name] for name in active)]
    fitting = [one for one in common if all(ends[name][one] <= asked.get(name, 0) for name in active)]
    if chosen := fitting[-1:] or common[:1]:
        return {name: ends[name].get(chosen[0], 0) for name in asked}
    all_ended = all(stream.log.ended for stream in streams)
    return {stream.name: stream.log.whole - stream.position if all_ended else 0 for stream in streams}


def _ends(stream: Stream) -> Iterable[tuple[str, int]]:
    """The transactions that wait, each with how many rows wait up to its end."""
    last: str | None = None
    count = 0
    for start, ids in _waiting(stream, stream.position):
        for at, one in enumerate(ids.to_pylist(), start - stream.position):
            if last is not None and one != last:
                yield last, count
            last, count = one or last, at + 1
    if last is not None:
        yield last, count


def _waiting(stream: Stream, position: int, rows: int = 4_096) -> Iterator[tuple[int, pa.Array]]:
    """The ids of the rows from a position on that are whole, in parts, each with its position."""
    while position < stream.log.whole:
        stop = min(position + rows, stream.log.whole)
        yield position, stream.log.read(position, stop, [TRANSACTION]).column(0).combine_chunks()
        position, rows = stop, 4 * rows
