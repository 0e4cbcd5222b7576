"""Files that are named by what they have. Who reads one is told the name by Spark's channel, and takes no other file.

What workers read is never replaced, since a network's disk may show a file as it was some seconds ago.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.files.shared import all_stored, present
from workbench.files.writing import replacing


def write_by_digest(folder: Path, data: bytes, suffix: str) -> tuple[Path, str]:
    """Write a file, unless it is there; its path, and the SHA-256 by which it is named.

    Args:
        folder: that all machines share, or have through a store.
        data: what the file has.
        suffix: the end of its name.
    """
    digest = hashlib.sha256(data).hexdigest()
    path = folder / f"{digest}{suffix}"
    if not path.exists():
        with replacing(path) as file:
            file.write(data)
        all_stored([str(path)])
    return path, digest


def read_by_digest(path: str, digest: str) -> bytes:
    """What such a file has.

    Raises:
        ValueError: it is not the one that was written.
        OSError: it cannot be read, or fetched.
    """
    data = Path(present(path)).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(f"{path} was changed by another program")
    return data
