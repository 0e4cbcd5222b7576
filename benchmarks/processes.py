"""Processor time of a session's processes: this one (the driver), Spark's JVM below it, and the Python workers below.

Linux tells it (``/proc``); elsewhere it is 0 for all but this one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from pyspark import SparkContext

from workbench.experiments.measure import descendants

DRIVER, JVM, WORKERS = PROCESS_KINDS = ("driver", "JVM", "workers")


def spark_jobs() -> int:
    """How many jobs the Spark of this process has run so far, for any caller; none while it is not started."""
    context = SparkContext._active_spark_context
    return 0 if context is None else int(context._jsc.sc().dagScheduler().numTotalJobs())


def processor_seconds(processes: Iterable[int]) -> float:
    """Processor time of processes so far; that of this one in microseconds, of others in hundredths of a second."""
    own = os.getpid()
    return sum(time.process_time() if pid == own else _seconds(Path(f"/proc/{pid}")) for pid in processes)


def processor_seconds_of_all() -> float:
    """Processor time so far of this process, Spark's JVM and the Python workers."""
    return sum(map(processor_seconds, session_processes().values()))


def session_processes(process: int | None = None) -> Mapping[str, list[int]]:
    """The processes of a session by their kind.

    Args:
        process: the driver; this process unless given.
    """
    driver = os.getpid() if process is None else process
    below = descendants(driver) - {driver}
    java = {pid for pid in below if _name(pid) == "java"}
    return {DRIVER: [driver], JVM: sorted(java), WORKERS: sorted(below - java)}


def _seconds(folder: Path) -> float:
    try:
        user, system = (folder / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
    except OSError:
        return 0.0  # it ended while we looked
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
