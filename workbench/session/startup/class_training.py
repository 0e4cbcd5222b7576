"""Makes the JVM's archive of classes (``engine.spark.class_archive``), in a separate process.

Example:
    ``python -m workbench.session.startup.class_training``: takes the time of some queries once for each Java and Spark.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

from pyspark import SparkContext

from workbench.engine.spark.class_archive import ClassArchive
from workbench.engine.spark.java import use_java
from workbench.engine.spark.local_session import local_spark
from workbench.session.startup.warm_up import warm_up

WRITING = 300.0
"""Seconds that a JVM may take to write its archive."""

_trainings: list[subprocess.Popen[bytes]] = []
"""Those that this process began; Python would complain about a process without a reference."""


def train_in_background() -> None:
    """Make the archive unless there is one, by a process that takes only time that others leave, and outlives this."""
    with suppress(OSError):
        if not ClassArchive.of(use_java()).options():
            command = [sys.executable, "-m", "workbench.session.startup.class_training"]
            none = subprocess.DEVNULL
            _trainings.append(subprocess.Popen(command, stdin=none, stdout=none, stderr=none, start_new_session=True))


def train() -> None:
    """Make the archive: the classes of a warmed Spark, which ends with that.

    Raises:
        OSError: there is no place for the archive.
        EnvironmentProblem: Spark did not start.
    """
    with ClassArchive.of(use_java()).writing() as file:
        if file is None:
            return
        spark = local_spark("argus-classes", record=file)
        warm_up(spark)
        gateway = SparkContext._gateway
        assert gateway is not None
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(WRITING)


def main() -> None:
    """Make the archive as the least important work of the machine."""
    if hasattr(os, "sched_setscheduler"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)
    train()


if __name__ == "__main__":
    main()
