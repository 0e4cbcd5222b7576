"""Cases that take long and find little that others do not: they run where ``ARGUS_LONG=all`` is set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

LONG = os.environ.get("ARGUS_LONG") == "all"


def some(cases: Sequence[T], always: int = 1) -> Sequence[T]:
    """The cases to run: all of them, or the first ones."""
    return cases if LONG else cases[:always]
