"""Python workers of Spark that are started before they are needed.

The first job of a new Spark waits until a Python worker for each core has started and imported what operators need, and
until the JVM has loaded what plans of Python steps need: two seconds or more. A session that has just started Spark
hears of its streams and queries meanwhile, which takes one core at most.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from threading import Lock, Thread

from pyspark.sql import SparkSession

from workbench.engine.spark.arrow_tasks import ArrowBatches, run_tasks
from workbench.engine.spark.python_steps import ANSWER
from workbench.engine.spark.worker_daemon import OPERATORS

_LOCK, _STARTED = Lock(), set[str]()
"""The Sparks whose workers were started, by the ids of their applications."""


def start_workers(spark: SparkSession) -> Thread | None:
    """Start a worker for each core in the background; no caller needs to wait for that.

    Args:
        spark: a session with the settings of the engine, since workers are kept by settings.

    Returns:
        The thread that does it; ``None`` where it was done, or begun, before.
    """
    with _LOCK:
        if (application := spark.sparkContext.applicationId) in _STARTED:
            return None
        _STARTED.add(application)
    thread = Thread(target=_start, args=(spark,), name="argus-start-workers", daemon=True)
    thread.start()
    return thread


def _start(spark: SparkSession) -> None:
    # A caller that needs the workers meets the same error, and reports it.
    with suppress(Exception):
        run_tasks(spark, max(1, spark.sparkContext.defaultParallelism), _import_operators, ANSWER).rdd.collect()


def _import_operators(task: int) -> ArrowBatches:
    importlib.import_module(OPERATORS)
    return iter(())
