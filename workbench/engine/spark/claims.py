"""Which of some processes does which piece of work: each takes the next one when it is done with the last.

Pieces are numbered, and a pipe has the numbers of those that are not begun: to read one is to claim it, and the system
gives it to one reader. Each process has a pipe with what it had best do, and when that is empty it takes what another
one has not begun (work stealing; R. Blumofe, C. Leiserson, Scheduling multithreaded computations by work stealing,
J. ACM 46 (5), 1999). So none waits for long for another that has had more to do than was expected.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

_BYTES = 2
"""Of a number."""


class Claims:
    """The pipes of some processes.

    Args:
        reading: descriptors of their ends to read from.

    Example:
        >>> claims, writing = new_claims(2)
        >>> offer(writing, [[0, 1], [2]])
        >>> [*claims.claimed(by=1)]
        [2, 0, 1]
    """

    def __init__(self, reading: Sequence[int]) -> None:
        self.reading = reading

    def claimed(self, by: int) -> Iterator[int]:
        """The numbers that a process claims, each when it asks for the next one.

        Args:
            by: the number of the process.
        """
        for pipe in (self.reading[by], *self.reading):
            while (number := _read(pipe)) is not None:
                yield number


def new_claims(processes: int) -> tuple[Claims, list[int]]:
    """Pipes for some processes, and the ends that are written to."""
    pipes = [os.pipe() for _ in range(processes)]
    for reading, _ in pipes:
        os.set_blocking(reading, False)
    return Claims([reading for reading, _ in pipes]), [writing for _, writing in pipes]


def offer(writing: Sequence[int], numbers: Sequence[Sequence[int]]) -> None:
    """Offer each process the numbers that it had best claim."""
    for pipe, own in zip(writing, numbers, strict=True):
        os.write(pipe, b"".join(number.to_bytes(_BYTES, "little") for number in own))


def _read(pipe: int) -> int | None:
    try:
        data = os.read(pipe, _BYTES)
    except BlockingIOError:
        return None
    return int.from_bytes(data, "little") if data else None  # the process that writes to it has ended
