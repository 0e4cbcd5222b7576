"""What runs in Spark's Python workers before anything else."""

from __future__ import annotations

import gc
import time
from functools import cache
from threading import Thread

from workbench.files.mapped import MAPPED


def settle() -> None:
    """Leave what is there by now out of garbage collection, and let maps of files go that are gone.

    PySpark collects garbage after every task, which looks at all that was ever loaded: numpy and pyarrow alone take
    25 ms. What a task leaves behind has just been looked at and is in use, so it is left out as well. Each call costs
    nothing, and asking whether it is needed (``gc.get_freeze_count``) counts all there is: 7 ms.
    """
    gc.freeze()
    _watching()


@cache
def _watching() -> Thread:
    """The thread that looks for files that are gone, also while Spark has no task for this worker."""
    thread = Thread(target=_watch, name="argus-maps", daemon=True)
    thread.start()
    return thread


def _watch() -> None:
    while True:
        time.sleep(max(0.0, MAPPED.look()))
