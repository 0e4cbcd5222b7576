"""The states after earlier batches that are kept, so that going back runs few batches again, or none.

A state names files that are written once, so keeping one costs only what later states no longer need. The latest are
all kept, and of earlier ones the fewer, the longer ago they are: what is not kept is computed from the nearest one
before it. They are of this process: a session that is opened again has none, and goes back from the history.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

from workbench.limits import Limits
from workbench.session.state import State
from workbench.streams.stream import Stream


@dataclass
class _Kept:
    """A state, and the files that it or an earlier one names and later ones do not, with their bytes."""

    state: State
    own: dict[str, int] = field(default_factory=dict)


class KeptStates:
    """The states to which a session can go back without running batches again.

    Args:
        limits: how many are kept, and how many bytes they may have of their own.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept: list[_Kept] = []

    def nearest(self, state: State, batch: int) -> State | None:
        """The last kept state, up to a batch, from which the session can continue; ``None``: it must start from the
        history.
        """
        fit = (kept.state for kept in reversed(self._kept) if kept.state.batch <= batch and _fits(kept.state, state))
        return next(fit, None)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def files(self) -> frozenset[str]:
        """All files that kept states name."""
        return frozenset().union(*(kept.state.engine.files for kept in self._kept))

    def committed(self, before: State, after: State, gone: Collection[str]) -> set[str]:
        """A state was committed after another.

        Args:
            before: the one before; it is kept where a batch has come.
            after: the one that is there now.
            gone: files that the one before named, or that were written and dropped since, and are not needed now.

        Returns:
            Those of these files, and of kept ones, that no kept state names.
        """
        if after.line != before.line:
            # Batches after that to which it went back will be others.
            dropped = [kept for kept in self._kept if kept.state.batch > after.batch]
            self._kept = self._kept[: len(self._kept) - len(dropped)]
            now = after.engine.files
            if self._kept:  # it went on from there, and names other files of it than before
                last = self._kept[-1]
                own = (last.state.engine.files | last.own.keys()) - now
                last.own = {file: _bytes(file) for file in own}
            files = {*gone, *(file for kept in dropped for file in (*kept.own, *kept.state.engine.files))}
            return self._held(files - now)
        if after.batch == before.batch:
            return self._held(gone)
        # One to which the session went back comes again.
        again = self._kept and self._kept[-1].state.batch == before.batch
        removed = self._drop(len(self._kept) - 1) if again else set[str]()
        own = before.engine.files.intersection(gone)
        self._kept.append(_Kept(before, {file: _bytes(file) for file in own}))
        return removed | self._thinned() | ({*gone} - own)

    def clear(self) -> set[str]:
        """Keep none; returns the files that only they named."""
        files = {file for kept in self._kept for file in kept.own}
        self._kept.clear()
        return files

    def _held(self, files: Collection[str]) -> set[str]:
        """The files that the last kept state does not name; it keeps the others."""
        if not self._kept or not files:
            return {*files}
        last = self._kept[-1]
        held = last.state.engine.files.intersection(files)
        last.own |= {file: _bytes(file) for file in held}
        return {*files} - held

    def _thinned(self) -> set[str]:
        removed: set[str] = set()
        while self._kept and (
            len(self._kept) > self._limits.states_kept
            or sum(sum(kept.own.values()) for kept in self._kept) > self._limits.bytes_kept
        ):
            removed |= self._drop(self._least_needed())
        return removed

    def _least_needed(self) -> int:
        """The place of a state without which the fewest batches are to be run again, for how long ago it is."""
        if len(self._kept) <= max(2, self._limits.states_kept):  # two, or too many bytes
            return 0
        batches = [kept.state.batch for kept in self._kept]
        older = range(1, max(2, len(batches) - self._limits.states_kept // 2))
        return min(older, key=lambda at: (batches[at + 1] - batches[at - 1]) / (batches[-1] + 1 - batches[at]))

    def _drop(self, at: int) -> set[str]:
        dropped = self._kept.pop(at)
        if not at:
            return {*dropped.own}
        before = self._kept[at - 1]
        held = before.state.engine.files & dropped.own.keys()
        before.own |= {file: dropped.own[file] for file in held}
        return dropped.own.keys() - held


def _fits(kept: State, now: State) -> bool:
    """Whether the same streams brought the rows, and no query was suspended."""
    if kept.suspended or kept.streams.keys() != now.streams.keys():
        return False
    return all(_same(kept.streams[name], stream) for name, stream in now.streams.items())


def _same(kept: Stream, now: Stream) -> bool:
    return (kept.log.folder, kept.history, kept.time, kept.stored_columns) == (
        now.log.folder, now.history, now.time, now.stored_columns
    )  # fmt: skip


def _bytes(file: str) -> int:
    with suppress(OSError):
        return os.path.getsize(file)
    return 0
