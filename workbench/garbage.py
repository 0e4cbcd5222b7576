"""Python's collector of garbage, which visits objects by how many there are, and not by how many are garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Collect no garbage within the context: for work that makes many objects, and hardly any that refer to each other.

    Example:
        >>> with nothing_collected():
        ...     gc.isenabled()
        False
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
