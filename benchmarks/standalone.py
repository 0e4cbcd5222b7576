"""A cluster on this machine: Spark's standalone master and workers, which listen on the loopback interface alone."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from workbench.engine.spark.java import use_java
from workbench.errors import WorkbenchError

_SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_MASTER, _WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
_LOCAL = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")


@contextmanager
def cluster(folder: Path, workers: int, memory: str = "1g") -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A master with a number of workers of one core: the master's address, and the workers' processes.

    Args:
        folder: for logs and what the workers keep.
        workers: how many.
        memory: of each, as Spark writes it.

    Raises:
        WorkbenchError: one of them does not start; the error has the end of its log.
    """
    use_java()
    with ExitStack() as running:
        _, log = running.enter_context(_process(folder, "master", _MASTER, *_LOCAL))
        address = _logged(log, r"Starting Spark master at (spark://\S+)")[1]
        asked = (_WORKER, *_LOCAL, "--cores", "1", "--memory", memory, address)
        started = [running.enter_context(_process(folder, f"worker-{i + 1}", *asked)) for i in range(workers)]
        for _, log in started:
            _logged(log, "Successfully registered with master")
        yield address, [process for process, _ in started]


@contextmanager
def _process(folder: Path, name: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A master or worker with its log; it knows nothing of this project, and ends with the block."""
    log = folder / f"{name}.log"
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [_SPARK_CLASS, *arguments],
            cwd=folder,
            env=clean | {"SPARK_WORKER_DIR": str(folder)},
            stdout=out,
            stderr=out,
        )
    try:
        yield process, log
    finally:
        process.kill()
        process.wait()


def _logged(log: Path, pattern: str, seconds: float = 180) -> re.Match[str]:
    """Wait until something is in a log."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found
        time.sleep(0.1)
    raise WorkbenchError(f"{log.name} has no {pattern}:\n{log.read_text(errors='replace')[-2000:]}")
