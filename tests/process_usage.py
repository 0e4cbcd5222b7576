"""What processes hold: files, descriptors, and files that are gone and still mapped; Linux tells it (``/proc``)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_NO_FILES = ("/dev/", "/memfd:", "/SYSV")
"""Beginnings of paths that Linux lists as removed files, of memory that was never a file."""


@dataclass(frozen=True)
class Usage:
    """What some processes hold together: how many they are, open files and sockets, removed files that are mapped."""

    processes: int = 0
    descriptors: int = 0
    gone: int = 0


def usage(processes: Iterable[int]) -> Usage:
    """The usage of processes together; that of an ended one is none."""
    held = []
    for process in processes:
        with suppress(OSError, IndexError):
            maps = Path(f"/proc/{process}/maps").read_text().splitlines()
            removed = {line.split(maxsplit=5)[5] for line in maps if "(deleted)" in line}
            gone = [path for path in removed if not path.startswith(_NO_FILES)]
            held.append((len(os.listdir(f"/proc/{process}/fd")), len(gone)))
    return Usage(len(held), sum(open_ for open_, _ in held), sum(gone for _, gone in held))
