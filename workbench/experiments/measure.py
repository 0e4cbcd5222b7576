"""Measuring: memory of all processes a session runs in, and a description of where figures came from."""

from __future__ import annotations

import os
import platform
import threading
from importlib.metadata import version
from pathlib import Path
from types import TracebackType

from workbench.experiments.processes import descendants


def machine() -> dict[str, object]:
    """What figures must be read with: cores, memory, versions."""
    packages = ("pyspark", "pyarrow", "numpy", "sqlglot", "duckdb")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def resident_bytes(process: int | None = None) -> int:
    """Memory of a process and all below it, in bytes; 0 where /proc is missing.

    Without a number it is this process (with Spark's JVM and its Python workers below it).

    Shared pages of forked workers are counted in proportion (PSS) where the system tells.
    """
    ours = descendants(os.getpid() if process is None else process)
    return sum(_proportional(pid) for pid in ours)


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class PeakMemory:
    """Watches memory while a block runs, of this process or of another, and of all below it.

    Example:
        >>> with PeakMemory() as peak:
        ...     pass
        >>> peak.bytes >= 0
        True
    """

    def __init__(self, interval: float = 0.5, process: int | None = None) -> None:
        self.bytes = 0
        self._process = process
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._stop.wait(self._interval):
            self.bytes = max(self.bytes, resident_bytes(self._process))

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        self.bytes = max(self.bytes, resident_bytes(self._process))
