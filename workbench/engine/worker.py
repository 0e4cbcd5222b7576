"""What runs in Spark's Python workers before anything else."""

from __future__ import annotations

import gc


def settle() -> None:
    """Leave what is there by now out of garbage collection.

    PySpark collects garbage after every task, which looks at all that was ever loaded: numpy and pyarrow alone take
    25 ms. What a task leaves behind has just been looked at and is in use, so it is left out as well. Each call costs
    nothing, and asking whether it is needed (``gc.get_freeze_count``) counts all there is: 7 ms.
    """
    gc.freeze()
