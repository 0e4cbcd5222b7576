"""What runs in Spark's Python workers before anything else."""

from __future__ import annotations

import gc


def settle() -> None:
    """Leave what is loaded by now out of garbage collection.

    PySpark collects garbage after every task, and with numpy and pyarrow loaded that takes 25 ms.
    """
    if not gc.get_freeze_count():
        gc.freeze()
