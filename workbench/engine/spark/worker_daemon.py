"""The process that Python workers of Spark are forked from, with everything imported that operators need.

Spark ends a worker that had nothing to do for a minute, and starts another for the next job. Out of PySpark's own
daemon it would import NumPy, pandas, Arrow and the operators again: a second of the processor for each worker, in every
batch after an analyst has read for a minute. A fork of this one has them, and shares their memory.

A process with threads must not fork, and what is imported starts some: those of OpenBLAS, which workers do not need
since each has a core, and one of Arrow's allocator, which does without. So both are told to start none. Where there are
others nevertheless, or that cannot be told, PySpark's daemon takes the place of this one.

Spark starts it by its name: ``python -m workbench.engine.spark.worker_daemon pyspark.worker`` (``local_session``).
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from contextlib import suppress
from pathlib import Path

from pyspark.daemon import manager

OPERATORS = "workbench.engine.operators.evaluate"
"""The module that imports all operators."""

NO_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Variables by which libraries start no threads when they are imported."""

_THREADS = Path("/proc/self/task")


def main() -> None:
    """Import the operators, and fork a worker for each that Spark asks for."""
    os.environ.update(NO_THREADS)
    gc.disable()  # it would look through what stays
    with suppress(Exception):  # a worker that needs them meets the same error, and reports it
        importlib.import_module(OPERATORS)
    if not _THREADS.exists() or len(list(_THREADS.iterdir())) > 1:
        os.execv(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]])
    gc.collect()
    gc.freeze()  # a collection in a worker would touch, and so copy, all that it shares
    gc.enable()
    manager()


if __name__ == "__main__":
    main()
