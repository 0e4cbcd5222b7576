"""Files that outlive the machine's power."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path


def force_to_disk(files: Collection[str]) -> None:
    """Return when the disk has some files, and the names under which they are found.

    Raises:
        OSError: the disk is full, or broken.
    """
    folders = {str(folder) for file in files for folder in list(Path(file).parents)[:2]}
    for path in (*files, *folders):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
